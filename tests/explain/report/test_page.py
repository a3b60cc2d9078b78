"""The page in a real browser: axe-core finds nothing, nothing is fetched, and it prints
on two sheets of paper.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dither.explain.report import Report
from dither.explain.report.page import STYLE
from tests.clients.browser import browsing, serving
from tests.clients.node import program
from tests.explain.report.support import EVIL, SQL, clinic

RUN = """
<script src="/axe.js"></script><script>
axe.run(document).then(found => ({
  violations: found.violations.map(one => one.id + ": " + one.nodes[0].html),
  passes: found.passes.length,
  fetched: performance.getEntriesByType("resource").map(one => one.name),
}), failed => ({failed: String(failed)})).then(result => fetch("/result/axe", {
  method: "POST", body: JSON.stringify(result)}));
</script></body>"""


def axe() -> bytes:
    """axe-core, from the package that brings it."""
    spec = importlib.util.find_spec("axe_core_python")
    if spec is None or not spec.submodule_search_locations:
        if os.environ.get("CI"):
            pytest.fail("CI must test the pages: no axe-core-python", pytrace=False)
        pytest.skip("pages are not tested: no axe-core-python")
    return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_bytes()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("clinic")
    with clinic(folder) as visits:
        release = visits.sql(SQL, epsilon=0.5, by=EVIL)
        return {"release": release.report(), "account": visits.account.report()}


def looked_at(html: str, folder: Path) -> Any:
    """What axe-core says of a page. The page itself allows no script, so that line is
    taken out first.
    """
    allowed, lines = re.subn(r"<meta http-equiv=[^>]*>", "", html)
    assert lines == 1
    with serving() as server:
        server.made["/axe.js"] = axe()
        server.made["/report.html"] = allowed.replace("</body>", RUN).encode()
        with browsing(folder / "profile", f"{server.address}/report.html"):
            return server.result("axe")


@pytest.mark.full
@pytest.mark.parametrize("about", ["release", "account"])
def test_axe_finds_nothing(
    reports: dict[str, Report], about: str, tmp_path: Path
) -> None:
    program("chromium")
    found = looked_at(reports[about].html(), tmp_path)
    assert found["violations"] == []
    assert found["passes"] > 15
    assert [one.rpartition("/")[2] for one in found["fetched"]] in (
        ["axe.js"],
        ["axe.js", "favicon.ico"],
    )


@pytest.mark.full
def test_axe_would_find_something(reports: dict[str, Report], tmp_path: Path) -> None:
    program("chromium")
    broken = reports["release"].html().replace('lang="en"', "").replace("<h1>", "<b>")
    found = looked_at(broken, tmp_path)
    assert any(one.startswith("html-has-lang") for one in found["violations"])


@pytest.mark.full
@pytest.mark.parametrize("about", ["release", "account"])
def test_it_prints_on_two_sheets(
    reports: dict[str, Report], about: str, tmp_path: Path
) -> None:
    page, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    reports[about].save(page)
    subprocess.run(
        [
            program("chromium"),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={printed}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    sheets = re.findall(rb"/Type\s*/Page\b", printed.read_bytes())
    assert 1 <= len(sheets) <= 2


def test_words_stand_out() -> None:
    """4.5 to 1 or more (WCAG AA); axe-core does not see every pair."""
    colours = re.findall(r"(?<![-\w])color: (#\w+)", STYLE)
    assert len(colours) == 2
    assert all(contrast(one, "#fff") >= 4.5 for one in colours)


def contrast(one: str, two: str) -> float:
    light, dark = sorted(map(luminance, (one, two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * one for one in digits)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
        for one in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
