"""`dither local`: choose, task, simulate, decode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main
from dither.local import SigningKey, Task


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["local", *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.txt").write_text("a\nb\n🎉\n", encoding="utf-8")
    return tmp_path


def test_from_a_task_to_its_estimate(folder: Path) -> None:
    made = run(
        *("task", "emoji", "--domain", "values.txt", "--epsilon", "2", "--n", "20000"),
        *("--key", "signing.key", "--out", "task.json"),
    )
    assert made.exit_code == 0, made.output
    assert "One message, ε = 2." in made.stderr
    task = Task.from_json((folder / "task.json").read_text(encoding="utf-8"))
    key = SigningKey.load(folder / "signing.key")
    assert task.signature == key.sign(task.document)
    tried = run("simulate", "task.json", "--n", "20000", "--messages", "sent.bin")
    assert tried.exit_code == 0, tried.output
    assert "of the intervals contain the true share" in tried.output
    decoded = run("decode", "task.json", "sent.bin", "--json")
    assert decoded.exit_code == 0, decoded.output
    assert len(json.loads(decoded.output)["rows"]) == 4
    plain = run("decode", "task.json", "sent.bin", "--consistent")
    assert "🎉" in plain.output
    table = run("decode", "task.json", "sent.bin", "--csv")
    assert table.output.startswith("key,emoji,")


def test_a_simulation_as_data(folder: Path) -> None:  # noqa: ARG001
    run(
        *("task", "emoji", "--domain", "values.txt", "--epsilon", "2", "--n", "20000"),
        *("--out", "task.json"),
    )
    found = json.loads(run("simulate", "task.json", "--n", "20000", "--json").stdout)
    (estimate,) = found["estimates"]
    assert estimate["schema"] == "dither.release/1"
    assert (found["devices"], found["invalid"]) == (20_000, 0)
    assert found["values"][0]["value"] == "a"
    assert found["values"][0]["true"] == pytest.approx(6 / 11, abs=1e-3)
    assert 0 <= found["covered"] <= 1


def test_a_task_says_which_public_key_it_needs(folder: Path) -> None:
    words = ("--domain", "values.txt", "--epsilon", "2", "--n", "900")
    key = ("--key", "signing.key")
    first = run("task", "first", *words, *key, "--out", "first.json")
    assert "new key in signing.key" in first.stderr
    again = run("task", "again", *words, *key, "--out", "again.json")
    public = SigningKey.load(folder / "signing.key").public
    for made in (first, again):
        assert f"build apps with the public key {public}\n" in made.stderr
    assert "new key" not in again.stderr


@pytest.mark.usefixtures("folder")
def test_strata() -> None:
    run(
        *("task", "t", "--domain", "values.txt", "--epsilon", "2", "--n", "900"),
        *("--stratum", "ios", "--stratum", "web", "--out", "t.json"),
    )
    refused = run("simulate", "t.json", "--n", "900")
    assert "stratum must be one of ios, web" in refused.output
    for name in ("ios", "web"):
        size = "900" if name == "ios" else "600"
        tried = run(
            *("simulate", "t.json", "--n", size, "--stratum", name, "--messages", name)
        )
        assert tried.exit_code == 0, tried.output
    assert "t, 1,500 messages" in run("decode", "t.json", "ios", "web").output
    one = run("decode", "t.json", "ios", "web", "--stratum", "web")
    assert "t, 600 messages" in one.output
    refused = run("decode", "t.json", "ios", "--stratum", "android")
    assert refused.exit_code == 2
    assert "stratum must be one of ios, web" in refused.output


@pytest.mark.usefixtures("folder")
def test_options_that_would_be_ignored_are_refused() -> None:
    words = ("task", "t", "--epsilon", "2", "--n", "900")
    refused = run(*words, "--domain", "values.txt", "--ask", "variance")
    assert "--ask needs --numbers" in refused.output
    named = ("--attribute", "a=2", "--attribute", "b=3", "--attribute", "a=values.txt")
    assert "--attribute must have a new name each time" in run(*words, *named).output


def test_open_vocabulary(folder: Path) -> None:
    run("task", "words", "--epsilon", "4", "--n", "500", "--out", "task.json")
    (folder / "held.txt").write_text("x\n" * 400 + "y\n" * 100, encoding="utf-8")
    refused = run("simulate", "task.json")
    assert refused.exit_code == 2
    assert "values" in refused.output
    tried = run("simulate", "task.json", "--values", "held.txt", "--messages", "m")
    assert tried.exit_code == 0, tried.output
    missing = run("decode", "task.json", "m")
    assert missing.exit_code == 2
    assert "candidates" in missing.output
    (folder / "names.txt").write_text("x\ny\nz\n", encoding="utf-8")
    decoded = run("decode", "task.json", "m", "--candidates", "names.txt")
    assert decoded.output.index("x:") < decoded.output.index("y:")


def test_choose() -> None:
    words = ("choose", "--domain", "100", "--epsilon", "1", "--n", "100000")
    assert "chosen" in run(*words).output
    found = json.loads(run(*words, "--json").output)
    assert found["options"][0]["name"] == "subset selection"
    assert 0 < found["detection_limit"] < 0.1


@pytest.mark.parametrize(
    "words",
    [
        ("choose", "--domain", "nowhere.txt", "--epsilon", "1", "--n", "10"),
        ("choose", "--domain", "0", "--epsilon", "1", "--n", "10"),
        ("task", "x", "--domain", "5", "--epsilon", "0", "--n", "10"),
        ("task", "x", "--domain", "5", "--epsilon", "1", "--every", "hour", "--n", "9"),
        ("decode", "values.txt", "values.txt"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_is_one_line(words: tuple[str, ...]) -> None:
    found = run(*words)
    assert found.exit_code == 2
    assert found.stderr.startswith("Error: ")
    assert len(found.stderr.splitlines()) == 1


def test_numbers(folder: Path) -> None:
    about = ("--numbers", "0:100", "--epsilon", "4", "--n", "500")
    (folder / "held.txt").write_text("40\n60\nnothing\n" * 200, encoding="utf-8")
    for ask, shown in (
        ("mean", "minutes: "),
        ("variance", "minutes, variance: "),
        ("distribution", "50 % of devices: at most"),
    ):
        made = run("task", "minutes", *about, "--ask", ask, "--out", f"{ask}.json")
        assert made.exit_code == 0, made.output
        tried = run(
            *("simulate", f"{ask}.json", "--values", "held.txt", "--messages", ask)
        )
        assert tried.exit_code == 0, tried.output
        decoded = run("decode", f"{ask}.json", ask)
        assert decoded.exit_code == 0, decoded.output
        assert shown in tried.output
        assert "200 of 600 values are not valid answers" in tried.stderr
        assert shown in decoded.output
    refused = run("decode", "mean.json", "mean", "--consistent")
    assert refused.exit_code == 2


def test_several_attributes(folder: Path) -> None:
    about = ("--attribute", "vote=values.txt", "--attribute", "age=3")
    numbers = ("--epsilon", "4", "--n", "500")
    (folder / "held.csv").write_text(
        "vote,age\n" + "a,1\n🎉,2\n" * 300, encoding="utf-8"
    )
    for more, wanted in (((), ("vote",)), (("--pairs",), ("age", "vote"))):
        out = f"{len(more)}.json"
        made = run("task", "poll", *about, *more, *numbers, "--out", out)
        assert made.exit_code == 0, made.output
        tried = run("simulate", out, "--values", "held.csv", "--messages", "m")
        assert tried.exit_code == 0, tried.output
        of = [word for name in wanted for word in ("--of", name)]
        decoded = run("decode", out, "m", *of)
        assert decoded.exit_code == 0, decoded.output
        assert "🎉" in decoded.output
    (folder / "bad.csv").write_text("vote\na\n", encoding="utf-8")
    refused = run("simulate", "0.json", "--values", "bad.csv")
    assert refused.exit_code == 2
    assert "columns" in refused.output


def test_words(folder: Path) -> None:
    (folder / "held.txt").write_text("abc\n" * 1500 + "ca\n" * 500, encoding="utf-8")
    made = run(
        *("task", "words", "--alphabet", "abc", "--longest", "3", "--epsilon", "6"),
        *("--n", "2000", "--out", "t.json"),
    )
    assert made.exit_code == 0, made.output
    tried = run("simulate", "t.json", "--values", "held.txt")
    assert "abc: " in tried.output


@pytest.mark.parametrize(
    "words",
    [
        ("--numbers", "0"),
        ("--numbers", "a:b"),
        ("--numbers", "0:9", "--domain", "3"),
        ("--attribute", "vote"),
        ("--attribute", "vote=3"),
        ("--alphabet", "aa"),
        ("--domain", "3", "--pairs"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_asked_is_refused(folder: Path, words: tuple[str, ...]) -> None:
    found = run("task", "t", *words, "--epsilon", "1", "--n", "500", "--out", "t.json")
    assert found.exit_code == 2, found.output
    assert not (folder / "t.json").exists()
