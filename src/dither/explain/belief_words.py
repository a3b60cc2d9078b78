"""The words of an ε: two sentences, a table, and some notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.explain import laws, words
from dither.explain.explanation import Rows
from dither.privacy import Relation
from dither.text import width_in_words

if TYPE_CHECKING:
    from dither.explain.belief import Meaning

__all__ = ["ALARMS", "notes", "others", "rows", "sentences", "title"]

ALARMS = 0.05
"""The false positives at which the power of a test is stated."""
FAMILY = 5
CONFIDENCE = 0.95
POPULATION = (
    "This bounds what one's own record adds. It does not hide facts "
    "about everybody, which a release without that "
    "record shows as well; and correlated records need group privacy."
)
DELTA = (
    "δ is neither the chance of a disaster nor of losing more than "
    "ε. It is how much probability the rule of ε may "
    "miss, over the worst set of answers. Keep it far below 1 / "
    "(number of people): at that size the rule alone would "
    "allow publishing one record."
)
PERFECT = (
    "Perfect privacy: what is released behaves the same with and "
    "without you, so every belief stays where it was.",
    "It is also no information: an answer that depends on nobody "
    "says nothing about anybody, and mechanisms refuse to "
    "give one.",
)


def title(meaning: Meaning) -> str:
    missed = f", δ = {words.tiny(meaning.delta)}" if meaning.delta else ""
    people = f" for a group of {meaning.group:,}" if meaning.group > 1 else ""
    return f"ε = {words.tiny(meaning.epsilon)}{missed}{people}, in plain words"


def sentences(meaning: Meaning) -> tuple[str, str]:
    if meaning.perfect:
        return PERFECT
    low, high = meaning.posterior
    without, claim = _worlds(meaning)
    rarely = (
        f", except with a chance of at most {words.one_in(meaning.outside)}"
        if meaning.promise[1]
        else ""
    )
    return (
        f"Whatever someone would believe {without}, a belief of "
        f"{words.share(meaning.prior)} that {claim} becomes at "
        f"most {words.at_most(high)} and at least {words.at_least(low)}{rarely}.",
        f"The best test that raises a false alarm {words.share(ALARMS)} "
        "of the time notices "
        f"{'you' if meaning.group == 1 else 'them'} at most "
        f"{words.at_most(meaning.power())} of the time, and a guess "
        "that starts from a coin flip is right at most "
        f"{words.at_most((1 + meaning.advantage) / 2)} of the time.",
    )


def _worlds(meaning: Meaning) -> tuple[str, str]:
    """The world without the record, and the claim that it is there."""
    one = meaning.group == 1
    records = "your record" if one else f"these {meaning.group:,} records"
    if meaning.relation is Relation.REPLACE:
        return (
            f"with made-up data in place of {records}",
            f"the true {'one was' if one else 'ones were'} used",
        )
    return f"without {records}", f"{'you' if one else 'they'} took part"


def rows(meaning: Meaning) -> Rows:
    return (
        *_beliefs(meaning),
        *_tests(meaning),
        *_gaussian(meaning),
        *others(meaning),
        _noise(meaning),
    )


def _beliefs(meaning: Meaning) -> Rows:
    total, missed = meaning.promise
    low, high = meaning.posterior
    likely = _likely(total)
    becomes = (
        f"a belief of {words.share(meaning.prior)} becomes",
        f"{words.at_least(low)} to {words.at_most(high)}",
    )
    if not missed:
        return ("any answer, with or without you", likely), becomes
    return (
        (
            "any set of answers, with or without you",
            f"{likely}, plus {words.tiny(missed)}",
        ),
        becomes,
        (
            "  and leaves that with a chance of",
            f"at most {words.one_in(meaning.outside)}",
        ),
    )


def _tests(meaning: Meaning) -> Rows:
    return (
        (
            "a guess after a coin flip is right",
            f"at most {words.at_most((1 + meaning.advantage) / 2)} of the time",
        ),
        ("advantage (total variation)", f"at most {words.plain(meaning.advantage)}"),
        (
            f"true positives at {words.share(ALARMS)} false ones",
            f"at most {words.at_most(meaning.power())}",
        ),
        (
            "KL divergence",
            "no bound"
            if meaning.promise[1]
            else f"at most {words.plain(meaning.kl)} nats",
        ),
    )


def _gaussian(meaning: Meaning) -> Rows:
    curve = meaning.gaussian
    if curve is None:
        return ()
    return (
        ("if it is Gaussian noise", f"μ = {curve.mu:.4g}"),
        (
            f"  true positives at {words.share(ALARMS)} false ones",
            f"at most {words.at_most(curve.power())}",
        ),
        (
            f"  odds move more than {words.factor(curve.epsilon)}-fold",
            words.one_in(curve.chance_beyond),
        ),
    )


def others(meaning: Meaning) -> Rows:
    """The meaning of the ε for a record's content, and for a family."""
    if meaning.group > 1:
        return ()
    family = (
        f"a group of {FAMILY}",
        _promise(*laws.group(meaning.epsilon, meaning.delta, FAMILY)),
    )
    if meaning.relation is Relation.REPLACE:
        return (family,)
    return (
        "what the record says",
        _promise(*laws.group(meaning.epsilon, meaning.delta, 2)),
    ), family


def _promise(total: float, missed: float) -> str:
    if missed >= 1.0:
        return "no promise left: δ grows to 1"
    also = f", δ = {words.tiny(missed)}" if missed else ""
    return f"ε = {words.tiny(total)}{also}: {_likely(total)}"


def _likely(loss: float) -> str:
    return f"at most {words.factor(loss)} times as likely" if loss else "equally likely"


def _noise(meaning: Meaning) -> tuple[str, str]:
    """The noise that one count needs for the ε of one person."""
    if not meaning.epsilon:
        return (
            "noise on a count",
            "none is enough" if not meaning.delta else "not given for ε = 0",
        )
    found = [
        f"{width_in_words(laws.laplace_error(meaning.epsilon, CONFIDENCE))} (Laplace)"
    ]
    if meaning.gaussian is not None:
        one = meaning.gaussian.mu / meaning.group
        found.append(
            f"{width_in_words(laws.normal_width(CONFIDENCE) / one)} (Gaussian)"
        )
    return f"noise on a count ({words.share(CONFIDENCE)})", ", ".join(found)


def notes(meaning: Meaning) -> tuple[str, ...]:
    return (POPULATION, DELTA) if meaning.delta else (POPULATION,)
