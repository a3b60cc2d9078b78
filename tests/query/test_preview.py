"""A preview: what it says before anything is spent."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from dither.privacy import PureDP, Unit
from dither.query.preview import Preview, PreviewColumn

MEAN = PreviewColumn(
    "mean",
    "mean of cost",
    (
        ("for groups of 100", 2.31),
        ("for groups of 1,000", 0.231),
        ("for groups of 10,000", None),
    ),
)
PREVIEW = Preview(
    (PreviewColumn("ward", "key"), PreviewColumn("n", "count", (("", 12.0),)), MEAN),
    PureDP(0.5, unit=Unit("patient")),
    epsilon_alone=0.5,
    share=1 / 6,
    groups=5,
    notes=("values are clipped to their bounds",),
    left="100 % is left",
    delta=1e-6,
)


def test_what_it_shows() -> None:
    assert str(PREVIEW).splitlines() == [
        "column  what          ± at 95 %",
        "ward    key",
        "n       count         ±12",
        "mean    mean of cost  ±2.4 for groups of 100",
        "                      ±0.24 for groups of 1,000",
        "                      unknown for groups of 10,000",
        "rows: 5",
        "cost: ε = 0.5 (pure), one patient, add/remove; ε = 0.5 at δ = 1e-06 alone; 16.7 % of the account",
        "left: 100 % is left",
        "values are clipped to their bounds",
    ]


def test_a_width_may_be_words() -> None:
    column = PreviewColumn("n", "sum", (("for a radius of 10 rows", "±1 to ±4"),))
    assert column.in_words() == ["±1 to ±4 for a radius of 10 rows"]


def test_private_keys_and_no_account() -> None:
    shown = str(
        replace(
            PREVIEW,
            groups="private keys, at most 1,000",
            share=None,
            delta=0.0,
            left="",
        )
    )
    assert "rows: private keys, at most 1,000" in shown
    assert "of the account" not in shown
    assert "at δ" not in shown
    assert "left:" not in shown


def test_what_cannot_be_paid_says_so() -> None:
    assert "would be refused" in str(replace(PREVIEW, affordable=False))
    assert "would be refused" not in str(PREVIEW)


def test_a_replay_is_free() -> None:
    shown = str(replace(PREVIEW, replay=True, affordable=False))
    assert "cost: nothing" in shown
    assert "would be refused" not in shown


def test_html_is_escaped() -> None:
    page = replace(
        PREVIEW, columns=(PreviewColumn("<b>", "<i>"),), notes=("<u>",)
    )._repr_html_()
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>"))
    assert page.startswith("<table>")


def test_json_has_a_versioned_shape() -> None:
    found = json.loads(PREVIEW.to_json())
    assert found["schema"] == "dither.preview/1"
    assert found["columns"][1] == {
        "name": "n",
        "what": "count",
        "errors": [{"when": "", "width": 12.0}],
    }
    assert found["guarantee"]["epsilon"] == found["epsilon_alone"] == 0.5
    assert found["share"] == pytest.approx(1 / 6)
    assert (found["groups"], found["affordable"], found["replay"]) == (5, True, False)


def test_json_holds_no_infinities() -> None:
    endless = replace(
        PREVIEW,
        columns=(PreviewColumn("n", "count", (("", math.inf),)),),
        epsilon_alone=math.inf,
    )
    found = json.loads(endless.to_json(), parse_constant=pytest.fail)
    assert found["columns"][0]["errors"][0]["width"] is None
    assert found["epsilon_alone"] is None
