"""The index of notes in the database: FTS5 says how often each note has a word, and `scored` what that is worth."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from agent_memory.files.paths import real_root
from agent_memory.note.note import Listed, Relation
from agent_memory.note.terms import QueryWord
from agent_memory.recall.hits import MatchedWord, Matches, Neighbour, NoteLink, SearchRequest
from agent_memory.recall.ranking import (
    idf,
    rarest,
    resembling_scores,
    saturated,
    slips_allowed,
    slips_of,
    standing_for,
    stretched,
)
from agent_memory.results import as_result
from agent_memory.store.note_files import is_text, parse_listed
from agent_memory.store.store_database import FollowedFiles, StoreDatabase

if TYPE_CHECKING:
    from pathlib import Path

Value = TypeVar("Value")

MADE_ANEW = "The index was damaged and has been rebuilt."
_AFTER_ALL = "\U0010ffff"


class NoteIndex:
    """The words, places and links of all notes, for searching. It is derived: a damaged one is made anew.

    Nothing of a secret note is in it (P20). Numbers stay the same until a note changes; a number that no longer exists
    is left out of every answer. One object may be used by several threads.
    """

    def __init__(self, files: FollowedFiles) -> None:
        self._database = files.database
        self._files = files

    @property
    def renewals(self) -> int:
        """Returns how often the database was replaced because it was damaged or gone: earlier numbers mean nothing then."""
        return self._database.renewals

    @as_result
    def refresh(self) -> tuple[str, ...]:
        """Brings the index into line with the files; returns sentences for the person. Files that cannot be read, or
        are not notes, are left out: `Store.list` reports them.

        StoreIo or PathRefused only where the directories themselves cannot be listed. An index that cannot be kept on
        disk is kept in memory, and a sentence says so.
        """
        notices = self._files.refresh()
        if not self._database.is_damage_untold:
            return notices
        self._database.is_damage_untold = False
        return (MADE_ANEW, *notices)

    @as_result
    def match(self, words: Sequence[QueryWord], limit: int, among: SearchRequest) -> Matches:
        """Returns the notes with at least one of the words, best first. What was not refreshed is not seen."""

        def asked(connection: sqlite3.Connection) -> Matches:
            matched = matched_words(connection, words)
            total: dict[int, float] = {}
            for word in matched:
                for number, score in word.scores.items():
                    total[number] = total.get(number, 0.0) + score
            through = _through(connection, among, total)
            best = sorted(through, key=lambda number: (-total[number], -number))[: max(limit, 0)]
            return Matches(matched, {number: total[number] for number in best}, len(through))

        return self._asked(asked)

    @as_result
    def among(self, request: SearchRequest, numbers: Collection[int]) -> frozenset[int]:
        """Returns those of these notes that the request lets through."""
        return self._asked(lambda connection: _through(connection, request, numbers))

    @as_result
    def notes(self, numbers: Sequence[int]) -> Mapping[int, Listed]:
        sql = f"SELECT number, listed FROM files WHERE number IN ({_marks(numbers)})"

        def asked(connection: sqlite3.Connection) -> Mapping[int, Listed]:
            rows = dict(connection.execute(sql, numbers).fetchall())
            return {number: parse_listed(rows[number]) for number in numbers if number in rows}

        return self._asked(asked)

    @as_result
    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Returns the number for each id: of the live note with this id, else the live note with this alias, else the
        archived one."""
        sql = "SELECT number FROM names WHERE name = ? ORDER BY rank, number LIMIT 1"

        def asked(connection: sqlite3.Connection) -> Mapping[str, int]:
            found = ((id, connection.execute(sql, (id,)).fetchone()) for id in ids if is_text(id))
            return {id: row[0] for id, row in found if row is not None}

        return self._asked(asked)

    @as_result
    def neighbours(self, numbers: Sequence[int], reach: int) -> tuple[Neighbour, ...]:
        """Returns, for each of these notes, the others of the same session at most `reach` turns before or after."""
        sql = (
            "SELECT one.number, other.number, min(abs(other.turn - one.turn)), (mine.length + theirs.length) / 2.0 "
            "FROM places AS one JOIN places AS other ON other.session = one.session "
            "AND other.turn BETWEEN one.turn - ? AND one.turn + ? AND other.number <> one.number "
            "JOIN notes AS mine ON mine.number = one.number JOIN notes AS theirs ON theirs.number = other.number "
            f"WHERE one.number IN ({_marks(numbers)}) GROUP BY one.number, other.number"
        )
        rows = self._asked(lambda connection: connection.execute(sql, (reach, reach, *numbers)).fetchall())
        return tuple(Neighbour(*row) for row in rows)

    @as_result
    def links(self, numbers: Sequence[int]) -> tuple[NoteLink, ...]:
        marks = _marks(numbers)
        sql = (
            "SELECT source, (SELECT number FROM names WHERE name = links.target ORDER BY rank, number LIMIT 1), relation "
            f"FROM links WHERE source IN ({marks}) OR target IN (SELECT name FROM names WHERE number IN ({marks}))"
        )

        def asked(connection: sqlite3.Connection) -> tuple[NoteLink, ...]:
            wanted = set(numbers)
            rows = {(s, t, r) for s, t, r in connection.execute(sql, (*numbers, *numbers)) if t not in (None, s)}
            return tuple(NoteLink(s, t, Relation(r)) for s, t, r in sorted(rows) if wanted & {s, t})

        return self._asked(asked)

    @as_result
    def vectors(self, model: str) -> Mapping[int, bytes]:
        """Returns the vectors of a model, by number."""
        sql = "SELECT number, vector FROM vectors WHERE model = ? ORDER BY number"
        return self._asked(lambda connection: dict(connection.execute(sql, (model,)).fetchall()))

    @as_result
    def without_vector(self, model: str) -> tuple[int, ...]:
        """Returns the notes that have no vector of this model."""
        sql = (
            "SELECT number FROM notes WHERE number NOT IN (SELECT number FROM vectors WHERE model = ?) ORDER BY number"
        )
        rows = self._asked(lambda connection: connection.execute(sql, (model,)).fetchall())
        return tuple(number for (number,) in rows)

    @as_result
    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> None:
        """Stores the vectors of these notes; those of notes that are gone, or of another model, are dropped."""

        def put(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            connection.executemany(
                "INSERT OR REPLACE INTO vectors SELECT number, ?, ? FROM notes WHERE number = ?",
                [(model, vector, number) for number, vector in vectors.items()],
            )

        self._database.write(put)

    def close(self) -> None:
        """Closes the file; the next question opens it again."""
        self._database.close()

    def _asked(self, ask: Callable[[sqlite3.Connection], Value]) -> Value:
        return self._database.read_current(ask, self._files.refresh)


def note_index(root: Path | str) -> NoteIndex:
    """Returns the index of a root, for callers that need nothing else from its database."""
    return NoteIndex(FollowedFiles(StoreDatabase(real_root(root))))


NOTES, SAID = ("notes", "vocabulary", "occurrences"), ("turns", "said_vocabulary", "said_occurrences")
"""Tables of what is searched: one with a row and a length for each, of the terms, of where these occur."""


def matched_words(
    connection: sqlite3.Connection, words: Sequence[QueryWord], tables: tuple[str, str, str] = NOTES
) -> tuple[MatchedWord, ...]:
    """Returns the search words that any note has, with what they add to each note."""
    rows_of, vocabulary, occurrences = tables
    notes, total = connection.execute(f"SELECT count(*), total(length) FROM {rows_of}").fetchone()
    mean_length = total / notes if notes else 0.0

    def scored(term: str) -> tuple[float, dict[int, float]]:
        """Returns the weight of the term, and its score in each note that has it."""
        sql = (
            "SELECT number, sum(col = 'title'), sum(col = 'text'), length "
            f"FROM {occurrences} JOIN {rows_of} ON number = doc WHERE term = ? GROUP BY doc"
        )
        rows = connection.execute(sql, (term,)).fetchall() if is_text(term) else []
        worth = idf(len(rows), notes)
        return worth, {
            number: worth * saturated(in_title, in_text, length, mean_length)
            for number, in_title, in_text, length in rows
        }

    exact = {word: scored(word.term) for word in words}
    others = {
        word: _standing_for(connection, word.term, vocabulary, is_known=bool(exact[word][1]))
        for word in stretched(words)
    }
    matched = list[MatchedWord]()
    for word in rarest({word: len(found) for word, (_, found) in exact.items() if found or others.get(word)}):
        worth, scores = exact[word]
        resembling, terms = resembling_scores(scores, [(each, scored(each)[1]) for each in others.get(word, ())])
        matched.append(MatchedWord(word.term, worth, {**scores, **resembling}, terms))
    return tuple(matched)


def _standing_for(connection: sqlite3.Connection, term: str, vocabulary: str, *, is_known: bool) -> list[str]:
    """Returns the terms that begin with this term; if no note has it, also those of which it may be a misspelling."""

    def terms(first: str, columns: str, *, more: str = "") -> list[Any]:
        sql = f"SELECT {columns} FROM {vocabulary} WHERE term > ? AND term < ? {more}"
        return connection.execute(sql, (first, first + _AFTER_ALL)).fetchall()

    slips: Sequence[str] = ()
    if not is_known and (most := slips_allowed(term)):
        near = f"AND length(term) BETWEEN {len(term) - 3} AND {len(term) + most}"
        slips = slips_of(term, [each for (each,) in terms(term[0], "term", more=near)])
    return standing_for(terms(term, "term, doc"), slips)


def _through(connection: sqlite3.Connection, request: SearchRequest, numbers: Collection[int]) -> frozenset[int]:
    wanted = "SELECT number FROM notes WHERE number IN (SELECT value FROM json_each(?)) AND archived <= ?"
    asked = (str(list(numbers)), request.archived)
    if not request.is_filtered:
        return frozenset(number for (number,) in connection.execute(wanted, asked))
    rows = connection.execute(f"SELECT number, listed FROM files WHERE number IN ({wanted})", asked).fetchall()
    return frozenset(number for number, listed in rows if request.lets_through(parse_listed(listed)))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
