"""The kernel gives the reference's words bit by bit, its normals, and none twice."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dither.learn.gaussian import OnGpu
from tests.chance import chance
from tests.learn.kernels import reference
from tests.learn.kernels.test_reference import VECTORS
from tests.learn.kernels.where import DEVICE

pytest.importorskip("triton", reason="needs a GPU: Triton comes with PyTorch for GPUs")
from dither.learn.kernels import chacha

EACH = chacha.LANES * chacha.NORMALS


def words(key: bytes, first: int, tail: bytes = bytes(8)) -> Any:
    state = torch.frombuffer(bytearray(key + tail), dtype=torch.int32).to(DEVICE)
    begin = torch.tensor([first], device=DEVICE)
    out = torch.zeros(16, 16, dtype=torch.int32, device=DEVICE)
    chacha.blocks[(1,)](state, begin, out, LANES=16)
    return out.cpu().numpy().view(np.uint32)


@pytest.mark.parametrize("number", range(len(VECTORS)))
def test_vectors(number: int) -> None:
    key, counter, tail, wanted = VECTORS[number]
    found = words(bytes.fromhex(key), counter, bytes.fromhex(tail))
    assert found[:, 0].tobytes().hex() == wanted


@pytest.mark.parametrize("first", [0, 2**32 - 8, 2**62])
def test_words_are_the_reference_s(first: int) -> None:
    key = bytes(range(7, 39))
    numbers = np.arange(first, first + 16, dtype=np.uint64)
    assert np.array_equal(words(key, first), reference.blocks(key, numbers))


def drawn(noise: OnGpu, programs: int) -> Any:
    """What so many programs draw, sorted by the number that each of them took."""
    values = torch.zeros(programs * EACH, device=DEVICE)
    before = int(noise._counter)
    noise.add([values], 1.0)
    numbers = np.arange(before, int(noise._counter), dtype=np.uint64)
    key = noise._state[:8].cpu().numpy().tobytes()
    wanted = reference.normals(reference.blocks(key, numbers))
    wanted = wanted.reshape(10, programs, -1).transpose(1, 0, 2).reshape(programs, -1)
    found = values.cpu().numpy().reshape(programs, -1)
    return found[np.argsort(found[:, 0])], wanted[np.argsort(wanted[:, 0])]


def test_normals_are_the_reference_s_and_launches_go_on_counting() -> None:
    noise = OnGpu(DEVICE)
    for programs in (2, 1):
        found, wanted = drawn(noise, programs)
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)
    assert int(noise._counter) == 3 * chacha.LANES


@chance(5e-9)
def test_noise_is_added_in_place_and_nowhere_else() -> None:
    whole = torch.full((4000,), 3.0, device=DEVICE)
    sizes = [1, 2561, 0, 700]
    parts, start = [], 10
    for size in sizes:
        parts.append(whole[start : start + size])
        start += size + 10
    OnGpu(DEVICE).add(parts, 0.5, 2.0)
    touched = torch.cat(parts)
    assert int((whole == 3).sum()) == 4000 - sum(sizes)
    assert abs(float(touched.mean()) - 1.5) < 6.2 * 0.25 / sum(sizes) ** 0.5
    assert abs(float(touched.std()) / 0.25 - 1) < 6.2 / (2 * sum(sizes)) ** 0.5


@chance(1e-20)
def test_keys_differ_and_stay() -> None:
    one, two = OnGpu(DEVICE), OnGpu(DEVICE)
    assert not torch.equal(one._state, two._state)
    assert int((one._state[:8] != 0).sum()) > 4
    for taken in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            taken(one)


def test_the_deviation_is_not_rounded_down() -> None:
    values: Tensor = torch.zeros(EACH, device=DEVICE)
    noise = OnGpu(DEVICE)
    noise.add([values], 0.1)
    key = noise._state[:8].cpu().numpy().tobytes()
    plain = reference.normals(
        reference.blocks(key, np.arange(chacha.LANES, dtype=np.uint64))
    )
    ratio = values.cpu().double().numpy() / plain.reshape(-1).astype(np.float64)
    assert np.median(ratio) >= 0.1
    assert np.median(ratio) == pytest.approx(0.1)
