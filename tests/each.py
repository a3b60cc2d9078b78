"""Many small cases in one test. A test of pytest takes milliseconds by itself, which is
more than some cases take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

__all__ = ["each"]


def each(cases: Iterable[tuple[str, Any]], check: Callable[[Any], None]) -> None:
    """Try all cases, then fail with the name of each that failed and with what was
    wrong there.
    """
    tried, wrong = 0, []
    for name, case in cases:
        tried += 1
        try:
            check(case)
        except Exception as problem:
            wrong.append(f"{name}: {type(problem).__name__}: {problem}")
    if wrong:
        shown = "\n".join(wrong)
        pytest.fail(f"{len(wrong)} of {tried} cases failed\n{shown}", pytrace=False)
    assert tried
