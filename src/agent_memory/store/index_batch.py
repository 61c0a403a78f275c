"""Reads files of notes into the tables of the database, in one transaction; loaded only if something changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, repeat

from agent_memory.errors import EntryUnreadable, PathRefused, StoreIo
from agent_memory.note.note import Relation, StoredEntry
from agent_memory.note.terms import FieldTerms, note_terms
from agent_memory.store.note_files import ARCHIVE, ReadFile, read_stored, render_listed, standing
from agent_memory.text.markdown import find_links

_MOST_MS = (1 << 63) - 1
_NOTE_TABLES = ("notes", "names", "places", "vectors")


class Batch:
    """The changes of one transaction."""

    def __init__(self, connection: sqlite3.Connection, root: str) -> None:
        self._connection = connection
        self._root = root
        self._stored: dict[str, StoredEntry] = {}
        self._touched: dict[tuple[str, int], None] = {}
        """The ids, with whether archived, whose note may now be another file."""
        self._is_hidden = False
        """Whether a note that could be found became secret."""

    def put(self, some: Sequence[ReadFile]) -> None:
        execute = self._connection.execute
        for each in some:
            sql = "SELECT hash, number, id, archived FROM files WHERE path = ?"
            known = execute(sql, (each.path,)).fetchone()
            if known is not None and known[0] == each.hash and each.hash is not None:  # unchanged contents
                listed = _row_of(each.stored) if each.stored is not None else None
                execute("UPDATE files SET look = ?, listed = ? WHERE path = ?", (each.look, listed, each.path))
                continue
            if known is not None:
                _, number, id, archived = known
                execute("DELETE FROM files WHERE path = ?", (each.path,))
                if number is not None:
                    self._take_out(number)
                if id is not None:
                    self._touched[(id, archived)] = None
            if each.hash is not None:
                self._take(each)
        for id, archived in self._touched:
            self._settle(id, archived)
        if self._is_hidden:  # FTS5 merges later, and must keep no word until then
            execute("INSERT INTO terms (terms) VALUES ('optimize')")

    def _take(self, read: ReadFile) -> None:
        stored = read.stored
        archived = int(read.path.startswith(f"{ARCHIVE}/"))
        problems = "\n".join(read.trouble.problems) if read.trouble is not None else None
        row: tuple[object, ...] = (None, archived, 0, 0, None, problems)
        if stored is not None:
            self._stored[read.path] = stored
            id = stored.meta.id
            self._touched[(id, archived)] = None
            is_secret = stored.meta.is_secret
            self._is_hidden |= is_secret
            row = (id, archived, int(stored.listed.provisional_id), int(is_secret), _row_of(stored), None)
        self._connection.execute(
            "INSERT INTO files (path, look, hash, id, archived, provisional, secret, listed, problems) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (read.path, read.look, read.hash, *row),
        )

    def _settle(self, id: str, archived: int) -> None:
        """Lets only the one file that is the note of this id be found."""
        rows = self._connection.execute(
            "SELECT path, number, provisional, secret FROM files WHERE id = ? AND archived = ?", (id, archived)
        ).fetchall()
        first = min(rows, key=lambda row: standing(bool(row[2]), id, row[0]), default=None)
        for row in rows:
            path, number, _, is_secret = row
            if row is not first and number is not None:
                self._take_out(number)
                self._connection.execute("UPDATE files SET number = NULL WHERE path = ?", (path,))
            if row is first and number is None and not is_secret:
                stored = self._stored.get(path)
                with suppress(EntryUnreadable, PathRefused, StoreIo):
                    stored = stored or read_stored(self._root, path)
                if stored is None:  # it is changing now: the next listing will tell
                    self._connection.execute("UPDATE files SET look = NULL, hash = NULL WHERE path = ?", (path,))
                else:
                    self._connection.execute(
                        "UPDATE files SET number = ? WHERE path = ?", (self._put_note(stored), path)
                    )

    def _put_note(self, stored: StoredEntry) -> int:
        meta, archived, fields = stored.meta, stored.listed.archived, note_terms(stored)
        execute, many = self._connection.execute, self._connection.executemany
        number = execute(
            "INSERT INTO notes (archived, length) VALUES (?, ?)", (archived, sum(field.length for field in fields))
        ).lastrowid
        assert number is not None
        execute("INSERT INTO terms (rowid, title, text) VALUES (?, ?, ?)", (number, *map(spelled, fields)))
        names = [(meta.id, 2 if archived else 0), *((alias, 1) for alias in meta.aliases if not archived)]
        many("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", [(name, number, rank) for name, rank in names])
        many("INSERT INTO places VALUES (?, ?, ?)", [(*each, number) for each in dict.fromkeys(_places(stored))])
        links = [(link.target, Relation.LINKS.value) for link in find_links(stored.body)]
        links += [(id, Relation.SUPERSEDES.value) for id in meta.supersedes]
        many("INSERT OR IGNORE INTO links VALUES (?, ?, ?)", [(number, *each) for each in links])
        return number

    def _take_out(self, number: int) -> None:
        for table in _NOTE_TABLES:
            self._connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
        self._connection.execute("DELETE FROM links WHERE source = ?", (number,))
        self._connection.execute("DELETE FROM terms WHERE rowid = ?", (number,))


def _row_of(stored: StoredEntry) -> str | None:
    """Returns a listing's row for a note; nothing for a secret one."""
    return None if stored.meta.is_secret else render_listed(stored.listed)


def spelled(field: FieldTerms) -> str:
    """Returns each term as often as it occurs."""
    return " ".join(chain.from_iterable(repeat(term, count) for term, count in field.counts.items()))


def _places(stored: StoredEntry) -> Iterator[tuple[str, int | None]]:
    for source in stored.meta.sources:
        if source.thread_id is not None:
            for turn in source.turns or (None,):
                if turn is None or abs(turn) <= _MOST_MS:
                    yield source.thread_id, turn
