from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Success

from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.domain.history import SessionMark
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.ports import SessionMarks

MARK = SessionMark(Harness.CLAUDE_CODE, "7c9e6679-7425", "rec-9", 1_771_000_205_123, 42, True, "builtin")
HOSTILE = [
    "../../../etc/passwd",
    "/etc/passwd",
    "a\x00b",
    "..",
    ".",
    "con/../x",
    "%2e%2e/",
    "x" * 5000,
    "é\ud800",
    "-rf *",
]


class TestSessionMarksFiles:
    @pytest.fixture
    def marks(self, root: Path) -> SessionMarks:
        return SessionMarksFiles(root)

    def test_a_session_never_seen_has_no_mark(self, marks: SessionMarks) -> None:
        assert marks.get(Harness.AMP, "T-1") == Success(None)

    def test_a_mark_is_found_by_harness_and_session(self, marks: SessionMarks) -> None:
        marks.put(MARK).unwrap()
        assert marks.get(MARK.harness, MARK.session_id) == Success(MARK)
        assert marks.get(Harness.CODEX, MARK.session_id) == Success(None)
        assert marks.get(MARK.harness, "another") == Success(None)

    def test_the_later_mark_replaces_the_earlier(self, marks: SessionMarks) -> None:
        later = evolve(MARK, last_record_id="rec-10", turns_seen=50)
        marks.put(MARK).unwrap()
        marks.put(later).unwrap()
        assert marks.get(MARK.harness, MARK.session_id) == Success(later)

    def test_sessions_whose_ids_differ_in_case_or_punctuation_have_their_own_marks(self, marks: SessionMarks) -> None:
        near = [evolve(MARK, session_id=id) for id in ("ses_a", "ses_A", "ses/a", "ses-a", *HOSTILE)]
        for mark in near:
            marks.put(mark).unwrap()
        assert [marks.get(mark.harness, mark.session_id) for mark in near] == [Success(mark) for mark in near]

    def test_all_marks_are_told(self, marks: SessionMarks) -> None:
        assert list(marks.all()) == []
        near = [evolve(MARK, session_id=id, used_ids=("id__a1b2c3",)) for id in ("one", "two", *HOSTILE)]
        for mark in near:
            marks.put(mark).unwrap()
        found = [each.unwrap() for each in marks.all()]
        assert sorted(found, key=lambda each: each.session_id) == sorted(near, key=lambda each: each.session_id)

    def test_the_file_is_named_after_the_session(self, root: Path) -> None:
        SessionMarksFiles(root).put(MARK).unwrap()
        file = root / "state/sessions/claude-code_7c9e6679-7425.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700

    @pytest.mark.parametrize("session_id", HOSTILE)
    def test_no_id_leaves_the_directory_p21(self, root: Path, session_id: str) -> None:
        SessionMarksFiles(root).put(evolve(MARK, session_id=session_id)).unwrap()
        written = [path for path in root.parent.rglob("*") if path.is_file()]
        assert [path.parent for path in written] == [root / "state/sessions"]

    @pytest.mark.shared
    def test_no_published_payload_leaves_the_directory_p21(self, root: Path, shared: Path) -> None:
        payloads = [
            line
            for file in (shared / "corpora/payloads-att").glob("*.txt")
            for line in file.read_text("utf-8", "replace").splitlines()[::7]
            if line
        ]
        assert len(payloads) > 100
        marks = SessionMarksFiles(root)
        for payload in payloads[:300]:
            marks.put(evolve(MARK, session_id=payload)).unwrap()
            assert marks.get(MARK.harness, payload).unwrap() is not None
        assert {path.parent for path in root.parent.rglob("*") if path.is_file()} == {root / "state/sessions"}

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"null"])
    def test_a_damaged_mark_is_an_error_p6(self, root: Path, content: bytes) -> None:
        marks = SessionMarksFiles(root)
        marks.put(MARK).unwrap()
        (root / "state/sessions/claude-code_7c9e6679-7425.json").write_bytes(content)
        assert isinstance(marks.get(MARK.harness, MARK.session_id).failure(), StateCorrupt)

    def test_another_sessions_mark_under_this_name_is_damage(self, root: Path) -> None:
        marks = SessionMarksFiles(root)
        marks.put(MARK).unwrap()
        (root / "state/sessions/claude-code_7c9e6679-7425.json").rename(root / "state/sessions/claude-code_other.json")
        assert isinstance(marks.get(MARK.harness, "other").failure(), StateCorrupt)


class TestBeginnings:
    """`why --session` takes the beginning of an id."""

    def test_the_marks_of_all_harnesses_whose_id_begins_so(self, tmp_path: Path) -> None:
        marks = SessionMarksFiles(tmp_path)
        wanted = (evolve(MARK, harness=Harness.CODEX), MARK, evolve(MARK, session_id="7c9e-Upper/Case"))
        for mark in (*wanted, evolve(MARK, session_id="8c9e"), evolve(MARK, session_id="other")):
            assert marks.put(mark) == Success(None)
        assert set(marks.beginning_with("7c9e", 10).unwrap()) == set(wanted)
        assert marks.beginning_with("7c9e-Upper/", 10) == Success((wanted[2],))
        assert marks.beginning_with("7c9e-upper/", 10) == Success(())
        assert len(marks.beginning_with("7c9e", 2).unwrap()) == 2

    def test_before_the_first_session_there_are_none(self, tmp_path: Path) -> None:
        assert SessionMarksFiles(tmp_path).beginning_with("7c9e", 10) == Success(())

    def test_a_damaged_mark_is_an_error_and_not_a_session_unseen_p6(self, tmp_path: Path) -> None:
        marks = SessionMarksFiles(tmp_path)
        assert marks.put(MARK) == Success(None)
        (path,) = (tmp_path / "state/sessions").iterdir()
        path.write_text("{")
        assert isinstance(marks.beginning_with("7c9e", 10).failure(), StateCorrupt)


def test_a_damaged_mark_among_all_is_an_error_and_hides_no_other(tmp_path: Path) -> None:
    """P6"""
    marks = SessionMarksFiles(tmp_path)
    marks.put(MARK).unwrap()
    (tmp_path / "state/sessions/amp_T-1.json").write_text("{}")
    found = list(marks.all())
    assert [isinstance(each, Success) for each in found] == [False, True]
    assert isinstance(found[0].failure(), StateCorrupt)
