"""The page on architecture shows the path that a question really takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import path

TEXT = path.PAGE.read_text(encoding="utf-8")
SOURCE = path.ROOT / "src" / "dither"


FOLLOW = (
    "import json; from tools import path; found = path.question(); "
    "print(json.dumps({'files': found.files, 'summary': found.summary}))"
)


@pytest.fixture(scope="module")
def trail() -> dict[str, Any]:
    """In a process of its own: what other tests asked is remembered in this one."""
    done = subprocess.run(
        [sys.executable, "-c", FOLLOW],
        capture_output=True,
        text=True,
        check=True,
        cwd=path.ROOT,
    )
    return dict(json.loads(done.stdout))


def test_the_page_shows_the_path(trail: dict[str, Any]) -> None:
    """If this fails: `python tools/path.py`."""
    assert f"{path.files_table(trail['files'])}<!-- end -->" in TEXT
    counts = json.loads(path.RESULT.read_text(encoding="utf-8"))
    assert path.counts_table(counts) in TEXT


def test_the_path_did_not_grow_again(trail: dict[str, Any]) -> None:
    """A few calls more or fewer: noise decides how the answer's rows are sorted."""
    counts = json.loads(path.RESULT.read_text(encoding="utf-8"))["now"]
    assert all(trail["summary"][what] <= 1.1 * most for what, most in counts.items())


def test_a_longer_path_is_noticed(trail: dict[str, Any]) -> None:
    assert f"{path.files_table(trail['files'][:-1])}<!-- end -->" not in TEXT
    assert f"{path.files_table([*trail['files'], 'open.py'])}<!-- end -->" not in TEXT


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)`", TEXT)
    rooms = (SOURCE / room for room in ("query", "local", "learn", "science"))
    places = (SOURCE, *rooms, path.ROOT)
    assert named
    assert [
        one for one in named if not any((place / one).is_file() for place in places)
    ] == []


def test_every_folder_of_the_room_is_on_the_page() -> None:
    folders = {
        one.name
        for one in (SOURCE / "query").iterdir()
        if (one / "__init__.py").exists()
    }
    assert {one for one in folders if f"`{one}/`" not in TEXT} == {"draft"}


def test_every_module_of_the_package_is_on_a_floor() -> None:
    rooms = {one.parent.name for one in Path(SOURCE).glob("*/__init__.py")}
    assert {room for room in rooms if room not in TEXT} == set()
