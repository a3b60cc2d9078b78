"""Teachers: who has which unit, and that one that fails changes nobody else's votes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.ids import StoredIds
from dither.learn.pate.teachers import Crew, assigned
from dither.learn.pate.worker import Setup
from tests.chance import chance
from tests.learn.pate.data import (
    BAD,
    INPUTS,
    LABELS,
    MARK,
    NAMED,
    QUERIES,
    Broken,
    Counting,
    Drawing,
    Dumping,
    Nearest,
    Splitting,
    Spying,
)

CLASSES = (0, 1, 2)
TEACHERS = 4
OF = np.arange(120) // 3 % TEACHERS


UNITS = 6
WHOSE = np.arange(120) % UNITS


@pytest.mark.parametrize("how", ["gone", "odd", "other"])
def test_one_unit_changes_the_votes_of_its_teacher_alone(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each unit in turn is left out, makes its teacher fail, or has other records. Keys
    and seeds are the same, as they are likely to be on both sides.
    """
    module = "dither.learn.pate.teachers"
    monkeypatch.setattr(f"{module}.secret_bytes", lambda count: b"k" * count)
    monkeypatch.setattr(f"{module}.random_words", np.arange)
    setup = Setup(Drawing("raises"), QUERIES, CLASSES, 5)
    changed = 0
    with Crew(setup, 2) as crew:

        def line(inputs: Any, targets: Any, owners: Any) -> Any:
            of = assigned(owners, len(owners), 3)
            return crew.votes(inputs, targets, of, 3, quiet)

        whole = line(INPUTS, LABELS, WHOSE)
        assert line(INPUTS, LABELS, WHOSE).tolist() == whole.tolist()
        for unit in range(UNITS):
            mine = unit == WHOSE
            (teacher,) = {*assigned(WHOSE[mine], int(mine.sum()), 3).tolist()}
            inputs, targets, keep = INPUTS.copy(), LABELS.copy(), ~mine
            if how == "odd":
                inputs[mine], keep = BAD, mine | ~mine
            if how == "other":
                targets[mine], keep = 0, mine | ~mine
            found = line(inputs[keep], targets[keep], WHOSE[keep])
            others = [one for one in range(3) if one != teacher]
            assert found[others].tolist() == whole[others].tolist()
            changed += found[teacher].tolist() != whole[teacher].tolist()
    assert changed


def quiet(done: int, total: int) -> None:
    """Nobody looks."""


def votes(model: Any, inputs: Any = INPUTS, seconds: int = 5) -> Any:
    setup = Setup(model, QUERIES, CLASSES, seconds)
    with Crew(setup, 1) as crew:
        return crew.votes(inputs, LABELS, OF, TEACHERS, quiet)


@chance(1e-20)
def test_all_rows_of_a_unit_have_one_teacher() -> None:
    owners = np.repeat([f"p{one}" for one in range(40)], 3)
    found = assigned(owners, 120, 7).reshape(40, 3)
    assert (found == found[:, :1]).all()
    assert set(found.ravel().tolist()) <= set(range(7))
    assert len(set(found.ravel().tolist())) > 1


@chance(1e-9)
def test_ids_are_told_apart_by_what_they_say() -> None:
    found = assigned(["7", 7, 7.0, "007", None, True, "8"], 7, 1000)
    assert found[0] == found[1] == found[2] == found[3]
    assert found[4] == found[5] == -1
    stored = assigned(StoredIds(["7", "007"]), 2, 10**9)
    assert stored[0] != stored[1]


def test_a_teacher_depends_on_the_id_and_a_key_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "dither.learn.pate.teachers.secret_bytes", lambda count: b"k" * count
    )
    owners = [f"p{one}" for one in range(50)]
    every = assigned(owners, 50, 9)
    for gone in (0, 17, 49):
        left = [one for place, one in enumerate(owners) if place != gone]
        assert assigned(left, 49, 9).tolist() == np.delete(every, gone).tolist()
    mixed = assigned(owners[::-1], 50, 9)
    assert mixed[::-1].tolist() == every.tolist()


