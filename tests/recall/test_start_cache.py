"""What is ready to be injected, on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_memory import app
from agent_memory.inject import prepare
from agent_memory.recall.assembling import Passage
from agent_memory.recall.start_cache import Prepared, fingerprint_of, keep_cached, read_cached
from agent_memory.rules.drafts import NoteDraft
from faults import failing_on

SHELF = Prepared(
    (Passage("id__a1b2c3", "lessons", "### One\n\nWhole.", "- One"),), 2_000, {"mine": {"lessons": 100}}, 5_000
)
RESTED_NS = 1 << 62
"""Long after the notes were written."""


def note(root: Path, name: str = "a -- id__a1b2c3.md", text: str = "One") -> Path:
    path = root / "topics" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def kept(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> Prepared | None:
    return read_cached(str(root), fingerprint_of(str(root), place, others, version), 1_000)


def keep(root: Path, place: str = "global", others: tuple[str, ...] = (), version: str = "1") -> None:
    keep_cached(str(root), fingerprint_of(str(root), place, others, version), SHELF, RESTED_NS)


def test_another_place_version_or_config_is_another_shelf(tmp_path: Path) -> None:
    note(tmp_path)
    config = tmp_path / "config.json"
    keep(tmp_path, others=(str(config),))
    assert kept(tmp_path, others=(str(config),)) is not None
    (file,) = (tmp_path / ".cache" / "inject").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]
    assert kept(tmp_path, "github.com/a/b", (str(config),)) is None
    assert kept(tmp_path, others=(str(config),), version="2") is None
    config.write_text("{}")
    assert kept(tmp_path, others=(str(config),)) is None


def test_it_is_not_used_once_a_note_has_run_out(tmp_path: Path) -> None:
    note(tmp_path)
    keep(tmp_path)
    fingerprint = fingerprint_of(str(tmp_path), "global", (), "1")
    assert read_cached(str(tmp_path), fingerprint, 4_999) is not None
    assert read_cached(str(tmp_path), fingerprint, 5_000) is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "topics").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="topics"):
        fingerprint_of(str(tmp_path), "global", (), "1")


# -- what cannot be read -----------------------------------------------------------------------------------------------


DRAFT = NoteDraft("Deploys run from main only; never from a branch.", title="Deploys")


def test_a_note_that_cannot_be_read_just_now_is_there_the_next_time_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    (note,) = (root / "topics").iterdir()
    whole = prepare(memory).unwrap()
    assert len(whole.passages) == 1
    for name in ("open", "lstat"):
        memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
        with failing_on(note.name, name):
            partial = prepare(memory).unwrap()
        assert name != "open" or not partial.passages
        fingerprint = fingerprint_of(str(root), "global", (), "1")
        keep_cached(str(root), fingerprint, partial, RESTED_NS)
        assert (read_cached(str(root), fingerprint, 1) is None) == (len(partial.passages) < len(whole.passages))
    keep_cached(str(root), fingerprint, whole, RESTED_NS)
    assert read_cached(str(root), fingerprint, 1) is not None


def test_nothing_is_kept_that_was_made_where_a_config_could_not_be_looked_at_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    config = root / "config.json"
    with failing_on("config.json", "stat"):
        fingerprint = fingerprint_of(str(root), "global", (str(config),), "1")
    keep_cached(str(root), fingerprint, prepare(memory).unwrap(), RESTED_NS)
    assert read_cached(str(root), fingerprint, 1) is None
    absent = fingerprint_of(str(root), "global", (str(config),), "1")
    keep_cached(str(root), absent, prepare(memory).unwrap(), RESTED_NS)
    assert read_cached(str(root), absent, 1) is not None
