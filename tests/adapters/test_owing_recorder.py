"""What git could not record is recorded later, as what it was (P4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.git_history import RetryingRecorder
from agent_memory.errors import Error, PathRefused, RecorderFailed, StoreIo
from faults import failing_on
from stand_ins.dict_locks import DictLocks

BROKEN = RecorderFailed("git commit", 128, "no space left")


@define
class FailingRecorder:
    """Fails as long as it is told to; notes what reached it."""

    error: Error | None = None
    told: list[tuple[str, ...]] = field(factory=list)

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        self.told.append(("adopt", *(among or ())))
        return Success(0)

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        if self.error is not None:
            return Failure(self.error)
        self.told.append((subject, body, str(thread_id), str(harness), *paths))
        return Success(None)


@pytest.fixture
def inner() -> FailingRecorder:
    return FailingRecorder()


def owing(inner: FailingRecorder, root: Path) -> RetryingRecorder:
    return RetryingRecorder(inner, root, DictLocks())


def test_what_failed_is_recorded_before_hand_edits_are_adopted(inner: FailingRecorder, tmp_path: Path) -> None:
    inner.error = BROKEN
    assert owing(inner, tmp_path).record(["topics/a.md"], "first", "body", "T-1", "amp") == Failure(BROKEN)
    assert owing(inner, tmp_path).record(["topics/b.md"], "second") == Failure(BROKEN)
    inner.error = None
    assert owing(inner, tmp_path).adopt_hand_edits(["topics/c.md"]) == Success(0)
    assert inner.told == [
        ("first", "body", "T-1", "amp", "topics/a.md"),
        ("second", "", "None", "None", "topics/b.md"),
        ("adopt", "topics/c.md"),
    ]
    assert not (tmp_path / "runs" / "owed.json").exists()


def test_a_debt_stays_until_it_is_paid(inner: FailingRecorder, tmp_path: Path) -> None:
    inner.error = BROKEN
    owing(inner, tmp_path).record(["topics/a.md"], "first")
    assert owing(inner, tmp_path).adopt_hand_edits() == Failure(BROKEN)
    owed = json.loads((tmp_path / "runs" / "owed.json").read_text())
    assert [each["subject"] for each in owed] == ["first"]


def test_a_debt_that_can_never_be_paid_stands_in_nobodys_way(inner: FailingRecorder, tmp_path: Path) -> None:
    inner.error = PathRefused("../x", "it leaves the store")
    owing(inner, tmp_path).record(["../x"], "first")
    assert owing(inner, tmp_path).adopt_hand_edits() == Success(0)
    assert not (tmp_path / "runs" / "owed.json").exists()


def test_a_damaged_list_of_debts_loses_no_record_to_come(inner: FailingRecorder, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "owed.json").write_text('[{"paths": 3, "subject": "odd"}, 7, {')
    assert owing(inner, tmp_path).adopt_hand_edits() == Success(0)
    assert owing(inner, tmp_path).record(["topics/a.md"], "first") == Success(None)
    assert inner.told[-1][0] == "first"


def test_debts_that_cannot_be_read_just_now_are_not_forgotten_p6(inner: FailingRecorder, tmp_path: Path) -> None:
    inner.error = BROKEN
    owing(inner, tmp_path).record(["topics/a.md"], "first")
    inner.error = None
    unread = Failure(StoreIo(f"{tmp_path}/runs/owed.json", "read", "EIO", "Input/output error"))
    with failing_on("owed.json", "open"):
        assert owing(inner, tmp_path).adopt_hand_edits() == unread
        inner.error = BROKEN
        assert owing(inner, tmp_path).record(["topics/b.md"], "second") == unread
    inner.error = None
    assert inner.told == []
    assert owing(inner, tmp_path).adopt_hand_edits() == Success(0)
    assert [each[0] for each in inner.told] == ["first", "adopt"]
