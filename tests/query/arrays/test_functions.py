import math
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import chain, combinations_with_replacement

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.dataset import ColumnFacts, Columns, Kind
from dither.query.arrays import quantiles
from dither.query.arrays.columns import Numbers, numbers_of
from dither.query.arrays.moments import scaled
from dither.query.arrays.sums import SumGrid
from tests.chance import at_least, chance

GENERATOR = np.random.default_rng(7)  # allowed: test data, not noise
AGES = GENERATOR.integers(0, 100, 20_000)
AGE = ColumnFacts("age", bounds=(0, 110))

QUESTIONS = {
    "count": dither.count,
    "sum": lambda x, **more: dither.sum(x, bounds=(0, 110), **more),
    "mean": lambda x, **more: dither.mean(x, bounds=(0, 110), **more),
    "variance": lambda x, **more: dither.variance(x, bounds=(0, 110), **more),
    "quantile": lambda x, **more: dither.quantile(x, 0.5, bounds=(0, 110), **more),
    "histogram": lambda x, **more: dither.histogram(
        x, bins=11, bounds=(0, 110), **more
    ),
}
TRUTHS = {
    "count": AGES.size,
    "sum": AGES.sum(),
    "mean": AGES.mean(),
    "variance": AGES.var(),
    "quantile": np.median(AGES),
    "histogram": np.histogram(AGES, bins=11, range=(0, 110))[0],
}
everything = pytest.mark.parametrize("name", QUESTIONS)


@chance(2e-9)
@everything
@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_answers_are_close_and_intervals_cover(name, cost):
    covered = []
    for _ in range(60):
        release = QUESTIONS[name](AGES, **cost)
        low, high = release.interval(0.95)
        covered.append(np.mean((low <= TRUTHS[name]) & (TRUTHS[name] <= high)))
        assert np.all(low <= high)
    assert np.sum(covered) >= at_least(60, 0.95, 1e-9)
    assert np.allclose(
        np.asarray(release.value, float), TRUTHS[name], rtol=0.02, atol=40
    )


@everything
@pytest.mark.parametrize(
    "column",
    [
        [],
        [None, None],
        [math.nan],
        np.array([math.inf, -math.inf]),
        [1e308, -1e308],
        ["text", ..., [1]],
        np.array([2**64 - 1], np.uint64),
        [2**70, -(2**70)],
        [0.0],
        np.zeros(0, np.int64),
        pd.Series([1, None], dtype="Int64"),
        range(3),
        [([1],), {}],
        np.ma.array([1, 2], mask=[True, False]),
    ],
    ids=str,
)
def test_odd_data_gets_a_normal_answer_of_the_same_shape(name, column):
    release = QUESTIONS[name](column, epsilon=1)
    assert np.shape(release.value) == np.shape(QUESTIONS[name](AGES, epsilon=1).value)
    assert np.all(np.isfinite(np.asarray(release.value, float)))
    assert str(release.guarantee) == str(dither.PureDP(1))


@everything
def test_all_kinds_of_columns(name):
    values = AGES[:2000]
    for column in (
        values,
        values.tolist(),
        tuple(values),
        pd.Series(values),
        pl.Series(values),
        pa.array(values),
    ):
        release = QUESTIONS[name](column, epsilon=50)
        expected = np.asarray(QUESTIONS[name](values, epsilon=1000).value, float)
        assert np.allclose(
            np.asarray(release.value, float), expected, rtol=0.02, atol=5
        )


@everything
def test_the_charge_comes_first_and_exactly_once(name):
    budget = dither.Budget(epsilon=1)
    release = QUESTIONS[name](AGES, epsilon=0.75, budget=budget)
    assert budget.spent == pytest.approx(0.75)
    assert release.receipt.account == "budget"
    assert "this process only" in str(release)
    with pytest.raises(dither.BudgetExceeded):
        QUESTIONS[name](AGES, epsilon=0.5, budget=budget)
    assert budget.spent == pytest.approx(0.75)


