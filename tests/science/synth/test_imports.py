"""What is imported, and when."""

from __future__ import annotations

import subprocess
import sys

PLAIN = """
import sys
from dither.science import synth
domain = synth.Domain({"a": ["x", "y"], "b": synth.numbers([0, 1, 2]), "c": synth.booleans()})
found = synth.mst({"a": ["x"] * 9, "b": [0.5] * 9, "c": [True] * 9}, domain=domain, rho=1)
found.rows; found.to_csv(); found.to_json(); found.plot().svg(); str(found.report())
str(found.marginal("a", "b")); found.sample(5); str(found); found._repr_html_()
heavy = ("PIL", "pandas", "polars", "pyarrow", "scipy")
print([name for name in heavy if name in sys.modules])
"""


def test_columns_by_name_need_numpy_only() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
