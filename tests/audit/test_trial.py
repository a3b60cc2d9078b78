"""`audit.mechanism` finds planted mistakes, accepts what is right, and says what it
cannot do.
"""

from statistics import median

import numpy as np
import pytest

import dither
from bench.audit import BUGS, OFTEN, prints, whole_scale
from dither import audit
from dither.errors import ArgumentError, UnitMismatch
from dither.mechanisms import (
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
)
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    PureDP,
    ZeroConcentratedDP,
)
from tests.chance import at_most, chance
from tests.clock import quick

CLAIM = PureDP(1.0)
FRESH = np.random.default_rng()  # allowed: test inputs, not noise


@chance(1e-9)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_planted_mistakes_are_found(bug):
    for _ in range(2):
        found = bug.found()
        assert found.refuted, found
        assert found.lower > 1.3
        assert found.false_alarm == pytest.approx(1e-3)


@chance(1e-9)
@pytest.mark.full
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_planted_mistakes_are_found_every_time(bug):
    """Noise is fresh in each repetition; every bound lies so far above the claim that
    one miss is below 1e-9.

    `bench audit` repeats each 200 times."""
    assert all(bug.found().refuted for _ in range(20))


def response(x, size):
    return RandomizedResponse(epsilon=1).release(np.full(size, x))


def gaussian(x, size):
    return Gaussian(sensitivity=1, mu=1).release(np.full(size, x))


OURS = [
    ("Laplace", whole_scale, CLAIM),
    ("RandomizedResponse", response, CLAIM),
    ("Gaussian, μ", gaussian, GaussianDP(1.0)),
    ("Gaussian, ρ", gaussian, ZeroConcentratedDP(0.5)),
    ("Gaussian, ε and δ", gaussian, GaussianDP(1.0).approx(0.1)),
    ("prints the database, δ large enough", prints, ApproxDP(1.0, OFTEN)),
]


@chance(3e-9)
def test_a_range_is_audited_as_a_range():
    """1-DP holds, and is accepted; a range of 1 does not, because it is about two
    answers at once. Bounds from below are 11 and 8 standard deviations away.
    """
    strict = 1 - 1e-9
    found = audit.mechanism(
        response, 0, 1, claimed=BoundedRange(1.0), confidence=strict
    )
    assert found.refuted
    assert 1.8 < found.lower <= 2.0
    assert 0.9 < found.epsilon_lower <= 1.0
    assert "range ε is at least" in str(found)
    assert not audit.mechanism(
        response, 0, 1, claimed=BoundedRange(2.0), confidence=strict
    ).refuted


@chance(1e-8)
def test_a_range_that_holds_is_accepted():
    """Scores whose gaps move by all they may: the range of the exponential mechanism is
    its ε.
    """
    mechanism = Exponential(sensitivity=1, epsilon=1)
    found = audit.mechanism(
        mechanism.release, [0, 1, 0], [1, 0, 0], draws=8000, confidence=1 - 1e-9
    )
    assert not found.refuted
    # 0.6 on average, with a standard deviation of 0.05
    assert 0.2 < found.lower < 1.0
    assert found.measure == "range ε"


@chance(1e-8)
def test_permute_and_flip_has_no_range_of_its_epsilon():
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=4)
    found = audit.mechanism(
        mechanism.release, [0, 1], [1, 0], claimed=BoundedRange(4.0), draws=4000
    )
    assert found.refuted
    assert not audit.mechanism(
        mechanism.release, [0, 1], [1, 0], draws=4000, confidence=1 - 1e-9
    ).refuted


@chance(2e-9)
@pytest.mark.parametrize(
    ("f", "claim"), [one[1:] for one in OURS], ids=[one[0] for one in OURS]
)
def test_what_holds_is_accepted(f, claim):
    found = audit.mechanism(f, 0, 1, claimed=claim, confidence=1 - 1e-9)
    assert not found.refuted
    assert found.lower > 0.5 * found.to_dict()["stated"]


@chance(1e-8)
@pytest.mark.parametrize(
    ("f", "claim"), [one[1:] for one in OURS], ids=[one[0] for one in OURS]
)
def test_false_alarms_at_a_loose_confidence(f, claim):
    """Of 60 audits at 90 %."""
    found = [
        audit.mechanism(f, 0, 1, claimed=claim, draws=500, confidence=0.9)
        for _ in range(60)
    ]
    assert sum(one.refuted for one in found) <= at_most(60, 0.1, 1e-8)