@everything
def test_data_is_not_read_before_it_is_paid_for(name):
    def unreadable(_names):
        raise AssertionError("read before the charge")

    dataset = dither.Dataset(
        Columns(unreadable, {"age": AGE}), dither.Budget(epsilon=0.1)
    )
    with pytest.raises(dither.BudgetExceeded):
        QUESTIONS[name](dataset["age"], epsilon=0.2)


@everything
@pytest.mark.parametrize(
    "cost",
    [
        {},
        {"epsilon": 0},
        {"epsilon": True},
        {"rho": True},
        {"epsilon": math.nan},
        {"rho": -1},
        {"epsilon": 1, "rho": 1},
    ],
)
def test_bad_costs_are_refused_and_not_charged(name, cost):
    budget = dither.Budget(epsilon=1)
    with pytest.raises(dither.ArgumentError):
        QUESTIONS[name](AGES, budget=budget, **cost)
    assert budget.spent == 0


@everything
def test_a_cost_too_small_for_64_bits_is_refused_before_the_charge(name):
    for cost in ({"epsilon": 1e-300}, {"epsilon": 5e-324}, {"rho": 1e-300}):
        budget = dither.Budget(epsilon=1)
        try:
            QUESTIONS[name](AGES, budget=budget, **cost)
        except dither.ArgumentError:
            assert budget.spent == 0
    huge_n = {"n": 10**15} if name in ("mean", "variance") else {}
    assert np.all(np.isfinite(QUESTIONS[name](AGES, epsilon=1e6, **huge_n).value))


@pytest.mark.parametrize("name", ["sum", "mean", "variance", "quantile"])
@pytest.mark.parametrize(
    "bounds",
    [
        None,
        (0,),
        (1, 0),
        (0, 0),
        (0, math.inf),
        (math.nan, 1),
        "ab",
        ("0", "1"),
        (False, True),
        (-1e308, 1e308),
    ],
)
def test_bad_bounds(name, bounds):
    arguments = (AGES, 0.5) if name == "quantile" else (AGES,)
    with pytest.raises(dither.ArgumentError, match="bounds"):
        getattr(dither, name)(*arguments, bounds=bounds, epsilon=1)


@everything
@pytest.mark.parametrize(
    "column",
    [
        "text",
        b"text",
        5,
        None,
        np.zeros((2, 2)),
        pd.DataFrame({"a": [1]}),
        {"a": 1},
        {1, 2},
        {"a": 1}.values(),
        object(),
    ],
    ids=lambda column: type(column).__name__,
)
def test_what_is_no_column_is_refused(name, column):
    with pytest.raises(dither.ArgumentError, match="x must be"):
        QUESTIONS[name](column, epsilon=1)


@pytest.mark.parametrize("name", ["sum", "mean", "variance", "quantile"])
def test_declared_text_is_refused_before_the_charge(name):
    budget = dither.Budget(epsilon=1)
    for column in (np.array(["a"]), pl.Series(["a"]), pa.array(["a"])):
        with pytest.raises(dither.ArgumentError, match="numbers"):
            QUESTIONS[name](column, epsilon=1, budget=budget)
    assert budget.spent == 0


def test_a_condition_counts_where_it_holds():
    assert dither.count(AGES >= 50, epsilon=1e3).value == (AGES >= 50).sum()
    assert (
        dither.count([True, False, None, 3, math.nan, "x", 0, pd.NA], epsilon=1e3).value
        == 4
    )
    assert dither.count(pa.array([1, None]), epsilon=1e3).value == 1
    assert dither.count(pl.Series([True, False]), epsilon=1e3).value == 1


