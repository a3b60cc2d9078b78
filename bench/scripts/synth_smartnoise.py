"""smartnoise-synth's MST on a table of codes: saves its rows, and says how long it took."""

from __future__ import annotations

import time
from functools import partialmethod
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

numpy: Any = import_module("numpy")
pandas: Any = import_module("pandas")
snsynth: Any = import_module("snsynth")
models: Any = import_module("mbi").MarkovRandomField

SYNTHETIC = models.synthetic_data


def answer(path: str, epsilon: float, save: str, draw: str = "round") -> float:
    codes = numpy.load(path)
    names = [f"c{place}" for place in range(codes.shape[1])]
    frame = pandas.DataFrame(codes, columns=names)
    models.synthetic_data = partialmethod(SYNTHETIC, method=draw)
    began = time.process_time()
    made = snsynth.Synthesizer.create("mst", epsilon=epsilon)
    found = made.fit_sample(frame, categorical_columns=names, preprocessor_eps=0.0)
    used = time.process_time() - began
    numpy.save(save, found[names].to_numpy().astype("int32"))
    return used


serve(answer)
