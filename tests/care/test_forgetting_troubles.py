"""A forgetting that cannot look at everything or is refused something (P5, P6, P28)."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory import app
from agent_memory.caller import Caller
from agent_memory.care.forgetter import Forgetter
from agent_memory.care.traces import forgetful_report
from agent_memory.errors import EntryNotFound, StateCorrupt, StoreIo
from agent_memory.git.git_process import GitProcess
from agent_memory.results import as_result, sealed
from agent_memory.rules.forgotten import FORGOTTEN, ForgetTarget, Forgetting, SessionKey, TraceWords
from agent_memory.section.targets import Targets
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.session_index import SessionIndex
from agent_memory.store.store_database import FollowedFiles, StoreDatabase
from claude_transcripts import Conversation
from faults import each_failure, failing_on
from memory_process import Memory
from stand_ins.dict_clock import DictClock
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary import TemporaryStore, temporary_locks

ID = "id__a1b2c3"
STRIDE = 5
OLD_REPOSITORY = ".git.broken-20260213"


def forgetter(root: Path) -> Forgetter:
    files = FollowedFiles(StoreDatabase(str(root)))
    return Forgetter(
        GitProcess(root, os.environ),
        files,
        SessionIndex(files.database, lambda: KeptHistories(root, 512 << 20)),
        RecordedWrites(TemporaryStore(), DictRecorder(), temporary_locks(), Caller(), print),
        DictClock(1_770_993_005_123),
        publish=lambda: None,
        targets=Targets(str(root.parent), str(root)),
    )


def test_whatever_the_disk_refuses_is_an_error_value_and_the_rest_is_done_later(root: Path) -> None:
    refused = 0
    for k, failing in each_failure(errno.EIO, step=STRIDE):
        (root / "topics").mkdir(parents=True, exist_ok=True)
        (root / OLD_REPOSITORY).mkdir(exist_ok=True)
        note = root / "topics" / f"a lamp -- {ID}.md"
        note.write_text(f"---\nid: {ID}\ntitle: A lamp\n---\nIt is lit.\n")
        found = forgetter(root).look(ForgetTarget(ID, purge=True))
        forget = as_result(forgetter(root).forget_what_was_seen)
        with failing:
            done = forget(found)
        if isinstance(done, Failure):
            refused += 1
            again = forgetter(root)
            again.resume()
            if note.exists():
                again.forget(ForgetTarget(ID, purge=True))
        assert not note.exists(), k
        assert not (root / OLD_REPOSITORY).exists(), k
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
    forgetter(root).forget(target)
    with failing_on(f"{ID}.json", "lstat"):
        assert isinstance(look(target).failure(), StoreIo)
    assert isinstance(look(target), Success)


def test_notes_that_say_the_same_are_all_told_or_it_is_an_error_p6_p28(root: Path) -> None:
    write_note(root, ID)
    write_note(root, "id__b2c3d4")
    whole = forgetter(root).look(ForgetTarget(ID)).mentions
    assert [each.id for each in whole] == ["id__b2c3d4"]
    look = as_result(forgetter(root).look)
    for k, failing in each_failure(errno.EIO):
        with failing:
            looked = look(ForgetTarget(ID))
        assert isinstance(looked, Failure) or looked.unwrap().mentions == whole, k


# -- all that would go is looked at first ------------------------------------------------------------------------------


SESSION = "aaaaaaaa-1111-4222-8333-444444444444"


def opened() -> app.Memory:
    return app.open_memory(os.environ, None, lambda _: None).unwrap()


def looked(memory: app.Memory) -> Forgetting | None:
    """What would be forgotten; None where that could not be told."""
    match sealed(memory.look_at_forgetting(ForgetTarget(session=SessionKey(SESSION)))):
        case Success(found):
            return evolve(found, work=evolve(found.work, at_ms=0))
        case Failure(_):
            return None


def test_a_look_that_is_not_whole_is_an_error_p6_p28(home: Path, root: Path) -> None:
    talk = Conversation(SESSION).exchange("Remember that the zanzibar deploys run from the release branch only.")
    process = Memory(home)
    process.session(SESSION, talk.data)
    assert process("consolidate").code == 0
    whole = looked(opened())
    assert whole is not None
    assert whole.notes
    assert all((whole.work.inbox, whole.work.marks, whole.work.histories, whole.work.runs))
    assert whole.has_history
    refused = 0
    for k, failing in each_failure(errno.EIO, step=17):
        memory = opened()
        with failing:
            seen = looked(memory)
        assert seen in (None, whole), k
        refused += seen is None
    assert refused > 1


# -- records of runs without what was forgotten ------------------------------------------------------------------------


WORDS = TraceWords(frozenset(("id__abc123",)), "session-1", frozenset(), ())
REPORT = {
    "sessions": [{"session": "session-1", "outcome": {"dropped": ["deploys run at night"]}}, {"session": "session-2"}],
    "actions": [{"ids": ["id__abc123"], "words": "merged two notes"}, {"ids": ["id__zzz999"], "words": "renamed"}],
    "message": "deploys run at night",
}


def cleaned(report: object) -> object:
    found = forgetful_report(json.dumps(report).encode(), WORDS)
    return json.loads(found)


def test_the_session_and_what_the_report_says_of_it_go() -> None:
    assert cleaned(REPORT) == {
        "sessions": [{"session": "session-2"}],
        "actions": [{"ids": ["id__abc123"], "words": FORGOTTEN}, {"ids": ["id__zzz999"], "words": "renamed"}],
        "message": FORGOTTEN,
    }


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff"])
def test_what_is_no_report_is_named_as_such(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        forgetful_report(data, WORDS)
