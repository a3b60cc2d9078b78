"""A shell command is audited like a function; whatever it does is an output or a clear
error.
"""

import os
import time
from pathlib import Path

import pytest

from dither import audit
from dither.audit.commands import CommandFailed, TimedOut
from dither.errors import ArgumentError
from dither.privacy import PureDP

CLAIM = PureDP(1.0)
LONG = 600.0


def test_a_command_gets_a_line_for_each_draw_and_prints_one():
    assert audit.command("cat", timeout=LONG)(5, 3) == [5, 5, 5]
    assert audit.command("cat", timeout=LONG)("no number", 2) == ["no number"] * 2
    assert audit.command("cat", timeout=LONG)([1, 2.5], 1) == [[1, 2.5]]
    assert audit.command("cat", timeout=LONG)("two\nlines", 1) == ["two\nlines"]


def test_a_command_is_started_once_for_each_batch(tmp_path):
    seen = tmp_path / "starts"
    run = audit.command(f"echo x >> {seen}; cat", timeout=LONG, batch=2)
    assert run(1, 5) == [1] * 5
    assert seen.read_text().count("x") == 3


def test_a_leaky_command_is_refuted_and_a_private_one_is_not():
    leaky = audit.command("awk '{print $1}'", timeout=LONG)
    found = audit.mechanism(leaky, 0, 1, claimed=CLAIM, draws=200)
    assert found.refuted
    silent = audit.command("awk '{print 7}'", timeout=LONG)
    assert not audit.mechanism(silent, 0, 1, claimed=CLAIM, draws=200).refuted


def test_failing_for_one_input_is_a_finding():
    line = "read x; test $x = 0 && echo 0"
    found = audit.mechanism(
        audit.command(line, timeout=LONG), 0, 1, claimed=CLAIM, draws=100
    )
    assert found.refuted
    assert "CommandFailed: it ended with code 1" in found.event


@pytest.mark.parametrize(
    ("line", "problem", "words"),
    [
        ("false", CommandFailed, "it ended with code 1"),
        (
            "no-such-program-at-all",
            CommandFailed,
            "it ended with code 127 .command not found.",
        ),
        ("true", CommandFailed, "it printed 0 lines instead of 2"),
        ("cat; echo more", CommandFailed, "it printed 3 lines instead of 2"),
        ("yes", CommandFailed, "it printed more than 1 MiB"),
        ("kill -9 $$", CommandFailed, "it ended with code -9"),
    ],
)
def test_what_goes_wrong_is_raised(line, problem, words, monkeypatch):
    monkeypatch.setattr("dither.audit.commands.MOST", 1 << 20)
    with pytest.raises(problem, match=words):
        audit.command(line, timeout=LONG)(0, 2)
    with pytest.raises(
        ArgumentError, match=r"CommandFailed in every draw.*one line for each"
    ):
        audit.mechanism(
            audit.command(line, timeout=LONG), 0, 1, claimed=CLAIM, draws=100
        )


@pytest.mark.parametrize("line", ["sleep 1000", "cat; exec 1>&-; sleep 1000"])
def test_a_command_that_hangs_is_ended(line):
    with pytest.raises(TimedOut, match=r"it did not end within 0.3 s"):
        audit.command(line, timeout=0.3)(0, 1)


def test_too_many_starts_that_hang_end_the_audit(monkeypatch):
    monkeypatch.setattr("dither.audit.workers.PATIENCE", 0.5)
    line = "read x; test $x = 0 && echo 0 || sleep 1000"
    with pytest.raises(ArgumentError, match=r"2 calls did not return within 0\.4 s"):
        audit.mechanism(
            audit.command(line, timeout=0.4), 0, 1, claimed=CLAIM, draws=100
        )


def test_what_is_no_command_is_refused():
    for line in ("", "  ", 3):
        with pytest.raises(ArgumentError, match="line must be a shell command"):
            audit.command(line)
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(
            ArgumentError, match="timeout must be a number of seconds above 0"
        ):
            audit.command("cat", timeout=seconds)
    with pytest.raises(ArgumentError, match="batch"):
        audit.command("cat", batch=0)
    with pytest.raises(ArgumentError, match="cannot be written as a line of JSON"):
        audit.command("cat")(object(), 1)


def _alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{int(pid)}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def _gone(pids):
    ends = time.monotonic() + 5.0
    while any(map(_alive, pids)) and time.monotonic() < ends:
        time.sleep(0.01)
    return not any(map(_alive, pids))


def test_what_a_command_leaves_behind_is_ended(tmp_path):
    seen = tmp_path / "pids"
    line = f"sleep 600 >/dev/null & echo $! >> {seen}; cat"
    assert audit.command(line, timeout=LONG)(5, 2) == [5, 5]
    assert _gone(seen.read_text().split())


def test_a_worker_that_is_ended_ends_its_command(tmp_path):
    seen = tmp_path / "pids"
    hanging = audit.command(f"echo $$ >> {seen}; exec sleep 600", timeout=LONG)
    with pytest.raises(ArgumentError, match=r"raised TimedOut in every draw"):
        audit.mechanism(hanging, 0, 1, claimed=CLAIM, draws=100, workers=1, timeout=0.5)
    assert _gone(seen.read_text().split())


def test_signs_within_a_line_do_not_end_it():
    run = audit.command(r"printf 'a\342\200\250b\302\205c\n'", timeout=LONG)
    assert run(0, 1) == ["a\u2028b\x85c"]
