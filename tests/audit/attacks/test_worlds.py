"""Databases that differ in one person's row."""

from __future__ import annotations

from dither.audit.attacks.worlds import PEOPLE, database, guarded


def test_one_row_differs() -> None:
    rows = []
    for ill in (True, False):
        with database(ill=ill, long=5) as connection:
            rows.append(set(connection.execute("FROM people").fetchall()))
    assert len(rows[0]) == len(rows[1]) == PEOPLE
    assert rows[0] - rows[1] == {("p0", 0, "ill", 5)}


def test_they_stand_behind_an_account() -> None:
    with database(ill=True) as connection, guarded(connection, 1.0) as held:
        held.sql("SELECT COUNT(*) FROM people", epsilon=0.5)
        assert held.account.remaining.epsilon == 0.5
