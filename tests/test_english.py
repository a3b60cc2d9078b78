"""The check of the English of docstrings, messages, help texts and pages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tools import english
from tools.english import ROOT, Text, compare, hits, page_texts, source_texts
from tools.english_rules import RULES

CEILING = 2372
"""Entries of tools/english.txt. Lower it when entries are gone."""
GUIDE = ROOT / "docs" / english.GUIDE

# rule: (kind of text, what it finds, a neighbour that it leaves alone)
CASES = {
    "way-back": ("docstring", "Gradients: one way back.", "One backward pass."),
    "clip-radius": ("string", "the clipping radius", "the clipping norm"),
    "truths": ("docstring", "Lists of truths.", "Lists of booleans."),
    "the-truth": ("page", "Intervals hold the truth.", "Compare with ground truth."),
    "texts": ("page", "A column of texts.", "Call `texts` on a page."),
    "a-text": ("string", "pass a text", "pass a text file"),
    "go-on": ("page", "The run goes on.", "The light goes out."),
    "for-ever": ("page", "It is kept for ever.", "It is kept for every row."),
    "deviation": ("page", "Noise of deviation 2.", "The standard deviation is 2."),
    "held-at": ("page", "It is held at 0.", "Two are held at once."),
    "counts-as": ("page", "NaN counts as 0.", "Counts as they are read."),
    "counts-for": ("page", "It counts for nothing.", "It counts rows."),
    "may-lose": ("page", "What a message may lose.", "A message may be lost."),
    "less-than-minus": ("page", "One arm less that of two.", "One arm has less."),
    "moved-towards": ("page", "They are drawn towards 0.", "They are shrunk to 0."),
    "make-one": ("help", "No negative shares; all make one.", "All make one list."),
    "part-of-the-whole": ("page", "A part of the whole.", "A part of the total."),
    "told-apart": ("page", "Values are told apart.", "Values are kept apart."),
    "told-by": ("page", "A secret is told by time.", "You are told to wait."),
    "dear": ("page", "A dear validation.", "A costly validation."),
    "stays-open": ("page", "The interval stays open.", "The book stays closed."),
    "in-all": ("page", "It costs 2 in all.", "It is in all rows."),
    "uniform-but-for": ("page", "Uniform but for 2^-64.", "Not for you, but us."),
    "put-together": ("page", "They are put together.", "They are put in order."),
    "turn-round": ("page", "Turn the order round.", "Turn to the next page."),
    "beside": ("page", "It is small beside ε.", "It lies beside the file."),
    "what-is-spendable": ("page", "80 % is left.", "The left arm."),
    "in-the-book": ("page", "It stands in the book.", "It is in the book shop."),
    "this-book": ("string", "two accounts in this book", "the head of the book"),
    "is-taken": ("string", "a function was taken", "steps are taken from {}"),
    "is-paid": ("string", "reworded, {} paid", "it has paid for the run"),
    "so-many": ("help", "So many people look on.", "So many that none fits."),
    "a-for-per": ("page", "Three rows a unit.", "How many rows a unit has."),
    "line-for-row": ("help", "A file with one line a person.", "One line of text."),
    "as-many": ("docstring", "As many as there are.", "Exactly as many."),
    "how-far-off": ("page", "How far off it is.", "How far it is."),
    "times-as": ("page", "It is likelier.", "It is more likely."),
    "is-no": ("page", "NULL is no key.", "There is no key."),
    "is-none": ("page", "None where it has none.", "There is none."),
    "none-where": ("docstring", "Rows; None where keys vary.", "None if keys vary."),
    "what-is-none": ("page", "It refuses what is none.", "It is not one."),
    "nothing-but": ("page", "It reads nothing but rows.", "It reads nothing."),
    "nothing-to-do": ("string", "has nothing to do", "has nothing to do with keys"),
    "nothing-about": ("page", "It tells nothing about us.", "It shows nothing."),
    "not-at-all": ("page", "They count not at all.", "It is whole or not at all."),
    "nobody-does": ("page", "Keys nobody declared.", "Nobody can read it."),
    "where-for-if": ("page", "Where keys are private, pay.", "Where are the keys?"),
    "where-it-is": ("page", "0 where there is no row.", "See where it is."),
    "whoever": ("page", "Whoever asks pays.", "The analyst pays."),
    "if-not-given": ("help", "A day; today if not given.", "A day; given by you."),
    "is-otherwise": ("page", "Here it is otherwise.", "It would otherwise fail."),
    "should-inversion": (
        "page",
        "Should it fail, try again.",
        "It should fail, not hang.",
    ),
    "that-is-there": ("page", "The book that is there.", "Is the book there?"),
    "fronted-place": (
        "page",
        "Beside each number stand the ends.",
        "Beside each number you see its ends.",
    ),
    "negative-first": ("page", "Nor does it hold.", "It does not hold."),
    "then-verb": ("page", "Then comes a line.", "Then add a line."),
    "of-these": ("page", "Of these the last.", "Two of these."),
    "where-it-lies": (
        "page",
        "It says where the mean lies.",
        "It says where the file is.",
    ),
    "knows": ("page", "A test that knows the noise.", "You know the noise."),
    "needs-not": ("page", "It needs not know.", "It does not need it."),
    "name-says": ("page", "`rows` says how many.", "`rows` is the number."),
    "which-it-says": ("page", "Bounds, which it says.", "The log says so."),
    "wants": ("page", "The server wants a key.", "The reader wants a key."),
    "obeys": ("page", "The terminal never obeys it.", "It must obey TPR ≤ 1."),
    "answers-tell": ("page", "Answers tell much.", "Times tell inputs apart."),
    "promises-together": ("page", "Both choices promise ε.", "We promise ε."),
    "without-second-thought": (
        "page",
        "It is made without a second thought.",
        "It is made in a second.",
    ),
    "what-opening": ("help", "What it costs.", "Cost. What it costs."),
    "how-opening": ("help", "How many rows.", "How to read it."),
    "who-opening": ("docstring", "Whom to protect.", "Whole rows."),
    "where-opening": ("docstring", "Where the file is.", "Whereas."),
    "same-opening": ("docstring", "The same for rows.", "The same-sized rows."),
    "fragment-opening": ("help", "Of the intervals.", "Offers the intervals."),
    "cross-reference": ("docstring", "One of them.", "One of three keys."),
    "becomes-of": ("docstring", "Sees what becomes of it.", "It becomes one."),
    "is-made-of": ("page", "What a plan is made of.", "It is made of glass."),
    "same-again": ("page", "Ask the same again.", "Send the same bytes again."),
    "one-way": ("page", "Say it in one way.", "It fails in some way."),
    "look-alike": ("page", "People who look alike.", "All people alike."),
    "archaic": ("page", "It is drawn anew.", "It is drawn again."),
    "surely": ("page", "It is surely so.", "It is a sure thing."),
    "is-to-be": ("page", "It is to be asked.", "It is to the left."),
    "gerund-noun": ("page", "After a restoring.", "After restoring it."),
    "is-about": ("page", "The account is about them.", "The book is about 1 MB."),
    "colon-predicate": ("page", "keep: has no use", "keep: why is it there?"),
    "not-fragment": ("page", "Look. Not from here.", "Look. Not every one is."),
    "one-word-sentence": ("docstring", "Its size. Free.", "Its size is free."),
}


def found(kind: str, words: str) -> set[str]:
    return {hit.rule.name for hit in hits(Text(kind, "here", 1, words))}


def test_every_rule_has_a_case_and_a_name_of_its_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names) >= 40
    assert set(names) == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_a_rule_finds_its_phrase_and_leaves_the_neighbour_alone(name: str) -> None:
    kind, hit, miss = CASES[name]
    assert name in found(kind, hit)
    assert name not in found(kind, miss)


CODE = '''\
"""What a module holds."""

LIMIT = 3
"""How many rows there are."""

# So many rows
# are read at once.
def read(rows):
    """The rows that
    are drawn anew.
    """
    if rows > LIMIT:
        raise ArgumentError(
            "rows",
            f"must be at most {LIMIT}, "
            "or a text",
        )


option("--rows", help="Of the table.")
'''


def test_a_source_has_docstrings_comments_messages_and_help_texts() -> None:
    texts = list(source_texts(CODE, "code.py"))
    seen = [(hit.rule.name, hit.line) for text in texts for hit in hits(text)]
    assert seen == [
        ("what-opening", 1),
        ("how-opening", 4),
        ("so-many", 6),
        ("archaic", 10),
        ("a-text", 15),
        ("fragment-opening", 20),
    ]


def test_the_code_of_a_page_is_not_prose() -> None:
    page = (
        "# Whoever asks\n\n```py\nso_many = 'whoever'  # so many\n```\n\n"
        "<!-- test\nwhoever\n-->\n\n- a [link that\n  stays open](whoever.md)\n\n"
        "| rows | so many |\n|---|---|\n\nCall `whoever is here`.\n"
    )
    seen = [
        (hit.rule.name, hit.line)
        for text in page_texts(page, "page.md")
        for hit in hits(text)
    ]
    assert seen == [("whoever", 1), ("stays-open", 12), ("so-many", 14)]


def test_a_sentence_may_move_but_not_change() -> None:
    old = hits(Text("docstring", "a.py", 1, "Fine. It is drawn anew. Good."))
    listed = Counter(hit.fingerprint for hit in old)
    moved = list(hits(Text("page", "b.md", 9, "It is\n  drawn anew.")))
    changed = list(hits(Text("docstring", "a.py", 1, "Now it is drawn anew.")))
    assert compare(moved, listed) == ([], Counter())
    assert compare(changed, listed) == (changed, listed)
    assert compare(moved * 2, listed) == (moved, Counter())


def test_what_users_see_has_no_entries() -> None:
    said = list(hits(Text("string", "a.py", 1, "it is drawn anew")))
    assert compare(said, Counter(hit.fingerprint for hit in said))[0] == said


PAIR = re.compile(r"^\| (?!instead of)(.+?) \| (.+?) \| ([a-z-]+|—) \|$", re.MULTILINE)


def test_the_guide_has_sixty_pairs_that_the_check_agrees_with() -> None:
    """What a rule finds on the left is gone on the right, whatever kind of text it is;
    where no rule is named, none finds anything.
    """
    pairs = PAIR.findall(GUIDE.read_text(encoding="utf-8"))
    assert len(pairs) >= 60
    kinds = ("docstring", "help", "string", "page")
    for before, after, rule in pairs:
        left = set[str]().union(*(found(kind, before) for kind in kinds))
        right = set[str]().union(*(found(kind, after) for kind in kinds))
        assert rule in left if rule in CASES else not left, (before, left)
        assert not right, (after, right)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of one page, and an empty list."""
    page = Text("page", "page.md", 3, "It is drawn anew.")
    path = tmp_path / "english.txt"
    path.write_text("", encoding="utf-8")
    monkeypatch.setattr(english, "BASELINE", path)
    monkeypatch.setattr(english, "texts", lambda: iter([page]))
    return path


