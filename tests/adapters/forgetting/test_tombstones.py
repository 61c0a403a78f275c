"""`Tombstones`, kept by the real adapter and the one in memory; and what only files can be (P6, P28)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.forgetting.forgetting_files import FORGOTTEN, TombstoneFiles
from agent_memory.domain.forgetting import EntryTombstone, SessionTombstone
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.ports import Tombstones

NOTE = EntryTombstone("id__a1b2c3", 1_770_000_000_123, frozenset({"0123456789abcdef", "fedcba9876543210"}))


@pytest.fixture
def tombstones(root: Path) -> Tombstones:
    return TombstoneFiles(root)


class TestTombstones:
    def test_what_was_never_forgotten_has_none(self, tombstones: Tombstones) -> None:
        assert tombstones.of_session(Harness.AMP, "T-1") == Success(None)
        assert tombstones.of_entries() == Success(())

    def test_a_session_is_known_by_harness_and_id(self, tombstones: Tombstones) -> None:
        tombstone = SessionTombstone("T-1", Harness.AMP, 1_770_000_000_123)
        assert tombstones.put(tombstone) == Success(None)
        assert tombstones.of_session(Harness.AMP, "T-1") == Success(tombstone)
        assert tombstones.of_session(Harness.CODEX, "T-1") == Success(None)
        assert tombstones.of_session(Harness.AMP, "T-12") == Success(None)
        assert tombstones.of_entries() == Success(())

    def test_a_session_of_whatever_harness_is_that_of_each(self, tombstones: Tombstones) -> None:
        tombstone = SessionTombstone("../../Etc/x y", None, 5)
        tombstones.put(tombstone)
        assert tombstones.of_session(Harness.CODEX, "../../Etc/x y") == Success(tombstone)

    def test_twice_is_the_newer_one(self, tombstones: Tombstones) -> None:
        tombstones.put(NOTE)
        newer = EntryTombstone(NOTE.id, 1_770_000_000_999, frozenset({"0123456789abcdef"}))
        tombstones.put(newer)
        assert tombstones.of_entries() == Success((newer,))

    def test_notes_come_by_id(self, tombstones: Tombstones) -> None:
        other = EntryTombstone("id__Z9y8x7", 1, frozenset())
        tombstones.put(NOTE)
        tombstones.put(other)
        assert tombstones.of_entries() == Success((other, NOTE))


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"version": 2}', '{"version": 1, "session": 3}'])
def test_a_damaged_tombstone_is_an_error_and_never_none_p6(root: Path, damage: str) -> None:
    tombstones = TombstoneFiles(root)
    tombstones.put(SessionTombstone("T-1", Harness.AMP, 1))
    tombstones.put(NOTE)
    for path in (root / FORGOTTEN).iterdir():
        path.write_text(damage)
    for found in (tombstones.of_session(Harness.AMP, "T-1"), tombstones.of_entries()):
        assert isinstance(found, Failure)
        assert isinstance(found.failure(), StateCorrupt)


def test_the_tombstone_of_another_session_under_its_name_is_an_error(root: Path) -> None:
    tombstones = TombstoneFiles(root)
    tombstones.put(SessionTombstone("T-1", Harness.AMP, 1))
    (path,) = (root / FORGOTTEN).iterdir()
    path.write_text(path.read_text().replace("T-1", "T-2"))
    assert isinstance(tombstones.of_session(Harness.AMP, "T-1"), Failure)


def test_no_word_of_a_note_is_in_its_tombstone(root: Path) -> None:
    TombstoneFiles(root).put(NOTE)
    document = json.loads((root / FORGOTTEN / f"{NOTE.id}.json").read_text())
    assert list(document) == ["version", "entry", "at", "statements"]