INSIDE = {
    "count": (lambda: dither.count([False] * 5, epsilon=1), 0, math.inf),
    "histogram": (
        lambda: dither.histogram(["A"], keys=["A", "B", "C"], epsilon=1),
        0,
        math.inf,
    ),
    "count of values": (lambda: dither.count([], rho=0.5), 0, math.inf),
    "sum": (lambda: dither.sum([1.5], bounds=(0, 110), epsilon=1), 0, math.inf),
    "integers": (
        lambda: dither.sum(np.array([1]), bounds=(0, 110), epsilon=1),
        0,
        math.inf,
    ),
    "debts": (lambda: dither.sum([-1.5], bounds=(-9, 0), epsilon=1), -math.inf, 0),
    "mean": (lambda: dither.mean([1.0], bounds=(0, 9), epsilon=0.1), 0, 9),
    "mean of n": (lambda: dither.mean([1.0], bounds=(0, 9), n=1, epsilon=0.1), 0, 9),
    "variance": (lambda: dither.variance([1.0], bounds=(0, 9), epsilon=0.1), 0, 20.25),
    "quantile": (lambda: dither.quantile([1], 0.9, bounds=(0, 9), epsilon=0.1), 0, 9),
}


def test_values_lie_in_their_intervals_and_in_the_public_range():
    for name, (asked, least, most) in INSIDE.items():
        for _ in range(200):
            found = asked()
            value = np.asarray(found.value)
            assert np.all((least <= value) & (value <= most)), (name, found)
            for shown in (found, 2 * found + 3, found - found, -found):
                low, high = shown.interval(0.6)
                value = np.asarray(shown.value)
                assert np.all((low <= value) & (value <= high)), (name, shown)


def test_ends_do_not_depend_on_the_clamped_value():
    for _ in range(200):
        found = dither.count([False] * 5, epsilon=1)
        noisy, width = found.spread.value, found.spread.mechanism.error(integer=True)
        assert found.interval() == (max(noisy - width, 0), max(noisy + width, 0))
        assert found.value == max(noisy, 0)
        assert isinstance(found.value, int)
    counts = dither.histogram([], keys=["A", "B"], epsilon=1).value
    assert counts.dtype.kind == "i"


def test_integers_stay_integers_and_only_by_declaration():
    assert isinstance(dither.sum(AGES, bounds=(0, 110), epsilon=1).value, int)
    assert isinstance(dither.sum(AGES, bounds=(0, 110.5), epsilon=1).value, float)
    assert isinstance(dither.sum([1, 2], bounds=(0, 110), epsilon=1).value, float)
    assert isinstance(dither.sum([1, None], bounds=(0, 110), epsilon=1).value, float)
    assert isinstance(dither.quantile(AGES, 0.5, bounds=(0, 110), epsilon=1).value, int)


def test_wide_integers_never_wrap():
    column = np.full(1000, 2**62)
    noisy = dither.sum(column, bounds=(0, 2**50), epsilon=1)
    assert noisy.value == pytest.approx(1000 * 2**50, rel=0.1)
    with pytest.raises(dither.ArgumentError, match="bounds"):
        dither.sum(column, bounds=(0, 2**62), epsilon=1)


def test_the_wanted_error_sets_the_cost():
    release = dither.count(AGES, error=10)
    low, high = release.interval(0.95)
    assert high - low <= 20
    assert release.guarantee.epsilon == pytest.approx(math.log(20) / 10, rel=0.1)
    total = dither.sum(AGES.astype(float), bounds=(0, 110), error=1000)
    low, high = total.interval(0.95)
    assert high - low == pytest.approx(2000, rel=0.01)
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(dither.ArgumentError, match="error"):
            dither.count(AGES, error=bad)


def test_a_share_of_the_budget():
    budget = dither.Budget(epsilon=2)
    dither.count(AGES, share=0.25, budget=budget)
    assert budget.spent == pytest.approx(0.25)
    for bad in (
        {"share": 0.1},
        {"share": 2, "budget": budget},
        {"share": 0, "budget": budget},
    ):
        with pytest.raises(dither.ArgumentError, match="share"):
            dither.count(AGES, **bad)


