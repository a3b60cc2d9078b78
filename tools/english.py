"""Finds phrases that a reader has to decode, in docstrings, comments, messages, help
texts and pages: `python tools/english.py`.

`tools/english.txt` lists what was there before the check: a rule and a hash of the
sentence for each phrase, wherever it stands. A sentence may move; a new or changed
sentence must pass all rules. `--write` removes what is gone and adds nothing, so the
list only becomes shorter. Messages, prints and help texts have no entries there: they
must pass all rules. docs/plain-english.md is the guide.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tools.english_rules import (  # noqa: E402
    GROUPS,
    MESSAGES,
    OPENINGS,
    RULES,
    SHOWN,
    Rule,
)

BASELINE = ROOT / "tools" / "english.txt"
GUIDE = "plain-english.md"
FRONT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages outside of docs/."""
MADE = ("docs/api.md", "docs/api/", "docs/errors.md", "docs/errors/", "docs/cli.md")
"""Generated pages: what they say is checked in the source."""

LITERAL = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<prefix>\b[rbufRBUF]{1,2})?(?:"
    r'"""(?P<long>(?:[^"\\]|\\.|"(?!""))*)"""'
    r'|"(?P<double>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)')",
    re.DOTALL,
)
FILLED = re.compile(r"\{[^{}]*\}")
ESCAPE = re.compile(r"\\(?:n|t|\n)")
WORD = re.compile(r"[A-Za-z]+")
PARAGRAPH = re.compile(r"\n[ \t]*\n")
END = re.compile(r"[.!?](?= )")
FENCE = re.compile(
    r"^ *```.*?^ *```[ ]*$|<!--.*?-->|\A---\n.*?^---$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\n]*\)(?:\{[^}\n]*\})?")
CODE = re.compile(r"`[^`\n]*`")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.|#+|>|!!! \w+|\?\?\? \w+|\|)\s*")


@dataclass(frozen=True)
class Text:
    """Something that people read: its kind, its file, and the line it begins in."""

    kind: str
    place: str
    line: int
    words: str


@dataclass(frozen=True)
class Hit:
    """A phrase that a rule found."""

    rule: Rule
    kind: str
    place: str
    line: int
    phrase: str
    sentence: str

    @property
    def fingerprint(self) -> str:
        """The rule and a hash of the sentence, without its place."""
        plain = " ".join(self.sentence.split())
        digest = hashlib.blake2b(plain.encode(), digest_size=5).hexdigest()
        return f"{self.rule.name} {digest}"

    def __str__(self) -> str:
        phrase = " ".join(self.phrase.split())
        return (
            f"{self.place}:{self.line}: {self.rule.name}: {phrase!r}; "
            f"write: {self.rule.instead}"
        )


def source_texts(code: str, place: str) -> Iterator[Text]:
    """Docstrings, help texts, other strings and comments of a Python file. Strings that
    stand one after the other are one text, and so are lines of a comment.
    """
    kind, parts, first = "", list[str](), 0
    line, end = 1, 0
    for found in LITERAL.finditer(code):
        line += code.count("\n", end, found.start())
        own = _kind(found, code)
        if not parts or not _continues(kind, own, code[end : found.start()]):
            if parts:
                yield Text(kind, place, first, "".join(parts))
            kind, parts, first = own, [], line
        parts.append(_content(found))
        end = found.end()
        line += code.count("\n", found.start(), end)
    if parts:
        yield Text(kind, place, first, "".join(parts))


def _kind(found: re.Match[str], code: str) -> str:
    if found["comment"] is not None:
        return "comment"
    before = code[max(0, found.start() - 120) : found.start()].rstrip(" \n")
    if found["long"] is not None and before[-1:] not in tuple("(,=[{+"):
        return "docstring"
    return "help" if before.rstrip("( \n").endswith("help=") else "string"


def _continues(kind: str, own: str, between: str) -> bool:
    """Whether a literal continues the text of the literal before it."""
    if between.strip() or "docstring" in (kind, own):
        return False
    if "comment" in (kind, own):
        return kind == own and between.count("\n") == 1
    return True


def _content(found: re.Match[str]) -> str:
    if found["comment"] is not None:
        return found["comment"].lstrip("#") + "\n"
    text = found["long"] or found["double"] or found["single"] or ""
    if "f" in (found["prefix"] or "").lower():
        text = FILLED.sub("{}", FILLED.sub("{}", text))
    return ESCAPE.sub(" ", text)


def page_texts(page: str, place: str) -> Iterator[Text]:
    """Paragraphs, headings, list items and cells of a page, without code. A single name
    in backticks stays.
    """
    page = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page)
    page = CODE.sub(_code, LINK.sub(r"\1", page))
    parts: list[str] = []
    first = 0
    for number, line in enumerate(page.splitlines(), start=1):
        opens = ITEM.match(line)
        if parts and (opens or not line.strip()):
            yield Text("page", place, first, "\n".join(parts))
            parts = []
        if line.lstrip().startswith("|"):
            if not place.endswith(GUIDE):
                for cell in line.strip().strip("|").split("|"):
                    yield Text("page", place, number, cell.strip())
        elif line.strip():
            first = first if parts else number
            parts.append(ITEM.sub("", line).replace("**", ""))
    if parts:
        yield Text("page", place, first, "\n".join(parts))


