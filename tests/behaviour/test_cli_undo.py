"""`memory log`, `memory diff` and `memory undo` as processes."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from claude_transcripts import SESSION, Conversation
from memory_process import Memory
from tidying_homes import copied, killed


@pytest.fixture(scope="module")
def homes() -> list[Path]:
    """The home that the first test made, to be copied by the others."""
    return []


@pytest.fixture
def memory(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, homes: list[Path]) -> Memory:
    """A home in which two notes were consolidated, one run each."""
    if not homes:
        made = Memory(tmp_path_factory.mktemp("made") / "home")
        made.home.mkdir()
        for title in ("Deploys", "Linters"):
            made.captured(title, f"{title} run from main only, since 2026-02-13.")
            assert made("consolidate").code == 0
        homes.append(made.home)
    return Memory(Path(shutil.copytree(homes[0], tmp_path / "home")))


def test_a_run_is_logged_shown_and_taken_back_byte_for_byte_p16(memory: Memory) -> None:
    runs = memory("log", "--json").document["runs"]
    assert [(each["machine"], each["result"], each["kept"]) for each in runs] == [
        ("consolidate", "completed", True)
    ] * 2
    assert [each["actions"][0]["words"] for each in runs] == ["Linters", "Deploys"]
    name = runs[0]["run"].rpartition("_")[2]

    logged = memory("log")
    assert (logged.code, logged.err) == (0, "")
    assert logged.out.split()[3] == name
    assert "1 session processed, 1 note written" in logged.out.splitlines()[0]

    diff = memory("diff")
    assert "# created id__" in diff.out
    assert "+Linters run from main only, since 2026-02-13." in diff.out
    assert "Deploys" not in diff.out
    assert memory("diff", name).out == diff.out

    after = memory.snapshot()
    dry = memory("undo", "--dry-run")
    assert "-Linters run from main only, since 2026-02-13." in dry.out
    assert dry.out.splitlines()[-1].startswith(f"Would undo the consolidate run {name} (1 session processed")
    assert memory.snapshot() == after

    undone = memory("undo")
    assert (undone.code, undone.err) == (0, "")
    assert undone.out.splitlines()[0].startswith(f"Undid the consolidate run {name} (1 session processed")
    assert memory.titles() == ["Deploys"]
    assert memory.log("%s")[0].startswith("undo: 1 session processed")

    assert memory("undo", "20").code == 2  # which of the two?
    again = memory("undo", name, "--json")
    assert (again.code, again.error["code"]) == (20, "undo-refused")
    assert "already undone" in again.error["details"]["reasons"][0]

    newest = memory("log", "-n", "1", "--json").document["runs"][0]
    assert newest["undid"] == runs[0]["run"]
    redone = memory("undo", newest["run"], "--json")
    assert redone.document["undid"] == newest["run"]
    assert memory.snapshot() == after
    assert "undone by" in memory("log").out


def test_a_day_is_shown_in_full(memory: Memory) -> None:
    day = memory("log", "--json").document["runs"][0]["startedAt"][:10]
    shown = memory("log", "--day", day).out
    assert "    create id__" in shown
    assert "Linters" in shown
    notes = memory.notes()
    assert shown.split("as they are now:\n")[1].count("    id__") == len(notes)
    told = memory("log", "--day", day, "--json").document["notes"]
    assert {each["id"] for each in told} == {each["id"] for each in notes}
    empty = memory("log", "--day", "2001-01-01")
    assert (empty.code, empty.out, empty.err) == (0, "", "memory: No run on that day.\n")


def test_a_person_who_edited_the_note_since_is_told_so_and_keeps_it_p8(memory: Memory) -> None:
    note = next((memory.root / "topics").glob("Linters*.md"))
    note.write_text(note.read_text() + "\nBy hand.\n")
    refused = memory("undo")
    assert refused.code == 20
    assert "Linters (id__" in refused.err
    assert "was changed since by hand or by a command" in refused.err
    assert "By hand." in note.read_text()
    assert memory.log("%s")[0].startswith("hand edits: ")


def test_an_agent_may_look_but_not_take_back(memory: Memory) -> None:
    before = memory.snapshot()
    inside = {"CLAUDE_CODE_CHILD_SESSION": "1"}
    refused = memory("undo", "--json", environ=inside)
    assert (refused.code, refused.error["code"]) == (2, "act-refused")
    assert memory("undo", "--dry-run", environ=inside).code == 0
    assert memory("diff", environ=inside).code == 0
    assert memory.snapshot() == before


def test_a_killed_undo_is_finished_by_the_next_command_and_is_nobodys_hand_edit_p2_p16(memory: Memory) -> None:
    both = memory.snapshot()
    straight = copied(memory, "as it should be")
    assert straight("undo").code == 0
    one, seen = straight.snapshot(), set()
    for number, crashed in killed(memory, "undo", first=3, step=8):
        assert crashed("consolidate").code == 0
        assert crashed.snapshot() in (one, both), number
        seen.add(crashed.snapshot() == one)
        assert not [line for line in crashed.log() if "hand edit" in line], number
    assert seen == {True, False}


@pytest.mark.parametrize("words", [("edit", "Colours", "--title", "Hues"), ("forget", "Colours", "--yes")])
def test_one_note_that_was_changed_since_does_not_keep_the_others_p8(memory: Memory, words: tuple[str, ...]) -> None:
    for title, text in (("Colours", "Ann chooses them."), ("Backups", "Every night at two, to the vault.")):
        memory.captured(title, text)
    assert memory("consolidate").code == 0
    act, title, *rest = words
    id = next(note["id"] for note in memory.notes() if note["title"].startswith(title))
    assert memory(act, id, *rest).code == 0
    left = [note["id"] for note in memory.notes() if note["id"] == id]
    for dry in (("--dry-run",), ()):
        done = memory("undo", *dry)
        assert done.code == 0, done
        assert (f"({id}) stays as it is" in done.out + done.err) == bool(left)
    titles = [note["title"] for note in memory.notes() if note["id"] != id]
    assert sorted(titles) == ["Deploys", "Linters"]
    assert [note["id"] for note in memory.notes() if note["id"] == id] == left
    assert memory("doctor").code == 0


CIRCLE = (("Invoices", "a", "b"), ("Receipts", "b", "c"), ("Orders", "c", "a"))


def test_a_pinned_note_keeps_no_other_of_its_run_by_its_links_p8(memory: Memory) -> None:
    facts = {"kind": "fact", "tags": ["books"]}
    made = [
        {"title": title, "body": f"{title} are kept for a year.", "ref": ref, "links": [f"ref:{next}"], **facts}
        for title, ref, next in CIRCLE
    ]
    memory.configure(llm={"command": memory.answered({"entries": made})})
    talk = Conversation(started_ms=time.time_ns() // 1_000_000)
    talk.exchange("Invoices, receipts and orders are kept for a year.", answer="Noted.")
    memory.session(SESSION, talk.data)
    assert memory("consolidate").code == 0
    ids = {note["title"]: note["id"] for note in memory.notes()}
    pinned = ids["Invoices"]
    assert memory("pin", pinned).code == 0
    undone = memory("undo", "--json")
    assert undone.code == 0, undone
    assert {each["ids"][0] for each in undone.document["actions"]} == {ids["Receipts"], ids["Orders"]}
    assert any(f"({pinned}) stays as it is" in each for each in undone.document["warnings"])
    kept = memory("read", pinned, "--json").document
    assert (kept["pinned"], kept["body"]) == (True, "Invoices are kept for a year.")
    assert memory("doctor").code == 0
    assert memory("undo", undone.document["run"]).code == 0
    assert {note["title"]: note["id"] for note in memory.notes()} == ids
    assert f"[[{ids['Receipts']}]]" in memory("read", pinned, "--json").document["body"]