def test_public_n():
    release = dither.mean(AGES, bounds=(0, 110), n=AGES.size, epsilon=1)
    assert str(release.guarantee.unit) == "one row (replace)"
    assert release.value == pytest.approx(AGES.mean(), abs=0.2)
    short = dither.mean([110.0] * 10, bounds=(0, 110), n=20, epsilon=1e6)
    assert short.value == pytest.approx((10 * 110 + 10 * 55) / 20, abs=1e-3)
    assert dither.variance(
        AGES, bounds=(0, 110), n=AGES.size, epsilon=1
    ).value == pytest.approx(AGES.var(), rel=0.05)
    for bad in (0, -1, 2.5):
        with pytest.raises(dither.ArgumentError, match="n must be"):
            dither.mean(AGES, bounds=(0, 110), n=bad, epsilon=1)
    with pytest.raises(dither.ArgumentError, match="n is missing"):
        dither.mean(AGES, bounds=(0, 110), epsilon=1, unit=dither.ROW.replacing())


def test_replacing_doubles_a_histogram_and_narrows_a_sum():
    replacing = dither.ROW.replacing()
    column = ["a", "b"] * 500
    wide = dither.histogram(
        column, keys=["a", "b"], epsilon=1, unit=replacing
    ).interval()
    narrow = dither.histogram(column, keys=["a", "b"], epsilon=1).interval()
    assert (wide[1] - wide[0]).sum() > (narrow[1] - narrow[0]).sum()
    low, high = dither.sum(
        [15.0] * 50, bounds=(10, 20), epsilon=1, unit=replacing
    ).interval()
    assert (high - low) / 2 == pytest.approx(10 * math.log(20), rel=0.01)


def test_histograms_answer_every_key_and_no_other():
    release = dither.histogram(
        ["a", "b", "b", "zebra", None, ["x"]], keys=["a", "b", "absent"], epsilon=1e3
    )
    assert release.keys == ("a", "b", "absent")
    assert release.value.tolist() == [1, 2, 0]
    edges = dither.histogram(
        [-5, 0, 1, 2, 99, math.nan], edges=[0, 1, 2, 4], epsilon=1e3
    )
    assert edges.value.tolist() == [2, 1, 2]
    assert edges.keys == ("0 to 1", "1 to 2", "2 to 4")
    assert len(release) == 3


@pytest.mark.parametrize(
    "bins",
    [
        {},
        {"bins": 3},
        {"bins": 0, "bounds": (0, 1)},
        {"keys": []},
        {"keys": ["a", "a"]},
        {"keys": [["a"]]},
        {"keys": "ab"},
        {"edges": [1]},
        {"edges": [1, 0]},
        {"edges": [0, math.inf]},
        {"keys": ["a"], "bins": 2},
    ],
)
def test_bad_bins(bins):
    with pytest.raises(dither.ArgumentError):
        dither.histogram([1], epsilon=1, **bins)


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "x", None])
def test_bad_levels(q):
    with pytest.raises(dither.ArgumentError, match="q must be from 0 to 1"):
        dither.quantile(AGES, q, bounds=(0, 110), epsilon=1)


@pytest.mark.parametrize("q", [0, 0.05, 0.25, 0.9, 1])
def test_quantile_levels(q):
    release = dither.quantile(AGES, q, bounds=(0, 110), epsilon=1)
    low, high = release.interval()
    assert low <= release.value <= high
    assert np.mean(release.value > AGES) <= q + 0.02
    assert np.mean(release.value >= AGES) >= q - 0.02


def test_quantiles_of_tied_values_and_other_confidences():
    tied = np.full(5000, 42)
    release = dither.quantile(tied, 0.5, bounds=(0, 110), epsilon=1, confidence=0.99)
    assert release.value == 42
    assert release.interval(0.99) == (42, 42)
    with pytest.raises(dither.ArgumentError, match="confidence"):
        release.interval(0.999)
    with pytest.raises(dither.ArgumentError, match="confidence"):
        dither.quantile(tied, 0.5, bounds=(0, 110), epsilon=1, confidence=1)


