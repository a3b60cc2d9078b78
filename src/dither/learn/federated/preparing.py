"""All that is settled before a federated run is charged: what could fail, fails here
(rule R1).
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.clipping import Adapting
from dither.learn.draws import Draws
from dither.learn.federated.clients import Clients, Held, Owned, is_listed, schema_of
from dither.learn.federated.descent import Descent
from dither.learn.federated.planning import federated_plan
from dither.learn.federated.servers import Stepper, server_of
from dither.learn.federated.settings import Settings
from dither.learn.federated.weighing import Weighted, weight_of
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.oracle import trained
from dither.learn.history import Tested
from dither.learn.made_up import made_up
from dither.learn.measuring import tested_on
from dither.learn.names import is_frame
from dither.learn.planning import Plan
from dither.learn.preparing import differentiating
from dither.learn.probe import Probed, check_hooks, probe
from dither.learn.records import source_of
from dither.learn.rows import Batch, units_of
from dither.learn.schema import Field, Schema, plain
from dither.learn.source import Read, Source
from dither.learn.state import Held as State
from dither.learn.units import rows_of
from dither.ledger import Account, Receipt

__all__ = ["Ready", "prepared"]

NUMBERS = 1 << 22
"""Numbers of a block of clients that are held at once: 16 MiB in float32."""
MOST_AT_ONCE = 512
NOTHING = Schema(Field((), torch.float32), Field((), torch.float32))


@dataclass(frozen=True)
class Ready:
    """A run that can begin. The model is a copy that sees private rows; `fresh` is one
    that never does.
    """

    model: nn.Module
    fresh: nn.Module
    settings: Settings
    source: Source
    plan: Plan
    radius: Adapting
    weight: Weighted
    server: Stepper
    read: Callable[[Receipt | None], Clients]
    block: int
    descent: Descent | None
    probed: Probed | None
    tested: Tested | None
    process: int = field(default_factory=os.getpid)

    @property
    def route(self) -> str:
        if self.descent is None:
            return "by a function, one at a time"
        if not self.descent.together:
            return "one at a time"
        return f"{self.block:,} at a time"

    def deviation(self, noise: float) -> float:
        """Of a round's noise, before it is correlated, where a client's contributions
        together move rounds as far as one of length 1 does.
        """
        return self.radius.deviation(noise) * self.weight.most


def prepared(model: Any, clients: Any, settings: Settings) -> Ready:
    """Check everything that is public; nothing is charged, and no client is asked."""
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise ArgumentError("model", f"must be a torch.nn.Module, not {kind}")
    check_hooks(model)
    own, fresh = _copied(model), _copied(model)
    source, read = _source(clients, settings)
    device = next((one.device for one in model.parameters()), torch.device("cpu"))
    probed = None
    if settings.client is None:
        with differentiating(own):
            probed = probe(own, settings.loss, source.schema, device, source.classes)
    plan = federated_plan(source, settings)
    radius = Adapting.of(settings.clip, own, plan.batch)
    radius.check(max(plan.noises))
    ready = Ready(
        own,
        fresh,
        settings,
        source,
        plan,
        radius,
        weight_of(settings.weight),
        server_of(settings.server).begin(),
        read,
        _block(settings, plan, own, source.schema),
        None,
        probed,
        _tested(settings, own, source, probed),
    )
    return ready if probed is None else _rehearsed(ready, probed, device)


def _copied(model: nn.Module) -> nn.Module:
    if not trained(model):
        raise ArgumentError(
            "model", "has nothing to train; leave requires_grad on for some parameter"
        )
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise ArgumentError(
            "model", f"cannot be copied ({error!s:.200}), and training needs a copy"
        ) from None


def _source(
    clients: Any, settings: Settings
) -> tuple[Source, Callable[[Receipt | None], Clients]]:
    """How clients are told apart and read, by the type of what was passed."""
    table = (settings.inputs, settings.target, settings.owner)
    opened = isinstance(clients, Dataset) or any(one is not None for one in table)
    if settings.client is not None or (is_listed(clients) and not opened):
        return _listed(clients, settings)
    if settings.arrivals is not None:
        raise ArgumentError(
            "arrivals", "names clients; pass them as a dict by their names, or a list"
        )
    if settings.example is not None and is_frame(clients):
        raise ArgumentError("example", "is not for data of this type; leave it out")
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
                name, "is not for clients that are listed one by one; leave it out"
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
    """How many clients compute together: as many as a round usually has, if they fit."""
    if settings.block is not None:
        return int(settings.block)
    weights = sum(one.numel() for one in trained(model).values())
    fields = [*tree_leaves(schema.inputs), schema.target]
    row: int = sum(math.prod(one.shape) for one in fields)
    held = max(4 * weights + 4 * plan.rows * row, 1)
    span = math.ceil(plan.batch + 2 * math.sqrt(plan.batch))
    fitting = max(1, min(NUMBERS // held, MOST_AT_ONCE))
    return math.ceil(span / math.ceil(span / fitting))


def _tested(
    settings: Settings, model: nn.Module, source: Source, probed: Probed | None
) -> Tested | None:
    if settings.public is None:
        return None
    if probed is not None:
        return tested_on(settings, model, source, probed)
    if not callable(settings.loss):
        raise ArgumentError("loss", "is missing: public data is measured by it")
    try:
        inputs, targets = settings.public
        found = Tested(plain(inputs), plain(targets), settings.loss)
        found.measure(model)
    except Exception as error:
        raise ArgumentError(
            "public", f"cannot be tested on ({error!s:.120}); pass (inputs, targets)"
        ) from None
    return found


def _rehearsed(ready: Ready, probed: Probed, device: torch.device) -> Ready:
    """Let a block of made-up clients train, so that what does not fit is known before
    the charge; and find out whether they can do so together.
    """
    settings, rows = ready.settings, ready.plan.rows
    descent = Descent(
        ready.model,
        settings.loss,
        settings.local_steps,
        settings.local_lr,
        rows,
        settings.local_batch,
        together=not isinstance(probed.oracle, Alone),
    )
    alone = replace(descent, together=False)
    ways = [descent, alone] if descent.together else [alone]
    held, draws, why = State.of(ready.model), Draws.now(device), ""
    for way in ways:
        try:
            with differentiating(ready.model):
                size = ready.block if way.together else 1
                block = _made_up(ready, size * rows, device)
                way.changes(trained_weights(ready.model), block)
            return replace(ready, descent=way, block=ready.block if way.together else 1)
        except Exception as error:
            why = f"{error!s:.200}"
        finally:
            held.restore()
            draws.restore()
    raise ArgumentError(
        "model",
        f"cannot be trained on {rows:,} rows of a client ({why}); pass a smaller block= "
        "or other layers",
    )


def trained_weights(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: one.detach() for name, one in trained(model).items()}


def _made_up(ready: Ready, count: int, device: torch.device) -> Batch:
    schema = ready.source.schema
    inputs = made_up(schema, count, ready.model)
    there = torch.ones(count, dtype=torch.bool)
    return Batch(inputs, schema.blank(count)[1], there).to(device)
