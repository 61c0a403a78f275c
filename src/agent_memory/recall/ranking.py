"""The order of search results: every reason adds to one sum, and each is reported."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from attrs import evolve, frozen

from agent_memory.note.note import GLOBAL_SCOPE, Importance, Listed, Relation
from agent_memory.note.terms import QueryWord, slips_between
from agent_memory.recall.hits import MatchedWord, Neighbour, NoteLink, ScorePart, TermPart
from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.instants import DAY_MS, has_passed
from agent_memory.text.plain_text import first_few
from agent_memory.text.tables import read_table

_TABLE = read_table("agent_memory.recall", "words.txt")
_PLAIN = re.IGNORECASE | re.ASCII
"""Case is ignored as a look-up by `lower` does: without ASCII, `ı` would be an `i`."""

_MONTHS = {name: number for number, names in enumerate(_TABLE.lines["months"], 1) for name in names.split()}
_MONTH = r"(?P<month>[a-zç]{3,9})\b\.?"  # any word; the table tells whether it is a month
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_IN_A_MONTH = rf"(?:in|since|during|until|before|after|desde|em|en)\s+{_MONTH}"
_DATES = (
    rf"{_YEAR}-(?P<monthnumber>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b",
    rf"{_YEAR}-(?P<monthnumber>0[1-9]|1[0-2])\b",
    rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
    rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:of\s+|de\s+)?{_YEAR})?",
    rf"{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
    _IN_A_MONTH,
    rf"(?:in|since|during|until|before|after|from|desde|em|en)\s+{_YEAR}",
)
_OPEN_END = r"(?:since|after|from|desde|depois de|después de)(?:\s+(?:in|the))?\s*$"
_OPEN_START = r"(?:before|until|till|as of|up to|by|antes de|até|hasta)(?:\s+the)?\s*$"
_RELATIVE = {
    name: (int(first), int(last)) for first, last, name in (each.split(" ", 2) for each in _TABLE.lines["relative"])
}
_RELATIVE_TIME = rf"\b(?:{'|'.join(_RELATIVE)})\b"

_ID = rf"(?<!\w){ID_PATTERN}(?!\w)"


@frozen
class Period:
    """The time from `start_ms` up to but not including `end_ms`, epoch ms in UTC; None is open."""

    start_ms: int | None
    end_ms: int | None

    def holds(self, at_ms: int) -> bool:
        """Returns whether an instant lies in it."""
        return (self.start_ms is None or self.start_ms <= at_ms) and (self.end_ms is None or at_ms < self.end_ms)


def ids_in(query: str) -> tuple[str, ...]:
    """Returns the ids in a query, in order, each once."""
    return tuple(dict.fromkeys(re.findall(_ID, query)))[:20]


def periods_in(query: str, now_ms: int) -> tuple[Period, ...]:
    """Returns the times that a query names. A date that does not exist (`31 February`) is not one. A month or a day without a
    year is the last one that is not in the future."""
    asked = query[:2_000]  # a sentence that names a time is short; a pasted log is not
    found: list[tuple[re.Match[str], Period]] = []
    has_number = any(map(str.isdigit, asked))  # in nearly every form of a date
    for form in _DATES if has_number else (_IN_A_MONTH,):
        for named in re.finditer(rf"\b(?:{form})", asked, _PLAIN):
            is_free = not any(other.start() < named.end() and named.start() < other.end() for other, _ in found)
            if is_free and (period := _period_of(named.groupdict(), now_ms)) is not None:
                found.append((named, period))
    today = now_ms - now_ms % DAY_MS
    for named in re.finditer(_RELATIVE_TIME, asked, _PLAIN):
        first, last = _RELATIVE[named[0].lower()]
        found.append((named, Period(today - first * DAY_MS, today - (last - 1) * DAY_MS)))
    periods: list[Period] = []
    for named, period in sorted(found, key=lambda each: each[0].span()):
        before, word = asked[max(0, named.start() - 20) : named.start()], named[0]
        if re.search(_OPEN_END, before, re.IGNORECASE) or re.match(
            r"(?:since|after|from|desde)\b", word, re.IGNORECASE
        ):
            period = Period(period.start_ms, None)
        elif re.search(_OPEN_START, before, re.IGNORECASE) or re.match(r"(?:before|until)\b", word, re.IGNORECASE):
            period = Period(None, period.end_ms)
        periods.append(period)
    return tuple(periods)


def _period_of(named: dict[str, str | None], now_ms: int) -> Period | None:
    """Returns the day, month or year that is named, in UTC; without a year the last one that is not in the future. None
    for a day that does not exist."""
    name, number = named.get("month"), named.get("monthnumber")
    month = _MONTHS.get(name.lower(), 0) if name else int(number or 0)
    if name and not month:
        return None
    day, year = int(named.get("day") or 0), int(named.get("year") or 0)
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    try:
        first = date(year or today.year, month or 1, day or 1)
        if not year and first > today:
            first = date(today.year - 1, month or 1, day or 1)
    except ValueError:
        return None
    if day or named.get("day"):
        end = first + timedelta(days=1)
    elif month:
        end = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    else:
        end = date(first.year + 1, 1, 1)
    return Period(_ms(first), _ms(end))


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


_STEPS = list(Importance)


# The worth of each reason to show a note. The unit is the score of the best note by its words alone. One recipe for every store,
# judged on ten sets of which each was left out in turn (docs/adr/0034-ranking-by-few-signals.md).

MEANING = 0.12
"""For each standard deviation by which a note's meaning is nearer to the query than that of the store's other notes."""
NEIGHBOURS = 0.4, 0.2
"""The share of its own score that a note gives to those one turn before or after in the same session, and two turns away."""
_SHORT_TERMS = 30.0
"""Only short turns say so little that their neighbours count: if notes have more terms than this on average, the share falls
with the square of the length."""
_LINKS = 0.1
"""The share of the score of the best note to which it links, or that links to it."""
_ASKED_FOR = 0.15
"""For a note of a time that the query names."""
_HERE = 0.05
"""For a note in the scope of whoever asks; one of another repository loses as much."""
_IMPORTANCE = 0.02
"""For each step above `medium`; subtracted for one below."""
_OUTDATED = 0.6
"""The factor for a note that is archived, expired, no longer true, or superseded."""


@frozen
class Ranked:
    number: int
    listed: Listed
    total: float
    """The sum of the parts; 1 is the best note by its words alone."""
    parts: tuple[ScorePart, ...]
    successor: int | None = None


def from_neighbours(own: Mapping[int, float], neighbours: Iterable[Neighbour]) -> dict[int, float]:
    """Returns what notes gain from the turns around them, given their own scores."""
    given: dict[int, float] = {}
    for each in neighbours:
        score = own.get(each.number, 0.0)
        if score > 0 and 1 <= each.turns <= len(NEIGHBOURS):
            shortness = min(1.0, _SHORT_TERMS / max(each.terms, 1.0)) ** 2
            given[each.other] = given.get(each.other, 0.0) + shortness * NEIGHBOURS[each.turns - 1] * score
    return given


def from_links(own: Mapping[int, float], links: Iterable[NoteLink]) -> dict[int, float]:
    """Returns what notes gain from those they are linked with, both ways: for each, the best one counts."""
    given: dict[int, float] = {}
    for link in links:
        if link.relation is Relation.LINKS:
            for one, other in ((link.source, link.target), (link.target, link.source)):
                if (value := _LINKS * own.get(other, 0.0)) > 0:
                    given[one] = max(given.get(one, 0.0), value)
    return given


def for_place(scope: str, asked_from: str) -> float:
    """Returns what its scope adds to the score of a hit for somebody who asks from another scope or the same."""
    if GLOBAL_SCOPE in (asked_from, scope):
        return 0.0
    return _HERE if scope == asked_from else -_HERE


def for_period(periods: Iterable[Period], at_ms: int) -> float:
    """Returns what its time adds to the score of a hit if the query names that time."""
    return _ASKED_FOR if any(period.holds(at_ms) for period in periods) else 0.0


def weigh(
    parts: Mapping[int, Sequence[ScorePart]],
    listed: Mapping[int, Listed],
    periods: tuple[Period, ...],
    now_ms: int,
    asked_from: str = GLOBAL_SCOPE,
) -> dict[int, Ranked]:
    """Returns each note with what its frontmatter adds for somebody who asks now and from this scope. Notes without a
    positive score are left out."""
    ranked: dict[int, Ranked] = {}
    for number, given in parts.items():
        each = listed.get(number)
        if each is None or sum(part.value for part in given) <= 0:
            continue
        meta = each.meta
        at_ms = meta.created_at_ms if meta.valid_from_ms is None else meta.valid_from_ms
        added = (
            ("here", for_place(meta.scope, asked_from), meta.scope),
            ("period", for_period(periods, at_ms), ""),
            (
                "importance",
                _IMPORTANCE * (_STEPS.index(meta.importance) - _STEPS.index(Importance.MEDIUM)),
                meta.importance.value,
            ),
        )
        told = [*given, *(ScorePart(name, value, detail) for name, value, detail in added if value)]
        total = sum(part.value for part in told)
        is_over = has_passed(meta.expires_at_ms, now_ms) or has_passed(meta.valid_until_ms, now_ms)
        if each.archived or is_over:
            told.append(ScorePart("archived" if each.archived else "over", total * (_OUTDATED - 1)))
            total *= _OUTDATED
        ranked[number] = Ranked(number, each, total, tuple(told))
    return ranked


def with_successors(
    ranked: Mapping[int, Ranked], links: Iterable[NoteLink], listed: Mapping[int, Listed]
) -> dict[int, Ranked]:
    """Returns the ranking with each superseded note below its successor, which it names. A successor with a lower score
    gets that of the superseded note, since it now says what that one said. A successor that is not among `listed` may
    not be shown."""
    successors = {
        link.target: link.source
        for link in sorted(links, key=lambda link: (link.target, -link.source))
        if link.relation is Relation.SUPERSEDES and link.source != link.target
    }
    changed = dict(ranked)
    for old in sorted((each for each in ranked if each in successors), key=lambda each: (-ranked[each].total, each)):
        new = _last_successor(old, successors)
        if new is None:
            continue
        was = changed[old]
        if new in listed:
            heir = changed.get(new) or Ranked(new, listed[new], 0.0, ())
            if was.total > heir.total:
                part = ScorePart("supersedes", was.total - heir.total, was.listed.meta.id)
                changed[new] = evolve(heir, total=was.total, parts=(*heir.parts, part))
        lost = was.total * (_OUTDATED - 1)
        changed[old] = evolve(
            was, total=was.total + lost, parts=(*was.parts, ScorePart("superseded", lost)), successor=new
        )
    return changed


def _last_successor(number: int, successors: Mapping[int, int]) -> int | None:
    """Returns the end of the chain; None for a circle."""
    seen = {number}
    while number in successors:
        number = successors[number]
        if number in seen:
            return None
        seen.add(number)
    return number


def in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Returns the notes best first; of equals the one that changed last, then by id."""
    return sorted(ranked, key=lambda each: (-each.total, -each.listed.meta.updated_at_ms, each.listed.meta.id))


