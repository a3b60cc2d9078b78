"""A book in PostgreSQL, for several servers that share it."""

from __future__ import annotations

import re

from dither.errors import LedgerError
from dither.ledger.entry import canonical
from dither.ledger.kind import BOOK
from dither.ledger.note import Doubt
from dither.ledger.postgres_noted import NotedPostgres
from dither.ledger.store import SPEND, SPEND_BY, WAIT, Charge, Made

__all__ = ["PostgresStore"]

LOCK = BOOK.application  # one advisory lock makes all writers of the book take turns
REFUSED = "DI001"  # the charge does not fit; the ordinary way finds out why
OLDER = "DI002"  # the line that was noted is not in the book


def _placed(sql: str, *positions: int) -> str:
    """The statement with the numbers of a function's arguments instead of question
    marks.
    """
    numbers = iter(positions)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


# A charge in one step, because every statement costs a way to the server and back, and
# all others wait meanwhile. Arguments: 1 account, 2 analyst, 3 to 6 the four units, 7
# time, 8 deadline, 9 id, 10 the body up to what is spent, 11 the same as part of the
# text that is hashed (see `entry.digest`), where quotation marks are escaped; 12 and 13
# the line that this machine has noted, and its hash; 14 the policy.
#
# A commit usually keeps its locks until the server's log is on the disk, so that the
# charges of many processes would wait for the disk one by one. Whoever had to wait for
# the lock therefore commits without waiting for the disk, and `charge` then commits
# something empty, durably and without a lock, before it returns: the server writes its
# log to the disk in order, so that commit takes the charge, and all charges before it,
# with it, and several such commits share one write. Until then others may see a charge
# that a crash of the server would undo. They can only be refused because of it: what
# they spend comes later in the same log, so it is never durable without it.
CHARGE = f"""CREATE FUNCTION dither_charge(
    text, text, bigint, bigint, bigint, bigint, text, text, text, text, text, bigint, text, text)
RETURNS TABLE (number bigint, at text, digest text, durable boolean) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
    final record;
    sums record;
    spent text;
BEGIN
    durable := pg_try_advisory_xact_lock({LOCK});
    IF NOT durable THEN
        PERFORM pg_advisory_xact_lock({LOCK}), set_config('synchronous_commit', 'off', true);
    END IF;
    IF NOT EXISTS (SELECT 1 FROM log WHERE seq = $12 AND hash = $13) THEN
        RAISE SQLSTATE '{OLDER}';
    END IF;
    {_placed(SPEND, 3, 4, 5, 6, 1, 14, 6, 3, 4, 5, 7)} INTO sums;
    IF NOT FOUND THEN
        RAISE SQLSTATE '{REFUSED}';
    END IF;
    IF $2 IS NOT NULL THEN
        {_placed(SPEND_BY, 3, 4, 5, 6, 1, 2, 6, 3, 4, 5)};
        IF NOT FOUND THEN
            RAISE SQLSTATE '{REFUSED}';
        END IF;
    END IF;
    SELECT seq, time, hash INTO STRICT final FROM log ORDER BY seq DESC LIMIT 1;
    number := final.seq + 1;
    at := greatest(final.time COLLATE "C", $7);
    spent := concat_ws(',', sums.pure_spent, sums.loss_spent, sums.delta_spent, sums.impure) || ']}}';
    digest := '["' || final.hash || '",' || number || ',"' || at || '",' || $11 || spent || '"]';
    digest := encode(sha256(convert_to(digest, 'UTF8')), 'hex');
    INSERT INTO log (seq, time, kind, account, body, hash) VALUES (number, at, 'charge', $1, $10 || spent, digest);
    {_placed(WAIT, 0, 1, 2, 8, 9).replace("$0", "number")};
    RETURN NEXT;
END
$body$"""
CALL = b"SELECT * FROM dither_charge(" + b", ".join([b"%s"] * 14) + b")"
DROP = (
    "DROP FUNCTION IF EXISTS dither_charge(text, text, bigint, "
    "bigint, bigint, bigint, text, text, text)"
)
FLUSH = b"SELECT pg_logical_emit_message(true, 'dither', '')"


class PostgresStore(NotedPostgres):
    """A book, with a short way to charge."""

    extras: tuple[str, ...] = (DROP, CHARGE)

    def charge(self, charge: Charge) -> Made | None:
        import psycopg

        start = charge.start
        # Without the closing quotation mark and bracket
        end = canonical(["charge", charge.account, start])[1:-2]
        what = (
            charge.account,
            charge.by,
            *charge.units,
            charge.time,
            charge.deadline,
            charge.id,
            start,
            end,
        )
        values = (*what, *self._noted(), charge.policy)
        try:
            with self._using() as connection:
                try:
                    ((number, at, digest, durable),) = connection.execute(
                        CALL, values
                    ).fetchall()
                except psycopg.Error as error:
                    if error.sqlstate == REFUSED:
                        return None
                    if error.sqlstate == OLDER:
                        raise Doubt(self._older) from None
                    raise
                if not durable:
                    connection.execute(FLUSH)
        except LedgerError as error:
            lost = isinstance(error.__cause__, psycopg.OperationalError)
            if not lost:
                raise
            number, at, digest = self._look_for(charge, error)
        self._write_note(number, digest)
        self.latest = at
        return Made(number, at, digest)

    def _has_home(self, version: int | None) -> bool:
        return version not in (1, None)

    def _look_for(self, charge: Charge, error: LedgerError) -> tuple[int, str, str]:
        """The connection was lost while charging. If the charge is in the book, it was
        made, and this is its line.
        """
        check = f"call charged({charge.id!r}) to check whether the charge was made"
        try:
            with self.writing() as run:
                # The lock was waited for: a charge that had begun is finished, and
                # durable with this transaction.
                rows = run("SELECT seq FROM pending WHERE id = ?", (charge.id,))
                found = (
                    run("SELECT seq, time, hash FROM log WHERE seq = ?", rows[0])
                    if rows
                    else []
                )
        except LedgerError:
            raise LedgerError(
                f"the connection to {self.place} was lost during a charge; once it is back, "
                f"{check}"
            ) from error
        if not found:
            raise LedgerError(
                f"the connection to {self.place} was lost before the charge was made; ask "
                f"again, or {check}"
            ) from error
        number, at, digest = found[0]
        return number, at, digest
