"""The information check: what a rewrite must not lose without saying so (design §5.2), the heart of P12, and what it
must not do to a claim (P12, P19): reverse it ("never push to main" becomes "push to main"), swap words in it, quote
what nobody said, or report that a person said what no source says.

A bag of words does not show a reversed claim where some other sentence denies something about the same things, so
claims are compared clause by clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from attrs import frozen

from agent_memory.note.note import Listed, MemoryEntry, Origin, StoredEntry, least_trusted
from agent_memory.rules.origin import JOINING, WORDING, without_answer, words_of_person
from agent_memory.text.markdown import SEE_ALSO, derive_description, find_code, find_links, without_see_also
from agent_memory.text.plain_text import first_few, spliced
from agent_memory.text.salience import (
    actionable_tokens,
    content_terms,
    coverage,
    denying_words,
    directive_sentences,
    is_directive,
    is_negated,
    lost_salience,
    negations,
    statements,
)

# -- clauses --------------------------------------------------------------------------------------------------------


_CLAUSE_END = re.compile(rf",\s+|\s+(?:{JOINING})\s+|\s*[()]\s*")

_CIRCUMSTANCE = re.compile(rf"(?:{WORDING.expression('circumstance').pattern})\b", re.IGNORECASE)
_NAMES = re.compile(r"`[^`\n]*`|(?<!\w)-{0,2}\w+(?:-\w+)+|(?<!\w)--?\w+")
"""Negates nothing although it holds a `no`: code, flags, hyphenated names."""


@frozen
class Clause:
    text: str
    terms: frozenset[str]
    denied: bool
    leads: bool = True
    """Whether it begins its sentence."""

    @property
    def is_claim(self) -> bool:
        """Returns whether the clause can stand alone: one word ("…, yarn") or a circumstance ("…, to install it")
        belongs to what precedes it."""
        return " " in self.text and (self.leads or not _CIRCUMSTANCE.match(self.text))

    @property
    def is_odd(self) -> bool:
        """Returns whether its negations do not cancel out, as in "never push without a review"."""
        return len(negations(_NAMES.sub(" ", self.text))) % 2 == 1

    def likeness(self, other: Clause) -> float:
        """Returns the share of content words that both have in common (Jaccard), 0 to 1."""
        return len(self.terms & other.terms) / len(self.terms | other.terms)


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Returns the sentences of a text cut at commas, brackets, `and` and `but`, in order."""
    return tuple(clause for statement in statements(text) for clause in _clauses_in(statement))


def denying_sentences(text: str) -> tuple[Clause, ...]:
    """Returns the sentences that only deny something, uncut: a negation can reach beyond a comma."""
    return tuple(
        Clause(statement.rstrip(".,;:!?"), content_terms(statement), True)
        for statement in statements(text)
        if _denies(statement) and all(each.denied or not each.is_claim for each in _clauses_in(statement))
    )


def _clauses_in(statement: str) -> list[Clause]:
    clauses: list[Clause] = []
    denies_all = False
    for part in _CLAUSE_END.split(without_answer(statement)):
        terms, denied = content_terms(part), _denies(part)
        if terms:
            text = part.strip().rstrip(".,;:!?")
            clauses.append(Clause(text, terms, denied or denies_all, not clauses))
        denies_all |= denied and not terms  # "Do not, under any circumstances, …"
    return clauses


def _denies(text: str) -> bool:
    return is_negated(_NAMES.sub(" ", text))


# -- other words, another quotation ---------------------------------------------------------------------------------


