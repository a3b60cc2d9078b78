"""A task: the one document that device and server share."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import ArgumentError
from dither.ledger import DevicePromise, devices
from dither.local.attributes import Attributes
from dither.local.checks import check, parts_of
from dither.local.document import FORMAT, parsed, typed
from dither.local.domain import Counted, Domain, canonical
from dither.local.hashes import digests
from dither.local.oracles import OneBitMean, Randomizer
from dither.local.rehearsal import rehearsal
from dither.local.signing import SigningKey, public_key, verify
from dither.local.vocabulary import NOTHING
from dither.local.wire import Header, Messages
from dither.local.words import FRESH, Words
from dither.privacy import PureDP, Relation, Unit
from dither.privacy.numbers import float_up, written
from dither.text import quantity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dither.ledger import Ledger
    from dither.local.tally import Tally

__all__ = ["DEVICE", "Task"]

DEVICE = Unit("device", Relation.REPLACE)
PERIODS = {"day": 1, "week": 7}
FIXED = {"name", "version", "domain", "epsilon", "for_ever", "attribute"}
TOGETHER = 1 << 17  # values randomized together: their arrays stay in the cache
VISIBLE = 10.0  # an ε for each message that hides nothing


@dataclass(frozen=True, kw_only=True)
class Task:
    """A question to devices: what they answer, with which probabilities, how often, and
    until when. `local.task` makes one from what a developer knows.

    `epsilon` is what one message may lose, and `for_ever` what all messages about one
    value may lose together; the oracle's integers are checked against both. `every`
    is the length of a period in days; 0 means that a device answers once. `distinct`
    is how many values of a device are told apart: further ones are sent as "none".
    """

    name: str
    oracle: Randomizer
    domain: Counted | None
    epsilon: float
    for_ever: float
    distinct: int = 1
    every: int = 0
    messages: int = 1
    minimum: int = 100
    starts: date
    expires: date
    version: int = 1
    attribute: str = ""
    strata: tuple[str, ...] = ()
    stopped: bool = False
    signature: bytes = field(default=b"", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", self.attribute or self.name)
        check(self)

    # what is promised

    @property
    def once(self) -> PureDP:
        """What one message promises to the device it comes from."""
        return PureDP(self.oracle.epsilon, unit=DEVICE)

    @property
    def values(self) -> int:
        """How many answers a device can have kept: its distinct values and "none", but
        not more than the domain has values, and "none".

        A domain without "none" has it on the device all the same: as a random item
        with noise of its own.
        """
        if not self.every:
            return 1
        if self.domain is None:
            return self.distinct + 1
        return min(self.distinct, self.domain.different) + 1

    @property
    def lifetime(self) -> PureDP:
        """What all messages of a device promise together, against every history whose
        answers (`told_apart`) change, and return to earlier ones, at the same times.
        """
        total = self.values * written(self.oracle.epsilon_for_ever)
        return PureDP(float_up(total), unit=DEVICE)

    @property
    def promise(self) -> str:
        """What a device is promised, in words."""
        once, for_ever = self.oracle.epsilon, self.oracle.epsilon_for_ever
        strata = " The stratum is sent as it is." if self.strata else ""
        if not self.every:
            return f"One message, ε = {once:.4g}.{strata}"
        return (
            f"Each message: ε = {once:.4g}. All messages about one value: ε = "
            f"{for_ever:.4g}. All messages of a device in total: ε = "
            f'{self.lifetime.epsilon:.4g} ({self.values} values, with "none"), '
            f"against everyone whose {self.told_apart} change and return at the same "
            f"times; against someone whose answers do so at other times, "
            f"{self._changes}.{strata}"
        )

    @property
    def told_apart(self) -> str:
        """What of a device's answers is kept, one by one.

        Two devices whose rows, or numbers, change at the same times may give answers
        that do not: one attribute changed, or the side of another threshold.
        """
        parts = parts_of(self.oracle)
        each = " to every question" if len(parts) > 1 else ""
        if not any(isinstance(part, OneBitMean) for part in parts):
            return f"answers{each}"
        return (
            f"rounded answers{each} (the side of a threshold that only the device "
            "knows, wherever it is)"
        )

    @property
    def _counts(self) -> str:
        """The counted values, in words."""
        match self.domain:
            case None:
                return "any text"
            case Domain(values=values):
                return quantity(len(values), "value")
        return str(self.domain)

    @property
    def _changes(self) -> str:
        """What is promised where kept answers are as good as seen: only the noise of
        each message hides which of two messages share one.
        """
        instant = self.oracle.epsilon_instant
        if instant == math.inf:
            return "nothing: that an answer changed can be seen with certainty"
        if instant > VISIBLE:
            return (
                f"only ε = {instant:.4g} for each message: that an answer changed can "
                "be seen"
            )
        return f"ε = {instant:.4g} for each message"

    def __str__(self) -> str:
        often = f"every {self.every} days" if self.every > 1 else "every day"
        signed = "signed" if self.signature else "not signed"
        return (
            f"{self.name}, version {self.version}, {signed}: {self._counts}; each "
            f"device answers {often if self.every else 'once'}, from {self.starts} to "
            f"{self.expires - timedelta(days=1)}; {self.oracle.kind}, "
            f"{quantity(self.oracle.record, 'byte')} per message. {self.promise}"
        )

    @property
    def influence(self) -> float:
        """By how much one liar's message moves an estimated count at most."""
        return self.oracle.influence

    # the document

    @cached_property
    def document(self) -> bytes:
        """The task as JSON: keys sorted, no spaces, UTF-8. These bytes are signed."""
        domain = None if self.domain is None else self.domain.written()
        plain: dict[str, Any] = {"format": FORMAT, "domain": domain}
        plain |= {"oracle": self.oracle.parameters, "strata": list(self.strata)}
        plain |= {one: getattr(self, one).isoformat() for one in ("starts", "expires")}
        others = {name: getattr(self, name) for name in _lines()}
        text = json.dumps(
            others | plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return text.encode()

    @classmethod
    def from_document(cls, document: bytes) -> Task:
        """A task from its document, every line of it checked."""
        read = parsed(document)
        if read.pop("format", None) != FORMAT or set(read) != _lines():
            raise ArgumentError(
                "document",
                f'is not a task of format "{FORMAT}"; pass task.document, or update '
                "Dither "
                "if the task is newer",
            )
        try:
            task = cls(**typed(read))
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
            ArithmeticError,
        ) as problem:
            if isinstance(problem, ArgumentError):
                raise
            raise ArgumentError(
                "document",
                "has an entry of the wrong type; pass task.document as it was written",
            ) from None
        if task.document != document:
            raise ArgumentError(
                "document",
                "is not in the exact form that is signed; pass task.document as it was "
                "written",
            )
        return task

    def sign(self, key: SigningKey) -> Task:
        """The same task, signed."""
        if not isinstance(key, SigningKey):
            raise ArgumentError(
                "key", "must be a SigningKey, such as SigningKey.load(path)"
            )
        return replace(self, signature=key.sign(self.document))

    def to_json(self) -> str:
        """The document and its signature, for a file or a server."""
        signed = {"task": self.document.decode(), "signature": self.signature.hex()}
        return json.dumps(signed, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, trust: str | None = None) -> Task:
        """A task as `to_json` wrote it. With `trust`, a public key, the signature is
        checked before anything else; a client checks it when it joins, too.
        """
        read = parsed(text.encode() if isinstance(text, str) else text)
        try:
            document, signature = (
                read["task"].encode(),
                bytes.fromhex(read["signature"]),
            )
        except (KeyError, ValueError, TypeError, AttributeError):
            raise ArgumentError(
                "text", "is not a signed task; pass what task.to_json() returned"
            ) from None
        if trust is not None:
            verify(document, signature, public_key(trust))
        return replace(cls.from_document(document), signature=signature)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the document."""
        return hashlib.sha256(self.document).digest()

    @cached_property
    def tag(self) -> bytes:
        """Eight bytes that stand for the document in every message. Whoever writes two
        documents can make them equal: nothing is kept apart by the tag alone.
        """
        return self.digest[:8]

    def changed(self, **new: Any) -> Task:
        """The next version, with other limits, dates, strata or an oracle that promises
        no more. Another domain or ε is another question: make a task with a name of
        its own.
        """
        other = set(new) - (_lines() - FIXED)
        if other:
            raise ArgumentError(
                sorted(other)[0],
                "cannot be changed in a new version; make a task with another name",
            )
        return replace(self, version=self.version + 1, signature=b"", **new)

    def stop(self) -> Task:
        """The next version, which tells devices to answer no more."""
        return self.changed(stopped=True)

    def record(self, ledger: Ledger, *, account: str | None = None) -> DevicePromise:
        """List the task's promise in a book, beside the account about the same people.
        Nothing is charged: the noise is added on the devices.
        """
        about = (self.name, self.version, self.digest.hex())
        promise = DevicePromise(*about, self.once, self.lifetime, account)
        if not hasattr(ledger, "entries"):
            raise ArgumentError("ledger", "must be a ledger, such as Ledger.open(path)")
        devices.record(ledger, promise)
        return promise

    # periods

    @property
    def periods(self) -> int:
        """How many periods there are."""
        days = (self.expires - self.starts).days
        return -(-days // self.every) if self.every else 1

    def period(self, day: date) -> int:
        """The number of the period that a day lies in."""
        if not self.starts <= day < self.expires:
            raise ArgumentError(
                "task",
                f"the task runs from {self.starts} until before {self.expires}; pass a "
                "day in between",
            )
        return (day - self.starts).days // self.every if self.every else 0

    def first_day(self, period: int) -> date:
        """The day on which a period begins."""
        return self.starts + timedelta(days=period * self.every)

    def stratum(self, name: str | None) -> int:
        """The number of a declared stratum; 0 where none are declared."""
        if not self.strata and name is None:
            return 0
        if not self.strata:
            raise ArgumentError(
                "stratum", "the task declares no strata; leave out stratum"
            )
        if name not in self.strata:
            raise ArgumentError("stratum", f"must be one of {', '.join(self.strata)}")
        return self.strata.index(name)

    # items, messages, tallies

    def items(self, values: Any, words: Words = FRESH) -> np.ndarray[Any, Any]:
        """Values as the oracle knows them: numbers, or digests of texts."""
        if not isinstance(self.domain, Attributes):
            values = _column(values)
        if self.domain is not None:
            return self.domain.places(values, words)
        return _digested(values)

    def randomize(
        self, values: Any, *, period: int = 0, stratum: str | None = None
    ) -> Messages:
        """A message for each value, each as if from a device of its own.

        This has no memo: it is for one answer a device. `rehearse` is for several.
        """
        header = self._header(period, stratum)
        items = self.items(values)
        records = np.empty((len(items), self.oracle.record), np.uint8)
        for start in range(0, len(items), TOGETHER):
            part = slice(start, start + TOGETHER)
            records[part] = self.oracle.randomize(items[part], FRESH)
        return Messages(header, records)

    def rehearse(self, histories: Sequence[Any]) -> list[Messages]:
        """What made-up devices send that keep their noise: messages for each period.

        `histories` has, for each period, the values of all devices, in the same order.
        """
        sent = rehearsal(self.oracle, len(histories[0]) if len(histories) else 0)
        return [
            Messages(self._header(period, None), sent.answer(self.items(values)))
            for period, values in enumerate(histories)
        ]

    def _header(self, period: int, stratum: str | None) -> Header:
        self._check_period(period)
        return Header(self.tag, self.version, period, self.stratum(stratum))

    def _check_period(self, period: int) -> None:
        whole = isinstance(period, int) and not isinstance(period, bool)
        if not whole or not 0 <= period < self.periods:
            raise ArgumentError(
                "period",
                f"must be a whole number from 0 to {self.periods - 1}; "
                "use task.period(day) for a day",
            )

    def read_tally(self, data: bytes) -> Tally:
        """A tally that another server wrote with `tally.to_bytes()`."""
        from dither.local.tally import read

        return read(self, data)

    def tally(
        self,
        messages: Messages | bytes | Iterable[Any] | DataFrame,
        *,
        period: int | None = None,
        batches: bool = False,
    ) -> Tally:
        """The integers that messages add up to. What is not a message of this task
        (and period) is counted as rejected, and never mixed in.

        In a list, bytes are one message each: nobody can send a batch in its place,
        unless `batches` says that they come from a server of yours. Bytes alone may
        be a batch, or messages that were appended to one another.

        A Spark data frame with one binary column is a list, too: it is counted on the
        cluster.
        """
        from dither.local import spark
        from dither.local.tally import tally

        if period is not None:
            self._check_period(period)
        if spark.is_frame(messages):
            return spark.tally(self, messages, period, batches=batches)
        return tally(self, messages, period, batches=batches)


def _column(values: Any) -> Any:
    """One column; of Arrow's a list, because its scalars are not values."""
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        raise ArgumentError(
            "values",
            "must be one column, because the task asks for one value; pass frame[name]",
        )
    if not isinstance(values, Iterable):
        raise ArgumentError("values", "must be a list; pass one value for each device")
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def _digested(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    """Digests of strings, each of which is hashed once however often it comes."""
    keys = values.tolist() if isinstance(values, np.ndarray) else list(values)
    try:
        known, places = _numbered(keys)
    except TypeError:  # a list, say, which is no value
        known, places = [None], np.empty(0)
    if any(type(key) is not str for key in known):
        # 1 and True are equal, and not the same value: by their canonical forms
        texts, places = _numbered([canonical(key) or NOTHING for key in keys])
    else:
        texts = [canonical(key) or NOTHING for key in known]
    found: np.ndarray[Any, Any] = digests(texts)[places]
    return found


def _numbered(keys: list[Any]) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """The distinct elements of a list, and the place of each of its elements among
    them.
    """
    known: dict[Any, int] = defaultdict(count().__next__)
    places = np.fromiter(map(known.__getitem__, keys), np.int64, len(keys))
    return list(known), places


def _lines() -> set[str]:
    """The names of a document's lines."""
    return {one.name for one in fields(Task)} - {"signature"}
