"""What the index holds of a note beside its words: one row each for its names, labels, turns and links."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from agent_memory.adapters.index.note_questions import AGENT, ALIAS, ID, NO_TURN, SLUG, TAG
from agent_memory.adapters.index.seals import note_seal
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.searching.indexed_note import Relation
from agent_memory.domain.text.links import find_links
from agent_memory.formats.listed_json import render_listed
from agent_memory.values import define, field

_MOST = (1 << 63) - 1
_INSERTS = {
    "notes": "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "sheets": "INSERT INTO sheets VALUES (?, ?, ?)",
    "names": "INSERT OR IGNORE INTO names VALUES (?, ?, ?)",
    "labels": "INSERT OR IGNORE INTO labels VALUES (?, ?, ?)",
    "turns": "INSERT OR IGNORE INTO turns VALUES (?, ?, ?)",
    "links": "INSERT OR IGNORE INTO links VALUES (?, ?, ?)",
}
_TABLES = ("notes", "sheets", "names", "labels", "turns", "vectors")


@define
class NewNotes:
    """Rows of new notes, gathered: SQLite takes many at once in half the time."""

    ids: set[str] = field(factory=set[str])
    """Of notes that are not written yet."""
    _rows: dict[str, list[tuple[object, ...]]] = field(factory=lambda: {table: [] for table in _INSERTS})

    def put(self, number: int, stored: StoredEntry, lengths: Iterable[int]) -> None:
        """Everything of a new note but its postings."""
        listed, meta, rows = stored.listed, stored.meta, self._rows
        self.ids.add(meta.id)
        sheet = render_listed(listed)
        row = (
            *(number, listed.path, meta.id, int(listed.archived), meta.kind, meta.scope, meta.sensitivity),
            max(-_MOST, min(meta.updated_at_ms, _MOST)),
            " ".join(map(str, lengths)),
        )
        rows["notes"].append(row)
        rows["sheets"].append((number, sheet, note_seal(*row, sheet)))
        rows["names"].append((meta.id, ID, number))
        rows["names"] += [(alias, ALIAS, number) for alias in meta.aliases]
        rows["labels"] += [(sort, label, number) for sort, label in _labels(stored)]
        rows["turns"] += [
            (source.thread_id, turn, number)
            for source in meta.sources
            if source.thread_id is not None
            for turn in (source.turns or (NO_TURN,))
            if abs(turn) <= _MOST
        ]
        rows["links"] += [(number, link.target, Relation.LINKS) for link in find_links(stored.body)]
        rows["links"] += [(number, id, Relation.SUPERSEDES) for id in meta.supersedes]

    def write(self, connection: sqlite3.Connection) -> None:
        """All that was gathered since the last time."""
        for table, sql in _INSERTS.items():
            if rows := self._rows[table]:
                connection.executemany(sql, rows)
                rows.clear()
        self.ids.clear()


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
