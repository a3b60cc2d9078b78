"""What is seen of a run beside its weights depends on no private row."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from dither.learn import Adaptive, train
from dither.learn.loop import Loop
from tests.learn.data import Pairs, model, owned, records


def seen(data: Any, **more: Any) -> tuple[list[Any], Any]:
    found: list[Any] = []
    released = train(model(), data, **owned(callbacks=[found.append], **more))
    return found, released


@pytest.mark.parametrize("clip", [1.0, Adaptive(0.1)], ids=["flat", "adaptive"])
def test_other_records_look_the_same(clip: Any) -> None:
    inputs, targets = records()
    nobody = (inputs[:0], targets[:0])
    odd = (inputs * 1e30, targets + 7)
    (one, first), *others = (
        seen(data, clip=clip, delta=1e-6) for data in ((inputs, targets), nobody, odd)
    )
    assert all(
        isinstance(value, int | float) for step in one for value in vars(step).values()
    )
    for steps, released in others:
        assert steps == one
        assert released.history.epochs == first.history.epochs
        assert released.history.epsilons == first.history.epsilons
        assert (released.guarantee, released.notes) == (first.guarantee, first.notes)


class Watched(torch.optim.SGD):
    """Somebody's own optimizer, which holds the parameters."""

    held: list[Tensor]
    left: ClassVar[list[Tensor]] = []
    """What the last step left. A rehearsal of the first steps has its own optimizer."""

    def __init__(self, parameters: Any, lr: float) -> None:
        Watched.held = list(parameters)
        Watched.left.clear()
        super().__init__(Watched.held, lr)


def test_gradients_are_seen_with_noise_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a step, `.grad` is what the step before it left there; weights too."""
    whole, alike, left = Loop._descend, [], Watched.left

    def descend(loop: Loop, sums: Any, deviation: float) -> None:
        if left:
            now = [one for held in Watched.held for one in (held.grad, held.detach())]
            pairs = zip(left, now, strict=True)
            alike.extend(torch.equal(one, two) for one, two in pairs if two is not None)
        whole(loop, sums, deviation)
        left[:] = [
            one.clone()
            for held in Watched.held
            for one in (held.grad, held.detach())
            if one is not None
        ]

    monkeypatch.setattr(Loop, "_descend", descend)
    train(model(), records(), **owned(optimizer=Watched))
    assert len(alike) == (1 + 7) * 8
    assert all(alike)


def test_the_released_module_holds_nothing_else() -> None:
    found = seen(records())[1].value
    for one in found.modules():
        hooks = (one._forward_pre_hooks, one._forward_hooks, one._backward_hooks)
        assert not any(hooks)
    assert all(one.grad is None for one in found.parameters())
    assert all(one.is_leaf and one.grad_fn is None for one in found.parameters())


def test_failures_of_records_are_not_told() -> None:
    """A row that cannot be read stops nothing, and nobody hears of it."""
    from tests.learn.data import EXAMPLE

    plain, odd = (seen(Pairs(odd=one), example=EXAMPLE)[0] for one in (False, True))
    assert plain == odd


@pytest.mark.parametrize("last", [1, 7])
def test_a_run_that_was_stopped_states_the_cost_of_all_steps(last: int) -> None:
    steps = train(model(), records(), **owned(delta=1e-6)).history[-1].step
    call = [lambda now: now.step == last]
    found = train(model(), records(), **owned(callbacks=call, delta=1e-6))
    assert f"ε = {found.guarantee.epsilon_at(1e-6):.4g} at" in str(found)
    assert found.history.epsilons[-1] < found.guarantee.epsilon_at(1e-6)
    note = f"stopped after {last} of {steps} steps; all {steps} were charged"
    assert note in found.notes


def test_a_run_to_its_end_was_not_stopped() -> None:
    found, released = seen(records(), delta=1e-6)
    end = [lambda now: now.step == len(found)]
    for one in (released, train(model(), records(), **owned(callbacks=end))):
        assert not any("stopped" in note for note in one.notes)
