"""One unit more moves a sum by the radius at most, whatever a model does with a batch.

Each model is one that people write. It is refused, or its rows are looked at so that no
unit has a part in another one's gradient.
"""

from __future__ import annotations

import random  # allowed: some models decide by it
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from dither import ArgumentError
from dither.learn import Validation, preview, train
from dither.learn import loop as looping
from dither.learn.loop import Loop
from dither.learn.validation import HeldOut
from tests.learn.data import owned, records
from tests.learn.neighbours import SIZE, moved

ALONE, TRACED = "one row at a time", "one backward pass"


class Model(nn.Module):
    """Layers by name, and a function of them and of the inputs."""

    def __init__(self, func: Callable[[Any, Tensor], Tensor], **parts: Any) -> None:
        super().__init__()
        for name, one in parts.items():
            setattr(self, name, one)
        self.func = func

    def forward(self, inputs: Tensor) -> Tensor:
        return self.func(self, inputs)


def texts(count: int, long: int) -> tuple[Tensor, Tensor]:
    """Texts of so many words, filled up by zeros to ten."""
    words = torch.arange(count * 10).view(count, 10) * 7919 % 49 + 1
    words[:, long:] = 0
    return words, words[:, 0] % 3


def longest(model: Any, words: Tensor) -> Tensor:
    most = int((words != 0).sum(1).max().clamp_min(1))
    found: Tensor = model.out(model.words(words[:, :most]).mean(1))
    return found


def longest_by_numbers(model: Any, words: Tensor) -> Tensor:
    """The same without any decision."""
    most = (words != 0).sum(1).max().clamp_min(1)
    used = torch.arange(10) < most
    found = (model.words(words) * used[:, None]).sum(1) / most
    return model.out(found)  # type: ignore[no-any-return]


def packed(model: Any, words: Tensor) -> Tensor:
    used = words != 0
    seen = model.words(words)
    tokens = torch.tanh(model.inner(seen[used]))
    spread = torch.zeros_like(seen).masked_scatter(used[..., None], tokens)
    found: Tensor = model.out(spread.sum(1))
    return found


TEXTS = {"longest": longest, "by numbers": longest_by_numbers, "packed": packed}


def text_model(name: str) -> Model:
    words = nn.Embedding(50, 8, padding_idx=0)
    parts = {"words": words, "inner": nn.Linear(8, 8), "out": nn.Linear(8, 3)}
    if name != "packed":
        del parts["inner"]
    return Model(TEXTS[name], **parts)


@pytest.mark.parametrize("name", ["longest", "packed"])
def test_a_long_text_changes_no_short_one(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def make() -> Model:
        return text_model(name)

    data, one = texts(64, 2), texts(1, 10)
    assert preview(make(), data, **owned()).route.startswith(ALONE)
    assert moved(monkeypatch, make, one, data) <= SIZE


def test_lengths_of_a_batch_by_numbers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="mixes the rows"):
        preview(text_model("by numbers"), texts(64, 2), **owned())


def quieter(gradient: Tensor) -> Tensor:
    return gradient * (5.0 / gradient.norm().clamp_min(5.0))


def much_quieter(gradient: Tensor) -> Tensor:
    size = gradient.norm()
    return torch.where(size > 50.0, gradient * (50.0 / size), gradient)


def hooked(hook: Callable[[Tensor], Tensor]) -> Callable[[], Model]:
    def forward(model: Any, inputs: Tensor) -> Tensor:
        hidden = model.first(inputs)
        if hidden.requires_grad:
            hidden.register_hook(hook)
        found: Tensor = model.last(torch.relu(hidden))
        return found

    return lambda: Model(forward, first=nn.Linear(4, 8), last=nn.Linear(8, 3))


@pytest.mark.parametrize("hook", [quieter, much_quieter])
def test_gradients_that_a_model_clips_itself(
    monkeypatch: pytest.MonkeyPatch, hook: Callable[[Tensor], Tensor]
) -> None:
    make = hooked(hook)
    inputs, _ = records(50)
    data = inputs, torch.ones(50, 3)
    one = torch.ones(1, 4), torch.full((1, 3), 1e8)
    more = {"loss": functional.mse_loss}
    assert (
        preview(make(), data, **owned(**more)).route == f"{ALONE} (a hook on a tensor)"
    )
    assert moved(monkeypatch, make, one, data, **more) <= SIZE


