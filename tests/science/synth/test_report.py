"""The report: errors measured privately, against public targets, or from the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dither.errors import ArgumentError
from dither.science import synth
from dither.science.synth.quality import _within
from dither.science.synth.report import (
    NOISE,
    PRIVATELY,
    PUBLIC,
    TableError,
    _shown,
)
from tests.chance import chance
from tests.science.synth.tables import DOMAIN, NAMES, counts, people

PAIRS = 6


@pytest.fixture(scope="module")
def made() -> synth.Synthetic:
    return synth.mst(people(), domain=DOMAIN, rho=0.5, pairs=[("age", "smokes")])


def exact(table: Any, found: synth.Synthetic, *names: str) -> float:
    """The distance of shares."""
    real, drawn = counts(table, *names), counts(found.value, *names)
    return float(np.abs(real / real.sum() - drawn / drawn.sum()).sum())


def test_every_column_and_every_pair_has_a_line(made: synth.Synthetic) -> None:
    told = made.report()
    assert told.basis == PRIVATELY
    assert [len(one.columns) for one in told.errors] == [1] * 4 + [2] * PAIRS
    assert told.error("smokes", "age") == told.error("age", "smokes")
    assert told.error("age", "smokes").measured
    assert told.error("age").measured
    assert sum(one.measured for one in told.errors if len(one.columns) == 2) == 3
    for one in told.errors:
        assert one.low is not None
        assert one.high is not None
        assert one.error is not None
        assert 0 <= one.low <= one.error <= one.high <= 2
    assert told.worst in told.errors
    with pytest.raises(ArgumentError, match="must be one column or pair"):
        told.error("age", "height")


@chance(1e-8)
def test_errors_that_were_measured_privately_are_near_the_true_ones() -> None:
    """3.5 times the ±, which is 7 deviations of each part of the noise."""
    table = people()
    found = synth.mst(table, domain=DOMAIN, rho=0.5, check=0.5)
    one = found.report().errors[0]
    assert one.high is not None
    assert one.error is not None
    reach = 3.5 * max(one.high - one.error, 0.01)
    for one in found.report().errors:
        assert one.error == pytest.approx(exact(table, found, *one.columns), abs=reach)


@chance(1e-9)
@pytest.mark.parametrize("cost", [{"rho": 0.02}, {"epsilon": 0.5}])
def test_intervals_of_errors_hold(cost: dict[str, float]) -> None:
    """70 tables of 10 errors at 95 %. Those of a table have noise in common: they hold in
    0.97 of all, with a standard error of 0.0063.
    """
    table, held = people(300), []
    for _ in range(70):
        found = synth.mst(table, domain=DOMAIN, **cost)
        for one in found.report().errors:
            truth = min(exact(table, found, *one.columns), 2.0)
            assert one.low is not None
            assert one.high is not None
            held.append(one.low - 1e-9 <= truth <= one.high + 1e-9)
    assert np.mean(held) >= 0.89


def test_means_are_of_all_tables(made: synth.Synthetic) -> None:
    told = made.report()
    held = made.checked
    assert held is not None
    for ways in (1, 2):
        found = told.means[ways - 1]
        assert found is not None
        value, low, high = found
        assert value == pytest.approx(max(held.mean(ways), 0) / made.total)
        assert low is not None
        assert high is not None
        assert 0 <= low <= value <= high <= 2
        assert told.mean(ways) == value


SPARSE = synth.Domain({name: list(range(20)) for name in "abc"})


@chance(1e-9)
@pytest.mark.parametrize("n", [None, 20, 5000])
@pytest.mark.parametrize("cost", [{"rho": 5.0}, {"epsilon": 0.5}])
def test_intervals_hold_for_sparse_tables_and_any_number_of_rows(
    cost: dict[str, float], n: int | None
) -> None:
    """30 tables with 6 errors and 2 means each; two ± at 97.5 % hold more often than
    95 % together, here nearly always, and none of the ends may be without the truth in
    each table.
    """
    drawn = np.random.default_rng(3)  # allowed: test inputs, not noise
    table = {name: drawn.integers(0, 20, 200) for name in "abc"}
    codes, held = SPARSE.code(table), []
    for _ in range(30):
        found = synth.mst(table, domain=SPARSE, n=n, check=0.5, **cost)
        told, truths = found.report(), {1: [], 2: []}  # type: ignore[var-annotated]
        for one in told.errors:
            places = ["abc".index(name) for name in one.columns]
            truth = _away(codes, found.codes, places)
            truths[len(places)].append(truth)
            assert one.low is not None
            assert one.high is not None
            held.append(one.low - 1e-9 <= truth <= one.high + 1e-9)
        for mean, known in zip(told.means, truths.values(), strict=True):
            low, high = (0.0, 2.0) if mean is None else mean[1:]
            held.append(low - 1e-9 <= np.mean(known) <= high + 1e-9)  # type: ignore[operator]
    assert np.mean(held) >= 0.87


def _away(real: Any, drawn: Any, places: list[int]) -> float:
    shares = []
    for codes in (real, drawn):
        cell = np.zeros(len(codes), np.int64)
        for place in places:
            cell = cell * 20 + codes[:, place]
        shares.append(np.bincount(cell, minlength=20 ** len(places)) / len(codes))
    return float(np.abs(shares[0] - shares[1]).sum())


@chance(1e-8)
def test_a_mean_that_noise_hides_is_not_known() -> None:
    """One of 190 releases draws so far out that it says something."""
    made = (synth.mst(people(20), domain=DOMAIN, epsilon=0.01) for _ in range(4))
    told = [release.report() for release in made]
    hidden = next(report for report in told if report.mean(2) is None)
    assert "not known" in str(hidden)


def test_an_error_beyond_all_errors_is_not_known() -> None:
    """Noise that moves an interval beyond the largest error, or below 0, leaves none
    that looks exact.
    """
    assert _within(30.0, 2.0, 10.0) == (2.0, 0.0, 2.0)
    assert _within(-30.0, 2.0, 10.0) == (0.0, 0.0, 2.0)
    assert _within(15.0, 2.0, 10.0) == (1.5, 1.3, 1.7)


def test_rows_drawn_again_say_whose_errors_these_are(made: synth.Synthetic) -> None:
    few = made.sample(5)
    told = few.report()
    assert told.rows == len(made)
    assert "rows released first" in str(told)
    assert "rows released first" in told._repr_html_()
    assert few.sample(3).report().rows == len(made)
    own = few.report({"sex": {"f": 1}})
    assert own.rows == 5
    assert "rows released first" not in str(own)


def test_without_a_check_only_noise_is_known() -> None:
    found = synth.mst(people(), domain=DOMAIN, rho=0.5, check=0)
    told = found.report()
    assert told.basis == NOISE
    assert told.mean(2) is None
    known = [one for one in told.errors if one.error is not None]
    assert {one.columns for one in known if len(one.columns) == 2} == set(found.edges)
    assert all(one.measured for one in known)
    assert "not known" in str(told)
    twos = found.model.plan.twos
    assert twos is not None
    first, second = (NAMES.index(name) for name in found.edges[0])
    cells = DOMAIN.sizes[first] * DOMAIN.sizes[second]
    wanted = twos.scale * np.sqrt(2 / np.pi) * cells / found.total
    assert told.error(*found.edges[0]).error == pytest.approx(wanted, rel=0.05)


def test_public_targets_that_are_written_down(made: synth.Synthetic) -> None:
    told = made.report({("sex",): {"f": 51, "m": 49}, "smokes": {True: 1}})
    assert told.basis == PUBLIC
    shares = np.array([np.mean(made["sex"] == sex) for sex in ("f", "m")])
    away = float(np.abs(shares - [0.51, 0.49]).sum())
    assert told.error("sex").error == pytest.approx(away)
    smokers = float(np.mean(made["smokes"]))
    assert told.error("smokes").error == pytest.approx(2 * (1 - smokers))
    assert told.mean(2) is None
    pair = made.report({("sex", "smokes"): {("f", True): 0.2, ("m", False): 0.8}})
    assert pair.error("smokes", "sex").error is not None


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pa.table])
def test_a_public_frame_as_target(made: synth.Synthetic, kind: Any) -> None:
    table = people(500, seed=9)
    told = made.report(kind({name: table[name] for name in ("sex", "age")}))
    assert {one.columns for one in told.errors} == {
        ("age",),
        ("sex",),
        ("age", "sex"),
    }
    shares = counts(table, "age", "sex") / 500 - counts(made.value, "age", "sex") / len(
        made
    )
    assert told.mean(2) == pytest.approx(float(np.abs(shares).sum()))
    same = made.report(made.to_pandas())
    assert same.mean(1) == same.mean(2) == 0


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({("height",): {"tall": 1}}, "no column 'height'"),
        ({("sex",): {"x": 1}}, "not declared"),
        ({("sex",): {"f": -1}}, "counts or shares"),
        ({("sex",): {"f": "many"}}, "counts or shares"),
        ({("sex",): {"f": 0}}, "must not all be 0"),
        ({("age", "sex", "smokes"): {}}, "one column or two"),
        ({("sex", "sex"): {}}, "one column or two"),
        ({"height": [1]}, "must have a column of the domain"),
        (7, "must have a column of the domain"),
    ],
)
def test_targets_that_are_none(made: synth.Synthetic, targets: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        made.report(targets)


def test_it_says_what_the_table_is_not_for(made: synth.Synthetic) -> None:
    told = str(made.report())
    for words in (
        "no row is a person",
        "mostly noise",
        "three or more columns",
        "standard errors and p-values",
        "outliers",
        "distances from made-up rows to real ones",
    ):
        assert words in told
    assert "from the model" in told
    assert "<svg" in made.report()._repr_html_()


def test_as_a_frame(made: synth.Synthetic) -> None:
    frame = made.report().to_pandas()
    assert len(frame) == 4 + PAIRS
    assert frame["error"].between(0, 2).all()
    assert list(frame.columns) == [
        "columns",
        "ways",
        "error",
        "low",
        "high",
        "measured",
    ]


def test_no_distance_to_a_record_is_offered(made: synth.Synthetic) -> None:
    names = [*dir(made), *dir(made.report())]
    assert not [name for name in names if "nearest" in name or "dcr" in name]


def test_pairs_that_are_not_shown_are_counted() -> None:
    domain = synth.Domain({name: ["x", "y"] for name in "abcdef"})
    table = {name: ["x"] * 40 for name in "abcdef"}
    told = str(synth.mst(table, domain=domain, rho=5).report())
    assert "… and 3 more; .to_pandas() has all" in told
    assert "more;" not in str(synth.mst(people(), domain=DOMAIN, rho=5).report())


def test_an_error_below_the_noise_says_so() -> None:
    one = TableError(("a", "b"), 0.0, 0.0, 0.25, True)
    assert _shown(one) == "lost in noise, at most 0.25 (95 %)"
    assert _shown(TableError(("a",), 0.4, 0.0, 2.0, True)) == "not known"
    assert _shown(TableError(("a",), 0.4, 0.3, 0.5, True)) == "0.4 (0.3 to 0.5, 95 %)"


def test_an_empty_table_has_no_error_beyond_the_scale() -> None:
    for _ in range(20):
        told = synth.mst(people(0), domain=DOMAIN, epsilon=0.5).report()
        for one in told.means:
            assert one is None or max(x for x in one if x is not None) <= 2
