"""The origin of a note, computed by comparing its text with all turns of the session and never taken from the agent's
word (P19).

`user`: its title or a sentence repeats or quotes what a cited turn of the person says, and every order in it is the
person's; where they only ask or order something in it, no tool may have said the rest. `external`: a foreign source (a
page, a search, an MCP answer, somebody else's file) holds most of a sentence that the person did not say, and that the
session did not know before, whoever repeats it and whatever the note cites. Else `agent`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from agent_memory.note.note import Origin, Source
from agent_memory.rules.tiers import sentence_digest
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.own_marks import without_pasted_review
from agent_memory.session.tool_calls import foreign_turns
from agent_memory.text.salience import (
    actionable_tokens,
    addresses_reader,
    asks_for_something,
    content_sequence,
    content_terms,
    coverage,
    directive_sentences,
    in_plain_letters,
    is_directive,
    negations,
    statements,
    typed_tokens,
    whole_statements,
)
from agent_memory.text.tables import read_table

WORDING = read_table("agent_memory.rules", "wording.txt")
JOINING = WORDING.expression("joining").pattern
"""What joins two claims to one sentence."""

_HELD = 0.6
"""The share of a sentence's content words that a passage must hold to say the same."""
_FEWEST_TERMS = 3
"""With fewer content words, only the exact words count."""
_FEWEST_IN_CLAUSE = 4
_HEARD = 0.34
"""Below this share, nobody in the session has spoken of the subject of the sentence."""
_QUOTED_CHARS = 20
_VERBATIM_CHARS = 8

_FENCE = re.compile(r"(?ms)^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)")
_QUOTED_LINE = re.compile(r"(?m)^\s*>.*$")
_ASKED_ABOUT = r"(?=[^.!?\n]*\?)"
_QUOTATION = re.compile(
    rf"[“\"«](?:[^”\"»\n]{{60,}}[”\"»]|(?:(?![.!?]\s)[^\n]){{20,400}}[”\"»]{_ASKED_ABOUT}|[^”\"»\n]{{20,}}[”\"»]{_ASKED_ABOUT})"
)
"""A long quotation, or one that somebody asks about."""
_TRIPLE_QUOTED = re.compile(r"(\"\"\"|''').*?(?:\1|\Z)", re.DOTALL)
_QUOTE = re.compile(
    rf"[“\"«„「『]((?<=「)[^「」\n]{{{_VERBATIM_CHARS},}}(?=」)|(?<=“)[^“”\n]{{{_VERBATIM_CHARS},}}(?=”)"
    rf"|[^“”\"«»„「」『』\n]{{{_VERBATIM_CHARS},}})[”\"»“」』]|^\s*>\s*(.+)$",
    re.MULTILINE,
)
"""Within 「…」 and “…” other quotation marks may stand."""
_QUOTATION_MARKS = str.maketrans(dict.fromkeys("“”„«»「」『』", '"') | {"‘": "'", "’": "'"})
_LED_QUOTE = re.compile(rf"[:,]?\s*(?:{_QUOTE.pattern})", re.MULTILINE)
_SHORT_FENCE_LINES = 7
_ANSWER = WORDING.expression("answer")
_TAG_QUESTION = WORDING.expression("tag_question")
_CLAUSE = re.compile(rf",\s+|\s+(?:{JOINING})\s+|\s*[()|]\s*")
_REPLACING = WORDING.expression("replacing")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?\b")
_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}"
)
"""Runs of scripts that put no spaces between words."""


@frozen
class Claim:
    """The text of a note as its origin is judged: everything in it that can reach a reader unasked."""

    title: str
    text: str
    """Description and body."""
    place: str = ""
    """Names of where the session was (repository, directory): a note may mention them without anybody having said them.
    """

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}"


