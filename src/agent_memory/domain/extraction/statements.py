"""Statements: sentences with what stands around them, cut to the length of a note."""

from __future__ import annotations

import re

from agent_memory.domain.planning.salience import is_negated, lost_salience
from agent_memory.domain.text.terms import content_terms

MIN_CHARS = 15
MAX_CHARS = 300
LONGEST_TITLE_CHARS = 180
"""A sentence without clauses to end it at stays whole up to this; a longer one is no title, and the claim makes no note."""
SENTENCE_CHARS = 600
"""A longer sentence was not written to be read by anybody, and is left alone."""

_ANAPHORIC = re.compile(
    r"^(?:(?:and|but|so|then|e|mas|então)\s+)?(?:it|its|it's|this|that|that's|they|them|these|those|he|she|both|either"
    r"|isso|isto|ele|ela|eles|elas|esse|essa|este|esta)\b(?! (?:repo|project|codebase|team|turns out|turned out))",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"(?<=[.;!?])\s|\s+[—–]\s|\s-\s|,\s(?=(?:so|and|which|because|while|since|although|though|unlike|whereas|e|mas|porque)\b)"
    r"|\s(?=(?:because|since|so that|while|whereas|although|unless|porque)\b)",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u2e80-\ud7a3]")
"""Characters that say as much as two."""
_POLITE = re.compile(
    r"^(?:(?:hm+|ok|so|and|also)[,.]?\s+)?(?:(?:is there (?:any|a) way (?:to|for you to)|can (?:you|we)|could (?:you|we)|would you"
    r"|will you|please|pls|podes|pode|poderia|consegues|dá para|há forma de|por favor)\s+)+",
    re.IGNORECASE,
)
_BARE_NOT = re.compile(r"^not (?=[a-z])", re.IGNORECASE)
"""What is left of `is there any way to not`."""
_NAME = re.compile(
    r"`[^`]+`|\b[A-Z][a-z]+[A-Z]\w*|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b|\b[A-Z]{2,}\w*\b|\b[\w-]+\.[a-z]{1,5}\b|\b\w+\(\)|(?<=\s)--?[a-z][\w-]+"
    r"|(?<=[\w,;:] )[A-Z][a-z]{2,}\w*|[\"“][^\"”]{3,60}[\"”]"
)
_LEADING_ON_WORDS = """
    a an the and or but nor so as at by for from in into of on onto over per to with without via that which who whose
    when while where if unless because since than then not no is are was were be been being has have had do does did can
    could should would will must may might just even it its he she they we you i there this these those only also o os um uma e ou
    mas de do da dos das em no na nos nas ao por para com sem que se como quando não ser está foi
"""
_LEADING_ON = frozenset(_LEADING_ON_WORDS.split())
"""Words that a cut text must not end with: they lead on to what was cut off."""
_MARKS = ".,;:!?…\"'“”‘’`()[]*_"
_LOOSE = " ,;:–—-("
_DEFECT = re.compile(
    r"n't\b|\b(?:never|missing|without|wrong|fails?|breaks?|issue|problem|bug|lacks?|mismatch|blocks?|waits?|wait|hangs?|incorrect|stale|dangling|silently|duplicates?|overflow(?:s|ed)?|crash(?:es|ed)?|leaks?|lost|drops|dropped|falls? through|misleading|hard-?coded|stuck|forever|ignores?|cannot|falta|erro|não)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|wasn't|weren't|failed|broke|caused|moved|left|used|took|returned|read|kept|era|foi|estava|tinha|\w+ava)\b"
)
_CODE_SPAN = re.compile(r"(`+[^`\n]{1,400}`+)")
_AFTER_POINT = re.compile(r"([.!?] )the(?= (?:agent|user)\b)")
_FIRST_PERSON = (
    (re.compile(r"\bI haven't\b|\bI have not\b"), "the agent has not"),
    (re.compile(r"\bI don't\b|\bI do not\b"), "the agent does not"),
    (re.compile(r"\bI've\b|\bI have\b"), "the agent has"),
    (re.compile(r"\bI'm\b|\bI am\b"), "the agent is"),
    (re.compile(r"\bI'd\b"), "the agent would"),
    (re.compile(r"\bI'll\b"), "the agent will"),
    (re.compile(r"(?<![\w-])I\b(?![/\w-])"), "the agent"),
    (re.compile(r"(?<![\w-])my\b(?!-)"), "the agent's"),
    (re.compile(r"\bYour\b"), "The user's"),
    (re.compile(r"\byour\b"), "the user's"),
    (re.compile(r"\b[Yy]ou (see|want|need|ask|use|get|prefer|choose|pick|run)\b"), r"the user \1s"),
    (re.compile(r"\b[Yy]ou (can|will|should|must|may|asked|wanted|said|mentioned|reported|saw)\b"), r"the user \1"),
    (re.compile(r"\b[Yy]ou(?:'ll)\b"), "the user will"),
    (re.compile(r"\b[Yy]ou(?:'re| are)\b"), "the user is"),
    (re.compile(r"\bto you\b(?!r)"), "to the user"),
)


