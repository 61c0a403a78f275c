"""Finding the inbox entries of a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from agent_memory.adapters import explaining
from agent_memory.adapters.explaining import captures_beginning_with
from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.domain.queue import Outcome
from agent_memory.errors import PathRefused, StateCorrupt
from inbox_entries import AT_MS, note, session

RUN = "2026-02-13T14-30-05.123Z_4dbfbe"


@pytest.fixture
def inbox(tmp_path: Path) -> InboxFiles:
    return InboxFiles(tmp_path, {})


def places(root: Path, session_id: str) -> list[tuple[str, str]]:
    return [(each.key[1], each.place) for each in captures_beginning_with(str(root), session_id)[0]]


def test_those_that_wait_those_that_were_read_and_those_given_up_newest_first(
    tmp_path: Path, inbox: InboxFiles
) -> None:
    inbox.put(session("s-1", AT_MS)).unwrap()
    (pending,) = inbox.load(None, AT_MS).unwrap().pending
    inbox.retire(pending, Outcome("written", RUN, AT_MS, ("id__a1b2c3",), dropped=("b: too long",))).unwrap()
    inbox.put(session("s-1", AT_MS + 1_000)).unwrap()
    (pending,) = inbox.load(None, AT_MS).unwrap().pending
    inbox.give_up(pending, Outcome("gave-up", RUN, AT_MS, reason="refused three times")).unwrap()
    inbox.put(session("s-1", AT_MS + 2_000)).unwrap()
    inbox.put(session("t-1", AT_MS)).unwrap()
    inbox.put(note()).unwrap()
    assert places(tmp_path, "s-1") == [("s-1", "waiting"), ("s-1", "given-up"), ("s-1", "processed")]
    captures, unopened, _ = captures_beginning_with(str(tmp_path), "s-1")
    assert [each.entry.outcome and each.entry.outcome.verdict for each in captures] == [None, "gave-up", "written"]
    assert captures[-1].entry.outcome == Outcome("written", RUN, AT_MS, ("id__a1b2c3",), dropped=("b: too long",))
    assert unopened == 0


def test_the_beginning_of_an_id_is_enough_and_a_part_from_its_middle_is_not(tmp_path: Path, inbox: InboxFiles) -> None:
    for id in ("5f2c-11", "5f2c-12", "x-5f2c"):
        inbox.put(session(id)).unwrap()
    assert sorted(places(tmp_path, "5f2c")) == [("5f2c-11", "waiting"), ("5f2c-12", "waiting")]


def test_only_the_newest_files_are_opened_and_the_rest_is_counted(
    tmp_path: Path, inbox: InboxFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        inbox.put(session(f"s-{number}", AT_MS + number)).unwrap()
    monkeypatch.setattr(explaining, "MOST_OPENED", 4)
    captures, unopened, _ = captures_beginning_with(str(tmp_path), "s-")
    assert ([each.key[1] for each in captures], unopened) == (["s-5", "s-4", "s-3", "s-2"], 2)


def test_what_is_no_entry_hides_nothing(tmp_path: Path, inbox: InboxFiles) -> None:
    inbox.put(session("s-1")).unwrap()
    processed = tmp_path / "inbox" / ".processed"
    processed.mkdir()
    (processed / "2026-02-13T14-30-05.123Z_amp_aaaaaa.json").write_text('{"sessionId": "s-1"')
    (processed / "2026-02-13T14-30-05.123Z_amp_bbbbbb.json").mkdir()
    (processed / "2026-02-13T14-30-05.123Z_amp_cccccc.json").symlink_to("/etc/passwd")
    assert places(tmp_path, "s-1") == [("s-1", "waiting")]


def test_a_damaged_list_of_troubles_is_an_error_p6(tmp_path: Path, inbox: InboxFiles) -> None:
    inbox.put(session("s-1")).unwrap()
    (tmp_path / "inbox" / ".queue.json").write_text("{")
    with pytest.raises(StateCorrupt):
        captures_beginning_with(str(tmp_path), "s-1")


def test_no_link_inside_the_root_is_followed_p21(tmp_path: Path) -> None:
    elsewhere = InboxFiles(tmp_path / "elsewhere", {})
    elsewhere.put(evolve(session("s-1"))).unwrap()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "inbox").symlink_to(tmp_path / "elsewhere" / "inbox")
    with pytest.raises(PathRefused):
        captures_beginning_with(str(tmp_path / "root"), "s-1")
