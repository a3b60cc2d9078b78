"""The guarantee of a task if a trusted shuffler mixes its messages before anybody sees
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from dither.errors import ArgumentError
from dither.local.task import DEVICE, Task
from dither.privacy import ApproxDP, shuffled_numerically

if TYPE_CHECKING:
    from dither.privacy.numbers import Number

__all__ = ["shuffled"]


def shuffled(task: Task, n: SupportsIndex, delta: Number) -> ApproxDP:
    """The guarantee of n honest, shuffled messages of a task. Of a task with strata, n
    counts the messages of one stratum, because a message names its own.

    Guarantee: (ε, δ)-DP for replacing one device's answer, with ε at most that of one
    message.
    Why: `shuffled_numerically`, with what the oracle's messages have in common.
    Assumes: a shuffler that is trusted to mix, and to drop whatever else comes with a
    message; one message from each device (rule R28).
    """
    if task.every or task.messages != 1 or task.oracle.common is None:
        raise ArgumentError(
            "task",
            "must be for devices that answer once: messages with kept answers can be "
            "linked, so shuffling does not hide them; make a task without every",
        )
    return shuffled_numerically(
        task.oracle.epsilon,
        n,
        delta,
        common=task.oracle.common,
        total_variation=task.oracle.distance,
        unit=DEVICE,
    )
