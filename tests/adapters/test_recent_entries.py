"""The sessions that were captured, the newest first, wherever their entries lie now."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

import pytest
from returns.result import Failure, Result

from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.domain.queue import InboxEntry, Outcome, session_id_of
from agent_memory.errors import Error, PathRefused, StoreIo
from faults import failing_at
from inbox_entries import AT_MS, note, session

NOW = AT_MS + 86_400_000


@pytest.fixture
def inbox(root: Path) -> InboxFiles:
    """A session that waits, an older one that was consolidated, one that was given up, a note, and what is no entry."""
    files = InboxFiles(root)
    for number, leave in enumerate((files.give_up, files.retire)):
        files.put(session(f"s-{number}", AT_MS + number)).unwrap()
        (pending,) = files.load(None, NOW).unwrap().pending
        leave(pending, Outcome("gave-up", "run-1", NOW, reason="no envelope")).unwrap()
    files.put(session("s-2", AT_MS + 2)).unwrap()
    files.put(note(at_ms=AT_MS + 3)).unwrap()
    (root / "inbox" / "2026-02-13T14-30-09.123Z_amp_k3J9xQ.json").write_text("{")
    return files


def ids(found: Iterable[Result[InboxEntry, Error]]) -> list[str | None]:
    return [session_id_of(each.unwrap()) for each in found]


def test_sessions_come_the_newest_first(inbox: InboxFiles) -> None:
    assert ids(inbox.recent()) == ["s-2", "s-1", "s-0"]
    assert ids(inbox.recent(most=3)) == ["s-2"]


def test_without_an_inbox_there_are_none(tmp_path: Path) -> None:
    assert ids(InboxFiles(tmp_path).recent()) == []


def test_what_cannot_be_looked_at_is_said_and_hides_nothing_else(inbox: InboxFiles) -> None:
    """P6."""
    whole, refused = ids(inbox.recent()), 0
    for k in range(1, 100):
        with failing_at(k, errno.EIO, once=True) as counter:
            found = list(inbox.recent())
        if not counter.struck:
            break
        errors = [each.failure() for each in found if isinstance(each, Failure)]
        assert all(isinstance(error, StoreIo | PathRefused) for error in errors)
        refused += bool(errors)
        assert errors or ids(found) == whole
        assert len(errors) <= 1
    assert refused >= 8
