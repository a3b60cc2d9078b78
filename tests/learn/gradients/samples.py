"""Calls of every listed operation, as models make them.

Each takes the tensors of one row and parameters: `x` and `y` are [3, 4] numbers, `i` are 4
places from 0 to 2, `b` is a [3, 4] mask; `w` is [4, 4], `v` [4] and `u` [16, 4].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

__all__ = ["DRAWN", "PLACED", "SAMPLES", "TRAINED", "WRITTEN", "Sample"]

Sample = Callable[..., Any]
aten: Any = torch.ops.aten

OF_ONE = """
    square sqrt rsqrt reciprocal neg negative abs absolute sign sgn exp exp2 expm1 log
    log2 log10 log1p sin cos tan asin acos atan arctan sinh cosh tanh asinh acosh atanh
    sigmoid logit erf erfc erfinv lgamma digamma relu isnan isinf isfinite nan_to_num
    floor ceil round trunc frac sinc logical_not amax amin aminmax max min argmax argmin
    sum mean prod std var std_mean var_mean median nanmedian nansum nanmean all any
    count_nonzero ravel t adjoint fliplr flipud rot90 detach clone resolve_conj
    resolve_neg argsort sort zeros_like ones_like atleast_1d atleast_2d atleast_3d tril
    triu diagonal alias
"""
OF_TWO = """
    add sub rsub mul div true_divide pow logaddexp atan2
    arctan2 maximum minimum fmax fmin eq ne lt le gt ge less greater less_equal
    greater_equal not_equal logical_and logical_or logical_xor hypot xlogy dist inner
    kron cosine_similarity broadcast_tensors heaviside complex polar pairwise_distance
"""
ACTIVATIONS = """
    relu6 leaky_relu elu selu celu gelu silu mish hardtanh hardswish hardsigmoid softplus
    logsigmoid hardshrink softshrink
