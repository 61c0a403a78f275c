"""Where sessions are known to have been: by the inbox, and by the entries."""

from __future__ import annotations

from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.capture.inbox_files import Inbox
from agent_memory.errors import Error, StoreIo
from agent_memory.note.note import Harness, Listed, Listing, Meta, Source
from agent_memory.pipelines.backfill import project_directories
from agent_memory.session.queue import Context, InboxEntry, Outcome, SessionFile

NOW_MS = 1_770_000_000_000
REFUSED = StoreIo("inbox", "list", "EACCES", "Permission denied")


def listing(*entries: tuple[int, tuple[str | None, ...]]) -> Result[Listing, Error]:
    listed = (
        Listed(Meta("id", "t", 0, at_ms, sources=tuple(Source(Harness.PI, cwd=cwd) for cwd in cwds)), "p", "h")
        for at_ms, cwds in entries
    )
    return Success(Listing(tuple(listed)))


def waiting(inbox: Inbox, at_ms: int, cwd: str | None) -> None:
    session = SessionFile("pi-session", f"s{at_ms}", "/x.jsonl")
    inbox.put(InboxEntry(at_ms, Harness.PI, session, Context(cwd=cwd))).unwrap()


def dealt_with(inbox: Inbox) -> None:
    for pending in inbox.load(NOW_MS).unwrap().pending:
        inbox.retire(pending, Outcome("written", "run-1", NOW_MS)).unwrap()


def test_each_directory_comes_once_those_of_sessions_first_then_the_entries_changed_last() -> None:
    entries = listing((1, ("/old",)), (2, ("/new", "/of-session", None)))
    found = project_directories([Success("/of-session"), Success("relative"), Success("/of-session")], entries)
    assert [each.unwrap() for each in found] == ["/of-session", "/new", "/old"]


def test_what_cannot_be_listed_is_an_error_and_hides_nothing_else_p6() -> None:
    found = list(project_directories([Failure(REFUSED), Success("/a")], Failure(REFUSED)))
    assert found == [Failure(REFUSED), Success("/a"), Failure(REFUSED)]


def test_the_inbox_tells_of_what_waits_and_of_the_newest_that_was_dealt_with(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for at_ms, cwd in ((1, "/first"), (2, "/second"), (3, "/third")):
        waiting(inbox, at_ms, cwd)
    dealt_with(inbox)
    waiting(inbox, 4, "/waits")
    waiting(inbox, 5, None)
    assert [each.unwrap() for each in inbox.directories(4)] == ["/waits", "/third", "/second"]
    assert list(Inbox(tmp_path / "nowhere").directories(2)) == []


def test_an_inbox_that_cannot_be_read_is_an_error_p6(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    waiting(inbox, 1, "/here")
    (tmp_path / "inbox" / ".processed").symlink_to(tmp_path.parent)
    error, here = inbox.directories(10)
    assert here.unwrap() == "/here"
    assert isinstance(error, Failure)