def strength_of(
    asked: Sequence[QueryWord], words: Sequence[MatchedWord], parts: Sequence[TermPart], cosine: float = 0.0
) -> float:
    """Returns, from 0 to 1, the root of the share of the query's words, by their worth, that the hit has; or how near in meaning it is, if
    that is more. So it says the same whatever else was found. A question in whole sentences names much that no note says:
    hence the root. A word that no note has is worth as much as the rarest; `Q2` is one word, whatever it is looked up by
    besides."""
    several = any(len(word.term) > 1 for word in words)
    worth = {word.term: word.idf for word in words if len(word.term) > 1 or not several}
    nowhere = sum(word.stretches and word.term not in worth for word in asked)
    whole = sum(worth.values()) + nowhere * max(worth.values(), default=0.0)
    most = sum(worth.get(part.term, 0.0) for part in parts)
    said = math.sqrt(min(most / whole, 1.0)) if whole > 0 else 0.0
    return max(said, min(max(cosine, 0.0), 1.0))


def with_words(parts: Sequence[ScorePart], said: Sequence[TermPart]) -> tuple[ScorePart, ...]:
    """Returns the parts, with that of the words split into the words themselves, most valuable first."""
    best = sorted(said, key=lambda part: -part.value)
    words = [part.found if part.found == part.term else f"{part.found} for {part.term}" for part in best]
    detail = first_few(words, 8)
    return tuple(evolve(part, detail=detail) if part.name == "words" else part for part in parts)