@chance(1e-8)
def test_the_mean_spends_less_than_a_sum_and_a_count_apart():
    """The noise of both sums together: 4/ε² on the count, where halving ε would give
    8/ε².
    """
    values, runs = np.full(1000, 0.5), 2000
    means = [dither.mean(values, bounds=(0, 1), epsilon=0.5).value for _ in range(runs)]
    # B − A carries the error: its variance is 2·2/ε², over (2n)²
    expected = 4 / 0.5**2 / (2 * 1000) ** 2
    # Seven standard deviations
    assert np.var(means) == pytest.approx(expected, rel=0.3)


@chance(1e-8)
def test_columns_of_a_dataset():
    budget = dither.Budget(epsilon=2)
    people = dither.Dataset.of(
        {"age": AGES, "sex": ["f", "m"] * 10_000},
        bounds={"age": (0, 110)},
        keys={"sex": ("f", "m")},
        account=budget,
    )
    assert dither.mean(people["age"], epsilon=1).value == pytest.approx(
        AGES.mean(), abs=1
    )
    assert dither.histogram(people["sex"], epsilon=1).value == pytest.approx(
        [10_000, 10_000], abs=20
    )
    assert budget.remaining.epsilon == 0
    with pytest.raises(dither.ArgumentError, match="own account"):
        dither.sum(people["age"], epsilon=1, budget=dither.Budget(epsilon=1))
    free = dither.Dataset.of({"age": AGES}, bounds={"age": (0, 110)})
    assert isinstance(
        dither.sum(free["age"], epsilon=1, budget=dither.Budget(epsilon=1)).value, int
    )


def test_datasets_with_many_rows_of_one_unit_are_refused():
    visits = dither.Dataset.of(
        {"patient": [1, 1], "age": [3, 4]}, unit=dither.Unit("patient"), owner="patient"
    )
    with pytest.raises(dither.ArgumentError, match="one row per patient"):
        dither.mean(visits["age"], bounds=(0, 110), epsilon=1)


def test_a_record_never_changes_how_another_is_read():
    """Found by review: one None, or one list among lists, once changed what all other
    records counted.
    """
    huge = dither.sum([10**29] * 100, bounds=(0, 10**29), epsilon=1e9).value
    assert dither.sum(
        [10**29] * 100 + [None], bounds=(0, 10**29), epsilon=1e9
    ).value == pytest.approx(huge, rel=1e-3)
    assert dither.sum(
        [[1, 1, 1]] * 1000, bounds=(0, 1), epsilon=1e9
    ).value == pytest.approx(0, abs=1e-3)
    wide = pl.Series([2**64 - 1] * 100, dtype=pl.UInt64)
    with_null = pl.Series([2**64 - 1] * 100 + [None], dtype=pl.UInt64)
    answers = [
        dither.mean(column, bounds=(0, 2.0**64), epsilon=1e9).value
        for column in (wide, with_null)
    ]
    assert answers[0] == pytest.approx(answers[1], rel=1e-3)


class Odd:
    def __float__(self):
        raise RuntimeError("secret 42")

    def __eq__(self, other):
        raise RuntimeError("secret 42")

    def __hash__(self):
        return 1


@everything
def test_no_record_makes_a_question_fail(name):
    loop = [1]
    loop.append(loop)
    odd = [
        Odd(),
        Decimal("sNaN"),
        np.timedelta64(5, "s"),
        np.complex128(1),
        np.ma.masked,
        loop,
        1e-310,
        np.longdouble(1),
    ]
    with np.errstate(all="raise"), localcontext(Context(prec=1, traps=[Inexact])):
        assert np.all(
            np.isfinite(np.asarray(QUESTIONS[name](odd, epsilon=1).value, float))
        )
        assert np.all(
            np.isfinite(
                np.asarray(
                    QUESTIONS[name](np.array([1e-310, 1e-200]), epsilon=1).value, float
                )
            )
        )
    assert dither.histogram(odd, keys=[1, 2], epsilon=1).value.shape == (2,)


def test_sums_of_huge_values_are_answered():
    assert (
        dither.sum([1e307] * 300, bounds=(0, 1e307), epsilon=5).value
        == np.finfo(float).max
    )


