"""What the index holds of a note beside its words: one row each for its names, labels, turns and links."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from agent_memory.adapters.index.note_questions import AGENT, ALIAS, ID, NO_TURN, SLUG, TAG
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.searching.indexed_note import Relation
from agent_memory.domain.text.links import find_links
from agent_memory.formats.listed_json import render_listed

_MOST = (1 << 63) - 1
_TABLES = ("notes", "sheets", "names", "labels", "turns", "vectors")


def put_note(connection: sqlite3.Connection, number: int, stored: StoredEntry, lengths: Iterable[int]) -> None:
    """Everything of a new note but its postings."""
    listed, meta = stored.listed, stored.meta
    connection.execute(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(number, listed.path, meta.id, listed.archived, meta.kind, meta.scope, meta.sensitivity),
            max(-_MOST, min(meta.updated_at_ms, _MOST)),
            " ".join(map(str, lengths)),
        ),
    )
    connection.execute("INSERT INTO sheets VALUES (?, ?)", (number, render_listed(listed)))
    names = [(meta.id, ID, number), *((alias, ALIAS, number) for alias in meta.aliases)]
    connection.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", names)
    labels = [(sort, label, number) for sort, label in _labels(stored)]
    connection.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?, ?)", labels)
    turns = [
        (source.thread_id, turn, number)
        for source in meta.sources
        if source.thread_id is not None
        for turn in (source.turns or (NO_TURN,))
        if abs(turn) <= _MOST
    ]
    connection.executemany("INSERT OR IGNORE INTO turns VALUES (?, ?, ?)", turns)
    links = [(number, link.target, Relation.LINKS) for link in find_links(stored.body)]
    links += [(number, id, Relation.SUPERSEDES) for id in meta.supersedes]
    connection.executemany("INSERT OR IGNORE INTO links VALUES (?, ?, ?)", links)


def remove_note(connection: sqlite3.Connection, number: int) -> None:
    """Everything of a note that is no more; its postings are passed over until their segment is written anew."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
    connection.execute("DELETE FROM links WHERE source = ?", (number,))
    connection.execute("INSERT INTO dead VALUES (?)", (number,))


def _labels(stored: StoredEntry) -> Iterable[tuple[str, str]]:
    for tag in stored.meta.tags:
        yield TAG, tag
        yield SLUG, tag.partition("__")[2]
    for source in stored.meta.sources:
        yield AGENT, source.harness
        if source.agent is not None:
            yield AGENT, source.agent
