"""The guarantee of several hospitals together (rules R13 and R27)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import ArgumentError
from dither.privacy import Composed, Guarantee
from dither.privacy.numbers import small_probability

__all__ = [
    "IN_ONE",
    "IN_SEVERAL",
    "check_patients",
    "joint",
    "joint_in_words",
    "words_of",
]

IN_ONE, IN_SEVERAL = "in one hospital", "in several hospitals"
PATIENTS = (IN_ONE, IN_SEVERAL)


def joint(
    guarantees: Mapping[str, Guarantee],
    *,
    delta: float,
    patients: str = IN_SEVERAL,
) -> Guarantee:
    """What hospitals promise to one patient together, by what each promises.

    A patient may be in several hospitals: then all promises compose. If the patient's id
    decides the hospital, so that nobody is in two of them, it is the largest: (ε, δ)
    with the largest ε of any hospital at this δ.

    Guarantee: holds for all that the hospitals release together, for a patient with all
    rows in all hospitals.
    Why: with `patients="in one hospital"` two neighbours differ in the records of one
    hospital, and what all others send is a function of what was sent before, and of
    noise; else steps of all hospitals compose adaptively (docs/proofs/hospitals.md).
    Assumes: each hospital's steps were declared before the first round of any.
    """
    check_patients(patients)
    at = small_probability("delta", delta, zero=True)
    held = {name: one for name, one in guarantees.items() if _is_promise(name, one)}
    if not held:
        raise ArgumentError("guarantees", "are missing; pass one for each hospital")
    _check_units(held)
    first, *others = held.values()
    if all(one == first for one in others) and (patients == IN_ONE or not others):
        return first
    if patients == IN_SEVERAL:
        return Composed(held.values())
    return max((one.approx(at) for one in held.values()), key=lambda one: one.epsilon)


def check_patients(patients: Any) -> None:
    if patients not in PATIENTS:
        raise ArgumentError(
            "patients",
            f'must be "{IN_SEVERAL}" or "{IN_ONE}"; pass the latter only if the id of '
            "a patient decides the hospital",
        )


def words_of(patients: str, count: int) -> str:
    """Explanation of the guarantee of this number of hospitals."""
    if patients == IN_ONE:
        return f"the largest ε of {count} hospitals, as each patient is declared to be {IN_ONE}"
    return f"{count} hospitals composed, as a patient may be {IN_SEVERAL}"


def joint_in_words(
    guarantee: Guarantee, epsilon: float, delta: float, words: str
) -> str:
    """The guarantee of several hospitals together, with its explanation."""
    unit = f"protects {guarantee.unit}"
    return f"ε = {epsilon:.4g} at δ = {delta:g}, {unit}; {words}"


def _is_promise(name: str, guarantee: Any) -> bool:
    if not isinstance(guarantee, Guarantee):
        raise ArgumentError(
            "guarantees",
            f"the value for {name!r} in guarantees is not a guarantee; pass one such "
            "as dither.privacy.GaussianDP(1.0)",
        )
    return True


def _check_units(held: Mapping[str, Guarantee]) -> None:
    """All must speak of the same people, who come and go or are replaced."""
    (first, one), *others = held.items()
    for name, other in others:
        if other.unit != one.unit:
            raise ArgumentError(
                "hospitals",
                f"{first!r} protects {one.unit}, but {name!r} protects {other.unit}, "
                "so their guarantees cannot be combined; open accounts for the same "
                "unit",
            )
