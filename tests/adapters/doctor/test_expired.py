"""What has had its time: told by the doctor, and mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.adapters.doctor.repairer import archive_expired
from agent_memory.domain.change import Create
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
