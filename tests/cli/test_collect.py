"""`dither local serve`, publish, retire, relay, estimate, status."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dither import local
from dither.cli import main
from dither.local.collector import Collector
from dither.local.parcels import parcel
from tests.cli.served import serving
from tests.clock import until
from tests.ledger.server import Server
from tools.cli_pages import JSON

KEY = local.SigningKey(b"k" * 32)
STORE = "collector.db"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["local", *words])


def said(*words: str) -> str:
    found = run(*words)
    assert found.exit_code == 0, found.output
    return found.stdout


def refusal(*words: str) -> str:
    found = run(*words)
    assert found.exit_code == 2, found.output
    assert len(found.stderr.splitlines()) == 1
    return found.stderr


@pytest.fixture
def task() -> local.Task:
    made = local.task(
        "emoji",
        domain=["🎉", "👍"],
        epsilon=2,
        n=1000,
        strata=["phone", "watch"],
        key=KEY,
    )
    assert made.minimum == 100
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: local.Task) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.json").write_text(task.to_json(), encoding="utf-8")
    return tmp_path


@pytest.fixture
def filled(folder: Path, task: local.Task) -> Path:
    """A store with enough messages of one stratum, and too few of the other."""
    with Collector(STORE, trust=KEY.public, retention=9_000) as collector:
        collector.publish(task)
        token = collector.admit("edge", quota=1_000)
        for stratum, count in (("phone", 300), ("watch", 57)):
            sent = task.randomize(["🎉"] * count, stratum=stratum)
            assert collector.accept(parcel(sent), token).counted
    return folder


def test_serve_until_it_is_told_to_end(folder: Path, task: local.Task) -> None:
    words = (STORE, "--trust", KEY.public, "--task", "task.json")
    with serving(folder, *words) as served:
        assert "collecting emoji (version 1)" in served.line
        assert served.get("/healthz")[0] == 200
        assert served.get("/v1/tasks/emoji")[1].decode() == task.to_json()
        token = said("relay", STORE, "edge", "--quota", "500").splitlines()[0]
        body = parcel(task.randomize(["👍"] * 300, stratum="phone"))
        # The relay is known without a restart, if not at once
        until(lambda: served.post(body, token)[0] == 200, "the relay is known")
        assert served.post(body, token) == (200, {"status": "duplicate"})
        assert "👍" in said("estimate", STORE, "emoji")
        assert served.end() == 0
    assert served.events == ["started", "stopped"]
    assert "period 0" in said("status", STORE)


def test_serve_says_as_data_where_it_listens(folder: Path) -> None:
    words = (STORE, "--trust", KEY.public, "--task", "task.json", "--json")
    with serving(folder, *words) as served:
        said = json.loads(served.line)
        assert served.end() == 0
    assert said.keys() == set(JSON["dither local serve"].fields.split())
    assert said["tasks"] == {"emoji": 1}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent there")
def test_ctrl_c_ends_it_as_well(folder: Path) -> None:
    with serving(folder, STORE, "--trust", KEY.public) as served:
        assert "collecting nothing yet" in served.line
        assert served.end(signal.SIGINT) == 0


@pytest.mark.full  # it waits for five seconds
def test_half_a_request_does_not_keep_it_from_ending(folder: Path) -> None:
    with serving(folder, STORE, "--trust", KEY.public) as served:
        host, port = served.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as other:
            head = "POST /v1/messages HTTP/1.1\r\ncontent-length: 9\r\n"
            kind = "content-type: application/octet-stream\r\n"
            other.sendall(f"{head}{kind}\r\nhalf".encode())
            assert served.get("/healthz")[0] == 200
            assert served.end() == 0
    assert served.events == ["started", "cut-off", "stopped"]


def test_the_log_says_nothing_about_what_was_sent(folder: Path) -> None:
    with serving(folder, STORE, "--trust", KEY.public) as served:
        assert served.post(b"secret words")[0] == 400
        address = served.address.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1]))) as other:
            other.sendall(b"GET /secret\x00words HTTP/9.9\r\n\r\n")
            other.recv(1000)
        assert served.end() == 0
    text = served.log.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "127.0.0.1" not in text


def test_a_port_that_is_taken_changes_nothing(filled: Path) -> None:
    before = (filled / STORE).read_bytes()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        words = ("--trust", KEY.public, "--retention", "0", "--port", port)
        found = refusal("serve", STORE, *words)
    assert "cannot be used" in found
    assert (filled / STORE).read_bytes() == before


@pytest.mark.usefixtures("filled")
def test_serve_refuses_what_it_cannot_serve(tmp_path: Path) -> None:
    words = ("--trust", KEY.public, "--port", "0")
    another = local.SigningKey(b"x" * 32)
    (tmp_path / "notes.txt").write_text("notes", encoding="utf-8")
    unsigned = local.task("more", domain=3, epsilon=1, n=1000)
    (tmp_path / "unsigned.json").write_text(unsigned.to_json(), encoding="utf-8")
    signed = unsigned.sign(another)
    (tmp_path / "other.json").write_text(signed.to_json(), encoding="utf-8")
    assert "not a collector" in refusal("serve", "notes.txt", *words)
    assert "64 hexadecimal" in refusal("serve", STORE, "--trust", "me", "--port", "0")
    wrong = refusal("serve", STORE, "--trust", another.public, "--port", "0")
    assert "not the public key of the tasks" in wrong
    for name, why in (("unsigned", "not signed"), ("other", "signed by another key")):
        found = refusal("serve", STORE, *words, "--task", f"{name}.json")
        assert f"{name}.json" in found
        assert why in found
    for origin in ("app.example", "https://app.example/", "https://App.example"):
        assert "write it like https://app.example" in refusal(
            "serve", STORE, *words, "--origin", origin
        )
    for host in ("nowhere.invalid", "192.0.2.1"):
        assert "not an address" in refusal("serve", STORE, *words, "--host", host)


def test_serve_needs_its_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = refusal("serve", STORE, "--trust", KEY.public)
    assert "pip install '.[serve]'" in found
    assert not (folder / STORE).exists()


@pytest.mark.usefixtures("filled")
def test_a_stratum_below_the_minimum_is_not_shown() -> None:
    found = run("estimate", STORE, "emoji")
    assert found.exit_code == 0
    assert "300 messages" in found.stdout
    assert "Left out because of too few messages: watch." in found.stderr
    shown = said("estimate", STORE, "emoji", "--stratum", "phone", "--json")
    assert len(json.loads(shown)["rows"]) == 3
    for words in (("--stratum", "watch"), ("--period", "1")):
        hidden = refusal("estimate", STORE, "emoji", *words)
        assert "fewer than 100" in hidden
        assert "57" not in hidden
    assert "57" not in said("status", STORE)
    assert said("estimate", STORE, "emoji", "--csv").startswith("key,")
    assert "consistent" in said("estimate", STORE, "emoji", "--consistent")


@pytest.mark.usefixtures("filled")
def test_looking_deletes_nothing() -> None:
    """The retention of the one who collects counts, not a default."""
    for words in (("status",), ("estimate",)):
        said(*words, STORE, *(["emoji"] if words == ("estimate",) else []))
    said("relay", STORE, "more", "--quota", "7")
    found = json.loads(said("status", STORE, "--json"))
    assert found["relays"][1]["name"] == "more"
    assert "deleted 9000 days later" in said("status", STORE)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words",
    [
        ("status", "nowhere.db"),
        ("estimate", "nowhere.db", "emoji"),
        ("retire", "nowhere.db", "emoji"),
        ("relay", "nowhere.db", "edge", "--quota", "1"),
        ("publish", "nowhere.db", "task.json"),
        ("status", "task.json"),
    ],
    ids=lambda words: words[0],
)
def test_looking_begins_nothing(words: tuple[str, ...]) -> None:
    assert "collector" in refusal(*words)
    assert not Path("nowhere.db").exists()


@pytest.mark.usefixtures("filled")
def test_the_key_is_the_same_however_it_is_written() -> None:
    with Collector(STORE, trust=KEY.public.upper()) as collector:
        assert collector.tasks


@pytest.mark.usefixtures("folder")
def test_a_collector_that_was_killed_while_it_began() -> None:
    with Collector(STORE, trust=KEY.public):
        pass
    with closing(sqlite3.connect(STORE)) as file, file:
        file.execute("DELETE FROM meta WHERE name = 'settings'")
    assert "no collector" in refusal("status", STORE)
    with Collector(STORE, trust=KEY.public):
        assert said("status", STORE)


@pytest.mark.usefixtures("filled")
def test_publish_and_retire(task: local.Task) -> None:
    newer = task.changed(minimum=50).sign(KEY)
    Path("newer.json").write_text(newer.to_json(), encoding="utf-8")
    assert "version 2: collected" in said("publish", STORE, "newer.json")
    few = refusal("estimate", STORE, "emoji")
    assert "fewer than 50 messages per stratum (its minimum) in version 2" in few
    assert "pass another --period or --version, or wait" in few
    assert "300 messages" in said("estimate", STORE, "emoji", "--version", "1")
    assert "version" in refusal("estimate", STORE, "emoji", "--version", "3")
    said("retire", STORE, "emoji")
    assert "emoji, version 2: retired" in said("status", STORE)
    assert "version 1: retired" in said("publish", STORE, "task.json")
    refused = refusal("retire", STORE, "words")
    assert "publish it first, or pass one of: emoji" in refused
    assert "is not valid JSON" in refusal("publish", STORE, STORE)


KINDS: dict[str, tuple[dict[str, Any], Any, tuple[str, ...], str]] = {
    "mean": ({"domain": local.Numbers(0, 9, 1)}, 4, (), "emoji: "),
    "attributes": (
        {"domain": {"vote": ["x", "y"], "age": 3}},
        {"vote": "x", "age": 1},
        ("--of", "vote"),
        "x: ",
    ),
    "any text": ({"epsilon": 4}, "x", ("--candidates", "names.txt"), "x: "),
    "words": ({"domain": local.Vocabulary("abc", 3), "epsilon": 6}, "abc", (), "abc: "),
    "RAPPOR": (
        {"every": "week", "for_ever": 4},
        "x",
        ("--candidates", "names.txt"),
        "x: ",
    ),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_task_asks_is_estimated(kind: str) -> None:
    asked, value, words, shown = KINDS[kind]
    Path("names.txt").write_text("x\ny\n", encoding="utf-8")
    task = local.task("emoji", key=KEY, n=1000, **({"epsilon": 2} | asked))
    with Collector(STORE, trust=KEY.public) as collector:
        collector.publish(task)
        token = collector.admit("edge", quota=2_000)
        sent = parcel(task.randomize([value] * 2_000))
        assert collector.accept(sent, token).messages == 2_000
    assert shown in said("estimate", STORE, "emoji", *words)


@pytest.mark.usefixtures("filled")
def test_the_shell_offers_what_is_collected() -> None:
    words = {"COMP_WORDS": f"dither local estimate {STORE} em", "COMP_CWORD": "4"}
    asked = words | {"_DITHER_COMPLETE": "bash_complete"}
    found = CliRunner().invoke(main, [], prog_name="dither", env=asked)
    assert found.output.split() == ["plain,emoji"]
    lost = asked | {"COMP_WORDS": "dither local estimate nowhere.db em"}
    found = CliRunner().invoke(main, [], prog_name="dither", env=lost)
    assert found.output.strip() == ""


@pytest.mark.usefixtures("filled")
def test_relays() -> None:
    found = run("relay", STORE, "more", "--quota", "5")
    assert len(found.stdout.split()) == 1
    assert found.stdout.strip() not in said("status", STORE)
    assert "relay more: at most 5; none yet" in said("status", STORE)
    said("relay", STORE, "more", "--revoke")
    assert "relay more (revoked)" in said("status", STORE)
    for words in ((), ("--quota", "1", "--revoke")):
        assert "either" in refusal("relay", STORE, "more", *words)
    assert "not the name" in refusal("relay", STORE, "nobody", "--revoke")


@pytest.mark.usefixtures("filled")
def test_a_copy_can_be_read_and_not_changed() -> None:
    shutil.copy(STORE, "copy.db")
    assert "300 messages" in said("estimate", "copy.db", "emoji")
    assert "300 messages" in said("status", "copy.db")
    for words in (
        ("relay", "copy.db", "more", "--quota", "1"),
        ("serve", "copy.db", "--trust", KEY.public, "--port", "0"),
    ):
        assert "--restored" in refusal(*words)


@pytest.mark.postgres
def test_a_store_on_postgresql(folder: Path, server: Server, task: local.Task) -> None:
    place = server.database()
    assert "no collector" in refusal("status", place)
    words = (place, "--trust", KEY.public, "--task", "task.json")
    with serving(folder, *words) as one, serving(folder, *words) as two:
        token = said("relay", place, "edge", "--quota", "900").splitlines()[0]
        body = parcel(task.randomize(["👍"] * 300, stratum="phone"))
        until(lambda: one.post(body, token)[0] == 200, "the relay is known")
        until(lambda: two.post(body, token)[0] == 200, "the relay is known there")
        assert two.post(body, token) == (200, {"status": "duplicate"})
        assert "300 messages" in said("estimate", place, "emoji")
