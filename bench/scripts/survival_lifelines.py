"""lifelines' data, and what it finds on times that were binned before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

lifelines: Any = import_module("lifelines")
datasets: Any = import_module("lifelines.datasets")
statistics: Any = import_module("lifelines.statistics")
numpy: Any = import_module("numpy")


def rossi() -> tuple[Any, Any, Any]:
    found = datasets.load_rossi()
    return found["week"], found["arrest"], found["fin"]


def waltons() -> tuple[Any, Any, Any]:
    found = datasets.load_waltons()
    return found["T"], found["E"], found["group"]


def answer(name: str, edges: list[float]) -> dict[str, Any]:
    """The people, the curve of each arm at the ends of the bins, and the log-rank test,
    with every time moved to the end of its bin.
    """
    time, event, arm = ({"rossi": rossi, "waltons": waltons}[name])()
    ends = numpy.array(edges[1:])
    place = numpy.searchsorted(ends, time, side="left")
    beyond = place >= len(ends)
    binned = ends[numpy.where(beyond, len(ends) - 1, place)]
    died = numpy.where(beyond, 0, event)
    curves = {}
    for one in sorted(set(arm)):
        fitted = lifelines.KaplanMeierFitter()
        fitted.fit(binned[arm == one], died[arm == one], timeline=ends)
        curves[str(one)] = fitted.survival_function_.iloc[:, 0].loc[ends].tolist()
    whole = lifelines.KaplanMeierFitter().fit(binned, died, timeline=ends)
    test = statistics.multivariate_logrank_test(binned, arm, died)
    return {
        "time": [float(one) for one in time],
        "event": [int(one) for one in event],
        "arm": [str(one) for one in arm],
        "edges": [float(one) for one in edges],
        "curves": curves,
        "everyone": whole.survival_function_.iloc[:, 0].loc[ends].tolist(),
        "logrank": {
            "statistic": float(test.test_statistic),
            "pvalue": float(test.p_value),
        },
        "version": lifelines.__version__,
    }


serve(answer)
