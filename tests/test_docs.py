"""The code in README.md and docs/ runs, page by page, with warnings as errors, and
prints what the page shows.

Blocks of a page run in their order. Python and commands that begin with `dither` are
run; `<!-- test … -->` holds Python that readers need not see; a block with
`title="Output"` shows what the last one printed, up to its numbers.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dither.cli import main
from tests.chance import chance

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = ("attacks", "audit", "hospitals", "pate", "training-income", "training-text")
"""Pages that draw, train and attack for as long as all others together: they are run by
`make test-full`.
"""
CHANCE = {
    # Four audits of right claims, and one of a list, at 1e-9 each
    "docs/audit.md": chance(6e-9),
    # Orders of rows: the gaps of true shares are at least 5.5 standard deviations wide
    "docs/local.md": chance(3e-8),
    "docs/local-collector.md": chance(1e-9),
    "docs/local-dap.md": chance(1e-9),
    "docs/local-numbers.md": chance(1e-9),
    "docs/ideas/devices.md": chance(1e-9),
    # P-values and estimates within 8 standard errors
    "docs/local-rappor.md": chance(2e-9),
    # Intervals of three stations, at 1e-8 each
    "docs/tutorial/own-data.md": chance(3e-8),
    # The leader leads by 61 votes: `wrong_winner`
    "docs/winner.md": chance(1e-12),
    # Whole groups that stay above 100: e^-20 / 2 for the smallest
    "docs/expressions.md": chance(2e-9),
    # Everything below lies seven or more standard deviations from its limit, in runs of
    # each page; where noise has a Laplace tail, ten or more
    "docs/arrays.md": chance(1e-9),
    "docs/attacks.md": chance(1e-9),
    "docs/census.md": chance(1e-9),
    "docs/faq.md": chance(1e-9),
    "docs/genomes.md": chance(1e-9),
    "docs/maps.md": chance(1e-9),
    "docs/mechanisms.md": chance(1e-9),
    "docs/noise.md": chance(1e-9),
    "docs/synth.md": chance(1e-9),
    "docs/trial.md": chance(1e-9),
    "docs/trials.md": chance(1e-9),
    "docs/trials-survival.md": chance(1e-9),
    "docs/trials-tables.md": chance(1e-9),
    "docs/trials-ttest.md": chance(1e-9),
    "docs/tutorial/publishing.md": chance(1e-9),
}
"""Pages whose words or hidden checks depend on what is drawn, with how often one run of
the page fails by chance. Numbers are not compared, so that all other pages have none.
"""
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$"
    r"|^<!-- test\n(?P<hidden>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
OUTPUT = 'title="Output"'
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
HASH = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{16,}\b")
DRAWN = re.compile(r"[█▁▂▃▄▅▆▇·─━═]+")
CHOSEN = "(a limit that was chosen privately)"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block or a hidden test: its language, its code, and the line where the
    code begins.
    """

    language: str
    code: str
    line: int


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        if match["hidden"] is not None:
            found.append(
                Block(
                    "python",
                    match["hidden"],
                    text.count("\n", 0, match.start("hidden")),
                )
            )
            continue
        indent = len(match["indent"])
        code = "".join(
            line[indent:] if line.strip() else line
            for line in match["code"].splitlines(keepends=True)
        )
        language = "output" if OUTPUT in match["info"] else match["language"]
        found.append(Block(language, code, text.count("\n", 0, match.start("code"))))
    return found


def commands(code: str) -> list[list[str]]:
    """The `dither …` lines of a shell block that stand alone; pipes and substitutions
    are for the reader's shell.
    """
    lines = [
        line.removeprefix("$ ").strip()
        for line in code.replace("\\\n", " ").splitlines()
    ]
    wanted = [
        line
        for line in lines
        if re.match(r"dither\b", line) and not re.search(r"[|$>&`]", line)
    ]
    return [shlex.split(line, comments=True) for line in wanted]


def run_python(page: Path, block: Block, namespace: dict[str, Any]) -> str:
    """Run a block; what it printed."""
    # Blank lines in front, so that a traceback names the line of the page.
    code = compile("\n" * block.line + block.code, str(page), "exec", dont_inherit=True)
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        exec(code, namespace)
    return printed.getvalue()


def run_command(arguments: list[str]) -> str:
    """Run a command in this process, which need not load everything again; what it
    printed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = CliRunner().invoke(main, arguments[1:], env={"COLUMNS": "120"})
    assert done.exit_code == 0, (
        f"{shlex.join(arguments)} ended with {done.exit_code}: {done.stderr}"
    )
    return done.stdout


def run_alone(arguments: list[str]) -> str:
    """Run a command as a reader would; what it printed."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-W", "error", "-m", "dither.cli", *arguments[1:]]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, (
        f"{shlex.join(arguments)} ended with {done.returncode}: {done.stderr}"
    )
    return done.stdout


