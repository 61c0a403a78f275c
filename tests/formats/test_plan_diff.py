"""What a dry run prints: every file that a plan would change, and why the rest would not be."""

from __future__ import annotations

from agent_memory.domain.change import Create, Dropped, Replace, Restore, Retire
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.plan import Plan
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.formats.plan_diff import render_plan_diff, replaced_ids

NOON_MS = 1_772_409_600_000


def entry(letter: str, body: str) -> MemoryEntry:
    return MemoryEntry(Meta(f"id__aaaaa{letter}", f"Note {letter}", NOON_MS, NOON_MS), body)


A, B = entry("a", "Old words."), entry("b", "Other words.")
ID_A, ID_B = A.meta.id, B.meta.id


def test_a_new_note_comes_from_nowhere() -> None:
    lines = render_plan_diff(Plan((Create(A),)), {}).splitlines()
    assert lines[:2] == ["--- /dev/null", f"+++ topics/{file_name_of(A.meta)}"]
    assert "+Old words." in lines


def test_a_changed_note_shows_what_goes_and_what_comes() -> None:
    text = render_plan_diff(Plan((Replace(entry("a", "New words."), "h"),)), {ID_A: A})
    assert "-Old words.\n+New words." in text
    assert text.startswith(f"--- topics/{file_name_of(A.meta)}\n")


def test_a_retired_note_goes_into_the_archive_and_a_restored_one_is_named() -> None:
    known = render_plan_diff(Plan((Retire(ID_B, "h"),)), {ID_B: B})
    assert known == f"rename topics/{file_name_of(B.meta)}\n    to archive/{file_name_of(B.meta)}"
    assert render_plan_diff(Plan((Retire(ID_B, "h"),)), {}) == f"rename {ID_B}\n    to archive"
    assert render_plan_diff(Plan((Restore(ID_B),)), {}) == f"restore {ID_B}"


def test_what_is_not_done_is_told_with_its_reasons() -> None:
    plan = Plan(dropped=(Dropped("Note x", ("it is no news", "it is too long")),), skipped="small talk")
    assert render_plan_diff(plan, {}).splitlines() == [
        "# not applied: Note x: it is no news; it is too long",
        "# nothing kept: small talk",
    ]


def test_the_diff_needs_the_text_of_all_but_new_notes() -> None:
    plan = Plan((Create(A), Replace(B, "h"), Retire("id__cccccc", "h"), Restore("id__dddddd")))
    assert replaced_ids(plan) == (ID_B, "id__cccccc", "id__dddddd")