TITLE_WEIGHT = 1.5
K1 = 1.2
"""How late repeated occurrences of a word stop counting."""
B = 0.5
"""How much less a long note counts: 0 not at all, 1 in proportion to its length."""
RESEMBLING = 0.25
"""The value of a term that stands in for the wanted one, relative to the weakest exact hit."""

MAX_LOOKED_FOR = 64
"""For a longer query, the rarest words are looked for, the first ones of equals."""
MAX_STRETCHED = 8
"""How many words of one query may be matched by similar terms."""
MAX_OTHERS = 16
"""How many terms may stand in for one word: the most frequent that it begins, the nearest of which it may be a
misspelling."""

_LONG_CHARS, _VERY_LONG_CHARS = 5, 9


def idf(df: int, notes: int) -> float:
    """Returns the weight of a word that `df` of the notes have: above 0, and higher the rarer it is."""
    return math.log(1.0 + (notes - df + 0.5) / (df + 0.5))


def saturated(in_title: int, in_text: int, length: int, mean_length: float) -> float:
    """Returns how much of a word's weight a note earns, 0 to 1."""
    norm = 1.0 - B + B * length / mean_length if mean_length else 1.0
    weighted = (TITLE_WEIGHT * in_title + in_text) / norm
    return weighted / (K1 + weighted)


