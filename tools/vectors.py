"""Write the test vectors of the local room, for devices in other languages to replay.

    python tools/vectors.py

They are in tests/fixtures/local/vectors.json; README.md there explains the fields.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from dither.local.attributes import Attributes
from dither.local.bits import biased
from dither.local.client.memo import (
    Answer,
    Memo,
    framed,
    memo_id,
    permanent_digest,
)
from dither.local.domain import Counted, Domain, canonical
from dither.local.hashes import Linear, digests, places
from dither.local.numbers import Numbers
from dither.local.oracles import (
    BinaryMean,
    CountMeanSketch,
    HadamardResponse,
    HadamardSketch,
    HybridMean,
    KAryResponse,
    LocalHashing,
    Loloha,
    Longitudinal,
    LongitudinalUnary,
    OneBitMean,
    Randomizer,
    Sampled,
    SubsetSelection,
    Unary,
)
from dither.local.rappor.oracle import Rappor
from dither.local.task import Task
from dither.local.vocabulary import Vocabulary
from dither.local.wire import Header
from dither.local.words import ONE, Keyed, below, coins

FILE = Path(__file__).parent.parent / "tests" / "fixtures" / "local" / "vectors.json"

SECRET = hashlib.sha256(b"a device's secret").digest()
DEVICES = [hashlib.sha256(b"device %d" % number).digest() for number in range(6)]
SALT = hashlib.sha256(b"a memo's salt").digest()
EMOJI = ["🎉", "👍🏽", "❤️", "é"]
TEXTS = ["🎉", "e\u0301", "https://example.org/", "", "x" * 1023, 7, True, None]
MOMENTS = [(0, 0), (1, 0), (364, 1)]  # periods and slots

# Written out: what `.at(…)` finds may change by one on another platform.
SAMPLES: dict[str, list[Randomizer]] = {
    "count-mean sketch": [
        CountMeanSketch(0, 4, 16, 1155094610),
        CountMeanSketch(0, 1024, 1024, 511972652),
    ],
    "Hadamard response": [
        HadamardResponse(5, 1, 8, 3139872686),
        HadamardResponse(100_000, 8, 16_384, 2458754568),
    ],
    "Hadamard sketch": [
        HadamardSketch(0, 2, 4, 3139872686),
        HadamardSketch(0, 1024, 1024, 4217717112),
    ],
    "k-ary response": [KAryResponse(2, 3139872686), KAryResponse(5, 2786513124)],
    "local hashing": [
        LocalHashing(5, 3, 9, 2474403178),
        LocalHashing(1000, 7, 5, 2370275698),
    ],
    "loloha": [
        Loloha(5, 5, 1, 2786513124, 2425517477),
        Loloha(5, 3, 9, 3221225472, 3221225472),
        Loloha(1000, 3, 256, 3380079313, 2964028280),
    ],
    "longitudinal unary": [
        LongitudinalUnary(5, 2147483648, 511972652, 3450525472, 844441824),
        LongitudinalUnary(1000, 2147483648, 511972652, 3450525472, 844441824),
    ],
    "rappor": [
        Rappor(0, 1, 12, 1, "murmur32", 1155094610, 2725031037, 577547305),
        Rappor(0, 256, 128, 2, "murmur32", 1155094610, 2725031037, 577547305),
        Rappor(2, 1, 1, 1, "identity", 511972652, 3450525472, 844441824),
        Rappor(5, 1, 5, 1, "identity", 511972652, 2403444544, 255990254),
    ],
    "subset selection": [
        SubsetSelection(5, 2, 3221225472),
        SubsetSelection(100, 27, 2153257600),
    ],
    "unary": [
        Unary(5, 2147483648, 1155094610),
        Unary(1000, 3139872686, 1155094610),
    ],
}

SCORES = Numbers(-5, 5, 0.5)
FIELDS = (("page", Domain(tuple(EMOJI))), ("old", Domain((True, False), none=False)))
NUMBERS = [-5, 0.24, 0.25, 4.75, 1e300, -(2**60), None, "7", True]
RECORDS = [{"page": "e\u0301", "old": True}, {"page": 7, "old": False}, {}, None]
WORDS = ["ca", "cat", "e\u0301te\u0301", "cats", "CAT", "", "catch", None]
HYBRID = (3139872686, 2605029348, 20, 12, 2666435330)

# What is asked, by which oracle, and with which values
ASKED: list[tuple[Counted, Randomizer, list[Any]]] = [
    (SCORES, BinaryMean(21, 3139872686), NUMBERS),
    (SCORES, HybridMean(21, *HYBRID), NUMBERS),
    (SCORES, OneBitMean(21, 3783000000, 3139872686), NUMBERS),
    (
        Numbers(0, 1000, ask="variance"),
        Sampled(2, (HybridMean(1001, *HYBRID), HybridMean(1_000_001, *HYBRID))),
        [0, 333, 1000, None],
    ),
    (
        Numbers(0, 10, ask="distribution", none=True, branching=4),
        Sampled(2, (KAryResponse(4, 2786513124), Unary(12, ONE // 2, 1155094610))),
        [0, 3, 4, 10, None],
    ),
    (
        Attributes(FIELDS),
        Sampled(2, (KAryResponse(5, 2786513124), KAryResponse(2, 3139872686))),
        RECORDS,
    ),
    (
        Attributes((*FIELDS, ("score", SCORES))),
        Sampled(
            3,
            (
                Loloha(5, 3, 9, 3221225472, 3221225472),
                LongitudinalUnary(2, 2147483648, 511972652, 3450525472, 844441824),
                OneBitMean(21, 3783000000, 3139872686),
            ),
        ),
        [*RECORDS, {"page": "🎉", "old": 1, "score": 3.3}],
    ),
    (
        Attributes((*FIELDS, ("sex", Domain(("f", "m")))), pairs=True),
        Sampled(
            3,
            (
                KAryResponse(10, 2786513124),
                KAryResponse(15, 2786513124),
                KAryResponse(6, 2786513124),
            ),
        ),
        [*RECORDS, {"page": "🎉", "old": True, "sex": "m"}],
    ),
    (
        Vocabulary("acéhst", longest=5, step=2),
        Sampled(3, (CountMeanSketch(0, 4, 16, 1155094610),) * 3),
        WORDS,
    ),
]


class Listed:
    """Words from a list, and how many of them were taken."""

    def __init__(self, words: list[int]) -> None:
        self.words, self.taken = words, 0

    def take(self, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
        start, self.taken = self.taken, self.taken + count
        assert self.taken <= len(self.words)
        return np.array(self.words[start : self.taken], np.uint32)


def vectors() -> dict[str, Any]:
    """Everything, as it is written down."""
    return {
        "keyed": [keyed(b""), keyed(b"key"), keyed(SECRET)],
        "coins": coin_vectors(),
        "below": below_vectors(),
        "biased": biased_vectors(),
        "canonical": [canonical_vector(value) for value in (*TEXTS, -12, False)],
        "digests": [digest_vector(text) for text in (*TEXTS[:3], "abc", "abcdefg")],
        "places": place_vectors(),
        "linear": linear_vectors(),
        "messages": [
            *(one for kind in SAMPLES for one in message_vectors(kind)),
            *(one for number in range(len(ASKED)) for one in asked_vectors(number)),
        ],
    }


def keyed(key: bytes) -> dict[str, Any]:
    return {"key": key.hex(), "words": Keyed(key).take(20).tolist()}


def coin_vectors() -> list[dict[str, Any]]:
    """The tie rule: a word that equals the threshold is tails."""
    words = [0, 999, 1000, 1001, ONE - 1]
    return [
        {
            "words": words,
            "threshold": threshold,
            "heads": coins(Listed(words), threshold, len(words)).astype(int).tolist(),
        }
        for threshold in (1, 1000, ONE - 1, ONE)
    ]


def below_vectors() -> list[dict[str, Any]]:
    """With words that are drawn again, some of them twice."""
    out = []
    for bound, count, words in (
        (3, 2, [ONE - 1, 7, 5]),
        (3, 3, [ONE - 1, 4, ONE - 1, ONE - 1, 11, 12]),
        (1000, 2, [ONE - 1, ONE - 296, ONE - 297, 5]),
        (1 << 16, 2, [ONE - 1, 65537]),
        (1, 1, [ONE - 1]),
        (ONE, 1, [ONE - 1]),
    ):
        source = Listed(words)
        numbers = below(source, bound, count).tolist()
        one = {"words": words, "bound": bound, "count": count, "numbers": numbers}
        out.append(one | {"taken": source.taken})
    return out


def biased_vectors() -> list[dict[str, Any]]:
    """With bytes that equal the threshold's first byte: a word of their own decides."""
    out = []
    for threshold, rows, bits, words in (
        (0x40_000010, 1, 8, [0x3F404100, 0x40FF0040, 0xFFF, 0x1000, 0x0F00]),
        (0x80_000000, 2, 5, [0x7F808182, 0, 0x80, ONE - 1, 0, 1]),
        (ONE, 1, 3, [ONE - 1, ONE - 1]),
    ):
        source = Listed(words)
        packed = biased(source, threshold, rows, bits)
        one = {"words": words, "threshold": threshold, "rows": rows, "bits": bits}
        out.append(one | {"packed": packed.tobytes().hex(), "taken": source.taken})
    return out


