"""Whose knowledge an entry is, computed from the turns it cites and never taken from the agent's word (P19).

A page that says "always run X" and an agent that repeats it make an `external` entry; the same from a person makes a
`user` entry. Quoting is not saying: block quotes, long quotations, pasted code and questions of a person's turn do not
count as that person's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.planning.directives import directive_sentences, is_directive, is_directive_kind
from agent_memory.domain.planning.salience import actionable_tokens, is_negated
from agent_memory.domain.planning.statements import statements
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.vocabulary import Kind, Origin
from agent_memory.values import frozen

_ENOUGH = 0.5
_ENOUGH_OF_TITLE = 0.6
_LEAST_OF_ALL = 0.34
_ENOUGH_OF_DIRECTIVE = 0.5

_FENCE = re.compile(r"(?ms)^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)")
_QUOTED_LINE = re.compile(r"(?m)^\s*>.*$")
_QUOTATION = re.compile(r"[“\"«][^”\"»\n]{60,}[”\"»]")
_TRIPLE_QUOTED = re.compile(r"(\"\"\"|''').*?(?:\1|\Z)", re.DOTALL)
_SHORT_FENCE_LINES = 7
_ASKED = re.compile(
    r"^(?:please\s+)?(?:can|could|would|will) (?:you|we)\b|\bplease\b|^(?:pode|podes|poderia|você pode|dá para)\b|\bpor favor\b"
    r"|^is there (?:any |a |some )?way (?:to|that|we|you)\b|^(?:(?:can|could|should|would)n['’]t|why (?:don['’]t|not|can['’]t)) (?:we|you|it|this|that)\b"
    r"|^why not\b|^(?:how|what) about\b|^what if we\b|^não (?:dá|seria|podemos|podíamos)\b|^(?:e se|que tal)\b",
    re.IGNORECASE,
)
"""Questions that ask for something to be done: what a person wants, and not what they want to know."""
_TAG_QUESTION = re.compile(
    r",?\s*(?:ok|okay|right|yes|please|alright|deal|got it|understood|né|certo|tá|combinado|entendeu)\s*\?+$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r",\s+|\s+(?:but|and|mas|e)\s+")
_REPLACING = re.compile(
    r"\b(?:instead|rather|replaced?|stop|quit|wrong|over|reduce|remove|drop|fewer|less|get rid|em vez|ao invés|pare|errado)\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_WORD = re.compile(r"\w+")


@frozen
class Claim:
    """What an entry says, as its origin is judged: all of its text that can reach a reader unasked."""

    title: str
    text: str
    """Description and body."""
    kind: Kind
    place: str = ""
    """Names of where the session was (repository, directory): an entry may name them without anybody having said them."""

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


def origin_of(claim: Claim, cited: Iterable[int], window: History) -> Origin:
    """The origin of a claim that cites these turns of the window; numbers that the window does not have are ignored.

    `user` if the cited user turns share its salient content and support every directive in it; `external` if only tool
    turns are cited, or if it is directive, no user turn supports that, and a tool had answered by the last cited turn,
    which may be that answer; else `agent`. Without a cited turn it is `agent`: the caller keeps such an entry from the hot tier.
    """
    numbers = frozenset(cited)
    turns = tuple(turn for turn in window.turns if turn.number in numbers)
    if not turns:
        return Origin.AGENT
    if all(turn.role is Role.TOOL for turn in turns):
        return Origin.EXTERNAL
    if is_said_by(claim, words_of_person(turn.text for turn in turns if turn.role is Role.USER)):
        return Origin.USER
    if _commands(claim) and _a_tool_answered_by(turns[-1], window) and not _is_supported(claim, _person_in(window)):
        return Origin.EXTERNAL
    return Origin.AGENT


def is_said_by(claim: Claim, words: str) -> bool:
    """Whether these words of a person share the claim's salient content and support every directive in it."""
    said = content_terms(words)
    place = content_terms(claim.place)
    of_all = coverage(content_terms(_DATE.sub("", claim.whole)) - place, said)
    of_title = coverage(content_terms(claim.title) - place, said)
    is_shared = of_all >= _ENOUGH or (of_title >= _ENOUGH_OF_TITLE and of_all >= _LEAST_OF_ALL)
    return bool(said) and is_shared and _supports_directives(claim, words)


def words_of_person(texts: Iterable[str]) -> str:
    """What a person said in their own words: without quotations, pasted code and questions; one statement a line."""
    said = (statement for text in texts for statement in statements(_without_quotes(text)))
    return "\n".join(_TAG_QUESTION.sub("", statement) for statement in said if not _is_question(statement))


def holds_quotation(text: str) -> bool:
    """Whether somebody else's words stand in it: a quoted line, a long quotation, a block of pasted text."""
    return any(found.search(text) for found in (_FENCE, _QUOTED_LINE, _QUOTATION, _TRIPLE_QUOTED))


def _commands(claim: Claim) -> bool:
    return is_directive_kind(claim.kind) or is_directive(claim.whole)


def _is_supported(claim: Claim, words: str) -> bool:
    if is_directive_kind(claim.kind) and not directive_sentences(claim.whole):
        return is_said_by(claim, words)
    return _supports_directives(claim, words)


def _supports_directives(claim: Claim, words: str) -> bool:
    return all(_supports(words, sentence, claim.place) for sentence in directive_sentences(claim.whole))


def _supports(words: str, directive: str, place: str) -> bool:
    spoken = frozenset(_WORD.findall(f"{words}\n{place}".lower()))
    if any(not spoken.issuperset(_WORD.findall(token)) for token in actionable_tokens(directive)):
        return False
    affirmed, denied = _terms_by_polarity(words)
    neutral = content_terms(place)
    clauses = [
        (content_terms(clause) - neutral, is_negated(clause)) for clause in _CLAUSE.split(_DATE.sub("", directive))
    ]
    shared = sum(len(terms & (denied if negated else affirmed)) for terms, negated in clauses)
    total = sum(len(terms) for terms, _ in clauses)
    return shared >= _ENOUGH_OF_DIRECTIVE * total


def _terms_by_polarity(words: str) -> tuple[frozenset[str], frozenset[str]]:
    affirmed: set[str] = set()
    denied: set[str] = set()
    for line in words.split("\n"):
        replaces = _REPLACING.search(line) is not None
        for clause in _CLAUSE.split(line):
            terms = content_terms(clause)
            if replaces or is_negated(clause):
                denied |= terms
            if replaces or not is_negated(clause):
                affirmed |= terms
    return frozenset(affirmed), frozenset(denied)


def _person_in(window: History) -> str:
    return words_of_person(turn.text for turn in window.turns if turn.role is Role.USER)


def _a_tool_answered_by(last_cited: Turn, window: History) -> bool:
    return window.tools_answered_before or any(
        turn.role is Role.TOOL and turn.number <= last_cited.number for turn in window.turns
    )


def _without_quotes(text: str) -> str:
    text = _TRIPLE_QUOTED.sub("", text)
    introduced = is_directive(_QUOTED_LINE.sub("", _FENCE.sub("", text)))

    def fence(block: re.Match[str]) -> str:
        is_own = introduced and block[0].count("\n") < _SHORT_FENCE_LINES
        return "\n".join(block[0].split("\n")[1:-1]) if is_own else ""

    return _QUOTATION.sub("", _QUOTED_LINE.sub("", _FENCE.sub(fence, text)))


def _is_question(statement: str) -> bool:
    if not statement.rstrip("\"'”’)*_ ").endswith("?") or _TAG_QUESTION.search(statement):
        return False
    return not _ASKED.search(statement)