def origin_of(claim: Claim, cited: Iterable[int], session: History) -> Origin:
    """Returns the origin of a claim that cites these turns; turn numbers that the session does not have are ignored.

    `session` is everything known of it so far, not only the window that the agent was shown.
    """
    numbers = frozenset(cited)
    pages = _pages_of(session)
    sources = [turn for turn in session.turns if turn.number in numbers]
    person = tuple(turn.text for turn in session.turns if turn.role is Role.USER)
    of_pages_alone = bool(sources) and {page.turn for page in pages}.issuperset(sources)
    if of_pages_alone or any(_is_of_pages(piece, pages, person, claim.place) for piece in _pieces(claim.whole)):
        return Origin.EXTERNAL
    cited_words = [turn.text for turn in sources if turn.role is Role.USER]
    said = [*_said_of(claim, cited_words)]
    if not said or not _gave_all_orders(claim, person):
        return Origin.AGENT
    if all(_is_asked(each, cited_words) for each in said) and _is_told_by_tools(claim, person, session):
        return Origin.AGENT
    if pages or session.tools_answered_before:
        typed = [
            each for each in map(_plain, typed_tokens(claim.whole)) if not any(each in _plain(text) for text in person)
        ]
        if any(each in _plain(page.turn.text) for page in pages for each in typed):
            return Origin.AGENT
        # A sentence of which only a foreign source, or who had read one, may have spoken is a page's, translated or retold.
        before = () if session.tools_answered_before else pages[0].before
        heard = frozenset[str]().union(*map(_terms, (*person, *before)), content_terms(claim.place))
        pieces = map(_terms, _pieces(claim.whole))
        if any(len(terms) >= _FEWEST_TERMS and coverage(terms, heard) < _HEARD for terms in pieces):
            return Origin.AGENT
    return Origin.USER


def is_said_by(claim: Claim, said: Sequence[str]) -> bool:
    """Returns whether the title or a sentence of the claim repeats or quotes one of these turns of a person, and the
    person gave every order in it."""
    return any(_said_of(claim, said)) and _gave_all_orders(claim, said)


def cleared(claim: Claim, session: History) -> tuple[str, ...]:
    """Returns the digests of those sentences of a claim that read like orders and may be told unasked (P19): the person
    gave the order, or is quoted with it; or the agent says with a `must` or `never` how something works, in a session that
    read no foreign source, and no tool's answer says anything of the kind."""
    others = tuple(turn.text for turn in session.turns if turn.role is not Role.AGENT)
    person = tuple(turn.text for turn in session.turns if turn.role is Role.USER)
    said = tuple(_plain(_without_quotes(each)) for each in person)
    is_local = not (session.tools_answered_before or _pages_of(session))

    def is_clear(sentence: str) -> bool:
        orders = directive_sentences(_without_said(sentence, said, " "))
        if all(any(_supports(words_of_person(text), each, claim.place) for text in person) for each in orders):
            return True
        is_own = is_local and not (addresses_reader(sentence) or typed_tokens(sentence))
        return is_own and not any(_orders_this(text, _terms(sentence)) for text in others)

    sentences = (each for line in claim.whole.split("\n") for each in whole_statements(line))
    return tuple(dict.fromkeys(sentence_digest(each) for each in sentences if is_directive(each) and is_clear(each)))


