"""What is kept in JSON files of their own. Nothing that is damaged, cannot be read or is a link is taken for missing (P6, P21), a
full disk leaves the earlier value (P5), and nobody else may read it (P22)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.care.tombstones import FORGOTTEN, Tombstones
from agent_memory.errors import Error, PathRefused, SpendExhausted, StateCorrupt, StoreIo
from agent_memory.files.locks import Locks
from agent_memory.note.note import Harness, TierList
from agent_memory.note.tagging import TagVocabulary
from agent_memory.results import as_result
from agent_memory.rules.change import SectionChange
from agent_memory.rules.forgotten import EntryTombstone, SessionTombstone
from agent_memory.rules.run_log import Undoing
from agent_memory.session.history import SessionMark
from agent_memory.setup.config_files import TrustFile
from agent_memory.store.bookkeeping import SessionMarks, SpendLedgerFiles, StateKeysFiles, StateValue, TagVocabularyFile
from agent_memory.store.run_files import RunLog
from agent_memory.store.store_files import Store
from agent_memory.text.instants import DAY_MS, ms_of
from faults import each_failure, failing_on, snapshot

NOW_MS = 1_771_000_205_123
RUN = "2026-02-13T14-30-05.123Z_3dbfbe"


@frozen
class Record:
    path: str
    put: Callable[[Path, int], Result[object, Error]]
    """Keep a value that has this number in it."""
    get: Callable[[Path], Result[object, Error]]


def locks(root: Path) -> Locks:
    return Locks(root, {"HOME": str(root)})


def mark(number: int) -> SessionMark:
    return SessionMark(Harness.AMP, "s1", "rec-9", NOW_MS, number, True, "builtin")


RECORDS = {
    "mark": Record(
        "state/sessions/amp_s1.json",
        lambda root, number: SessionMarks(root).put(mark(number)),
        lambda root: SessionMarks(root).get(Harness.AMP, "s1"),
    ),
    "value": Record(
        "state/keys/phase.json",
        lambda root, number: StateKeysFiles(root).put(StateValue("phase", str(number), NOW_MS)),
        lambda root: StateKeysFiles(root).get("phase"),
    ),
    "tags": Record(
        "state/project_tags.json",
        lambda root, number: TagVocabularyFile(root).put(TagVocabulary(frozenset((f"topic__{number}",)), {})),
        lambda root: TagVocabularyFile(root).get(),
    ),
    "tiers": Record(
        "state/tiers.json",
        lambda root, number: Store(root, locks(root)).apply((), tiers=TierList((f"id__aaaaa{number}",))),
        lambda root: Store(root, locks(root)).tiers(),
    ),
    "spend": Record(
        "runs/spend.json",
        lambda root, number: SpendLedgerFiles(root, locks(root)).reserve(NOW_MS, number, 99),
        lambda root: SpendLedgerFiles(root, locks(root)).days(),
    ),
    "tombstone of a session": Record(
        "state/forgotten/amp_s1.json",
        lambda root, number: Tombstones(root).put(SessionTombstone("s1", Harness.AMP, number)),
        lambda root: Tombstones(root).of_session(Harness.AMP, "s1"),
    ),
    "tombstone of a note": Record(
        "state/forgotten/id__a1b2c3.json",
        lambda root, number: Tombstones(root).put(EntryTombstone("id__a1b2c3", number, frozenset())),
        lambda root: Tombstones(root).of_entries(),
    ),
    "trust": Record(
        ".local/state/agent-memory/trusted.json",
        lambda root, number: as_result(TrustFile(str(root)).add)("/a", b"%d" % number, NOW_MS),
        lambda root: as_result(TrustFile(str(root)).configs)(),
    ),
    "undone runs": Record(
        "runs/undone.json",
        lambda root, number: RunLog(root).mark_undone(f"{RUN}{number}", RUN, frozenset()),
        lambda root: RunLog(root).undone(),
    ),
    "undo at work": Record(
        "runs/undoing.json",
        lambda root, number: RunLog(root).put_undoing(Undoing(RUN, RUN, number)),
        lambda root: RunLog(root).undoing(),
    ),
    "sections of a run": Record(
        f"runs/{RUN}/sections.json",
        lambda root, number: RunLog(root).put_sections(RUN, [SectionChange(f"/a/{number}", None, "x")]),
        lambda root: RunLog(root).footprint(RUN),
    ),
}


@pytest.fixture(params=RECORDS)
def record(request: pytest.FixtureRequest) -> Record:
    return RECORDS[request.param]


def test_what_was_put_is_there_and_private_under_any_umask_p22(record: Record, tmp_path: Path) -> None:
    root = tmp_path / "root"
    absent = record.get(root)
    earlier = os.umask(0)
    try:
        record.put(root, 1).unwrap()
    finally:
        os.umask(earlier)
    assert record.path in snapshot(root)
    assert record.get(root) != absent or record is RECORDS["undone runs"]
    modes = {path: path.stat().st_mode & 0o777 for path in (root, *root.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir() and path != root / ".local"} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_a_damaged_one_is_never_a_missing_one_and_is_left_alone_p6(record: Record, tmp_path: Path) -> None:
    record.put(tmp_path, 1).unwrap()
    path = tmp_path / record.path
    for damage in (b"", b"{", b"\xff\xfe", b"[" * 100_000, path.read_bytes()[:-9]):
        path.write_bytes(damage)
        error = record.get(tmp_path).failure()
        assert isinstance(error, StateCorrupt)
        assert error.path == str(path)
        assert path.read_bytes() == damage


@pytest.mark.parametrize("name", ["spend", "tiers", "trust", "undone runs", "sections of a run"])
def test_a_damaged_one_that_only_grows_is_not_written_over_p6(tmp_path: Path, name: str) -> None:
    record = RECORDS[name]
    record.put(tmp_path, 1).unwrap()
    (tmp_path / record.path).write_text("{")
    assert isinstance(record.put(tmp_path, 2).failure(), StateCorrupt)
    assert (tmp_path / record.path).read_text() == "{"


def test_one_that_cannot_be_read_is_not_taken_for_missing_p6(record: Record, tmp_path: Path) -> None:
    record.put(tmp_path, 1).unwrap()
    with failing_on(record.path.rpartition("/")[2], "open"):
        assert isinstance(record.get(tmp_path).failure(), StoreIo)


def test_no_link_is_followed_p21(record: Record, tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    record.put(root, 1).unwrap()
    path = root / record.path
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert isinstance(record.get(root).failure(), PathRefused)
    record.put(root, 2)
    assert elsewhere.read_bytes() == before
    if record is RECORDS["trust"]:  # which is in the person's home, and no store's
        return
    path.unlink()
    path.parent.rename(tmp_path / "directory")
    path.parent.symlink_to(tmp_path / "directory")
    assert isinstance(record.put(root, 3).failure(), PathRefused)
    assert list((tmp_path / "directory").iterdir()) == []


def test_a_full_disk_is_an_error_and_leaves_the_earlier_value_p2_p5(record: Record, tmp_path: Path) -> None:
    record.put(tmp_path, 1).unwrap()
    old = snapshot(tmp_path)[record.path]
    refused = 0
    for _, failing in each_failure(errno.ENOSPC):
        (tmp_path / record.path).write_bytes(old)
        with failing:
            done = record.put(tmp_path, 2)
        refused += not isinstance(done, Success)
        assert isinstance(done, Success) or isinstance(done.failure(), StoreIo)
        record.get(tmp_path).unwrap()
    assert refused > 2
    assert [name for name in snapshot(tmp_path) if ".tmp-" in name] == []


# -- session marks -----------------------------------------------------------------------------------------------------


MARK = SessionMark(Harness.CLAUDE_CODE, "7c9e6679-7425", "rec-9", 1_771_000_205_123, 42, True, "builtin")
HOSTILE = [
    "../../../etc/passwd", "/etc/passwd", "a\x00b", "..", ".", "con/../x", "%2e%2e/", "x" * 5000, "é\ud800", "-rf *",
]  # fmt: skip


def test_each_session_has_a_mark_of_its_own_in_the_one_directory_whatever_its_id_p21(root: Path) -> None:
    marks = SessionMarks(root)
    near = [evolve(MARK, session_id=id) for id in ("ses_a", "ses_A", "ses/a", "ses-a", *HOSTILE)]
    for mark in near:
        marks.put(mark).unwrap()
    assert [marks.get(mark.harness, mark.session_id) for mark in near] == [Success(mark) for mark in near]
    found = [each.unwrap() for each in marks.all()]
    assert sorted(found, key=lambda each: each.session_id) == sorted(near, key=lambda each: each.session_id)
    assert {path.parent for path in root.parent.rglob("*") if path.is_file()} == {root / "state/sessions"}


def test_another_sessions_mark_under_this_name_is_damage(root: Path) -> None:
    marks = SessionMarks(root)
    marks.put(MARK).unwrap()
    (root / "state/sessions/claude-code_7c9e6679-7425.json").rename(root / "state/sessions/claude-code_other.json")
    assert isinstance(marks.get(MARK.harness, "other").failure(), StateCorrupt)


def test_a_damaged_mark_among_all_is_an_error_and_hides_no_other_p6(tmp_path: Path) -> None:
    marks = SessionMarks(tmp_path)
    marks.put(MARK).unwrap()
    (tmp_path / "state/sessions/amp_T-1.json").write_text("{}")
    with failing_on("state/sessions", "listdir"):
        assert [type(each.failure()) for each in marks.all()] == [StoreIo]
    found = list(marks.all())
    assert [isinstance(each, Success) for each in found] == [False, True]
    assert isinstance(found[0].failure(), StateCorrupt)


# -- values by key -----------------------------------------------------------------------------------------------------


PHASE = StateValue("current_phase", '{"phase": "scraping", "step": 3}', 1_771_000_205_123)
HOSTILE_VALUE = ["../../etc/passwd", "/etc/passwd", "a\x00b", "..", ".", "con/../x", "x" * 5000, "-rf *", "é"]


def test_each_key_has_a_file_of_its_own_in_the_one_directory_whatever_it_is_called_p21(
    root: Path,
) -> None:
    keys = StateKeysFiles(root)
    near = (
        "run/1", "run-1", "Run-1", "run:1", "run_1", "tiers", "project_tags", "sessions/claude-code_1",
        "forgotten/x",
    )  # fmt: skip
    values = [evolve(PHASE, key=key, json=str(number)) for number, key in enumerate(near)]
    for value in values:
        keys.put(value).unwrap()
    assert [keys.get(value.key) for value in values] == [Success(value) for value in values]
    found = [each.unwrap() for each in keys.all()]
    assert sorted(found, key=lambda each: each.key) == sorted(values, key=lambda each: each.key)
    for key in HOSTILE_VALUE:
        keys.put(evolve(PHASE, key=key)).unwrap()
    assert {path.parent for path in root.parent.rglob("*") if path.is_file()} == {root / "state/keys"}


def test_what_is_damaged_is_an_error_and_hides_no_other_p6(root: Path) -> None:
    keys = StateKeysFiles(root)
    keys.put(evolve(PHASE, key="whole")).unwrap()
    for content in ("NaN", '{"a": 1, "a": 2}'):
        (root / "state/keys/current_phase.json").write_text(content)
        assert isinstance(keys.get(PHASE.key).failure(), StateCorrupt)
        assert [type(each) for each in keys.all()] == [Failure, Success]


# -- spend: calls and characters of a day (P10) ------------------------------------------------------------------------


NOON_MS = ms_of("2026-02-13T12:00:00Z") or 0


@pytest.fixture
def ledger(tmp_path: Path) -> SpendLedgerFiles:
    return SpendLedgerFiles(tmp_path, locks(tmp_path))


def test_the_next_utc_day_starts_afresh(ledger: SpendLedgerFiles) -> None:
    midnight_ms = NOON_MS + DAY_MS // 2
    assert ledger.reserve(midnight_ms - 1, 1, 1) == Success(None)
    assert ledger.reserve(midnight_ms - 1, 1, 1) == Failure(SpendExhausted(1, 1))
    assert ledger.reserve(midnight_ms, 1, 1) == Success(None)
    assert list(ledger.days().unwrap()) == ["2026-02-13", "2026-02-14"]


def test_ninety_days_are_kept(ledger: SpendLedgerFiles) -> None:
    for day in range(100):
        ledger.reserve(NOON_MS + day * DAY_MS, 1, 1)
    days = list(ledger.days().unwrap())
    assert len(days) == 91
    assert days[-1] == "2026-05-23"


def test_a_clock_set_back_forgets_nothing_p24(ledger: SpendLedgerFiles) -> None:
    ledger.reserve(NOON_MS + 5 * DAY_MS, 1, 1)
    ledger.reserve(NOON_MS, 1, 1)
    assert ledger.reserve(NOON_MS + 5 * DAY_MS, 1, 1) == Failure(SpendExhausted(1, 1))


# -- tombstones (P28) --------------------------------------------------------------------------------------------------


def test_the_tombstone_of_another_session_under_its_name_is_an_error(root: Path) -> None:
    tombstones = Tombstones(root)
    tombstones.put(SessionTombstone("T-1", Harness.AMP, 1))
    (path,) = (root / FORGOTTEN).iterdir()
    path.write_text(path.read_text().replace("T-1", "T-2"))
    assert isinstance(tombstones.of_session(Harness.AMP, "T-1"), Failure)
