"""The page that explains a release or an account: what was asked, of whom, what is
promised, how far off it may be, what was spent, and how to verify it.

`release.report()`, `account.report()` and `dither report` come here. A report reads no
data: it shows what was released, what was declared, and what the book says (rules R1
and R2).
"""

from __future__ import annotations

from dither.explain.report.account import of_account
from dither.explain.report.making import of_file, of_receipt, of_release
from dither.explain.report.report import Report
from dither.explain.report.section import Section

__all__ = ["Report", "Section", "of_account", "of_file", "of_receipt", "of_release"]