"""
LOSSES = "mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss"
METHODS = "view_as reshape_as expand_as type_as"
HALVES = "split chunk unsafe_chunk tensor_split unsafe_split"
STACKS = "cat concat concatenate stack hstack vstack dstack"
TRANSFORMS = "fft rfft fft2 rfft2 fftn rfftn fftshift ifftshift"
INVERSE = "ifft irfft ifft2 irfft2 ifftn irfftn"

SAMPLES: dict[str, Sample] = {}
"""By name; more than one call of an operation has a word behind the name."""


def _found(name: str) -> Callable[..., Any]:
    return getattr(torch, name, None) or getattr(aten, name)


def _of_one(f: Callable[..., Any]) -> Sample:
    return lambda x, y, i, b, w, v, u: f(x)


def _of_two(f: Callable[..., Any]) -> Sample:
    return lambda x, y, i, b, w, v, u: f(x, y)


def _of_both(f: Callable[..., Any]) -> Sample:
    return lambda x, y, i, b, w, v, u: f([x, y])


def _halved(f: Callable[..., Any]) -> Sample:
    return lambda x, y, i, b, w, v, u: f(x, 2, 1)


def _inverse(f: Callable[..., Any]) -> Sample:
    return lambda x, y, i, b, w, v, u: f(torch.complex(x, y))


for _name in OF_ONE.split():
    SAMPLES[_name] = _of_one(_found(_name))
for _name in ACTIVATIONS.split():
    SAMPLES[_name] = _of_one(getattr(F, _name))
for _name in OF_TWO.split():
    SAMPLES[_name] = _of_two(getattr(F, _name, None) or _found(_name))
for _name in LOSSES.split():
    SAMPLES[_name] = _of_two(getattr(F, _name))
for _name in METHODS.split():
    SAMPLES[_name] = _of_two(getattr(Tensor, _name))
for _name in HALVES.split():
    SAMPLES[_name] = _halved(_found(_name))
for _name in STACKS.split():
    SAMPLES[_name] = _of_both(_found(_name))
for _name in TRANSFORMS.split():
    SAMPLES[_name] = _of_one(getattr(torch.fft, _name))
for _name in INVERSE.split():
    SAMPLES[_name] = _inverse(getattr(torch.fft, _name))


def _image(x: Tensor) -> Tensor:
    return x.reshape(1, 3, 2, 2)


def _volume(x: Tensor) -> Tensor:
    return x.reshape(1, 1, 3, 2, 2)


SAMPLES |= {
    # numbers in the same place
    "threshold": lambda x, y, i, b, w, v, u: F.threshold(x, 0.1, 2.0),
    "clamp": lambda x, y, i, b, w, v, u: x.clamp(-0.5, 0.5),
    "clamp tensors": lambda x, y, i, b, w, v, u: x.clamp(y, y + 1),
    "clamp_min": lambda x, y, i, b, w, v, u: x.clamp_min(0.1),
    "clamp_max": lambda x, y, i, b, w, v, u: x.clamp_max(0.1),
    "clip": lambda x, y, i, b, w, v, u: x.clip(-1, 1),
    "where": lambda x, y, i, b, w, v, u: torch.where(b, x, y),
    "where numbers": lambda x, y, i, b, w, v, u: (
        torch.where(b, x, 0.0) + torch.where(b, 1, y)
    ),
    "where one": lambda x, y, i, b, w, v, u: torch.where(b[0, 0], x, y[0]),
    "masked_fill": lambda x, y, i, b, w, v, u: x.masked_fill(b[0], 3.0),
    "masked_fill one": lambda x, y, i, b, w, v, u: x.masked_fill(b, y[0, 0]),
    "lerp": lambda x, y, i, b, w, v, u: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y, i, b, w, v, u: torch.addcmul(x, y, y, value=0.5),
    "addcdiv": lambda x, y, i, b, w, v, u: torch.addcdiv(x, y, y[0]),
    "bitwise": lambda x, y, i, b, w, v, u: (
        i & 1,
        i | 4,
        i ^ 3,
        ~i,
        b & b[0],
        b | ~b[1],
    ),
    "__and__": lambda x, y, i, b, w, v, u: (i.__and__(1), i.__or__(4), b.__xor__(b[0])),
    "bitwise_and": lambda x, y, i, b, w, v, u: torch.bitwise_and(i, 1),
    "integers": lambda x, y, i, b, w, v, u: (
        i // 2,
        i % 2,
        i * i,
        torch.fmod(i, 2),
        i / 2,
    ),
    "fewer axes": lambda x, y, i, b, w, v, u: x + y[0] * x[:, :1] - i.sum() + x[0, 0],
    "fewer axes of rows": lambda x, y, i, b, w, v, u: (
        x[0] + torch.arange(8.0).view(2, 1, 4)
    ),
    "types": lambda x, y, i, b, w, v, u: (
        x[0, 0] * i,
        i[0] * 2.5,
        b[0, 0] + x[0],
        i + b[0],
    ),
    "remainder": lambda x, y, i, b, w, v, u: (
        torch.remainder(i, 3),
        torch.fmod(i, 3),
        torch.floor_divide(i, 3),
    ),
    "bitwise_or": lambda x, y, i, b, w, v, u: (
        torch.bitwise_or(i, 4),
        torch.bitwise_xor(b, b[0]),
    ),
    "block_diag": lambda x, y, i, b, w, v, u: torch.block_diag(x, y),
    # products
    "linear": lambda x, y, i, b, w, v, u: F.linear(x, w, v),
    "linear of rows": lambda x, y, i, b, w, v, u: F.linear(x, y, y[:, 0]),
    "bilinear": lambda x, y, i, b, w, v, u: F.bilinear(x, y, w[None]),
    "matmul": lambda x, y, i, b, w, v, u: (x @ w, w @ y.T, x @ y.T, x[0] @ w, w @ y[0]),
    "mm": lambda x, y, i, b, w, v, u: (
        torch.mm(x, w) + torch.mm(w, y.T).T + torch.mm(x, y.T)[0, 0]
    ),
    "bmm": lambda x, y, i, b, w, v, u: torch.bmm(x[:, None], y[:, :, None]),
    "mv": lambda x, y, i, b, w, v, u: (torch.mv(w, x[0]), torch.mv(x, y[0])),
    "dot": lambda x, y, i, b, w, v, u: torch.dot(x[0], y[1]),
    "addmm": lambda x, y, i, b, w, v, u: torch.addmm(v, x, w.t()),
    "addmm of rows": lambda x, y, i, b, w, v, u: torch.addmm(
        x[:, :3], x, y.t(), beta=2
    ),
    "addbmm": lambda x, y, i, b, w, v, u: torch.addbmm(
        x[:1, :1], x[:, None], y[:, :, None]
    ),
    "baddbmm": lambda x, y, i, b, w, v, u: torch.baddbmm(
        x[:1, :1], x[:, None], y[:, :, None]
    ),
    "addmv": lambda x, y, i, b, w, v, u: torch.addmv(x[:, 0], x, y[0]),
    "einsum": lambda x, y, i, b, w, v, u: torch.einsum("ij,kj,jl->ikl", x, y, w),
    "tensordot": lambda x, y, i, b, w, v, u: torch.tensordot(x, y, ([0], [0])),
    "outer": lambda x, y, i, b, w, v, u: torch.outer(x[0], y[1]),
    "turned": lambda x, y, i, b, w, v, u: (
        x @ w.T @ w.mT @ w.transpose(0, 1) @ w.permute(1, 0)
    ),
    # lengths
    "norm": lambda x, y, i, b, w, v, u: (x.norm(), x.norm(dim=1), aten.norm(x, 2)),
    "linalg_norm": lambda x, y, i, b, w, v, u: torch.linalg.norm(x, dim=1),
    "linalg_vector_norm": lambda x, y, i, b, w, v, u: torch.linalg.vector_norm(x, 1, 0),
    "linalg_matrix_norm": lambda x, y, i, b, w, v, u: torch.linalg.matrix_norm(x),
    "frobenius_norm": lambda x, y, i, b, w, v, u: torch.frobenius_norm(x, (0, 1)),
    "linalg_cross": lambda x, y, i, b, w, v, u: torch.linalg.cross(x[:, :3], y[:, :3]),
    "cross": lambda x, y, i, b, w, v, u: torch.cross(x[:, :3], y[:, :3], dim=1),
    "cdist": lambda x, y, i, b, w, v, u: (torch.cdist(x, y), torch.cdist(x, y, 1.0)),
    "renorm": lambda x, y, i, b, w, v, u: x.renorm(2, 0, 0.5),
    "_weight_norm": lambda x, y, i, b, w, v, u: torch._weight_norm(
        w, x[0, 0] * w[:, :1], 0
    ),
    "norm_except_dim": lambda x, y, i, b, w, v, u: torch.norm_except_dim(
        x * w[0], 2, 0
    ),
    # layers
    "conv1d": lambda x, y, i, b, w, v, u: F.conv1d(
        x.T[None], w[:, :, None], v, padding=1
    ),
    "conv1d_same": lambda x, y, i, b, w, v, u: F.conv1d(
        x.T, w.view(4, 1, 4), padding="same", groups=4
    ),
    "conv1d of rows": lambda x, y, i, b, w, v, u: F.conv1d(x[None], y[:, :3, None]),
    "conv2d": lambda x, y, i, b, w, v, u: F.conv2d(
        x[None], w.view(4, 1, 2, 2), stride=2
    ),
    "conv3d": lambda x, y, i, b, w, v, u: F.conv3d(_volume(x), w.view(2, 1, 2, 2, 2)),
    "conv_transpose1d": lambda x, y, i, b, w, v, u: F.conv_transpose1d(
        x.T, w[:, :, None]
    ),
    "conv_transpose2d": lambda x, y, i, b, w, v, u: F.conv_transpose2d(
        x[None], w.view(1, 4, 2, 2), stride=2, output_padding=1
    ),
    "conv_transpose3d": lambda x, y, i, b, w, v, u: F.conv_transpose3d(
        _volume(x), w.view(1, 2, 2, 2, 2), dilation=2
    ),
    "conv_tbc": lambda x, y, i, b, w, v, u: torch.conv_tbc(x[:, None], w[None], w[0]),
    "embedding": lambda x, y, i, b, w, v, u: F.embedding(i, w, padding_idx=1),
    "embedding of rows": lambda x, y, i, b, w, v, u: F.embedding(i, x, padding_idx=1),
    "embedding_bag": lambda x, y, i, b, w, v, u: (
        F.embedding_bag(i.view(2, 2), w),
        F.embedding_bag(i, w, torch.tensor([0, 1, 1]), mode="sum"),
    ),
    "one_hot": lambda x, y, i, b, w, v, u: F.one_hot(i, 4),
    "layer_norm": lambda x, y, i, b, w, v, u: F.layer_norm(x, (4,), v, v),
    "group_norm": lambda x, y, i, b, w, v, u: F.group_norm(x[None], 3, v[:3], v[1:]),
    "instance_norm": lambda x, y, i, b, w, v, u: F.instance_norm(
        x[None], weight=v[:3], bias=v[1:]
    ),
    "batch_norm": lambda x, y, i, b, w, v, u: F.batch_norm(
        x, torch.ones(4), torch.arange(4.0), v, v
    ),
    "rms_norm": lambda x, y, i, b, w, v, u: F.rms_norm(x, (4,), v),
    "attention": lambda x, y, i, b, w, v, u: (
        F.scaled_dot_product_attention(x[None, None], y[None, None], y[None, None]),
        F.scaled_dot_product_attention(x[None], y[None], x[None], b[None, :, :3]),
        F.scaled_dot_product_attention(x, y, x, y[:, :3]),
    ),
    "softmax": lambda x, y, i, b, w, v, u: x.softmax(-1),
    "log_softmax": lambda x, y, i, b, w, v, u: x.log_softmax(0),
    "glu": lambda x, y, i, b, w, v, u: F.glu(x),
    "prelu": lambda x, y, i, b, w, v, u: F.prelu(x, v),
    "lstm": lambda x, y, i, b, w, v, u: torch.lstm(
        x[None],
        (x[:1, None], y[:1, None]),
        [u, u],
        False,
        1,
        0.0,
        True,
        False,
        True,
    ),
    "gru": lambda x, y, i, b, w, v, u: torch.gru(
        x[:, None], x[:1, None], [u[:12], u[4:]], False, 1, 0.0, True, False, False
    ),
    "rnn_tanh": lambda x, y, i, b, w, v, u: torch.rnn_tanh(
        x[:, None],
        torch.stack([x[:1], y[:1]]).flatten(0, 1)[:, None],
        [w, w, v, v] * 2,
        True,
        1,
        0.0,
        True,
        True,
        False,
    ),
    "rnn_relu": lambda x, y, i, b, w, v, u: torch.rnn_relu(
        x[:, None], x[:1, None], [w, w], False, 1, 0.0, True, False, False
    ),
    "gru_cell": lambda x, y, i, b, w, v, u: torch.gru_cell(x, y, u[:12], u[4:]),
    "rnn_cells": lambda x, y, i, b, w, v, u: (
        torch.rnn_tanh_cell(x, y, w, w, v, v),
        torch.rnn_relu_cell(x, y, w, w),
    ),
    "lstm_cell": lambda x, y, i, b, w, v, u: torch.lstm_cell(x, (y, x), u, u),
    # losses
    "cross_entropy": lambda x, y, i, b, w, v, u: F.cross_entropy(
        x, i[:3], reduction="none", label_smoothing=0.1, ignore_index=1
    ),
    "cross_entropy mean": lambda x, y, i, b, w, v, u: F.cross_entropy(
        x, i[:3], w[0].detach()
    ),
    "cross_entropy shares": lambda x, y, i, b, w, v, u: F.cross_entropy(
        x, y.softmax(1)
    ),
    "nll_loss": lambda x, y, i, b, w, v, u: (
        F.nll_loss(x, i[:3]),
        aten.nll_loss(x, i[:3]),
    ),
    "kl_div": lambda x, y, i, b, w, v, u: F.kl_div(x, y, reduction="sum"),
    "binary_cross_entropy": lambda x, y, i, b, w, v, u: F.binary_cross_entropy(
        x.sigmoid().nan_to_num(0.5), b.float()
    ),
    "binary_cross_entropy_with_logits": lambda x, y, i, b, w, v, u: (
        F.binary_cross_entropy_with_logits(x, b.float(), pos_weight=torch.ones(4))
    ),
    "margins": lambda x, y, i, b, w, v, u: (
        F.margin_ranking_loss(x, y, x.sign().detach()),
        F.hinge_embedding_loss(x, torch.ones(3, 4)),
        F.soft_margin_loss(x, y.sign().detach()),
        F.multi_margin_loss(x, i[:3]),
        F.multilabel_margin_loss(x[0], i),
        F.triplet_margin_loss(x, y, x.flip(0)),
        F.cosine_embedding_loss(x, y, torch.ones(3)),
    ),
    # along axes
    "max of an axis": lambda x, y, i, b, w, v, u: (x.max(1), x.min(0), x.median(1)),
    "quantile": lambda x, y, i, b, w, v, u: (
        torch.quantile(x, 0.3),
        x.quantile(0.5, 1),
    ),
    "logsumexp": lambda x, y, i, b, w, v, u: x.logsumexp(1),
    "cumsum": lambda x, y, i, b, w, v, u: x.cumsum(1),
    "cumprod": lambda x, y, i, b, w, v, u: (x.cumprod(1), y.cumprod(0)),
    "logcumsumexp": lambda x, y, i, b, w, v, u: x.logcumsumexp(1),
    "cummax": lambda x, y, i, b, w, v, u: (x.cummax(1), x.cummin(0)),
    "prod of an axis": lambda x, y, i, b, w, v, u: (
        x.prod(0),
        x.prod(-1, True),
        x.prod(1, dtype=torch.float64),
        y.prod(dtype=torch.float64),
        torch.complex(x, y).prod(1),
        x[0, 0].prod(),
        x[0, 0].prod(0, True),
        i.prod(0),
    ),
    "topk": lambda x, y, i, b, w, v, u: x.topk(2),
    "kthvalue": lambda x, y, i, b, w, v, u: x.kthvalue(2, 1),
    "searchsorted": lambda x, y, i, b, w, v, u: torch.searchsorted(x.sort()[0], y),
    "bucketize": lambda x, y, i, b, w, v, u: torch.bucketize(
        x, torch.tensor([-1.0, 0.0, 1.0])
    ),
    "diff": lambda x, y, i, b, w, v, u: x.diff(),
    "vdot": lambda x, y, i, b, w, v, u: torch.vdot(x[0], y[0]),
    "mH": lambda x, y, i, b, w, v, u: x.mH,
    "matrix_exp": lambda x, y, i, b, w, v, u: torch.matrix_exp(
        (x[:, :3] - y[:, :3]).tanh()
    ),
    "grid_sampler": lambda x, y, i, b, w, v, u: F.grid_sample(
        _image(x), torch.stack([x, y], -1)[None], align_corners=False
    ),
    "grid_sampler border": lambda x, y, i, b, w, v, u: F.grid_sample(
        _image(x),
        torch.stack([x, y], -1)[None],
        padding_mode="border",
        align_corners=False,
    ),
    "trace": lambda x, y, i, b, w, v, u: x[:, :3].trace(),
    # shapes
    "views": lambda x, y, i, b, w, v, u: (
        x.view(12),
        x.reshape(2, 6),
        x.flatten(),
        x.unflatten(1, (2, 2)),
        x[None].squeeze(0),
        x.unsqueeze(1),
        x.permute(1, 0),
        x.transpose(0, 1),
        x.T,
        x.mT,
        x.movedim(0, 1),
        x.swapaxes(0, 1),
        x.swapdims(0, 1),
        x.expand(2, 3, 4),
        x.broadcast_to(2, 3, 4),
        x.T.contiguous(),
        x.unfold(1, 2, 1),
    ),
    "parts": lambda x, y, i, b, w, v, u: (
        x[1],
        x[:, 1:3],
        x.narrow(1, -3, 2),
        x.split([1, 3], 1),
        x.unbind(1),
        x.hsplit(2),
        x.vsplit(3),
        x.view(1, 3, 4).dsplit(2),
        x.select(1, -1),
    ),
    "parts_of_a_parameter": lambda x, y, i, b, w, v, u: (
        [F.linear(x, one) for one in w.chunk(3)],
        [x[0] @ one for one in w.split(2, -1)],
        F.linear(x, w[1:3], v[-2:]),
        [F.linear(x, one) for one in w.split([3, 1])],
    ),
    "copies": lambda x, y, i, b, w, v, u: (
        x.repeat(2, 1),
        x.tile(2),
        x.repeat_interleave(2, 0),
        x.roll(1, 0),
        x.flip(1),
    ),
    "diagonals": lambda x, y, i, b, w, v, u: (
        x.diag(),
        x[0].diag_embed(),
        x.diagonal_scatter(y[0, :3]),
        torch.slice_scatter(x, y[:1], 0, 1, 2),
    ),
    "meshgrid": lambda x, y, i, b, w, v, u: torch.meshgrid(x[0], y[1], indexing="ij"),
    "cartesian_prod": lambda x, y, i, b, w, v, u: torch.cartesian_prod(x[0], y[1]),
    "im2col": lambda x, y, i, b, w, v, u: (
        F.unfold(x[None, None], 2),
        F.fold(x.T[None], (2, 4), (2, 2)),
    ),
    "pad": lambda x, y, i, b, w, v, u: (
        F.pad(x, (1, 2)),
        aten.constant_pad_nd(x, [1, 0], 2.0),
        F.pad(x, (1, 1), "reflect"),
        F.pad(x[None], (1, 1, 1, 1), "reflect"),
        F.pad(_volume(x), (1, 1, 1, 1, 1, 1), "reflect"),
        F.pad(x, (1, 1), "replicate"),
        F.pad(x[None], (1, 1, 1, 1), "replicate"),
        F.pad(x, (1, 1), "circular"),
        F.pad(_volume(x), (1, 1, 1, 1, 1, 1), "replicate"),
    ),
    "padding": lambda x, y, i, b, w, v, u: (
        nn.ReflectionPad1d(1)(x),
        nn.ReflectionPad2d(1)(x[None]),
        nn.ReflectionPad3d(1)(_volume(x)),
        nn.ReplicationPad1d(1)(x),
        nn.ReplicationPad2d(1)(x[None]),
        nn.ReplicationPad3d(1)(_volume(x)),
        aten._pad_circular(x, [1, 1]),
        aten.reflection_pad1d(x, [1, 1]),
        aten.reflection_pad2d(x[None], [1] * 4),
        aten.reflection_pad3d(_volume(x), [1] * 6),
        aten.replication_pad1d(x, [1, 1]),
        aten.replication_pad2d(x[None], [1] * 4),
        aten.replication_pad3d(_volume(x), [1] * 6),
    ),
    "pixels": lambda x, y, i, b, w, v, u: (
        F.pixel_shuffle(x.T.reshape(1, 4, 1, 3), 2),
        F.pixel_unshuffle(_image(x), 2),
        F.channel_shuffle(_image(x), 3),
    ),
    # places
    "gather": lambda x, y, i, b, w, v, u: x.gather(0, i[None]),
    "take": lambda x, y, i, b, w, v, u: (x.take(i), x.take_along_dim(i[None], 0)),
    "index": lambda x, y, i, b, w, v, u: (
        x[i],
        x[i, i],
        x[:, i],
        x.index_select(0, i),
        w[i],
    ),
    "scatter": lambda x, y, i, b, w, v, u: (
        x.scatter(0, i[None], 5.0),
        x.scatter_add(0, i[None], y[:1]),
        x.scatter_reduce(0, i[None], y[:1], "amax"),
    ),
    "index_put": lambda x, y, i, b, w, v, u: (
        x.index_put((i,), y[:1]),
        x.index_put((i,), y[0], accumulate=True),
    ),
    "index_put mask": lambda x, y, i, b, w, v, u: x.index_put((b,), torch.tensor(2.0)),
    "index_add": lambda x, y, i, b, w, v, u: x.index_add(0, i, torch.ones(4, 4)),
    "index_copy": lambda x, y, i, b, w, v, u: x.index_copy(
        1, torch.tensor([2, 0]), y[:, :2]
    ),
    "index_fill": lambda x, y, i, b, w, v, u: x.index_fill(
        1, torch.tensor([2, -1]), 7.0
    ),
    # images
    "pools": lambda x, y, i, b, w, v, u: (
        F.avg_pool1d(x, 2),
        F.avg_pool2d(_image(x), 2),
        F.avg_pool3d(_volume(x), 2),
        F.max_pool1d(x, 2),
        F.max_pool2d(_image(x), 2),
        F.max_pool3d(_volume(x), 2),
    ),
    "pools with places": lambda x, y, i, b, w, v, u: (
        F.max_pool1d(x, 2, return_indices=True),
        F.max_pool2d(_image(x), 2, return_indices=True),
        F.max_pool3d(_volume(x), 2, return_indices=True),
        F.max_unpool2d(*F.max_pool2d(_image(x), 2, return_indices=True), 2),
    ),
    "adaptive pools": lambda x, y, i, b, w, v, u: (
        F.adaptive_avg_pool1d(x, 2),
        F.adaptive_avg_pool2d(_image(x), 1),
        F.adaptive_avg_pool3d(_volume(x), 1),
        F.adaptive_max_pool1d(x, 2),
        F.adaptive_max_pool2d(_image(x), 1),
        F.adaptive_max_pool3d(_volume(x), 1),
    ),
    "upsampled": lambda x, y, i, b, w, v, u: (
        F.interpolate(x[None], scale_factor=2),
        F.interpolate(_image(x), scale_factor=2),
        F.interpolate(_volume(x), scale_factor=2),
        F.interpolate(x[None], size=5, mode="linear"),
        F.interpolate(_image(x), size=3, mode="bilinear"),
        F.interpolate(_image(x), size=3, mode="bicubic"),
        F.interpolate(_volume(x), size=(3, 3, 3), mode="trilinear"),
        F.interpolate(x[None], size=5, mode="nearest-exact"),
        F.interpolate(_image(x), size=3, mode="nearest-exact"),
    ),
    "affine_grid": lambda x, y, i, b, w, v, u: F.affine_grid(
        x.view(2, 2, 3), [2, 1, 2, 2], align_corners=False
    ),
    # made in the model
    "made": lambda x, y, i, b, w, v, u: (
        x + torch.arange(4),
        x + torch.zeros(4) + torch.ones(3, 1),
        x * torch.full((4,), 2.0),
        x @ torch.eye(4),
        x + torch.linspace(0, 1, 4),
        x + torch.logspace(0, 1, 4),
        x[tuple(torch.tril_indices(3, 4))],
        x[tuple(torch.triu_indices(3, 4))],
        x + torch.scalar_tensor(2.0),
        x + torch.tensor([1.0, 2.0, 3.0, 4.0]),
        x.new_zeros(2) + x.new_ones(2) + x.new_full((2,), 3.0),
        torch.full_like(x, 3.0),
        x + aten.lift_fresh(torch.ones(4)) + aten.lift(torch.ones(4)),
    ),
    "empty": lambda x, y, i, b, w, v, u: (
        torch.empty(3, 4).copy_(x),
        torch.empty_like(x).fill_(2.0) + x,
        x.new_empty(4).zero_() + x,
    ),
    "types of numbers": lambda x, y, i, b, w, v, u: (
        x.to(torch.float64),
        x.double(),
        i.float(),
        x.to(y),
        x.to("cpu", torch.float32),
    ),
    # complex numbers
    "complex numbers": lambda x, y, i, b, w, v, u: (
        torch.view_as_complex(x.view(3, 2, 2)),
        torch.view_as_real(torch.complex(x, y)),
        torch.complex(x, y).real,
        torch.complex(x, y).imag,
        torch.complex(x, y).angle(),
        torch.complex(x, y).conj() * 2,
        torch.complex(x, y).conj().resolve_conj(),
    ),
    "stft": lambda x, y, i, b, w, v, u: torch.stft(
        x.flatten(), 4, window=torch.ones(4), return_complex=True
    ),
}

TRAINED = """
    linear bilinear matmul mm mv addmm einsum turned _weight_norm norm_except_dim conv1d
    conv1d_same conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc
    embedding embedding_bag layer_norm group_norm instance_norm batch_norm rms_norm prelu
    lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_cells index parts_of_a_parameter