def resembling_scores(
    exact: Mapping[int, float], others: Iterable[tuple[str, Mapping[int, float]]]
) -> tuple[dict[int, float], dict[int, str]]:
    """Returns the scores of notes that lack the word itself, by terms that stand in for it, and the best such term for
    each. `exact` and `others` are full scores; a similar term never comes near the weakest exact hit."""
    least = min(exact.values(), default=math.inf)
    scores: dict[int, float] = {}
    terms: dict[int, str] = {}
    for term, found in others:
        most = max(found.values(), default=0.0)
        factor = RESEMBLING * (min(least / most, 1.0) if most else 0.0)
        for number, score in found.items():
            if number not in exact and factor * score > scores.get(number, 0.0):
                scores[number], terms[number] = factor * score, term
    return scores, terms


def stretched(words: Sequence[QueryWord]) -> tuple[QueryWord, ...]:
    """Returns the words of a query that similar terms may match: the first few, and none for a query that is a whole
    text."""
    return () if len(words) > MAX_LOOKED_FOR else tuple(word for word in words if word.stretches)[:MAX_STRETCHED]


def rarest(words: Mapping[QueryWord, int]) -> list[QueryWord]:
    """Returns the words to look for, in their order, given the words and how many notes have each."""
    wanted = set(sorted(words, key=words.__getitem__)[:MAX_LOOKED_FOR])
    return [word for word in words if word in wanted]


def standing_for(longer: Iterable[tuple[str, int]], slips: Iterable[str]) -> list[str]:
    """Returns the terms that stand in for a word: of those that it begins (with how many notes have each) and those of
    which it may be a misspelling (nearest first)."""
    begun = [term for term, _ in sorted(longer, key=lambda each: (-each[1], each[0]))[:MAX_OTHERS]]
    return list(dict.fromkeys((*begun, *slips)))[:MAX_OTHERS]


def slips_allowed(term: str) -> int:
    """Returns how many typing errors a term of this length may have: none, one, or two. Names with digits or signs have
    none."""
    if not term.isalpha() or len(term) < _LONG_CHARS:
        return 0
    return 1 if len(term) < _VERY_LONG_CHARS else 2


def slips_of(term: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Returns the candidates that begin with the same character and differ by at most the allowed number of typing
    errors, fewest first; and the term's own beginnings, up to three characters shorter, which an ending may have hidden
    from the stemmer."""
    most = slips_allowed(term)
    if not most:
        return ()
    found: list[tuple[int, str]] = []
    for other in candidates:
        if other == term or other[:1] != term[0]:
            continue
        if len(other) >= _LONG_CHARS and len(term) - len(other) in (1, 2, 3) and term.startswith(other):
            found.append((1, other))
        elif abs(len(other) - len(term)) <= most and (slips := slips_between(term, other, most)) <= most:
            found.append((slips, other))
    return tuple(other for _, other in sorted(found))
