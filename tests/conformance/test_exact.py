"""Without noise, and where nothing is clipped, private answers are the plain ones to
the last integer.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.conformance.asking import questions
from tests.conformance.spark_samples import HERE_IN_FULL
from tests.conformance.world import plain_answer

QUESTIONS = questions()
QUICK = ("counts", "keys", "private_keys", "survey")
"""Files that are asked for both relations in the quick run; the others for adding or
removing a unit.
"""


WARDS = ("A", "B", "C", "D", "closed")


def plainly(value):
    """DuckDB's decimals as the numbers they are."""
    return (
        value
        if not isinstance(value, Decimal)
        else int(value)
        if value == int(value)
        else float(value)
    )


def in_order(rows):
    return sorted(
        rows,
        key=lambda row: [(value is None, str(type(value)), value) for value in row],
    )


def agree(ours, plain, about):
    """Equal; reals up to what floats lose, or up to what the grid may cost."""
    if isinstance(ours, float) and plain is not None:
        return ours == pytest.approx(
            float(plain), rel=about or 1e-12, abs=about or 1e-12
        )
    # FLOOR(x) is whole here
    alike = type(ours) is type(plain) or (type(ours) is int and type(plain) is float)
    return alike and ours == plain


def compared(question, release):
    """Our rows beside the plain ones. A public key that no row has is there with zeros,
    and plainly not at all.
    """
    ours, plain = (
        list(release.rows),
        [tuple(map(plainly, row)) for row in plain_answer(question.plain)],
    )
    keys = [place for place in range(len(release.columns)) if release.is_key(place)]
    if "ORDER BY" not in question.sql and keys:
        known = {tuple(row[place] for place in keys) for row in plain}
        absent = [
            row for row in ours if tuple(row[place] for place in keys) not in known
        ]
        assert all(
            row[place] == 0
            for row in absent
            for place in range(len(row))
            if place not in keys
        )
        ours, plain = (
            in_order([row for row in ours if row not in absent]),
            in_order(plain),
        )
    return ours, plain


def check(question, release):
    ours, plain = compared(question, release)
    assert len(ours) == len(plain), (ours, plain)
    for mine, expected in zip(ours, plain, strict=True):
        assert len(mine) == len(expected)
        assert all(
            agree(*pair, question.about) for pair in zip(mine, expected, strict=True)
        ), (mine, expected)


def ways():
    """Each question with both kinds of noise, or with the only one that can answer it,
    and for both relations.
    """
    for question in QUESTIONS:
        for noise in (
            ("Laplace", "Gaussian") if question.noise is None else (question.noise,)
        ):
            for relation in ("", ", replace"):
                marks = [pytest.mark.only_on(*_engines(question, noise, relation))]
                if relation and question.file not in QUICK:
                    marks.append(pytest.mark.full)
                yield pytest.param(
                    question,
                    noise,
                    relation,
                    id=f"{question} ({noise}{relation})",
                    marks=marks,
                )
            if not _in_turn(question, noise):
                yield pytest.param(
                    question,
                    noise,
                    "",
                    id=f"{question} ({noise}, out of turn)",
                    marks=[pytest.mark.only_on("postgres"), pytest.mark.full],
                )


def _in_turn(question, noise):
    """Whether PostgreSQL is asked with this noise in the quick run: with the one and
    the other in turn.
    """
    turn = ("Laplace", "Gaussian")[QUESTIONS.index(question) % 2]
    return noise == (question.noise or turn)


def _engines(question, noise, relation):
    """None of them knows the relation. Spark is asked each question once, and not with
    both kinds of noise.
    """
    if relation:
        return ["duckdb"]
    postgres = ["postgres"] if _in_turn(question, noise) else []
    once = question in HERE_IN_FULL and (question.noise or noise == "Laplace")
    return ["duckdb", *postgres, "spark"] if once else ["duckdb", *postgres]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("question", "noise", "relation"), list(ways()))
def test_answers_are_the_plain_ones(worlds, question, noise, relation):
    check(
        question,
        worlds.ask(question.world + relation, noise, question.sql, **question.stated),
    )


def test_there_are_enough_questions():
    assert len(QUESTIONS) >= 200
    assert len({str(question) for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.usefixtures("exact")
def test_groups_come_in_the_order_of_their_keys(worlds):
    """Public keys as they were declared, private ones by their values; the data has no
    say (rule R1).
    """
    rows = worlds.ask(
        "clinic",
        "Gaussian",
        "SELECT ward, urgent, COUNT(*) FROM visits GROUP BY ward, urgent",
    ).rows
    assert [row[:2] for row in rows] == [
        (ward, urgent) for ward in WARDS for urgent in (False, True)
    ]
    rows = worlds.ask(
        "clinic",
        "Gaussian",
        "SELECT doctor, ward, COUNT(*) FROM visits GROUP BY doctor, ward",
    ).rows
    assert [row[:2] for row in rows] == [
        (name, ward) for name in ("Li", "Ng", "Ode", "Pim") for ward in WARDS
    ]
    rows = worlds.ask(
        "clinic",
        "Gaussian",
        "SELECT ward, doctor, COUNT(*) FROM visits GROUP BY ward, doctor",
    ).rows
    assert [row[:2] for row in rows] == [
        (ward, name) for ward in WARDS for name in ("Li", "Ng", "Ode", "Pim")
    ]


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_keys_without_rows_are_noisy_zeros(worlds, noise):
    rows = worlds.ask(
        "clinic",
        noise,
        "SELECT ward, COUNT(*), SUM(cost) FROM visits WHERE cost > 4000 GROUP BY ward",
    ).rows
    assert rows == tuple((ward, 0, 0) for ward in WARDS)
