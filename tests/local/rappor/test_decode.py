"""Tallies are drawn from their exact law, with fixed seeds: no false alarms here,
except where messages are real; these tests state their rate.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from bench import local_rappor as bench
from dither.errors import ArgumentError, MissingExtra
from dither.local.rappor import regression
from dither.local.rappor.decode import Decoded, decode
from dither.local.rappor.oracle import Rappor
from dither.local.words import FRESH
from tests.chance import chance

ORACLE = Rappor.of(f=0.25, p=0.25, q=0.75, bits=32, cohorts=4)
NAMES = [f"page {i}" for i in range(20)]


def tallied(
    oracle: Rappor = ORACLE,
    names: list[str] = NAMES,
    devices: int = 20_000,
    seed: int = 1,
) -> Any:
    random = np.random.default_rng(seed)
    held = random.multinomial(devices, bench.distribution("zipf1", len(names)))
    bits = bench.filters(oracle, names)
    return held, bench.simulated(oracle, held, bits, random)


@chance(1e-7)
def test_the_simulation_has_the_law_of_real_messages() -> None:
    """Means and variances of all 18 cells, from messages and from the shortcut."""
    oracle = Rappor.of(f=0.25, p=0.25, q=0.75, bits=8, cohorts=2)
    held = np.array([30, 20, 10])
    names = ["a", "b", "c"]
    items = oracle.encode([b"s:" + name.encode() for name in names])
    random = np.random.default_rng(3)
    bits = bench.filters(oracle, names)
    repeated = np.repeat(items, held, axis=0)
    real = np.array(
        [oracle.tally(oracle.randomize(repeated, FRESH)) for _ in range(1200)]
    )
    short = np.array([bench.simulated(oracle, held, bits, random) for _ in range(1200)])
    error = np.sqrt((real.var(axis=0) + short.var(axis=0)) / 1200)
    assert (abs(real.mean(axis=0) - short.mean(axis=0)) < 7 * error).all()
    assert real.var(axis=0) == pytest.approx(short.var(axis=0), rel=0.42)


@chance(1e-7)
def test_decoded_shares_of_real_messages() -> None:
    held = bench.distribution("zipf1", 20)
    items = ORACLE.encode([b"s:" + name.encode() for name in NAMES])
    counts = (50_000 * held).astype(int)
    records = ORACLE.randomize(np.repeat(items, counts, axis=0), FRESH)
    found = decode(ORACLE, ORACLE.tally(records), NAMES)
    truth = counts / counts.sum()
    assert (abs(found.estimate - truth) < 6.5 * found.standard_error).all()
    assert (found.frequency >= 0).all()
    assert found.frequency.sum() <= 1 + 1e-12
    assert found.found[:5].all()
    assert abs(found.other) < 6.5 * found.other_error
    assert found.messages == counts.sum()
    assert found.fit.p_value > 1e-8
    assert found.balance.p_value > 1e-8


def coverage(found: list[tuple[dict[str, float], Decoded]]) -> float:
    return float(np.mean([bench.held_share(*one) for one in found]))


@pytest.mark.parametrize("periods", [1, 30])
def test_intervals_hold_and_discoveries_are_true(periods: int) -> None:
    """25 tallies of 100 candidates: coverage has a standard error of 0.5 %."""
    found = list(bench.complete(periods, 25, np.random.default_rng(periods)))
    assert coverage(found) == pytest.approx(0.95, abs=0.015)
    assert np.mean([bench.false_share(*one) for one in found]) <= 0.05
    errors = [
        (decoded.estimate - list(truth.values())) / decoded.standard_error
        for truth, decoded in found
    ]
    assert np.mean(errors) == pytest.approx(0, abs=0.1)
    assert np.var(errors) == pytest.approx(1, abs=0.1)


@pytest.mark.full
@pytest.mark.parametrize("periods", [1, 30])
def test_intervals_hold_as_often_as_they_say(periods: int) -> None:
    found = list(bench.complete(periods, 150, np.random.default_rng(9 + periods)))
    assert coverage(found) == pytest.approx(0.95, abs=0.01)


def test_a_share_at_the_detection_limit_is_found_four_times_in_five() -> None:
    """Within the chance of 300 candidates at the limit."""
    oracle = Rappor.of(f=0.25, p=0.25, q=0.75)
    names = [f"w{i}" for i in range(40)]
    bits = bench.filters(oracle, names)
    held = np.array([900] * 15 + [46_500] + [0] * 24)
    random = np.random.default_rng(6)
    shares = []
    for _ in range(20):
        counts = bench.simulated(oracle, held, bits, random)
        decoded = decode(oracle, counts, names)
        shares.append(decoded.found[:15].mean())
    assert decoded.detection_limit() == pytest.approx(900 / 60_000, rel=0.1)
    assert np.mean(shares) > 0.75


def test_strings_missing_from_the_list_widen_intervals() -> None:
    """A tenth of all answers is not on the list, in ten strings."""
    found = list(bench.regression("exp", 10, np.random.default_rng(4)))
    assert coverage(found) == pytest.approx(0.95, abs=0.02)
    for truth, decoded in found:
        unlisted = [truth[name] for name in truth if name.endswith("9")]
        assert decoded.fit.p_value < 0.2
        assert decoded.unexplained == pytest.approx(np.linalg.norm(unlisted), rel=0.5)
        assert abs(decoded.other - sum(unlisted)) < 5 * decoded.other_error


@pytest.mark.parametrize("name", bench.GOOGLE)
def test_closer_to_the_truth_than_google_s_decoder(name: str) -> None:
    found = bench.regression(name, 4, np.random.default_rng(2))
    ours = np.mean([bench.variation(*one) for one in found])
    assert ours < bench.GOOGLE[name]


def test_constrained_shares_are_the_best_ones_on_the_simplex() -> None:
    """No step towards any corner of the simplex makes the misfit smaller."""
    _, counts = tallied(devices=2000)
    model = model_of(counts)
    covariances = model.covariances(np.zeros(20))
    shares = regression.constrained(model, covariances)
    design, target, _ = regression._whitened(model, covariances)
    slope = design.T @ (design @ shares - target)
    corners = np.append(slope, 0.0)  # the last corner: all is other
    here = slope @ shares
    assert (shares == 0).any()
    assert corners.min() >= here - 1e-6 * abs(corners).max()


def model_of(counts: Any) -> regression.Model:
    from dither.local.rappor import decode as module

    table = module._table(ORACLE, counts)
    return module._model(ORACLE, table, module._items(ORACLE, tuple(NAMES)), 1)


def test_the_covariance_is_the_one_of_messages() -> None:
    """Bits of a cohort are linked by the strings that set them: over many tallies of
    the same devices, what is seen varies as the model says.
    """
    oracle = Rappor.of(f=0.02, p=0.05, q=0.9, bits=8, cohorts=2)
    held = np.array([500, 300, 200])
    names = ["a", "b", "c"]
    bits = bench.filters(oracle, names)
    random = np.random.default_rng(8)
    seen = []
    for _ in range(4000):
        table = bench.simulated(oracle, held, bits, random).reshape(2, 9)
        seen.append(table[0, 1:] / table[0, 0])
    shares = held / held.sum()
    held_rate, null = oracle.rates
    model = regression.Model(
        bits.transpose(1, 2, 0).astype(float), np.zeros((2, 8)),
        np.array([500.0, 500.0]), oracle.noise, 1, 0.234, 0.05,
    )  # fmt: skip
    expected = model.covariances(shares)[0] * (held_rate - null) ** 2
    # devices are given: half of what drawing them would add falls into this cohort
    drawn = bits[:, 0].T @ (np.diag(shares) - np.outer(shares, shares)) @ bits[:, 0]
    expected -= drawn * (held_rate - null) ** 2 / 1000
    assert np.cov(np.transpose(seen)) == pytest.approx(expected, abs=5e-5)


def test_influence_is_what_one_message_moves() -> None:
    """The worst message of a cohort, found bit by bit, moves no estimate further."""
    _, counts = tallied()
    before = decode(ORACLE, counts, NAMES)
    assert (before.influence >= ORACLE.influence).all()
    table = counts.reshape(4, 33).copy()
    bits = bench.filters(ORACLE, NAMES[:1])[0]
    table[2, 0] += 100
    table[2, 1:] += 100 * bits[2]
    after = decode(ORACLE, table.reshape(-1), NAMES)
    total = before.messages
    moved = (after.estimate[0] * (total + 100) - before.estimate[0] * total) / 100
    assert 1 < moved <= before.influence[0] * 1.05


def test_an_empty_cohort_is_left_out_and_shown() -> None:
    _, counts = tallied()
    table = counts.reshape(4, 33).copy()
    table[3] = 0
    found = decode(ORACLE, table.reshape(-1), NAMES)
    assert found.fit.degrees == 3 * 32 - 20
    assert found.balance.p_value < 1e-9
    assert found.found[0]


def test_pooled_periods_make_wider_intervals() -> None:
    _, counts = tallied()
    once = decode(ORACLE, counts, NAMES)
    pooled = decode(ORACLE, counts, NAMES, periods=30)
    assert (pooled.standard_error > 1.5 * once.standard_error).all()


@chance(1e-8)
def test_none_is_a_candidate_of_its_own() -> None:
    items = ORACLE.encode([b"n:", b"s:a"])
    records = ORACLE.randomize(np.repeat(items, [8000, 2000], axis=0), FRESH)
    found = decode(ORACLE, ORACLE.tally(records), [None, "a", "b"])
    assert found.estimate[0] == pytest.approx(0.8, abs=6 * found.standard_error[0])
    assert abs(found.estimate[2]) < 6 * found.standard_error[2]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "are empty"),
        (["caf\u00e9", "cafe\u0301"], "twice"),
        (["a", "a"], "twice"),
        (["a", "\ud83c"], "not a valid value"),
        (["a", ""], "empty"),
        ([f"c{i}" for i in range(128)], "128 candidates are too many for the 128 bits"),
    ],
)
def test_lists_that_cannot_be_decoded(candidates: list[Any], message: str) -> None:
    _, counts = tallied()
    with pytest.raises(ArgumentError, match=message):
        decode(ORACLE, counts, candidates)


def test_candidates_with_the_same_bits_are_named() -> None:
    oracle = Rappor.of(f=0.25, p=0.25, q=0.75, bits=8, hashes=1, cohorts=1)
    names = [f"c{i}" for i in range(7)]
    places = bench.filters(oracle, names)[:, 0].argmax(axis=1)
    assert len(set(places)) < 7
    counts = np.full(9, 40)
    counts[0] = 100
    with pytest.raises(
        ArgumentError, match="from others, which together set the same bits"
    ):
        decode(oracle, counts, names)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros(ORACLE.cells, np.int64), "has no message"),
        (np.zeros(5, np.int64), "must be an array of 132 integers"),
        (np.zeros(ORACLE.cells), "integers"),
        (np.arange(ORACLE.cells), "more ones than there are messages"),
        (np.full(ORACLE.cells, -1), "more ones than there are messages"),
    ],
)
def test_tallies_that_cannot_be_decoded(counts: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        decode(ORACLE, counts, NAMES)


def test_a_declared_domain_is_not_decoded() -> None:
    basic = Rappor.of(5, f=0.25, p=0.25, q=0.75)
    with pytest.raises(ArgumentError, match="needs no decoding"):
        decode(basic, np.zeros(6, np.int64), NAMES)


def test_one_message_gives_a_wide_answer() -> None:
    items = ORACLE.encode([b"s:a"])
    counts = ORACLE.tally(ORACLE.randomize(items, FRESH))
    found = decode(ORACLE, counts, ["a", "b"])
    assert found.messages == 1
    assert (found.standard_error > 0.3).all()


def test_without_scipy_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, counts = tallied()
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(MissingExtra, match=r"'\.\[accounting\]'"):
        decode(ORACLE, counts, NAMES)