@pytest.mark.parametrize("name", ["sum", "mean", "variance", "quantile"])
@pytest.mark.parametrize(
    "bounds",
    [
        (Decimal(0), Decimal(110)),
        (Fraction(0), Fraction(110)),
        (np.int8(0), np.int8(110)),
        np.array([0, 110]),
    ],
)
def test_bounds_of_any_number_type(name, bounds):
    arguments = (AGES, 0.5) if name == "quantile" else (AGES,)
    release = getattr(dither, name)(*arguments, bounds=bounds, epsilon=10)
    assert release.value == pytest.approx(float(TRUTHS[name]), rel=0.02)


@pytest.mark.parametrize("n", [np.int32(20_000), np.int64(20_000), np.uint16(20_000)])
def test_n_of_any_integer_type(n):
    assert dither.variance(
        AGES, bounds=(0, 110), n=n, epsilon=10
    ).value == pytest.approx(AGES.var(), rel=0.02)
    with pytest.raises(dither.ArgumentError, match=r"n must be at most 2\*\*62"):
        dither.mean(AGES, bounds=(0, 110), n=10**400, epsilon=1)


def test_questions_that_cannot_be_answered_are_refused_before_the_charge():
    budget = dither.Budget(epsilon=1)
    for ask in (
        lambda: dither.variance(AGES, bounds=(-1e300, 1e300), epsilon=1, budget=budget),
        lambda: dither.quantile(
            AGES, 0.5, bounds=(0, 1), confidence=1 - 2**-53, epsilon=1, budget=budget
        ),
        lambda: dither.count(AGES, share="x", budget=budget),
        lambda: dither.count(AGES, error="x", budget=budget),
        lambda: dither.histogram(AGES, edges=["a", 2], epsilon=1, budget=budget),
        lambda: dither.quantile(
            AGES, 0.5, bounds=(0, 1), confidence="x", epsilon=1, budget=budget
        ),
    ):
        with pytest.raises(dither.ArgumentError):
            ask()
    assert len(budget.history()) == 0


def test_chunked_arrow_columns():
    column = pa.chunked_array([[True, False], [None, True]])
    assert dither.count(column, epsilon=1e3).value == 2
    words = pa.chunked_array([["a", "b"], ["b"]])
    assert dither.histogram(words, keys=["a", "b"], epsilon=1e3).value.tolist() == [
        1,
        2,
    ]
    assert (
        dither.sum(pa.chunked_array([[1, None], [5]]), bounds=(0, 9), epsilon=1e3).value
        == 6
    )


def test_a_column_is_fetched_once():
    fetched = []
    dataset = dither.Dataset(
        Columns(lambda names: fetched.append(names) or {"age": AGES}, {"age": AGE})
    )
    for ask in QUESTIONS.values():
        ask(dataset["age"], epsilon=1)
    assert len(fetched) == len(QUESTIONS)


def test_quantiles_print_with_their_own_confidence():
    release = dither.quantile(AGES, 0.5, bounds=(0, 110), confidence=0.9, epsilon=1)
    assert "90 %" in str(release)
    spread = release - dither.quantile(AGES, 0.25, bounds=(0, 110), epsilon=1)
    assert "result:" in str(spread)


def test_the_mean_of_n_stays_inside_its_bounds():
    assert all(
        0 <= dither.mean([1.0], bounds=(0, 1), n=1, epsilon=0.1).value <= 1
        for _ in range(50)
    )


def test_failures_after_reading_are_counted_and_freeze_the_account():
    def broken(_names):
        raise RuntimeError("row 17 is odd")

    budget = dither.Budget(epsilon=10)
    dataset = dither.Dataset(Columns(broken, {"age": AGE}), budget)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            dither.count(dataset["age"], epsilon=1)
    with pytest.raises(dither.AccountFrozen):
        dither.count(dataset["age"], epsilon=1)
    assert len(budget.history()) == 3


WIDE = (2**60, 2**60 + 1000)
"""Between these there are only three floats."""


