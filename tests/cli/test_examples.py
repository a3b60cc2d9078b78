"""Every command shows examples, every example runs, and `--json` prints what
docs/cli.md says.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import dither
from dither import local
from dither.cli import main
from dither.cli.attack import command as attack
from dither.ledger import Ledger, Policy, clock
from dither.local.collector import Collector
from dither.local.parcels import parcel
from dither.privacy import PureDP, Unit
from tools.cli_pages import JSON, commands, examples_of

KEY = local.SigningKey(b"k" * 32)
CODES = {"dither audit": {0, 1}}
"""Exit codes of examples whose result depends on chance; of all others: 0."""
WAITING = ("dither local serve",)
"""Commands that do not end by themselves."""
ALL = {path: found for path, (found, _) in commands().items()}
EXAMPLES = [
    pytest.param(path, line, id=line)
    for path, command in ALL.items()
    for line in examples_of(command)
]
WITHOUT_JSON = {
    "dither",
    "dither completion",
    "dither explain",
    "dither local",
    "dither log",
}
ALWAYS_JSON = {"dither local task", "dither log export"}
"""What they print is JSON, with the option and without it."""
ALONE = r"^dither (attack|audit|completion|explain|local choose|local task m)"
"""Examples with a full stop that need no file."""
ANSWERS = "".join(f"{20 + n},{'fm'[n % 2]},{1000 + n % 7},p{n}\n" for n in range(30))
RELEASE = f"""\
#!{sys.executable}
import json, sys
from random import SystemRandom
coin = SystemRandom()
for line in sys.stdin:
    print(json.loads(line) + coin.expovariate(1) - coin.expovariate(1))
