"""How far one patient can move what a hospital adds noise to: tried for all subsets of
patients, and of a patient in two hospitals.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dither.learn.hospitals.member import Member
from dither.learn.rows import Tensors, units_of
from dither.privacy import ROW
from tests.learn.hospitals.data import Silent, account, asked, hospital

RADIUS = 0.7
ROWS = 2
# Whose each visit is: one patient has three visits, of which two count at most
OWNERS = np.array([0, 0, 0, 1, 1, 2, 3, 4])
INPUTS = torch.tensor(
    [
        [9.0, -3.0], [9.0, -3.0], [9.0, -3.0], [-5.0, 0.0], [4.0, 1.0],
        [1e6, 1.0], [0.0, 0.0], [0.1, -0.2],
    ]
)  # fmt: skip
TARGETS = torch.tensor([0, 0, 0, 1, 0, 1, 1, 0])
PATIENTS = sorted(set(OWNERS.tolist()))


def network() -> nn.Module:
    torch.manual_seed(5)  # allowed: starting weights are public
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))


def silent_member(name: str = "north", **more: Any) -> Member:
    """A hospital that takes one step over all of its patients, without noise."""
    plain = {"owner": OWNERS, "units": 5, "rows": ROWS, "budget": account(name)}
    plain |= more
    one = hospital(name, (INPUTS, TARGETS), **plain)
    run = asked(rounds=1, steps=1, batch=plain["units"], lr=1.0, clip=RADIUS)
    member = one.join(network(), **run)
    object.__setattr__(member.ready, "noise", Silent())
    return member


def sent(member: Member, chosen: Any, rows_alone: bool = False) -> Any:
    """The update without noise where only these patients are there, times the public
    denominator: what noise is added to.
    """
    rows = np.isin(OWNERS, list(chosen))
    there = Tensors.of(INPUTS[rows], TARGETS[rows])
    owners = None if rows_alone else OWNERS[rows]
    plan = member.ready.plan
    member._loop = member._read()
    member._loop.units = units_of(there, owners, plan.rows)
    given = {name: one.detach().numpy() for name, one in network().named_parameters()}
    found = member._answer(given, 1)
    return plan.batch * np.concatenate([one.ravel() for one in found.values()])


def neighbours() -> Iterator[tuple[set[int], int]]:
    """All subsets of patients, and each of those in it."""
    for count in range(1, len(PATIENTS) + 1):
        for chosen in combinations(PATIENTS, count):
            for gone in chosen:
                yield set(chosen), gone


def test_one_patient_moves_an_update_by_the_radius_at_most() -> None:
    """By all visits that count, together; and some patient by all of it."""
    member, seen = silent_member(), {}
    for chosen, gone in neighbours():
        moved = sent(member, chosen) - sent(member, chosen - {gone})
        seen[frozenset(chosen), gone] = float(np.linalg.norm(moved))
    assert len(seen) == 80
    assert max(seen.values()) <= RADIUS * (1 + 1e-5)
    assert max(seen.values()) > RADIUS * 0.99


def test_clipping_visits_alone_would_not_hold() -> None:
    """Where each visit is clipped by itself, a patient moves the sum further."""
    visits = account(unit=ROW)  # one about patients does not pay for such steps
    member = silent_member(owner="row", units=8, rows=1, budget=visits)
    everybody = set(PATIENTS)
    moved = sent(member, everybody, True) - sent(member, everybody - {0}, True)
    assert float(np.linalg.norm(moved)) > 2.9 * RADIUS


def test_a_patient_in_two_hospitals_moves_both() -> None:
    """Each by the radius at most, so both together by √2 of it: costs compose, and one
    hospital's promise does not cover it.
    """
    members = silent_member("north"), silent_member("south")
    everybody, seen = set(PATIENTS), []
    for gone, others in product(PATIENTS, (everybody, {0, 1})):
        moved = [sent(one, others) - sent(one, others - {gone}) for one in members]
        seen.append([float(np.linalg.norm(one)) for one in moved])
    assert np.max(seen) <= RADIUS * (1 + 1e-5)
    both = max(np.hypot(*one) for one in seen)
    assert both == pytest.approx(2**0.5 * RADIUS, rel=0.01)


def test_a_patient_in_one_hospital_moves_no_other() -> None:
    """From the same weights, what others send does not depend on that patient."""
    here, there = silent_member("north"), silent_member("south")
    before = sent(there, {1, 2})
    sent(here, {0, 3}), sent(here, {3})
    assert np.array_equal(sent(there, {1, 2}), before)
