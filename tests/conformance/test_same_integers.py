"""Every engine collects the same exact integers from the same plan, also where units
are clipped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dither.query.collect.runner import running
from dither.query.plan.vectors import Kind
from tests.conformance.asking import ENGINES, Worlds, in_turn

ASKED = {
    "totals": "SELECT ward, COUNT(*), SUM(cost), SUM(paid), COUNT(note) FROM visits GROUP BY ward",
    "units": "SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward",
    "moments": "SELECT AVG(cost), AVG(share), VAR_SAMP(paid), CORR(cost, change) FROM visits",
    "trees": "SELECT MEDIAN(cost), QUANTILE_CONT(share, 0.9), MIN(day), MAX(moment), MEDIAN(paid) FROM visits",
    "trees around zero": "SELECT MEDIAN(paid - 300.5), MEDIAN(share * 1e6 - 2e5), MEDIAN(cost - 50000), "
    "MEDIAN(1 - share * paid) FROM visits",
    "expressions": "SELECT SUM(ROUND(paid / 7, 2)), SUM(SQRT(share)), AVG(LN(1 + paid)), SUM(paid % 3.7) FROM visits",
    "summaries": "SELECT SUM(LEAST(s, 900)), AVG(LEAST(a, 1)) FROM (SELECT patient_id, SUM(paid) AS s, AVG(share) AS a "
    "FROM visits GROUP BY patient_id) t",
    "private keys": "SELECT doctor, COUNT(*), SUM(paid) FROM visits GROUP BY doctor",
    "linked": "SELECT severity, COUNT(*), SUM(severity) FROM diagnoses GROUP BY severity",
    "joined": "SELECT p.sex, SUM(v.paid * p.weight) FROM visits v JOIN patients p ON v.patient_id = p.patient_id "
    "GROUP BY p.sex",
}
STATED = {"values": 1000, "groups": 1000}
OTHERS = [name for name in ENGINES if name != "duckdb"]


@pytest.fixture(scope="module")
def reference():
    opened = Worlds("duckdb")
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=in_turn(OTHERS))
def other(request):
    opened = Worlds(request.param)
    yield opened
    opened.close()


def collected(worlds, noise, sql, radius):
    """All integers of a question: units of each key, norms by their bins, and the sums
    of every measurement, with what clipping cuts off them. The cap is two rows above
    the radius, which is wrong: what is cut off is clipped as well.
    """
    cost = {"epsilon": 1.0} if noise == "Laplace" else {"rho": 0.5}
    database = worlds.opened("clinic", noise)
    plan = database.plan(sql, **cost, **STATED)
    if plan.keys is not None:  # few doctors have many patients here
        plan = replace(plan, keys=replace(plan.keys, at_least=2))
    measurements = tuple(_capped(one, radius) for one in plan.measurements)
    plan = replace(plan, measurements=measurements)
    engine, table = database.engine, database.catalogue.table
    with running(plan, engine, table, "salt") as runner:
        found = {}
        if plan.keys is not None:
            keys = runner.every_key()
            found["keys"] = dict(zip(keys, runner.candidates().tolist(), strict=True))
            runner.name([keys.index(key) for key in sorted(keys)])
        for m, one in enumerate(plan.measurements):
            if one.radius is None:
                found["norms", m] = runner.units(m)
            clipped = _steps(one, radius)
            if one.vector.kind is not Kind.DISTINCT:
                found["totals", m] = runner.totals(m, clipped)
            if one.hides(clipped):
                found["hidden", m] = runner.hidden(m, clipped)
    return found


def _steps(one, radius):
    return max(1, int(one.vector.row * radius))


def _capped(one, radius):
    if one.vector.sure or one.vector.kind is Kind.DISTINCT:
        return one
    part = one.weight / 4
    cap = _steps(one, radius) + 2 * one.vector.row
    return replace(one, cap=cap, hiding=part, weight=one.weight - part)


def ways():
    """Clipped to a part of a row, to a few rows, or not at all; private keys are asked
    with Gaussian noise alone. Spark is asked with each noise once, and clipped."""
    for name in ASKED:
        for noise, radius in (
            ("Laplace", 0.4),
            ("Laplace", 3),
            ("Gaussian", 3),
            ("Gaussian", 1 << 20),
        ):
            if name != "private keys" or noise == "Gaussian":
                twice = (noise, radius) not in (("Laplace", 0.4), ("Gaussian", 3))
                marks = pytest.mark.only_on("duckdb", "postgres") if twice else ()
                yield pytest.param(
                    name, noise, radius, id=f"{name}, {noise}, {radius}", marks=marks
                )


@pytest.mark.parametrize(("name", "noise", "radius"), list(ways()))
def test_the_same_integers_on_every_engine(reference, other, name, noise, radius):
    ours, theirs = (
        collected(one, noise, ASKED[name], radius) for one in (reference, other)
    )
    assert ours.keys() == theirs.keys()
    for place, integers in ours.items():
        assert (
            np.array_equal(integers, theirs[place])
            if place != "keys"
            else integers == theirs[place]
        ), place
