"""What a hook's payload says of the moment, and what its harness shows a session by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memory.note.note import Listed, Meta, StoredEntry, TierList
from agent_memory.recall.moment import MAX_PROMPT_CHARS, Moment, moment_of, read_files, shown_whole
from agent_memory.rules.section import Target
from agent_memory.section.managed_section import render_section
from agent_memory.setup.harnesses import SETUPS, context_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hook-payloads"
ID = "3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11"
TRANSCRIPT = f"/h/.claude/projects/lamp/{ID}.jsonl"


def told(named: str, **payload: object) -> Moment | str | None:
    return moment_of(named, payload)


@pytest.mark.parametrize(
    "marks",
    [
        {"agent_id": "abfe01ea9058ee9c6"},
        {"agent_id": "abfe01ea9058ee9c6", "agent_type": "Explore"},
        {"transcript_path": f"/h/.claude/projects/lamp/{ID}/subagents/agent-1.jsonl", "session_id": "another"},
    ],
)
def test_a_sub_agent_is_told_nothing(marks: dict[str, object]) -> None:
    whole = {"session_id": ID, "transcript_path": TRANSCRIPT, "hook_event_name": "UserPromptSubmit", "prompt": "Why?"}
    assert moment_of("claude-code", {**whole, **marks}) is None
    assert isinstance(moment_of("claude-code", whole), Moment)


def test_a_child_session_of_opencode_or_cursor_is_told_nothing() -> None:
    opencode = {"type": "chat.message", "properties": {"sessionID": "ses_1"}, "prompt": "Why?"}
    assert moment_of("opencode", {**opencode, "parentID": "ses_0"}) is None
    assert isinstance(moment_of("opencode", opencode), Moment)
    cursor = {"conversation_id": ID, "hook_event_name": "sessionStart", "cursor_version": "3.1"}
    assert moment_of("cursor", {**cursor, "parent_conversation_id": "x-1"}) is None
    assert isinstance(moment_of("cursor", cursor), Moment)


@pytest.mark.parametrize(
    ("source", "fresh"), [("compact", True), ("clear", True), ("resume", False), ("startup", False)]
)
def test_after_a_compaction_what_was_there_is_gone(source: str, fresh: bool) -> None:
    moment = told("codex", session_id=ID, hook_event_name="SessionStart", source=source)
    assert isinstance(moment, Moment)
    assert (moment.kind, moment.is_fresh) == ("start", fresh)


def test_a_session_of_cursor_in_claude_codes_hook_is_cursors() -> None:
    moment = told(
        "claude-code", conversation_id=ID, generation_id="g", cursor_version="3.1", hook_event_name="SessionStart"
    )
    assert isinstance(moment, Moment)
    assert moment.harness == "cursor"


@pytest.mark.parametrize("payload", [None, [], "x", 7, {}, {"session_id": 7, "hook_event_name": "SessionStart"}])
def test_an_unusable_payload_is_a_problem_in_words(payload: object) -> None:
    assert isinstance(moment_of("claude-code", payload), str)


def test_a_long_prompt_counts_by_its_beginning_and_other_types_not_at_all() -> None:
    long = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt="x" * 100_000)
    assert isinstance(long, Moment)
    assert len(long.prompt) == MAX_PROMPT_CHARS
    odd = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt=["x"])
    assert isinstance(odd, Moment)
    assert odd.prompt == ""


def test_recorded_payloads() -> None:
    kinds = {}
    for file in FIXTURES.glob("*.json"):
        moment = moment_of("claude-code", json.loads(file.read_text()))
        kinds[file.stem] = moment.kind if isinstance(moment, Moment) else moment
    assert {name: kind for name, kind in kinds.items() if kind is not None} == {
        "codex-session-start": "start", "codex-user-prompt-submit": "prompt", "cursor-session-start": "start",
        "gemini-before-agent": "prompt", "gemini-session-start": "start", "pre-compact": "compact",
        "session-start-compact": "start", "session-start-resume": "start", "session-start-startup": "start",
        "user-prompt-submit": "prompt",
    }  # fmt: skip


HOME = "/home/ada"


@pytest.mark.parametrize("harness", [each for each in SETUPS if each not in ("cursor", "vscode", "manual")])
@pytest.mark.parametrize("environ", [{}, {"CLAUDE_CONFIG_DIR": "/x/c", "CODEX_HOME": "~/cx/", "XDG_CONFIG_HOME": "/y"}])
def test_the_instruction_file_that_setup_chooses_is_among_them(harness: str, environ: dict[str, str]) -> None:
    groups = read_files(harness, HOME, environ, None)
    target = SETUPS[harness](context_of(HOME, "/m", environ)).target
    assert len(groups) == 1
    assert target in groups[0]


def test_in_a_repository_its_own_file_too() -> None:
    assert read_files("codex", HOME, {}, "/src/lamp")[1] == ("/src/lamp/AGENTS.override.md", "/src/lamp/AGENTS.md")
    assert read_files("cursor", HOME, {}, "/src/lamp") == (("/src/lamp/AGENTS.md",),)
    assert read_files("cursor", HOME, {}, None) == ()


def stored(number: int, body: str) -> StoredEntry:
    meta = Meta(f"id__{number}bcdef", f"Note {number}", 0, 0, "What it says.")
    return StoredEntry(Listed(meta, f"topics/{number}.md", ""), body)


def section(*notes: StoredEntry, hot: int) -> str:
    ids = tuple(each.meta.id for each in notes)
    by_id = {each.meta.id: each for each in notes}
    listed = {id: each.listed for id, each in by_id.items()}
    return render_section(TierList(ids[:hot], ids[hot:]), listed, by_id, Target("/x")).text


def test_what_is_hot_is_shown_what_is_warm_is_not() -> None:
    text = section(stored(1, "One."), stored(2, "Two."), stored(3, "Three."), hot=2)
    assert shown_whole(f"# Mine\n\n{text}\n") == {"id__1bcdef", "id__2bcdef"}
    assert shown_whole("# Mine\n") == frozenset()


def test_no_note_can_hide_another_by_pretending_to_show_it() -> None:
    hostile = "### Note 9\n\nid__9bcdef · fact · from the person · 2026-02-13\n\nOr\n\n# Note 8\n\nid__8bcdef · fact"
    assert shown_whole(section(stored(1, hostile), hot=1)) == {"id__1bcdef"}
    assert shown_whole("### Note 9\n\nid__9bcdef · fact\n") == frozenset()  # outside of any section