def is_anaphoric(sentence: str) -> bool:
    """Whether a sentence begins with a word that points to something said before it."""
    return bool(_ANAPHORIC.match(sentence))


def names_in(text: str) -> frozenset[str]:
    """Identifiers, code spans, proper names, options and quoted words, without their quotes, lower case."""
    return frozenset(found.strip('`"“”()').lower() for found in _NAME.findall(text))


def clause(text: str, limit: int) -> str:
    """The text, or as many of its whole clauses as fit into the limit; empty where none does."""
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end.start() for end in _CLAUSE_END.finditer(text, 0, limit + 1)]
    heads = (text[:end].rstrip(_LOOSE) for end in reversed(ends) if end >= limit // 4)
    return next((head for head in heads if _is_whole(head)), "")


def _is_whole(text: str) -> bool:
    return (
        not text.count("`") % 2
        and text.count("(") == text.count(")")
        and not text.count('"') % 2
        and text.rsplit(" ", 1)[-1].lower() not in _LEADING_ON
    )


def cut(text: str, limit: int = MAX_CHARS) -> str:
    """The text, or as many of its whole clauses as fit; where it has to break off it says so."""
    text = text.strip()
    if len(text) <= limit:
        return text
    return clause(text, limit) or f"{_without_loose_end(text[: limit - 1].rsplit(' ', 1)[0])} …"


def _without_loose_end(text: str) -> str:
    if text.count("`") % 2:
        text = text[: text.rfind("`")]
    if text.count("(") > text.count(")"):
        text = text[: text.rfind("(")]
    words = text.rstrip(_LOOSE).split(" ")
    while len(words) > 2 and words[-1].strip(_LOOSE).lower() in _LEADING_ON:
        words.pop()
    return " ".join(words).rstrip(_LOOSE)


def joined(*sentences: str) -> str:
    """Sentences one after another as far as they fit whole; the first one, and a list after a colon, are cut to fit."""
    result = ""
    for sentence in sentences:
        longer = f"{result} {sentence}".strip()
        if len(longer) > MAX_CHARS:
            if result.endswith(":"):
                return longer[: longer.rfind("; ", 0, MAX_CHARS)] if "; " in longer[:MAX_CHARS] else cut(longer)
            return result or cut(sentence)
        result = longer
    return result


def says_enough(text: str, words: int = 3) -> bool:
    """Whether a statement is long enough, short enough to have been written as one, and about something."""
    return (
        len(text) + len(_WIDE.findall(text)) >= MIN_CHARS
        and len(text) <= SENTENCE_CHARS
        and len(content_terms(text)) >= words
    )


def tells_a_fault(sentence: str) -> bool:
    """Whether a sentence tells of a fault or of something past."""
    return any(pattern.search(sentence) for pattern in (_DEFECT, _PAST))


def tells_a_present_fault(sentence: str) -> bool:
    """Whether a sentence tells of a fault and does not say by its tense that it is over."""
    return _DEFECT.search(sentence) is not None and not _PAST.search(sentence)


def in_third_person(text: str) -> str:
    """An agent's words, for a reader who is neither it nor the person it spoke to."""
    pieces = _CODE_SPAN.split(text)
    for index in range(0, len(pieces), 2):
        for pattern, instead in _FIRST_PERSON:
            pieces[index] = pattern.sub(instead, pieces[index])
    return capitalised(_AFTER_POINT.sub(lambda found: f"{found[1]}The", "".join(pieces)))


def capitalised(text: str) -> str:
    """The text with a capital first letter where it begins with an ordinary word."""
    word = text.split(" ", 1)[0].strip(",.;:")
    return text[:1].upper() + text[1:] if word.replace("'", "").isalpha() and word.islower() else text


def without_politeness(request: str) -> str:
    """A request as a statement: without `could you` and its question mark."""
    bare = _POLITE.sub("", request)
    return (bare if bare == request else _BARE_NOT.sub("do not ", bare)).rstrip("? ")


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set of content words that the other one holds too, 0 to 1; 0 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def in_words(statement: str) -> tuple[str, ...]:
    """All words of a statement as they were typed, small ones and signs too, without case and the punctuation around them.

    Two statements that differ in a single one of them may say the opposite: on and off, team A and team B, C and C++.
    """
    return tuple(filter(None, (word.strip(_MARKS) for word in statement.casefold().split())))


def holds_all_of(text: str, statement: str) -> bool:
    """Whether a text holds every content word of a statement, and every number, name and negation."""
    return content_terms(statement) <= content_terms(text) and not lost_salience(statement, text)


def says_all_of(sentence: str, statement: str) -> bool:
    """The same of one sentence, which must not deny what the statement affirms either."""
    return holds_all_of(sentence, statement) and is_negated(sentence) == is_negated(statement)
