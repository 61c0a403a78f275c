"""From passages to the text of an injection."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.injecting import assembling
from agent_memory.domain.injecting.assembling import assemble
from agent_memory.domain.injecting.passage import Passage
from agent_memory.domain.injecting.profiles import (
    BUILT_IN,
    SECTIONS,
    SESSION_START,
    TRIM_ORDER,
    Profile,
    profile_named,
)
from agent_memory.domain.injecting.tokens import tokens_in
from agent_memory.domain.transcripts import own_marks
from agent_memory.domain.transcripts.own_marks import MEMORY_OUTPUT_PLACEHOLDER, without_own_text


def passage(section: str, number: int, words: int = 40) -> Passage:
    id = f"id__{section[:4]}{number:02d}"
    return Passage(
        id, section, f"### Note {id}\n\n{id} · fact\n\n" + "word " * words, f"- Note {id} (`memory read {id}`)"
    )


FULL = tuple(passage(section, number) for section in SECTIONS for number in range(6))


def start_profile(budget: int) -> Profile:
    profile = profile_named(SESSION_START, {}, budget)
    assert profile is not None
    return profile


def shown(text: str) -> dict[str, int]:
    """How many notes each heading has, whole ones in tens."""
    counts: dict[str, int] = {}
    section = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            section = line[3:]
            counts[section] = 0
        counts[section] = counts.get(section, 0) + 10 * line.startswith("### ") + line.startswith("- Note")
    return counts


class TestChosen:
    def test_a_session_starts_with_the_project_the_last_handoff_tasks_three_decisions_and_two_lessons(self) -> None:
        injection = assemble(
            [passage(section, number, 5) for section in SECTIONS for number in range(6)], start_profile(2_000)
        )
        assert shown(injection.text) == {
            "": 0,
            "The project": 10,
            "A session that was cut off": 10,
            "Where the last session stopped": 10,
            "Open tasks": 10,
            "Decisions": 30,
            "Lessons": 20,
        }
        assert (injection.shortened, injection.left_out) == (0, 0)

    def test_what_the_session_knows_makes_room_for_the_next(self) -> None:
        first = assemble(FULL, start_profile(2_000))
        second = assemble(FULL, start_profile(2_000), frozenset(first.ids))
        assert len(second.ids) == len(first.ids) > 5
        assert not set(first.ids) & set(second.ids)

    def test_nothing_is_said_where_all_is_known_or_there_is_nothing(self) -> None:
        assert assemble((), start_profile(2_000)).text == ""
        everything = frozenset(each.id for each in FULL)
        assert assemble(FULL, start_profile(2_000), everything).text == ""

    def test_a_note_that_is_in_two_sections_is_shown_once(self) -> None:
        twice = [passage("decisions", 1), Passage("id__deci01", "lessons", "### x\n\n", "- x")]
        assert assemble(twice, start_profile(2_000)).ids == ("id__deci01",)

    def test_every_built_in_profile_names_sections_that_there_are(self) -> None:
        assert {section for shares in BUILT_IN.values() for section in shares} <= {*SECTIONS}
        assert sorted(SECTIONS) == sorted(TRIM_ORDER)
        assert sum(BUILT_IN[SESSION_START].values()) == 2_000


class TestBudget:
    @given(
        st.lists(st.builds(passage, st.sampled_from(SECTIONS), st.integers(0, 99), st.integers(0, 400)), max_size=30),
        st.sampled_from(sorted(BUILT_IN)),
        st.integers(0, 3_000),
        st.integers(0, 12_000),
    )
    @settings(max_examples=150)
    def test_it_holds_for_the_whole_text_and_no_note_is_cut(
        self, passages: list[Passage], name: str, budget: int, max_chars: int
    ) -> None:
        profile = profile_named(name, {}, budget)
        assert profile is not None
        injection = assemble(passages, profile, max_chars=max_chars)
        assert injection.tokens == tokens_in(injection.text) <= min(budget, profile.budget)
        assert len(injection.text) <= max_chars
        by_id: dict[str, list[Passage]] = {}
        for each in passages:
            by_id.setdefault(each.id, []).append(each)
        assert len(set(injection.ids)) == len(injection.ids)
        for id in injection.ids:
            assert any(each.whole.rstrip() in injection.text or each.brief in injection.text for each in by_id[id])
        if injection.text:
            assert injection.ids
            assert without_own_text(injection.text) == MEMORY_OUTPUT_PLACEHOLDER

    def test_lessons_give_way_first_then_decisions_then_the_handoff(self) -> None:
        lengths: dict[str, list[int]] = {"lessons": [], "decisions": [], "handoff": [], "project": []}
        headings = {
            "lessons": "Lessons",
            "decisions": "Decisions",
            "handoff": "Where the last session stopped",
            "project": "The project",
        }
        for budget in range(1_400, 90, -5):
            counts = shown(assemble(FULL, Profile("x", budget, dict.fromkeys(lengths, 2_000))).text)
            for section, found in lengths.items():
                found.append(counts.get(headings[section], 0))
        full = {section: max(found) for section, found in lengths.items()}
        first_loss = {
            section: next(at for at, each in enumerate(found) if each < full[section])
            for section, found in lengths.items()
        }
        gone = {section: next(at for at, each in enumerate(found) if each == 0) for section, found in lengths.items()}
        assert gone["lessons"] <= first_loss["decisions"] <= gone["decisions"] <= first_loss["handoff"]
        assert gone["handoff"] <= first_loss["project"]

    def test_a_section_is_held_to_its_share_before_another_gives_way(self) -> None:
        greedy = [passage("project", 1, 600), passage("lessons", 1, 10), passage("decisions", 1, 10)]
        injection = assemble(greedy, start_profile(700))
        assert shown(injection.text) == {"": 0, "The project": 1, "Decisions": 10, "Lessons": 10}
        assert injection.shortened == 1

    def test_what_others_leave_a_section_may_take(self) -> None:
        assert shown(assemble([passage("project", 1, 600)], start_profile(2_000)).text)["The project"] == 10

    def test_a_budget_too_small_for_a_line_says_nothing(self) -> None:
        assert assemble(FULL, start_profile(60)).text == ""
        assert assemble(FULL, start_profile(0)).text == ""


def test_the_same_passages_give_the_same_bytes() -> None:
    """P25"""
    assert assemble(FULL, start_profile(900)).text == assemble(tuple(FULL), start_profile(900)).text


def test_the_marks_are_those_by_which_memory_knows_its_own_words() -> None:
    """P26: there are two copies, since the other module takes longer to load than a hook may."""
    assert (assembling.CONTEXT_START, assembling.CONTEXT_END) == (own_marks.CONTEXT_START, own_marks.CONTEXT_END)
