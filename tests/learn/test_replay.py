"""What becomes of a part that cannot be captured. Captures themselves are tested on a GPU,
in tests/learn/kernels.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch

from dither import Budget
from dither.errors import ArgumentError
from dither.learn import preview, replay, train
from dither.learn.failures import is_shortage
from dither.learn.replay import Replayed
from tests.learn.data import model, owned, records

NO_MEMORY = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
CAPTURING = RuntimeError("CUDA error: operation not permitted when stream is capturing")
INVALID = RuntimeError("CUDA error: operation failed due to a previous error")
INVALID.__context__ = NO_MEMORY


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Parts with more rows than `most` raise an error where a GPU would capture them;
    smaller ones are launched as usual.
    """

    def given(most: int, error: BaseException) -> None:
        def tried(*given: Any) -> None:
            if len(given[2].there) > most:
                raise error

        monkeypatch.setattr(Replayed, "_tried", tried)

    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    monkeypatch.setattr(torch.cuda, "device", lambda _: nullcontext())
    return given


@pytest.mark.parametrize("error", [NO_MEMORY, INVALID])
def test_parts_are_halved_where_memory_is_short_for_a_graph(
    capturing: Any, error: BaseException
) -> None:
    account = Budget(50.0, 1e-5)
    given = owned(batch=32, budget=account, epochs=1)
    capturing(9, error)
    assert preview(model(), records(), **given).micro == 9
    if error is NO_MEMORY:
        assert train(model(), records(), **given) is not None
        capturing(0, error)  # one row is launched as usual
        assert preview(model(), records(), **given, micro=2).micro == 1


def test_what_cannot_be_captured_is_launched_as_usual(capturing: Any) -> None:
    capturing(0, CAPTURING)
    assert preview(model(), records(), **owned(batch=32)).micro == 18
    assert train(model(), records(), **owned(batch=32)) is not None


def test_errors_that_read_like_a_lack_of_memory() -> None:
    assert all(map(is_shortage, (NO_MEMORY, INVALID, MemoryError())))
    others = (None, CAPTURING, ValueError("out of memory"), ArgumentError("a", "b"))
    assert not any(map(is_shortage, others))
