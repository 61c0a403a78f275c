"""Databases of other programs: read as they are, and left as they were."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnavailable, TranscriptRefused
from agent_memory.harness.databases import Database, TooLarge, read_database, text_of
from agent_memory.results import as_result
from databases import everything_in, make_database, owner_of

SCHEMA = ("CREATE TABLE talk (id INTEGER PRIMARY KEY, said TEXT)", "INSERT INTO talk VALUES (1, 'Hello.')")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    directory = tmp_path / "theirs"
    directory.mkdir()
    return directory


def said(path: Path, roots: Path | None = None) -> Result[list[str], Error]:
    def read(database: Database) -> list[str]:
        return [text_of(each) for (each,) in database.rows("SELECT said FROM talk ORDER BY id")]

    return asked((str(roots or path.parent),), str(path), "s", read)


asked = as_result(read_database)


def test_what_its_owner_has_only_in_the_wal_is_read_and_nothing_changes(place: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA, wal=True)
    with owner_of(path) as owner:
        owner.does("INSERT INTO talk VALUES (2, 'In the WAL.')")
        before = everything_in(place)
        assert list(before) == ["x.db", "x.db-shm", "x.db-wal"]
        assert said(path) == Success(["Hello.", "In the WAL."])
        assert everything_in(place) == before
        owner.does("INSERT INTO talk VALUES (3, 'Undisturbed.')")
        assert said(path).unwrap()[2:] == ["Undisturbed."]


def test_what_was_left_in_the_midst_of_a_transaction_waits_for_its_owner(place: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA)
    with owner_of(path) as owner:
        for order in ("PRAGMA cache_size = 1", "PRAGMA cache_spill = 1", "BEGIN", "UPDATE talk SET said = 'Never.'"):
            owner.does(order)
        owner.does(
            "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
            " INSERT INTO talk SELECT i, hex(randomblob(200)) FROM n"
        )
        owner.dies()
    before = everything_in(place)
    assert (place / "x.db-journal").stat().st_size > 0
    assert isinstance(said(path).failure(), HistoryUnavailable)
    assert everything_in(place) == before
    with owner_of(path) as owner:
        owner.does("BEGIN IMMEDIATE")
    assert said(path) == Success(["Hello."])


def test_a_lock_of_its_owner_is_no_obstacle(place: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA)
    with owner_of(path) as owner:
        owner.does("BEGIN EXCLUSIVE")
        assert said(path) == Success(["Hello."])
        owner.does("INSERT INTO talk VALUES (2, 'Later.')")
        owner.does("COMMIT")
    assert said(path) == Success(["Hello.", "Later."])


def test_a_huge_value_is_not_loaded_p25(place: Path) -> None:
    huge = ("INSERT INTO talk VALUES (2, zeroblob(17000000))", ())
    path = make_database(place / "x.db", *SCHEMA, huge)

    def read(database: Database) -> list[object]:
        return [database.value("SELECT said FROM talk WHERE id = ?", at) for at in (1, 2, 3)]

    found = asked((str(place),), str(path), "s", read)
    assert found == Success([b"Hello.", TooLarge(), None])


def test_a_database_that_changes_while_it_is_read_is_read_again(place: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA)
    times = []

    def read(database: Database) -> str:
        found = text_of(next(database.rows("SELECT said FROM talk"))[0])
        times.append(found)
        if len(times) == 1:
            connection = sqlite3.connect(path)
            with connection:
                connection.execute("UPDATE talk SET said = 'Changed.'")
            connection.close()
        return found

    assert asked((str(place),), str(path), "s", read) == Success("Changed.")
    assert times == ["Hello.", "Changed."]


def test_a_database_that_never_rests_is_left_for_later(place: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA)

    def read(database: Database) -> None:
        path.write_bytes(path.read_bytes() + b"\0")

    match asked((str(place),), str(path), "s", read):
        case Failure(HistoryUnavailable("s", reason)):
            assert "changes all the time" in reason
        case other:
            raise AssertionError(other)


def test_only_regular_files_inside_the_roots_p27(place: Path, tmp_path: Path) -> None:
    path = make_database(place / "x.db", *SCHEMA)
    inside = tmp_path / "inside"
    inside.mkdir()
    assert isinstance(said(path, inside).failure(), TranscriptRefused)
    os.mkfifo(place / "x.db-wal")
    assert isinstance(said(path).failure(), TranscriptRefused)
    (place / "x.db-wal").unlink()
    (place / "x.db-journal").symlink_to("/etc/passwd")
    assert isinstance(said(path).failure(), TranscriptRefused)
    (place / "x.db-journal").unlink()
    assert said(path) == Success(["Hello."])
