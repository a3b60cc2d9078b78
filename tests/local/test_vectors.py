"""The committed vectors are what the code gives, and what their page says: replayed
here with plain integers, and nothing of Dither.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import unicodedata
from datetime import date, timedelta
from itertools import combinations

import pytest

from dither.local.registry import ORACLES
from tools import vectors

VECTORS = json.loads(vectors.FILE.read_text(encoding="utf-8"))
ONE = 1 << 32


def test_the_file_is_made_from_the_code() -> None:
    """If this fails, devices that are out there answer differently from now on."""
    assert vectors.FILE.read_text(encoding="utf-8") == vectors.text()


def test_every_oracle_has_vectors() -> None:
    kinds = {json.loads(one["task"])["oracle"]["kind"] for one in VECTORS["messages"]}
    assert kinds == {*ORACLES, "sampled"}


def test_rejections_and_ties_are_among_them() -> None:
    assert any(one["taken"] > one["count"] for one in VECTORS["below"])
    ties = [one for one in VECTORS["biased"] if 4 * one["taken"] > 8 * one["rows"]]
    assert ties
    assert any(one["threshold"] in one["words"] for one in VECTORS["coins"])


# a device in plain integers, written from the page


class Stream:
    """Words of a list, or of a key."""

    def __init__(self, words=(), key=None):
        self.words, self.key, self.taken = list(words), key, 0

    def take(self, count=1):
        while self.key is not None and len(self.words) < self.taken + count:
            number = (len(self.words) // 8).to_bytes(4, "big")
            block = hmac.new(self.key, number, hashlib.sha256).digest()
            self.words += [
                int.from_bytes(block[i : i + 4], "little") for i in range(0, 32, 4)
            ]
        self.taken += count
        return self.words[self.taken - count : self.taken]


def coin(words, threshold):
    return words.take()[0] < threshold


def below(words, bound, count=1):
    found, last = words.take(count), ONE - ONE % bound
    while any(word >= last for word in found):
        again = [i for i, word in enumerate(found) if word >= last]
        for i, word in zip(again, words.take(len(again)), strict=True):
            found[i] = word
    return [word % bound for word in found]


def biased(words, threshold, bits, rows=1):
    size = -(-bits // 8) * 8
    first, rest = threshold >> 24, (threshold & 0xFFFFFF) << 8
    drawn = b"".join(
        word.to_bytes(4, "little") for word in words.take(rows * size // 4)
    )
    if threshold == ONE:
        ones = [1] * len(drawn)
    else:
        ones = [int(byte < first) for byte in drawn]
        ties = [i for i, byte in enumerate(drawn) if byte == first]
        for i, word in zip(ties, words.take(len(ties)), strict=True):
            ones[i] = int(word < rest)
    return [ones[row * size : row * size + bits] for row in range(rows)]


def packed(bits):
    out = bytearray(-(-len(bits) // 8))
    for place, bit in enumerate(bits):
        out[place // 8] |= bit << place % 8
    return bytes(out)


def unpacked(data, bits):
    return [data[place // 8] >> place % 8 & 1 for place in range(bits)]


def number(value, largest):
    return value.to_bytes(max(-(-largest.bit_length() // 8), 1), "little")


def mix(x):
    x = (x ^ x >> 16) * 0x85EBCA6B % ONE
    x = (x ^ x >> 13) * 0xC2B2AE35 % ONE
    return x ^ x >> 16


def turned(x, by):
    return (x << by | x >> (32 - by)) % ONE


def murmur(data, seed):
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        block = int.from_bytes(data[start : start + 4], "little")
        seed ^= turned(block * 0xCC9E2D51 % ONE, 15) * 0x1B873593 % ONE
        seed = (turned(seed, 13) * 5 + 0xE6546B64) % ONE
    tail = int.from_bytes(data[whole:], "little")
    seed ^= turned(tail * 0xCC9E2D51 % ONE, 15) * 0x1B873593 % ONE
    return mix(seed ^ len(data))


def digest(data):
    return [murmur(data, seed) for seed in (0x9747B28C, 0x3C6EF372)]


def place(found, row, size):
    inner = mix((found[1] + (row + 1) * 0x9E3779B9) % ONE)
    return mix((found[0] + inner) % ONE) % size


def linear(prime, digits, function, item):
    powers = [prime**j for j in range(digits)]
    return sum(function // p % prime * (item // p % prime) for p in powers) % prime


def canonical(value):
    if isinstance(value, bool):
        return b"b:1" if value else b"b:0"
    if isinstance(value, int):
        return b"i:%d" % value
    if isinstance(value, str) and value:
        return b"s:" + unicodedata.normalize("NFC", value).encode()
    return None


def odd(number):
    return number.bit_count() % 2 == 1


def respond(words, threshold, outcomes, value):
    keep, other = coin(words, threshold), below(words, outcomes - 1)[0]
    return value if keep else other + (other >= value)


# oracles, by kind: item and words to record


def k_ary(o, item, words):
    return number(respond(words, o["truth"], o["items"], item), o["items"] - 1)


def unary_bits(words, one, zero, items, item):
    bits = biased(words, zero, items)[0]
    bits[item] = int(coin(words, one))
    return bits


def unary(o, item, words):
    return packed(unary_bits(words, o["one"], o["zero"], o["items"], item))


def subset(o, item, words):
    keep, others, listed = coin(words, o["truth"]), o["items"] - 1, []
    for last in range(others - o["size"], others):
        drawn = below(words, last + 1)[0]
        listed.append(last if drawn in listed else drawn)
    listed = [one + (one >= item) for one in listed]
    at = below(words, o["size"])[0]
    if keep:
        listed[at] = item
    return packed([int(one in listed) for one in range(o["items"])])


def hashing(o, item, words):
    pool = o["prime"] ** o["digits"]
    f = below(words, pool)[0]
    hashed = linear(o["prime"], o["digits"], f, item)
    v = respond(words, o["truth"], o["prime"], hashed)
    return number(f * o["prime"] + v, pool * o["prime"] - 1)


def hadamard(o, item, words):
    own, blocks = coin(words, o["truth"]), o["blocks"]
    block, row = item % blocks, item // blocks + 1
    other = (block + (below(words, 2 * blocks - 1)[0] + 1) // 2) % blocks
    c = below(words, o["side"])[0]
    if (own or other == block) and odd(row & c) == own:
        c ^= row & -row
    return number((block if own else other) * o["side"] + c, blocks * o["side"] - 1)


def sketch(o, item, words):
    r = below(words, o["rows"])[0]
    bits = biased(words, o["flip"], o["columns"])[0]
    bits[place(item, r, o["columns"])] = int(not coin(words, o["flip"]))
    return number(r, o["rows"] - 1) + packed(bits)


def hadamard_sketch(o, item, words):
    r, c = below(words, o["rows"])[0], below(words, o["columns"])[0]
    minus = odd(c & place(item, r, o["columns"])) ^ (not coin(words, o["truth"]))
    cells = o["rows"] * o["columns"]
    return number((r * o["columns"] + c) * 2 + minus, 2 * cells - 1)


def rounded(item, top, steps, words):
    whole, rest = divmod(item * steps, top)
    return whole + (below(words, top)[0] < rest)


def binary_mean(o, item, words):
    end = rounded(item, o["items"] - 1, 1, words)
    return number(respond(words, o["truth"], 2, end), 1)


def hybrid_mean(o, item, words):
    largest = 1 + o["steps"] + o["window"]
    if coin(words, o["binary"]):
        return number(binary_mean(o, item, words)[0], largest)
    start = rounded(item, o["items"] - 1, o["steps"], words)
    inside = coin(words, o["inside"])
    one = start + below(words, o["window"])[0]
    other = below(words, o["steps"])[0]
    other += o["window"] * (other >= start)
    return number(2 + (one if inside else other), largest)


ONCE = {
    "binary mean": binary_mean,
    "hybrid mean": hybrid_mean,
    "k-ary response": k_ary,
    "unary": unary,
    "subset selection": subset,
    "local hashing": hashing,
    "Hadamard response": hadamard,
    "count-mean sketch": sketch,
    "Hadamard sketch": hadamard_sketch,
}


class Loloha:
    """Seed, permanent and instant answer."""

    def seed(self, o, words):
        return below(words, o["functions"])[0]

    def hashed(self, o, item, seed):
        values, functions = o["values"], o["functions"]
        if functions == 1:
            return item
        digits = next((j for j in range(1, 9) if values**j == functions), 0)
        prime = all(values % i for i in range(2, values))
        if prime and digits and functions >= o["items"]:
            return linear(values, digits, seed, item)
        return place([item, item], seed, values)

    def permanent(self, o, item, seed, words):
        return respond(words, o["kept"], o["values"], self.hashed(o, item, seed))

    def instant(self, o, kept, seed, words):
        v = respond(words, o["sent"], o["values"], kept)
        return number(seed * o["values"] + v, o["functions"] * o["values"] - 1)


class KeptBits:
    """Unary encoding, kept."""

    def seed(self, *_):
        return 0

    def permanent(self, o, item, _, words):
        bits = unary_bits(words, o["kept_one"], o["kept_zero"], o["items"], item)
        return list(packed(bits))

    def instant(self, o, kept, _, words):
        ones, zeros = (
            biased(words, o[n], o["items"])[0] for n in ("sent_one", "sent_zero")
        )
        bits = unpacked(kept, o["items"])
        return packed(
            [a if bit else b for bit, a, b in zip(bits, ones, zeros, strict=True)]
        )


class Rappor(KeptBits):
    """Bloom filters, kept."""

    def seed(self, o, words):
        return below(words, o["cohorts"])[0]

    def filter(self, o, item, seed):
        if o["bits"] == 1:
            return [item]
        places = [item]
        if o["family"] == "murmur32":
            rows = range(seed * o["hashes"], (seed + 1) * o["hashes"])
            places = [place(item, row, o["bits"]) for row in rows]
        return [int(bit in places) for bit in range(o["bits"])]

    def permanent(self, o, item, seed, words):
        flips = biased(words, o["flip"], o["bits"])[0]
        held = self.filter(o, item, seed)
        return list(packed([a ^ b for a, b in zip(held, flips, strict=True)]))

    def instant(self, o, kept, seed, words):
        head = bytes([seed]) if o["cohorts"] > 1 else b""
        return head + super().instant(o | {"items": o["bits"]}, kept, seed, words)


class OneBit:
    """The side of a threshold, kept."""

    def seed(self, o, words):
        return below(words, o["items"] - 1)[0]

    def permanent(self, o, item, _, words):
        return respond(words, o["kept"], 2, item)

    def instant(self, o, kept, _, words):
        return number(respond(words, o["sent"], 2, kept), 1)


def size_of(o):
    """Bytes of a record of one of the kinds that are sampled here."""
    match o["kind"]:
        case "binary mean" | "one-bit mean":
            return 1
        case "hybrid mean":
            return len(number(0, 1 + o["steps"] + o["window"]))
        case "k-ary response":
            return len(number(0, o["items"] - 1))
        case "loloha":
            return len(number(0, o["functions"] * o["values"] - 1))
        case "count-mean sketch":
            return len(number(0, o["rows"] - 1)) + o["columns"] // 8
    return -(-o["items"] // 8)


AGAIN = {
    "one-bit mean": OneBit(),
    "loloha": Loloha(),
    "longitudinal unary": KeptBits(),
    "rappor": Rappor(),
}
INSTANT = {"sent", "sent_one", "sent_zero"}


def permanent(oracle):
    """The parameters without those of the instantaneous noise."""
    kept = {k: v for k, v in oracle.items() if k not in INSTANT}
    if "parts" in kept:
        kept["parts"] = [permanent(part) for part in kept["parts"]]
    return kept


def answered(domain, value, part):
    """The answer, and its item: None where there is none."""
    if domain is None:
        known = canonical(value) or b"n:"
        return (known if len(known) <= 1024 else b"n:"), None
    if "alphabet" in domain:
        return word(domain, value, part), None
    if "attributes" in domain:
        return attribute(domain, value if isinstance(value, dict) else {}, part)
    if "low" in domain:
        return placed(domain, value, part)
    values = domain.get("values") or range(domain["from"], domain["below"])
    values = [canonical(one) for one in values]
    known = canonical(value)
    if known in values:
        return known, values.index(known)
    return b"n:", len(values) if domain["none"] else None


def word(domain, value, part):
    text = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    if not 0 < len(text) <= domain["longest"] or set(text) - set(domain["alphabet"]):
        return b"n:"
    lengths = [*range(domain["step"], domain["longest"], domain["step"])]
    length = [*lengths, domain["longest"]][part]
    return b"p:" + (text[:length] if len(text) >= length else text + "\0").encode()


def attribute(domain, value, part):
    fields = domain["attributes"]
    if not domain["pairs"]:
        name, own = fields[part]
        return answered(own, value.get(name), 0)
    pair = list(combinations(fields, 2))[part]
    one, other = (answered(own, value.get(name), 0)[1] for name, own in pair)
    if one is None or other is None:
        return b"n:", None
    values = pair[1][1]
    item = one * (len(values["values"]) + values["none"]) + other
    return b"i:%d" % item, item


def placed(domain, value, part):
    low, high, step = domain["low"], domain["high"], domain["step"]
    top, branching = round((high - low) / step), domain["branching"]
    widths = [1]
    while branching and -(-(top + 1) // (widths[0] * branching)) > 1:
        widths.insert(0, widths[0] * branching)
    if isinstance(value, bool) or not isinstance(value, int | float):
        nodes = -(-(top + 1) // widths[part]) if domain["none"] else None
        return b"n:", nodes
    inside = min(max(value, low), high)
    item = min(math.floor((inside - low) / step + 0.5), top)
    if domain["ask"] == "variance" and part:
        item = (2 * item - top) ** 2
    if domain["ask"] == "distribution":
        item //= widths[part]
    return b"i:%d" % item, item


def frame(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


class Device:
    """Everything about one line of the messages."""

    def __init__(self, line):
        self.line, self.task = line, json.loads(line["task"])
        self.whole, asked = self.task["oracle"], self.task["domain"]
        self.document = line["task"].encode()
        text = json.dumps(
            {"domain": asked, "oracle": permanent(self.whole)},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )
        self.permanent_digest = hashlib.sha256(text.encode()).digest()
        self.digest = hashlib.sha256(self.document).digest()
        self.tag = self.digest[:8]
        self.oracle, part = self.whole, 0
        if self.whole["kind"] == "sampled":
            part = below(self.words("part"), len(self.whole["parts"]))[0]
            self.oracle = self.whole["parts"][part]
            self.check(part_key=self.key("part"), part=part)
        self.part, self.domain = part, asked

    def key(self, purpose, *parts):
        start = (bytes.fromhex(self.line["salt"]), self.task["attribute"].encode())
        data = frame(*start, self.permanent_digest, purpose.encode(), *parts)
        return hmac.new(
            bytes.fromhex(self.line["secret"]), data, hashlib.sha256
        ).digest()

    def words(self, purpose, *parts):
        return Stream(key=self.key(purpose, *parts))

    def memo(self):
        parts = [self.task["attribute"].encode(), self.permanent_digest]
        if not self.task["every"]:
            parts += [self.task[name].encode() for name in ("name", "starts")]
        return hashlib.sha256(frame(*parts)).digest()

    def answered(self):
        """The answer and its item; None where the domain has no item for "none"."""
        known, item = answered(self.domain, self.line["value"], self.part)
        if known != b"n:" and self.oracle["kind"] == "one-bit mean":
            item = int(item > below(self.words("seed"), self.oracle["items"] - 1)[0])
            known = b"i:%d" % item
        if self.oracle["items"] == 0:
            return known, digest(known)
        if item is None:
            item = below(self.words("none"), self.oracle["items"])[0]
        return known, item

    def check(self, **found):
        for name, value in found.items():
            shown = value.hex() if isinstance(value, bytes) else value
            assert shown == self.line[name], name

    def record(self, answer, item):
        kind = self.oracle["kind"]
        if kind in ONCE:
            self.check(once_key=self.key("once", answer))
            return ONCE[kind](self.oracle, item, self.words("once", answer))
        how, o = AGAIN[kind], self.oracle
        numbers = (self.line[n].to_bytes(4, "big") for n in ("period", "slot"))
        instant = ("instant", self.digest, *numbers, answer)
        seed = how.seed(o, self.words("seed"))
        if kind == "one-bit mean" and answer == b"n:":
            item = int(item > seed)
        kept = how.permanent(o, item, seed, self.words("permanent", answer))
        self.check(seed_key=self.key("seed"), seed=seed, permanent=kept)
        self.check(permanent_key=self.key("permanent", answer))
        self.check(instant_key=self.key(*instant))
        return how.instant(o, kept, seed, self.words(*instant))

    def id(self):
        starts = date.fromisoformat(self.task["starts"])
        first = starts + timedelta(days=self.line["period"] * self.task["every"])
        parts = (self.task["name"].encode(), first.isoformat().encode())
        data = frame(b"message id", *parts, self.line["slot"].to_bytes(4, "big"))
        secret = bytes.fromhex(self.line["secret"])
        return hmac.new(secret, data, hashlib.sha256).digest()[:16]

    def wrapped(self, record):
        if self.whole["kind"] != "sampled":
            return record
        longest = max(map(size_of, self.whole["parts"]))
        return bytes([self.part]) + record.ljust(longest, b"\0")

    def message(self, record):
        stratum = self.task["strata"].index(self.line["stratum"])
        head = bytes([0xD1, 1]) + self.task["version"].to_bytes(2, "little") + self.tag
        head += self.line["period"].to_bytes(2, "little") + bytes([stratum, 0])
        return head + record


def test_messages_follow_from_the_page() -> None:
    for line in VECTORS["messages"]:
        device = Device(line)
        answer, item = device.answered()
        device.check(tag=device.tag, permanent_digest=device.permanent_digest)
        device.check(memo=device.memo(), answer=answer, item=item)
        device.check(mark=device.key("mark", answer), id=device.id())
        record = device.wrapped(device.record(answer, item))
        device.check(message=device.message(record))


def test_parts_follow_from_the_page() -> None:
    for one in VECTORS["keyed"]:
        assert Stream(key=bytes.fromhex(one["key"])).take(20) == one["words"]
    for one in VECTORS["coins"]:
        words = Stream(one["words"])
        heads = [int(coin(words, one["threshold"])) for _ in one["words"]]
        assert heads == one["heads"]
    for one in VECTORS["below"]:
        words = Stream(one["words"])
        assert below(words, one["bound"], one["count"]) == one["numbers"]
        assert words.taken == one["taken"]
    for one in VECTORS["biased"]:
        words = Stream(one["words"])
        rows = biased(words, one["threshold"], one["bits"], one["rows"])
        assert b"".join(map(packed, rows)).hex() == one["packed"]
        assert words.taken == one["taken"]


def test_hashes_follow_from_the_page() -> None:
    for one in VECTORS["canonical"]:
        known = canonical(one["value"])
        assert (known.hex() if known else None) == one["canonical"]
    for one in VECTORS["digests"]:
        assert digest(bytes.fromhex(one["canonical"])) == one["digest"]
    for one in VECTORS["places"]:
        assert place(one["digest"], one["row"], one["size"]) == one["place"]
    for one in VECTORS["linear"]:
        names = ("prime", "digits", "function", "item")
        assert linear(*(one[name] for name in names)) == one["value"]


@pytest.mark.parametrize("kind", ORACLES)
def test_vectors_hold_both_lies_and_none(kind: str) -> None:
    """For each oracle: an answer that is counted, and one that is not."""
    lines = [
        one
        for one in VECTORS["messages"]
        if json.loads(one["task"])["oracle"]["kind"] == kind
    ]
    assert {one["answer"] == b"n:".hex() for one in lines} == {True, False}