@chance(1e-9)
@pytest.mark.full
@pytest.mark.parametrize(
    ("f", "claim"), [one[1:] for one in OURS], ids=[one[0] for one in OURS]
)
def test_false_alarms_at_a_strict_confidence(f, claim):
    """Of 250 audits at 99 %.

    `bench audit` makes 1,000 audits of Laplace noise at 99.9 %."""
    # The others take minutes each with as many
    draws = 100_000 if f is whole_scale else 5_000
    found = [
        audit.mechanism(f, 0, 1, claimed=claim, draws=draws, confidence=0.99)
        for _ in range(250)
    ]
    assert sum(one.refuted for one in found) <= at_most(250, 0.01, 1e-9)


@chance(2e-8)
@pytest.mark.parametrize(("draws", "least"), [(100_000, 0.96), (1_000_000, 0.988)])
def test_discrete_laplace_is_bounded_closely(draws, least):
    """A single audit stays below with a probability of 1e-3 at most (3.7 standard
    deviations were measured); the median of five with 1e-8.
    """
    found = [
        audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, draws=draws) for _ in range(5)
    ]
    assert least <= median(one.lower for one in found) <= 1.01
    assert all(one.epsilon_lower == one.lower for one in found)


@chance(1e-9)
def test_ten_million_draws_take_seconds():
    with quick(60):
        found = audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, draws=10_000_000)
    assert 0.99 < found.lower < 1.01
    assert found.draws == 10_000_000


@chance(1e-9)
def test_a_mechanism_brings_its_claim():
    laplace = Laplace(sensitivity=1, epsilon=1)
    found = audit.mechanism(laplace.release, 0, 1, draws=5000, confidence=1 - 1e-9)
    assert found.claimed == CLAIM
    assert not found.refuted


@chance(1e-9)
def test_one_of_several_pairs_is_enough():
    told = []
    found = audit.mechanism(
        whole_scale,
        pairs=[(0, 1), (0, 3), (4, 4)],
        claimed=CLAIM,
        draws=20_000,
        progress=lambda *now: told.append(now),
    )
    assert found.refuted
    assert (found.pair, found.pairs) == (1, 3)
    assert "pair 2" in str(found)
    assert told[-1][1] == 120_000
    assert abs(told[-1][0] - 120_000) < 5000
    assert told == sorted(told)


def raises_on_one(x):
    if x:
        raise ValueError
    return 0


def test_raising_on_one_neighbour_is_an_event():
    found = audit.mechanism(raises_on_one, 0, 1, claimed=CLAIM, draws=1000)
    assert found.refuted
    assert "raises ValueError" in found.event


@chance(1e-12)
def test_what_an_exception_says_is_an_event():
    def f(x):
        if FRESH.random() < 0.5:
            raise ValueError(f"row {x}")
        return 0

    found = audit.mechanism(f, 0, 1, claimed=CLAIM, draws=1000)
    assert found.refuted
    assert "it raises ValueError: row 0" in found.event


def raising(chance):
    def f(x, size):
        if (FRESH.random(size) < chance[x]).any():
            raise ValueError
        return np.zeros(size, np.int64)

    return f


@chance(3e-8)
@pytest.mark.parametrize(
    ("chance", "part"), [((0.5, 0.6), 1.0), ((0.0, 0.0), 0.95), ((0.003, 0.003), 0.05)]
)
def test_seldom_exceptions_in_calls_for_many_have_their_own_alarm_rate(
    chance, part, monkeypatch
):
    """Calls that raise are thrown away and drawn again one by one, which would
    otherwise favour one outcome.

    That a chance of 0.003 shows in 40 draws, or in none of 4,000, happens in one of 9
    cases, and then in another way.
    """
    from dither.audit.trial import Trial

    seen, honest = [], Trial._judged

    def spy(self, caller, alarm, inputs):
        seen.append((alarm, caller.together))
        return honest(self, caller, alarm, inputs)

    monkeypatch.setattr(Trial, "_judged", spy)
    for _ in range(20):
        seen.clear()
        assert not audit.mechanism(
            raising(chance), 0, 1, claimed=CLAIM, draws=2000, confidence=1 - 1e-9
        ).refuted
        if seen[-1][0] == pytest.approx(part * 1e-9):
            break
    else:
        pytest.fail("never seen in 20 audits")
    assert seen[-1][1] is (part == 0.95)
    assert len(seen) == (2 if part == 0.05 else 1)


def test_nan_on_one_neighbour_is_an_event():
    found = audit.mechanism(
        lambda x, size: np.full(size, np.nan if x else 1.0),
        0,
        1,
        claimed=CLAIM,
        draws=1000,
    )
    assert found.refuted
    assert "NaN" in found.event