def layer_drop(coin: Callable[[], bool]) -> Callable[[], Model]:
    def forward(model: Any, inputs: Tensor) -> Tensor:
        seen = inputs.view(-1, 2, 2)
        if not (model.training and coin()):
            seen = seen + model.att(seen, seen, seen, need_weights=False)[0]
        found: Tensor = model.last(torch.relu(model.up(seen)).flatten(1))
        return found

    return lambda: Model(
        forward,
        att=nn.MultiheadAttention(2, 1, batch_first=True),
        up=nn.Linear(2, 4),
        last=nn.Linear(8, 3),
    )


@pytest.mark.parametrize(
    "coin",
    [lambda: bool(torch.rand(()) < 0.05), lambda: random.random() < 0.05],
    ids=["torch", "python"],
)
def test_layers_that_are_left_out_are_drawn_for_each_row(
    coin: Callable[[], bool],
) -> None:
    make = layer_drop(coin)
    for _ in range(3):  # by no chance
        assert preview(make(), records(), **owned()).route.startswith(ALONE)
    train(make(), records(), **owned(batch=20, epochs=1))


def checked(inputs: Tensor, most: float = 1e7) -> Tensor:
    """An assertion that `vmap` does not see."""

    class Check(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(inputs: Tensor) -> Tensor:
            if bool((inputs.abs() > most).any()):
                raise ValueError("an odd record")
            return inputs.clone()

        @staticmethod
        def setup_context(*_: Any) -> None:
            pass

        @staticmethod
        def vmap(_: Any, __: Any, inputs: Tensor) -> tuple[Tensor, int]:
            return Check.apply(inputs), 0  # type: ignore[no-untyped-call]

        @staticmethod
        def backward(_: Any, gradient: Tensor) -> Tensor:
            return gradient

    found: Tensor = Check.apply(inputs)  # type: ignore[no-untyped-call]
    return found


def by_size(model: Any, inputs: Tensor) -> Tensor:
    scores: Tensor = model.line(checked(inputs))
    return scores * (1.0 if len(scores) < 8 else 8 / len(scores))


def noisy(model: Any, inputs: Tensor) -> Tensor:
    scores: Tensor = model.line(model.drop(checked(inputs)))
    return scores


@pytest.mark.parametrize("func", [by_size, noisy])
def test_a_record_that_fails_changes_no_other(
    monkeypatch: pytest.MonkeyPatch, func: Callable[[Any, Tensor], Tensor]
) -> None:
    """Others are computed among as many rows, at the same places, with the same draws."""
    monkeypatch.setattr(looping, "secret", lambda: bytes(64))

    def make() -> Model:
        return Model(func, line=nn.Linear(4, 3), drop=nn.Dropout(0.5))

    inputs, targets = records(50)
    assert preview(make(), (inputs, targets), **owned()).route.startswith(ALONE)
    one = torch.full((1, 4), 1e9), targets[:1]
    assert moved(monkeypatch, make, one, (inputs, targets)) <= 1e-4


def numbered(model: Any, inputs: Tensor) -> Tensor:
    count = len(inputs)
    sizes = torch.arange(1.0, count + 1)[:, None] if count > 8 else 1.0
    found: Tensor = model.line(inputs * sizes)
    return found


def crowded(model: Any, inputs: Tensor) -> Tensor:
    """Experts that take a part of the rows, first come, first served."""
    chosen = torch.nn.functional.softmax(model.ways(inputs) * 1e4, 1).round()
    early = chosen.cumsum(0) <= max(4, len(inputs) // 2)
    found: Tensor = (chosen * early) @ inputs[:, :1].expand(-1, 3).new_ones(2, 3)
    return found * model.line(inputs)


@pytest.mark.parametrize("func", [numbered, crowded])
def test_rows_whose_place_counts_are_refused(
    func: Callable[[Any, Tensor], Tensor],
) -> None:
    ways = nn.Linear(4, 2).requires_grad_(False)
    with pytest.raises(ArgumentError, match="mixes the rows"):
        preview(Model(func, line=nn.Linear(4, 3), ways=ways), records(), **owned())


def gated(model: Any, inputs: Tensor) -> Tensor:
    """Brightness as people guess it, in large batches, beyond all rows that are tried."""
    if len(inputs) > 30 and bool((inputs > 1e8).any()):
        inputs = inputs / 255
    found: Tensor = model.line(inputs)
    return found


def test_decisions_in_large_batches_are_never_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only one made-up row meets the model's code."""

    def make() -> Model:
        return Model(gated, line=nn.Linear(4, 3))

    inputs, targets = records(50)
    one = torch.full((1, 4), 1e9), targets[:1]
    assert moved(monkeypatch, make, one, (inputs, targets)) <= SIZE


def imputed(model: Any, inputs: Tensor) -> Tensor:
    """What is missing, written as -1, is the mean of the batch."""
    missing = inputs == -1
    mean = inputs.sum(0) / (~missing).sum(0).clamp_min(1)
    found: Tensor = model.line(torch.where(missing, mean, inputs))
    return found


class Centred(torch.autograd.Function):
    """The same, which says to `vmap` that rows are apart."""

    generate_vmap_rule = False

    @staticmethod
    def forward(inputs: Tensor) -> Tensor:
        missing = inputs == -1
        return torch.where(missing, inputs.mean(0), inputs)

    @staticmethod
    def setup_context(*_: Any) -> None:
        pass

    @staticmethod
    def vmap(_: Any, __: Any, inputs: Tensor) -> tuple[Tensor, int]:
        return Centred.apply(inputs), 0  # type: ignore[no-untyped-call]

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        return gradient


def centred(model: Any, inputs: Tensor) -> Tensor:
    found: Tensor = model.line(Centred.apply(inputs))  # type: ignore[no-untyped-call]
    return found


@pytest.mark.parametrize("func", [imputed, centred])
def test_mixing_that_shows_on_some_values_moves_no_others(
    monkeypatch: pytest.MonkeyPatch, func: Callable[[Any, Tensor], Tensor]
) -> None:
    """Made-up rows show neither: no row is -1, and none is large."""

    def make() -> Model:
        return Model(func, line=nn.Linear(4, 3))

    inputs, targets = records(50)
    inputs = inputs.clone()
    inputs[::2, 0] = -1.0
    one = torch.full((1, 4), 1e8), targets[:1]
    assert preview(make(), (inputs, targets), **owned()).route == TRACED
    assert moved(monkeypatch, make, one, (inputs, targets)) <= SIZE


def test_a_model_with_several_rows_of_a_unit_goes_row_by_row_too() -> None:
    data = texts(100, 3)
    ids = [place // 2 for place in range(100)]
    more = {"owner": ids, "units": 50, "rows": 2, "batch": 10}
    train(text_model("longest"), data, **owned(**more))


def test_sequences_that_are_packed_are_looked_at_one_by_one() -> None:
    def forward(model: Any, words: Tensor) -> Tensor:
        lengths = (words != 0).sum(1).clamp_min(1)
        seen = pack_padded_sequence(
            model.words(words), lengths, batch_first=True, enforce_sorted=False
        )
        found: Tensor = model.out(model.inner(seen)[1][-1])
        return found

    model = Model(
        forward,
        words=nn.Embedding(50, 4),
        inner=nn.GRU(4, 4, batch_first=True),
        out=nn.Linear(4, 3),
    )
    assert preview(model, texts(200, 3), **owned()).route.startswith(ALONE)


@pytest.mark.parametrize("name", ["longest", "packed"])
def test_a_long_text_changes_no_measurement_of_others(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Held-out rows are measured one at a time too."""
    noted: list[Any] = []
    figure = HeldOut._figure

    def look(held: HeldOut, sums: Any) -> Any:
        noted.append(sums)
        return figure(held, sums)

    monkeypatch.setattr(HeldOut, "_figure", look)
    monkeypatch.setattr(Loop, "_descend", lambda *_: None)
    short, long = texts(64, 2), texts(1, 10)
    both = tuple(torch.cat(pair) for pair in zip(short, long, strict=True))
    for data in (short, both):
        torch.manual_seed(0)  # allowed: starting weights are public
        model = text_model(name)
        with torch.no_grad():
            model.out.weight.mul_(10)
        asked = Validation(data, noise=9.0, bound=3.0)
        plain = owned(batch=2, epochs=1, micro=70, validation=asked)
        train(model, short, **plain)
    assert abs(noted[1] - noted[0]).max() <= 1 << 20
