"""Whether kernels of our own can run where tensors are. Without them PyTorch's own do the
same, more slowly.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

__all__ = ["runs"]


def runs(*tensors: Tensor) -> bool:
    """Whether all of them are on a GPU for which Triton can compile."""
    return all(one.is_cuda for one in tensors) and _compiles(tensors[0].device)


@cache
def _compiles(device: torch.device) -> bool:
    """Tried once: Triton may be missing, or the compiler that it needs."""
    try:
        from dither.learn.kernels.sums import squares

        return bool(squares(torch.ones(1, 2, device=device), (0, 2))[0, 0] > 1)
    except Exception:
        return False
