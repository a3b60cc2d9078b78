"""A preview: what it says before anything is spent."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from dither.privacy import PureDP, Unit, ZeroConcentratedDP
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
    cost="16.7 % of the account clinic",
    remaining="80 %, for example one Laplace answer at ε = 2.5",
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
        "guarantee: ε = 0.5 (pure), protects one patient (add/remove)",
        "cost: 16.7 % of the account clinic",
        "remaining after: 80 %, for example one Laplace answer at ε = 2.5",
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
            cost="not charged to any account",
            remaining="",
        )
    )
    assert "rows: private keys, at most 1,000" in shown
    assert "of the account" not in shown
    assert "remaining" not in shown


def test_a_guarantee_without_an_epsilon_is_stated_at_delta() -> None:
    unit = Unit("patient")
    shown = str(
        replace(
            PREVIEW, guarantee=ZeroConcentratedDP(0.01, unit=unit), epsilon_alone=0.7
        )
    )
    assert (
        "guarantee: ε = 0.7 at δ = 1e-06, protects one patient (add/remove); "
        "by ρ = 0.01 (zCDP)"
    ) in shown


def test_what_cannot_be_paid_says_so() -> None:
    shown = str(replace(PREVIEW, affordable=False)).splitlines()
    assert shown[-3].startswith("refused: this does not fit into the remaining budget")
    assert shown[-2].startswith("remaining: 80 %")
    assert "refused" not in str(PREVIEW)


def test_a_replay_is_free() -> None:
    shown = str(replace(PREVIEW, replay=True, affordable=False))
    assert "cost: nothing" in shown
    assert "remaining: 80 %" in shown
    assert "refused" not in shown


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


def test_json_says_what_print_says_in_its_order() -> None:
    found = json.loads(PREVIEW.to_json())
    names = ("groups", "guarantee", "cost", "refused", "remaining", "notes")
    assert [name for name in found if name in names] == list(names)
    assert found["cost"] == "16.7 % of the account clinic"
    assert found["refused"] is None
    refused = json.loads(replace(PREVIEW, affordable=False).to_json())
    assert refused["refused"].startswith("this does not fit into the remaining budget")
    again = replace(PREVIEW, replay=True, affordable=False)
    assert f"cost: {json.loads(again.to_json())['cost']}" in str(again).splitlines()


def test_markdown_has_the_lines_of_print() -> None:
    head, *rest = PREVIEW.to_markdown().splitlines()
    assert head == "| column | what | ± at 95 % |"
    assert [line for line in rest if line.startswith("- ")] == [
        f"- {line}" for line in PREVIEW.about()
    ]


def test_its_short_form_is_the_cost_and_what_remains() -> None:
    assert repr(PREVIEW) == (
        "<Preview: cost 16.7 % of the account clinic, 80 % would remain>"
    )
    assert repr(replace(PREVIEW, affordable=False)) == (
        "<Preview: refused, cost 16.7 % of the account clinic, 80 % remains>"
    )
    assert (
        repr(replace(PREVIEW, replay=True)) == "<Preview: cost nothing, 80 % remains>"
    )
    free = replace(PREVIEW, share=None, cost="not charged to any account", remaining="")
    assert repr(free) == "<Preview: not charged to any account>"
