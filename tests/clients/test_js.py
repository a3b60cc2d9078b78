"""The JavaScript client does what the Python client does: the same promises, the same
refusals, the same bytes.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rjsmin

from dither import __version__, local
from dither.errors import ArgumentError, BudgetExceeded
from dither.local.client import agreement, clock, store
from dither.local.client.store import Store
from dither.local.task import Task
from dither.local.words import ONE
from tests.chance import chance
from tests.clients import node
from tools import bundle_js, vectors

KEY = local.SigningKey(b"k" * 32)
MONDAY = date(2027, 3, 1)
NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
LARGEST = 1 << 20  # bits of a record that a JavaScript device makes


def test_the_one_module_is_made_from_its_parts() -> None:
    assert bundle_js.FILE.read_text(encoding="utf-8") == bundle_js.bundle()


def test_its_own_tests_pass() -> None:
    """Vectors, exact laws of all oracles, tasks, clients, stores."""
    tests = sorted(str(path) for path in (node.CLIENT / "test").glob("*.test.mjs"))
    node.run(["--test", *tests])


def test_the_package_is_ready_to_publish() -> None:
    package = json.loads((node.CLIENT / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == __version__
    assert package["license"] == "Apache-2.0"
    assert "dependencies" not in package
    assert all((node.CLIENT / name).is_file() for name in package["files"])
    targets = [entry for one in package["exports"].values() for entry in one.values()]
    assert all((node.CLIENT / target).is_file() for target in targets)


def test_it_is_small() -> None:
    """What travels to a page: without comments and blanks, and compressed. A minifier
    that shortens names as well takes two fifths less; README.md says how much is left.
    """
    source = bundle_js.FILE.read_text(encoding="utf-8")
    plain = rjsmin.jsmin(source).encode()
    assert len(plain) <= 40_000
    assert len(gzip.compress(plain, 9)) <= 15_000


def test_the_pages_code_runs(tmp_path: Path) -> None:
    """Python makes the task, JavaScript answers it, block by block; nothing is sent."""
    page = (node.ROOT / "docs" / "local-js.md").read_text(encoding="utf-8")
    told: dict[str, Any] = {}
    exec("\n".join(blocks(page, "python")), told)
    code = "\n".join(blocks(page, "js"))
    for old, new in (
        ('"@dither/device"', json.dumps((node.CLIENT / "dither.js").as_uri())),
        ('"@dither/device/node"', json.dumps((node.CLIENT / "node.js").as_uri())),
        ('"the public key of whoever may ask"', json.dumps(told["trust"])),
        ("Client.open({ budget", "Client.open({ store: new MyStore(), budget"),
    ):
        assert code.count(old) == 1
        code = code.replace(old, new)
    store = re.search(r"^class MyStore {\n.*?^}\n", code, re.MULTILINE | re.DOTALL)
    assert store is not None
    served = f"""
        const posted = [];
        globalThis.fetch = async (place, options) => {{
          if (options) posted.push(options.body);
          return {{ text: async () => {json.dumps(told["published"])} }};
        }};
    """
    moved = store[0] + served + code.replace(store[0], "")
    end = "console.log(posted.length, posted[0].length, posted[0][0]);\n"
    asked = ["--input-type=module", "-"]
    printed = node.run(asked, given=moved + end, folder=tmp_path).splitlines()
    assert printed[0] == "true"
    assert printed[1].endswith("right at most 74 times in 100.")
    assert re.fullmatch(r"3(\.0\d*)? of 9 is left", printed[2])
    assert "your answer was turned into" in printed[3]
    assert printed[4] in {"🎉", "👍", "😂", "none"}
    assert printed[5] == "1 35 212"
    assert [path.name for path in tmp_path.iterdir()] == ["device.000000000000001"]


def blocks(page: str, language: str) -> list[str]:
    """The code of a page, without what readers do not see."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


# promises and refusals


def documents_of_vectors() -> list[str]:
    read = json.loads(vectors.FILE.read_text(encoding="utf-8"))["messages"]
    return list(dict.fromkeys(line["task"] for line in read))


def documents() -> list[str]:
    """The tasks of the vectors, and tasks as developers make them."""
    return [*documents_of_vectors(), *(task.document.decode() for task in made())]


def made() -> Iterator[Task]:
    often: dict[str, Any] = {"every": "day", "distinct": 2, "starts": MONDAY}
    for epsilon in (0.1, 1, 2.5, 4):
        again = often | {"for_ever": 2 * epsilon}
        for items in (1, 2, 5, 40, 300, 5000):
            domain = list(range(items))
            yield local.task("t", domain=domain, epsilon=epsilon, n=9999, starts=MONDAY)
            yield local.task("t", domain=domain, epsilon=epsilon, n=9999, **again)
        yield local.task("t", epsilon=epsilon, n=9999, starts=MONDAY)
        yield local.task("t", epsilon=epsilon, n=9999, **again)


