"""Kernels run on a GPU where there is one, else in Triton's interpreter on the CPU, which
is chosen before Triton is imported.
"""

from __future__ import annotations

import os

import torch

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
if not ON_GPU:
    os.environ["TRITON_INTERPRET"] = "1"
