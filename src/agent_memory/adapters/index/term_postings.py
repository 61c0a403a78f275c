"""The postings of terms, found and checked: nothing of a term is lost unseen, nor taken for another's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from agent_memory.adapters.index.postings import check_postings, live_count, parse_postings
from agent_memory.adapters.index.seals import RuinedIndexError, key_hash
from agent_memory.adapters.index.segments import LiveNotes
from agent_memory.adapters.index.vocabulary import Vocabularies
from agent_memory.values import define, field, frozen

KIND, SCOPE, TAG, SLUG, AGENT = "kind", "scope", "tag", "slug", "agent"
"""Sorts of labels; a slug is a tag without its prefix, and a harness counts as an agent."""

_NO_WORD = "\x01"
"""What no word of a text begins with."""
_CACHED_LABELS = 1 << 12


@lru_cache(maxsize=_CACHED_LABELS)
def label_term(sort: str, label: str) -> str:
    """The term that stands for a label: a filter is asked for like a word, though no word is like it."""
    return f"{_NO_WORD}{key_hash(sort, label):016x}"


@frozen
class TermHits:
    """The postings of one term."""

    df: int
    """Live notes that have it."""
    by_segment: Mapping[int, bytes]
    """Blobs by the position of their segment."""


_NO_HITS = TermHits(0, {})


@define
class TermPostings:
    """Those that were asked for, within one transaction."""

    connection: sqlite3.Connection
    live: LiveNotes
    _known: dict[str, TermHits] = field(factory=dict[str, TermHits])
    _vocabularies: Vocabularies | None = None

    def forget(self) -> None:
        """Let go of what was found: another question has other words."""
        self._known, self._vocabularies = {}, None

    def hits(self, term: str) -> TermHits:
        """Those of a term that was loaded; none of another."""
        return self._known.get(term, _NO_HITS)

    def load(self, terms: Iterable[str]) -> None:
        """Find the postings of these terms. RuinedIndexError where some are not as they were written, or not there."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._known]
        if not wanted:
            return
        found: dict[str, dict[int, bytes]] = {}
        df: dict[str, int] = {}
        marks = ",".join("?" * len(wanted))
        sql = f"SELECT term, df, seal, grouped FROM postings WHERE segment = ? AND term IN ({marks})"
        for at, (segment, gone) in enumerate(zip(self.live.segments, self.live.gone, strict=True)):
            absent = set(wanted)
            for term, count, sealed, blob in self.connection.execute(sql, (segment.id, *wanted)):
                check_postings(segment.id, term, count, sealed, blob)
                absent.discard(term)
                found.setdefault(term, {})[at] = blob
                df[term] = df.get(term, 0) + (live_count(parse_postings(blob, segment.width), gone) if gone else count)
            if any(self.vocabularies.has(segment.id, term) for term in absent):
                raise RuinedIndexError
        for term in wanted:
            self._known[term] = TermHits(df.get(term, 0), found.get(term, {}))

    def ordinals(self, terms: Sequence[str]) -> Iterator[frozenset[int]]:
        """The notes that have any of these terms, segment by segment; dead ones may be among them."""
        self.load(terms)
        for at, segment in enumerate(self.live.segments):
            blobs = [blob for term in terms if (blob := self.hits(term).by_segment.get(at)) is not None]
            groups = (group for blob in blobs for group in parse_postings(blob, segment.width))
            yield frozenset(chain.from_iterable(group.ordinals for group in groups))

    @property
    def vocabularies(self) -> Vocabularies:
        """Those of all segments."""
        if self._vocabularies is None:
            self._vocabularies = Vocabularies(self.connection)
        return self._vocabularies