def canonical_vector(value: Any) -> dict[str, Any]:
    known = canonical(value)
    return {"value": value, "canonical": None if known is None else known.hex()}


def digest_vector(text: str) -> dict[str, Any]:
    known = canonical(text) or b""
    return {"canonical": known.hex(), "digest": digests([known])[0].tolist()}


def place_vectors() -> list[dict[str, Any]]:
    found = digests([b"s:abc"])
    return [
        {
            "digest": found[0].tolist(),
            "row": row,
            "size": size,
            "place": int(places(found, np.array([row]), size)[0]),
        }
        for row, size in ((0, 16), (1, 16), (1023, 1024), (65_535, 1000), (5, 3))
    ]


def linear_vectors() -> list[dict[str, Any]]:
    return [
        {
            "prime": prime,
            "digits": digits_,
            "function": function,
            "item": item,
            "value": int(
                Linear(prime, digits_).of(np.array([function]), np.array([item]))[0]
            ),
        }
        for prime, digits_, function, item in (
            (2, 3, 5, 7),
            (3, 2, 8, 4),
            (3, 9, 19_682, 12_345),
            (5, 7, 78_124, 99),
        )
    ]


def message_vectors(kind: str) -> list[dict[str, Any]]:
    """Messages of one kind of oracle, from all that they depend on."""
    out = []
    for number, oracle in enumerate(SAMPLES[kind]):
        task = task_of(oracle, f"{kind} {number}")
        values: list[Any] = TEXTS if task.domain is None else [*task.domain.values[:2]]
        # what is not counted, and the other Unicode form of a value that is
        values = [*values, None, "e\u0301"]
        moments = MOMENTS if task.every else MOMENTS[:1]
        out += [
            message(task, value, *moment)
            for value in dict.fromkeys(values)
            for moment in moments
        ]
    return out


