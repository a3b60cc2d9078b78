"""A report as one HTML file: nothing in it is loaded from elsewhere, nothing in it runs,
and it prints on paper.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from dither.explain.report.glossary import WORDS
from dither.explain.report.section import Section
from dither.text import clean

__all__ = ["page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A browser that keeps to this loads nothing and runs nothing, whatever a name holds."""
SHORT = 10
"""Number of characters up to which a cell stays on one line."""

STYLE = """
:root { color-scheme: light }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; color: #1b1b1b;
  background: #fff; font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif }
header { border-bottom: 3px solid #0b6e66; margin-bottom: 1rem }
h1 { font-size: 1.5rem; margin: 0 0 .3rem }
h2 { font-size: 1.05rem; margin: 0 0 .3rem; color: #0b5a54 }
p { margin: .3rem 0 }
.lead { font-size: 1.05rem }
.page { display: grid; grid-template-columns: minmax(0, 1fr) 15rem; gap: 2rem }
main > section { margin: 0 0 1.2rem; break-inside: avoid-page }
aside { font-size: .85rem; border-left: 1px solid #8a8a8a; padding-left: 1rem }
dl { margin: 0; display: grid; grid-template-columns: fit-content(17em) minmax(0, 1fr);
  gap: .1rem .8rem }
dt { font-weight: 600; overflow-wrap: anywhere }
dd { margin: 0; overflow-wrap: anywhere }
aside dl { display: block }
aside dd { margin: 0 0 .5rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9em }
caption { text-align: left; font-weight: 600 }
th, td { text-align: left; vertical-align: top; padding: .15rem .5rem .15rem 0;
  border-bottom: 1px solid #c9c9c9; overflow-wrap: anywhere; min-width: 4.6em }
.short { white-space: nowrap; min-width: 0 }
thead th { overflow-wrap: normal; min-width: 0 }
tbody th { overflow-wrap: break-word }
code, .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace;
  font-size: .9em }
svg { max-width: 100%; height: auto; display: block }
footer { border-top: 1px solid #8a8a8a; font-size: .85rem; margin-top: 1rem }
@media (max-width: 50rem) { .page { display: block }
  aside { border: 0; padding: 0 } }
@page { size: A4; margin: 9mm }
@media print {
  body { font-size: 7.6pt; line-height: 1.22; padding: 0; max-width: none }
  h1 { font-size: 11pt } h2 { font-size: 8.6pt; margin: 0 0 .5mm } .lead { font-size: 8.4pt }
  p { margin: .3mm 0 }
  .page { display: block }
  main { columns: 2; column-gap: 5mm }
  main > section { margin: 0 0 1.8mm; break-inside: auto }
  h2 { break-after: avoid }
  tr, dd { break-inside: avoid }
  .wide { overflow: visible }
  dl { gap: 0 2mm } th, td { padding: 0 1.5mm 0 0 }
  svg { max-height: 44mm }
  aside { border: 0; border-top: 1px solid #8a8a8a; padding: 1mm 0 0; font-size: 6.6pt;
    columns: 3; column-gap: 4mm }
  aside h2 { column-span: all }
  aside dd { margin: 0 0 .4mm } aside dt { display: inline }
  aside dt::after { content: ": " } aside dd { display: inline }
  aside dd::after { content: ""; display: block }
  footer { margin-top: 1mm; font-size: 6.6pt }
}
"""


def page(
    title: str, lead: Sequence[str], sections: Iterable[Section], footer: str
) -> str:
    """The whole file."""
    inside = "\n".join(map(_section, sections))
    opening = "".join(f'<p class="lead">{_shown(one)}</p>' for one in lead)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_safe(title)}</title><style>{_thin(STYLE)}</style></head><body>",
            f"<header><h1>{_safe(title)}</h1>{opening}</header>",
            f'<div class="page"><main>{inside}</main>{_margin()}</div>',
            f"<footer><p>{_safe(footer)}</p></footer></body></html>",
            "",
        ]
    )


def _thin(style: str) -> str:
    return re.sub(r"\s+", " ", style).strip()


def _safe(text: str) -> str:
    """Text that a browser shows and never obeys; control characters are written out."""
    return html.escape(clean(text))


def _shown(text: str) -> str:
    """Text of the page: a percentage stays on one line."""
    return re.sub(r"[\d.,]*\d %", r'<span class="short">\g<0></span>', _safe(text))


def _section(section: Section) -> str:
    label = f"{section.name}-title"
    return "".join(
        [
            f'<section aria-labelledby="{label}">',
            f'<h2 id="{label}">{_safe(section.title)}</h2>',
            *(f"<p>{_shown(one)}</p>" for one in section.words),
            *_facts(section.facts),
            section.picture,
            *_table(section),
            "</section>",
        ]
    )


def _facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    if facts:
        pairs = (f"<dt>{_parted(a)}</dt><dd>{_shown(b)}</dd>" for a, b in facts)
        yield f"<dl>{''.join(pairs)}</dl>"


def _parted(name: str) -> str:
    """A long name of a field breaks at its joints."""
    return re.sub(r"(?<=\w)[._](?=\w)", r"\g<0><wbr>", _safe(name))


def _table(section: Section) -> Iterator[str]:
    """A table that may be wide scrolls by itself, by keyboard too."""
    if not section.rows:
        return
    head = "".join(f'<th scope="col">{_safe(one)}</th>' for one in section.heading)
    yield f'<div class="wide" role="group" tabindex="0" aria-label="{_safe(section.title)}">'
    yield "<table>"
    yield f"<thead><tr>{head}</tr></thead>" if head else ""
    yield f"<tbody>{''.join(map(_row, section.rows))}</tbody></table></div>"


def _row(row: Sequence[str]) -> str:
    first, *rest = row
    cells = "".join(map(_cell, rest))
    return f'<tr><th scope="row">{_shown(first)}</th>{cells}</tr>'


def _cell(text: str) -> str:
    kind = ' class="short"' if len(text) <= SHORT else ""
    return f"<td{kind}>{_shown(text)}</td>"


def _margin() -> str:
    pairs = "".join(f"<dt>{word}</dt><dd>{_marked(text)}</dd>" for word, text in WORDS)
    return f'<aside aria-label="Words"><h2>Words</h2><dl>{pairs}</dl></aside>'


def _marked(text: str) -> str:
    """The glossary's own marks: code and emphasis."""
    code = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*([^*]*)\*", r"<em>\1</em>", code)
