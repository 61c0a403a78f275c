"""What the index holds of a note beside its words, as rows of its own and as part of a segment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.adapters.index.note_questions import note_row
from agent_memory.adapters.index.seals import key_hash
from agent_memory.adapters.index.segment_writing import NoteDraft
from agent_memory.adapters.index.segments import Relations
from agent_memory.adapters.index.term_postings import AGENT, KIND, SCOPE, SLUG, TAG, label_term
from agent_memory.adapters.index.tie_pages import NO_TURN, name_value
from agent_memory.adapters.index.tie_questions import RELATIONS, relations_row
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.searching.indexed_note import Relation
from agent_memory.domain.searching.note_terms import FieldTerms
from agent_memory.domain.text.links import find_links
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.formats.listed_json import render_listed
from agent_memory.values import define, field

_MOST = (1 << 63) - 1


def relations_of(stored: StoredEntry) -> Relations:
    """What a note says of others, each thing once."""
    meta = stored.meta
    places = (
        (source.thread_id, turn)
        for source in meta.sources
        if source.thread_id is not None
        for turn in (source.turns or (NO_TURN,))
        if abs(turn) <= _MOST
    )
    links = [(link.target, Relation.LINKS.value) for link in find_links(stored.body)]
    links += [(id, Relation.SUPERSEDES.value) for id in meta.supersedes]
    return Relations(
        list(dict.fromkeys((meta.id, *meta.aliases))), list(dict.fromkeys(places)), list(dict.fromkeys(links))
    )


def note_draft(stored: StoredEntry, relations: Relations, terms: Sequence[FieldTerms]) -> NoteDraft:
    """What a segment has to know of a note."""
    meta, is_archived = stored.meta, stored.listed.archived
    names = (
        (key_hash(name), name_value(is_alias=at > 0, is_archived=is_archived))
        for at, name in enumerate(relations.names)
    )
    targets = ((key_hash(target), RELATIONS.index(Relation(relation))) for target, relation in relations.links)
    places = ((key_hash(session), turn) for session, turn in relations.places)
    return NoteDraft(
        *(terms, _labels(meta), (names, targets, places)),
        *(max(-_MOST, min(meta.updated_at_ms, _MOST)), is_archived, meta.sensitivity is Sensitivity.PRIVATE),
    )


def _labels(meta: Meta) -> Iterator[str]:
    yield label_term(KIND, meta.kind)
    yield label_term(SCOPE, meta.scope)
    for tag in meta.tags:
        yield label_term(TAG, tag)
        yield label_term(SLUG, tag.partition("__")[2])
    for source in meta.sources:
        yield label_term(AGENT, source.harness)
        if source.agent is not None:
            yield label_term(AGENT, source.agent)


@define
class NewNotes:
    """Rows of new notes, gathered: SQLite takes many at once in half the time."""

    _notes: list[tuple[int, str, str, int]] = field(factory=list[tuple[int, str, str, int]])
    _relations: list[tuple[int, str, int]] = field(factory=list[tuple[int, str, int]])

    def put(self, number: int, stored: StoredEntry, relations: Relations, lengths: Iterable[int]) -> None:
        """The rows of a new note."""
        self._notes.append(note_row(number, " ".join(map(str, lengths)), render_listed(stored.listed)))
        self._relations.append(relations_row(number, relations))

    def write(self, connection: sqlite3.Connection) -> None:
        """All that was gathered since the last time."""
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", self._notes)
        connection.executemany("INSERT INTO relations VALUES (?, ?, ?)", self._relations)
        self._notes.clear()
        self._relations.clear()


def remove_rows(connection: sqlite3.Connection, number: int) -> None:
    """Those of a note that is no more."""
    connection.execute("DELETE FROM notes WHERE number = ?", (number,))
    connection.execute("DELETE FROM relations WHERE number = ?", (number,))
