from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure, Success

from agent_memory.errors import EntryInvalid, PathRefused, StoreIo
from agent_memory.note.note import Usage
from agent_memory.store.usage_ledger import (
    DayReads,
    LedgerRecord,
    Read,
    Total,
    UsageLedger,
    counted,
    parse_ledger_line,
)

A, B = "id__aaaaaa", "id__bbbbbb"

APPEND = """
import sys
from pathlib import Path
from agent_memory.store.usage_ledger import UsageLedger
ledger = UsageLedger(Path(sys.argv[1]), "host")
for at_ms in range(int(sys.argv[2])):
    ledger.append("id__aaaaaa", at_ms, "amp").unwrap()
"""


class TestUsageLedgerFiles:
    @pytest.fixture
    def ledger(self, root: Path) -> UsageLedger:
        return UsageLedger(root)

    @pytest.mark.parametrize(("id", "reader"), [("../../etc", "amp"), ("", "amp"), (A, "x\ny"), (A, "")])
    def test_a_record_that_is_not_one_is_refused_p21(self, ledger: UsageLedger, id: str, reader: str) -> None:
        assert isinstance(ledger.append(id, 1, reader).failure(), EntryInvalid)
        assert ledger.totals() == Success({})

    def test_a_cut_line_hides_nothing_and_the_next_record_does_not_join_it(self, root: Path) -> None:
        ledger = UsageLedger(root, "h")
        ledger.append(A, 1, "amp").unwrap()
        with (root / "usage/h.jsonl").open("ab") as file:
            file.write(b'{"id":"id__aaaaaa","a')
        ledger.append(A, 2, "amp").unwrap()
        assert ledger.totals() == Success({A: Usage(2, 2)})

    def test_a_write_cut_short_leaves_nothing_behind_p5(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ledger = UsageLedger(root, "h")
        ledger.append(A, 1, "amp").unwrap()
        before = (root / "usage/h.jsonl").read_bytes()
        half_written(monkeypatch)
        assert ledger.append(A, 2, "amp").failure().errno_name == "ENOSPC"  # type: ignore[attr-defined]
        assert (root / "usage/h.jsonl").read_bytes() == before

    def test_what_another_wrote_after_a_cut_line_stays_p7(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ledger = UsageLedger(root, "h")
        ledger.append(A, 1, "amp").unwrap()

        def then_another() -> None:
            monkeypatch.undo()
            with (root / "usage/h.jsonl").open("ab") as file:
                file.write(b'\n{"id":"id__aaaaaa","at":3,"by":"amp"}\n')

        half_written(monkeypatch, then_another)
        assert isinstance(ledger.append(A, 2, "amp"), Failure)
        assert ledger.totals().unwrap() == {A: Usage(2, 3)}

    def test_an_unreadable_file_is_no_empty_ledger_p6(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        UsageLedger(root, "one").append(A, 1, "amp").unwrap()
        UsageLedger(root, "two").append(A, 1, "amp").unwrap()
        really_open = os.open

        def refuse_one(path: str, *rest: int) -> int:
            if path.endswith("one.jsonl"):
                raise PermissionError(errno.EACCES, "Permission denied")
            return really_open(path, *rest)

        monkeypatch.setattr(os, "open", refuse_one)
        assert isinstance(UsageLedger(root).totals().failure(), StoreIo)

    def test_links_and_special_files_are_refused_p21(self, root: Path) -> None:
        (root / "usage").mkdir(parents=True)
        os.mkfifo(root / "usage/fifo.jsonl")
        assert isinstance(UsageLedger(root).totals().failure(), PathRefused)
        (root / "usage/fifo.jsonl").unlink()
        (root / "usage/h.jsonl").symlink_to("/tmp/elsewhere")
        assert isinstance(UsageLedger(root, "h").append(A, 1, "amp").failure(), PathRefused)
        assert isinstance(UsageLedger(root, "h").compact().failure(), PathRefused)

    def test_compaction_leaves_one_total_an_id_and_keeps_what_is_damaged(self, root: Path) -> None:
        ledger = UsageLedger(root, "h")
        for at_ms in range(20):
            ledger.append(A if at_ms % 2 else B, at_ms, "amp").unwrap()
        with (root / "usage/h.jsonl").open("ab") as file:
            file.write(b"damaged")
        before = ledger.totals()
        assert ledger.compact() == Success(17)
        assert ledger.totals() == before
        assert ledger.compact() == Success(0)
        assert len((root / "usage/h.jsonl").read_bytes().splitlines()) == 4
        ledger.append(A, 99, "amp").unwrap()
        assert ledger.totals() == Success({A: Usage(11, 99), B: Usage(10, 18)})

    def test_after_a_compaction_it_is_still_known_who_read_when(self, root: Path) -> None:
        ledger = UsageLedger(root, "h")
        for at_ms in range(20):
            ledger.append(A, at_ms, "amp" if at_ms % 4 else "codex").unwrap()
        before = ledger.day_reads()
        assert before == Success((DayReads(0, "amp", 15), DayReads(0, "codex", 5)))
        ledger.compact().unwrap()
        assert ledger.day_reads() == before
        ledger.append(A, 30, "codex").unwrap()
        assert ledger.day_reads() == Success((DayReads(0, "amp", 15), DayReads(0, "codex", 6)))
        assert ledger.totals() == Success({A: Usage(21, 30)})

    def test_a_failing_compaction_changes_nothing_p5(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ledger = UsageLedger(root, "h")
        for at_ms in range(3):
            ledger.append(A, at_ms, "amp").unwrap()

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            assert ledger.compact() == Failure(
                StoreIo(f"{root}/usage/h.jsonl", "compact", "ENOSPC", "No space left on device")
            )
        assert ledger.totals() == Success({A: Usage(3, 2)})
        assert [path.name for path in (root / "usage").iterdir()] == ["h.jsonl"]

    def test_reads_of_many_processes_are_counted_exactly_while_the_ledger_is_compacted_p7(self, root: Path) -> None:
        ledger = UsageLedger(root, "host")
        writers = [subprocess.Popen([sys.executable, "-c", APPEND, root, "100"]) for _ in range(4)]
        while any(writer.poll() is None for writer in writers):
            ledger.compact().unwrap()
        assert [writer.returncode for writer in writers] == [0] * 4
        assert ledger.totals() == Success({A: Usage(4 * 100, 99)})


def half_written(monkeypatch: pytest.MonkeyPatch, and_then: Callable[[], None] = lambda: None) -> None:
    """The disk takes half of what is written, and then something else happens."""
    really_write = os.write

    def write(descriptor: int, data: bytes) -> int:
        written = really_write(descriptor, data[: len(data) // 2])
        and_then()
        return written

    monkeypatch.setattr(os, "write", write)


# -- ledger lines ------------------------------------------------------------------------------------------------------


ids = st.from_regex(r"id__[1-9A-HJ-NP-Za-km-z]{6}", fullmatch=True)
instants = st.integers(0, 10**15 - 1)
records = st.one_of(
    st.builds(Read, ids, instants, st.sampled_from(["claude-code", "manual"])),
    st.builds(Total, ids, instants, st.none() | instants),
    st.builds(DayReads, st.integers(0, 10**6), st.sampled_from(["claude-code", "manual"]), instants),
)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\xff\xfe", b'{"id":"id__a1b2c3"}', b'{"id":"id__a1b2c3","at":-1,"by":"amp"}',
        b'{"id":"id__a1b2c3","at":1,"by":"amp","more":1}', b'{"id":"../../x","at":1,"by":"amp"}',
        b'{"id":"id__a1b2c3","total":2,"last":"x"}', b'{"id":"id__a1b2c3","total":false,"last":null}',
        b'{"day":1,"by":"a b","reads":1}', b'{"day":1e99,"by":"amp","reads":1}',
    ],
)  # fmt: skip
def test_what_is_not_ours_is_no_record(line: bytes) -> None:
    assert parse_ledger_line(line) is None


@settings(max_examples=60)
@given(st.lists(records))
def test_counting_some_of_the_records_first_changes_nothing(some: list[LedgerRecord]) -> None:
    half = len(some) // 2
    again, whole = counted([*counted(some[:half]).records, *some[half:]]), counted(some)
    assert (again.totals, again.day_reads) == (whole.totals, whole.day_reads)
