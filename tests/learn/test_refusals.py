"""What is refused before anything is charged, and no row read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader

import dither
from dither import ArgumentError, Budget
from dither.learn import (
    Flat,
    PerLayer,
    preview,
    train,
)
from tests.learn.data import EXAMPLE, UNITS, Pairs, model, owned, records


class Unclipped(Flat):
    def __call__(self, squares: Any) -> Any:
        return {name: torch.ones_like(one) for name, one in squares.items()}


CLIPPED = Unclipped(1e-6)


def hooked(name: str) -> nn.Module:
    made = nn.Sequential(nn.Linear(4, 3))
    getattr(made[0], name)(lambda *_: None)
    return made


def hooked_parameter() -> nn.Module:
    made = nn.Linear(4, 3)
    made.weight.register_hook(lambda gradient: gradient * 0)
    return made


def weight_norm(layer: nn.Module) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old form is the one that is refused
        found: nn.Module = nn.utils.weight_norm(layer)
        return found


REFUSED: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "BatchNorm1d",
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)),
        {},
    ),
    ("nothing to train", nn.ReLU(), {}),
    ("sparse", nn.Sequential(nn.Linear(4, 3), nn.Embedding(3, 2, sparse=True)), {}),
    ("must be a torch.nn.Module", "model", {}),
    ("owner", model(), {"owner": None}),
    ("units", model(), {"units": None}),
    ("1/units", model(), {"delta": 0.01}),
    ("must be at least", model(), {"noise": None, "epsilon": 1e-4, "delta": 1e-6}),
    ("exactly one", model(), {"epsilon": 1.0}),
    ("rho", model(), {"rho": 1.0}),
    ("GPU", model(), {"device": "cuda"}),
    ("device", model(), {"device": "toaster"}),
    ("bf16", model(), {"precision": "half"}),
    ("ReduceLROnPlateau", model(), {"scheduler": ReduceLROnPlateau}),
    (
        "ReduceLROnPlateau",
        model(),
        {"scheduler": lambda one: ReduceLROnPlateau(one, "max")},
    ),
    ("optimizer", model(), {"optimizer": torch.optim.LBFGS}),
    ("optimizer", model(), {"optimizer": torch.optim.SGD([torch.ones(1)])}),
    ("batch", model(), {"batch": 201}),
    ("rows", model(), {"rows": 3}),
    ("clip", model(), {"clip": PerLayer({"a": 1.0})}),
    ("resume", model(), {"resume": "somewhere"}),
    ("clip", model(), {"clip": CLIPPED}),
    ("between", model(), {"clip": 1e-30}),
    ("between", model(), {"clip": Flat(1e20)}),
    ("hooks", hooked("register_forward_hook"), {}),
    ("hooks", hooked("register_forward_pre_hook"), {}),
    ("hooks", hooked("register_full_backward_hook"), {}),
    ("parametrizations", weight_norm(nn.Linear(4, 3)), {}),
    ("'weight' has hooks", hooked_parameter(), {}),
    ("loss", model(), {"loss": None}),
    (
        "reduction",
        model(),
        {"loss": partial(functional.cross_entropy, reduction="none")},
    ),
    ("epoch", model(), {"epoch": 3}),
    ("share", model(), {"noise": None, "share": 0.1}),
]


@pytest.mark.parametrize(("words", "made", "more"), REFUSED)
def test_bad_questions_are_refused(words: str, made: Any, more: dict[str, Any]) -> None:
    data = Pairs()
    with pytest.raises(ArgumentError, match=words):
        train(made, data, **owned(example=EXAMPLE, **more))
    assert data.read == 0


class Centred(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return inputs - inputs.mean(0)


class Shuffled(nn.Module):
    """Mixes words of different rows."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 3)

    def forward(self, words: Tensor) -> Tensor:
        found: Tensor = self.words(words).mean(1)
        return found + found.roll(1, 0)


def test_rows_of_words_that_mix_are_refused() -> None:
    words = torch.arange(UNITS * 4).view(UNITS, 4) % 20
    with pytest.raises(ArgumentError, match="Shuffled"):
        preview(Shuffled(), (words, records()[1]), **owned())


class Remembering(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, inputs: Tensor) -> Tensor:
        self.seen += inputs.detach().mean(0)
        return inputs


MIXING: dict[str, Callable[[Tensor], Tensor]] = {
    "by the largest": lambda x: x / torch.nan_to_num(x).abs().max().clamp(min=10),
    "where one is large": lambda x: torch.where((x > 5).any(), 0 * x, x),
    "if one is large": lambda x: x * 0 if bool((x > 5).any()) else x,
    "if one is very large": lambda x: x / 255 if bool((x > 9e4).any()) else x,
    "in large batches": lambda x: x + x.roll(1, 0) if len(x) > 3 else x,
    "a little": lambda x: x + 1e-9 * x.mean(0),
}


class Mixed(nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def forward(self, inputs: Tensor) -> Tensor:
        return MIXING[self.way](inputs)


@pytest.mark.parametrize("way", MIXING)
def test_rows_that_mix_only_at_some_size_are_refused(way: str) -> None:
    with pytest.raises(ArgumentError, match="mixes the rows"):
        preview(nn.Sequential(Mixed(way), nn.Linear(4, 3)), records(), **owned())


def contrastive(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs - outputs.mean(0), targets)


@pytest.mark.parametrize(
    ("words", "made", "loss"),
    [
        (
            "Centred",
            nn.Sequential(Centred(), nn.Linear(4, 3)),
            functional.cross_entropy,
        ),
        (
            "buffer",
            nn.Sequential(Remembering(), nn.Linear(4, 3)),
            functional.cross_entropy,
        ),
        ("loss", nn.Linear(4, 3), contrastive),
        (
            "reduction",
            nn.Linear(4, 3),
            partial(functional.cross_entropy, weight=torch.tensor([1.0, 2.0, 3.0])),
        ),
        ("shape", nn.Linear(5, 3), functional.cross_entropy),
    ],
)
def test_what_mixes_rows_is_refused_by_name(words: str, made: Any, loss: Any) -> None:
    budget = Budget(20.0, 1e-6)
    with pytest.raises(ArgumentError, match=words):
        train(made, records(), **owned(loss=loss, budget=budget))
    assert budget.affords(dither.PureDP(19.9))


def test_world_size_above_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ArgumentError, match="world size"):
        preview(model(), records(), **owned())


def test_loaders_are_refused() -> None:
    with pytest.raises(ArgumentError, match="DataLoader"):
        preview(model(), DataLoader(Pairs()), **owned())


def test_an_account_without_delta_is_refused() -> None:
    with pytest.raises(ArgumentError, match="δ"):
        train(model(), records(), **owned(budget=Budget(3.0)))


def test_hooks_for_all_modules_are_refused() -> None:
    hook = register_module_forward_hook(lambda *_: None)
    try:
        with pytest.raises(ArgumentError, match="all modules"):
            preview(model(), records(), **owned())
    finally:
        hook.remove()


@pytest.mark.parametrize("name", ["meta", "cpu"])
def test_a_default_device_changes_nothing(name: str) -> None:
    made = model()
    torch.set_default_device(name)
    try:
        train(made, records(), **owned(epochs=1))
    finally:
        torch.set_default_device("cpu")
