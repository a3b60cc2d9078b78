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
"""What may differ between candidates; all else is the same for all of them."""
REFUSED = {
    "callbacks": "would tell how many runs there are; leave them out",
    "checkpoint": "would tell how many runs there are; leave it out",
    "resume": "is of one run, and a search has many; leave it out",
    "noise": "follows from the cost; state epsilon or share",
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
                f"{name!r} is not searched; there are {listed}, and the arguments of a "
                "function that makes the model",
            )
        if options.get(name) is not None:
            raise ArgumentError(name, "is in the grid; leave it out beside it")
    for name, words in REFUSED.items():
        if options.get(name):
            raise ArgumentError(name, words)
    if (options.get("public") is None) == (options.get("validation") is None):
        raise ArgumentError(
            "public",
            "or validation is needed to score by, and one of them is enough; pass "
            "public=(inputs, targets), or validation=Validation(0.2, noise=20)",
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
            f"cannot be made of {', '.join(words) or 'nothing'} ({error!s:.200}); its "
            "arguments are those names of the grid that are no settings",
        ) from None


def _settings(options: dict[str, Any], one: dict[str, Any]) -> Settings:
    """Only the last measurement counts, so there is one."""
    words = {name: value for name, value in one.items() if name in TUNED}
    found = Settings(**(options | words))
    if found.validation is None:
        return found
    count = whole("epochs", found.epochs, "pass how often units are seen, such as 10")
    return replace(found, validation=replace(found.validation, every=count))
