from __future__ import annotations

import numpy as np
import pytest

from dither import local
from dither.local import tally as module
from dither.local.wire import Messages


@pytest.mark.parametrize("oracle", ["k-ary response", "local hashing"])
def test_parts_count_like_the_whole(
    monkeypatch: pytest.MonkeyPatch, oracle: str
) -> None:
    """Messages that nobody could have sent are rejected in every part."""
    task = local.task("many", domain=5, epsilon=1, n=1000, oracle=oracle)
    sent = task.randomize(np.arange(100_000) % 5)
    records = sent.records.copy()
    records[::7] = 255
    messages = Messages(sent.header, records)
    whole = task.tally(messages)
    monkeypatch.setattr(module, "TOGETHER", 100)
    parts = task.tally(messages)
    assert (parts.counts == whole.counts).all()
    assert parts.rejected == whole.rejected == {"value": len(records[::7])}
    assert parts.messages == whole.messages == parts.counts.sum()
