"""The graph of one traced row, run for all rows of a part at once."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.gradients.batched import called
from dither.learn.gradients.operations import LISTED, name_of
from dither.learn.gradients.recorder import Part, Recorder
from dither.learn.gradients.rowed import Context, Rowed
from dither.learn.gradients.untraceable import DECIDES, Untraceable

__all__ = ["Program"]

ENTER: Any = torch.amp.autocast_mode._enter_autocast
EXIT: Any = torch.amp.autocast_mode._exit_autocast
SWITCHES = (torch._C._set_grad_enabled, ENTER, EXIT)
"""Nodes of a graph that are not operations: they switch gradients and autocast."""
BLANK = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
"""Memory that nobody has written to holds old values, so it is filled with zeros."""


@dataclass(frozen=True)
class Step:
    """One operation, and the values that nobody needs after it."""

    name: str
    target: Any
    args: Any
    words: Any
    spread: bool
    over: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """The operations of a model and its loss for one row, computed for all rows.

    Guarantee: what a row gives depends on no other row.
    Why: the graph was traced for one row, so each of its operations is one of that row
    alone, and all are listed: none decides by values, keeps anything, or calls anybody's
    code. Each is called as PyTorch's `vmap` batches it, or by a rule that gives the same
    (docs/proofs/training.md).
    Assumes: the batching rules of PyTorch for the listed operations.
    """

    steps: Sequence[Step]
    inputs: Sequence[str]
    held: Mapping[str, Tensor]
    """Tensors that all rows share; `trained` has the identities of parameters."""
    trained: frozenset[int]
    outputs: Any

    @classmethod
    def of(cls, graph: fx.GraphModule, trained: Iterable[Tensor]) -> Program:
        """Refuses what a program may not hold."""
        learned = frozenset(map(id, trained))
        held = dict(_held(graph))
        nodes = [one for one in graph.graph.nodes if one.op == "call_function"]
        for one in nodes:
            _check(one)
        inputs = [one.name for one in graph.graph.nodes if one.op == "placeholder"]
        (last,) = (one for one in graph.graph.nodes if one.op == "output")
        spread = _spread(graph, learned, held)
        if spread & held.keys():
            raise Untraceable("a model that writes into what it holds")
        steps = list(_steps(_live(nodes, last), spread, last))
        return cls(steps, inputs, held, learned, last.args[0])

    def run(
        self, rows: Sequence[Tensor], count: int, recorder: Recorder | None = None
    ) -> Any:
        """The outputs, for the inputs' leaves: [rows, …] each."""
        context = Context(count, recorder)
        values: dict[str, Any] = {
            name: Rowed(one.unsqueeze(1))
            for name, one in zip(self.inputs, rows, strict=True)
        }
        for name, one in self.held.items():
            values[name] = Part(one) if id(one) in self.trained else one
        before, entered = torch.is_grad_enabled(), []
        try:
            for step in self.steps:
                args, words = map_arg((step.args, step.words), lambda n: values[n.name])
                found = values[step.name] = _result(context, step, args, words)
                if step.target is ENTER:
                    entered.append(found)
                elif step.target is EXIT:
                    entered.remove(args[0])
                for name in step.over:
                    del values[name]
        finally:  # an operation may fail for some record, and others must not notice
            torch._C._set_grad_enabled(before)
            for one in reversed(entered):
                EXIT(one)
        found = map_arg(self.outputs, lambda one: values[one.name])
        return tree_map(lambda one: _given_back(context, one), found)


def _result(context: Context, step: Step, args: Any, words: Any) -> Any:
    if step.target in PLAIN:
        return step.target(*args, **words)
    found = called(context, step.target, args, words)
    if step.spread:
        return tree_map(lambda one: Rowed(context.rows(one).values.clone()), found)
    return found


def _given_back(context: Context, value: Any) -> Any:
    return (
        context.rows(value).values
        if isinstance(value, (Rowed, Part, Tensor))
        else value
    )


PLAIN = (*SWITCHES, operator.getitem)


def _held(graph: fx.GraphModule) -> Iterator[tuple[str, Tensor]]:
    for one in graph.graph.nodes:
        if one.op == "get_attr":
            found: Any = graph
            for name in str(one.target).split("."):
                found = getattr(found, name)
            yield one.name, found


