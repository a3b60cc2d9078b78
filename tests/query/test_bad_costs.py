"""Costs and other arguments that make no sense: refused before anything is charged or
read.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from tests.attacks.analyst import log, row, visits
from tests.query.refusing import COUNT, refused, told


@pytest.fixture(scope="module")
def database():
    with visits([row()], budget=(10.0, 1e-6)) as opened:
        yield opened


NAN = float("nan")
WRONG: list[tuple[str, Any]] = [
    *(
        ("epsilon", value)
        for value in (
            0,
            -1,
            NAN,
            math.inf,
            True,
            "0.5",
            "",
            b"1",
            [],
            {},
            1j,
            ...,
            10**400,
        )
    ),
    *(
        ("epsilon", value)
        for value in (Decimal("NaN"), np.array([1.0, 2.0]), date(2024, 1, 1))
    ),
    *(("rho", value) for value in (0, -1, NAN, math.inf, True, "0.5", [1], 1e-320)),
    *(
        ("share", value)
        for value in (0, -0.1, 1.1, 2, NAN, math.inf, True, "0.1", [0.1])
    ),
    *(
        ("error", value)
        for value in (
            0,
            -5,
            NAN,
            math.inf,
            True,
            "",
            "much",
            "±",
            "±-5",
            "±5 at 0%",
            "±5 at 100%",
        )
    ),
    *(
        ("error", value)
        for value in (
            "±5 at x%",
            " " * 100_000 + "x",
            b"5",
            [5],
            {"nope": 5},
            {"n": -1},
            {"n": "x"},
        )
    ),
    ("error", 1e-9),
]


@pytest.mark.parametrize(
    ("argument", "value"),
    WRONG,
    ids=lambda part: repr(part).partition(" at 0x")[0][:30],
)
def test_a_cost_that_is_none(database, argument, value) -> None:
    message = refused(database, COUNT, ArgumentError, **{argument: value, "radius": 1})
    assert argument in message or (argument, value) == ("rho", 1e-320)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("expect", value) for value in (0, -1, 1.5, True, "9", NAN, 10**30)),
        *(("groups", value) for value in (0, -1, 1.5, True, "9", None.__class__)),
        *(("values", value) for value in (0, -3, 0.5, False, [])),
        *(
            ("radius", value)
            for value in (
                0,
                -1,
                NAN,
                math.inf,
                True,
                "x",
                [],
                {"n": 0},
                {"nope": 1},
                10**400,
            )
        ),
        *(
            ("shares", value)
            for value in (
                0,
                -1,
                "x",
                {"n": -1},
                {"n": NAN},
                {"nope": 1},
                {"n": 10**400},
                [1],
            )
        ),
        *(("mechanism", value) for value in ("nope", "", 5, [], {}, "gaussian", ...)),
        ("nonsense", 1),
        ("seed", 5),
        ("confidence", 0.5),
        ("unit", "row"),
    ],
    ids=lambda part: repr(part).partition(" at 0x")[0][:30],
)
def test_an_argument_that_is_none(database, argument, value) -> None:
    assert argument in refused(
        database, COUNT, ArgumentError, **{"epsilon": 0.1, argument: value}
    )


@pytest.mark.parametrize(
    "cost",
    [
        {"epsilon": 0.1, "rho": 0.1},
        {"share": 0.1, "error": 5},
        {"epsilon": 1, "share": 1},
    ],
)
def test_a_cost_in_two_ways(database, cost) -> None:
    assert "pass exactly one of" in refused(database, COUNT, ArgumentError, **cost)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-300, 5e-324])
@pytest.mark.parametrize(
    "value",
    [
        "COUNT(*)",
        "SUM(LEAST(GREATEST(points, 0), 1000000000000000))",
        "CORR(cost, rating)",
    ],
)
def test_a_cost_so_small_that_no_integer_holds_its_noise(epsilon, value) -> None:
    """An earlier draft found out after the charge."""
    with visits([row()], budget=1.0) as database:
        message = told(
            lambda: database.sql(f"SELECT {value} FROM visits", epsilon=epsilon)
        )
        assert message == "" or message.startswith("epsilon is too small")
        assert [kind for kind, _ in log(database)].count("charge") == (message == "")


def test_no_cost_at_all(database) -> None:
    for ask in (database.sql, database.preview):
        with pytest.raises(
            ArgumentError, match="pass exactly one of epsilon, rho, share or error"
        ):
            ask(COUNT)
        with pytest.raises(
            ArgumentError, match="pass exactly one of epsilon, rho, share or error"
        ):
            ask(COUNT, epsilon=None)


@pytest.mark.parametrize(
    "by", ["", 5, 0, True, [], {}, b"ann", "a\0b", "\ud800", ...], ids=repr
)
def test_nobody_asks(database, by) -> None:
    before = len(database.account.history())
    for ask in (database.sql, database.preview):
        with pytest.raises(ArgumentError, match=r"^by must "):
            ask(COUNT, epsilon=0.1, by=by)
    assert len(database.account.history()) == before


def test_numbers_of_other_kinds_are_numbers(database) -> None:
    """What is exact may be stated exactly."""
    for epsilon in (Fraction(1, 7), Decimal("0.125"), np.float64(0.25), 1):
        assert database.preview(
            COUNT, epsilon=epsilon, radius=1
        ).guarantee.epsilon == pytest.approx(float(epsilon))


@pytest.mark.parametrize(
    "confidence", [0, 1, -1, 2, NAN, math.inf, "0.9", None.__class__, True]
)
def test_an_interval_that_is_none(database, confidence) -> None:
    release = database.sql(COUNT, epsilon=0.5, radius=1)
    with pytest.raises(ArgumentError, match="confidence"):
        release.interval(confidence)
