"""What several hospitals promise together (rules R13 and R27)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import ArgumentError
from dither.privacy import Composed, Guarantee
from dither.privacy.numbers import small_probability

__all__ = ["IN_ONE", "IN_SEVERAL", "check_patients", "joint", "words_of"]

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
            f'must be "{IN_SEVERAL}", which always holds, or "{IN_ONE}", where the id '
            "of a patient decides the hospital",
        )


def words_of(patients: str, count: int) -> str:
    """How the promise of so many hospitals comes about."""
    if patients == IN_ONE:
        return f"the largest of {count} hospitals: declared that a patient is {IN_ONE}"
    return f"{count} hospitals composed: a patient may be {IN_SEVERAL}"


def _is_promise(name: str, guarantee: Any) -> bool:
    if not isinstance(guarantee, Guarantee):
        raise ArgumentError("guarantees", f"{name} promises nothing; pass a guarantee")
    return True


def _check_units(held: Mapping[str, Guarantee]) -> None:
    """All must speak of the same people, who come and go or are replaced."""
    (first, one), *others = held.items()
    for name, other in others:
        if other.unit != one.unit:
            raise ArgumentError(
                "hospitals",
                f"{first} protects {one.unit}, and {name} {other.unit}: these promises "
                "say nothing together; open accounts for the same unit",
            )
