"""A model and its loss as a graph, by what they do with one made-up row (rule R25)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.autograd.function import BackwardCFunction
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from dither.learn.draws import Draws
from dither.learn.eager import eagerly, undisturbed
from dither.learn.failures import FAILED, is_machine, words_of
from dither.learn.gradients.losses import Loss, row_loss
from dither.learn.gradients.operations import name_of
from dither.learn.gradients.program import ENTER, Program
from dither.learn.gradients.untraceable import DECIDES, Untraceable
from dither.learn.silence import silently

__all__ = ["Inputs", "called", "operations_of", "traced"]

Inputs = Any
"""A tensor, a tuple of a model's arguments, or a dict of its named arguments; the first
axis of each tensor is rows."""


def called(model: Callable[..., Any], inputs: Inputs) -> Any:
    """The output of a model for inputs of any of these kinds."""
    with _Grids():
        if isinstance(inputs, tuple):
            return model(*inputs)
        return model(**inputs) if isinstance(inputs, dict) else model(inputs)


class _Grids(TorchFunctionMode):
    """Keeps places where images are sampled within reach: on a CPU, PyTorch's code reads
    outside of its memory for places that are not numbers or very far away.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        words = dict(kwargs or {})
        if func in SAMPLERS:
            if len(args) > 1:
                args = (args[0], _near(args[1]), *args[2:])
            else:
                words["grid"] = _near(words["grid"])
        return func(*args, **words)


SAMPLERS = (functional.grid_sample, torch.grid_sampler)
FAR = 1e4
"""In halves of an image."""


def _near(grid: Tensor) -> Tensor:
    return grid.nan_to_num(FAR, FAR, -FAR).clamp(-FAR, FAR)


def traced(model: nn.Module, loss: Loss | None, example: Any) -> Program:
    """The program of a model for an example of one row: of its outputs for inputs, or of
    the `loss` for inputs and targets.
    """
    leaves, shape = tree_flatten(example)

    def one(*given: Tensor) -> Any:
        row = tree_unflatten(list(given), shape)
        with _Watch():
            if loss is None:
                found = called(model, row)
            else:
                inputs, targets = row
                found = row_loss(loss, called(model, inputs), targets)
        _check_plain(found)
        return found

    learned = [each for each in model.parameters() if each.requires_grad]
    return Program.of(_graph(one, leaves), learned)


def operations_of(
    function: Callable[..., Tensor], given: Sequence[Tensor]
) -> fx.GraphModule:
    """The operations of a function of these tensors, as a graph without its
    code; all of them are listed.
    """

    def watched(*values: Tensor) -> Tensor:
        with _Watch():
            found = function(*values)
        _check_plain(found)
        return found

    graph = _graph(watched, given)
    Program.of(graph, ())
    for node in list(graph.graph.nodes):
        _make_safe(graph, node)
    graph.recompile()
    return graph


def _make_safe(graph: fx.GraphModule, node: fx.Node) -> None:
    """Refuse what `vmap` gets wrong (a program has rules for it), and keep places in a table
    within it: `vmap` joins the tables of all clients.
    """
    name = name_of(node.target)
    if name in MISTAKEN or node.target is ENTER:
        raise Untraceable(f"the operation {node.target}")
    if name == "embedding":
        table, places = node.args[:2]
        assert isinstance(table, fx.Node)
        top = table.meta["val"].shape[0] - 1
        with graph.graph.inserting_before(node):
            clamp = torch.ops.aten.clamp.default
            near = graph.graph.call_function(clamp, (places, 0, top))
        node.update_arg(1, near)


MISTAKEN = frozenset(
    [
        "embedding_bag",
        "floor_divide",
        "fmod",
        "index_fill",
        "linspace",
        "logspace",
        "lstm",
        "prod",
        "remainder",
    ]
)


def _graph(function: Callable[..., Any], given: Sequence[Tensor]) -> fx.GraphModule:
    before = Draws.now(given[0].device)
    try:
        with _plainly(), undisturbed(given[0].device):
            graph = make_fx(
                function,
                tracing_mode="fake",
                pre_dispatch=True,
                _allow_non_fake_inputs=True,
            )(*given)
    except FAILED as error:  # whatever a model of somebody's own raises
        if is_machine(error):
            raise
        raise Untraceable(_reason(error)) from None
    if before.moved_elsewhere:
        raise Untraceable("a model that draws by Python or NumPy")
    return graph


class _Watch(TorchFunctionMode):
    """Refuses hooks on tensors: they are in no trace."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in HOOKS:
            raise Untraceable("a hook on a tensor")
        return func(*args, **(kwargs or {}))


HOOKS = (Tensor.register_hook, Tensor.register_post_accumulate_grad_hook)


def _check_plain(found: Any) -> None:
    """Refuse an autograd function of somebody's own: its way back is in no trace."""
    leaves = [one for one in tree_leaves(found) if isinstance(one, Tensor)]
    ahead = [one.grad_fn for one in leaves if one.grad_fn is not None]
    seen = set(ahead)
    while ahead:
        node = ahead.pop()
        if isinstance(node, BackwardCFunction):
            name = type(node).__name__.removesuffix("Backward")
            raise Untraceable(f"the autograd function {name}")
        before = {one for one, _ in node.next_functions if one is not None} - seen
        seen |= before
        ahead += before


def _reason(error: BaseException) -> str:
    if isinstance(error, Untraceable):
        return str(error)
    words = words_of(error)
    # A number that was read from a row stands where a size is expected.
    by_size = isinstance(error, TypeError) and "FakeTensor" in words
    return DECIDES if by_size or isinstance(error, DATA) else words


DATA = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
)


@contextmanager
def _plainly() -> Iterator[None]:
    """Switch off all that would hide operations, and autocast, which is on again when the
    program runs.
    """
    with ExitStack() as all_of_it:
        all_of_it.enter_context(silently())
        all_of_it.enter_context(torch.enable_grad())
        all_of_it.enter_context(eagerly())
        for kind in ("cpu", "cuda"):
            all_of_it.enter_context(torch.autocast(kind, enabled=False))
        yield
