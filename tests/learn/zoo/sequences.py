"""Models of sequences: recurrent layers, scans, cross attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from tests.learn.zoo.made import ALONE, Built, Model, ids, kept, reals
from tests.learn.zoo.texts import HEADS, LONG, WIDE, WORDS, wide

__all__ = ["SEQUENCES"]

sequence = kept("sequences")
series, words = reals(LONG, 4), ids(LONG, size=WORDS)


def last(m: Any, x: Tensor) -> Any:
    return m.out(m.body(x)[0][:, -1])


def recurrent(kind: Any, **more: Any) -> nn.Module:
    ways = 2 if more.get("bidirectional") else 1
    body = kind(4, 5, **{"batch_first": True} | more)
    return Built(last, body=body, out=nn.Linear(5 * ways, 3))


def last_state(m: Any, x: Tensor) -> Any:
    return m.out(m.body(m.words(x).transpose(0, 1))[1][0][-1])


def time_first() -> nn.Module:
    return Built(
        last_state,
        words=nn.Embedding(WORDS, 4),
        body=nn.LSTM(4, 5),
        out=nn.Linear(5, 3),
    )


def packed(m: Any, x: Tensor) -> Any:
    lengths = (x != 0).sum(1).clamp_min(1)
    seen = pack_padded_sequence(
        m.words(x), lengths, batch_first=True, enforce_sorted=False
    )
    return m.out(m.body(seen)[1][-1])


def packed_model() -> nn.Module:
    return Built(
        packed,
        words=nn.Embedding(WORDS, 4, padding_idx=0),
        body=nn.GRU(4, 5, batch_first=True),
        out=nn.Linear(5, 3),
    )


def cells(m: Any, x: Tensor) -> Any:
    """A loop of one's own over cells."""
    state = x.new_zeros(x.shape[0], 5), x.new_zeros(x.shape[0], 5)
    for step in range(x.shape[1]):
        state = m.cell(x[:, step], state)
    return m.out(state[0])


def perceived(m: Any, x: Tensor) -> Any:
    """A few learned queries look at a series, and then at each other."""
    seen, slots = m.inward(x), m.slots.expand(len(x), -1, -1)
    slots = slots + m.cross(m.norm(slots), seen, seen)[0]
    slots = slots + m.own(slots, slots, slots)[0]
    return m.out((slots + m.wide(slots)).flatten(1))


def perceived_model() -> nn.Module:
    return Built(
        perceived,
        inward=nn.Linear(4, WIDE),
        slots=nn.Parameter(torch.randn(1, 3, WIDE)),
        norm=nn.LayerNorm(WIDE),
        cross=nn.MultiheadAttention(WIDE, HEADS, batch_first=True),
        own=nn.MultiheadAttention(WIDE, HEADS, dropout=0.1, batch_first=True),
        wide=wide(0.0),
        out=nn.Linear(3 * WIDE, 3),
    )


def scanned(m: Any, x: Tensor) -> Any:
    """A selective state space (Mamba), step by step."""
    seen, gate = m.inward(x).chunk(2, -1)
    seen = functional.silu(m.near(seen.transpose(1, 2))[..., :LONG].transpose(1, 2))
    rate, inward, outward = m.choose(seen).split([4, 3, 3], -1)
    rate, state = functional.softplus(rate), seen.new_zeros(len(x), 4, 3)
    found = []
    for t in range(LONG):
        keep = torch.exp(rate[:, t, :, None] * -torch.exp(m.decay))
        new = (rate[:, t] * seen[:, t])[..., None] * inward[:, t, None, :]
        state = keep * state + new
        found.append((state * outward[:, t, None, :]).sum(-1) + m.skip * seen[:, t])
    return m.out((torch.stack(found, 1) * functional.silu(gate)).mean(1))


def scanned_model() -> nn.Module:
    return Built(
        scanned,
        inward=nn.Linear(4, 8, bias=False),
        near=nn.Conv1d(4, 4, 3, padding=2, groups=4),
        choose=nn.Linear(4, 10, bias=False),
        decay=nn.Parameter(torch.randn(4, 3)),
        skip=nn.Parameter(torch.ones(4)),
        out=nn.Linear(4, 3),
    )


def linear_attended(m: Any, x: Tensor) -> Any:
    """Causal attention without a softmax, by a running sum."""
    seen = m.inward(x)
    query, key, value = m.query(seen), m.key(seen), m.value(seen)
    query, key = functional.elu(query) + 1, functional.elu(key) + 1
    state = torch.cumsum(torch.einsum("btd,bte->btde", key, value), 1)
    total = torch.einsum("btd,btde->bte", query, state)
    size = (query * key.cumsum(1)).sum(-1, keepdim=True)
    return m.out((total / size)[:, -1])


def linear_model() -> nn.Module:
    sides = {name: nn.Linear(WIDE, WIDE) for name in ("query", "key", "value")}
    return Built(
        linear_attended, inward=nn.Linear(4, WIDE), **sides, out=nn.Linear(WIDE, 3)
    )


SEQUENCES: tuple[Model, ...] = (
    sequence("LSTM", make=lambda: recurrent(nn.LSTM), inputs=series),
    sequence(
        "LSTM of two layers, both ways, with dropout",
        make=lambda: recurrent(nn.LSTM, num_layers=2, bidirectional=True, dropout=0.2),
        inputs=series,
        draws=True,
    ),
    sequence("LSTM with time first", make=time_first, inputs=words),
    sequence(
        "LSTM cells in a loop",
        make=lambda: Built(cells, cell=nn.LSTMCell(4, 5), out=nn.Linear(5, 3)),
        inputs=series,
    ),
    sequence("GRU", make=lambda: recurrent(nn.GRU), inputs=series),
    sequence("RNN with tanh", make=lambda: recurrent(nn.RNN), inputs=series),
    sequence(
        "GRU over packed sequences",
        make=packed_model,
        inputs=words,
        expected=ALONE,
        reason="values of a row decide what is done, or a shape",
    ),
    sequence("Perceiver", make=perceived_model, inputs=series, draws=True),
    sequence("Selective state space (Mamba)", make=scanned_model, inputs=series),
    sequence("Linear attention by a running sum", make=linear_model, inputs=series),
)
