"""Candidates of a search over runs of training: a model and the settings of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from dither.errors import ArgumentError
from dither.learn.grids import grid_of
from dither.learn.settings import Settings
from dither.privacy.numbers import whole

__all__ = ["Candidate", "candidates_of"]

TUNED = (
    "batch",
    "clip",
    "epochs",
    "lr",
    "noise_schedule",
    "optimizer",
    "scheduler",
)
"""The parts that may differ between candidates; all others are equal."""
REFUSED = {
    "callbacks": "cannot be used in a search, because they would reveal the number of "
    "runs; leave them out",
    "checkpoint": "cannot be used in a search, because it would reveal the number of "
    "runs; leave it out",
    "resume": "cannot be used in a search, because it continues a single run; leave it "
    "out",
    "noise": "cannot be passed to a search, because it follows from the cost; pass "
    "epsilon or share",
}


@dataclass(frozen=True)
class Candidate:
    """One of the settings that may win."""

    params: dict[str, Any]
    model: Any
    settings: Settings


def candidates_of(model: Any, grid: Any, options: dict[str, Any]) -> list[Candidate]:
    """All candidates of a grid."""
    found = grid_of(grid)
    made = model if _makes(model) else None
    _check(found, options, made is not None)
    return [
        Candidate(one, _model(model, made, one), _settings(options, one))
        for one in found
    ]


def _makes(model: Any) -> bool:
    """A model is a function too."""
    return callable(model) and not isinstance(model, nn.Module)


def _check(
    candidates: Sequence[dict[str, Any]], options: dict[str, Any], made: bool
) -> None:
    for name in dict.fromkeys(name for one in candidates for name in one):
        if name not in TUNED and (not made or name in Settings.__dataclass_fields__):
            listed = ", ".join(TUNED)
            raise ArgumentError(
                "grid",
                f"{name!r} in the grid cannot be searched; use {listed}, or arguments "
                "of a function that makes the model",
            )
        if options.get(name) is not None:
            raise ArgumentError(name, "is in the grid too; pass it in one place only")
    for name, words in REFUSED.items():
        if options.get(name):
            raise ArgumentError(name, words)
    if (options.get("public") is None) == (options.get("validation") is None):
        raise ArgumentError(
            "public",
            "a search scores candidates on either public or validation rows; pass "
            "exactly one of public=(inputs, targets) and "
            "validation=Validation(0.2, noise=20)",
        )


def _model(model: Any, made: Any, one: dict[str, Any]) -> Any:
    if made is None:
        return model
    words = {name: value for name, value in one.items() if name not in TUNED}
    try:
        return made(**words)
    except Exception as error:
        raise ArgumentError(
            "model",
            f"cannot be made with {', '.join(words) or 'no arguments'} "
            f"({error!s:.200}); let the function take the names of the grid that are "
            "not settings of the training",
        ) from None


def _settings(options: dict[str, Any], one: dict[str, Any]) -> Settings:
    """Only the last measurement counts, so there is one."""
    words = {name: value for name, value in one.items() if name in TUNED}
    found = Settings(**(options | words))
    if found.validation is None:
        return found
    count = whole("epochs", found.epochs, "pass the number of epochs, such as 10")
    return replace(found, validation=replace(found.validation, every=count))
