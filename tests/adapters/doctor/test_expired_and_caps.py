"""What has had its time, and what is too much: told by the doctor, and the first of them mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.doctor.repairer import archive_expired
from agent_memory.config import Config, LimitsConfig
from agent_memory.domain.change import Create
from agent_memory.domain.doctor.note_checks import examine_caps
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.vocabulary import TierList
from stand_ins.dict_locks import DictLocks
from stand_ins.temporary_store import TemporaryStore
from store_under_examination import Patient


@pytest.fixture
def patient(root: Path) -> Patient:
    return Patient(root)


class TestExpired:
    def test_it_goes_to_the_archive_out_of_every_tier_in_one_commit_p12(self, patient: Patient) -> None:
        lasting = patient.note("Ports", "The api listens on 8080.", tags=("topic__x",), expires_at_ms=4_000_000_000_000)
        over = patient.note("Fair", "The fair is in May.", tags=("topic__x",), expires_at_ms=1_000)
        secret = patient.note("Door", "It is 4711.", expires_at_ms=1_000, sensitivity="secret")
        patient.store.apply((), tiers=TierList((over, lasting), ())).unwrap()
        before = patient.path_of(over).read_bytes()
        assert patient.codes().count("expired") == 2
        done = patient.repair()
        assert done.failed == ()
        assert sum("has expired, and is in the archive now" in each for each in done.did) == 2
        assert [each.meta.id for each in patient.store.list().unwrap().entries] == [lasting]
        assert patient.store.tiers().unwrap() == TierList((lasting,), ())
        archived = patient.store.read(over, archived=True).unwrap()
        assert (patient.root / archived.listed.path).read_bytes() == before
        assert patient.store.read(secret, archived=True).unwrap().body.strip() == "It is 4711."
        assert patient.repair().did == ()

    def test_what_is_pinned_stays_p13(self, patient: Patient) -> None:
        pinned = patient.note("Fair", "The fair is in May.", expires_at_ms=1_000, pinned=True, promoted_by="person")
        before = patient.path_of(pinned).read_bytes()
        patient.repair()
        assert patient.path_of(pinned).read_bytes() == before

    def test_a_damaged_tier_list_keeps_nothing_back_and_is_not_touched(self, patient: Patient) -> None:
        over = patient.note("Fair", "The fair is in May.", expires_at_ms=1_000)
        damaged = patient.by_hand("state/tiers.json", "{")
        patient.repair()
        assert patient.store.read(over, archived=True).unwrap().meta.id == over
        assert damaged.read_text() == "{"

    def test_to_the_millisecond(self) -> None:
        store = TemporaryStore()
        for number, letter in enumerate("abc"):
            meta = Meta(f"id__{letter * 6}", letter, 1, 1, expires_at_ms=10 + number)
            store.apply([Create(MemoryEntry(meta, letter))]).unwrap()
        receipt = archive_expired(store, DictLocks(), 11).unwrap()
        assert [each.id for each in receipt.applied] == ["id__aaaaaa", "id__bbbbbb"]
        assert archive_expired(store, DictLocks(), 11).unwrap().applied == ()


class TestCaps:
    def test_a_store_within_its_caps_is_healthy(self) -> None:
        assert list(examine_caps(5, 100, max_entries=5, max_chars=100)) == []
        assert list(examine_caps(5, 100, max_entries=None, max_chars=None)) == []

    def test_each_cap_that_is_passed_is_told(self) -> None:
        entries, chars = examine_caps(1_201, 2_000_000, max_entries=1_200, max_chars=1_000_000)
        assert (entries.code, entries.subject) == ("surplus", "limits.maxEntries")
        assert entries.message.startswith("There are 1,201 live notes, 1,200 at most; `memory defrag` archives")
        assert chars.message.startswith("The live notes have 2,000,000 characters, 1,000,000 at most")

    def test_of_a_store(self, patient: Patient) -> None:
        for number in range(3):
            patient.note(f"Note {number}", f"The body of number {number}.")
        assert "surplus" not in patient.codes()
        patient.config = Config(limits=LimitsConfig(max_entries=2, max_chars=10))
        assert patient.codes().count("surplus") == 2
