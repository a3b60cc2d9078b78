"""A run of `train` that is settled and can begin."""

from __future__ import annotations

from dataclasses import dataclass

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from dither.learn.gaussian import Noise
from dither.learn.pinning import Pins
from dither.learn.probe import Probed
from dither.learn.replay import Replayed
from dither.learn.resuming import Resumed
from dither.learn.run.course import Settled
from dither.learn.settings import Settings
from dither.learn.source import Source

__all__ = ["Ready"]


@dataclass(frozen=True, kw_only=True)
class Ready(Settled):
    """A run by gradients of sampled units."""

    settings: Settings
    probed: Probed
    optimizer: Optimizer
    scheduler: LRScheduler | None
    micro: int
    noise: Noise
    replayed: Replayed
    held: Source | None = None
    every: int = 0
    texts: Pins | None = None
    """What is pinned down where checkpoints are written, and how often they are."""
    resumed: Resumed | None = None
    optimizer_words: str = ""
    """The optimizer and the rate that it began with."""