@pytest.mark.parametrize(
    "make", [Decimal, Fraction, np.longdouble, int], ids=lambda make: make.__name__
)
def test_values_that_are_no_floats_are_read_exactly(make):
    values = [make(WIDE[0] + i) for i in range(1000)]
    if any(int(value) - WIDE[0] != i for i, value in enumerate(values)):
        pytest.skip("longdouble is a double here")
    replacing = dither.Unit().replacing()
    total = dither.sum(values, bounds=WIDE, epsilon=1e6, unit=replacing).value
    assert abs(Fraction(total) - sum(map(int, values))) <= 2**18, (
        "rounded once, to a float of this size"
    )
    middle = dither.mean(values, bounds=WIDE, n=1000, epsilon=1e6)
    assert abs(Fraction(middle.value) - WIDE[0] - 499) <= 256
    assert dither.histogram(
        values, edges=[2**60, 2**60 + 512, 2**60 + 1024], epsilon=1e3
    ).value.tolist() == [512, 488]
    quantile = dither.quantile(
        np.array([int(value) for value in values]), 0.25, bounds=WIDE, epsilon=1e3
    ).value
    assert abs(quantile - WIDE[0] - 250) <= 2


def test_the_type_of_one_record_does_not_change_how_others_are_read():
    """With these numbers floats and fractions round differently, and a thousand such
    roundings add up.
    """
    values = [0.1 + i / 7 for i in range(1000)]
    steps = SumGrid.between(-1e6, 0.3, integer=False, replacing=False)
    alone = steps.total(numbers_of(values, Kind.ANYTHING))
    for item in (Decimal("0.3"), Fraction(1, 3), 2**80, None):
        among = steps.total(numbers_of([*values, item], Kind.ANYTHING))
        assert abs(among - alone) <= steps.sensitivity
        assert among - alone == (
            0 if item is None else steps.total(numbers_of([item], Kind.ANYTHING))
        )
    scaled_alone = scaled(numbers_of(values, Kind.ANYTHING), -1e6, 0.3)
    assert (
        scaled(numbers_of([*values, Decimal(1)], Kind.ANYTHING), -1e6, 0.3)[:-1]
        == scaled_alone
    ).all()


def test_sums_round_each_value_once():
    steps = SumGrid.between(0, 3, integer=False, replacing=False)
    values = np.random.default_rng(5).uniform(
        -1, 4, 200
    )  # allowed: test inputs, not noise
    for value in [*values, 1e300, -1e300, math.inf, -math.inf, 5e-324]:
        held = min(max(Fraction(min(max(value, -1e300), 1e300)), 0), 3)
        with np.errstate(over="ignore"):
            assert steps.total(numbers_of(np.array([value]), Kind.REALS)) == round(
                held / steps.size
            )
    narrow = SumGrid.between(2.0**60, 2.0**60 + 512, integer=False, replacing=True)
    assert (
        narrow.total(numbers_of([2.0**60 + 256], Kind.REALS))
        == (2**60 + 256) / narrow.size
    )


def test_text_in_a_plain_list_is_missing_and_declared_text_is_refused():
    """A list declares nothing, so what its items are is private; a column of text says
    so itself.
    """
    assert dither.sum(
        ["5", "7", 1], bounds=(0, 10), epsilon=1e6
    ).value == pytest.approx(1, abs=1e-3)
    with pytest.raises(dither.ArgumentError, match="x must be a column of numbers"):
        dither.mean(pd.Series(["5", "7"], dtype="string"), bounds=(0, 10), epsilon=1)


def test_quantiles_of_wide_integers_are_integers_of_the_grid():
    leaves = quantiles.leaves_of(*WIDE, integer=True)
    assert [leaves.value(i) for i in (0, 1, 999, 1000)] == [
        2**60,
        2**60 + 1,
        2**60 + 999,
        2**60 + 1000,
    ]