def _orders_this(text: str, terms: frozenset[str]) -> bool:
    """Returns whether an order in the text has half of these words."""
    needed = max((len(terms) + 1) // 2, 1)
    return len(terms & _terms(text)) >= needed and any(
        len(terms & _terms(each)) >= needed and is_directive(each) for each in statements(text)
    )


def is_correction(sentence: str, before: Iterable[str], said: Iterable[str]) -> bool:
    """Returns whether the sentence is one of those before with some words replaced, all of them by words of one of
    these turns of a person. A replacement other than a value (a word with a digit) counts only where the turn also
    speaks of something else in the sentence; where one affirms what the other denies, the turn has to say the whole
    sentence."""
    words = frozenset(_WORD.findall(sentence.casefold()))
    spoken = {own: frozenset(_WORD.findall(own.casefold())) for own in map(words_of_person, said)}
    for old in before:
        staying = words & frozenset(_WORD.findall(old.casefold()))
        new = words - staying
        if 2 * len(staying) < len(words):
            continue
        about = content_terms(" ".join(staying))
        is_value, is_turned = all(any(map(str.isdigit, each)) for each in new), _denies(old) != _denies(sentence)
        for own, each in spoken.items():
            is_of_this = new <= each and (is_value or about & content_terms(own))
            if is_of_this and (not is_turned or _supports(own, sentence, "")):
                return True
    return False


@lru_cache(maxsize=4096)
def words_of_person(text: str) -> str:
    """Returns what a person said in their own words: without quotations, pasted code and questions; one statement a
    line."""
    said = statements(_without_quotes(text))
    return "\n".join(_TAG_QUESTION.sub("", statement) for statement in said if not _is_question(statement))


def holds_quotation(text: str) -> bool:
    """Returns whether the text holds somebody else's words: a quoted line, a long quotation, a block of pasted text."""
    return any(found.search(text) for found in (_FENCE, _QUOTED_LINE, _QUOTATION, _TRIPLE_QUOTED))


# -- the person -------------------------------------------------------------------------------------------------------


def _said_of(claim: Claim, said: Sequence[str]) -> Iterator[str]:
    """Yields the sentences of a claim that one of these turns of a person says, and the quotations that stand in one."""
    quotes = (found[1] or found[2] for found in _QUOTE.finditer(claim.whole))
    yield from (
        quote
        for quote in quotes
        if len(_plain(quote)) >= _QUOTED_CHARS and any(_plain(quote) in _plain(_without_quotes(text)) for text in said)
    )
    yield from (each for each in statements(claim.whole) if any(_says(text, each) for text in said))


def _is_asked(sentence: str, said: Iterable[str]) -> bool:
    """Returns whether a sentence orders or asks, here or wherever the person said it."""
    if is_directive(sentence) or asks_for_something(sentence) or _is_question(sentence):
        return True
    return not any(_says(words_of_person(text), sentence) for text in said)


def _is_told_by_tools(claim: Claim, person: Iterable[str], session: History) -> bool:
    """Returns whether a sentence that the person does not say may be a tool's answer, a sub-agent's or a notice."""
    answers = [turn.text for turn in session.turns if turn.role is Role.TOOL]
    own, neutral = [*map(words_of_person, person)], content_terms(claim.place)
    for each in statements(claim.whole):
        terms = _terms(each) - neutral
        if len(terms) < _FEWEST_IN_CLAUSE or any(_supports(words, each, claim.place) for words in own):
            continue
        if session.tools_answered_before or any(_held(answer, terms) for answer in answers):
            return True
    return False


def _says(text: str, sentence: str) -> bool:
    """Returns whether a turn of the person, including questions and objections, says this sentence."""
    own = _without_quotes(text)
    terms = _terms(sentence)
    if len(terms) < _FEWEST_TERMS:  # a name is not a statement
        return bool(terms) and is_directive(sentence) and _supports(words_of_person(text), sentence, "")
    if not _held(own, terms):
        return False
    denied = _denies(sentence)
    alike = [each for each in statements(own) if len(_terms(each) & terms) * _FEWEST_TERMS >= len(terms)]
    return not alike or any(_denies(each) == denied for each in alike)


def _gave_all_orders(claim: Claim, person: Sequence[str]) -> bool:
    """Returns whether the person gave each order in the claim; quotations of the person are not checked, and an order
    may go on after one, or begin there."""
    said = tuple(_plain(_without_quotes(each)) for each in person)
    orders = {order for gap in (" ", ". ") for order in directive_sentences(_without_said(claim.whole, said, gap))}
    return all(any(_supports(words_of_person(text), order, claim.place) for text in person) for order in orders)


def _without_said(text: str, said: tuple[str, ...], gap: str) -> str:
    """Returns the text with a gap for each quotation that stands in what the person said, and for what leads into it."""

    def unless_said(quote: re.Match[str]) -> str:
        return gap if any(_plain(quote[1] or quote[2]) in each for each in said) else quote[0]

    return _LED_QUOTE.sub(unless_said, text)


def _supports(words: str, directive: str, place: str) -> bool:
    """Returns whether a person's words give this order: everything in it to type or open, and half of the words of each
    clause, with the same polarity."""
    spoken = frozenset(_WORD.findall(f"{words}\n{place}".lower()))
    if any(not spoken.issuperset(_WORD.findall(token)) for token in actionable_tokens(directive)):
        return False
    affirmed, denied = _terms_by_polarity(words)
    neutral = content_terms(place)
    clauses = [(_terms(clause) - neutral, _denies(clause)) for clause in _CLAUSE.split(directive)]
    shared = sum(len(terms & (denied if negated else affirmed)) for terms, negated in clauses)
    total = sum(len(terms) for terms, _ in clauses)
    return shared >= _HELD * total


def _denies(clause: str) -> bool:
    """Returns whether one text denies what the other affirms. "Never push without a review" is not the contrary of
    "push without a review": two negations cancel out."""
    return len(negations(without_answer(clause))) % 2 == 1


def without_answer(statement: str) -> str:
    """Returns the statement without a "No, …" before it, which denies what somebody else said."""
    return statement[found.end() :] if (found := _ANSWER.match(statement)) else statement


def _terms_by_polarity(words: str) -> tuple[frozenset[str], frozenset[str]]:
    affirmed: set[str] = set()
    denied: set[str] = set()
    for line in words.split("\n"):
        replaces = _REPLACING.search(line) is not None
        for clause in _CLAUSE.split(line):
            terms = _terms(clause)
            if replaces or _denies(clause):
                denied |= terms
            if replaces or not _denies(clause):
                affirmed |= terms
    return frozenset(affirmed), frozenset(denied)


@lru_cache(maxsize=4096)
def _without_quotes(text: str) -> str:
    text = _TRIPLE_QUOTED.sub("", without_pasted_review(text))
    said = statements(_QUOTED_LINE.sub("", _FENCE.sub("", text)))
    introduced = any(is_directive(each) and not asks_for_something(each) for each in said)

    def fence(block: re.Match[str]) -> str:
        is_own = introduced and block[0].count("\n") < _SHORT_FENCE_LINES
        return "\n".join(block[0].split("\n")[1:-1]) if is_own else ""

    return _QUOTATION.sub("", _QUOTED_LINE.sub("", _FENCE.sub(fence, text)))


def _is_question(statement: str) -> bool:
    if not statement.rstrip("\"'”’)*_ ").endswith(("?", "？", "؟")) or _TAG_QUESTION.search(statement):
        return False
    return not asks_for_something(statement)


# -- foreign sources --------------------------------------------------------------------------------------------------


@frozen
class _Page:
    """A foreign turn, and what the person, the agent and the project's tools had said before it."""

    turn: Turn
    before: tuple[str, ...]
    """Their texts, and what the agent asked of the project's tools."""
    known: frozenset[str]
    """The words of these that are in no question."""
    may_be_known: bool
    """False where answers before the first turn here may have been the page's."""
    used: str
    """What the agent asked of the project's tools and what they answered, in the whole session."""

    def held(self, piece: str, words: list[frozenset[str]], typed: list[str]) -> frozenset[str] | None:
        """Returns which words of this the page holds, or None if it does not say it, or brings nothing new with it. It
        also says it where it shows the same command or address; one that was used here only where one of the two is an
        order. A name, as `docs/setup.md`, counts as one word; in an order only one that was known."""
        text, verbatim = self.turn.text, [*typed]
        is_order = is_directive(piece)
        named = ({max(each)} if each and (not is_order or each <= self.known) else each for each in words)
        terms = frozenset[str]().union(*named)
        # Three words of a longer statement stand in any long page by chance.
        held = _held(text, terms, fewest=_FEWEST_TERMS + (len(terms) > 4 and not is_order))
        is_said = bool(held) or any(
            each in _plain(text) and (each not in self.used or is_order or each in _orders(text)) for each in verbatim
        )
        is_label = piece.endswith(":") and not is_order
        if 0 < len(terms) < _FEWEST_TERMS and len(_plain(piece)) >= _VERBATIM_CHARS and not is_label:
            verbatim.append(_plain(piece))
            is_said = is_said or _plain(piece) in _plain(text)
        return held if is_said and self._is_news(piece, terms & _terms(text), verbatim) else None

    def _is_news(self, piece: str, shared: frozenset[str], verbatim: list[str]) -> bool:
        """Returns whether the page brings what nobody had said before it: to an order, the whole of what it has in common
        with the page; to any other piece, a word, something that stands there as it is, or the contrary."""
        if not self.may_be_known:
            return True
        denied = _denies(piece)
        said = [
            (_denies(each), all(map(_plain(each).__contains__, verbatim)))
            for text in self.before
            if shared <= _terms(text)
            for each in statements(text)
            if shared <= (_held(each, shared, 1) if len(shared) >= _FEWEST_TERMS else _terms(each))
            if not _is_question(each)
        ]
        if (denied, True) in said:
            return False
        is_turned = (not denied, True) in said and any(
            _denies(each) == denied for each in statements(self.turn.text) if shared <= _terms(each)
        )
        if is_turned or not shared <= self.known or is_directive(piece):
            return True
        theirs = [each for each in verbatim if each in _plain(self.turn.text)]
        return not all(any(each in _plain(text) for text in self.before) for each in theirs)


@lru_cache(maxsize=4)
def _pages_of(session: History) -> tuple[_Page, ...]:
    """Returns the foreign turns of a session, in order. Cached: each note of a session asks for them."""
    foreign = foreign_turns(session)
    if not foreign:
        return ()
    asked = {turn.answers for turn in session.turns if turn.number in foreign}
    found = list[tuple[Turn, tuple[str, ...], frozenset[str]]]()
    before, known, used = list[str](), set[str](), list[str]()
    for turn in session.turns:
        if turn.number in foreign:
            found.append((turn, tuple(before), frozenset(known)))
            continue
        own = [f"{call.brief}\n{call.path or ''}" for call in turn.tool_calls if call not in asked]
        used += (*own, turn.text) if turn.role is Role.TOOL else own
        said = words_of_person(turn.text) if turn.role is Role.USER else turn.text
        for text in filter(None, (said, *own)):
            before.append(text)
            known.update(*(_terms(each) for each in statements(text) if not _is_question(each)))
    in_use = _plain("\n".join(used))
    return tuple(_Page(*each, not session.tools_answered_before, in_use) for each in found)


def _is_of_pages(piece: str, pages: tuple[_Page, ...], person: tuple[str, ...], place: str) -> bool:
    """Returns whether a foreign source says this sentence or clause first, and the person does not, or says less of it:
    who asks what a page says has most of its words."""
    neutral = content_terms(place)
    words = [frozenset(content_sequence(word)) - neutral for word in _spaced(piece).split()]
    typed = [*map(_plain, typed_tokens(piece))]
    of_page = [len(held) for page in pages if (held := page.held(piece, words, typed)) is not None]
    asked = _terms(piece) - neutral
    return bool(of_page) and not any(
        _supports(each, piece, place) and len(asked & _terms(each)) >= max(of_page)
        for each in map(words_of_person, person)
    )


def _pieces(text: str) -> Iterator[str]:
    """Yields the sentences of a text, and those of their clauses that say enough to be compared."""
    for sentence in statements(text):
        yield sentence
        clauses = _CLAUSE.split(sentence)
        if len(clauses) > 1:
            yield from (clause for clause in clauses if len(_terms(clause)) >= _FEWEST_IN_CLAUSE)


# -- comparing --------------------------------------------------------------------------------------------------------


def _held(text: str, terms: frozenset[str], share: float = _HELD, fewest: int = _FEWEST_TERMS) -> frozenset[str]:
    """Returns the terms in those passages of the text, each about twice as long as the terms, that hold this share of
    them and no fewer than so many."""
    needed = max(share * len(terms), fewest)
    if len(terms & _terms(text)) < needed:
        return frozenset()
    here: Counter[str] = Counter()
    held, length, sequence = set[str](), 2 * len(terms) + 6, _sequence(text)
    for at, term in enumerate(sequence):
        if term in terms:
            here[term] += 1
        if at >= length and (left := sequence[at - length]) in terms:
            here[left] -= 1
            if not here[left]:
                del here[left]
        if len(here) >= needed:
            held.update(here)
    return frozenset(held)


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(_sequence(text))


@lru_cache(maxsize=4096)
def _sequence(text: str) -> tuple[str, ...]:
    """Returns the content words in order."""
    return content_sequence(_spaced(text))


def _spaced(text: str) -> str:
    """Returns the text in plain letters without dates; where a script has no spaces, each pair of neighbouring characters
    is a word."""

    def in_pairs(run: re.Match[str]) -> str:
        return f" {' '.join(map(''.join, zip(run[0], run[0][1:], strict=False)))} "

    return _UNSPACED.sub(in_pairs, _DATE.sub("", in_plain_letters(text)))


def _orders(text: str) -> str:
    return _plain("\n".join(directive_sentences(text)))


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    marked = in_plain_letters(text).translate(_QUOTATION_MARKS)
    return _SPACES.sub(" ", marked).strip(" .!…\"'*_`\\").casefold()


# -- sources --------------------------------------------------------------------------------------------------------


def with_source(sources: tuple[Source, ...], source: Source) -> tuple[Source, ...]:
    """Returns the sources with this one added; its turns are united with those of an earlier source of the same
    session."""
    for at, known in enumerate(sources):
        if known.thread_id is not None and (known.harness, known.thread_id) == (source.harness, source.thread_id):
            turns = tuple(sorted({*known.turns, *source.turns}))
            return (
                *sources[:at],
                evolve(known, turns=turns, branch=source.branch or known.branch, commit=source.commit or known.commit),
                *sources[at + 1 :],
            )
    return (*sources, source)
