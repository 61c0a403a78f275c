"""`--fix` on a store: what is safe is done, said, recorded as one commit, and no word of anybody's is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from agent_memory.care import repairer
from agent_memory.care.checks import NoteRepair
from agent_memory.care.repairer import Repair
from agent_memory.config import Config, StorageConfig
from agent_memory.files.locks import Locks
from faults import Counter, Killed, failing_on, killed_at
from store_under_examination import Patient, locked_by_another_process

OLD = time.time() - 7_200


@pytest.fixture
def patient(root: Path) -> Patient:
    patient = Patient(root)
    patient.note("Ports", "The api listens on 8080.", tags=("topic__api",))
    return patient


def commits(patient: Patient) -> list[str]:
    log = subprocess.run(
        ["git", "-C", str(patient.root), "log", "--format=%an: %s"], capture_output=True, text=True, check=True
    )
    return log.stdout.splitlines()


def bodies(patient: Patient) -> set[str]:
    return {text.rsplit("---\n", 1)[-1].strip() for text in patient.texts()}


def test_notes_are_repaired_in_one_commit_after_that_of_the_person(patient: Patient) -> None:
    """P12, P15: an id for a bare note, one for a copy that says something else, the archive for a twin."""
    original = next((patient.root / "topics").iterdir())
    patient.by_hand("topics/my idea.md", "Try kites.\n")
    patient.by_hand("topics/Ports 2.md", original.read_text())
    patient.by_hand("topics/Ports (conflicted copy).md", original.read_text().replace("8080", "9090"))
    patient.by_hand("topics/tagged.md", "---\nid: id__a1b2c3\ntitle: Tagged\ntags: [Deploy]\n---\n\nFrom main.\n")
    before = bodies(patient)
    done = patient.repair()
    assert done.failed == ()
    assert {each.code for each in done.after.findings if each.severity == "problem"} == {"contradiction"}
    assert bodies(patient) == before
    live = {each.meta.title: each for each in patient.store.list().unwrap().entries}
    assert len(patient.store.list().unwrap().entries) == 4
    assert live["Tagged"].path == "topics/tagged.md"
    assert live["Tagged"].meta.tags == ("topic__deploy",)
    idea = next(each for each in live.values() if "kites" in (patient.root / each.path).read_text())
    assert not idea.provisional_id
    assert idea.path.endswith(f"{idea.meta.id}.md")
    twins = list((patient.root / "archive").rglob("*.md"))
    assert [twin.read_text() for twin in twins] == [original.read_text()]
    ours, theirs, _ = commits(patient)
    assert ours.startswith("agent-memory: doctor:")
    assert theirs.endswith("hand edits: 4 files")
    assert patient.repair().did == ()


TWINS = {
    "a.md": "---\ntags: [topic__kites]\n---\n\nTry kites.\n",
    "b.md": "---\ntags:\n  - topic__kites\n---\n\nTry kites.\n",
    "c.md": "---\ntags: [topic__kites]\n---\n\nTry kites.\n\n",
    "d.md": "---\ntags: [topic__kites]\n---\n\nTry kites.\n\n",
}
"""Notes without ids that say the same in three ways. Where they were written at the same moment, all would get the same id."""


def lay(patient: Patient, notes: Mapping[str, str]) -> None:
    for name, text in notes.items():
        os.utime(patient.by_hand(f"topics/{name}", text), (OLD, OLD))


def test_a_kill_while_twins_are_told_apart_loses_none_p2_p12(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repair_notes = repairer.repair_notes
    for k in count(1, 5):
        patient = Patient(root / str(k), Config(storage=StorageConfig(auto_commit=False)))
        lay(patient, TWINS)
        counters: list[Counter] = []

        def killed(
            root: str,
            locks: Locks,
            log: Repair,
            repairs: Sequence[NoteRepair],
            k: int = k,
            at: list[Counter] = counters,
        ) -> None:
            with killed_at(k) as counter:
                at.append(counter)
                repair_notes(root, locks, log, repairs)

        with monkeypatch.context() as patched, suppress(Killed):
            patched.setattr(repairer, "repair_notes", killed)
            patient.repair()
        assert patient.repair().failed == (), k
        (kites,) = patient.store.list().unwrap().entries
        archived = {path.read_text() for path in (patient.root / "archive" / kites.meta.id).iterdir()}
        assert kites.meta.tags == ("topic__kites",), k
        assert {TWINS["b.md"], TWINS["c.md"]} == archived, k
        if not counters[0].struck:
            break


def test_permissions_litter_and_locks_p5_p22(patient: Patient) -> None:
    (patient.root / "topics").chmod(0o755)
    patient.root.chmod(0o750)
    old = patient.by_hand("topics/.tmp-0123456789abcdef", "half")
    young = patient.by_hand("state/.tmp-0123456789abcdef", "half")
    written = patient.by_hand("state/.tmp-fedcba9876543210", "half")
    os.utime(written, (OLD, OLD))
    theirs = patient.by_hand("topics/.tmp-notours", "keep")
    lock = patient.by_hand(".git/index.lock", "")
    for path in (old, theirs, lock):
        os.utime(path, (OLD, OLD))
    with locked_by_another_process(written):
        done = patient.repair()
    assert done.failed == ()
    assert [path.exists() for path in (old, young, written, theirs, lock)] == [False, False, True, True, False]
    assert {path.stat().st_mode & 0o777 for path in (patient.root, patient.root / "topics")} == {0o700}
    assert done.after.findings == ()
    assert any(sentence.endswith("are closed to other users") for sentence in done.did)


def test_history_is_begun_and_what_was_owed_is_paid_p4(patient: Patient) -> None:
    (patient.root / ".git").rename(patient.root.parent / "moved")
    patient.by_hand("runs/owed.json", json.dumps([next((patient.root / "topics").iterdir()).name]))
    done = patient.repair()
    assert done.failed == ()
    assert [each.code for each in done.after.findings] == []
    assert len(commits(patient)) == 1


def test_a_note_that_changed_meanwhile_is_left_as_it_is_p8(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    path = patient.by_hand("topics/idea.md", "An idea.")
    repair_notes = repairer.repair_notes

    def late(root: str, locks: Locks, log: Repair, repairs: Sequence[NoteRepair]) -> None:
        path.write_text("A better idea.")
        repair_notes(root, locks, log, repairs)

    monkeypatch.setattr(repairer, "repair_notes", late)
    done = patient.repair()
    assert path.read_text() == "A better idea."
    assert any("topics/idea.md was left as it is" in sentence for sentence in done.failed)


def test_files_that_cannot_be_looked_at_are_told_p6(patient: Patient) -> None:
    patient.by_hand("topics/my idea.md", "Try kites.\n")
    with failing_on("/topics", "listdir"):
        done = patient.repair()
    assert any("topics" in each and "Input/output error" in each for each in done.failed)
    assert not any("my idea" in each for each in done.did)
    assert any("my idea" in each for each in patient.repair().did)
