"""The usage ledger in memory."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Usage
from agent_memory.domain.usage import DayReads, LedgerRecord, Read, base_of, counted
from agent_memory.errors import EntryInvalid, Error
from agent_memory.formats.ledger_lines import problems_of


@define
class DictUsageLedger:
    """`UsageLedger` in a list."""

    records: list[LedgerRecord] = field(factory=list[LedgerRecord])

    def append(self, id: str, at_ms: int, reader: str) -> Result[None, Error]:
        return self._append(Read(id, at_ms, reader))

    def adopt(self, id: str, usage: Usage) -> Result[None, Error]:
        if id in counted(self.records).totals:
            return Success(None)
        return self._append(base_of(id, usage))

    def totals(self) -> Result[Mapping[str, Usage], Error]:
        return Success(counted(self.records).totals)

    def day_reads(self) -> Result[tuple[DayReads, ...], Error]:
        return Success(counted(self.records).day_reads)

    def _append(self, record: LedgerRecord) -> Result[None, Error]:
        if problems := problems_of(record):
            return Failure(EntryInvalid(problems))
        self.records.append(record)
        return Success(None)
