"""`train` and `preview`: hospitals that share only noisy updates train a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from torch import nn

from dither.by_name import by_name
from dither.errors import AccountFrozen, ArgumentError, BudgetExceeded
from dither.learn.failures import attempted
from dither.learn.history import Epoch, History, Tested
from dither.learn.hospitals.averaging import average
from dither.learn.hospitals.hospital import Hospital, Rounds, RoundsSettings
from dither.learn.hospitals.joint import (
    IN_ONE,
    IN_SEVERAL,
    check_patients,
    joint,
    words_of,
)
from dither.learn.hospitals.member import (
    Member,
    is_paid,
    member_of,
    named_run,
    prepared_at,
)
from dither.learn.hospitals.previewing import JointPreview
from dither.learn.hospitals.release import JointRelease, Participation
from dither.learn.hospitals.update import Update
from dither.learn.hospitals.weights import put
from dither.learn.measuring import tested_on
from dither.learn.previewing import preview_of
from dither.learn.ready import Ready
from dither.learn.release import digest_of
from dither.ledger import Account
from dither.privacy import Guarantee
from dither.progress import working
from dither.release import Source

__all__ = ["preview", "train"]

EXAMPLE = (
    "train(model, [north, south], loss=loss, rounds=10, steps=20, batch=64, lr=0.5, "
    "epsilon=3)"
)
Answers = dict[str, list[int]]


@by_name(EXAMPLE, Rounds)
def train(
    model: nn.Module,
    hospitals: Sequence[Hospital],
    *,
    run: str | None = None,
    patients: str = IN_SEVERAL,
    public: Any = None,
    **asked: Unpack[Rounds],
) -> JointRelease:
    """Train a copy of a model over hospitals that trust no server.

    In each of `rounds` rounds each hospital takes `steps` noisy steps of `train` from
    the same weights, on batches of its own units, and sends the noisy change. The server
    averages changes by public weights. Each hospital pays from its own account for all
    rounds before the first, at `epsilon` (at its account's δ), a `share` of its account,
    or by a `noise` multiplier.

    `patients` says what is known of them: "in several hospitals" always holds, and costs
    of all hospitals compose; "in one hospital" is for ids that decide the hospital, and
    the largest cost counts. `run` names the run in all books: who goes on with it after
    a crash, with the weights that were reached, pays nothing more. `public` test data
    gives the history a loss and an accuracy.

    A hospital that fails, or whose account is frozen, contributes nothing in that round;
    who answers is public, and is in the release.

    Guarantee: `.members` has what each hospital promises its own patients, to everybody
    who sees all updates; `.guarantee` what all promise together.
    Why: docs/proofs/hospitals.md. Noise is added inside each hospital, so the averaged
    noise is larger than where a trusted server adds it once.
    Assumes: what `learn.train` assumes, at each hospital. How long an answer takes is
    not protected.
    """
    settings, name = RoundsSettings(**asked), named_run(run)
    ready = _ready(model, hospitals, settings, patients)
    tested = _tested(public, hospitals, ready)
    _check_affordable(hospitals, ready, name)
    members = [member_of(one, ready[one.name], settings, name) for one in hospitals]
    found = next(iter(ready.values())).fresh
    answered, epochs = _rounds(found, members, tested, settings)
    return _released(found, members, answered, epochs, patients)


@by_name(EXAMPLE.replace("train", "preview"), Rounds)
def preview(
    model: nn.Module,
    hospitals: Sequence[Hospital],
    *,
    run: str | None = None,
    patients: str = IN_SEVERAL,
    public: Any = None,
    **asked: Unpack[Rounds],
) -> JointPreview:
    """What `train` would do and cost with the same arguments. No record is read, and
    nothing is spent.
    """
    settings = RoundsSettings(**asked)
    named_run(run)
    ready = _ready(model, hospitals, settings, patients)
    _tested(public, hospitals, ready)
    members = {
        name: preview_of(one.plan, one.radius, one.model, one.micro)
        for name, one in ready.items()
    }
    weights = {one.name: _weight(one, ready[one.name]) for one in hospitals}
    shares = {name: one / sum(weights.values()) for name, one in weights.items()}
    delta = max(one.delta for one in members.values())
    promised = {name: one.plan.promised for name, one in ready.items()}
    together = joint(promised, delta=delta, patients=patients)
    words = words_of(patients, len(members))
    return JointPreview(members, shares, together, delta, words)


def _ready(
    model: nn.Module,
    hospitals: Sequence[Hospital],
    asked: RoundsSettings,
    patients: str,
) -> dict[str, Ready]:
    """All that is checked before any hospital pays."""
    check_patients(patients)
    listed = isinstance(hospitals, Sequence) and len(hospitals)
    if not listed or not all(isinstance(one, Hospital) for one in hospitals):
        raise ArgumentError(
            "hospitals", 'must be a list, such as [Hospital("north", …)]'
        )
    if len({one.name for one in hospitals}) < len(hospitals):
        raise ArgumentError(
            "hospitals", "must have different names; rename one of them"
        )
    if patients == IN_ONE and len({id(one.data) for one in hospitals}) < len(hospitals):
        raise ArgumentError(
            "patients",
            f'cannot be "{IN_ONE}" if two hospitals have the same records; pass '
            f'"{IN_SEVERAL}"',
        )
    found = {one.name: prepared_at(one, model, asked) for one in hospitals}
    promised = {name: one.plan.promised for name, one in found.items()}
    joint(promised, delta=0.0, patients=IN_SEVERAL)  # they speak of the same people
    return found


def _tested(
    public: Any,
    hospitals: Sequence[Hospital],
    ready: dict[str, Ready],
) -> Tested | None:
    first = ready[hospitals[0].name]
    settings = replace(first.settings, public=public)
    return tested_on(settings, first.fresh, first.source, first.probed)


def _check_affordable(
    hospitals: Sequence[Hospital], ready: dict[str, Ready], run: str
) -> None:
    """No hospital pays for a run that another one cannot join."""
    for one in hospitals:
        found = ready[one.name]
        if not found.plan.affordable and not is_paid(one, found, run):
            account = found.plan.question.account
            if isinstance(account, Account) and account.frozen:
                raise AccountFrozen(
                    f"{one.name!r} cannot pay for its part, because its account is "
                    "frozen. No hospital was charged; ask its curator to thaw the "
                    "account."
                )
            raise BudgetExceeded(
                f"{one.name!r} cannot pay for its part, because the remaining budget "
                "of its account is too small. No hospital was charged; pass a smaller "
                "epsilon or share."
            )


def _weight(hospital: Hospital, ready: Ready) -> float:
    """Public: declared, or the declared number of units."""
    stated = hospital.weight
    return float(ready.plan.units if stated is None else stated)


def _rounds(
    model: nn.Module,
    members: Sequence[Member],
    tested: Tested | None,
    asked: RoundsSettings,
) -> tuple[Answers, tuple[Epoch, ...]]:
    """All rounds that are left, from the weights of a model, which has the last ones
    then.
    """
    answered: Answers = {one.name: [] for one in members}
    weights = {one.name: _weight(one.hospital, one.ready) for one in members}
    epochs = []
    first = min(one.next() for one in members)
    if first > asked.rounds:
        raise ArgumentError(
            "run", "is the name of a finished run; pass a new name for a new charge"
        )
    with working("training") as tell:
        for number in range(first, asked.rounds + 1):
            due = [one for one in members if one.hospital.since <= number]
            updates = {one.name: _asked(one, model, number) for one in due}
            if due:
                shares = {one.name: weights[one.name] for one in due}
                put(average(model, updates, shares), model)
            for name, one in updates.items():
                answered[name] += [number] if one is not None else []
            epochs.append(_epoch(model, members, tested, number, asked))
            tell(number, asked.rounds)
    return answered, tuple(epochs)


def _asked(member: Member, model: nn.Module, number: int) -> Update | None:
    """The answer of a hospital; None if it does not answer, for any reason."""
    return attempted(lambda: member.update(model, number))[0]


def _epoch(
    model: nn.Module,
    members: Sequence[Member],
    tested: Tested | None,
    number: int,
    asked: RoundsSettings,
) -> Epoch:
    public = (None, None) if tested is None else tested.measure(model)
    rate = float(members[0].ready.optimizer.param_groups[0]["lr"])
    noise = max(one.ready.plan.noises[0] for one in members)
    return Epoch(number, number * asked.steps, rate, noise, *public)


def _released(
    model: nn.Module,
    members: Sequence[Member],
    answered: Answers,
    epochs: tuple[Epoch, ...],
    patients: str,
) -> JointRelease:
    delta = max(one.delta for one in members)
    each = members[0].each
    parts = {one.name: _part(one, answered[one.name]) for one in members}

    def together(number: int) -> Guarantee:
        found = {one.name: one.after(number) for one in members}
        held = {name: one for name, one in found.items() if one is not None}
        return joint(held, delta=delta, patients=patients)

    promised = {one.name: one.guarantee for one in members}
    return JointRelease(
        what="model",
        value=model,
        sources=tuple(Source(one.receipt.guarantee, one.receipt) for one in members),
        notes=(*map(str, parts.values()), *_notes(members)),
        history=History(epochs, lambda step: together(step // each).epsilon_at(delta)),
        delta=delta,
        digest=digest_of(model),
        reading=members[0].ready.source.reading,
        joint=joint(promised, delta=delta, patients=patients),
        words=words_of(patients, len(members)),
        members=parts,
    )


def _part(member: Member, answered: list[int]) -> Participation:
    due = range(member.hospital.since, member.last + 1)
    plan = member.ready.plan
    return Participation(
        member.name,
        member.guarantee,
        plan.epsilon_after(plan.steps),
        member.delta,
        member.receipt,
        _weight(member.hospital, member.ready),
        tuple(answered),
        tuple(one for one in due if one not in answered),
    )


def _notes(members: Sequence[Member]) -> tuple[str, ...]:
    weights = (f"{one.name} {_weight(one.hospital, one.ready):g}" for one in members)
    return (
        f"run {members[0].run}",
        f"public weights of updates: {', '.join(weights)}",
        "each hospital adds its own noise, in floating-point arithmetic, and keeps its "
        "records",
        "the starting weights are assumed to be public",
        members[0].ready.optimizer_words,
    )
