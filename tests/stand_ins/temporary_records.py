"""What is kept beside the notes, each kind in a directory that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from agent_memory.capture.inbox_files import Inbox, parse_inbox_entry
from agent_memory.care.tombstones import Tombstones
from agent_memory.session.queue import InboxEntry, Trouble
from agent_memory.store.bookkeeping import SessionMarks, SpendLedgerFiles, StateKeysFiles, TagVocabularyFile
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.run_files import ConsolidateRecords, DefragRecords
from agent_memory.store.usage_ledger import UsageLedger
from stand_ins.dict_clock import DictClock
from stand_ins.dict_locks import DictLocks
from stand_ins.temporary_store import temporary_root


@frozen
class TemporaryInbox(Inbox):
    root: Path = field(factory=temporary_root)
    environ: Mapping[str, str] = field(factory=dict)

    @property
    def entries(self) -> dict[str, InboxEntry]:
        """What waits, by name."""
        paths = sorted((self.root / "inbox").glob("[!.]*.json"))
        return {path.name: parse_inbox_entry(path.read_text()).unwrap() for path in paths}

    @property
    def troubles(self) -> list[Trouble]:
        return [*self._troubles.read().unwrap().values()]


class TemporaryUsageLedger(UsageLedger):
    def __init__(self) -> None:
        super().__init__(temporary_root())


class TemporaryStateKeys(StateKeysFiles):
    def __init__(self) -> None:
        super().__init__(temporary_root())


class TemporaryTagVocabulary(TagVocabularyFile):
    def __init__(self) -> None:
        super().__init__(temporary_root())


class TemporarySessionMarks(SessionMarks):
    def __init__(self) -> None:
        super().__init__(temporary_root())


class TemporarySpendLedger(SpendLedgerFiles):
    def __init__(self) -> None:
        super().__init__(temporary_root(), DictLocks())


class TemporaryRunRecords(ConsolidateRecords):
    def __init__(self, root: Path | None = None) -> None:
        self.root = root or temporary_root()
        super().__init__(self.root, DictClock())


class TemporaryDefragRecords(DefragRecords):
    def __init__(self, root: Path | None = None) -> None:
        self.root = root or temporary_root()
        super().__init__(self.root, DictClock())


class TemporaryTombstones(Tombstones):
    def __init__(self) -> None:
        super().__init__(temporary_root())


class TemporaryKeptHistories(KeptHistories):
    def __init__(self) -> None:
        super().__init__(temporary_root(), 512 << 20)
