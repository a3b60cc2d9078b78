"""Oracles of pure-ldp. Its values count from 1."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.local_loop import Side, measure
from bench.scripts.loop import serve

oracles: Any = import_module("pure_ldp.frequency_oracles")

ROWS, COLUMNS, POOL = 128, 1024, 1024


def side(client: Any, server: Any, items: int) -> Side:
    wanted = range(1, items + 1)
    return Side(
        lambda item: client.privatise(item + 1),
        server.aggregate,
        lambda _: server.estimate_all(wanted, suppress_warnings=True),
    )


def response(items: int, epsilon: float) -> Side:
    return side(
        oracles.DEClient(epsilon, items), oracles.DEServer(epsilon, items), items
    )


def unary(items: int, epsilon: float) -> Side:
    client = oracles.UEClient(epsilon, items, use_oue=True)
    return side(client, oracles.UEServer(epsilon, items, use_oue=True), items)


def hashing(items: int, epsilon: float) -> Side:
    client = oracles.LHClient(epsilon, items, use_olh=True)
    return side(client, oracles.LHServer(epsilon, items, use_olh=True), items)


def fast_hashing(items: int, epsilon: float) -> Side:
    client = oracles.FastLHClient(epsilon, items, POOL, use_olh=True)
    server = oracles.FastLHServer(epsilon, items, POOL, use_olh=True)
    return side(client, server, items)


def hadamard(items: int, epsilon: float) -> Side:
    server = oracles.HadamardResponseServer(epsilon, items)
    client = oracles.HadamardResponseClient(epsilon, items, server.get_hash_funcs())
    return side(client, server, items)


def sketch(items: int, epsilon: float, *, transformed: bool) -> Side:
    server = oracles.CMSServer(epsilon, ROWS, COLUMNS, is_hadamard=transformed)
    functions = server.get_hash_funcs()
    client = oracles.CMSClient(epsilon, functions, COLUMNS, is_hadamard=transformed)
    return side(client, server, items)


ORACLES: dict[str, Callable[[int, float], Side]] = {
    "k-ary response": response,
    "optimized unary": unary,
    "local hashing": hashing,
    "fast local hashing": fast_hashing,
    "Hadamard response": hadamard,
    "Hadamard sketch": lambda items, epsilon: sketch(items, epsilon, transformed=True),
    "count-mean sketch": lambda items, epsilon: sketch(
        items, epsilon, transformed=False
    ),
}


def answer(oracle: str, items: int, epsilon: float, seconds: float) -> dict[str, float]:
    return measure(ORACLES[oracle](items, epsilon), items, seconds)


serve(answer)
