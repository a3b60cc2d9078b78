"""Processes that call: each draws its own noise, in the order that was asked for, and
none is waited for in vain.
"""

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

from dither import audit
from dither.audit.outcomes import Described, Raised
from dither.audit.workers import ALONE, DIED, TIMED_OUT, Crew, Job
from dither.errors import ArgumentError
from dither.noise import discrete_laplace, uniform_integers
from dither.privacy import PureDP
from tests.chance import chance

CLAIM = PureDP(1.0)
LONG = 600.0


def crew(f, inputs=(0, 1), *, workers=2, timeout=LONG, vectorized=False):
    return Crew(f, vectorized, inputs, workers, timeout)


def test_draws_come_in_the_order_of_the_question_whoever_is_ready_first():
    """The first job takes longest: its worker waits until the second job is done."""
    ready, done = os.pipe()
    calls = []

    def f(x):
        calls.append(x)
        if x == 0 and len(calls) == 1:
            os.read(ready, 1)
        if x == 1:
            os.write(done, b"x")
        return x

    with crew(f) as held:
        jobs = [Job(0, 1, alone=True), Job(1, 1, alone=True)]
        assert [job.found for job in held.finished(jobs)] == [[0], [1]]


@chance(1e-12)
def test_every_worker_has_noise_of_its_own():
    """Two equal numbers of 128 bits would be the same noise."""

    def f(_):
        own = [random.getrandbits(64), int(np.random.randint(1 << 62))]
        return [*(int(one) for one in uniform_integers(1 << 62, 2)), *own, os.getpid()]

    with crew(f, workers=3) as held:
        rows = held.alone(0, 6 * ALONE)
    assert len({row[-1] for row in rows}) > 1
    for column in range(4):
        assert len({row[column] for row in rows}) == len(rows)


@chance(2e-9)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_finding_is_about_the_mechanism_however_many_workers(workers):
    def sound(x, size):
        return x + discrete_laplace(1.0, size)

    def broken(x, size):
        return x + discrete_laplace(0.5, size)

    options = {"claimed": CLAIM, "workers": workers, "confidence": 1 - 1e-9}
    assert not audit.mechanism(sound, 0, 1, draws=20_000, **options).refuted
    assert audit.mechanism(broken, 0, 1, draws=20_000, **options).refuted


def test_a_call_that_hangs_is_ended_and_the_others_go_on():
    def f(x):
        while x:
            time.sleep(1)
        return x

    with crew(f, timeout=0.5, workers=1) as held:
        assert held.alone(1, 2) == [Raised(TIMED_OUT, "no output after 0.5 s")] * 2
    with crew(f, workers=1) as held:
        assert held.alone(0, 3) == [0, 0, 0]


def test_a_call_for_many_that_hangs_is_one_that_raised():
    def f(x, size):
        while x:
            time.sleep(1)
        return np.zeros(size)

    with crew(f, timeout=0.5, vectorized=True) as held:
        ((size, found),) = held.together(1, 5)
    assert (size, found.name) == (5, TIMED_OUT)


def test_a_call_that_ends_its_process_is_an_output():
    def f(x):
        if x:
            os._exit(3)
        return 0

    with crew(f, workers=1) as held:
        assert [one.name for one in held.alone(1, 2)] == [DIED] * 2
    found = audit.mechanism(f, 0, 1, claimed=CLAIM, draws=100, workers=1)
    assert found.refuted
    assert DIED in found.event


FRAGILE = """
import gc, os
from dither.audit.workers import Crew

home = os.getpid()

class Fragile:
    def __init__(self):
        self.me = self

    def __del__(self):
        if os.getpid() != home:
            os._exit(3)

gc.disable()
Fragile()
with Crew(lambda _: gc.collect() * 0, False, (0, 1), 1, 600.0) as held:
    assert held.alone(0, 1) == [0]
assert not gc.get_freeze_count()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are not forked here")
def test_a_worker_leaves_the_garbage_of_this_process_alone():
    """Garbage that holds threads or connections may crash a worker that collects it. In
    a process of its own, because the tests' own forks keep garbage too.
    """
    subprocess.run([sys.executable, "-c", FRAGILE], check=True, timeout=LONG)


def test_what_cannot_be_sent_is_told_by_its_looks():
    with crew(lambda x: lambda: x, workers=1) as held:
        (found,) = held.alone(0, 1)
    assert isinstance(found, Described)
    assert found.name == "function"
    assert " at 0x" not in found.text


def test_leaving_a_process_is_an_output_too():
    def f(x):
        if x:
            sys.exit("row 17")
        return 0

    found = audit.mechanism(f, 0, 1, claimed=CLAIM, draws=100)
    assert found.refuted
    assert "it raises SystemExit: row 17" in found.event


def test_too_many_calls_that_hang_end_the_audit(monkeypatch):
    monkeypatch.setattr("dither.audit.workers.PATIENCE", 1.0)

    def f(x):
        while x:
            time.sleep(1)
        return 0

    with pytest.raises(ArgumentError, match=r"3 calls did not return within 0\.5 s"):
        audit.mechanism(f, 0, 1, claimed=CLAIM, draws=100, timeout=0.5)


def test_what_always_hangs_is_refused_at_once():
    def f(_):
        while True:
            time.sleep(1)

    with pytest.raises(
        ArgumentError, match=r"raised TimedOut in every draw .* \(no out"
    ):
        audit.mechanism(f, 0, 1, claimed=CLAIM, timeout=0.2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": -1}, "workers must be a number of processes"),
        ({"workers": 1.5}, "workers must be a number of processes"),
        ({"workers": True}, "workers must be a number of processes"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"timeout": float("inf")}, "timeout must be a number of seconds above 0"),
    ],
)
def test_bad_numbers_are_refused(options, words):
    with pytest.raises(ArgumentError, match=words):
        audit.mechanism(lambda x: x, 0, 1, claimed=CLAIM, **options)


def test_a_wrong_number_of_outputs_is_refused_by_workers_too():
    with pytest.raises(ArgumentError, match="instead of"):
        audit.mechanism(
            lambda x, size: [x] * (size + 1), 0, 1, claimed=CLAIM, workers=1
        )
