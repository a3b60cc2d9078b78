"""Promises of the project itself: a light and silent import, one source of randomness,
versions that agree.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dither import __version__
from dither.cli import doctor

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dither"
MODULES = sorted(SOURCE.rglob("*.py"))
PROJECT: dict[str, Any] = tomllib.loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


def in_fresh_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )


def test_import_is_silent() -> None:
    done = in_fresh_python("import dither")
    assert (done.stdout, done.stderr) == ("", "")


def test_import_needs_the_standard_library_only() -> None:
    code = "import sys; before = set(sys.modules); import dither; print('\\n'.join(set(sys.modules) - before))"
    roots = {name.partition(".")[0] for name in in_fresh_python(code).stdout.split()}
    assert roots - {"dither"} <= sys.stdlib_module_names


def test_every_public_name_exists() -> None:
    dither = importlib.import_module("dither")
    assert [name for name in dir(dither) if not hasattr(dither, name)] == []


def test_dir_shows_the_public_names_and_no_others() -> None:
    dither = importlib.import_module("dither")
    found = json.loads(
        in_fresh_python(
            "import dither, json; dither.open; print(json.dumps(dir(dither)))"
        ).stdout
    )
    assert {"open", "sum", "example", "audit", "explain", "__version__"} <= set(found)
    assert set(found) - set(dither.__all__) == {
        "open",
        "sum",
        "audit",
        "explain",
        "learn",
        "local",
        "science",
    }
    assert not {
        "importlib",
        "annotations",
        "TYPE_CHECKING",
        "Any",
        "_HOME",
        "__getattr__",
    } & set(found)


def test_a_star_import_hides_no_builtin() -> None:
    code = "import builtins\nfrom dither import *\nprint([n for n in dir(builtins) if n in globals() and n[0] != '_'])"
    assert in_fresh_python(code).stdout == "[]\n"


def test_no_public_name_hides_a_room() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert not rooms & set(importlib.import_module("dither").__all__)


FORBIDDEN = re.compile(
    r"\bimport\s+(?:random|secrets)\b|\bfrom\s+(?:random|secrets)\b|\b(?:np|numpy)\.random\b|\bfrom\s+numpy\s+import\s.*\brandom\b"
    r"|\burandom\b|\bgetrandom\b|\buuid[14]\b|\bSystemRandom\b|\bdefault_rng\b"
)


def strays(text: str) -> list[int]:
    """The lines that draw randomness without giving a reason."""
    lines = enumerate(text.splitlines(), start=1)
    return [
        number
        for number, line in lines
        if FORBIDDEN.search(line) and not re.search(r"# allowed: \S", line)
    ]


def test_only_noise_draws_randomness() -> None:
    found = {
        str(path.relative_to(SOURCE)): strays(path.read_text(encoding="utf-8"))
        for path in MODULES
        if "noise" not in path.parts
    }
    assert len(found) > 500
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "from random import Random",
        "x = np.random.normal()",
        "os.urandom(8)",
        "uuid.uuid4()",
        "import secrets  # allowed:",
    ],
)
def test_a_stray_generator_is_seen(line: str) -> None:
    assert strays(line) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "import random  # allowed: shuffles public names",
        "randomized = 1",
        "uuid5(space, name)",
    ],
)
def test_a_reason_or_another_word_is_fine(line: str) -> None:
    assert strays(line) == []


UNFINISHED = re.compile("TO" + "DO|FIX" + "ME|XX" + "X")


@pytest.mark.parametrize("folder", ["src", "tests", "bench", "tools", "docs"])
def test_nothing_is_left_unfinished(folder: str) -> None:
    files = [
        path
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".sql"} and ".venv" not in path.parts
    ]
    assert [
        path for path in files if UNFINISHED.search(path.read_text(encoding="utf-8"))
    ] == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_versions_agree() -> None:
    citation = re.search(
        r"^version: (\S+)$",
        (ROOT / "CITATION.cff").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    changes = re.search(
        r"^## \[(\d\S*)\]",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert citation is not None
    assert changes is not None
    assert __version__ == citation.group(1) == changes.group(1)
    assert PROJECT["dynamic"] == ["version"]


def requirement_names(requirements: list[str]) -> set[str]:
    return {
        re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0].lower()
        for requirement in requirements
    }


OFFERED = sorted(set(PROJECT["optional-dependencies"]) - {"dev", "docs"})


@pytest.mark.parametrize("extra", OFFERED)
def test_the_doctor_knows_every_extra(extra: str) -> None:
    assert requirement_names(PROJECT["optional-dependencies"][extra]) == set(
        doctor.EXTRAS[extra]
    )


def test_only_what_exists_is_offered() -> None:
    """Every extra brings a package that some module of Dither imports."""
    sources = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    assert set(doctor.EXTRAS) == set(doctor.PURPOSE) == set(OFFERED)
    for extra in OFFERED:
        modules = "|".join(doctor.EXTRAS[extra].values())
        assert re.search(
            rf"^ *(?:from|import) (?:{modules})\b", sources, re.MULTILINE
        ), extra


def test_the_doctor_knows_the_base() -> None:
    assert requirement_names(PROJECT["dependencies"]) == set(doctor.BASE)


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "bench" / "results").glob("*.json")),
    ids=lambda path: path.stem,
)
def test_bench_results_have_their_shape(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["rows"]
    assert content["goals"]
    assert all(
        set(row) == {"case", "system", "metric", "value"} for row in content["rows"]
    )
    assert all(set(goal) == {"goal", "want", "got", "met"} for goal in content["goals"])
    assert all(isinstance(goal["met"], bool) for goal in content["goals"])


def test_bundled_data_is_what_its_maker_writes(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_clinic.py"), str(tmp_path)],
        check=True,
    )
    bundled = SOURCE / "data" / "clinic"
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in bundled.iterdir()
    }
    for path in tmp_path.iterdir():
        assert _content(path) == _content(bundled / path.name)
    assert sum(path.stat().st_size for path in bundled.iterdir()) <= 1_500_000


def _content(path: Path) -> object:
    """Texts as they are; of Parquet files the rows, for another version may pack them
    in another way.
    """
    if path.suffix != ".parquet":
        return path.read_bytes()
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM '{path}'").fetchall()


def test_figures_in_the_pages_are_the_measured_ones():
    from tools.figures import PAGES, ROOT, filled

    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert "| measured |" in text
        assert filled(text) == text, "run python tools/figures.py"