@chance(1e-20)
def test_keys_are_fresh() -> None:
    owners = [f"p{one}" for one in range(200)]
    assert assigned(owners, 200, 50).tolist() != assigned(owners, 200, 50).tolist()
    assert assigned(None, 200, 50).tolist() != assigned(None, 200, 50).tolist()


def test_teachers_vote() -> None:
    assert votes(Nearest()).tolist() == [NAMED] * TEACHERS
    assert votes(Nearest).tolist() == [NAMED] * TEACHERS
    assert votes(lambda: Nearest("")).tolist() == [NAMED] * TEACHERS


def test_teachers_share_no_process() -> None:
    assert votes(Counting()).tolist() == [NAMED] * TEACHERS
    assert Counting.learned == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_teachers_share_no_memory() -> None:
    """Records of a teacher are in no memory that the next one has."""
    inputs = INPUTS.copy()
    inputs[OF == 0] = MARK
    assert votes(Spying(), inputs)[1:].tolist() == [NAMED] * (TEACHERS - 1)


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of this kind")
def test_records_of_a_teacher_that_is_ended_stay_in_no_file() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        assert votes(Dumping()).tolist() == [NAMED] * TEACHERS
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    assert votes(Splitting()).tolist() == [NAMED] * TEACHERS


def test_a_job_that_is_not_read_to_its_end_starts_a_new_process() -> None:
    setup = Setup(Nearest(), QUERIES, CLASSES, 5)
    with Crew(setup, 1) as crew:
        pipe = crew.workers[0]._process.stdin
        assert pipe is not None
        pipe.write(b"n" + b"\xff" * 8)  # a job of more bytes than there can be
        pipe.close()
        found = crew.votes(INPUTS, LABELS, OF, TEACHERS, quiet)
    assert found[0].tolist() == [-1] * 5
    assert (found[1:] == NAMED).all()


def test_more_processes_than_processors_wait_longer() -> None:
    one, many = (Setup(Nearest(), QUERIES, CLASSES, 5, turns=n) for n in (1, 8))
    assert many.patience == 8 * one.patience


QUICK = ["raises", "ends", "classes"]
LONG = [
    pytest.param(how, marks=pytest.mark.full)
    for how in ("prints", "shape", "objects", "computes")
]


@pytest.mark.parametrize("how", [*QUICK, *LONG])
def test_one_that_misbehaves_abstains_and_changes_no_other(
    how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    inputs = INPUTS.copy()
    inputs[OF == 2] = BAD
    found = votes(Nearest(how), inputs, seconds=1 if how == "computes" else 60)
    wanted = [NAMED, NAMED, [-1] * 5, NAMED]
    assert found.tolist() == wanted
    assert capfd.readouterr() == ("", "")


def test_one_that_waits_for_ever_abstains() -> None:
    inputs = INPUTS.copy()
    inputs[OF == 0] = BAD
    assert votes(Nearest("sleeps"), inputs, seconds=1)[0].tolist() == [-1] * 5


def test_one_without_rows_abstains() -> None:
    setup = Setup(Nearest(), QUERIES, CLASSES, 5)
    with Crew(setup, 1) as crew:
        found = crew.votes(INPUTS, LABELS, np.where(OF == 1, 0, OF), TEACHERS, quiet)
    assert found[1].tolist() == [-1] * 5
    assert (found[[0, 2, 3]] == NAMED).all()


def test_a_bar_shows_how_many_are_done() -> None:
    told: list[tuple[int, int]] = []
    setup = Setup(Nearest(), QUERIES, CLASSES, 5)
    with Crew(setup, 2) as crew:
        crew.votes(INPUTS, LABELS, OF, TEACHERS, lambda *one: told.append(one))
    assert told == [(one, TEACHERS) for one in range(1, TEACHERS + 1)]


def test_a_model_that_never_learns_is_refused_before_it_teaches() -> None:
    with pytest.raises(ArgumentError, match="does not learn"):
        votes(Broken())


def test_a_process_that_ended_is_started_again() -> None:
    setup = Setup(Nearest(), QUERIES, CLASSES, 5)
    with Crew(setup, 1) as crew:
        crew.workers[0]._process.kill()
        found = crew.votes(INPUTS, LABELS, OF, TEACHERS, quiet)
    assert found[0].tolist() == [-1] * 5
    assert (found[1:] == NAMED).all()
