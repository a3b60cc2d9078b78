"""Models of tables: numbers and categories."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from tests.learn.zoo.made import ALONE, Built, Model, bits, kept, reals

__all__ = ["TABLES"]

table = kept("tables")


def mlp(*between: nn.Module, wide: int = 8) -> nn.Module:
    return nn.Sequential(nn.Linear(6, wide), *between, nn.Linear(wide, 3))


def still(model: nn.Module) -> nn.Module:
    """With its batch norms in their final form, as those of public pretraining are."""
    for one in model.modules():
        if isinstance(one, nn.modules.batchnorm._BatchNorm):
            one.eval()
            if one.running_mean is not None and one.running_var is not None:
                one.running_mean.uniform_(-1, 1)
                one.running_var.uniform_(0.5, 2)
    return model


def residual(m: Any, x: Tensor) -> Any:
    x = m.start(x)
    for one in m.blocks:
        x = x + one(x)
    return m.out(x)


def residual_model() -> nn.Module:
    blocks = nn.ModuleList(
        nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GLU(), nn.Dropout(0.1))
        for _ in range(2)
    )
    return Built(residual, start=nn.Linear(6, 8), blocks=blocks, out=nn.Linear(8, 3))


def gated(m: Any, x: Tensor) -> Any:
    """A gated residual network, as in temporal fusion transformers."""
    found = m.two(functional.elu(m.one(x)))
    return m.out(m.norm(x + functional.glu(m.gate(found), -1)))


def oblivious(m: Any, x: Tensor) -> Any:
    """Soft oblivious trees: 4 trees of depth 3."""
    choice = torch.softmax(m.choice, 0)
    right = torch.sigmoid(torch.einsum("bf,ftd->btd", x, choice) - m.bounds)
    leaves = torch.ones(x.shape[0], 4, 1)
    for depth in range(3):
        one = right[:, :, depth : depth + 1]
        leaves = torch.cat([leaves * one, leaves * (1 - one)], -1)
    return torch.einsum("btl,tlc->bc", leaves, m.response)


def oblivious_model() -> nn.Module:
    return Built(
        oblivious,
        choice=nn.Parameter(torch.randn(6, 4, 3)),
        bounds=nn.Parameter(torch.randn(4, 3)),
        response=nn.Parameter(torch.randn(4, 8, 3)),
    )


def best_experts(m: Any, x: Tensor) -> Any:
    """The two best of four, without deciding what is computed."""
    best, places = torch.topk(m.gate(x), 2, -1)
    gates = torch.zeros(len(x), 4).scatter(1, places, torch.softmax(best, -1))
    each = torch.stack([one(x) for one in m.experts], 1)
    return torch.bmm(gates.unsqueeze(1), each).squeeze(1)


def expert_model(func: Any) -> nn.Module:
    four = nn.ModuleList(mlp(nn.ReLU()) for _ in range(4))
    return Built(func, gate=nn.Linear(6, 4), experts=four)


def siamese(m: Any, one: Tensor, two: Tensor) -> Any:
    a, b = m.body(one), m.body(two)
    return m.out(torch.cat([torch.abs(a - b), a * b], -1))


def siamese_model() -> nn.Module:
    body = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    return Built(siamese, body=body, out=nn.Linear(8, 3))


def variational(m: Any, x: Tensor) -> Any:
    mean, logs = m.encode(x).chunk(2, -1)
    code = mean + torch.exp(0.5 * logs) * torch.randn_like(logs)
    return torch.cat([m.decode(code), mean, logs], -1)


def variational_loss(found: Tensor, wanted: Tensor) -> Tensor:
    seen, mean, logs = found[:, :6], found[:, 6:8], found[:, 8:]
    apart = (seen - wanted[:, :6]).square().sum(-1)
    far = 0.5 * (mean.square() + logs.exp() - logs - 1).sum(-1)
    return torch.mean(apart + far)


def variational_model() -> nn.Module:
    decode = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6))
    encode = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
    return Built(variational, encode=encode, decode=decode)


def uncertain_loss(found: Tensor, wanted: Tensor) -> Tensor:
    spread = functional.softplus(found[:, 1:]) + 1e-3
    return functional.gaussian_nll_loss(found[:, :1], wanted[:, :1], spread)


def pinball(found: Tensor, wanted: Tensor) -> Tensor:
    apart = wanted - found
    return torch.maximum(0.9 * apart, -0.1 * apart).mean()


def adapted(m: Any, x: Tensor) -> Any:
    return m.out(torch.relu(m.base(x) + 0.5 * m.up(m.down(m.drop(x)))))


def adapted_model() -> nn.Module:
    return Built(
        adapted,
        base=nn.Linear(6, 8).requires_grad_(False),
        drop=nn.Dropout(0.1),
        down=nn.Linear(6, 2, bias=False),
        up=nn.Linear(2, 8, bias=False),
        out=nn.Linear(8, 3),
    )


def head_only() -> nn.Module:
    body = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8)).requires_grad_(
        False
    )
    return nn.Sequential(OrderedDict(body=body, head=nn.Linear(8, 3)))


def crossed(m: Any, x: Tensor) -> Any:
    """Deep and cross network."""
    found = x
    for one in m.cross:
        found = x * one(found) + found
    return m.out(torch.cat([found, m.deep(x)], -1))


def crossed_model() -> nn.Module:
    cross = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))
    deep = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
    return Built(crossed, cross=cross, deep=deep, out=nn.Linear(14, 3))


def hyper(m: Any, x: Tensor) -> Any:
    """A layer whose weights another network computes."""
    weights = m.weights(x).view(-1, 3, 6)
    return torch.einsum("bcf,bf->bc", weights, x) + m.shift(x)


def tokens(m: Any, x: Tensor) -> Any:
    """A token for each column, as in FT-Transformer."""
    seen = x.unsqueeze(-1) * m.weight + m.bias
    seen = torch.cat([m.first.expand(x.shape[0], -1, -1), seen], 1)
    return m.out(m.layer(seen)[:, 0])


def tokens_model() -> nn.Module:
    return Built(
        tokens,
        weight=nn.Parameter(torch.randn(6, 8)),
        bias=nn.Parameter(torch.randn(6, 8)),
        first=nn.Parameter(torch.randn(1, 1, 8)),
        layer=nn.TransformerEncoderLayer(
            8, 2, 16, dropout=0.1, batch_first=True, norm_first=True, activation="gelu"
        ),
        out=nn.Sequential(nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3)),
    )


def spread(m: Any, x: Tensor) -> Any:
    """Random Fourier features, fixed."""
    found = 6.28 * x @ m.basis
    return m.out(torch.cat([found.sin(), found.cos()], -1))


def double() -> nn.Module:
    return mlp(nn.Tanh()).double()


def spectral() -> nn.Module:
    return nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(6, 8)), nn.ReLU(), nn.Linear(8, 3)
    )


def normed() -> nn.Module:
    return nn.Sequential(
        parametrizations.weight_norm(nn.Linear(6, 8)),
        nn.ReLU(),
        parametrizations.weight_norm(nn.Linear(8, 3)),
    )


def turned() -> nn.Module:
    return nn.Sequential(
        parametrizations.orthogonal(nn.Linear(6, 6), use_trivialization=False),
        nn.Linear(6, 3),
    )


def four() -> list[nn.Module]:
    return [nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)]


numbers = reals(6)
TABLES: tuple[Model, ...] = (
    table("Logistic regression", make=lambda: nn.Linear(6, 3), inputs=numbers),
    table("Perceptron with ReLU", make=lambda: mlp(nn.ReLU()), inputs=numbers),
    table(
        "Perceptron with PReLU, Mish and SELU",
        make=lambda: mlp(
            nn.PReLU(8), nn.Linear(8, 8), nn.Mish(), nn.SELU(), nn.PReLU()
        ),
        inputs=numbers,
    ),
    table(
        "Perceptron with BatchNorm in eval mode",
        make=lambda: still(mlp(nn.BatchNorm1d(8), nn.ReLU())),
        inputs=numbers,
    ),
    table(
        "Residual perceptron with GLU and dropout",
        make=residual_model,
        inputs=numbers,
        draws=True,
    ),
    table(
        "Gated residual network",
        make=lambda: Built(
            gated,
            one=nn.Linear(6, 6),
            two=nn.Linear(6, 6),
            gate=nn.Linear(6, 12),
            norm=nn.LayerNorm(6),
            out=nn.Linear(6, 3),
        ),
        inputs=numbers,
    ),
    table("Soft oblivious trees (NODE)", make=oblivious_model, inputs=numbers),
    table("FT-Transformer", make=tokens_model, inputs=numbers, draws=True),
    table("Deep and cross network", make=crossed_model, inputs=numbers),
    table(
        "Mixture of experts, top 2 weighted",
        make=lambda: expert_model(best_experts),
        inputs=numbers,
    ),
    table(
        "Hypernetwork",
        make=lambda: Built(hyper, weights=nn.Linear(6, 18), shift=nn.Linear(6, 3)),
        inputs=numbers,
    ),
    table(
        "Siamese network",
        make=siamese_model,
        inputs=lambda rows: (numbers(rows), numbers(rows)),
    ),
    table(
        "Bilinear",
        make=lambda: nn.Bilinear(6, 4, 3),
        inputs=lambda rows: (numbers(rows), reals(4)(rows)),
    ),
    table(
        "Quantile regression, a loss of one's own",
        make=lambda: nn.Sequential(*four()[:2], nn.Linear(8, 1)),
        inputs=numbers,
        targets=reals(1),
        loss=pinball,
    ),
    table(
        "Regression with its own variance",
        make=lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)),
        inputs=numbers,
        targets=reals(2),
        loss=uncertain_loss,
        expected=ALONE,
        reason="values of a row decide what is done, or a shape",
    ),
    table(
        "Several labels, binary cross-entropy",
        make=lambda: mlp(nn.ReLU()),
        inputs=numbers,
        targets=bits(3),
        loss=functional.binary_cross_entropy_with_logits,
    ),
    table(
        "Variational autoencoder",
        make=variational_model,
        inputs=numbers,
        targets=reals(10),
        loss=variational_loss,
        draws=True,
    ),
    table("Weight norm", make=normed, inputs=numbers),
    table("Spectral norm in eval mode", make=lambda: spectral().eval(), inputs=numbers),
    table("Orthogonal weights", make=turned, inputs=numbers),
    table(
        "LoRA adapter beside a frozen layer",
        make=adapted_model,
        inputs=numbers,
        draws=True,
    ),
    table("Frozen layers and a trained head", make=head_only, inputs=numbers),
    table(
        "A model in float64", make=double, inputs=lambda rows: numbers(rows).double()
    ),
    table(
        "Features that are booleans",
        make=lambda: Built(lambda m, x: m.body(x.float()), body=mlp(nn.ReLU())),
        inputs=lambda rows: torch.randint(0, 2, (rows, 6)).bool(),
    ),
)
