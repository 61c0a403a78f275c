"""What a search is asked and answers: requests, hits, the passage that is shown of each, and what the index finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from operator import itemgetter

from attrs import field, frozen
from attrs.validators import and_, ge, le

from agent_memory.note.note import GLOBAL_SCOPE, Kind, Listed, Relation, StoredEntry, Tier
from agent_memory.note.terms import chunk_pattern, chunk_terms
from agent_memory.text.ids import DEFAULT_PREFIX, normal_tag
from agent_memory.text.plain_text import clean_text, cut_chars

# -- the passage of a note that says most of what the query asks for --------------------------------------------------

SNIPPET_CHARS = 160
_MOST_CHARS = 1 << 20
"""The rest of a longer text is not searched."""
_LONG_CHUNK_CHARS = 40
_MOST_HITS_INSIDE = 500
_CUT = "…"

_NOISE = re.compile(
    r"""
      ^[ \t]*(?:```+|~~~+)[^\n`]*$                # fences of code
    | <!--[^\n]{0,200}?-->
    | ^[ \t]*[|:\-=*_](?:[|:\-=*_ \t]*)$      # rules, and those of tables
    | ^[ \t]*(?:\#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)
    | \*\*|`+
    | ^[ \t]*\||\|[ \t]*$
    """,
    re.VERBOSE | re.MULTILINE,
)
_LABELLED_LINK = re.compile(r"!?\[\[[^\[\]|\n]*\|([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s\"[^\"\n]*\")?\)")


@frozen
class Snippet:
    """The best passage of a note, on one line, without control characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words of the query are in `text`: half-open ranges of characters, in order."""


@frozen
class _Hit:
    start: int
    end: int
    worth: Mapping[str, float]
    """The value by word of the query."""


def snippet_of(texts: Sequence[str], worth: Mapping[str, float]) -> Snippet:
    """Returns the best passage of the best of these texts, the first among equals, on one line of at most
    `SNIPPET_CHARS`.

    `worth` has the terms to look for, as `terms.chunk_terms` makes them, and the value of each. If no text has one, the
    beginning of the first text that is not empty. Cut at words, or between graphemes; `…` marks a cut.
    """
    cleaned = (clean_text(text[:_MOST_CHARS]) for text in texts)
    plain = (_NOISE.sub(" ", _LABELLED_LINK.sub(lambda link: link[1] or link[2] or "", text)) for text in cleaned)
    lines = [line for text in plain if (line := " ".join(text.split()))]
    passages = [found for line in lines if (found := _best_passage(line, worth)) is not None]
    if passages:
        return max(passages, key=itemgetter(0))[1]
    return Snippet(_from(lines[0], 0)[0] if lines else "")


def _joined(marks: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _best_passage(line: str, worth: Mapping[str, float]) -> tuple[float, Snippet] | None:
    hits = list(_hits(line, worth))
    if not hits:
        return None
    first, last, value = _densest(hits)
    # A passage shows about a quarter of its length before its first hit.
    before = (SNIPPET_CHARS - (hits[last].end - hits[first].start)) // 4
    shown, start, shift = _from(line, max(0, hits[first].start - max(before, 0)), hits[first].start)
    end = len(shown) - (start + len(shown) - shift < len(line))
    moved = ((hit.start - start + shift, hit.end - start + shift) for hit in hits[first:])
    marks = _joined((here, there) for here, there in moved if there <= end)
    return value, Snippet(shown, marks)


def _hits(line: str, worth: Mapping[str, float]) -> Iterator[_Hit]:
    for found in chunk_pattern(line).finditer(line):
        chunk = found[0]
        terms = chunk_terms(chunk)
        said = {term: worth[term] for term in (*terms.parts, *terms.common, *terms.wholes) if term in worth}
        if said and chunk.isascii() and len(chunk) <= _LONG_CHUNK_CHARS:
            yield _Hit(found.start(), found.end(), said)
        elif said:
            yield from _inside(chunk, found.start(), said)


def _inside(chunk: str, start: int, said: Mapping[str, float]) -> list[_Hit]:
    """Returns where in a chunk the terms are: in a script without spaces a whole sentence is one chunk. The whole chunk
    if they cannot be located, as when accents hide them."""
    lowered = chunk.lower()
    if len(lowered) != len(chunk):
        return [_Hit(start, start + len(chunk), said)]
    places: dict[tuple[int, int], dict[str, float]] = {}
    for term, worth in said.items():
        at = lowered.find(term)
        while at >= 0 and len(places) < _MOST_HITS_INSIDE:
            places[at, at + len(term)] = {term: worth}
            at = lowered.find(term, at + 1)
    if not places:
        return [_Hit(start, start + len(chunk), said)]
    return [_Hit(start + first, start + end, each) for (first, end), each in sorted(places.items())]


def _densest(hits: Sequence[_Hit]) -> tuple[int, int, float]:
    """Returns first and last hit of the most valuable window, and its value: a repeated word adds a tenth."""
    best = (0, 0, -1.0)
    counts: dict[str, int] = {}
    worth: dict[str, float] = {}
    value = 0.0
    first = 0
    for last, hit in enumerate(hits):
        for term, each in hit.worth.items():
            worth[term] = each
            counts[term] = counts.get(term, 0) + 1
            value += each if counts[term] == 1 else each / 10
        while first < last and hit.end - hits[first].start > SNIPPET_CHARS - 2:
            for term in hits[first].worth:
                counts[term] -= 1
                value -= worth[term] if counts[term] == 0 else worth[term] / 10
            first += 1
        if value > best[2] + 1e-9:
            best = (first, last, value)
    return best


def _from(line: str, wanted: int, kept: int | None = None) -> tuple[str, int, int]:
    """Returns the line from about `wanted` on, the offset at which it begins, and by how much the prefix shifts it.
    `kept` is the latest offset at which it may begin."""
    if len(line) <= SNIPPET_CHARS:
        return line, 0, 0
    wanted = min(wanted, max(0, len(line) - SNIPPET_CHARS + 1))
    latest = wanted if kept is None else kept
    # At a word boundary; without one nearby, at a grapheme, counted from the beginning of this run of characters.
    start = line.find(" ", wanted - 1, latest) + 1 if wanted else 0
    if wanted and not start:
        run = line.rfind(" ", 0, wanted) + 1
        start = run + len(cut_chars(line[run:latest], max(wanted - run, 0)))
    lead = _CUT if start else ""
    room = SNIPPET_CHARS - len(lead)
    rest = line[start:]
    if len(rest) <= room:
        return lead + rest, start, len(lead)
    shown = cut_chars(rest, room - len(_CUT))
    at_word = shown.rfind(" ", len(shown) * 2 // 3)
    if len(shown) < len(rest) and rest[len(shown)] != " " and at_word > 0:
        shown = shown[:at_word]
    return lead + shown.rstrip() + _CUT, start, len(lead)


# -- what a search is asked and answers -------------------------------------------------------------------------------

MAX_HITS = 1_000
"""The most that can be asked for at once."""


class Mode(StrEnum):
    """How notes are compared with the query: by words, by meaning, or by both."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    SEMANTIC = "semantic"


def _wanted_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Returns the tags as notes have them; without prefix if they were asked for without."""
    wanted: dict[str, None] = {}
    for tag in tags:
        normal = normal_tag(tag) or tag
        wanted[normal if "__" in tag else normal.removeprefix(f"{DEFAULT_PREFIX}__")] = None
    return tuple(wanted)


@frozen
class SearchRequest:
    """A question to the store. Any text is a query; None, or empty, does not filter. Secret notes are not in the index
    at all."""

    query: str
    limit: int = field(default=10, validator=and_(ge(1), le(MAX_HITS)))
    mode: Mode = Mode.HYBRID
    kind: Kind | None = None
    tags: tuple[str, ...] = field(default=(), converter=_wanted_tags)
    """Only notes with one of these; one without prefix matches under every prefix."""
    scope: str | None = None
    """Only notes of this scope."""
    since_ms: int | None = None
    """Only notes changed since."""
    session: str | None = None
    """Only notes that come from this session."""
    agent: str | None = None
    """Only notes with a source that names this agent, or a harness of this name."""
    min_score: float | None = None
    """Only hits of at least this score, 0 to 1."""
    archived: bool = False
    """Archived notes too, below the live ones."""
    withheld: bool = True
    """Also notes that no person has approved yet; never for an agent."""
    here: str = GLOBAL_SCOPE
    """The scope of whoever asks: its notes come first among equals."""
    scopes: frozenset[str] | None = None
    """Only notes of these scopes; for text that is shown unasked."""

    @property
    def is_filtered(self) -> bool:
        """Returns whether the request asks for more than that a note is live."""
        filters = (self.kind, self.scope, self.scopes, self.since_ms, self.session, self.agent)
        return bool(self.tags) or any(each is not None for each in filters)

    def lets_through(self, listed: Listed) -> bool:
        """Returns whether the request admits a note, apart from its sensitivity."""
        meta = listed.meta
        sources = meta.sources
        return (
            (self.archived or not listed.archived)
            and (self.withheld or not meta.withheld)
            and (self.kind is None or meta.kind is self.kind)
            and (self.scope is None or meta.scope == self.scope)
            and (self.scopes is None or meta.scope in self.scopes)
            and (self.since_ms is None or meta.updated_at_ms >= self.since_ms)
            and (not self.tags or any(each in self.tags for tag in meta.tags for each in (tag, tag.partition("__")[2])))
            and (self.session is None or any(source.thread_id == self.session for source in sources))
            and (self.agent is None or any(self.agent in (source.agent, source.harness) for source in sources))
        )


@frozen
class ScorePart:
    """One reason for a score: `name` is its name, `value` what it adds to (or takes from) the sum."""

    name: str
    value: float
    detail: str = ""


@frozen(slots=False)
class SearchHit:
    """A note that was found, as it is now."""

    stored: StoredEntry
    score: float
    """0 to 1, about 1 for the best hit of a good match; comparable within one answer, not between answers."""
    worth: Mapping[str, float] = field(factory=dict[str, float])
    """The value of each term in a passage of the note: those it was found by, and the other words of the query."""
    tier: Tier = Tier.COLD
    parts: tuple[ScorePart, ...] = ()
    superseded_by: str | None = None
    """The live note that replaced it."""

    @property
    def listed(self) -> Listed:
        return self.stored.listed

    @cached_property
    def snippet(self) -> Snippet:
        """Returns the passage that answers most of the query."""
        return snippet_of((self.stored.meta.description, self.stored.body), self.worth)


@frozen
class SearchAnswer:
    """The hits, best first, and how they were found."""

    hits: tuple[SearchHit, ...]
    mode: Mode
    """The mode that answered: another than the one asked for if that is not installed."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader: about what could not be read, or that another mode answered."""
    matched: int = 0
    """How many notes matched the query at all, before `limit`."""


@frozen
class TermPart:
    term: str
    found: str
    """The term in the note: another one if it only begins alike or may be a misspelling."""
    value: float


@frozen
class MatchedWord:
    term: str
    idf: float
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """Its part in the score of each note."""
    others: Mapping[int, str] = field(factory=dict[int, str])
    """The term that stands in for it, for notes without the word itself."""


@frozen
class Matches:
    words: tuple[MatchedWord, ...] = ()
    """The words that were looked for and that any note has; for a long query, the rarest."""
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """Score by note number, best first, at most as many as were wanted; newer first among equals."""
    matched: int = 0
    """Notes that matched, before the limit."""

    def parts(self, number: int) -> tuple[TermPart, ...]:
        """Returns what each word adds to a note; the sum is its score."""
        return tuple(
            TermPart(word.term, word.others.get(number, word.term), word.scores[number])
            for word in self.words
            if number in word.scores
        )


@frozen
class Neighbour:
    """Two notes from neighbouring turns of one session."""

    number: int
    other: int
    turns: int
    """Turns from one to the other; 0 if they come from the same turn."""
    terms: float
    """The mean of their lengths, in terms."""


@frozen
class NoteLink:
    """A link from one note to another; both are in the index, the target by its id or an alias."""

    source: int
    target: int
    relation: Relation


@frozen
class Nearness:
    deviations: Mapping[int, float] = field(factory=dict[int, float])
    """By how many standard deviations each note is nearer than the average note."""
    cosines: Mapping[int, float] = field(factory=dict[int, float])
    """Cosine with the query, -1 to 1, of the same notes."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader of the answer."""