def shape(printed: str) -> list[str]:
    """What does not change from run to run: the words, without numbers, blanks and how
    long drawn lines are.
    """
    lines = (
        NUMBER.sub("#", HASH.sub("#", DRAWN.sub("─", line)))
        for line in printed.splitlines()
    )
    # Whether it is lopsided is chance, and so is whether a number that noise chose is 1
    # and whether it cuts anything off
    lines = (
        line.replace("(# to #)", "±#").replace("# rows", "# row")
        for line in lines
        if CHOSEN not in line
    )
    return [found for line in lines if (found := " ".join(line.split()))]


def runs() -> list[Any]:
    """Each page; a new one is found by itself. Processes share them out one by one: see
    tests/conftest.py.
    """
    long = {ROOT / "docs" / f"{name}.md" for name in LONG}
    names = {page: page.relative_to(ROOT).as_posix() for page in PAGES}
    assert long <= set(PAGES)
    assert set(CHANCE) <= set(names.values())
    marks = {
        page: [pytest.mark.full] * (page in long)
        + [mark for known, mark in CHANCE.items() if known == names[page]]
        for page in PAGES
    }
    return [pytest.param(page, id=names[page], marks=marks[page]) for page in PAGES]


@pytest.mark.parametrize("page", runs())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    # The first of a page: what it says must not depend on what this process has loaded
    ways = chain([run_alone], repeat(run_command))
    printed = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            printed = run_python(page, block, namespace)
        elif block.language == "sh":
            printed = "".join(
                next(ways)(arguments) for arguments in commands(block.code)
            )
        elif block.language == "output":
            assert shape(block.code) == shape(printed), (
                f"{page.name}, line {block.line}"
            )


def test_blocks_are_found_with_their_place() -> None:
    text = "one\n\n```python\nx = 1\n```\n\n- item\n\n    ```sh\n    dither doctor  # look\n    ```\n"
    assert blocks(text) == [
        Block("python", "x = 1\n", 3),
        Block("sh", "dither doctor  # look\n", 9),
    ]


def test_only_plain_dither_commands_are_run() -> None:
    code = "make demo\ndither doctor --json  # data\n$ dither demo\ndither completion fish | source\ndithering\n"
    assert commands(code) == [["dither", "doctor", "--json"], ["dither", "demo"]]


def test_a_warning_in_a_page_is_an_error() -> None:
    with pytest.raises(UserWarning, match="old"):
        run_python(
            Path("page.md"),
            Block("python", "import warnings\nwarnings.warn('old')\n", 3),
            {},
        )


def test_a_hidden_test_runs_after_what_it_tests() -> None:
    text = "```python\nx = 1\nprint(x)\n```\n\n<!-- test\nassert x == 1\n-->\n"
    names: dict[str, Any] = {}
    assert [run_python(Path("page.md"), block, names) for block in blocks(text)] == [
        "1\n",
        "",
    ]
    assert blocks(text)[1] == Block("python", "assert x == 1\n", 6)


def test_a_shown_output_is_compared_up_to_its_numbers() -> None:
    (shown,) = blocks(
        '```text title="Output"\nward        n\nA   1,204 ±51\n██·· 34% spent\n```\n'
    )
    assert shape(shown.code) == shape("ward      n\nA   987 ±7\n███· 50.5% spent\n")
    assert shape(shown.code) != shape("ward      n\nB   987 ±7\n███· 50% spent\n")
    assert shape("more than 1 row (private)") == shape("more than 2 rows (private)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_readers_see_examples_and_no_tests(page: Path) -> None:
    shown = [
        match["code"]
        for match in FENCE.finditer(page.read_text(encoding="utf-8"))
        if match["hidden"] is None
    ]
    assert not any(re.search(r"^\s*assert ", code, re.MULTILINE) for code in shown)


def addresses(page: Path) -> list[str]:
    """The links and pictures of a page to other files here."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = [address for _, _, address in LINK.findall(text)]
    return [address for address in found if not re.match(r"[a-z]+:|#", address)]


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [
        address
        for address in addresses(page)
        if not (page.parent / address.partition("#")[0]).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_say_what_they_show(page: Path) -> None:
    pictures = [
        words
        for sign, words, _ in LINK.findall(page.read_text(encoding="utf-8"))
        if sign
    ]
    assert all(len(words) > 20 for words in pictures)


def test_ci_builds_the_pages_strictly() -> None:
    assert "make docs" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")