def _code(span: re.Match[str]) -> str:
    return "`code`" if " " in span[0] else span[0]


def texts(root: Path = ROOT) -> Iterator[Text]:
    """All texts that are checked."""
    for path in sorted((root / "src" / "dither").rglob("*.py")):
        place = path.relative_to(root).as_posix()
        yield from source_texts(path.read_text(encoding="utf-8"), place)
    for path in [
        *(root / one for one in FRONT),
        *sorted((root / "docs").rglob("*.md")),
    ]:
        place = path.relative_to(root).as_posix()
        if not place.startswith(MADE):
            yield from page_texts(path.read_text(encoding="utf-8"), place)


@functools.cache
def _rules_by_word() -> dict[str, tuple[Rule, ...]]:
    index: dict[str, list[Rule]] = defaultdict(list)
    for rule in RULES:
        for word in rule.words:
            index[word].append(rule)
    return {word: tuple(rules) for word, rules in index.items()}


def hits(text: Text) -> Iterator[Hit]:
    """What the rules find in one text."""
    index = _rules_by_word()
    line = text.line
    for number, raw in enumerate(PARAGRAPH.split(text.words)):
        plain = " ".join(raw.split())
        words = set(WORD.findall(plain.lower()))
        wanted = {rule for word in words & index.keys() for rule in index[word]}
        for rule in sorted(wanted, key=lambda rule: rule.name):
            if text.kind not in rule.kinds or (number and rule.kinds is OPENINGS):
                continue
            if rule.kinds is MESSAGES and text.words[:1].isspace():
                continue
            for found in rule.pattern.finditer(plain):
                lines = raw.count("\n", 0, _place(found[0], raw))
                sentence = _sentence(plain, found.start(), found.end())
                yield Hit(rule, text.kind, text.place, line + lines, found[0], sentence)
        line += raw.count("\n") + 2


def _place(phrase: str, raw: str) -> int:
    found = re.search(r"\s+".join(map(re.escape, phrase.split())), raw)
    return found.start() if found else 0


def _sentence(plain: str, start: int, end: int) -> str:
    """The sentence around a phrase, or the sentences that it touches."""
    before = [stop.end() for stop in END.finditer(plain, 0, start)]
    after = END.search(plain, max(start, end - 1))
    return plain[before[-1] if before else 0 : after.end() if after else None].strip()


def known() -> Counter[str]:
    """The phrases of the list."""
    return Counter(BASELINE.read_text(encoding="utf-8").splitlines())


def compare(
    found: Iterable[Hit], listed: Counter[str]
) -> tuple[list[Hit], Counter[str]]:
    """Phrases that are not in the list or that users see, and entries of the list that
    are gone.
    """
    rest, new = Counter(listed), []
    for hit in found:
        if hit.kind not in SHOWN and rest[hit.fingerprint] > 0:
            rest[hit.fingerprint] -= 1
        else:
            new.append(hit)
    return new, +rest


def write(listed: Counter[str]) -> None:
    """Write the list, one line for each phrase, in order."""
    lines = sorted(listed.elements())
    BASELINE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Check the tree; 1 if it has a phrase that is not in the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="remove entries that are gone"
    )
    parser.add_argument("--adopt", metavar="RULE", help="list what a new rule finds")
    parser.add_argument(
        "--list", metavar="RULE", help="show what a rule finds, or 'all'"
    )
    parser.add_argument("--rules", action="store_true", help="show the rules")
    chosen = parser.parse_args(arguments)
    if chosen.rules:
        for group, rules in GROUPS.items():
            print(f"{group}:")
            for rule in rules:
                print(f"  {rule.name:24} {rule.instead}")
        return 0
    found = [hit for text in texts() for hit in hits(text)]
    if chosen.list:
        for hit in found:
            if chosen.list in (hit.rule.name, "all"):
                print(hit)
        return 0
    listed = known()
    if chosen.adopt:
        return _adopt(chosen.adopt, found, listed)
    new, gone = compare(found, listed)
    for hit in new:
        print(hit)
    if gone and chosen.write:
        write(listed - gone)
    elif gone:
        print(f"{gone.total()} are gone: run `python tools/english.py --write`")
    print(
        f"english: {len(found)} phrases, {len(new)} of them new; {GUIDE} is the guide"
    )
    return 1 if new else 0


def _adopt(name: str, found: list[Hit], listed: Counter[str]) -> int:
    """List what a new rule finds. A rule that is in the list has no new entries."""
    if any(entry.split()[0] == name for entry in listed):
        print(f"{name} is in the list already: rewrite the sentences that it finds")
        return 1
    write(listed + Counter(hit.fingerprint for hit in found if hit.rule.name == name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
