"""The rules of `tools/english.py`: phrases that a reader has to decode, and what to
write instead. docs/plain-english.md shows pairs from this project.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPENINGS = frozenset({"docstring", "help"})
"""Texts that say what something is: the first words name it."""
MESSAGES = frozenset({"string"})
SHOWN = frozenset({"string", "help"})
"""Texts that users see while they work."""
EVERYWHERE = frozenset({"docstring", "help", "string", "comment", "page"})

AUXILIARIES = "is|are|was|were|has|have|had|does|do|can|may|must"
"""Verbs that a condition or an inversion begins with."""


@dataclass(frozen=True)
class Rule:
    """A phrase to find. Texts without any of the `words` are not searched; `instead` is
    what to write.
    """

    name: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    instead: str
    kinds: frozenset[str] = EVERYWHERE


def _rule(
    name: str,
    words: str,
    pattern: str,
    instead: str,
    kinds: frozenset[str] = EVERYWHERE,
) -> Rule:
    return Rule(
        name,
        frozenset(words.split()),
        re.compile(pattern, re.IGNORECASE),
        instead,
        kinds,
    )


WORDS_OF_THE_FIELD = (
    _rule(
        "way-back",
        "way back",
        r"\b(?:one|a|the|each|no) way back\b|\bon the way (?:back|forward)\b",
        "backward pass, forward pass; 'cannot be undone'",
    ),
    _rule(
        "clip-radius",
        "radius",
        r"\bclip(?:ping)? radius\b",
        "clipping norm",
    ),
    _rule(
        "truths",
        "truth truths",
        r"(?<![.`])\btruths\b|\ba truth\b|\btruth values?\b",
        "boolean, booleans",
    ),
    _rule("the-truth", "truth", r"\bthe truth\b", "the true value"),
    _rule("texts", "texts", r"(?<![.`])(?<!help )\btexts\b", "strings, or documents"),
    _rule(
        "a-text",
        "text",
        r"\b(?:a|one|no|each) text\b(?! (?:file|column|editor|box|field))",
        "a string, or a document",
    ),
    _rule(
        "go-on",
        "go goes going gone went",
        r"\b(?:go|goes|going|gone|went) on\b(?! (?:a |the )?(?:disk|sale|top))",
        "resume, continue",
    ),
    _rule("for-ever", "ever", r"\bfor ever\b", "permanently; in total, over all time"),
    _rule(
        "deviation",
        "deviation deviations",
        r"(?<!standard )(?<!absolute )(?<!quartile )\bdeviations?\b(?! bound)",
        "standard deviation",
    ),
    _rule(
        "held-at",
        "held",
        r"\bheld (?:at(?! once)|between|from \S+ to|to (?:0|the bounds?|its bounds?))\b",
        "clamped to",
    ),
    _rule(
        "counts-as",
        "count counts",
        r"(?<!the )\bcounts? as\b(?! (?:they|it|themselves|many|soon|before|neighbours))",
        "is treated as; is clamped to; is set to",
    ),
    _rule(
        "counts-for",
        "count counts counting",
        r"\bcount(?:s|ing)? for\b|\b(?:none|nobody|nothing) counts\b",
        "contributes; is ignored; is left out",
    ),
    _rule(
        "may-lose",
        "lose loses",
        r"\b(?:may|can)(?: ever)? lose\b(?! (?:a|an|the|its|rows|data|digits|precision)\b)|"
        r"\b(?:messages?|bits?|thresholds?|answers?) (?:really )?loses?\b",
        "has a privacy loss of",
    ),
    _rule(
        "less-than-minus",
        "less",
        r"\b(?:arm|mean|median|count|sum|b|total|numerator) less (?:that|those|the|a)\b",
        "minus",
    ),
    _rule(
        "moved-towards",
        "drawn moved pulled towards",
        r"\b(?:drawn|moved|pulled) towards\b",
        "shrunk towards",
    ),
    _rule(
        "make-one",
        "make makes",
        r"\b(?:all|shares|parts|weights) makes? one\b(?=[.;,)]|$)",
        "sum to 1",
    ),
    _rule(
        "part-of-the-whole",
        "whole",
        r"\bparts? of the whole\b",
        "relative error, share, fraction",
    ),
    _rule("told-apart", "told", r"\btold apart\b", "distinguished; 'distinct values'"),
    _rule(
        "told-by",
        "told",
        r"\b(?:is|are|was|were) (?:never |rightly )?told (?:by|from|in|rightly)\b",
        "is inferred from, is revealed by",
    ),
    _rule("dear", "dear dearer dearest", r"\bdear(?:er|est)?\b", "expensive"),
    _rule(
        "stays-open",
        "open",
        r"\bintervals? (?:stays?|need not be) open\b|\bstays? open\b",
        "has no upper bound, is unbounded",
    ),
    _rule(
        "in-all", "all", r"\bin all\b(?=[.;,):]|$| for (?:one|each|any)\b)", "in total"
    ),
    _rule(
        "uniform-but-for",
        "but",
        r"\bbut for\b",
        "except for, to within",
    ),
    _rule(
        "put-together",
        "put",
        r"\bput together\b",
        "combined, joined",
    ),
    _rule(
        "turn-round",
        "round",
        r"\bturn(?:s|ed|ing)? (?:\w+ ){0,3}round\b",
        "reverse",
    ),
    _rule(
        "beside",
        "beside besides",
        r"\b(?:small|large|little|big|much|nothing|know|negligible|short|tiny) besides?\b",
        "compared with; 'in addition to'",
    ),
    _rule(
        "what-is-spendable",
        "left",
        r"\b(?:asks?|in|into|from|show|shows) what is left\b|"
        r"\bwhat is left (?:of|on|in) (?:the|an|each|this) (?:account|budget|book)\b|% is left\b",
        "the remaining budget; '… remain'",
    ),
    _rule(
        "in-the-book",
        "book",
        r"\b(?:answered|served|read|known|stands?|stood|kept) (?:from|in|by) the book\b",
        "from the ledger, in the ledger",
    ),
    _rule(
        "this-book",
        "book books",
        r"\b(?:this|another|other|each|in a) books?\b",
        "ledger",
        SHOWN,
    ),
    _rule(
        "is-taken",
        "taken",
        r"\b(?:is|are|was|were) taken\b(?! (?:from|by)\b)",
        "is used; is applied; is treated as",
        SHOWN,
    ),
    _rule("is-paid", "paid", r"(?<=\S )paid\b(?! for\b)", "charged", SHOWN),
)

QUANTITIES = (
    _rule(
        "so-many",
        "so",
        r"\bso (?:many|few|much)\b(?![^.;:]{0,90}\b(?:that|as|than)\b)",
        "name the number: n, `count`, 'this many'",
    ),
    _rule(
        "a-for-per",
        "a an",
        r"\b(?:rows?|values?|lines?|draws?|bits?|cells?|bytes|messages?|numbers?|answers?|columns?|link|picture|"
        r"idea|key) an? (?:unit|person|patient|line|side|message|row|group|device|column|level|value|client|"
        r"record|door|user|start|node|word|attribute)\b"
        r"(?! (?:is|are|was|has|have|had|can|may|must|could|will|does|adds|brings|counts|holds|sends|gives|keeps|gets|"
        r"takes|contributes|asks|comes|in \w+ has)\b)",
        "per: 'rows per unit'",
    ),
    _rule(
        "line-for-row",
        "line lines",
        r"\b(?:one|a) line (?:for each|of each|a|per) (?:unit|person|patient|value|client|row|class)\b",
        "row",
    ),
    _rule(
        "as-many",
        "as",
        r"^As (?:many|much|far|often)\b|\bas many [a-z]+ each\b",
        "say which number; 'equally many'",
    ),
    _rule(
        "how-far-off",
        "off",
        r"\bhow far off\b|\bhow far (?:a|an|the|each|any) \w+ (?:may|can|will) be off\b|\b(?:may|can|is|be|are) off by\b",
        "error; 'differs by'",
    ),
    _rule(
        "times-as",
        "likelier likeliest seldom seldomer",
        r"\b(?:likelier|likeliest|seldom)\b",
        "more likely, most likely, rarely",
    ),
)

NEGATIONS = (
    _rule(
        "is-no",
        "no",
        r"(?<!there )\b(?:is|are|was|were|be) no (?!longer|more|less|such|fewer|way|need|larger|smaller|better|"
        r"wider|finer|lower|higher|bigger|cheaper|faster|slower|worse|further|reason|use|information|doubt|surprise|problem|sooner|later|later|and\b|or\b)(?=[a-z])\w+",
        "is not a …",
    ),
    _rule(
        "is-none",
        "none",
        r"(?<!there )\b(?:is|are|was|were|be|has|have|had|gives?|holds?|needs?) (?-i:none)\b",
        "does not have one; 'is not a …'",
    ),
    _rule(
        "none-where",
        "none",
        r"\bnone (?:where|for what|of that where)\b",
        "None if …",
    ),
    _rule(
        "what-is-none",
        "what",
        r"\bwhat is (?:none|no)\b",
        "other values, everything else",
    ),
    _rule(
        "nothing-but",
        "nothing",
        r"\bnothing but\b",
        "only",
    ),
    _rule(
        "nothing-to-do",
        "nothing",
        r"\b(?:has|have) nothing to do\b(?! with)|\bhas no meaning\b",
        "has no effect",
    ),
    _rule(
        "nothing-about",
        "nothing nobody",
        r"\b(?:tells?|knows?) (?:nothing|nobody)\b",
        "does not reveal, does not show",
    ),
    _rule(
        "not-at-all",
        "all",
        r"(?<!or )\bnot at all\b(?=[.;]|$)",
        "are ignored; 'does not'",
    ),
    _rule(
        "nobody-does",
        "nobody",
        r"\bnobody (?:declared|stated|named|listed|said|says so|is told|promised|has (?:listed|declared|stated|named))\b",
        "passive: 'is not declared', 'is unknown'",
    ),
)

CONDITIONS = (
    _rule(
        "where-for-if",
        "where",
        r"(?:^|(?<=[.!?:;] ))where (?!the code|tables live|[^.,;:?]{0,90}\blies?,)[^.,;:?]{3,90}, ",
        "If …,",
    ),
    _rule(
        "where-it-is",
        "where",
        r"(?<!know )(?<!known )(?<!place )(?<!places )(?<!line )(?<!see )(?<!, and )"
        r"\bwhere (?:there (?:is|are)|(?:one|none|nobody|nothing|somebody|some|several|any|both|neither) "
        rf"(?:{AUXILIARIES})|it has|they have|they differ)\b",
        "if",
    ),
    _rule(
        "whoever",
        "whoever whomever",
        r"\bwhom?ever\b",
        "anyone who; or name them: the analyst",
    ),
    _rule(
        "if-not-given",
        "if unless",
        r"\bif (?:not given|absent|nobody says so|nobody says otherwise|not passed)\b|\bunless somebody\b",
        "(default: …)",
    ),
    _rule(
        "is-otherwise",
        "otherwise",
        r"\b(?:is|are) otherwise\b",
        "say what changes, with 'if'",
    ),
    _rule(
        "should-inversion",
        "should were had",
        r"(?:^|(?<=[.!?;,] ))(?:should|were|had) (?:it|they|there|a|an|the|one|this|that|you|anybody|somebody) "
        r"\w+[^.?;]{0,60},",
        "If it …",
    ),
    _rule(
        "that-is-there",
        "there",
        r"\b(?:that|which|what|whose \w+) (?:is|are|was|were) there\b",
        "existing, present",
    ),
)

INVERSIONS = (
    _rule(
        "fronted-place",
        "stand stands stood lie lies comes come goes belongs",
        r"(?:^|(?<=[.!?;:] ))(?:beside|behind|above|below|under|over|before|after|among|between|within|with) "
        r"[^.,;:]{2,60} (?:stands?|stood|lies?|comes?|goes|belongs) (?:the|a|an|its|all|those|one|what|two|their)\b",
        "subject first: 'each number has …'",
    ),
    _rule(
        "negative-first",
        "nor never only neither not",
        rf"(?:^|(?<=[.!?;] ))(?:nor|neither|never|only then|only so) (?:{AUXILIARIES}|did) "
        r"(?:it|they|the|a|an|this|that|any)\b",
        "subject first: 'It also does not …'",
    ),
    _rule(
        "then-verb",
        "then so",
        r"(?:^|(?<=[.!?;] ))(?:then|so|thus|here|there) (?:come|comes|follow|follows|stand|stands|lie|lies|go|goes)\b",
        "subject first",
    ),
    _rule(
        "of-these",
        "of",
        r"(?:^|(?<=[.!?;:] ))of (?:these|those|them|each)\b",
        "subject first: 'the largest of these'",
    ),
    _rule(
        "where-it-lies",
        "where lie lies",
        r"\bwhere (?:the|a|an|each|all|its|their|it|one|both)\b[^.,;:]{0,50} (?:lie|lies)\b",
        "an interval for; 'contains the true value'",
    ),
)

PERSONS = (
    _rule(
        "knows",
        "know knows",
        r"\b(?:noise|values?|p-values?|intervals?|sums?|counts?|questions?|mechanisms?|layers?|plans?|engines?|"
        r"tables?|columns?|types?|books?|accounts?|tests?|functions?|oracles?|that|which|it|alone,? which) "
        r"(?:know|knows)\b",
        "uses, contains, accounts for",
    ),
    _rule(
        "needs-not",
        "needs know",
        r"\bneeds not\b|\bknows? of (?:the|its|their) noise\b|\bknows? no\b|\bknow nothing\b",
        "does not need; does not use",
    ),
    _rule(
        "name-says",
        "says say tells tell wants knows",
        r"`[^`]+` (?:says|say|tells|tell|wants|knows)\b(?! otherwise)",
        "`name` is …; True if …",
    ),
    _rule(
        "which-it-says",
        "says",
        r"\b(?:which|that|as) (?:it|they|each|its \w+) (?:itself )?says\b|\beach says so\b|"
        r"\bwhat (?:its|the) (?:theorem|law|rule) says\b",
        "name who or what states it",
    ),
    _rule(
        "wants",
        "want wants wish wishes hope hopes believe believes pretend pretends",
        r"\b(?:book|account|answer|noise|question|number|value|interval|server|engine|file|column|table|function|"
        r"type|model|plan|objects|layer|process|these|it)s? (?:may |must )?(?:want|wish|hope|believe|pretend)s?\b",
        "requires, expects, assumes",
    ),
    _rule(
        "obeys",
        "obey obeys obeyed agrees agree forgets forget forgotten trusts",
        r"\b(?:never|terminal|would|not|browser) obey(?:s|ed)?\b|\band obeyed\b|"
        r"\b(?:book|noise|file|server|cluster|model|interval)s? (?:forgets?|trusts?)\b|"
        r"\bforgotten (?:book|file|run)",
        "executed, deleted, closed",
    ),
    _rule(
        "answers-tell",
        "tell tells",
        r"\b(?:answers?|releases?|messages?|counts?|tables?|frequencies|times?|it|they|sizes?|error|failure|one) "
        r"(?:may |can |could |would |must not )?tells?\b(?! (?:\w+ ){0,3}apart)",
        "reveals, shows",
    ),
    _rule(
        "promises-together",
        "promise promises",
        r"\b(?:choices?|runs?|steps?|rounds?|parts?|answers?|releases?|candidates?|updates?|plans?) "
        r"(?:\w+ )?(?:promise|promises)\b",
        "guarantee; 'the privacy guarantee of …'",
    ),
    _rule(
        "without-second-thought",
        "thought word nobody",
        r"\bsecond thought\b|\bdied without a word\b",
        "say what happens",
    ),
)

RIDDLES = (
    _rule(
        "what-opening",
        "what",
        r"\AWhat ",
        "name the thing: 'The …', 'Value that …'",
        OPENINGS,
    ),
    _rule(
        "how-opening",
        "how",
        r"\AHow (?:many|much|often|far|likely|well|large|small|long|fast|wide|near|sharply)\b",
        "'Number of …', 'Probability that …', 'Width of …'",
        OPENINGS,
    ),
    _rule(
        "who-opening",
        "who whom whose",
        r"\AWho(?:m|se)? ",
        "name them: 'The person …', 'The unit …'",
        OPENINGS,
    ),
    _rule(
        "where-opening",
        "where",
        r"\AWhere ",
        "'Interval that contains …', 'Path of …'",
        OPENINGS,
    ),
    _rule(
        "same-opening",
        "the",
        r"\AThe same(?= |,|\.)",
        "say what it is: 'Like `other`, but …'",
        OPENINGS,
    ),
    _rule(
        "fragment-opening",
        "of that those with from as to without above below",
        r"\A(?:Of|That|Those|With|From|As|To|Without|Above|Below) (?!end\b|start\b)",
        "begin with a noun or a verb",
        OPENINGS,
    ),
    _rule(
        "cross-reference",
        "one none all both others the",
        r"\A(?:One|None|All|Both|Others|The others|The rest|The only one|The first|The other)[.,;]?"
        r"(?: of (?:them|these|those|so)\b|\.|$)",
        "say what it is",
        OPENINGS,
    ),
    _rule(
        "becomes-of",
        "becomes became become",
        r"\bwhat (?:becomes|became|has become) of\b",
        "the result of; 'how … are treated'",
    ),
    _rule(
        "is-made-of",
        "made",
        r"\bwhat .{1,40} is made of\b|\bwhat .{1,40} are made of\b",
        "the parts of, the input of",
    ),
    _rule(
        "same-again",
        "again",
        r"\bthe same again\b|\bthe same question again is\b",
        "a repeated question",
    ),
    _rule(
        "one-way",
        "way ways",
        r"\bin one way\b|\bthe one way to\b|\bthe other way round\b|\bthe wrong way round\b",
        "state exactly one of …; 'reversed'",
    ),
    _rule(
        "look-alike",
        "alike",
        r"\b(?:look|looks|are|is) alike\b",
        "are identical, are similar",
    ),
    _rule(
        "archaic",
        "anew afresh whence thence lest thereof whereof henceforth amiss thrice upon hitherto wherein therein",
        r"(?<!`)\b(?:anew|afresh|whence|thence|lest|thereof|whereof|henceforth|amiss|thrice|upon|hitherto|wherein|"
        r"therein)\b",
        "again, so, if … not, of it",
    ),
    _rule("surely", "surely", r"\bsurely\b", "always, certainly; 'with probability 1'"),
    _rule(
        "is-to-be",
        "to",
        r"\b(?:is|are|was|were) to (?:be \w+(?:ed|en|ld|own)|hold|have|come)\b",
        "must, should, will",
    ),
    _rule(
        "gerund-noun",
        "restoring asking drawing splitting refusing summing charging guessing adding opening thawing",
        r"\ban? (?:restoring|asking|drawing|splitting|refusing|summing|charging|adding|thawing)\b(?=[.,;:)]|$| of\b)",
        "a restore, a question, a draw",
    ),
    _rule(
        "is-about",
        "about",
        r"\b(?:account|dataset|task|promise|guarantee|budget)s? (?:\w+ )?(?:is|are) about\b",
        "protects, covers, asks for",
    ),
)

HALF_SENTENCES = (
    _rule(
        "colon-predicate",
        "is are has have needs must takes cannot",
        r"(?<![.\w])[a-z_]{2,20}=?: (?:is|are|has|have|needs|must|takes|cannot)\b(?![^.;]*\?)",
        "a subject and a verb: 'share needs an account'",
    ),
    _rule(
        "not-fragment",
        "not",
        r"(?:(?<=[.!?] )|^)Not (?!only\b|every|all\b|yet\b|found|needed|refuted|reviewed|stopped|covered|signed|enough|"
        r"supported|available|a number)[a-z][^.;:!?|]{2,50}\.(?= |$)",
        "a whole sentence: 'Do not …', 'It does not …'",
    ),
    _rule(
        "one-word-sentence",
        "free none once exact never nothing",
        r"(?<=[.!?] )(?:Free|Once|Exact|Never|Nothing|None)\.(?= |$)",
        "a whole sentence: 'This is free.'",
    ),
)

GROUPS = {
    "words of the field": WORDS_OF_THE_FIELD,
    "quantities": QUANTITIES,
    "negations": NEGATIONS,
    "conditions": CONDITIONS,
    "inversions": INVERSIONS,
    "personification": PERSONS,
    "riddles": RIDDLES,
    "half sentences": HALF_SENTENCES,
}
RULES = tuple(rule for group in GROUPS.values() for rule in group)
