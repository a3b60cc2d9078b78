"""Gradients are computed in full precision, whatever the caller has switched on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from dither.learn import train
from tests.learn.data import model, owned, records

BACKENDS: Any = torch.backends


def switches() -> list[str]:
    places = (BACKENDS.cuda.matmul, BACKENDS.cudnn.conv, BACKENDS.mkldnn.matmul)
    return [one.fp32_precision for one in places]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    BACKENDS.cuda.matmul.fp32_precision = "none"
    BACKENDS.mkldnn.matmul.fp32_precision = "none"
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True
    BACKENDS.cuda.matmul.fp32_precision = "none"
    BACKENDS.mkldnn.matmul.fp32_precision = "none"


@pytest.mark.parametrize("way", ["high", "medium", "later"])
def test_products_are_in_full_precision(way: str) -> None:
    if way == "later":
        BACKENDS.cuda.matmul.fp32_precision = "tf32"
    else:
        torch.set_float32_matmul_precision(way)
    before, seen = switches(), []
    train(
        model(), records(), **owned(callbacks=[lambda _: seen.append(set(switches()))])
    )
    assert seen
    assert all(one == {"ieee"} for one in seen)
    assert switches() == before
    if way != "later":
        assert torch.get_float32_matmul_precision() == way