def test_other_objects_are_compared():
    assert not audit.mechanism(
        lambda x: {"a": 1},
        0,
        1,
        claimed=CLAIM,
        draws=1000,
    ).refuted
    assert audit.mechanism(lambda x: {"a": x}, 0, 1, claimed=CLAIM, draws=1000).refuted


def boom(x):
    raise TypeError(x)


@pytest.mark.parametrize(
    ("f", "options", "words"),
    [
        (boom, {"claimed": CLAIM}, "raised TypeError in every draw"),
        (3, {"claimed": CLAIM}, "int is not callable"),
        (lambda x: x, {}, "claimed is missing"),
        (lambda x: x, {"claimed": 1.0}, "must be a guarantee"),
        (lambda x: x, {"claimed": dither.RenyiDP({2: 0.1})}, "claimed.approx"),
        (
            lambda x: x,
            {"claimed": CLAIM, "draws": 10},
            "pass draws=100 or more",
        ),
        (lambda x: x, {"claimed": CLAIM, "draws": 0}, "must be at least 1"),
        (
            lambda x: x,
            {"claimed": PureDP(12.0)},
            "100,000 draws cannot refute ε = 12, whatever is wrong; pass draws=",
        ),
        (lambda x: x, {"claimed": ApproxDP(1.0, 0.9999)}, "pass draws="),
        (lambda x: x, {"claimed": GaussianDP(30.0)}, "cannot refute"),
        (
            lambda x: x,
            {"claimed": CLAIM, "confidence": 1.0},
            "strictly between 0 and 1",
        ),
        (
            lambda x: x,
            {"claimed": CLAIM, "pairs": [1]},
            "must be pairs of neighbouring inputs",
        ),
        (
            lambda x: x,
            {"claimed": CLAIM, "pairs": []},
            "must be pairs of neighbouring inputs",
        ),
        (lambda x, size: [x] * (size + 1), {"claimed": CLAIM}, "instead of"),
    ],
)
def test_what_cannot_be_audited_is_refused(f, options, words):
    inputs = () if "pairs" in options else (0, 1)
    with pytest.raises(ArgumentError, match=words):
        audit.mechanism(f, *inputs, **options)


def test_pairs_stand_instead_of_inputs():
    with pytest.raises(ArgumentError, match="one or the other"):
        audit.mechanism(whole_scale, 0, 1, pairs=[(0, 1)], claimed=CLAIM)


def prints_all(claim, draws):
    return audit.mechanism(
        lambda x, size: np.full(size, x),
        0,
        1,
        claimed=claim,
        draws=draws,
        confidence=1 - 1e-6,
    )


@pytest.mark.parametrize(
    "claim",
    [
        PureDP(3.0),
        PureDP(8.0),
        ApproxDP(4.0, 0.01),
        GaussianDP(4.0),
        ZeroConcentratedDP(3.0),
    ],
    ids=str,
)
def test_the_draws_that_are_asked_for_suffice(claim):
    with pytest.raises(ArgumentError) as refused:
        prints_all(claim, 100)
    needed = int(str(refused.value).rpartition("draws=")[2].split()[0])
    assert all(prints_all(claim, needed).refuted for _ in range(5))


def test_a_claim_about_another_unit_is_refused():
    with pytest.raises(UnitMismatch, match="pass a guarantee for that unit"):
        audit.mechanism(
            Laplace(sensitivity=1, epsilon=1).release,
            0,
            1,
            claimed=PureDP(1.0, unit=dither.Unit("edge")),
        )
    with pytest.raises(UnitMismatch, match="for_replacement"):
        audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, unit=dither.ROW.replacing())
    told = dither.ROW.replacing().with_facts(["rows of each ward"])
    replaced = CLAIM.for_replacement()
    with pytest.raises(UnitMismatch, match="for_replacement"):
        audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, unit=told)
    with pytest.raises(UnitMismatch, match="for_facts"):
        audit.mechanism(whole_scale, 0, 1, claimed=replaced, unit=told)
    claim, other = replaced.for_facts(told.given), dither.ROW.replacing()
    with pytest.raises(UnitMismatch, match="pass a guarantee for that unit"):
        audit.mechanism(whole_scale, 0, 1, claimed=claim, unit=other)


def test_a_finding_repeats_exact_facts():
    told = dither.ROW.replacing().with_facts(["rows of each ward"])
    claim = CLAIM.for_replacement().for_facts(told.given)
    found = audit.mechanism(whole_scale, 0, 1, claimed=claim, unit=told, draws=2000)
    assert "given the exact rows of each ward" in str(found)
