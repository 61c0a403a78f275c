"""A forgetting that the disk refuses something ends in an error value, and the next one finishes it (P5, P28)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.forgetting.forgetter import Forgetter, remove_directory_below
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.records.kept_histories_files import KeptHistoriesFiles
from agent_memory.domain.entry import Caller
from agent_memory.domain.forgetting import ForgetTarget
from agent_memory.errors import EntryNotFound, StoreIo
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result
from faults import failing_at, failing_on
from stand_ins.dict_clock import DictClock
from stand_ins.dict_locks import DictLocks
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary_store import TemporaryStore

ID = "id__a1b2c3"
STRIDE = 5
OLD_REPOSITORY = ".git.broken-20260213"


def forgetter(root: Path) -> Forgetter:
    return Forgetter(
        GitProcess(root, os.environ),
        KeptHistoriesFiles(root, 512 << 20),
        RecordedWrites(TemporaryStore(), DictRecorder(), DictLocks(), Caller(), print),
        DictClock(1_770_993_005_123),
        publish=lambda: None,
    )


def test_whatever_the_disk_refuses_is_an_error_value_and_the_rest_is_done_later(root: Path) -> None:
    refused = 0
    for k in range(1, 2_000, STRIDE):
        (root / "topics").mkdir(parents=True, exist_ok=True)
        (root / OLD_REPOSITORY).mkdir(exist_ok=True)
        note = root / "topics" / f"a lamp -- {ID}.md"
        note.write_text(f"---\nid: {ID}\ntitle: A lamp\n---\nIt is lit.\n")
        found = forgetter(root).look(ForgetTarget(ID, purge=True))
        forget = as_result(forgetter(root).forget)
        with failing_at(k, errno.EIO, once=True) as counter:
            done = forget(found)
        if isinstance(done, Failure):
            refused += 1
            again = forgetter(root)
            again.resume()
            if note.exists():
                again.forget(again.look(ForgetTarget(ID, purge=True)))
        assert not note.exists(), k
        assert not (root / OLD_REPOSITORY).exists(), k
        if not counter.struck:
            break
    assert refused > 30 // STRIDE


def write_note(root: Path, id: str) -> Path:
    (root / "topics").mkdir(parents=True, exist_ok=True)
    note = root / "topics" / f"a lamp -- {id}.md"
    note.write_text(f"---\nid: {id}\ntitle: A lamp\n---\nThe lamp on the pier is lit at nine every evening.\n")
    return note


def test_what_may_have_been_forgotten_before_is_not_unknown_p6_p28(root: Path) -> None:
    target = ForgetTarget(ID, purge=True)
    look = as_result(forgetter(root).look)
    assert look(target) == Failure(EntryNotFound(ID))
    write_note(root, ID)
    forgetter(root).forget(forgetter(root).look(target))
    with failing_on(f"{ID}.json", "lstat"):
        assert isinstance(look(target).failure(), StoreIo)
    assert isinstance(look(target), Success)


def test_notes_that_say_the_same_are_all_told_or_it_is_an_error_p6_p28(root: Path) -> None:
    write_note(root, ID)
    write_note(root, "id__b2c3d4")
    whole = forgetter(root).look(ForgetTarget(ID)).told.mentions
    assert [each.id for each in whole] == ["id__b2c3d4"]
    look = as_result(forgetter(root).look)
    for k in range(1, 500):
        with failing_at(k, errno.EIO, once=True) as counter:
            looked = look(ForgetTarget(ID))
        assert isinstance(looked, Failure) or looked.unwrap().told.mentions == whole, k
        if not counter.struck:
            break


def test_what_somebody_else_removes_meanwhile_hides_nothing_that_is_left(root: Path) -> None:
    cache = root / ".cache"
    cache.mkdir(parents=True)
    for name in ("a", "b", "c"):
        (cache / name).touch()
    with failing_on(".cache/b", "unlink", number=errno.ENOENT):
        as_result(remove_directory_below)(str(root), ".cache")
    assert [each.name for each in cache.iterdir()] == ["b"]
    remove_directory_below(str(root), ".cache")
    assert not cache.exists()
