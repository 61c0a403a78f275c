"""The order of what was found, what each reason adds, and which words count as slips of another."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.note.note import Importance, Listed, Meta, Relation, StoredEntry, TierList
from agent_memory.recall.hits import NoteLink, ScorePart
from agent_memory.recall.moment import MAX_PROMPT_CHARS, Moment, moment_of, read_files, shown_whole
from agent_memory.recall.ranking import (
    Period,
    Ranked,
    ids_in,
    in_order,
    periods_in,
    slips_allowed,
    slips_of,
    weigh,
    with_successors,
)
from agent_memory.rules.change import Target
from agent_memory.section.publishing import render_section
from agent_memory.setup.harnesses import SETUPS, context_of
from agent_memory.text.instants import DAY_MS

NOW_MS = 1_770_000_000_000


def listed(number: int, *, archived: bool = False, **meta: Any) -> Listed:
    id = f"id__aaaaa{'123456789'[number]}"
    base = Meta(id, f"note {number}", NOW_MS - DAY_MS, NOW_MS - DAY_MS)
    return Listed(evolve(base, **meta), f"topics/{id}.md", "", archived)


def weighed(entries: Mapping[int, Listed], *, here: str = "global") -> list[Ranked]:
    """All found equally well by their words."""
    parts = {number: [ScorePart("words", 1.0)] for number in entries}
    ranked = weigh(parts, entries, (), NOW_MS, here)
    return in_order(ranked.values())


def first(entries: Mapping[int, Listed]) -> int:
    return weighed(entries)[0].number


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"importance": Importance.CRITICAL}, {"importance": Importance.HIGH}),
        ({"importance": Importance.MEDIUM}, {"importance": Importance.LOW}),
        ({}, {"expires_at_ms": NOW_MS}),
        ({"expires_at_ms": NOW_MS + 1}, {"valid_until_ms": NOW_MS - 1}),
    ],
)
def test_what_the_frontmatter_says_decides_between_equals(better: dict[str, Any], worse: dict[str, Any]) -> None:
    assert first({1: listed(1, **worse), 2: listed(2, **better)}) == 2


def superseded(links: list[NoteLink], entries: Mapping[int, Listed], totals: Mapping[int, float]) -> list[Ranked]:
    ranked = {number: Ranked(number, entries[number], total, ()) for number, total in totals.items()}
    return in_order(with_successors(ranked, links, entries).values())


def test_entries_that_supersede_each_other_stay_as_they_are() -> None:
    entries = {1: listed(1), 2: listed(2)}
    links = [NoteLink(2, 1, Relation.SUPERSEDES), NoteLink(1, 2, Relation.SUPERSEDES)]
    assert {each.successor for each in superseded(links, entries, {1: 1.0, 2: 0.5})} == {None}


@given(st.dictionaries(st.integers(1, 8), st.floats(0, 1), max_size=8))
def test_the_parts_sum_up_to_the_total(scores: dict[int, float]) -> None:
    parts = {number: [ScorePart("words", score)] for number, score in scores.items()}
    entries = {number: listed(number, valid_until_ms=1, importance=Importance.HIGH) for number in parts}
    ranked = weigh(parts, entries, (), NOW_MS)
    for each in ranked.values():
        assert sum(part.value for part in each.parts) == pytest.approx(each.total)
        assert each.total > 0


def distance(one: str, other: str) -> int:
    """Optimal string alignment, as it is defined."""
    table = {(i, j): i + j for i in range(len(one) + 1) for j in range(len(other) + 1) if not i or not j}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            cost = int(one[i - 1] != other[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


near_words = st.text("abc", min_size=3, max_size=12)


@given(near_words, near_words)
def test_a_slip_is_within_the_distance_that_its_length_allows(term: str, other: str) -> None:
    found = bool(slips_of(term, [other]))
    is_beginning = len(other) >= 5 and term.startswith(other) and len(term) - len(other) in (1, 2, 3)
    is_near = term != other and term[0] == other[0] and distance(term, other) <= slips_allowed(term)
    assert found == (slips_allowed(term) > 0 and (is_near or is_beginning))


# -- the times and ids that a query names


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


ASKED_AT_MS = ms("2026-02-13T14:30")


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("deploy on 2026-01-31", "2026-01-31", "2026-02-01"),
        ("what happened on January 5", "2026-01-05", "2026-01-06"),
        ("May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("since March 2024", "2024-03-01", None),
        ("as of July 29", None, "2025-07-30"),
        ("em 3 de março de 2024", "2024-03-03", "2024-03-04"),
        ("changes since yesterday", "2026-02-12", None),
    ],
)
def test_a_time_is_named(query: str, start: str | None, end: str | None) -> None:
    wanted = Period(None if start is None else ms(start), None if end is None else ms(end))
    assert periods_in(query, ASKED_AT_MS) == (wanted,)


@pytest.mark.parametrize("query", ["it may fail", "31 February", "version 2024", "march through the list", "12 items"])
def test_what_is_no_date_names_no_time(query: str) -> None:
    assert periods_in(query, ASKED_AT_MS) == ()


def test_ids_are_found_in_any_text_each_once() -> None:
    query = "see [[id__a1b2c3|this]] and id__d4e5f6, id__a1b2c3"
    assert ids_in(query) == ("id__a1b2c3", "id__d4e5f6")
    assert ids_in("id__a1b2c3d grid__a1b2c3") == ()


# -- what a hook's payload says of the moment, and what its harness shows a session by itself --------------------------


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
    ("event", "source", "kind", "fresh"),
    [
        *(("SessionStart", source, "start", True) for source in ("compact", "clear")),
        *(("SessionStart", source, "start", False) for source in ("resume", "startup")),
        *((event, "auto", "compact", True) for event in ("PreCompact", "PostCompact", "session.compacted")),
    ],
)
def test_after_a_compaction_what_was_there_is_gone(event: str, source: str, kind: str, fresh: bool) -> None:
    moment = told("codex", session_id=ID, hook_event_name=event, source=source)
    assert isinstance(moment, Moment)
    assert (moment.kind, moment.is_fresh) == (kind, fresh)


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PostToolUse", "SubagentStop"])
def test_at_another_event_nothing_is_told(event: str) -> None:
    assert told("claude-code", session_id=ID, hook_event_name=event) is None


def test_a_long_prompt_counts_by_its_beginning_and_other_types_not_at_all() -> None:
    long = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt="x" * 100_000)
    assert isinstance(long, Moment)
    assert len(long.prompt) == MAX_PROMPT_CHARS
    odd = told("codex", session_id=ID, hook_event_name="UserPromptSubmit", prompt=["x"])
    assert isinstance(odd, Moment)
    assert odd.prompt == ""


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