"""
"""Those that use parameters."""

DRAWN: dict[str, Sample] = {
    "dropout": lambda x, y, i, b, w, v, u: F.dropout(x.detach() * 0 + 1),
    "alpha_dropout": lambda x, y, i, b, w, v, u: F.alpha_dropout(
        x * 0 + 1, training=True
    ),
    "feature_dropout": lambda x, y, i, b, w, v, u: F.dropout2d(
        (x * 0 + 1).view(1, 12, 1, 1)
    ),
    "feature_alpha_dropout": lambda x, y, i, b, w, v, u: F.feature_alpha_dropout(
        (x * 0 + 1).view(1, 12, 1), training=True
    ),
    "bernoulli": lambda x, y, i, b, w, v, u: torch.bernoulli(x * 0 + 0.5),
    "rand": lambda x, y, i, b, w, v, u: torch.rand(3, 4),
    "rand_like": lambda x, y, i, b, w, v, u: torch.rand_like(x),
    "randn": lambda x, y, i, b, w, v, u: torch.randn(3, 4),
    "randn_like": lambda x, y, i, b, w, v, u: torch.randn_like(x),
    "randint": lambda x, y, i, b, w, v, u: torch.randint(0, 1000, (12,)),
    "randint_like": lambda x, y, i, b, w, v, u: torch.randint_like(x, 1000),
    "randperm": lambda x, y, i, b, w, v, u: torch.randperm(20),
    "normal": lambda x, y, i, b, w, v, u: torch.normal(torch.zeros(12), torch.ones(12)),
    "normal_": lambda x, y, i, b, w, v, u: torch.zeros(3, 4).normal_(),
    "uniform": lambda x, y, i, b, w, v, u: torch.zeros(3, 4).uniform_(),
    "exponential": lambda x, y, i, b, w, v, u: (x * 0).exponential_(),
    "cauchy": lambda x, y, i, b, w, v, u: torch.zeros(3, 4).cauchy_(),
    "log_normal": lambda x, y, i, b, w, v, u: torch.zeros(3, 4).log_normal_(),
    "geometric": lambda x, y, i, b, w, v, u: torch.zeros(3, 4).geometric_(0.01),
    "multinomial": lambda x, y, i, b, w, v, u: torch.multinomial(
        torch.ones(50), 20, replacement=True
    ),
    "multinomial of rows": lambda x, y, i, b, w, v, u: torch.multinomial(
        (x * 0 + 1).flatten(), 8
    ),
    "attention": lambda x, y, i, b, w, v, u: F.scaled_dot_product_attention(
        x[None, None] * 0, x[None, None] * 0, x[None, None] * 0 + 1, dropout_p=0.5
    ),
}
"""They draw the same law for all rows, whatever the finite values."""


def _into(write: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> Sample:
    """What is written into a copy, and into memory that rows share at first."""

    def sample(x: Tensor, y: Tensor, i: Tensor, b: Tensor, *_: Tensor) -> Any:
        own, shared = x.clone(), torch.ones(3, 4)
        write(own, y, i, b)
        write(shared, y, i, b)
        return own, shared

    return sample


WRITTEN: dict[str, Sample] = {
    "add_": _into(lambda t, y, i, b: t.add_(y)),
    "add_ to a view": _into(lambda t, y, i, b: t[1:, ::2].add_(y[0, :2])),
    "add_ to a line": _into(lambda t, y, i, b: t[1].add_(y[0, 0])),
    "mul_": _into(lambda t, y, i, b: t.T.mul_(y.T)),
    "copy_": _into(lambda t, y, i, b: t.copy_(y[0])),
    "copy_ to a view": _into(lambda t, y, i, b: t.view(4, 3)[0].copy_(y[:, 0])),
    "fill_": _into(lambda t, y, i, b: t[0].fill_(y[0, 0])),
    "zero_": _into(lambda t, y, i, b: t[:, 1].zero_().add_(y[:, 1])),
    "masked_fill_": _into(lambda t, y, i, b: t.masked_fill_(b, 7.0)),
    "masked_fill_ of a row": _into(lambda t, y, i, b: t[0].masked_fill_(b[1], y[0, 0])),
    "index_put_": _into(lambda t, y, i, b: t.index_put_((i, i), y[0])),
    "index_put_ added": _into(
        lambda t, y, i, b: t.index_put_((i,), y[0], accumulate=True)
    ),
    "set by a mask": _into(lambda t, y, i, b: t.__setitem__(b, 3.0)),
    "set by a line's mask": _into(lambda t, y, i, b: t.__setitem__(b[:, 0], y[0, 0])),
    "set by places": _into(lambda t, y, i, b: t.__setitem__((0, i), y[0])),
    "set by a slice": _into(lambda t, y, i, b: t.__setitem__(slice(1, 3), y[:2])),
    "scatter_": _into(lambda t, y, i, b: t.scatter_(0, i[None], y[:1])),
    "scatter_add_": _into(lambda t, y, i, b: t.scatter_add_(0, i[None], y[:1])),
    "index_add_": _into(lambda t, y, i, b: t.index_add_(1, i[:3], y[:, :3])),
    "clamp_": _into(lambda t, y, i, b: t.clamp_(max=y)),
    "relu_": _into(lambda t, y, i, b: t.sub_(y).relu_()),
    "exp_": _into(lambda t, y, i, b: t.copy_(y).exp_()),
    "unsqueeze_": _into(lambda t, y, i, b: t.unsqueeze_(0).add_(y)),
    "transpose_": _into(lambda t, y, i, b: t.transpose_(0, 1).add_(y.T)),
    "a view of a view": _into(
        lambda t, y, i, b: t[1:].T[1:3].diagonal().add_(y[0, :2])
    ),
    "twice": _into(lambda t, y, i, b: (t[0].add_(t[1]), t[1].mul_(y[0]))),
}
"""They write into their first argument."""

PLACED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "gather": lambda x, i: x.gather(0, i[None]),
    "take": lambda x, i: x.take(i),
    "take_along_dim": lambda x, i: x.take_along_dim(i[None], 0),
    "index": lambda x, i: x[i],
    "two places": lambda x, i: x[i, i],
    "index_select": lambda x, i: x.index_select(0, i),
    "scatter": lambda x, i: x.scatter(0, i[None], 5.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i[None], torch.ones(1, 4)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(
        0, i[None], torch.ones(1, 4), "prod"
    ),
    "index_put": lambda x, i: x.index_put((i,), torch.tensor(1.0)),
    "index_add": lambda x, i: x.index_add(0, i, torch.ones(4, 4)),
    "index_copy": lambda x, i: x.index_copy(0, i, torch.ones(4, 4)),
    "index_fill": lambda x, i: x.index_fill(0, i, 7.0),
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding of all": lambda x, i: F.embedding(i, torch.ones(3, 4)) * x[:1],
    "embedding_bag": lambda x, i: F.embedding_bag(i[None], x),
    "one_hot": lambda x, i: F.one_hot(i, 3),
    "cross_entropy": lambda x, i: F.cross_entropy(x, i[:3]),
    "cross_entropy of each": lambda x, i: F.cross_entropy(x, i[:3], reduction="none"),
    "nll_loss": lambda x, i: F.nll_loss(x, i[:3]),
    "multi_margin_loss": lambda x, i: F.multi_margin_loss(x, i[:3]),
    "multilabel_margin_loss": lambda x, i: F.multilabel_margin_loss(x[0], i),
    "max_unpool2d": lambda x, i: F.max_unpool2d(
        x[None, :1, :1, None], i[None, :1, None, None], 2
    ),
}
"""Those that go by places that are data."""