def test_a_new_phrase_fails_and_cannot_be_written(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert english.main([]) == english.main(["--write"]) == 1
    assert "page.md:3: archaic: 'anew'; write: again" in capsys.readouterr().out
    assert listed.read_text(encoding="utf-8") == ""


def test_a_phrase_that_is_gone_passes_until_it_is_written(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert english.main(["--adopt", "archaic"]) == 0
    one = listed.read_text(encoding="utf-8")
    listed.write_text(one + "so-many 0123456789\n", encoding="utf-8")
    assert english.main([]) == 0
    assert (
        "1 are gone: run `python tools/english.py --write`" in capsys.readouterr().out
    )
    assert english.main(["--write"]) == 0
    assert listed.read_text(encoding="utf-8") == one


def test_a_rule_of_the_list_adopts_nothing_more(listed: Path) -> None:
    listed.write_text("archaic 0123456789\n", encoding="utf-8")
    assert english.main(["--adopt", "archaic"]) == 1
    assert listed.read_text(encoding="utf-8") == "archaic 0123456789\n"


def test_the_list_is_in_order_and_names_rules() -> None:
    lines = english.BASELINE.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines)
    assert {line.split()[0] for line in lines} <= CASES.keys()
    assert all(re.fullmatch(r"[a-z-]+ [0-9a-f]{10}", line) for line in lines)


def test_the_list_only_becomes_shorter() -> None:
    """If this fails after `--write`: lower CEILING to what is left. Never raise it."""
    assert len(english.BASELINE.read_text(encoding="utf-8").splitlines()) <= CEILING


def test_no_new_phrase_stands_in_the_tree() -> None:
    """If this fails: write the sentence as docs/plain-english.md says."""
    new, _ = compare(
        [hit for text in english.texts() for hit in hits(text)], english.known()
    )
    assert [str(hit) for hit in new] == []
