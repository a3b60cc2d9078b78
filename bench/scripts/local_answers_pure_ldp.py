"""What a user of pure-ldp does for distributions, tables and new words. Its values count
from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

oracles: Any = import_module("pure_ldp.frequency_oracles")
hitters: Any = import_module("pure_ldp.heavy_hitters")

ROWS, COLUMNS = 128, 1024


def histogram(values: list[int], items: int, epsilon: float) -> list[float]:
    """The share of each value, by optimized unary encoding."""
    client = oracles.UEClient(epsilon, items, use_oue=True)
    server = oracles.UEServer(epsilon, items, use_oue=True)
    for value in values:
        server.aggregate(client.privatise(value + 1))
    found = server.estimate_all(range(1, items + 1), suppress_warnings=True)
    return [float(count) / len(values) for count in found]


def tables(
    columns: list[list[int]], items: list[int], epsilon: float
) -> list[list[float]]:
    """A table for each pair, all from every device, so that each has a part of ε."""
    each = epsilon / len(columns)
    return [
        histogram(values, size, each)
        for values, size in zip(columns, items, strict=True)
    ]


def words(
    values: list[str], alphabet: str, longest: int, epsilon: float, most: int, way: str
) -> dict[str, float]:
    """The most frequent words, over a count-mean sketch."""
    server_oracle = oracles.CMSServer(epsilon, ROWS, COLUMNS)
    functions = server_oracle.get_hash_funcs()
    client_oracle = oracles.CMSClient(epsilon, functions, COLUMNS)
    letters = list(alphabet)
    more = {"alphabet": letters, "index_mapper": lambda text: text}
    if way == "PEM":
        client = hitters.PEMClient(
            epsilon, 0, longest, 2, fo_client=client_oracle, **more
        )
        server = hitters.PEMServer(
            epsilon, 0, longest, 2, fo_server=server_oracle, **more
        )
    else:
        client = hitters.TreeHistClient(
            epsilon, 2, longest, fo_client=client_oracle, **more
        )
        server = hitters.TreeHistServer(
            epsilon, longest, 2, fo_server=server_oracle, **more
        )
    for value in values:
        server.aggregate(client.privatise(value))
    names, counts = server.find_heavy_hitters(k=most)
    shares = [float(count) / len(values) for count in counts]
    return dict(zip(names, shares, strict=True))


ASKED: dict[str, Callable[..., Any]] = {
    "histogram": histogram,
    "tables": tables,
    "words": words,
}


def answer(ask: str, **request: Any) -> Any:
    return ASKED[ask](**request)


serve(answer)
