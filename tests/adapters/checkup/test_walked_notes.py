"""Of sound notes nothing is put together one by one, and of all else the same is told as of every file."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from agent_memory.adapters.checkup.walked_files import walk
from agent_memory.adapters.checkup.walked_notes import WalkedNotes
from agent_memory.adapters.disk import directory_state
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.domain.checkup.file_checks import Found, examine_files
from agent_memory.domain.checkup.symptom import Symptom
from faults import failing_on
from store_under_examination import Patient

NOW_MS = 1_771_000_000_000


@pytest.fixture
def topics(root: Path) -> Path:
    topics = root / TOPICS
    topics.mkdir(mode=0o700, parents=True)
    root.chmod(0o700)
    for name in (
        "a sound one.md",
        "loose.md",
        ".md",
        ".hidden.md",
        "Ports (conflicted copy).md",
        "Ports (conflicted copy).txt",
        ".tmp-0123456789abcdef",
        "x.sync-conflict-20260213-143005-ABCDEFG.md",
        "line\nbreak.md",
    ):
        (topics / name).write_text(name)
        (topics / name).chmod(0o644 if name == "loose.md" else 0o600)
        os.utime(topics / name, ns=(0, NOW_MS * 1_000_000 - len(name) * 1_000_000_000_000))
    (topics / "deep.md").mkdir(mode=0o755)
    (topics / "deep.md" / "inside.md").write_text("loose")
    (topics / "deeper").mkdir(mode=0o700)
    (topics / "link.md").symlink_to("/etc/hostname")
    (topics / "link").symlink_to("nowhere")
    (topics / ".link.md").symlink_to("nowhere")
    os.mkfifo(topics / "pipe.md", 0o600)
    return topics


def symptoms(found: list[Found | OSError]) -> list[Symptom]:
    assert not any(isinstance(each, OSError) for each in found)
    return list(examine_files((each for each in found if isinstance(each, Found)), os.getuid(), lambda _: False))


def test_the_same_is_told_as_of_every_file(root: Path, topics: Path) -> None:
    notes = WalkedNotes(str(root))
    found, every = list(walk(str(root), {TOPICS: notes.worth_a_word})), list(walk(str(root)))
    assert symptoms(found) == symptoms(every)
    assert {each.code for each in symptoms(every)} == {
        "loose-permissions",
        "litter",
        "odd-file",
        "sync-conflict-file",
    }, "positive control"
    odd = {each.subject for each in symptoms(every) if each.code == "odd-file"}
    assert odd == {"topics/link", "topics/.link.md"}, "what has the name of a note is told of as one"
    assert "topics/a sound one.md" not in [each.path for each in found if isinstance(each, Found)]
    assert dict(notes.mtimes_ms()) == {
        f"{TOPICS}/{each.name}": each.lstat().st_mtime_ns // 1_000_000 for each in topics.iterdir()
    }


def test_notes_of_somebody_else_are_told_of(root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (topics / "pipe.md").unlink()
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    found, every = list(walk(str(root), {TOPICS: WalkedNotes(str(root)).worth_a_word})), list(walk(str(root)))
    assert found == every
    assert {"foreign-owner"} <= {each.code for each in symptoms(found)}


def test_what_is_not_there_has_nothing_and_what_cannot_be_listed_is_told_p6(root: Path, topics: Path) -> None:
    assert list(WalkedNotes(str(root / "nowhere")).worth_a_word()) == []
    with failing_on(TOPICS, "open"):
        (refused,) = WalkedNotes(str(root)).worth_a_word()
    assert isinstance(refused, OSError)
    assert refused.filename == str(topics)


def test_of_a_listing_that_breaks_off_no_note_is_taken_for_missing_p6(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Patient(root)
    for number in range(3):
        patient.note(f"Ports {number}", "The api listens on 8080.", tags=("topic__api",))
    time.sleep(0.05)
    assert patient.examine().entries == 3

    class BreaksOff(WalkedNotes):
        def see(self, names: list[str], statuses: list[os.stat_result]) -> None:
            super().see(names[:1], statuses[:1])
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("agent_memory.adapters.checkup.examiner.WalkedNotes", BreaksOff)
    found = patient.examine()
    assert found.entries == 3
    assert "unreadable-store" in {each.code for each in found.symptoms}


def test_an_examination_looks_at_the_notes_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = Patient(root)
    patient.note("Ports", "The api listens on 8080.", tags=("topic__api",))
    time.sleep(0.05)  # until the next change of the directory would show
    times = 0
    look_through = directory_state.look_through

    def watched(path: str, look: directory_state.DirectoryLook | None = None) -> directory_state.DirectoryLook:
        nonlocal times
        times += path.endswith(TOPICS)
        return look_through(path, look)

    for module in ("checkup.walked_notes", "store.shelf_names"):
        monkeypatch.setattr(f"agent_memory.adapters.{module}.look_through", watched)
    patient.examine()
    assert times == 1
