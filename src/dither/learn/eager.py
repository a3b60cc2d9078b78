"""Models run by their own Python code: nothing compiled, no checkpoints of activations,
and no fused layers.

All of these compute the same and hide it: a compiled function is not traced, a checkpoint
computes its part a second time in the backward pass, and PyTorch's fused transformer
layers pack the rows of a batch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.utils.checkpoint import CheckpointFunction

__all__ = ["eagerly", "undisturbed"]


@contextmanager
def eagerly() -> Iterator[None]:
    with ExitStack() as all_of_it:
        # It takes a second to load, and `torch.compile` loads it.
        dynamo: Any = sys.modules.get("torch._dynamo")
        if dynamo is not None:
            all_of_it.enter_context(torch.compiler.set_stance("force_eager"))
            settings = dynamo.config.patch(error_on_nested_fx_trace=False)
            all_of_it.enter_context(settings)
        all_of_it.enter_context(_without_checkpoints())
        all_of_it.enter_context(_without_fused_layers())
        yield


@contextmanager
def undisturbed(device: torch.device) -> Iterator[None]:
    """Put back PyTorch's modes: code that fails half way may leave them changed."""
    kind, default = device.type, torch.get_default_dtype()
    automatic = torch.autocast(
        kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)
    )
    with automatic, torch.set_grad_enabled(torch.is_grad_enabled()):
        try:
            yield
        finally:
            torch.set_default_dtype(default)


@contextmanager
def _without_checkpoints() -> Iterator[None]:
    """Functional checkpoints (`use_reentrant=False`) need no help: they are traced."""
    before = CheckpointFunction.__dict__.get("apply")
    CheckpointFunction.apply = classmethod(_run)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        if before is None:
            del CheckpointFunction.apply
        else:
            CheckpointFunction.apply = before  # type: ignore[method-assign]


@contextmanager
def _without_fused_layers() -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _run(_: Any, function: Callable[..., Any], __: bool, *args: Any) -> Any:
    return function(*args)
