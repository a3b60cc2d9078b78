"""private-pgm's own MST on a table of codes: saves its rows, and says how long it took.

Its package (mbi) does not ship its mechanisms: PRIVATE_PGM names the folder
`mechanisms` of a checkout of github.com/ryan112358/private-pgm.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partialmethod
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

sys.path.insert(0, os.environ["PRIVATE_PGM"])

numpy: Any = import_module("numpy")
mbi: Any = import_module("mbi")
mst: Any = import_module("mst")

SYNTHETIC = mbi.MarkovRandomField.synthetic_data


def answer(
    path: str, sizes: list[int], epsilon: float, delta: float, save: str, draw: str
) -> float:
    codes = numpy.load(path)
    names = [f"c{place}" for place in range(codes.shape[1])]
    domain = mbi.Domain.fromdict(dict(zip(names, sizes, strict=True)))
    mbi.MarkovRandomField.synthetic_data = partialmethod(SYNTHETIC, method=draw)
    began = time.process_time()
    made = mst.MST(mbi.Dataset(codes, domain), epsilon, delta)
    used = time.process_time() - began
    found = made.df[names].to_numpy()  # its columns come in another order
    numpy.save(save, found.astype("int32"))
    return used


serve(answer)
