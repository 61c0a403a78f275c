"""What finds notes in the database: FTS5 says how often each note has a word, and BM25F (`bm25f`) what that is worth."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen
from returns.result import Failure, Result

from agent_memory.adapters.database.following import FollowedFiles, Left
from agent_memory.adapters.database.store_database import StoreDatabase
from agent_memory.adapters.disk.paths import real_root
from agent_memory.domain.searching import bm25f
from agent_memory.domain.searching.indexed_note import (
    IndexedNote,
    NearNote,
    NoteLink,
    Place,
    Refreshed,
    Relation,
    Vectors,
)
from agent_memory.domain.searching.matching import FIELDS, MatchedWord, Matches, NoteFilter, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.domain.searching.spelling import slips_allowed, slips_of
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error
from agent_memory.formats.listed_json import parse_listed

if TYPE_CHECKING:
    from pathlib import Path

Value = TypeVar("Value")

MADE_ANEW = "The index was damaged, and was made anew."
_AFTER_ALL = "\U0010ffff"
_MOST_MS = (1 << 63) - 1
_TARGET = "(SELECT number FROM names WHERE name = links.target ORDER BY rank, number LIMIT 1)"


@frozen
class _Word:
    """What one word of a query comes to."""

    matched: MatchedWord
    scores: Mapping[int, float]
    found: Mapping[int, tuple[str, tuple[int, int, int, int]]]
    """The term that each note has, and how often in each field."""


@frozen
class _Counted:
    """How often one term occurs in each note, and what that earns."""

    counts: Mapping[int, tuple[int, int, int, int]]
    saturated: Mapping[int, float]


class NoteIndex:
    """See the port. One object may be asked by several threads."""

    def __init__(self, database: StoreDatabase, files: FollowedFiles | None = None) -> None:
        self._database = database
        self._files = files or FollowedFiles(database)
        self._last: tuple[object, list[_Word]] = None, []

    @property
    def renewals(self) -> int:
        """See the port."""
        return self._database.renewals

    def refresh(self, patience_seconds: float = math.inf, left: Left | None = None) -> Result[Refreshed, Error]:
        """See the port. `left` is told, before each batch, how many changed files are still to be taken in."""
        return self._files.refresh(patience_seconds, left).map(self._told)

    def _told(self, refreshed: Refreshed) -> Refreshed:
        if not self._database.has_untold_damage():
            return refreshed
        return evolve(refreshed, notices=(MADE_ANEW, *refreshed.notices))

    def match(
        self, words: Sequence[QueryWord], weights: TermWeights, limit: int, among: NoteFilter
    ) -> Result[Matches, Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Matches:
            looked_for = self._words(connection, words, weights)
            through = _through(connection, among)
            total: dict[int, float] = {}
            for word in looked_for:
                for number, score in word.scores.items():
                    if number in through:
                        total[number] = total.get(number, 0.0) + score
            best = sorted(total.items(), key=lambda item: (-item[1], -item[0]))[: max(limit, 0)]
            return Matches(dict(best), len(total), tuple(word.matched for word in looked_for))

        return self._asked(asked)

    def explain(
        self, words: Sequence[QueryWord], weights: TermWeights, numbers: Sequence[int]
    ) -> Result[Mapping[int, tuple[TermPart, ...]], Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Mapping[int, tuple[TermPart, ...]]:
            looked_for = self._words(connection, words, weights)
            return {
                number: tuple(
                    TermPart(word.matched.term, word.found[number][0], word.scores[number], word.found[number][1])
                    for word in looked_for
                    if number in word.scores
                )
                for number in _those(connection, numbers)
            }

        return self._asked(asked)

    def among(self, notes: NoteFilter) -> Result[frozenset[int], Error]:
        """See the port."""
        return self._asked(lambda connection: _through(connection, notes))

    def notes(self, numbers: Sequence[int]) -> Result[Mapping[int, IndexedNote], Error]:
        """See the port."""

        def asked(connection: sqlite3.Connection) -> Mapping[int, IndexedNote]:
            rows = connection.execute(
                "SELECT number, listed, title, tags, description, body FROM notes JOIN files USING (number) "
                f"WHERE number IN ({_marks(numbers)})",
                numbers,
            )
            found = {row[0]: IndexedNote(row[0], parse_listed(row[1]), row[2:]) for row in rows}
            return {number: found[number] for number in numbers if number in found}

        return self._asked(asked)

    def numbers_of(self, ids: Sequence[str]) -> Result[Mapping[str, int], Error]:
        """See the port."""
        sql = "SELECT number FROM names WHERE name = ? ORDER BY rank, number LIMIT 1"

        def asked(connection: sqlite3.Connection) -> Mapping[str, int]:
            found = ((id, connection.execute(sql, (id,)).fetchone()) for id in ids if _is_text(id))
            return {id: row[0] for id, row in found if row is not None}

        return self._asked(asked)

    def places(self, numbers: Sequence[int]) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        sql = f"SELECT number, session, turn FROM places WHERE number IN ({_marks(numbers)})"
        return self._asked(lambda connection: tuple(Place(*row) for row in connection.execute(sql, numbers)))

    def session(self, session: str) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        sql = "SELECT number, session, turn FROM places WHERE session = ? ORDER BY coalesce(turn, 0), number"
        return self._asked(lambda connection: tuple(Place(*row) for row in connection.execute(sql, (session,))))

    def near(self, numbers: Sequence[int], reach: int) -> Result[Mapping[int, tuple[NearNote, ...]], Error]:
        """See the port."""
        sql = (
            "SELECT one.number, other.number, other.turn - one.turn FROM places AS one JOIN places AS other "
            "ON other.session = one.session AND other.turn BETWEEN one.turn - ? AND one.turn + ? "
            f"AND other.number <> one.number WHERE one.number IN ({_marks(numbers)})"
        )

        def asked(connection: sqlite3.Connection) -> Mapping[int, tuple[NearNote, ...]]:
            found: dict[int, dict[int, int]] = {}
            for one, other, distance in connection.execute(sql, (reach, reach, *numbers)):
                known = found.setdefault(one, {})
                known[other] = min(known.get(other, distance), distance, key=_by_distance)
            return {
                one: tuple(
                    NearNote(*each) for each in sorted(near.items(), key=lambda item: (*_by_distance(item[1]), item[0]))
                )
                for one, near in found.items()
            }

        return self._asked(asked)

    def links(self, numbers: Sequence[int]) -> Result[tuple[NoteLink, ...], Error]:
        """See the port."""
        marks = _marks(numbers)
        sql = (
            f"SELECT source, {_TARGET} AS found, relation FROM links WHERE source IN ({marks}) "
            f"OR target IN (SELECT name FROM names WHERE number IN ({marks}))"
        )

        def asked(connection: sqlite3.Connection) -> tuple[NoteLink, ...]:
            wanted = set(numbers)
            rows = {(s, t, r) for s, t, r in connection.execute(sql, (*numbers, *numbers)) if t not in (None, s)}
            return tuple(NoteLink(s, t, Relation(r)) for s, t, r in sorted(rows) if wanted & {s, t})

        return self._asked(asked)

    def vectors(self, model: str) -> Result[Vectors, Error]:
        """See the port."""
        sql = "SELECT number, vector FROM vectors WHERE model = ? ORDER BY number"

        def asked(connection: sqlite3.Connection) -> Vectors:
            rows = connection.execute(sql, (model,)).fetchall()
            return Vectors([number for number, _ in rows], [vector for _, vector in rows])

        return self._asked(asked)

    def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
        """See the port."""
        sql = (
            "SELECT number FROM notes WHERE number NOT IN (SELECT number FROM vectors WHERE model = ?) ORDER BY number"
        )
        return self._asked(lambda connection: tuple(number for (number,) in connection.execute(sql, (model,))))

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
        """See the port."""

        def put(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            there = _those(connection, list(vectors))
            connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", [(each, model, vectors[each]) for each in there]
            )

        return self._database.write(put)

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        self._database.close()

    def _asked(self, ask: Callable[[sqlite3.Connection], Value]) -> Result[Value, Error]:
        """The answer; of a database that proves to be damaged, that of its successor, brought into line with the files."""
        renewals = self._database.renewals
        answer = self._database.read(ask)
        if self._database.renewals == renewals or isinstance(answer, Failure):
            return answer
        return self._files.refresh().bind(lambda _: self._database.read(ask))

    # -- words --------------------------------------------------------------------------------------------------------

    def _words(self, connection: sqlite3.Connection, words: Sequence[QueryWord], weights: TermWeights) -> list[_Word]:
        """What is looked for; of the question before, while nothing changed: what is matched is often explained."""
        version = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        asked = (self._database.renewals, *version, tuple(words), weights)
        if self._last[0] != asked:
            self._last = asked, _Matching(connection, weights).words(words)
        return self._last[1]


def note_index(root: Path | str) -> NoteIndex:
    """The index of a root, beside nothing else that asks its database."""
    return NoteIndex(StoreDatabase(real_root(root)))


class _Matching:
    """The words of one question."""

    def __init__(self, connection: sqlite3.Connection, weights: TermWeights) -> None:
        self._connection = connection
        self._weights = weights
        sums = ", ".join(f"total({field})" for field in FIELDS)
        self._notes, *lengths = connection.execute(f"SELECT count(*), {sums} FROM notes").fetchone()
        self._norms = bm25f.norms_of(weights, self._notes, list(map(int, lengths)))

    def words(self, words: Sequence[QueryWord]) -> list[_Word]:
        counted = {word: self._counted(word.term) for word in words}
        others = {word: self._others(word.term, bool(counted[word].counts)) for word in bm25f.stretched(words)}
        there = [(word, len(counted[word].counts)) for word in words if counted[word].counts or others.get(word)]
        return [self._word(word, counted[word], others.get(word, ())) for word in bm25f.rarest(there)]

    def _word(self, word: QueryWord, counted: _Counted, others: Sequence[tuple[str, float]]) -> _Word:
        worth = bm25f.idf(len(counted.counts), self._notes)
        scores = {number: worth * word.weight * each for number, each in counted.saturated.items()}
        found = {number: (word.term, counts) for number, counts in counted.counts.items()}
        least = bm25f.least_of(scores.values())
        best: dict[int, float] = {}
        for term, factor in others:
            resembling = self._counted(term)
            most = factor * min(bm25f.idf(len(resembling.counts), self._notes) * word.weight, least)
            for number, each in resembling.saturated.items():
                if number not in scores and most * each > best.get(number, 0.0):
                    best[number], found[number] = most * each, (term, resembling.counts[number])
        matched = MatchedWord(word.term, len(counted.counts), worth, tuple(term for term, _ in others))
        return _Word(matched, {**scores, **best}, found)

    def _counted(self, term: str) -> _Counted:
        sql = (
            "SELECT number, sum(col = 'title'), sum(col = 'tags'), sum(col = 'description'), sum(col = 'body'), "
            "title, tags, description, body FROM occurrences JOIN notes ON number = doc WHERE term = ? GROUP BY doc"
        )
        counts: dict[int, tuple[int, int, int, int]] = {}
        saturated: dict[int, float] = {}
        for number, *row in self._connection.execute(sql, (term,)) if _is_text(term) else ():
            counts[number] = one, two, three, four = row[0], row[1], row[2], row[3]
            weighted = bm25f.weighted_count((one, two, three, four), row[4:], self._norms)
            saturated[number] = bm25f.saturated(weighted, self._weights.k1)
        return _Counted(counts, {number: each for number, each in saturated.items() if each > 0})

    def _others(self, term: str, is_known: bool) -> tuple[tuple[str, float], ...]:
        def terms(first: str, columns: str, *, more: str = "") -> list[Any]:
            sql = f"SELECT {columns} FROM vocabulary WHERE term > ? AND term < ? {more}"
            return self._connection.execute(sql, (first, first + _AFTER_ALL)).fetchall()

        longer = terms(term, "term, doc") if self._weights.prefix > 0 else []
        slips: Sequence[str] = ()
        if self._weights.typo > 0 and not is_known and (most := slips_allowed(term)):
            near = f"AND length(term) BETWEEN {len(term) - 3} AND {len(term) + most}"
            slips = slips_of(term, [each for (each,) in terms(term[0], "term", more=near)])
        return bm25f.others(longer, slips, self._weights)


def _through(connection: sqlite3.Connection, notes: NoteFilter) -> frozenset[int]:
    """The notes that a filter lets through."""
    labels: list[list[tuple[str, str]]] = []
    if notes.kind is not None:
        labels.append([("kind", notes.kind)])
    if notes.scopes is not None:
        labels.append([("scope", scope) for scope in sorted(notes.scopes)])
    if notes.tags:
        labels.append([("tag" if "__" in tag else "slug", tag) for tag in notes.tags])
    if notes.agent is not None:
        labels.append([("agent", notes.agent)])
    sensitivities = [Sensitivity.PRIVATE in notes.sensitivities, Sensitivity.NORMAL in notes.sensitivities]
    where = [f"private IN ({', '.join(str(1 - at) for at, is_open in enumerate(sensitivities) if is_open)})"]
    values: list[object] = []
    if not notes.archived:
        where.append("archived = 0")
    if notes.since_ms is not None:
        where.append("updated_ms >= ?")
        values.append(max(-_MOST_MS, min(notes.since_ms, _MOST_MS)))
    if notes.session is not None:
        where.append("number IN (SELECT number FROM places WHERE session = ?)")
        values.append(notes.session)
    for some in labels:
        each = " OR ".join("(sort = ? AND label = ?)" for _ in some) or "0"
        where.append(f"number IN (SELECT number FROM labels WHERE {each})")
        values += [part for label in some for part in label]
    if not all(_is_text(value) for value in values if isinstance(value, str)):
        return frozenset()
    sql = f"SELECT number FROM notes WHERE {' AND '.join(where)}"
    return frozenset(number for (number,) in connection.execute(sql, values))


def _those(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """Those of these that are notes."""
    sql = f"SELECT number FROM notes WHERE number IN ({_marks(numbers)})"
    there = {number for (number,) in connection.execute(sql, numbers)}
    return [number for number in numbers if number in there]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _by_distance(distance: int) -> tuple[int, int]:
    return abs(distance), distance


def _is_text(value: str) -> bool:
    """Whether SQLite can be asked for it: half of a surrogate pair is in no note."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