"""


def begin(folder: Path) -> None:
    """The files that examples name."""
    dither.example(folder)
    people = f"age,sex,postcode,patient_id\n{ANSWERS}"
    for name in ("visits.csv", "people.csv"):
        (folder / name).write_text(people, encoding="utf-8")
    (folder / "question.sql").write_text("SELECT COUNT(*) FROM visits")
    (folder / "values.txt").write_text("a\nb\n")
    (folder / "answers.txt").write_text("a\nb\n" * 200)
    release = folder / "release"
    release.write_text(RELEASE)
    release.chmod(0o755)
    answer = dither.sum([1, 2], bounds=(0, 3), epsilon=1)
    (folder / "answer.json").write_text(answer.to_json())


def begin_ledger(folder: Path) -> None:
    """The ledger of the clinic, with one charge by ana."""
    with Ledger.open(folder / "clinic.dither.db") as ledger:
        unit = Unit("patient_id")
        account = ledger.account("clinic", epsilon=4, delta=1e-8, unit=unit)
        account.settle(account.charge(PureDP(0.5, unit=unit), by="ana"))
        ledger.amend("clinic", policy=Policy(renew_days=1), reason="yearly")


def begin_devices(folder: Path) -> None:
    """A task, its messages, and a collector that has counted them."""
    task = local.task("emoji", domain=["a", "b"], epsilon=2, n=1000, key=KEY)
    (folder / "task.json").write_text(task.to_json(), encoding="utf-8")
    sent = task.randomize(["a"] * 500)
    (folder / "sent.bin").write_bytes(sent.to_bytes())
    with Collector(folder / "collector.db", trust=KEY.public) as collector:
        collector.publish(task)
        token = collector.admit("old", quota=1_000)
        assert collector.accept(parcel(sent), token).counted


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUBLIC_KEY", KEY.public)
    return tmp_path


def words_of(line: str) -> tuple[list[str], str]:
    """The words of an example as a shell passes them, and the file for its output."""
    words, target = shlex.split(line.replace("$PUBLIC_KEY", KEY.public)), ""
    assert words.pop(0) == "dither"
    if ">" in words:
        *words, _, target = words
    return words, target


def prepare(folder: Path, line: str) -> None:
    begin(folder)
    if re.search(r"\blocal\b", line):
        begin_devices(folder)
    elif not re.search(r"\b(query|preview)\b", line):
        begin_ledger(folder)
    if "restore" in line:
        run("backup", "clinic.toml", "backup.db")
    if "ledger.jsonl" in line:
        done = run("log", "export", "clinic.toml")
        (folder / "ledger.jsonl").write_text(done.stdout, encoding="utf-8")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words, env={"COLUMNS": "100"})


def invoke(line: str, monkeypatch: pytest.MonkeyPatch, *more: str) -> Result:
    """Run an example. An account is renewed two days after it saw a new day."""
    words, _ = words_of(line)
    if words[0] == "renew":
        now = clock.now()
        for days in (2, 4):
            later = clock.after(now, 86_400.0 * days)
            monkeypatch.setattr(clock, "now", lambda later=later: later)
            done = run(*words, *more)
        return done
    return run(*words, *more)


@pytest.mark.parametrize("path", ALL)
def test_every_command_shows_examples(path: str) -> None:
    lines = examples_of(ALL[path])
    assert 1 <= len(lines) <= 3
    assert all(line.startswith("dither ") for line in lines)
    assert any(line.startswith(path) for line in lines) or path == "dither"
    shown = CliRunner().invoke(main, [*path.split()[1:], "--help"])
    assert "Examples:\n    dither " in shown.output


@pytest.mark.parametrize(("path", "line"), EXAMPLES)
def test_examples_run(
    path: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(folder, line)
    if path in WAITING:
        words = words_of(line)[0][len(path.split()) - 1 :]
        assert ALL[path].make_context(path, words)
        return
    done = invoke(line, monkeypatch)
    assert done.exit_code in CODES.get(path, {0}), done.output
    assert done.output


@pytest.mark.parametrize("path", ALL)
@pytest.mark.usefixtures("folder")
def test_refusals_go_to_stderr(path: str) -> None:
    """A wrong option, and the examples if their files are missing."""
    group = isinstance(ALL[path], click.Group)
    lines = [] if group else [one for one in examples_of(ALL[path]) if "." in one]
    refused = [words_of(line)[0] for line in lines if not re.search(ALONE, line)]
    for words in [[*path.split()[1:], "--no-such-option"], *refused]:
        done = run(*words)
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert re.search(r"^(Usage|Error): ", done.stderr)
        assert "Error: " in done.stderr


def fields(path: str, data: object) -> set[str]:
    """The fields of a result, or of each part of a list; a list with no part has none."""
    parts = data if isinstance(data, list) else [data]
    assert parts
    assert all(set(one) == set(parts[0]) for one in parts), path
    return set(parts[0])


@pytest.mark.parametrize("path", JSON)
def test_json_has_the_fields_of_the_page(
    path: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path in WAITING:
        return  # tests/cli/test_collect.py
    line = next(one for one in examples_of(ALL[path]) if ">" not in one)
    prepare(folder, line)
    more = () if "--json" in line else ("--json",)
    done = invoke(line, monkeypatch, *more)
    assert done.exit_code in CODES.get(path, {0}), done.output
    lines = done.stdout.splitlines() if path == "dither log show" else [done.stdout]
    found = [json.loads(one, parse_constant=pytest.fail) for one in lines]
    stated = set(JSON[path].fields.split())
    for one in found:
        if JSON[path].more:
            assert stated <= fields(path, one)
        else:
            assert stated == fields(path, one)
        assert isinstance(one, list) == JSON[path].several


def test_every_command_that_prints_a_result_has_json() -> None:
    have = {
        path
        for path, command in ALL.items()
        if any("--json" in option.opts for option in command.params)
    }
    assert have == ALL.keys() - WITHOUT_JSON
    assert have - ALWAYS_JSON == JSON.keys()


def test_help_texts_are_short_sentences() -> None:
    """Options begin with a noun or a verb in upper case and end with a full stop."""
    for path, command in ALL.items():
        first = (command.help or "").split()[0]
        assert re.fullmatch(r"[A-Z][a-z]+,?", first), path
        assert (command.get_short_help_str(200)).endswith("."), path
        for option in command.params:
            if isinstance(option, click.Option):
                text = option.help or ""
                assert re.match(r"[A-Zεδρμ]", text), (path, option.name)
                assert text.rstrip().endswith("."), (path, option.name)


@pytest.mark.parametrize("name", ["k", "diversity", "rho", "blocks", "variants"])
def test_defaults_of_attacks_are_those_of_the_functions(name: str) -> None:
    import inspect

    from dither.audit.attacks.homogeneity import homogeneity
    from dither.audit.attacks.studies import census_blocks, frequencies

    known = {
        one.name: one.default
        for function in (homogeneity, census_blocks, frequencies)
        for one in inspect.signature(function).parameters.values()
    }
    (option,) = (one for one in attack.params if one.name == name)
    assert isinstance(option, click.Option)
    assert f"(default: {known[name]})" in (option.help or "")
