"""What lies below the root is told of as `lstat` sees it, and what cannot be looked at is never taken for missing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from returns.result import Result

from agent_memory.adapters.doctor.files import walk
from agent_memory.adapters.doctor.notes import read_again
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.domain.doctor.catalogue import Finding
from agent_memory.domain.doctor.note_checks import NoteFile
from agent_memory.domain.doctor.store_checks import Found, examine_files
from agent_memory.domain.entry import Listed
from agent_memory.errors import Error
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


def findings(found: list[Found | OSError]) -> list[Finding]:
    assert not any(isinstance(each, OSError) for each in found)
    return list(examine_files((each for each in found if isinstance(each, Found)), os.getuid(), lambda _: False))


def test_what_lies_beside_the_notes_is_told_and_nothing_of_sound_ones(root: Path, topics: Path) -> None:
    found = findings(list(walk(str(root))))
    assert {each.code for each in found} == {"loose-permissions", "litter", "odd-file", "sync-conflict-file"}
    odd = {each.subject for each in found if each.code == "odd-file"}
    assert odd == {"topics/link", "topics/.link.md"}, "what has the name of a note is told of as one"
    assert "topics/a sound one.md" not in {each.subject for each in found}


def test_notes_of_somebody_else_are_told_of(root: Path, topics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    assert "foreign-owner" in {each.code for each in findings(list(walk(str(root))))}


def test_what_is_not_there_has_nothing_and_what_cannot_be_listed_is_told_p6(root: Path, topics: Path) -> None:
    assert list(walk(str(root / "nowhere"))) == []
    with failing_on(TOPICS, "open"):
        (refused,) = (each for each in walk(str(root)) if isinstance(each, OSError))
    assert refused.filename == str(topics)


def test_in_a_directory_that_cannot_be_listed_no_note_is_taken_for_missing_p6(root: Path) -> None:
    patient = Patient(root)
    patient.note("Ports", "The api listens on 8080.", tags=("topic__api",))
    walked = "agent_memory.adapters.doctor.doctor.walk"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walked, lambda _: iter([OSError(errno.EIO, os.strerror(errno.EIO), str(root / TOPICS))]))
        found = patient.examine()
    assert found.entries == 1
    assert "unreadable-store" in {each.code for each in found.findings}


def test_a_note_that_went_since_the_listing_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = Patient(root)
    gone = patient.path_of(patient.note("Ports", "See [[id__zzzzzz]].", tags=("topic__api",)))
    assert "unresolved-link" in patient.codes(), "positive control"

    def meanwhile(root: str, listed: Listed) -> Result[NoteFile | None, Error]:
        gone.unlink()
        return read_again(root, listed)

    monkeypatch.setattr("agent_memory.adapters.doctor.notes.read_again", meanwhile)
    assert {"unresolved-link", "unreadable-store"}.isdisjoint(patient.codes())