_MOST_SWAPPED = 3
"""The most words in a row that count as swapped. With more, the sentence is a new wording."""
_STAYING = 0.5
"""The share of words that both sentences must have in the same order."""
_SAME_WORD = 0.75
"""How alike two spellings of one word are: "fires" and "fire", "teh" and "the"."""
_WORD = re.compile(r"[^\W_](?:[\w.,:/@'’-]*\w)?")
_SMALL = WORDING.words("small")
"""Words that may change without changing the meaning. Negations are checked elsewhere (`salience`, `turned`)."""
_END = re.compile(r"\n+|(?<=[.!?])\s+")
_LINK = re.compile(r"\[\[[^\[\]|]*\|?([^\[\]]*)\]\]")
_QUOTE = re.compile(r"[“\"«„]([^“”\"«»„\n]{8,}?)[”\"»“]")
_ATTRIBUTED = WORDING.expression("attributed")


def swapped_words(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the words of `before` that were replaced in `after` within a sentence that is otherwise the same, unless
    `drops` names them: "fires twice" that became "fires once", "Rejected" that became "Chosen"."""
    named = frozenset(_words("\n".join(drops)))
    old = [words for each in sentences(before) if (words := _words(each))]
    found: dict[str, None] = {}
    for words in map(_words, sentences(after)):
        for source in () if words in old else old:
            swapped = list(_swapped(source, words))
            if any(not named.issuperset(each.split()) for each in swapped):
                found.update(dict.fromkeys(swapped))
    return tuple(found)


def sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences of a text; a label ("Rejected: …") belongs to the sentence that follows it."""
    return tuple(each for each in _END.split(text) if each and not each.startswith(SEE_ALSO))


def invented_words(before: str, after: str, spoken: str = "") -> tuple[str, ...]:
    """Returns what `after` reports without a source, neither in `before` nor in what the person has `spoken`:
    quotations that occur in neither, and sentences that say that a person said or confirmed something."""
    plain = " ".join(f"{before} {spoken}".split()).casefold()
    quotes = (each for each in _QUOTE.findall(after) if " ".join(each.split()).strip(" .,;!?").casefold() not in plain)
    known = statements(before)
    said = [*clauses_of("\n".join(filter(_ATTRIBUTED.search, known))), *clauses_of(words_of_person(spoken))]

    def is_told(claim: str) -> bool:
        """Returns whether a claim about what a person said has a clause among its sources with the same subject and the
        same polarity."""
        about, denies = content_terms(_ATTRIBUTED.sub(" ", claim)) or content_terms(claim), is_negated(claim)
        return any(about & clause.terms and (denies or not clause.denied) for clause in said)

    fresh = (each for each in statements(after) if each not in known and _ATTRIBUTED.search(each))
    claimed = (each for each in fresh if not is_told(each))
    return (
        *(f"it quotes {each[:80]!r}, which no source says" for each in dict.fromkeys(quotes)),
        *(f"no source says that a person did: {each[:80]!r}" for each in dict.fromkeys(claimed)),
    )


def _swapped(source: list[str], words: list[str]) -> Iterator[str]:
    if len(set(source) & set(words)) < _STAYING * max(len(set(source)), len(set(words))):
        return
    here = set(zip(words, words[1:], words[2:], strict=False))
    for first, between, last in zip(source, source[1:], source[2:], strict=False):  # "A over B", not "A and B"
        if between not in _SMALL and (last, between, first) in here:
            yield f"{first} {between} {last}"
    matcher = SequenceMatcher(None, source, words, autojunk=False)
    operations = matcher.get_opcodes()
    staying = sum(end - start for kind, start, end, _, _ in operations if kind == "equal")
    if staying < _STAYING * max(len(source), len(words)):
        return
    for kind, start, end, there, until in operations:
        if kind != "replace" or max(end - start, until - there) > _MOST_SWAPPED:
            continue
        was, became = (
            [each for each in side if each not in _SMALL and not is_negated(each)]
            for side in (source[start:end], words[there:until])
        )
        if was and became and SequenceMatcher(None, " ".join(was), " ".join(became)).ratio() < _SAME_WORD:
            yield " ".join(was)


def _words(text: str) -> list[str]:
    return [each.casefold() for each in _WORD.findall(_LINK.sub(r"\1", text))]


# -- turned claims --------------------------------------------------------------------------------------------------


_SAME_CLAIM = 0.5
_VERY_SAME_CLAIM = 0.8


def turned_claims(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns the clauses of `before` that `after` holds only with the opposite polarity, unless `drops` names them."""
    dropped_terms = content_terms("\n".join(drops))
    old = _once(clause for clause in clauses_of(before) if clause.is_claim)
    new = _once((*clauses_of(after), *denying_sentences(after)))
    turned: dict[str, None] = {}
    for clause in old.values():
        if clause.terms & dropped_terms or (clause.terms, clause.denied) in new:
            continue
        opposite = (
            each
            for each in new.values()
            if each.denied != clause.denied
            and each.is_claim
            and not (clause.denied and denying_words(each.text) - denying_words(clause.text))
            # Nor may the sources themselves make that claim beside the one it resembles.
            and (each.terms == clause.terms or (each.terms, each.denied) not in old)
        )
        likest = max(map(clause.likeness, opposite), default=0.0)
        if likest < (_SAME_CLAIM if clause.denied else _VERY_SAME_CLAIM):
            continue
        if likest > max((clause.likeness(each) for each in new.values() if each.denied == clause.denied), default=0.0):
            turned[clause.text[:80]] = None
    return tuple(turned)


def is_twisted(said: str, text: str) -> bool:
    """Returns whether a text holds the opposite of a statement that somebody said, or that statement with words of it in each
    other's places or with another number."""
    own, numbers = [(each, content_terms(each)) for each in statements(said)], _numbers(said)
    for sentence in statements(text):
        terms, has_other = content_terms(sentence), bool(_numbers(sentence) - numbers)
        for each, said_terms in own:
            common = 2 * len(terms & said_terms)
            if has_other and common > len(terms) and _numbers(each) - _numbers(sentence):
                return True
            if common <= len(terms | said_terms):
                continue
            swapped = " ".join(swapped_words(each, sentence)).split()
            if turned_claims(each, text) or (swapped and set(swapped) <= set(_words(sentence))):
                return True
    return False


def _numbers(text: str) -> set[str]:
    return {each.rstrip(".,:") for each in _NUMBER.findall(with_iso_dates(text))}


_Claims = Mapping[tuple[frozenset[str], bool], Clause]


def _once(clauses: Iterable[Clause]) -> _Claims:
    """Returns each clause once, by what it says; of two that say the same, the one that can stand alone."""
    return {(clause.terms, clause.denied): clause for clause in sorted(clauses, key=lambda each: each.is_claim)}


_SAID = 0.6
"""The share of a sentence's content words that a text must have to have said it."""
_FEWEST_NEW_WORDS = 3
"""With fewer words, having some in common is chance."""
_SPACES = re.compile(r"\s+")


@frozen
class Untrusted:
    """A note whose text comes only from a tool, a page or a file, and that no person vouches for."""

    terms: frozenset[str]
    actionable: frozenset[str]


def untrusted_entries(live: Iterable[Listed], shown: Iterable[StoredEntry]) -> tuple[Untrusted, ...]:
    """Returns what an agent could have read of such notes: titles and descriptions, and the bodies it was shown."""
    bodies = {each.meta.id: each.body for each in shown}
    metas = (each.meta for each in live if each.meta.is_foreign and not each.meta.is_secret)
    texts = (f"{meta.title}\n{meta.description}\n{bodies.get(meta.id, '')}" for meta in metas)
    return tuple(Untrusted(content_terms(text), actionable_tokens(text)) for text in texts)


def origin_of_fresh_text(before: str, after: str, untrusted: tuple[Untrusted, ...] = ()) -> Origin:
    """Returns the least trusted origin of the sentences of `after` that are not in `before`.

    `external` for a directive that no source holds, and for what an untrusted note says; `agent` for any other sentence
    that no source holds, or that has a number or names something to type or open that no source has, and for a directive
    in words of which no source gave one; else `user`, so that rewording changes nothing.
    """
    known = {_plain(sentence) for sentence in statements(before)}
    fresh = [sentence for sentence in statements(after) if _plain(sentence) not in known]
    if not fresh:
        return Origin.USER
    terms, clauses = content_terms(before), clauses_of(before)
    orders = clauses_of("\n".join(directive_sentences(before)))

    def origin_of(sentence: str) -> Origin:
        tokens = actionable_tokens(sentence)
        # Not a new token where a source names it without backticks.
        lost = lost_salience(sentence, before)
        new_tokens = {each for each in lost if each in tokens or _NUMBER.search(each)}
        new_terms = content_terms(sentence) - terms
        for each in untrusted:
            has_words = len(new_terms) >= _FEWEST_NEW_WORDS and coverage(new_terms, each.terms) >= _SAID
            if has_words or new_tokens & each.actionable:
                return Origin.EXTERNAL
        is_order, own = is_directive(sentence), clauses_of(sentence)
        if new_tokens or swapped_words(before, sentence) or not all(_is_said(clause, clauses) for clause in own):
            return Origin.EXTERNAL if is_order else Origin.AGENT
        return Origin.AGENT if is_order and not any(_is_said(clause, orders) for clause in own) else Origin.USER

    return least_trusted(map(origin_of, fresh))


def _is_said(clause: Clause, said: tuple[Clause, ...]) -> bool:
    # More clauses of the sources are hardly joined into one.
    likest = sorted(said, key=lambda each: (-clause.likeness(each), each.denied != clause.denied))[:3]
    if not likest or (clause.is_claim and (likest[0].denied, likest[0].is_odd) != (clause.denied, clause.is_odd)):
        return False
    return coverage(clause.terms, frozenset[str]().union(*(each.terms for each in likest))) >= _SAID


def _plain(sentence: str) -> str:
    return _SPACES.sub(" ", sentence).strip(" .!").casefold()


# -- texts as they are compared -------------------------------------------------------------------------------------


_NUMBER_OF = {name: number for number, names in enumerate(WORDING.lines["months"], 1) for name in names.split()}
_MONTH = rf"({'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|º)?"
_DAY_FIRST = re.compile(rf"\b{_DAY}(?:\s+(?:de|of))?\s+{_MONTH}(?:,|\s+de|\s+of)?\s+(\d{{4}})\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+{_DAY},?\s+(\d{{4}})\b", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\w/.-])(\d{4})/(\d{2})/(\d{2})(?![\w/-])")


def with_iso_dates(text: str) -> str:
    """Returns the text with complete dates as `2026-02-13`: with English and Portuguese month names, or year, month and
    day separated by slashes."""
    text = _DAY_FIRST.sub(lambda date: _iso(date[3], date[2], date[1]) or date[0], text)
    text = _MONTH_FIRST.sub(lambda date: _iso(date[3], date[1], date[2]) or date[0], text)
    return _SLASHED.sub(r"\1-\2-\3", text)


def _iso(year: str, month: str, day: str) -> str | None:
    number = _NUMBER_OF.get(month.lower())  # "ſeptember" matches when case is ignored, but is not a month
    return None if number is None else f"{year}-{number:02}-{int(day):02}"


_LIST_NUMBER = re.compile(r"(?m)^([ \t>]*)\d{1,3}[.)](?=[ \t])")
_SHOUTED = re.compile(rf"\b(?:{WORDING.expression('shouted').pattern})\b")
_PATH_AT_END = re.compile(r"(?<!\S)(?=\S*/)(\S*[^\W_]|\S*/)([.,;:!?]+)(?!\S)")


def said_by(entry: MemoryEntry) -> str:
    """Returns the whole text of a note: title, description if it is more than the beginning of the body, and body."""
    meta, body = entry.meta, entry.body
    is_derived = meta.description == derive_description(body) or meta.description.rstrip("…") in body
    return "\n".join((meta.title, *(() if is_derived else (meta.description,)), body))


def comparable(text: str) -> str:
    """Returns the text without link targets and list numbers, with dates in one spelling and shouted words in lower
    case.

    Code stays as it is.
    """
    parts, position = list[str](), 0
    text = without_targets(text)
    for start, end in (*find_code(text).ranges, (len(text), len(text))):
        spoken = _SHOUTED.sub(lambda word: word[0].lower(), _LIST_NUMBER.sub(r"\1", text[position:start]))
        # A full stop after a path or URL is not part of it.
        parts += [with_iso_dates(_PATH_AT_END.sub(r"\1 \2", spoken)), text[start:end]]
        position = end
    return "".join(parts)


def without_targets(text: str) -> str:
    """Returns the text with each link replaced by its label, or removed where it has none."""
    return spliced(text, ((link.start, link.end, link.label or "") for link in find_links(text)))


# -- lines ----------------------------------------------------------------------------------------------------------


KEPT_SHARE = 0.6
"""The share of a line's content words that the result must hold."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[^`]*$")
_MARKS = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>|\[[ xX]\])\s+|>)+")
_SAME_LINE = 0.6
_MOST_COMPARED = 2_000
"""The most distinct lines that are compared with one another; with more, only equal lines count as one."""


@frozen
class Line:
    """A line that says something, without list, heading and quote marks and without link targets."""

    text: str
    terms: frozenset[str]
    heading: bool = False


def lines_of(body: str) -> tuple[Line, ...]:
    """Returns the lines that hold a content word, in order, without the line of links at the end and without the fences
    of code blocks."""
    lines: list[Line] = []
    for line in without_targets(without_see_also(body)).split("\n"):
        bare = " ".join(_MARKS.sub("", line).split())
        terms = content_terms(bare)
        if terms and not _FENCE.match(line):
            lines.append(Line(bare, terms, _HEADING.match(line) is not None))
    return tuple(lines)


def distinct_lines(bodies: Iterable[str]) -> tuple[Line, ...]:
    """Returns the lines of all bodies, each once, compared without case and white space."""
    found: dict[str, Line] = {}
    for body in bodies:
        for line in lines_of(body):
            found.setdefault(line.text.casefold(), line)
    return tuple(found.values())


def claims_among(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Returns the lines that count: no headings, which may be reworded, unless there is nothing else."""
    return tuple(line for line in lines if not line.heading) or lines


def chars_of(lines: Iterable[Line]) -> int:
    return sum(len(line.text) for line in lines)


def unlike_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Returns the lines without those that say nearly the same as an earlier one."""
    by_terms: Mapping[frozenset[str], Line] = {line.terms: line for line in reversed(lines)}
    once = tuple(reversed(tuple(by_terms.values())))
    if len(once) > _MOST_COMPARED:
        return once
    kept: list[Line] = []
    for line in once:
        if all(len(line.terms & other.terms) < _SAME_LINE * len(line.terms | other.terms) for other in kept):
            kept.append(line)
    return tuple(kept)


# -- the check ------------------------------------------------------------------------------------------------------


Reasons = tuple[str, ...]

LEAST_KEPT = 0.9
"""The share of the distinct lines that must be kept."""
MOST_SIZE, LEAST_SIZE = 1.1, 0.25
"""Bounds of the size, relative to the distinct lines together."""

_WITH_DIGIT = re.compile(r"(?<![\w.,:/-])(?:\d[\d.,:]*[^\W\d_]{1,5}\b|[^\W\d_]+\d\w*(?:[.,:]\w+)*)")
"""A quantity with its unit (`30s`, `5GB`), a name with a number in it (`utf8`)."""
_WORD_OR_NUMBER = re.compile(r"\w+(?:[.,:]\w+)*")
_HYPHENATED = re.compile(r"[^\W\d_]{1,30}(?:[-/][^\W\d_]{1,30}){1,4}")
_NUMBER = re.compile(r"\d[\d.,:]*")
_QUANTITY = re.compile(r"(\d[\d.,:]*)([^\W\d_]+)")
_ABBREVIATIONS = WORDING.words("abbreviations")


def lost_content(sources: Iterable[str], after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns what the sources say and `after` does not, unless `drops` names it: salient tokens, negations, reversed
    claims.

    Other list numbers, spellings of dates, hyphens, a space before a unit, or another end of a sentence lose nothing.
    """
    old = tuple(map(comparable, sources))  # each alone: a code block that is never closed ends with its text
    new, named = with_iso_dates(after), tuple(map(with_iso_dates, drops))
    said = "\n".join((new, *named)).lower()
    words = frozenset(_WORD_OR_NUMBER.findall(said))
    lost: list[str] = []
    for text in old:
        with_digit = dict.fromkeys(map(str.lower, _WITH_DIGIT.findall(text)))
        lost += (*lost_salience(text, new, named), *(word for word in with_digit if word not in words))
    tokens = tuple(token for token in lost if not _is_said_otherwise(token.lower(), said))
    turned = turned_claims("\n".join(old), comparable(after), named)
    swapped = swapped_words("\n".join(old), comparable(after), named)
    return tuple(dict.fromkeys((*tokens, *turned, *swapped)))


def loss_problems(sources: Iterable[str], after: str, drops: Iterable[str] = ()) -> Reasons:
    """Returns the reasons why a text must not replace others, in words."""
    lost = lost_content(sources, after, drops)
    if not lost:
        return ()
    return (f"it would lose {first_few(tuple(map(repr, lost)), 12)}, and its drops do not name that",)


def information_problems(
    sources: tuple[MemoryEntry, ...], results: tuple[MemoryEntry, ...], drops: tuple[str, ...] = ()
) -> Reasons:
    """Returns the reasons why these results must not replace these sources, in words; empty if they keep everything."""
    after = "\n\n".join(each.whole for each in results)
    problems = loss_problems(map(said_by, sources), after, drops)
    problems += invented_words("\n".join(map(said_by, sources)), after)
    union = distinct_lines(each.body for each in sources)
    lines, said = claims_among(union), content_terms("\n".join((after, *drops)))
    lost = [line for line in lines if coverage(line.terms, said) < KEPT_SHARE]
    if len(lines) - len(lost) < LEAST_KEPT * len(lines):
        example = lost[0].text[:80]
        problems += (
            f"it would lose {len(lost)} of {len(lines)} lines, for example {example!r}, and its drops do not name them",
        )
    # The titles of the sources often become headings.
    most = MOST_SIZE * chars_of(distinct_lines(text for each in sources for text in (each.meta.title, each.body)))
    whole, size = chars_of(union), sum(chars_of(lines_of(each.body)) for each in results)
    if size > most:
        problems += (f"its text has {size:,} characters, more than 110 % of the {whole:,} that it is made from",)
    elif size < LEAST_SIZE * whole and size < LEAST_SIZE * chars_of(unlike_lines(union)):
        problems += (f"its text has {size:,} characters, less than 25 % of the {whole:,} that it is made from",)
    return problems


def _is_said_otherwise(lost: str, after: str) -> bool:
    """Returns whether a lost token is only spelled differently: `read-only` as "read only", `30 s` as "30s"."""
    if lost in _ABBREVIATIONS:
        return True
    if _HYPHENATED.fullmatch(lost):
        return _is_in(r"[\s/-]?".join(map(re.escape, re.split(r"[-/]", lost))), after)
    if _NUMBER.fullmatch(lost):
        return _is_in(rf"{re.escape(lost)}[^\W\d_]{{1,5}}", after)
    quantity = _QUANTITY.fullmatch(lost)
    return quantity is not None and _is_in(rf"{re.escape(quantity[1])}\s?{re.escape(quantity[2])}", after)


def _is_in(pattern: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,:-]){pattern}(?!\w)", text) is not None
