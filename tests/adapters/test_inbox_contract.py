from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Success

from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.domain.queue import (
    UPGRADE_EVENT,
    InboxEntry,
    InlineNote,
    KnownSessions,
    Outcome,
    Pending,
    Trouble,
    queue_key,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import InboxEntryInvalid
from agent_memory.ports import Inbox
from inbox_entries import AT_MS, note, session
from stand_ins.dict_inbox import DictInbox

NOW = AT_MS + 86_400_000
WRITTEN = Outcome("written", "run-1", NOW, ("id__a1b2c3",))
GAVE_UP = Outcome("gave-up", "run-1", NOW, reason="no envelope")


def load(inbox: Inbox, limit: int | None = None, now_ms: int = NOW) -> tuple[Pending, ...]:
    return inbox.load(limit, now_ms).unwrap().pending


class InboxContract:
    """Missing, twice, corrupt, empty; what is concurrent is for the files alone."""

    @pytest.fixture
    def inbox(self) -> Inbox:
        raise NotImplementedError

    def test_an_inbox_that_was_never_written_is_empty(self, inbox: Inbox) -> None:
        assert inbox.names() == Success(())
        assert load(inbox) == ()
        assert inbox.retry_failed() == Success(0)

    def test_what_was_put_is_pending(self, inbox: Inbox) -> None:
        name = inbox.put(note()).unwrap()
        (pending,) = load(inbox)
        assert (pending.name, pending.names, pending.trouble) == (name, (name,), Trouble())
        assert pending.entry == note()
        assert name.startswith("2026-02-13T14-30-05.123Z_manual_")

    def test_the_same_entry_twice_is_two_names(self, inbox: Inbox) -> None:
        names = {inbox.put(note()).unwrap() for _ in range(20)}
        assert len(names) == len(load(inbox)) == 20

    def test_names_come_in_the_order_of_time(self, inbox: Inbox) -> None:
        """P24"""
        later, first, middle = (inbox.put(session(at_ms=AT_MS + n)).unwrap() for n in (86_400_000, 0, 1))
        assert inbox.names() == Success((first, middle, later))

    def test_the_sessions_that_wait_and_those_given_up_are_known(self, inbox: Inbox) -> None:
        assert inbox.known() == Success(KnownSessions())
        inbox.put(session()).unwrap()
        (pending,) = load(inbox)
        key = queue_key(pending.entry, pending.name)
        assert inbox.known() == Success(KnownSessions(frozenset({key})))
        inbox.put(session(event=UPGRADE_EVENT)).unwrap()
        assert inbox.known() == Success(KnownSessions(frozenset({key}), frozenset({key})))
        (pending,) = load(inbox)
        inbox.give_up(pending, GAVE_UP).unwrap()
        assert inbox.known() == Success(KnownSessions(given_up_at_ms={key: NOW}))

    def test_an_invalid_entry_is_refused_with_every_problem(self, inbox: Inbox) -> None:
        bad = InboxEntry(AT_MS, Harness.AMP, InlineNote("", "\x00"), session(cwd="relative").context)
        error = inbox.put(bad).failure()
        assert isinstance(error, InboxEntryInvalid)
        assert len(error.problems) == 3
        assert inbox.names() == Success(())

    def test_entries_of_one_session_fold_and_retire_together(self, inbox: Inbox) -> None:
        names = tuple(inbox.put(session(at_ms=AT_MS + n)).unwrap() for n in range(3))
        (pending,) = load(inbox)
        assert pending.names == names
        assert inbox.retire(pending, WRITTEN) == Success(None)
        assert inbox.names() == Success(())

    def test_retiring_twice_is_retiring_once(self, inbox: Inbox) -> None:
        """P3"""
        inbox.put(note()).unwrap()
        (pending,) = load(inbox)
        assert inbox.retire(pending, WRITTEN) == inbox.retire(pending, WRITTEN) == Success(None)
        assert inbox.names() == Success(())

    def test_an_entry_that_came_meanwhile_stays(self, inbox: Inbox) -> None:
        inbox.put(session()).unwrap()
        (pending,) = load(inbox)
        later = inbox.put(session(at_ms=AT_MS + 1)).unwrap()
        inbox.retire(pending, WRITTEN).unwrap()
        assert inbox.names() == Success((later,))

    def test_trouble_is_remembered_until_the_entry_leaves(self, inbox: Inbox) -> None:
        inbox.put(session()).unwrap()
        trouble = Trouble(attempts=2, fingerprint="abc", code="reply-refused", message="no envelope")
        inbox.note(load(inbox)[0], trouble).unwrap()
        (pending,) = load(inbox)
        assert pending.trouble == trouble
        inbox.retire(pending, WRITTEN).unwrap()
        inbox.put(session()).unwrap()
        assert load(inbox)[0].trouble == Trouble()

    def test_trouble_stays_with_the_session_when_it_grows(self, inbox: Inbox) -> None:
        inbox.put(session()).unwrap()
        inbox.note(load(inbox)[0], Trouble(attempts=1)).unwrap()
        inbox.put(session(at_ms=AT_MS + 1)).unwrap()
        assert load(inbox)[0].trouble.attempts == 1

    def test_an_entry_in_its_backoff_waits(self, inbox: Inbox) -> None:
        inbox.put(session()).unwrap()
        inbox.note(load(inbox)[0], Trouble(timeouts=1, not_before_ms=NOW + 1)).unwrap()
        loaded = inbox.load(None, NOW).unwrap()
        assert (loaded.pending, loaded.waiting) == ((), 1)
        assert len(load(inbox, now_ms=NOW + 1)) == 1

    def test_what_was_given_up_is_no_longer_pending_until_it_is_retried(self, inbox: Inbox) -> None:
        for entry in (session(), session(at_ms=AT_MS + 1), note()):
            inbox.put(entry).unwrap()
        before = load(inbox)
        for pending in before:
            inbox.note(pending, Trouble(attempts=3)).unwrap()
            inbox.give_up(pending, GAVE_UP).unwrap()
        assert inbox.names() == Success(())
        assert inbox.retry_failed() == Success(2)
        assert load(inbox) == before
        assert inbox.retry_failed() == Success(0)

    def test_the_limit_leaves_the_rest_waiting(self, inbox: Inbox) -> None:
        for id in "abc":
            inbox.put(session(id)).unwrap()
        loaded = inbox.load(2, NOW).unwrap()
        assert (len(loaded.pending), loaded.waiting) == (2, 1)


class TestDictInbox(InboxContract):
    @pytest.fixture
    def inbox(self) -> Inbox:
        return DictInbox()


class TestInboxFiles(InboxContract):
    @pytest.fixture
    def inbox(self, root: Path) -> Inbox:
        return InboxFiles(root)


def test_a_name_of_which_the_entry_changed_meanwhile_is_worked_on_next(root: Path) -> None:
    inbox = InboxFiles(root)
    inbox.put(note("first")).unwrap()
    (pending,) = load(inbox)
    other = DictInbox()
    other.put(note("second")).unwrap()
    file = root / "inbox" / pending.name
    file.write_text(file.read_text().replace("first", "second"))
    inbox.retire(pending, WRITTEN).unwrap()
    (left,) = load(inbox)
    assert left == evolve(pending, entry=note("second"))