def _check(node: fx.Node) -> None:
    if node.target in PLAIN:
        return
    found = tree_leaves(node.meta.get("val"))
    sizes = [size for one in found if isinstance(one, Tensor) for size in one.shape]
    free = any(isinstance(size, torch.SymInt) for size in (*found, *sizes))
    tags = getattr(node.target, "tags", ())
    if free or torch.Tag.data_dependent_output in tags:
        raise Untraceable(DECIDES)
    if node.kwargs.get("generator") is not None:
        raise ArgumentError(
            "model",
            "the model draws from a generator with its own seed, but random masks must be "
            "secret; leave generator= out",
        )
    if name_of(node.target) not in LISTED:
        raise Untraceable(f"the operation {node.target}")


def _live(nodes: Sequence[fx.Node], last: fx.Node) -> list[fx.Node]:
    """The nodes that the outputs need, and all that write."""
    needed = set(last.all_input_nodes)
    found = []
    for one in reversed(nodes):
        if one in needed or one.target in SWITCHES or _writes(one):
            needed.update(one.all_input_nodes)
            found.append(one)
    return found[::-1]


def _steps(nodes: Sequence[fx.Node], spread: set[str], last: fx.Node) -> Iterator[Step]:
    final: dict[fx.Node, fx.Node] = {}
    for node in nodes:
        for one in (node, *node.all_input_nodes):
            final[one] = node
    for one in last.all_input_nodes:
        final.pop(one, None)
    over: dict[fx.Node, list[str]] = {}
    for one, node in final.items():
        over.setdefault(node, []).append(one.name)
    for node in nodes:
        yield Step(
            node.name,
            _blank(node),
            node.args,
            _words(node),
            node.name in spread,
            tuple(over.get(node, ())),
        )


def _blank(node: fx.Node) -> Any:
    name = BLANK.get(name_of(node.target))
    return node.target if name is None else getattr(torch.ops.aten, name).default


def _words(node: fx.Node) -> dict[str, Any]:
    words = dict(node.kwargs)
    if name_of(node.target) in BLANK:
        words.pop("memory_format", None)
    return words


def _writes(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _written(node: fx.Node) -> Iterator[fx.Node]:
    """The values that an operation writes to."""
    if not _writes(node):
        return
    arguments = node.target._schema.arguments  # type: ignore[union-attr]
    given = {one.name: value for one, value in zip(arguments, node.args, strict=False)}
    given |= node.kwargs
    for one in arguments:
        if one.alias_info is not None and one.alias_info.is_write:
            yield from (
                n for n in tree_leaves(given.get(one.name)) if isinstance(n, fx.Node)
            )


def _memory(node: fx.Node) -> set[int]:
    """The memory that a value lies in."""
    found = tree_leaves(node.meta.get("val"))
    return {one.untyped_storage()._cdata for one in found if isinstance(one, Tensor)}


def _spread(
    graph: fx.GraphModule, trained: frozenset[int], held: Mapping[str, Tensor]
) -> set[str]:
    """Values that rows share, and that a row's values are written into: each row gets
    its own from the start. Also tensors that the model holds, if it writes to them.
    """
    nodes = [one for one in graph.graph.nodes if one.op != "output"]
    spread: set[str] = set()
    while True:
        rowed: set[fx.Node] = set()
        more = set()
        for node in nodes:
            own = node.op == "placeholder" or node.name in spread
            own = own or (node.name in held and id(held[node.name]) in trained)
            own = own or any(one in rowed for one in node.all_input_nodes)
            draws = torch.Tag.nondeterministic_seeded in getattr(
                node.target, "tags", ()
            )
            if own or draws:
                rowed.add(node)
            for one in _written(node):
                first = _first(nodes, one)
                if first.name in held or (node in rowed and first not in rowed):
                    more.add(first.name)
        if more <= spread:
            return spread
        spread |= more


def _first(nodes: Sequence[fx.Node], written: fx.Node) -> fx.Node:
    """The node that a value's memory comes from."""
    memory = _memory(written)
    return next((one for one in nodes if _memory(one) & memory), written)
