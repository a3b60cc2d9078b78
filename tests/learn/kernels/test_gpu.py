"""Training on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn import train
from dither.learn.gaussian import OnGpu, noise_on
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.clipping import Automatic, Clipping, Flat, PerLayer
from dither.learn.gradients.oracle import Traced, trained
from dither.learn.precision import full_precision
from dither.learn.replay import Replayed
from dither.learn.rows import Batch
from tests.learn.data import model, owned, records

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
ROWS, PLACES, WORDS, WIDTH = 6, 40, 50, 32


@pytest.fixture(autouse=True)
def _full() -> Iterator[None]:
    with full_precision():
        yield


class Text(nn.Module):
    """Scores of each next word."""

    def __init__(self, draw: float = 0.0) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.one = nn.Linear(WIDTH, 4 * WIDTH)
        self.drop = nn.Dropout(draw)
        self.two = nn.Linear(4 * WIDTH, WORDS)

    def forward(self, lines: Tensor) -> Tensor:
        inner = torch.relu(self.one(self.norm(self.words(lines))))
        return self.two(self.drop(inner)).transpose(1, 2)


def images() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def batch(kind: str) -> Batch:
    there = torch.ones(ROWS, dtype=torch.bool, device="cuda")
    if kind == "images":
        inputs = torch.randn(ROWS, 3, 9, 9, device="cuda")
        return Batch(inputs, torch.randint(0, 10, (ROWS,), device="cuda"), there)
    lines = torch.randint(0, WORDS, (ROWS, PLACES), device="cuda")
    return Batch(lines, torch.randint_like(lines, WORDS), there)


def replayed(net: nn.Module, rows: Batch) -> Replayed:
    loss = functional.cross_entropy
    return Replayed(Traced.of(net, loss, rows.inputs, rows.targets))


def loop(net: nn.Module, rows: Batch, clipping: Clipping) -> dict[str, Tensor]:
    """One row at a time."""
    parameters = trained(net)
    total = {name: torch.zeros_like(one) for name, one in parameters.items()}
    for i in range(ROWS):
        one = slice(i, i + 1)
        loss = functional.cross_entropy(net(rows.inputs[one]), rows.targets[one])
        each = torch.autograd.grad(loss, list(parameters.values()))
        squares = {
            name: found.double().square().sum()[None]
            for name, found in zip(parameters, each, strict=True)
        }
        weights = clipping(squares)
        for name, found in zip(parameters, each, strict=True):
            total[name] += weights[name][0] * found
    return total


def far(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    apart = sum((found[name] - one).square().sum() for name, one in wanted.items())
    size = sum(one.square().sum() for one in wanted.values())
    return float((apart / size).sqrt())  # type: ignore[union-attr]


CLIPPINGS: dict[str, Any] = {
    "flat": lambda _: Flat(0.3),
    "layers": lambda net: PerLayer(dict.fromkeys(trained(net), 0.1)),
    "automatic": lambda _: Automatic(0.5),
}


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("clip", CLIPPINGS)
@pytest.mark.parametrize("kind", ["text", "images"])
def test_sums_are_those_of_a_loop_and_replays_theirs(
    kind: str, clip: str, precision: str
) -> None:
    torch.manual_seed(4)
    net = (Text() if kind == "text" else images()).cuda()
    rows, other, clipping = batch(kind), batch(kind), CLIPPINGS[clip](net)
    short = precision == "bf16"
    with torch.autocast("cuda", torch.bfloat16, enabled=short):
        made = replayed(net, rows)
        usual = [made.sums(one, clipping, 1) for one in (rows, other)]
        made.capture(rows, clipping, 1)
        assert made.graph is not None
        for one, wanted in zip((rows, other), usual, strict=True):
            assert far(made.sums(one, clipping, 1), wanted) < 1e-5
        wanted = loop(net, rows, clipping)
    assert far(usual[0], wanted) < (0.03 if short else 3e-3)
    for i in range(ROWS if short else 0):
        alone = Batch(
            *(one[i : i + 1] for one in (rows.inputs, rows.targets)), rows.there[:1]
        )
        with torch.autocast("cuda", torch.bfloat16):
            found = made.sums(alone, clipping, 1)
        norm = sum(float(one.double().square().sum()) for one in found.values()) ** 0.5
        assert norm <= clipping.radius


def test_odd_units_count_for_nothing_in_a_replay() -> None:
    net = images().cuda()
    rows, clipping = batch("images"), Flat(0.3)
    made = replayed(net, rows)
    made.capture(rows, clipping, 1)
    assert made.graph is not None
    inputs = rows.inputs.clone()
    inputs[2] = float("nan")
    there = rows.there.clone()
    there[2] = False
    found = made.sums(Batch(inputs, rows.targets, rows.there), clipping, 1)
    wanted = made.oracle.sums(rows.inputs, rows.targets, there, clipping)
    assert far(found, wanted) < 1e-5


def test_what_is_dropped_out_is_drawn_anew_in_each_replay() -> None:
    net = Text(0.5).cuda()
    rows, clipping = batch("text"), Flat(0.3)
    made = replayed(net, rows)
    made.capture(rows, clipping, 1)
    assert made.graph is not None
    one, two = (
        {name: found.clone() for name, found in made.sums(rows, clipping, 1).items()}
        for _ in range(2)
    )
    assert far(one, two) > 1e-2


def test_models_that_see_one_row_at_a_time_are_not_captured() -> None:
    class Drawing(nn.Linear):
        def forward(self, inputs: Tensor) -> Tensor:
            return super().forward(inputs) * (1 + float(torch.rand(())))

    class Waiting(nn.Linear):
        def forward(self, inputs: Tensor) -> Tensor:
            return super().forward(inputs) * (1 + 0 * float(inputs.sum()))

    rows = batch("images")
    flat = Batch(rows.inputs.flatten(1), rows.targets, rows.there)
    for kind in (Drawing, Waiting):
        made = Replayed(Alone(kind(243, 10).cuda(), functional.cross_entropy))
        made.capture(flat, Flat(1.0), 1)
        assert made.graph is None
        assert torch.isfinite(made.sums(flat, Flat(1.0), 1)["weight"]).all()


def test_noise_in_a_graph_is_never_the_same() -> None:
    noise = OnGpu(torch.device("cuda"))
    values = torch.zeros(5000, device="cuda")
    from dither.learn.kernels import chacha

    table = torch.tensor([values.data_ptr(), 5000, 0], device="cuda")
    given = (table, 1, 1.0, 1.0, noise._state, noise._counter)
    sizes = {"LANES": chacha.LANES, "MOST": 512}
    chacha.noisy[(2,)](*given, **sizes)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chacha.noisy[(2,)](*given, **sizes)
    seen = []
    for _ in range(3):
        values.zero_()
        graph.replay()
        seen.append(values.clone())
    drawn = torch.cat(seen)
    assert drawn.unique().numel() > 0.999 * drawn.numel()
    assert int(noise._counter) == 4 * 2 * chacha.LANES


def test_noise_is_drawn_where_parameters_are() -> None:
    assert isinstance(noise_on(torch.device("cuda")), OnGpu)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_model_is_trained(precision: str) -> None:
    inputs, targets = records()
    found = train(
        model(),
        (inputs, targets),
        **owned(device="cuda", precision=precision, epochs=10, noise=0.5),
    )
    guessed = found.value.cpu()(inputs).argmax(1)
    assert float((guessed == targets).float().mean()) > 0.7
