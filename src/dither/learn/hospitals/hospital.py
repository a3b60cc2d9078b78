"""A hospital: its records, its account, what is publicly known of both, and the settings
of a run over several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import torch
from torch import nn

from dither.dataset import Account
from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive, Clipping
from dither.learn.gradients.oracle import Loss
from dither.learn.settings import Settings
from dither.ledger.balance import named
from dither.privacy.numbers import positive, whole

if TYPE_CHECKING:
    from dither.learn.hospitals.member import Member

__all__ = ["Hospital", "Rounds", "RoundsSettings"]

DATA = ("inputs", "target", "owner", "classes", "table", "collate_fn", "example")
WHO = ("units", "rows", "budget", "by")
SAME = ("loss", "clip", "optimizer", "lr", "micro", "device", "precision")


MANY_ROUNDS = 10**6
COSTS = ("epsilon", "share", "noise")
"""Ways to state what a run costs each hospital."""


class Rounds(TypedDict, total=False):
    """The keywords of a run: each hospital gets the same."""

    loss: Loss
    rounds: int
    steps: int
    batch: int
    clip: float | Clipping | Adaptive
    optimizer: Callable[..., Any]
    lr: float | None
    epsilon: float | None
    share: float | None
    noise: float | None
    micro: int | None
    device: str | torch.device | None
    precision: str | None


@dataclass(frozen=True)
class RoundsSettings:
    """These settings, with the defaults for what is not stated."""

    loss: Any = None
    rounds: Any = None
    steps: Any = None
    batch: Any = None
    clip: Any = 1.0
    optimizer: Any = torch.optim.SGD
    lr: float | None = None
    epsilon: float | None = None
    share: float | None = None
    noise: float | None = None
    micro: int | None = None
    device: Any = None
    precision: str | None = None

    def __post_init__(self) -> None:
        rounds = whole("rounds", self.rounds, "pass the number of rounds, such as 10")
        if rounds > MANY_ROUNDS:
            raise ArgumentError(
                "rounds", f"must be at most {MANY_ROUNDS:,}; pass fewer rounds"
            )
        steps = whole(
            "steps", self.steps, "pass the number of steps per round, such as 20"
        )
        object.__setattr__(self, "rounds", rounds)
        object.__setattr__(self, "steps", steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Hospital:
    """Records that stay where they are, and the account that pays for what is learned
    from them.

    `data`, `inputs`, `target`, `owner`, `units` and `rows` are as in `train`; `budget` is
    an account of the hospital's own book (of an opened dataset, the dataset's). `weight`
    is its public weight in the average, and `units` where nothing is stated: never how
    many patients there really are. It takes part `since` a round, and pays for those
    after it. `batch`, `epsilon`, `share` and `noise` may differ from those of the run.
    """

    name: str = field(kw_only=False)
    data: Any = field(kw_only=False, repr=False)
    inputs: Sequence[str] | Mapping[str, Any] | None = None
    target: str | None = None
    owner: Any = field(default=None, repr=False)
    classes: Sequence[Any] | None = None
    table: str | None = None
    collate_fn: Callable[[list[Any]], Any] | None = None
    example: Any = None
    units: int | None = None
    rows: int | None = None
    budget: Account | None = None
    by: str | None = None
    weight: float | None = None
    since: int = 1
    batch: int | None = None
    epsilon: float | None = None
    share: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        try:
            named(self.name)
        except ArgumentError:
            raise ArgumentError(
                "name",
                "must be a short name of plain letters, digits, dots and hyphens; pass "
                'one such as "north"',
            ) from None
        whole("since", self.since, "pass the first round of this hospital, such as 1")
        if self.weight is not None:
            positive("weight", self.weight, "pass a public weight such as 1.0")

    def rounds(self, asked: RoundsSettings) -> int:
        """In how many rounds it takes part."""
        if self.since > asked.rounds:
            raise ArgumentError(
                "since",
                f"must be a round of the run for {self.name!r}, not round "
                f"{self.since}; pass one from 1 to {asked.rounds}",
            )
        return int(asked.rounds) - self.since + 1

    def settings(self, asked: RoundsSettings) -> Settings:
        """The run as this hospital takes part in it: an epoch is a round."""
        own = [getattr(self, one) for one in COSTS]
        payer = asked if all(one is None for one in own) else self
        return Settings(
            epochs=self.rounds(asked),
            batch=asked.batch if self.batch is None else self.batch,
            **{name: getattr(self, name) for name in (*DATA, *WHO)},
            **{name: getattr(asked, name) for name in SAME},
            **{name: getattr(payer, name) for name in COSTS},
        )

    def join(
        self, model: nn.Module, *, run: str | None = None, **asked: Unpack[Rounds]
    ) -> Member:
        """Charge this hospital's account for its part in a run, and be ready for its
        rounds. No record is read.

        `run` names it. Whoever joins under the same name again, after a crash, pays
        nothing more, and goes on with the rounds that are left.
        """
        from dither.learn.hospitals.member import joined

        return joined(self, model, RoundsSettings(**asked), run)
