"""`train` and `preview`: a model trained by clients that keep their rows, as a release
that protects each client.
"""

from __future__ import annotations

from typing import Any, Unpack

from torch import nn

from dither.by_name import by_name
from dither.learn.federated.planning import Limited
from dither.learn.federated.preparing import prepared
from dither.learn.federated.previewing import Preview
from dither.learn.federated.rounds import Ready, Rounds
from dither.learn.federated.settings import Federated, Settings
from dither.learn.federated.weighing import ALIKE
from dither.learn.gradients.oracle import trained
from dither.learn.history import History
from dither.learn.preparing import differentiating
from dither.learn.release import ModelRelease
from dither.learn.run.cost import price_of
from dither.learn.run.course import read
from dither.learn.run.release import notes_of, released

__all__ = ["preview", "train"]

EXAMPLE = (
    "train(model, clients, loss=loss, rounds=100, cohort=100, units=10_000, rows=20, "
    "example=(torch.zeros(64), 0), epsilon=3)"
)


@by_name(EXAMPLE, Federated)
def train(model: nn.Module, clients: Any, **options: Unpack[Federated]) -> ModelRelease:
    """Train a copy of a model by federated averaging, at an aggregator that is trusted
    with clients' updates and adds the noise. The unit is a client with all its rows.

    `clients` is a dict of pairs (inputs, targets) by clients' names, a list of pairs
    (one that makes them up as it goes needs no memory for all), a pair or a frame with an
    `owner` for each row, or a dataset that `dither.open` returned. Clients that are
    listed one by one need an `example`, a made-up row. Of each client at most `rows` rows
    count; `units` is how many clients there are by public knowledge.

    In each of the `rounds`, each client is drawn with probability `cohort` / `units`. A
    client takes `local_steps` steps of descent at the rate `local_lr` from the current
    weights, on all its rows or on `local_batch` of them in turn; with
    `client`, a function of weights (a dict) and of what a client holds, it does whatever
    that does, and returns its update (a dict of the same names), or an update and its
    size. Updates are clipped to `clip` (a radius, or Flat, PerLayer, Automatic,
    Adaptive), weighted alike or by `weight`, summed, noised, and divided by the declared
    cohort; `server` steps by that: FedAvg or FedAdam. `block` clients compute together.

    Where nobody can promise that clients are drawn, `participation` limits how often one
    takes part, and the noise of rounds is correlated (DP-FTRL): by a `factorization`,
    Banded if not stated. `arrivals` says who comes to a round; without it each client
    comes once in a period, from a round that is drawn for it. Such a run cannot be
    broken off and gone on with: that is a new run, and a new charge.

    State the cost as `epsilon` (at the account's δ, or `delta`), as a `share` of the
    account, or as the `noise` multiplier. `public` data gives the history a loss and an
    accuracy. `callbacks` see public numbers; one that returns True ends the run, which
    saves no budget.

    A client that has vanished, fails, or sends numbers that are not finite or have
    another shape contributes zero, and nobody is told.

    Guarantee: that of `preview`, for one client with all of its rows: sampled Gaussian
    rounds under add/remove, without any gain from sampling where clients are replaced;
    of correlated noise one Gaussian release, for all rounds.
    Why: a client moves the sum of a round by the largest weight times the radius at
    most, and denominators are declared (docs/proofs/federated.md).
    Assumes: starting weights, `example`, `units`, `cohort`, `rows`, `weight` and `public`
    are public; a client's update depends on that client and the weights it was sent
    alone, and `arrivals` tells of each client what does not depend on others.
    Arithmetic is that of floats. How long it takes is not protected.
    """
    ready = prepared(model, clients, Settings(**options))
    with ready.plan.question.paying(ready.plan.charged) as paid:
        with differentiating(ready.model):
            clients = read(ready.device, lambda: ready.read(paid.receipt))
            rounds = Rounds(ready, clients, paid.tell)
            rounds.run(1, ready.plan.steps)
        history = History(tuple(rounds.epochs), ready.plan.epsilon_after)
        notes = _notes(ready, history)
        return ModelRelease(**released(ready, paid.source, history, notes))


@by_name(EXAMPLE.replace("train", "preview"), Federated)
def preview(model: nn.Module, clients: Any, **options: Unpack[Federated]) -> Preview:
    """What `train` would do and cost with the same arguments. No client is asked, and
    nothing is spent; a question that `train` would refuse, this refuses.
    """
    ready = prepared(model, clients, Settings(**options))
    plan = ready.plan
    limited = plan if isinstance(plan, Limited) else None
    moved, largest = (1.0, 1.0) if limited is None else (limited.moved, limited.largest)
    over = plan.batch * ready.weight.mean
    least, most = min(plan.noises), max(plan.noises)
    return Preview(
        rounds=plan.steps,
        units=plan.units,
        cohort=plan.batch,
        rows=plan.rows,
        noise=(least, most),
        mean_noise=(
            ready.deviation(least) * moved / over,
            ready.deviation(most) * moved * largest / over,
        ),
        numbers=sum(one.numel() for one in trained(ready.model).values()),
        probability=plan.run.probability if limited is None else None,
        sampling=_sampling(ready),
        route=ready.route,
        **price_of(plan),
    )


def _sampling(ready: Ready) -> str:
    plan = ready.plan
    if isinstance(plan, Limited):
        times = plan.rule.times(plan.steps)
        return (
            f"participation: each client at most {times:,} times, at least "
            f"{plan.rule.gap:,} rounds apart; {plan.factorization}"
        )
    rate = plan.run.rate
    return f"sampling: each client independently, q = {rate}/2^32 ≈ {rate / 2**32:.4g}"


def _notes(ready: Ready, history: History) -> tuple[str, ...]:
    weight, stopped = ready.weight, history.stopped(ready.plan.steps, "rounds")
    sized = f"the weight of a client is its size, at most {weight.most:g}"
    return notes_of(
        ready,
        "client",
        trust=[
            "the aggregator sees the updates of the clients, and is trusted with them"
        ],
        ways=[f"server: {ready.settings.server}", _sampling(ready)],
        weights=[] if weight is ALIKE else [sized],
        end=[stopped] if stopped else [],
    )
