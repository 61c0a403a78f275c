"""The queue in memory, with the rules of the one on disk."""

from __future__ import annotations

from itertools import count

from attrs import define, field
from returns.result import Result, Success

from agent_memory.capture.inbox_json import parse_inbox_entry, render_inbox_entry
from agent_memory.errors import Error
from agent_memory.session.queue import (
    UPGRADE_EVENT,
    InboxEntry,
    KnownSessions,
    Loaded,
    Outcome,
    Pending,
    Trouble,
    as_captured,
    as_consumed,
    fold_queue,
    queue_key,
)
from agent_memory.text.instants import iso_of


@define
class DictInbox:
    """`ports.Inbox` without a disk. Its dictionaries may be looked at by tests and by embedding programs."""

    entries: dict[str, InboxEntry] = field(factory=dict[str, InboxEntry])
    troubles: dict[str, Trouble] = field(factory=dict[str, Trouble])
    processed: dict[str, tuple[InboxEntry, Outcome]] = field(factory=dict[str, tuple[InboxEntry, Outcome]])
    failed: dict[str, tuple[InboxEntry, Outcome]] = field(factory=dict[str, tuple[InboxEntry, Outcome]])
    _numbers: count[int] = field(factory=lambda: count(1), repr=False)

    def put(self, entry: InboxEntry) -> Result[str, Error]:
        return parse_inbox_entry(render_inbox_entry(as_captured(entry))).map(self._kept)

    def names(self) -> Result[tuple[str, ...], Error]:
        return Success(tuple(sorted(self.entries)))

    def load(self, limit: int | None, now_ms: int) -> Result[Loaded, Error]:
        """See the port. Nothing is malformed here, since nothing gets in unchecked."""
        queue = fold_queue(sorted(self.entries.items()), self.troubles, limit, now_ms)
        return Success(Loaded(queue.pending, waiting=queue.waiting, reason=queue.reason))

    def note(self, pending: Pending, trouble: Trouble) -> Result[None, Error]:
        self.troubles[queue_key(pending.entry, pending.name)] = trouble
        return Success(None)

    def retire(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        return self._leave(pending, outcome, self.processed)

    def give_up(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        return self._leave(pending, outcome, self.failed)

    def retry_failed(self) -> Result[int, Error]:
        back = {name: entry for name, (entry, _) in self.failed.items()}
        keys = {queue_key(entry, name) for name, entry in back.items()}
        self.entries |= back
        self.failed.clear()
        for key in keys:
            self.troubles.pop(key, None)
        return Success(len(keys))

    def known(self) -> Result[KnownSessions, Error]:
        keys = [(queue_key(entry, name), entry) for name, entry in self.entries.items()]
        waiting = frozenset(key for key, _ in keys)
        asked_again = frozenset(key for key, entry in keys if entry.context.event == UPGRADE_EVENT)
        given_up: dict[str, int] = {}
        for name, (entry, outcome) in self.failed.items():
            key = queue_key(entry, name)
            given_up[key] = max(outcome.at_ms, given_up.get(key, 0))
        return Success(KnownSessions(waiting, asked_again, given_up))

    def _kept(self, entry: InboxEntry) -> str:
        name = f"{iso_of(entry.at_ms).replace(':', '-')}_{entry.harness}_{next(self._numbers):06}.json"
        self.entries[name] = entry
        return name

    def _leave(
        self, pending: Pending, outcome: Outcome, target: dict[str, tuple[InboxEntry, Outcome]]
    ) -> Result[None, Error]:
        for name in pending.names:
            if name in self.entries:
                entry = self.entries.pop(name)
                target[name] = (as_consumed(entry) if target is self.processed else as_captured(entry), outcome)
        self.troubles.pop(queue_key(pending.entry, pending.name), None)
        return Success(None)
