"""What is pinned down of a run: the same in every process, and other for other runs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.pinning import check_same, fingerprint, noises_in, pinned, texts_of
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from tests.learn.data import model, owned, records


class Named(nn.Module):
    """A module that shows an object, and holds numbers that are not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)
        self.own = object()
        self.register_buffer("shift", torch.zeros(3))

    def extra_repr(self) -> str:
        return repr(self.own)

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.line(inputs)
        return found


def test_a_model_is_known_by_its_layers_and_by_what_is_not_trained() -> None:
    one, two = Named(), Named()
    assert repr(one) != repr(two)  # objects lie elsewhere
    assert fingerprint(one) == fingerprint(two)  # and trained weights differ
    two.shift.add_(1)  # type: ignore[operator]
    assert fingerprint(one) != fingerprint(two)


def texts(**more: Any) -> dict[str, Any]:
    ready = prepared(model(), records(), Settings(**owned(**more)))
    about = (ready.source, ready.held, ready.settings, ready.plan, ready.radius)
    return texts_of(ready.model, *about)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("noises", {"noise": 1.1}),
        ("cost", {"noise": 1.1}),
        ("rate", {"batch": 51}),
        ("epochs", {"epochs": 3}),
        ("clip", {"clip": 0.5}),
        ("rows", {"owner": torch.arange(200), "rows": 2}),
        ("schedule", {"noise_schedule": lambda done: 1 + done}),
    ],
    ids=["noise", "cost", "rate", "epochs", "clip", "rows", "schedule"],
)
def test_other_runs_have_another_hash(name: str, more: dict[str, Any]) -> None:
    one, two = texts(), texts(**more)
    assert one[name] != two[name]
    assert pinned(one).plan != pinned(two).plan
    with pytest.raises(ArgumentError, match="must be the same as in the run"):
        check_same(one, two)


def test_the_same_run_has_the_same_hash() -> None:
    assert pinned(texts()) == pinned(texts(clip=1, noise=1))
    check_same(texts(), texts(clip=1, noise=1))
    assert pinned(texts()).steps == 8


def test_the_noise_of_each_step_is_kept() -> None:
    factors = [1.0, 1.0, 0.5, 0.5, 1.0, 0.25, 0.25, 0.25]
    found = texts(noise_schedule=factors)
    assert noises_in(found) == tuple(factors)
    assert len(found["noises"]) == 4
