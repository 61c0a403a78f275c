"""The inbox on disk, and the JSON of its entries."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from returns.result import Failure, Result, Success

from agent_memory.capture.inbox_files import (
    TROUBLES_FORMAT,
    Inbox,
    captures,
    parse_inbox_entry,
    put_snapshot,
    render_inbox_entry,
)
from agent_memory.errors import Error, InboxEntryInvalid, PathRefused, StateCorrupt, StoreIo
from agent_memory.note.note import Harness, Kind
from agent_memory.session.queue import (
    UPGRADE_EVENT,
    AmpThread,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    KnownSessions,
    Loaded,
    Outcome,
    Pending,
    Trouble,
    queue_key,
)
from faults import Killed, each_failure, each_kill, failing_at, failing_on, killed_at, snapshot
from inbox_entries import AT_MS, entries, note, session

NOW = AT_MS + 86_400_000
WRITTEN = Outcome("written", "run-1", NOW, ("id__a1b2c3",))
GAVE_UP = Outcome("gave-up", "run-1", NOW, reason="no envelope \ud800 \x1b[31m")


@pytest.fixture
def inbox(root: Path) -> Inbox:
    return Inbox(root)


def load(inbox: Inbox) -> Loaded:
    return inbox.load(NOW).unwrap()


def files(directory: Path) -> list[str]:
    return sorted(os.listdir(directory)) if directory.exists() else []


def test_what_one_session_left_waits_as_one_since_the_first_p24(inbox: Inbox) -> None:
    for later_ms in (86_400_000, 0, 1):
        inbox.put(session(at_ms=AT_MS + later_ms)).unwrap()
    assert inbox.waiting() == Success((1, AT_MS))


def test_the_sessions_that_wait_and_those_given_up_are_known(inbox: Inbox) -> None:
    assert inbox.known() == Success(KnownSessions())
    inbox.put(session()).unwrap()
    (pending,) = load(inbox).pending
    key = queue_key(pending.entry, pending.name)
    assert inbox.known() == Success(KnownSessions(frozenset({key})))
    inbox.put(session(event=UPGRADE_EVENT)).unwrap()
    assert inbox.known() == Success(KnownSessions(frozenset({key}), frozenset({key})))
    (pending,) = load(inbox).pending
    inbox.give_up(pending, GAVE_UP).unwrap()
    assert inbox.known() == Success(KnownSessions(given_up_at_ms={key: NOW}))


def test_an_invalid_entry_is_refused_with_every_problem(inbox: Inbox) -> None:
    bad = InboxEntry(AT_MS, Harness.AMP, InlineNote("", "\x00"), session(cwd="relative").context)
    error = inbox.put(bad).failure()
    assert isinstance(error, InboxEntryInvalid)
    assert len(error.problems) == 3
    assert inbox.waiting() == Success((0, None))


def test_a_name_of_which_the_entry_changed_meanwhile_is_worked_on_next(root: Path) -> None:
    inbox = Inbox(root)
    inbox.put(note("first")).unwrap()
    (pending,) = load(inbox).pending
    file = root / "inbox" / pending.name
    file.write_text(file.read_text().replace("first", "second"))
    inbox.retire(pending, WRITTEN).unwrap()
    (left,) = load(inbox).pending
    assert left == evolve(pending, entry=note("second"))


def test_an_inbox_that_is_a_link_is_refused_p21(inbox: Inbox, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    root.mkdir()
    (root / "inbox").symlink_to(tmp_path / "elsewhere")
    assert isinstance(inbox.put(note()).failure(), PathRefused)
    assert isinstance(inbox.waiting().failure(), PathRefused)
    assert files(tmp_path / "elsewhere") == []


def test_a_put_that_fails_anywhere_leaves_nothing_or_one_whole_entry_p1_p5(tmp_path: Path) -> None:
    for number in (errno.ENOSPC, errno.EACCES):
        for k, failing in each_failure(number):
            root = tmp_path / f"{number}-{k}"
            with failing:
                result = Inbox(root).put(note())
            names = files(root / "inbox")
            if isinstance(result, Success):
                assert names == [result.unwrap()]
            else:
                assert isinstance(result.failure(), StoreIo)
                assert len([name for name in names if not name.startswith(".tmp-")]) <= 1
            assert all(parse_inbox_entry((root / "inbox" / name).read_text()) for name in names if name[0] != ".")
        assert k > 5


def test_a_put_that_is_killed_anywhere_leaves_nothing_or_one_whole_entry_p1_p2(tmp_path: Path) -> None:
    for k, dying in each_kill():
        root = tmp_path / str(k)
        with dying:
            Inbox(root).put(note())
        assert [pending.entry for pending in load(Inbox(root)).pending] in ([], [note()])
        assert load(Inbox(root)).quarantined == ()
    assert k > 5


def test_processes_that_put_at_once_lose_and_overwrite_nothing_p7(root: Path) -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from agent_memory.capture.inbox_files import Inbox; from inbox_entries import note\n"
        "box = Inbox(Path(sys.argv[1]))\n"
        "for _ in range(50): box.put(note()).unwrap()\n"
    )
    tests = str(Path(__file__).parents[1])
    running = [subprocess.Popen([sys.executable, "-c", script, str(root), tests]) for _ in range(3)]
    assert [process.wait() for process in running] == [0] * 3
    assert len(load(Inbox(root)).pending) == 150


def test_quarantine_overwrites_nothing_p6(inbox: Inbox, root: Path) -> None:
    for content in ("{1", "{2", "{3"):
        (root / "inbox").mkdir(parents=True, exist_ok=True)
        (root / "inbox" / "bad.json").write_text(content)
        assert len(load(inbox).quarantined) == 1
    failed = root / "inbox" / ".failed"
    kept = [(failed / name).read_text() for name in files(failed) if not name.endswith(".reason.json")]
    assert sorted(kept) == ["{1", "{2", "{3"]


def test_a_file_that_cannot_be_read_stays_and_is_counted_as_waiting(inbox: Inbox, root: Path) -> None:
    """P5 P6: a read error is neither "missing" nor "malformed"."""
    first, second = (inbox.put(session(str(n), AT_MS + n)).unwrap() for n in range(2))
    struck = 0
    for k in range(1, 60):
        with failing_at(k, errno.EIO, once=True) as fault:
            result = inbox.load(NOW)
        struck += fault.struck
        if isinstance(result, Success):
            loaded = result.unwrap()
            assert loaded.quarantined == ()
            assert len(loaded.pending) + len(loaded.unreadable) == 2
            assert loaded.waiting == len(loaded.unreadable)
        else:
            assert isinstance(result.failure(), StoreIo)
        assert files(root / "inbox") == [first, second]
    assert struck > 10


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"version": 1, "troubles": 5}'])
def test_a_damaged_trouble_file_is_an_error_and_nothing_moves_p6(inbox: Inbox, root: Path, content: bytes) -> None:
    inbox.put(note()).unwrap()
    (root / "inbox" / ".queue.json").write_bytes(content)
    before = snapshot(root)
    assert isinstance(inbox.load(NOW).failure(), StateCorrupt)
    assert snapshot(root) == before


def test_the_repository_is_filled_in_at_load(inbox: Inbox, home: Path) -> None:
    project = home / "p"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:owner/repo.git\n')
    (project / "sub").mkdir()
    inbox.put(session("a", cwd=str(project / "sub"))).unwrap()
    inbox.put(session("b", cwd="/nowhere")).unwrap()
    inbox.put(session("c", cwd=str(project), repo="kept/as/it/is")).unwrap()
    repos = [pending.entry.context.repo for pending in load(inbox).pending]
    assert sorted(map(str, repos)) == ["github.com/owner/repo", "kept/as/it/is", "path:/nowhere"]


@pytest.mark.parametrize("leave", [Inbox.retire, Inbox.give_up], ids=["retire", "give_up"])
def test_a_crash_at_any_step_of_leaving_loses_and_doubles_nothing(tmp_path: Path, leave: object) -> None:
    """P2 P3: whatever was reached, running on gives the store of a run without a crash."""
    assert callable(leave)
    expected: set[str] = set()
    k = 0
    while True:
        root = tmp_path / str(k)
        inbox = Inbox(root)
        for number in range(3):
            (root / "inbox").mkdir(parents=True, exist_ok=True)
            (root / "inbox" / f"{number}.json").write_text(render_inbox_entry(session(at_ms=AT_MS + number)))
        (pending,) = load(inbox).pending
        inbox.note(pending, Trouble(attempts=2)).unwrap()
        with killed_at(k) if k else failing_at(-1, 0, once=True) as fault, contextlib.suppress(Killed):
            leave(inbox, pending, GAVE_UP)
        for rest in load(inbox).pending:
            leave(inbox, rest, GAVE_UP).unwrap()
        left = {path for path in snapshot(root) if ".tmp-" not in path}
        expected = expected or left
        assert left == expected
        assert load(inbox).pending == ()
        if k and not fault.struck:
            break
        k += 1
    assert k > 10


def test_a_run_that_was_stopped_between_storing_and_retiring_does_not_work_twice_p3(inbox: Inbox, root: Path) -> None:
    name = inbox.put(note()).unwrap()
    (pending,) = load(inbox).pending
    inbox.retire(pending, WRITTEN).unwrap()
    (root / "inbox" / name).write_text(render_inbox_entry(note()))
    assert load(inbox).pending == ()
    assert inbox.waiting() == Success((0, None))


def test_errors_while_leaving_are_values_and_the_entry_is_still_somewhere_p5(tmp_path: Path) -> None:
    for k, failing in each_failure(errno.ENOSPC, once=False):
        root = tmp_path / str(k)
        inbox = Inbox(root)
        name = inbox.put(note()).unwrap()
        (pending,) = load(inbox).pending
        with failing as counter:
            result = inbox.retire(pending, WRITTEN)
        assert not counter.struck or isinstance(result.failure(), StoreIo)
        assert name in files(root / "inbox") or name in files(root / "inbox" / ".processed")
        inbox.retire(pending, WRITTEN).unwrap()
        assert name in files(root / "inbox" / ".processed")
    assert k > 5


def test_a_retry_does_not_overwrite_an_entry_that_took_the_name(inbox: Inbox, root: Path) -> None:
    (root / "inbox").mkdir(parents=True)
    mine = root / "inbox" / "mine.json"
    mine.write_text(render_inbox_entry(note("old")))
    inbox.give_up(load(inbox).pending[0], GAVE_UP).unwrap()
    mine.write_text(render_inbox_entry(note("new")))
    assert inbox.retry_failed() == Success(1)
    assert {pending.entry for pending in load(inbox).pending} == {note("old"), note("new")}


def snapshot_entry(inbox: Inbox, root: Path) -> Pending:
    path = put_snapshot(str(root), "kept text", "/home/me/My Notes!.md", AT_MS).unwrap()
    inbox.put(InboxEntry(AT_MS, Harness.MANUAL, FileSnapshot(path))).unwrap()
    return load(inbox).pending[0]


def test_a_snapshot_is_named_for_its_file_and_moves_with_its_entry(inbox: Inbox, root: Path) -> None:
    pending = snapshot_entry(inbox, root)
    assert isinstance(pending.entry.retrieval, FileSnapshot)
    path = pending.entry.retrieval.path
    assert path.startswith("inbox/snapshots/2026-02-13T14-30-05.123Z_My-Notes_")
    assert path.endswith(".md")
    inbox.give_up(pending, GAVE_UP).unwrap()
    assert not (root / path).exists()
    assert (root / "inbox" / ".failed" / Path(path).name).read_text() == "kept text"
    inbox.retry_failed().unwrap()
    assert (root / path).read_text() == "kept text"
    inbox.retire(load(inbox).pending[0], WRITTEN).unwrap()
    assert (root / "inbox" / ".processed" / Path(path).name).read_text() == "kept text"
    assert files(root / "inbox" / ".failed") == []


@pytest.mark.parametrize("name", ["..", "/", "", "a\x00b", "x" * 300 + ".md", "..md", "a.tar.gz", "é😀.PY", "-rf"])
def test_a_snapshots_name_is_always_a_safe_one_p21(root: Path, name: str) -> None:
    path = put_snapshot(str(root), "text", name, AT_MS).unwrap()
    assert (root / path).read_text() == "text"
    assert (root / path).parent == root / "inbox" / "snapshots"
    assert len(Path(path).name) < 100
    assert Path(path).name.isascii()


def test_a_snapshot_entry_cannot_move_another_file_away_p21(inbox: Inbox, root: Path) -> None:
    entry = InboxEntry(AT_MS, Harness.MANUAL, FileSnapshot("topics/mine.md"))
    assert isinstance(inbox.put(entry).failure(), InboxEntryInvalid)
    (root / "topics").mkdir(parents=True)
    (root / "topics" / "mine.md").write_text("mine")
    (root / "inbox").mkdir()
    (root / "inbox" / "theirs.json").write_text(render_inbox_entry(entry))
    assert [each.name for each in load(inbox).quarantined] == ["theirs.json"]
    inbox.retire(Pending(entry, "theirs.json", ("theirs.json",)), WRITTEN).unwrap()
    assert (root / "topics" / "mine.md").read_text() == "mine"


def test_an_entry_does_not_come_back_without_its_snapshot_p6(inbox: Inbox, root: Path) -> None:
    pending = snapshot_entry(inbox, root)
    assert isinstance(pending.entry.retrieval, FileSnapshot)
    path = pending.entry.retrieval.path
    inbox.give_up(pending, GAVE_UP).unwrap()
    with failing_on(f".failed/{Path(path).name}", "lstat"):
        assert isinstance(inbox.retry_failed().failure(), StoreIo)
    assert inbox.retry_failed() == Success(1)
    assert (root / path).read_text() == "kept text"


# -- the sessions that were captured, the newest first -----------------------------------------------------------------


@pytest.fixture
def inbox_recent(root: Path) -> Inbox:
    """A session that waits, an older one that was consolidated, one that was given up, a note, and what is no entry."""
    files = Inbox(root)
    for number, leave in enumerate((files.give_up, files.retire)):
        files.put(session(f"s-{number}", AT_MS + number)).unwrap()
        (pending,) = files.load(NOW).unwrap().pending
        leave(pending, Outcome("gave-up", "run-1", NOW, reason="no envelope")).unwrap()
    files.put(session("s-2", AT_MS + 2)).unwrap()
    files.put(note(at_ms=AT_MS + 3)).unwrap()
    (root / "inbox" / "2026-02-13T14-30-09.123Z_amp_k3J9xQ.json").write_text("{")
    return files


def ids(found: Iterable[Result[InboxEntry, Error]]) -> list[str | None]:
    return [each.unwrap().retrieval.session_id for each in found]


def test_sessions_come_newest_first_and_what_cannot_be_looked_at_hides_nothing_else_p6(inbox_recent: Inbox) -> None:
    whole, refused = ids(inbox_recent.recent()), 0
    assert (whole, ids(inbox_recent.recent(most=3))) == (["s-2", "s-1", "s-0"], ["s-2"])
    for _, failing in each_failure(errno.EIO):
        with failing:
            found = list(inbox_recent.recent())
        errors = [each.failure() for each in found if isinstance(each, Failure)]
        assert all(isinstance(error, StoreIo | PathRefused) for error in errors)
        refused += bool(errors)
        assert errors or ids(found) == whole
        assert len(errors) <= 1
    assert refused >= 8


# -- when each harness was last captured -------------------------------------------------------------------------------


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / "inbox" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def test_the_newest_entry_of_each_harness_counts_wherever_it_lies(tmp_path: Path) -> None:
    put(
        tmp_path,
        "2026-02-13T14-30-05.123Z_amp_k3J9xQ.json",
        ".processed/2026-02-14T00-00-00.000Z_amp_aaaaaa.json",
        ".processed/2026-02-12T00-00-00.001Z_claude-code_bbbbbb.json",
        ".failed/2026-02-12T00-00-00.002Z_claude-code_cccccc.json",
    )
    captured = dict(captures(str(tmp_path)).unwrap())
    assert list(captured.items()) == [("amp", 1_771_027_200_000), ("claude-code", 1_770_854_400_002)]


def test_p6_an_inbox_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "inbox").symlink_to(tmp_path / "elsewhere")
    assert isinstance(captures(str(tmp_path)).failure(), PathRefused)


# -- the entries of a session ------------------------------------------------------------------------------------------


def test_a_hand_written_file_is_welcome(inbox: Inbox, root: Path) -> None:
    inbox.put(session()).unwrap()
    mine = root / "inbox" / "my note.json"
    mine.write_text("\ufeff" + json.dumps(json.loads(render_inbox_entry(note("mine"))), indent=2))
    assert inbox.waiting() == Success((2, AT_MS))
    assert note("mine") in [pending.entry for pending in load(inbox).pending]


# -- an entry as JSON -------------------------------------------------------------------------------------------------


AMP: dict[str, Any] = {
    "version": 1,
    "timestamp": "2026-02-13T14:30:05.123Z",
    "harness": "amp",
    "retrieval": {"method": "amp-thread", "threadId": "T-5928a90d"},
    "context": {"cwd": "/home/me/p", "repo": "github.com/owner/repo", "branch": "main", "commit": "0" * 40},
}


def problems_of(document: object) -> tuple[str, ...]:
    text = document if isinstance(document, str) else json.dumps(document)
    refused = parse_inbox_entry(text).failure()
    assert isinstance(refused, InboxEntryInvalid)
    return refused.problems


def changed(**members: Any) -> dict[str, Any]:
    return {**AMP, **members}


def test_the_contracts_example_is_read() -> None:
    expected = InboxEntry(
        AT_MS,
        Harness.AMP,
        AmpThread("T-5928a90d"),
        Context(cwd="/home/me/p", repo="github.com/owner/repo", branch="main", commit="0" * 40),
    )
    assert parse_inbox_entry(json.dumps(AMP)) == Success(expected)


def test_what_is_rendered_has_the_contracts_keys_in_its_order() -> None:
    entry = InboxEntry(AT_MS, Harness.AMP, InlineNote("t", "b", ("topic__x",), Kind.LESSON, "T-1"))
    assert render_inbox_entry(entry) == (
        '{"version": 1, "timestamp": "2026-02-13T14:30:05.123Z", "harness": "amp", "retrieval": {"method": "inline", '
        '"title": "t", "body": "b", "tags": ["topic__x"], "kind": "lesson", "threadId": "T-1"}}\n'
    )


@given(entries())
@settings(max_examples=150)
def test_a_rendered_entry_reads_back_the_same(entry: InboxEntry) -> None:
    assert parse_inbox_entry(render_inbox_entry(entry)) == Success(entry)


@pytest.mark.parametrize("trouble", [3, {"attempts": "1"}, {"attempts": -1}, {"code": 1}, {"tries": 1}])
def test_damaged_trouble_is_never_none_p6(trouble: object) -> None:
    with pytest.raises(StateCorrupt) as refused:
        TROUBLES_FORMAT.parse(json.dumps({"version": 1, "troubles": {"k": trouble}}).encode(), "p")
    assert refused.value.problems[0].startswith("troubles.k")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (changed(version=2), "version is 2, expected 1"),
        (changed(timestamp="2026-02-30T00:00:00Z"), "timestamp is '2026-02-30T00:00:00Z'"),
        (changed(timestamp="0001-01-01T00:00:00Z"), "timestamp is '0001-01-01T00:00:00Z'"),
        (changed(harness="codex"), "harness is 'codex', but amp-thread belongs to amp"),
        (changed(retrieval={"method": "amp-thread"}), "retrieval.threadId is missing"),
        (changed(retrieval={"method": "amp-thread", "threadId": ""}), "retrieval.threadId is empty"),
        (changed(retrieval={"method": "amp-thread", "threadId": "a/../b"}), "expected letters, digits and"),
        (changed(retrieval={"method": "amp-thread", "threadId": "-rf"}), "expected a letter or digit first"),
        (changed(retrieval={"method": "amp-thread", "threadId": "T\u0000"}), "holds the control character U+0000"),
        (changed(retrieval={"method": "amp-thread", "threadId": "x" * 201}), "has 201 characters, at most 200"),
        (changed(retrieval={"method": "amp-thread", "threadId": "T", "sessionId": "x"}), "sessionId is unknown"),
        (changed(context={"cwd": "/a\x1b[31m"}), "context.cwd holds the control character U+001B"),
        (changed(context={"cwd": "/" + "é" * 3000}), "context.cwd has 6,001 bytes, at most 4,096"),
        (changed(context={"branch": "b\ud800"}), "context.branch holds half of a surrogate pair"),
        (
            changed(context={"event": "the user said hello"}),
            "context.event is 'the user said hello', expected one word",
        ),
        (changed(context={"commit": "HEAD"}), "context.commit is 'HEAD', expected 40 or 64 hexadecimal digits"),
    ],
)
def test_a_malformed_value_is_refused(document: object, problem: str) -> None:
    (found,) = problems_of(document)
    assert problem in found