def asked_vectors(number: int) -> list[dict[str, Any]]:
    """Messages about numbers, attributes and words. Of several devices, where parts are
    drawn.
    """
    domain, oracle, values = ASKED[number]
    task = made(oracle, domain, f"asked {number}")
    if isinstance(oracle, Sampled):
        return [message(task, value, 0, 0, one) for one in DEVICES for value in values]
    moments = MOMENTS if task.every else MOMENTS[:1]
    return [message(task, value, *moment) for value in values for moment in moments]


def task_of(oracle: Randomizer, name: str) -> Task:
    # an even number of items has no "none" among them
    none = oracle.items % 2 == 1
    count = oracle.items - none
    values: Any = EMOJI if count == len(EMOJI) else range(10, 10 + count)
    return made(oracle, Domain(values, none) if oracle.items else None, name)


def made(oracle: Randomizer, domain: Counted | None, name: str) -> Task:
    again = not isinstance(domain, Vocabulary) and oracle.outcomes <= 256
    again = again or oracle.freshness > 0
    return Task(
        name=name,
        oracle=oracle,
        domain=domain,
        epsilon=10.0,
        for_ever=10.0,
        every=1 if again else 0,
        distinct=2 if again and isinstance(domain, Numbers | Attributes) else 1,
        messages=2 if again else 1,
        starts=date(2027, 1, 1),
        expires=date(2028, 1, 1),
        version=258,
        attribute="emoji",
        strata=("1.0", "2.0"),
    )


def message(
    task: Task, value: Any, period: int, slot: int, secret: bytes = SECRET
) -> dict[str, Any]:
    memo = Memo.of(task, secret, SALT)
    answer = memo.answer(task, value)
    record = memo.record(task, answer, period, slot)
    header = Header(task.tag, task.version, period, task.stratum("2.0"))
    about = {
        "task": task.document.decode(),
        "secret": secret.hex(),
        "salt": SALT.hex(),
        "value": value,
        "period": period,
        "slot": slot,
        "stratum": "2.0",
        "tag": task.tag.hex(),
        "permanent_digest": permanent_digest(task).hex(),
        "memo": memo_id(task).hex(),
        "answer": answer.known.hex(),
        "mark": memo.key("mark", answer.known).hex(),
        "item": memo.item(task, answer)[0].tolist(),
        "id": message_id(task, secret, period, slot).hex(),
    }
    about |= kept_in(memo, task, answer, period, slot)
    return about | {"message": (header.to_bytes() + record.tobytes()).hex()}


def message_id(task: Task, secret: bytes, period: int, slot: int) -> bytes:
    """What a collector tells retries by: a function of the secret, not of the memo."""
    first = task.first_day(period).isoformat().encode()
    parts = (b"message id", task.name.encode(), first, slot.to_bytes(4, "big"))
    return hmac.new(secret, framed(*parts), hashlib.sha256).digest()[:16]


def kept_in(
    memo: Memo, task: Task, answer: Answer, period: int, slot: int
) -> dict[str, Any]:
    """The keys of all noise, and what is drawn from those that are kept."""
    number, oracle = memo.part(task)
    sampled = isinstance(task.oracle, Sampled)
    part = {"part_key": memo.key("part").hex(), "part": number} if sampled else {}
    if not isinstance(oracle, Longitudinal):
        return part | {"once_key": memo.key("once", answer.known).hex()}
    when = (period.to_bytes(4, "big"), slot.to_bytes(4, "big"))
    return part | {
        "seed_key": memo.key("seed").hex(),
        "seed": int(memo.seeds(task)[0]),
        "permanent_key": memo.key("permanent", answer.known).hex(),
        "permanent": memo.permanent_answer(task, answer)[0].tolist(),
        "instant_key": memo.key("instant", task.digest, *when, answer.known).hex(),
    }


def text() -> str:
    """One vector a line, so that a change is easy to see."""
    parts = []
    for name, found in vectors().items():
        lines = ",\n".join(json.dumps(one) for one in found)
        parts.append(f'"{name}": [\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
