"""Released survival curves: what can be asked of them, and how they look."""

import json
import math

import numpy as np
import pytest

from dither import ArgumentError
from dither.science import trials

EDGES = (0, 4, 8, 12)


def study(monkeypatch, **more):
    """Two arms of 100 without noise: half of "a" die by 8, a tenth of "b" do."""
    monkeypatch.setattr(
        "dither.mechanisms.additive.discrete_laplace",
        lambda scale, size: np.zeros(size, np.int64),
    )
    time = [3.0] * 20 + [7.0] * 30 + [20.0] * 50 + [3.0] * 10 + [20.0] * 90
    event = [1] * 50 + [0] * 50 + [1] * 10 + [0] * 90
    words = {"edges": EDGES, "groups": ["a"] * 100 + ["b"] * 100, "epsilon": 2}
    return trials.kaplan_meier(time, event, **(words | more))


def test_one_arm(monkeypatch):
    found = study(monkeypatch)
    alone = found.curve("b")
    assert alone.value.tolist() == [0.9, 0.9, 0.9]
    assert alone.arms == ("b",)
    assert alone.keys == (4.0, 8.0, 12.0)
    for ends, whole in zip(alone.interval(), found.interval(), strict=True):
        np.testing.assert_array_equal(ends, whole[3:])
    for ends, whole in zip(
        alone.confidence_interval(), found.confidence_interval(), strict=True
    ):
        np.testing.assert_array_equal(ends, whole[3:])
    assert alone.at(8).value == 0.9


def test_at_a_time(monkeypatch):
    found = study(monkeypatch)
    both = found.at(8)
    assert both.value.tolist() == [0.5, 0.9]
    assert both.keys == ("a", "b")
    assert both["b"].value == 0.9
    low, high = both.interval()
    assert low.tolist() == found.interval()[0][[1, 4]].tolist()
    assert (both.confidence_interval().low < low).all()
    assert (both.confidence_interval().high > high).all()
    with pytest.raises(ArgumentError, match="end of a bin"):
        found.at(7)
    with pytest.raises(ArgumentError, match="end of a bin"):
        found.at("8")


def test_one_entry(monkeypatch):
    found = study(monkeypatch)
    assert found["a", 8].value == 0.5
    assert found.curve("b")[8].value == 0.9
    numbered = study(monkeypatch, groups=[0] * 100 + [1] * 100)
    assert numbered[1, 8].value == numbered["1", 8.0].value == 0.9
    for key in (("a", 7), ("c", 8), ("a", np.array([8, 4])), "a"):
        with pytest.raises(
            ArgumentError, match=r"there is no key|not an arm|end of a bin"
        ):
            found[key]


def test_a_difference(monkeypatch):
    found = study(monkeypatch).difference(8)
    assert found.value == pytest.approx(-0.4)
    low, high = found.interval()
    wide = found.confidence_interval()
    assert wide.low < low < -0.4 < high < wide.high < 0
    turned = study(monkeypatch).difference(8, "b", "a")
    assert turned.value == pytest.approx(0.4)
    assert turned.interval() == pytest.approx((-high, -low))
    with pytest.raises(ArgumentError, match="arm"):
        study(monkeypatch).difference(8, "a", "c")
    with pytest.raises(ArgumentError, match="two"):
        study(monkeypatch).difference(8, "a")


def test_a_hazard_ratio(monkeypatch):
    found = study(monkeypatch).hazard_ratio(12)
    assert found.value == pytest.approx(np.log(0.5) / np.log(0.9))
    low, high = found.interval()
    wide = found.confidence_interval()
    assert 1 < wide.low < low < found.value < high < wide.high < 40
    turned = study(monkeypatch).hazard_ratio(12, "b", "a")
    assert turned.interval() == pytest.approx((1 / high, 1 / low))


