"""The contract of a spend ledger, and what only the one on disk must withstand (P5, P6, P7, P10)."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NoReturn

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.records.bookkeeping_files import SpendLedgerFiles
from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.instants import DAY_MS, ms_of
from agent_memory.errors import Busy, SpendExhausted, StateCorrupt
from stand_ins.dict_locks import DictLocks

NOON_MS = ms_of("2026-02-13T12:00:00Z") or 0


@pytest.fixture
def ledger(tmp_path: Path) -> SpendLedgerFiles:
    return SpendLedgerFiles(tmp_path / "root", DictLocks())


class TestContract:
    def test_nothing_is_spent_at_first(self, ledger: SpendLedgerFiles) -> None:
        assert ledger.days() == Success({})

    def test_calls_and_characters_of_a_day_add_up(self, ledger: SpendLedgerFiles) -> None:
        for chars in (100, 20):
            assert ledger.reserve(NOON_MS, chars, 5) == Success(None)
            assert ledger.add_reply(NOON_MS, chars // 2) == Success(None)
        assert ledger.days() == Success({"2026-02-13": DaySpend(2, 120, 60)})

    def test_the_call_after_the_last_is_refused_and_not_counted_p10(self, ledger: SpendLedgerFiles) -> None:
        assert ledger.reserve(NOON_MS, 1, 2) == Success(None)
        assert ledger.reserve(NOON_MS, 1, 2) == Success(None)
        assert ledger.reserve(NOON_MS, 1, 2) == Failure(SpendExhausted(2, 2))
        assert ledger.days() == Success({"2026-02-13": DaySpend(2, 2, 0)})

    def test_no_call_is_allowed_where_none_is_configured(self, ledger: SpendLedgerFiles) -> None:
        assert ledger.reserve(NOON_MS, 1, 0) == Failure(SpendExhausted(0, 0))

    def test_the_next_utc_day_starts_afresh(self, ledger: SpendLedgerFiles) -> None:
        midnight_ms = NOON_MS + DAY_MS // 2
        assert ledger.reserve(midnight_ms - 1, 1, 1) == Success(None)
        assert ledger.reserve(midnight_ms - 1, 1, 1) == Failure(SpendExhausted(1, 1))
        assert ledger.reserve(midnight_ms, 1, 1) == Success(None)
        assert list(ledger.days().unwrap()) == ["2026-02-13", "2026-02-14"]

    def test_a_call_that_was_not_made_is_given_back(self, ledger: SpendLedgerFiles) -> None:
        ledger.reserve(NOON_MS, 10, 1)
        assert ledger.give_back(NOON_MS, 10) == Success(None)
        assert ledger.reserve(NOON_MS, 10, 1) == Success(None)
        assert ledger.days() == Success({"2026-02-13": DaySpend(1, 10, 0)})

    def test_ninety_days_are_kept(self, ledger: SpendLedgerFiles) -> None:
        for day in range(100):
            ledger.reserve(NOON_MS + day * DAY_MS, 1, 1)
        days = list(ledger.days().unwrap())
        assert len(days) == 91
        assert days[-1] == "2026-05-23"

    def test_a_clock_set_back_forgets_nothing_p24(self, ledger: SpendLedgerFiles) -> None:
        ledger.reserve(NOON_MS + 5 * DAY_MS, 1, 1)
        ledger.reserve(NOON_MS, 1, 1)
        assert ledger.reserve(NOON_MS + 5 * DAY_MS, 1, 1) == Failure(SpendExhausted(1, 1))


class TestOnDisk:
    @pytest.mark.parametrize(
        "damaged",
        [
            b"",
            b"{",
            b"[]",
            b'{"version": 2, "days": {}}',
            b'{"version": 1, "days": {"2026-02-13": {"calls": -1, "promptChars": 0, "replyChars": 0}}}',
            b'{"version": 1, "days": {"2026-02-13": {"calls": true, "promptChars": 0, "replyChars": 0}}}',
            b'{"version": 1, "days": {"today": {"calls": 1, "promptChars": 0, "replyChars": 0}}}',
            b"\xff\xfe",
            b"[" * 100_000,
        ],
    )
    def test_a_damaged_ledger_stops_spending_and_is_left_alone_p6(self, tmp_path: Path, damaged: bytes) -> None:
        path = tmp_path / "runs" / "spend.json"
        path.parent.mkdir()
        path.write_bytes(damaged)
        ledger = SpendLedgerFiles(tmp_path, DictLocks())
        for result in (ledger.days(), ledger.reserve(NOON_MS, 1, 48)):
            assert isinstance(result.failure(), StateCorrupt)
        assert path.read_bytes() == damaged

    def test_a_lock_that_is_not_free_stops_spending(self, tmp_path: Path) -> None:
        class Taken(DictLocks):
            def write(self) -> NoReturn:
                raise Busy("write")

        assert SpendLedgerFiles(tmp_path, Taken()).reserve(NOON_MS, 1, 48) == Failure(Busy("write"))
        assert SpendLedgerFiles(tmp_path, Taken()).days() == Success({})

    def test_its_form_is_the_documented_one(self, tmp_path: Path) -> None:
        ledger = SpendLedgerFiles(tmp_path, DictLocks())
        ledger.reserve(NOON_MS, 12, 48)
        ledger.add_reply(NOON_MS, 3)
        document = json.loads((tmp_path / "runs/spend.json").read_text())
        assert document == {"version": 1, "days": {"2026-02-13": {"calls": 1, "promptChars": 12, "replyChars": 3}}}

    def test_processes_at_once_count_exactly_and_never_pass_the_cap_p7(self, home: Path, root: Path) -> None:
        script = textwrap.dedent(f"""
            from pathlib import Path
            from returns.result import Success
            from agent_memory.adapters.disk.locks import KernelLocks
            from agent_memory.adapters.records.bookkeeping_files import SpendLedgerFiles
            root = Path({str(root)!r})
            ledger = SpendLedgerFiles(root, KernelLocks(root))
            print(sum(isinstance(ledger.reserve({NOON_MS}, 10, 30), Success) for _ in range(10)))
        """)
        started = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(5)]
        granted = [int(each.communicate(timeout=60)[0]) for each in started]
        assert sum(granted) == 30
        assert SpendLedgerFiles(root, DictLocks()).days() == Success({"2026-02-13": DaySpend(30, 300, 0)})