def test_an_interval_of_a_quantile_ends_on_edges_of_leaves():
    """The plain median lies between two points of any coarse grid; bounds that are a
    hundred thousand times too wide cost little.
    """
    values = np.full(20_000, 10.57626)
    for high in (100, 1e6):
        release = dither.quantile(values, 0.5, bounds=(0, high), epsilon=5)
        low, top = release.interval(0.95)
        assert low < 10.57626 < top < low + 0.03
        assert low <= release.value <= top


def test_an_interval_holds_both_plain_quantiles():
    """Also between two far values in the middle: the choices aim a rank farther out."""
    values = np.repeat([10.0, 90.0], 500)
    for q in (0.25, 0.5, 0.75):
        low, high = dither.quantile(values, q, bounds=(0, 100), epsilon=1e3).interval()
        assert low <= np.quantile(values, q) <= high
    low, high = dither.quantile(values, 0.5, bounds=(0, 100), epsilon=1e3).interval()
    assert low <= 10
    assert high >= 90


def test_leaves_are_the_same_for_arrays_and_fractions():
    leaves = quantiles.leaves_of(-3.0, 1e6, integer=False)
    values = GENERATOR.lognormal(3, 3, 2000) - 3
    found = quantiles.counts_of(leaves, Numbers(values))
    again = quantiles.counts_of(
        leaves, Numbers(np.array([]), tuple(map(Fraction, values)))
    )
    assert found.sum() == 2000
    assert np.array_equal(found, again)


class Exact:
    """A choice that misses by nothing, and takes the last or the first of the best."""

    def __init__(self, *, last: bool = False) -> None:
        self.last = last

    def error(self, confidence: float, *, candidates: int) -> float:  # noqa: ARG002
        return 0.0

    def release(self, scores):
        best = np.flatnonzero(scores == scores.max())
        return int(best[-1 if self.last else 0])


@pytest.mark.parametrize("q", [0, 0.01, 0.25, 1 / 3, 0.5, 0.9, 1])
def test_every_best_choice_of_an_end_holds_both_plain_quantiles(q):
    """Even the leaf that makes the interval shortest, for all small data."""
    level = quantiles.level(q)
    choices = [Exact(), Exact(last=True), Exact()]
    for values in chain.from_iterable(
        combinations_with_replacement(range(4), rows) for rows in range(1, 7)
    ):
        counts = np.bincount(values, minlength=4)
        _, low, high = quantiles.choose(counts, level, choices, 0.95)
        place = (len(values) - 1) * level
        first = values[max(0, math.ceil(len(values) * level) - 1)]
        held = (first, values[math.floor(place)], values[math.ceil(place)])
        assert low <= min(held) <= max(held) <= high


@pytest.mark.parametrize("epsilon", [1e-5, 0.01, 1.0, 10.0])
def test_rounding_is_a_hundredth_of_the_noise_of_a_sum(epsilon):
    """Of 1e8 values in the worst case; the interval has it for as many as there may be."""
    grids = SumGrid.grids(-1e6, 0.3, integer=False, replacing=False)
    assert [one.size for one in grids] == sorted(one.size for one in grids)
    release = dither.sum([0.1] * 3, bounds=(-1e6, 0.3), epsilon=epsilon)
    (grid, half) = next(
        (one, noise.error(0.95, integer=True))
        for one in grids
        for noise in [dither.Laplace(sensitivity=one.sensitivity, epsilon=epsilon)]
        if noise.scale <= 2.0**56
    )
    assert half >= 1e8 * 0.5 * 100
    low, high = release.interval(0.95)
    assert (high - low) / 2 == pytest.approx(
        half * float(grid.size) + grid.rounding, rel=1e-12
    )


@chance(2e-8)
def test_means_and_variances_of_values_that_are_not_rounded():
    """With hardly any noise: two values that steps of 2^-32 would move apart."""
    step = 2.0**-32
    values = [0.49 * step] * 700 + [3.51 * step] * 300
    for ask, truth in ((dither.mean, np.mean), (dither.variance, np.var)):
        release = ask(values, bounds=(0, 1), epsilon=1e9)
        low, high = release.interval(1 - 1e-8)
        assert low <= truth(values) <= high
        assert high - low < 1e-10