def test_medians(monkeypatch):
    found = study(monkeypatch)
    first = found.median("a")
    assert first.value == 8
    low, high = first.confidence_interval()
    assert low == 8
    assert high == math.inf
    assert "median survival a: 8 (95 % interval 8 or later)" in str(first)
    second = found.median("b")
    assert second.value == math.inf
    assert second.interval() == (math.inf, math.inf)
    assert "not reached" in str(second)
    with pytest.raises(ArgumentError, match="is missing"):
        found.median()
    assert found.curve("a").median().value == 8


def test_restricted_means(monkeypatch):
    found = study(monkeypatch).restricted_mean(8, "a")
    assert found.value == pytest.approx(4 * 0.9 + 4 * 0.65)
    low, high = found.interval()
    assert low < 4 * 0.8 + 4 * 0.5  # all deaths at the starts of their bins
    assert 4 * 1 + 4 * 0.8 < high < 8
    wide = found.confidence_interval()
    assert wide.low < low
    assert wide.high > high


def test_a_cut_curve_still_bounds_its_figures(monkeypatch):
    found = study(monkeypatch, epsilon=0.05)
    assert np.isnan(found.value).all()
    assert found.interval()[0].tolist() == [0.0] * 6
    assert found.interval()[1].tolist() == [1.0] * 6
    assert math.isnan(found.difference(8).value)
    assert found.difference(8).interval() == (-1.0, 1.0)
    assert math.isnan(found.hazard_ratio(8).value)
    assert found.hazard_ratio(8).interval() == (0.0, math.inf)
    assert found.median("a").value == math.inf
    assert found.median("a").interval() == (4.0, math.inf)
    assert found.restricted_mean(8, "a").interval() == (0.0, 8.0)
    assert "cut" in str(found)
    assert found.logrank().pvalue == 1.0
    assert json.loads(found.to_json())["rows"][0]["values"][1] is None


def test_the_test_shares_the_charge(monkeypatch):
    found = study(monkeypatch)
    test = found.logrank()
    assert test.sources == found.sources
    assert test.pvalue < 1e-6
    assert "p = " in str(test) or "p <" in str(test)
    assert found.logrank("a", "b").statistic == test.statistic
    for wrong in (("a",), ("a", "a"), ("a", "c")):
        with pytest.raises(ArgumentError, match="arm"):
            found.logrank(*wrong)
    with pytest.raises(ArgumentError, match="groups"):
        found.curve("a").logrank()


def test_as_a_table(monkeypatch, tmp_path):
    found = study(monkeypatch)
    names = ["arm", "time", "at_risk", "deaths", "survival"]
    names += ["low", "high", "population_low", "population_high"]
    pandas, polars = found.to_pandas(), found.to_polars()
    assert list(pandas.columns) == list(polars.columns) == names
    assert pandas.at_risk.tolist() == [100, 80, 50, 100, 90, 90]
    assert pandas.deaths.tolist() == [20, 30, 0, 10, 0, 0]
    assert polars["arm"].to_list() == ["a"] * 3 + ["b"] * 3
    assert found.to_csv().splitlines()[1].startswith("a,4.0,100.0,20.0,0.8,")
    found.to_csv(tmp_path / "curves.csv")
    assert (tmp_path / "curves.csv").read_text() == found.to_csv()


def test_in_words(monkeypatch):
    text = str(study(monkeypatch))
    assert text.splitlines()[0].split()[:3] == ["arm", "time", "at"]
    assert "times after 12 are not used" in text
    assert "pointwise" in text
    assert study(monkeypatch)._repr_html_().startswith("<pre>arm")
    many = study(monkeypatch, edges=range(0, 100, 2))
    assert "… and 58 more" in str(many)


def test_arithmetic_gives_a_plain_release(monkeypatch):
    found = 1 - study(monkeypatch)
    assert type(found).__name__ == "Release"
    assert found[("a", 4)].value == pytest.approx(0.2)


def test_names_that_a_terminal_would_obey(monkeypatch):
    groups = ["a\x1b[2J"] * 100 + ["b"] * 100
    found = study(monkeypatch, groups=groups)
    for text in (str(found), str(found.logrank()), found.plot().svg()):
        assert "\x1b" not in text
