"""The contract of `ports.SeenSessions`, run by the file and by the fake."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from agent_memory.adapters.harness.seen_sessions_files import CACHE_NAME, SeenSessionsFiles
from agent_memory.domain.found_session import FoundSession, SeenSession
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import SessionFile
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import SeenSessions
from stand_ins.dict_seen_sessions import DictSeenSessions

FOUND = FoundSession(Harness.CODEX, SessionFile("codex-session", "s1", "/home/ana/s1.jsonl"), 5, looks="9 5 1")
SEEN = SeenSession(
    "codex", "9 5 1", "", has_turns=True, ended_at_ms=5, cwd="/srv/lamp", chars=12, calls=1, unique_ids=("a" * 16,)
)
MARK = SessionMark(Harness.CODEX, "s1", "r7", 5, 7, False, "builtin")
CODEX = frozenset(("codex",))


class Both:
    """One that is written, and one that reads what it wrote."""

    def __init__(self, root: Path, on_disk: bool) -> None:
        self._root = root
        self.first: SeenSessions = SeenSessionsFiles(root, "1") if on_disk else DictSeenSessions()

    def later(self) -> SeenSessions:
        return SeenSessionsFiles(self._root, "1") if isinstance(self.first, SeenSessionsFiles) else self.first


@pytest.fixture(params=[True, False], ids=["file", "dict"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Both:
    return Both(tmp_path, request.param)


def test_nothing_is_known_at_first(both: Both) -> None:
    assert both.first.recall(FOUND, None) is None
    both.first.save(CODEX)
    assert both.later().recall(FOUND, None) is None


def test_what_was_kept_is_recalled_once_it_is_saved(both: Both) -> None:
    both.first.keep(FOUND, SEEN)
    both.first.save(CODEX)
    assert both.later().recall(FOUND, None) == SEEN


def test_a_transcript_that_changed_and_another_mark_are_not_known(both: Both) -> None:
    both.first.keep(FOUND, SEEN)
    both.first.save(CODEX)
    assert both.later().recall(evolve(FOUND, looks="10 6 1"), None) is None
    assert both.later().recall(evolve(FOUND, looks=""), None) is None
    assert both.later().recall(FOUND, MARK) is None


def test_what_was_seen_after_a_mark_is_known_for_that_mark(both: Both) -> None:
    after = evolve(SEEN, after="r7")
    both.first.keep(FOUND, after)
    both.first.save(CODEX)
    assert both.later().recall(FOUND, MARK) == after
    assert both.later().recall(FOUND, evolve(MARK, last_record_id="r8")) is None


def test_a_session_that_is_found_no_more_goes_and_those_of_other_harnesses_stay(both: Both) -> None:
    other = evolve(FOUND, harness=Harness.PI, retrieval=SessionFile("pi-session", "p1", "/home/ana/p1.jsonl"))
    both.first.keep(FOUND, SEEN)
    both.first.keep(other, evolve(SEEN, harness="pi"))
    both.first.save(frozenset(("codex", "pi")))
    later = both.later()
    if isinstance(later, DictSeenSessions):
        later = DictSeenSessions(later.sessions)
    later.save(CODEX)
    last = later if isinstance(later, DictSeenSessions) else both.later()
    assert last.recall(FOUND, None) is None
    assert last.recall(other, None) == evolve(SEEN, harness="pi")


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"format":1,"program":"1","sessions":{"x":{}}}', b"\xff\xfe", b'{"format":2}']
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    seen = SeenSessionsFiles(tmp_path, "1")
    seen.keep(FOUND, SEEN)
    seen.save(CODEX)
    path = tmp_path / ".cache" / CACHE_NAME
    assert SeenSessionsFiles(tmp_path, "1").recall(FOUND, None) == SEEN
    path.write_bytes(damage)
    again = SeenSessionsFiles(tmp_path, "1")
    assert again.recall(FOUND, None) is None
    again.keep(FOUND, SEEN)
    again.save(CODEX)
    assert SeenSessionsFiles(tmp_path, "1").recall(FOUND, None) == SEEN


def test_what_another_version_saw_is_not_believed(tmp_path: Path) -> None:
    seen = SeenSessionsFiles(tmp_path, "1")
    seen.keep(FOUND, SEEN)
    seen.save(CODEX)
    assert SeenSessionsFiles(tmp_path, "2").recall(FOUND, None) is None


def test_a_look_makes_no_store_and_a_place_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    absent = SeenSessionsFiles(tmp_path / "absent", "1")
    absent.keep(FOUND, SEEN)
    absent.save(CODEX)
    assert not (tmp_path / "absent").exists()
    (tmp_path / ".cache").write_text("in the way")
    blocked = SeenSessionsFiles(tmp_path, "1")
    blocked.keep(FOUND, SEEN)
    blocked.save(CODEX)
    assert (tmp_path / ".cache").read_text() == "in the way"


def test_the_file_names_no_path_and_is_private(tmp_path: Path) -> None:
    seen = SeenSessionsFiles(tmp_path, "1")
    seen.keep(FOUND, evolve(SEEN, cwd=None))
    seen.save(CODEX)
    path = tmp_path / ".cache" / CACHE_NAME
    assert "ana" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
