"""All that is settled before a federated run is charged: what could fail, fails here
(rule R1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.clipping import Adapting
from dither.learn.failures import is_machine, words_of
from dither.learn.federated.clients import Clients, Held, Owned, is_listed, schema_of
from dither.learn.federated.descent import Descent
from dither.learn.federated.planning import federated_plan
from dither.learn.federated.rounds import Ready, Rounds
from dither.learn.federated.servers import server_of
from dither.learn.federated.settings import Settings
from dither.learn.federated.weighing import weight_of
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.oracle import trained
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.made_up import made_up_part
from dither.learn.measuring import tested_on
from dither.learn.names import is_frame
from dither.learn.parts import cleared, half
from dither.learn.planning import Plan
from dither.learn.preparing import check_module, copied, differentiating
from dither.learn.probe import Probed, check_hooks, probe
from dither.learn.records import source_of
from dither.learn.rows import units_of
from dither.learn.run.rehearsal import made_up_units, take_two_steps, undone
from dither.learn.schema import Field, Schema
from dither.learn.source import Read, Source
from dither.learn.state import Held as State
from dither.learn.units import rows_of
from dither.ledger import Account, Receipt

__all__ = ["prepared"]

NUMBERS = 1 << 22
"""Numbers of a block of clients that are held at once: 16 MiB in float32."""
MOST_AT_ONCE = 512
NOTHING = Schema(Field((), torch.float32), Field((), torch.float32))


def prepared(model: Any, clients: Any, settings: Settings) -> Ready:
    """Check everything that is public; nothing is charged, and no client is asked."""
    check_module(model)
    check_hooks(model)
    if not trained(model):
        raise ArgumentError(
            "model",
            "has nothing to train; set requires_grad = True on at least one parameter",
        )
    own, fresh = copied(model), copied(model)
    source, read = _source(clients, settings)
    device = next((one.device for one in model.parameters()), torch.device("cpu"))
    probed = None
    if settings.client is None:
        with differentiating(own):
            probed = probe(own, settings.loss, source.schema, device, source.classes)
    plan = federated_plan(source, settings)
    radius = Adapting.of(settings.clip, own, plan.batch)
    radius.check(max(plan.noises))
    if settings.public is not None and not callable(settings.loss):
        raise ArgumentError(
            "loss",
            "is missing, but it measures public data; pass a function such as "
            "torch.nn.functional.cross_entropy",
        )
    ready = Ready(
        model=own,
        fresh=fresh,
        settings=settings,
        source=source,
        plan=plan,
        radius=radius,
        probed=probed,
        tested=tested_on(settings, own, source, probed),
        device=next(iter(trained(own).values())).device,
        weight=weight_of(settings.weight),
        server=server_of(settings.server).begin(),
        read=read,
        block=_block(settings, plan, own, source.schema),
    )
    return ready if probed is None else _rehearsed(ready, probed)


def _source(
    clients: Any, settings: Settings
) -> tuple[Source, Callable[[Receipt | None], Clients]]:
    """How clients are distinguished and read, by the type of what was passed."""
    table = (settings.inputs, settings.target, settings.owner)
    opened = isinstance(clients, Dataset) or any(one is not None for one in table)
    if settings.client is not None or (is_listed(clients) and not opened):
        return _listed(clients, settings)
    if settings.arrivals is not None:
        raise ArgumentError(
            "arrivals",
            "needs clients that are passed one by one; pass a dict of clients by their "
            "names, or a list of clients",
        )
    if settings.example is not None and is_frame(clients):
        raise ArgumentError(
            "example", "cannot be used with data of this type; leave it out"
        )
    source = source_of(
        clients,
        inputs=settings.inputs,
        target=settings.target,
        owner=settings.owner,
        classes=settings.classes,
        table=settings.table,
        example=settings.example,
    )

    def read(receipt: Receipt | None) -> Clients:
        rows, owners = source.read(receipt)
        return Owned(units_of(rows, owners, rows_of(source, settings.rows)))

    return source, read


def _listed(
    clients: Any, settings: Settings
) -> tuple[Source, Callable[[Receipt | None], Clients]]:
    if not is_listed(clients):
        raise ArgumentError(
            "clients", "must be a dict of clients by their names, or a list of them"
        )
    for name in ("inputs", "target", "owner", "classes", "table"):
        if getattr(settings, name) is not None:
            raise ArgumentError(
                name, "cannot be used with a list or dict of clients; leave it out"
            )
    called = settings.client is not None
    schema = NOTHING if called else schema_of(settings.example)

    def unread(_: Receipt | None) -> Read:
        raise AssertionError("clients are read one by one")

    # Who is protected is the account's unit, where there is one.
    named = None if isinstance(settings.budget, Account) else "client"
    source = Source(schema, unread, owned=True, owner=named)
    rows = rows_of(source, settings.rows)

    def read(_: Receipt | None) -> Clients:
        return Held(clients, None if called else schema, rows)

    return source, read


def _block(settings: Settings, plan: Plan, model: nn.Module, schema: Schema) -> int:
    """Number of clients that compute together: as many as a round usually has, if they
    fit.
    """
    if settings.block is not None:
        return int(settings.block)
    weights = sum(one.numel() for one in trained(model).values())
    fields = [*tree_leaves(schema.inputs), schema.target]
    row: int = sum(math.prod(one.shape) for one in fields)
    held = max(4 * weights + 4 * plan.rows * row, 1)
    span = math.ceil(plan.batch + 2 * math.sqrt(plan.batch))
    fitting = max(1, min(NUMBERS // held, MOST_AT_ONCE))
    return math.ceil(span / math.ceil(span / fitting))


def _rehearsed(ready: Ready, probed: Probed) -> Ready:
    """The run with as many clients at once as fit in memory, or with one after the
    other, if the model cannot train them together.
    """
    settings, rows = ready.settings, ready.plan.rows
    example = made_up_part(ready.source.schema, rows, ready.model).to(ready.device)
    alone = Descent(
        ready.model,
        settings.loss,
        settings.local_steps,
        settings.local_lr,
        rows,
        settings.local_batch,
        example,
    )
    tries = [replace(ready, descent=alone, block=1)]
    if not isinstance(probed.oracle, Alone):
        held = State.of(ready.model)
        with suppress(Untraceable), differentiating(ready.model):
            tries = [replace(ready, descent=alone.together()), *tries]
        held.restore()  # a trace that fails half way may leave tensors of its own
    why = ""
    for one in tries:
        found, why = _fitting(one)
        if found is not None:
            return found
    raise ArgumentError(
        "model",
        f"cannot be trained on {rows:,} rows of a client ({why}); pass a smaller "
        "block=, or use other layers",
    )


def _fitting(ready: Ready) -> tuple[Ready | None, str]:
    """The run in blocks of a size that fits; or None, and why no size does."""
    while True:
        with differentiating(ready.model):
            found, error = undone(ready, partial(_round_twice, ready))
        if error is None:
            return found, ""
        if not is_machine(error) or ready.block == 1:
            return None, words_of(error)
        error = None  # it holds memory
        cleared(ready.device)
        ready = replace(ready, block=half(ready.block))


def _round_twice(ready: Ready) -> Ready:
    """The size of blocks may become smaller on the way."""
    settings, count = ready.settings, ready.block * ready.plan.rows
    assert ready.descent is not None
    block = made_up_part(ready.source.schema, count, ready.model)
    weights = {name: one.detach() for name, one in trained(ready.model).items()}
    own = replace(
        ready,
        settings=replace(settings, arrivals=None),
        server=server_of(settings.server).begin(),
    )
    # What no size of a block can change is seen here.
    ready.descent.changes(weights, block.to(ready.device))
    rounds = Rounds(own, Owned(made_up_units(ready, ready.block + 1)))
    take_two_steps(rounds)
    return replace(ready, block=rounds.ready.block)