def judged(document: str) -> dict[str, Any]:
    """What a document promises, to the last bit; nothing if it is refused."""
    try:
        task = Task.from_document(document.encode())
    except ArgumentError:
        return {}
    if 8 * task.oracle.record > LARGEST:  # more keeps a small device busy
        return {}
    return {
        "message": task.oracle.epsilon,
        "value": task.oracle.epsilon_for_ever,
        "change": min(task.oracle.epsilon_instant, 1e300),
        "lifetime": task.lifetime.epsilon,
        "cost": agreement.cost_of(task),
    }


def judged_in_js(documents: list[str]) -> list[dict[str, Any]]:
    found = node.ask(documents=documents)["documents"]
    return [{} if "refused" in one else one for one in found]


def test_documents_promise_the_same() -> None:
    """The same ε to the last bit: neither says more than it keeps."""
    asked = documents()
    assert judged_in_js(asked) == [judged(document) for document in asked]


def changed(document: str, dice: random.Random) -> str:
    """A document with one thing in it that is another, written as Python writes."""
    read = json.loads(document)
    lines = [read, read["oracle"]]
    lines += read["oracle"].get("parts", ())
    domain = read["domain"] or {}
    lines += [domain] if domain else []
    lines += [one for _, one in domain.get("attributes", ())]
    line = dice.choice(lines)
    name = dice.choice(sorted(line))
    old = line[name]
    if type(old) is int and dice.random() < 0.6:
        line[name] = dice.choice([old + 1, old - 1, old // 2, 2 * old, ONE - old])
    elif type(old) is float:
        line[name] = dice.choice([old * 0.1, old * 0.5, old * 2, -old])
    else:
        odd = [None, True, 0, -1, 1, 2, 1 << 33, 1.5, "", "x", "é", [], {}, [1], ONE]
        line[name] = dice.choice(odd)
    if dice.random() < 0.1:
        line.pop(name)
    return json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_what_python_refuses_is_refused() -> None:
    """And nothing else; the rest promises the same. 3,000 changed documents."""
    dice, known = random.Random(15), documents()
    asked = [changed(dice.choice(known), dice) for _ in range(3000)]
    wanted = [judged(document) for document in asked]
    found = judged_in_js(asked)
    differ = [
        trio for trio in zip(asked, found, wanted, strict=True) if trio[1] != trio[2]
    ]
    assert differ == []
    assert 300 < sum(map(bool, wanted)) < 2700


def asking(document: str, domain: Any, **oracle: Any) -> str:
    """A document that asks for something else, of the same oracle otherwise."""
    read = json.loads(document)
    read |= {"domain": domain, "oracle": read["oracle"] | oracle}
    read |= {"epsilon": 99.5, "for_ever": 99.5}
    return json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sampling(document: str, domain: Any, **part: Any) -> str:
    """A document that asks for one of several parts, all of the same oracle."""
    count = part.pop("count")
    parts = [json.loads(document)["oracle"] | part] * count
    read = json.loads(document) | {"every": 0, "distinct": 1}
    read["oracle"] = {"kind": "sampled", "items": count, "parts": parts}
    return asking(json.dumps(read), domain)


def counted(items: int) -> dict[str, Any]:
    return {"below": items, "from": 0, "none": False}


def few_items(kinds: dict[str, str]) -> Iterator[str]:
    for document in kinds.values():
        yield asking(document, None, items=0)
        yield from (asking(document, counted(n), items=n) for n in (1, 2, 3, 5))


def long_numbers(kinds: dict[str, str]) -> Iterator[str]:
    """A number that is drawn has 32 bits at most."""
    sizes = [1, 2, 4, 1 << 16, 1 << 20, 1 << 30, 1 << 31, ONE]
    for blocks, side in product(sizes, sizes):
        line = {"items": 3, "blocks": blocks, "side": side, "truth": ONE - 1}
        yield asking(kinds["Hadamard response"], counted(3), **line)


def odd_alphabets(kinds: dict[str, str]) -> Iterator[str]:
    alphabets = ["ab", "a", "", "aa", "a\0", "éa", "e\u0301a", "\u212ba", "a🎉", 7]
    lengths = [(2, 1), (4, 2), (4, 4), (64, 1), (65, 1), (4, 0)]
    for alphabet, (longest, step) in product(alphabets, lengths):
        words = {"alphabet": alphabet, "longest": longest, "step": step}
        yield sampling(
            kinds["Hadamard sketch"], words, count=-(-longest // (step or 1))
        )


def many_attributes(kinds: dict[str, str]) -> Iterator[str]:
    for count, pairs in product((1, 2, 3, 22, 23, 24, 256, 257, 2000), (False, True)):
        fields = [[f"a{at}", {"none": True, "values": ["x"]}] for at in range(count)]
        parts = count * (count - 1) // 2 if pairs else count
        line = {"count": min(parts, 300), "items": 4 if pairs else 2}
        domain = {"attributes": fields, "pairs": pairs}
        yield sampling(kinds["unary"], domain, **line)


def odd_grids(kinds: dict[str, str]) -> Iterator[str]:
    tops = [0, 1, 2, 1 << 15, 1 << 20, 1 << 24, (1 << 24) + 1]
    asked = ["mean", "variance", "distribution", "median"]
    for top, ask, branching in product(tops, asked, (0, 2, 1 << 21)):
        grid = {"low": 0, "high": top, "step": 1, "ask": ask, "none": False}
        for kind in ("binary mean", "unary"):
            yield asking(kinds[kind], grid | {"branching": branching}, items=top + 1)


def at_the_edge() -> Iterator[str]:
    """Documents of which several lines are changed together."""
    kinds = {json.loads(one)["oracle"]["kind"]: one for one in documents()}
    for some in (few_items, long_numbers, odd_alphabets, many_attributes, odd_grids):
        yield from some(kinds)


def test_documents_at_the_edge_are_judged_alike() -> None:
    """No items, numbers of more than 32 bits, many attributes, odd alphabets, grids."""
    asked = list(at_the_edge())
    wanted = [judged(document) for document in asked]
    found = judged_in_js(asked)
    differ = [
        trio for trio in zip(asked, found, wanted, strict=True) if trio[1] != trio[2]
    ]
    assert differ == []
    assert 40 < sum(map(bool, wanted)) < len(asked) - 200


# values


def some_values(dice: random.Random) -> Iterator[Any]:
    """What apps may pass. JSON has one kind of number: 1.0 is 1 in JavaScript."""
    signs = ["a", "b", "c", "é", "e\u0301", "🎉", "👍🏽", "\0", " ", "\ud800", "ﬁ", "Å"]
    yield from (None, True, False, "", "a" * 1022, "a" * 1023, "é" * 511, "é" * 512)
    yield from (10, 11, 12, 109, 110, 1009, 2**53 - 1, -(2**53) + 1, 0.5, -1e300, 1e300)
    yield from ([], {}, ["a"], {"a": 1}, {"os": None}, {"os": "a", "x": []})
    for _ in range(3):
        yield "".join(dice.choices(signs, k=dice.randint(1, 6)))
        yield dice.uniform(-20, 120)
        yield dice.randint(-20, 120)


def test_values_are_counted_alike() -> None:
    """Every task of the vectors, with values of all kinds: all keys and all bytes."""
    dice = random.Random(7)
    lines = []
    for document in documents_of_vectors():
        task, domain = (
            Task.from_document(document.encode()),
            json.loads(document)["domain"],
        )
        names = [name for name, _ in (domain or {}).get("attributes", ())]
        for value in some_values(dice):
            told = {name: dice.choice(list(some_values(dice))) for name in names}
            given = told if names and dice.random() < 0.8 else value
            lines.append(vectors.message(task, given, 0, 0))
    known = json.loads(vectors.FILE.read_text(encoding="utf-8"))
    asked = {name: [] for name in known} | {"messages": lines}
    found = node.ask(vectors=asked)["vectors"]
    assert found["found"] == []
    assert found["checks"] > 8 * len(lines)


# a life


def tasks() -> list[Task]:
    """Versions and neighbours of a few tasks, so that all rules are met."""
    usual: dict[str, Any] = {"n": 10_000, "starts": MONDAY}
    often = usual | {"every": "day", "epsilon": 1, "for_ever": 2, "distinct": 2}
    emoji = local.task("emoji", domain=["🎉", "👍", "❤️", "😂"], **often)
    weekly = often | {"every": "week", "distinct": 1, "epsilon": 0.5}
    flat = often | {"oracle": "longitudinal unary"}
    bounds = local.Numbers(0, 100)
    both = local.Attributes((("os", local.Domain(("a", "b"))), ("age", bounds)))
    found = [
        emoji,
        emoji.changed(minimum=500),
        emoji.changed(distinct=3),
        emoji.changed(minimum=501, strata=("x", "y")),
        local.task(
            "weekly", domain=["🎉", "👍", "❤️", "😂"], attribute="emoji", **weekly
        ),
        local.task("flat", domain=range(3, 9), none=False, messages=2, **flat),
        local.task("once", domain=["a", "b"], epsilon=1, **usual),
        local.task("words", epsilon=1, **usual),
        local.task("mean", domain=bounds, **often),
        local.task("both", domain=both, **often),
        local.task("new", domain=local.Vocabulary("abc", 4, 1), epsilon=1, **usual),
    ]
    stopped = replace(emoji, version=5, stopped=True)
    return [task.sign(KEY) for task in [*found, stopped]]


VALUES = ["🎉", "👍", "a", "b", 3, 8, 70.5, None, {"os": "b", "age": 30}, "abca"]


def steps(dice: random.Random, count: int) -> Iterator[dict[str, Any]]:
    known, moment = tasks(), NOON
    for number in range(count):
        back = dice.random() < 0.05
        hours = timedelta(hours=dice.randint(0, 30))
        moment += -3 * hours if back else hours
        moment += timedelta(seconds=number + 1)
        verbs = ["join"] * 3 + ["answer"] * 8 + ["when", "update", "left"]
        verb = dice.choice([*verbs, "leave"] if dice.random() < 0.2 else verbs)
        last = number < count - 20  # the kill switch comes late
        task = dice.randrange(len(known) - last)
        options: dict[str, Any] = {}
        if known[task].messages > 1:
            options["slot"] = dice.randint(0, 2)
        if known[task].strata and dice.random() < 0.9:
            options["stratum"] = dice.choice(["x", "y", "z"])
        yield {"at": moment, "verb": verb, "task": task, "options": options} | {
            "value": dice.choice(VALUES)
        }
    yield {"at": moment, "verb": "sent", "task": 0, "options": {}, "value": None}


def outcome(client: Any, step: dict[str, Any], known: list[Task]) -> Any:
    try:
        return done(client, step["verb"], known[step["task"]], step)
    except ArgumentError as refusal:
        return f"refused: {refusal.argument}"
    except BudgetExceeded:
        return "refused: budget"


def done(client: Any, verb: str, task: Task, step: dict[str, Any]) -> Any:
    options = step["options"]
    if verb == "answer":
        return client.answer(task, step["value"], **options).hex()
    if verb == "when":
        moment = client.when(task, slot=options.get("slot", 0))
        return moment.isoformat().replace("+00:00", ".000Z")
    if verb == "left":
        return client.left
    if verb == "sent":
        return [str(sent) for sent in client.sent()]
    getattr(client, verb)(task)
    return "done"


@pytest.mark.parametrize("seed", range(4))
def test_a_device_lives_alike(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same secrets, the same clock, the same steps: the same bytes, refusals,
    moments and words.
    """
    for module in (agreement, store):
        monkeypatch.setattr(module, "secret_bytes", lambda size: bytes([7]) * size)
    connect = Store._connect

    def unsynced(self: Store) -> Any:
        file = connect(self)
        file.execute("PRAGMA synchronous = OFF")
        return file

    monkeypatch.setattr(Store, "_connect", unsynced)
    lived = list(steps(random.Random(seed), 250))
    wanted, known = [], tasks()
    monkeypatch.setattr(clock, "now", lambda: NOON)
    client = local.Client(tmp_path / "device.db", budget=60, trust=KEY.public)
    for step in lived:
        monkeypatch.setattr(clock, "now", lambda at=step["at"]: at)
        wanted.append(outcome(client, step, known))
    story = {
        "budget": 60,
        "trust": KEY.public,
        "tasks": [task.to_json() for task in known],
        "steps": [
            step | {"at": round(step["at"].timestamp() * 1000)} for step in lived
        ],
    }
    found = node.ask(story=story)["story"]
    for step, mine, theirs in zip(lived, found, wanted, strict=True):
        assert mine == theirs, step
    assert len({one for one in wanted if isinstance(one, str)}) > 25


@chance(1e-8)
def test_many_devices_make_right_estimates() -> None:
    """A tally cannot tell which client a message comes from."""
    task = local.task("t", domain=["a", "b", "c"], epsilon=2, n=3000, starts=MONDAY)
    held = ["a"] * 1500 + ["b"] * 1000 + [None] * 500
    asked = {"document": task.document.decode(), "values": held}
    messages = map(bytes.fromhex, node.ask(rehearse=asked)["rehearsed"])
    tally = task.tally(messages)
    assert (tally.messages, tally.rejected) == (3000, {})
    found = tally.estimate()
    wanted = np.array([1500, 1000, 0]) / 3000
    # six standard errors of three shares
    near = np.abs(found.value[:3] - wanted) < 6 * found.standard_errors[:3]
    assert near.all()
