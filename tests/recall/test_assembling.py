"""From passages to the text of an injection, and the estimate of its tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.recall import assembling
from agent_memory.recall.assembling import (
    BUILT_IN,
    SECTIONS,
    SESSION_START,
    Passage,
    Profile,
    assemble,
    profile_named,
    tokens_in,
)
from agent_memory.session import own_marks
from agent_memory.session.own_marks import MEMORY_OUTPUT_PLACEHOLDER, without_own_text


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
    def test_what_the_session_knows_makes_room_for_the_next(self) -> None:
        first = assemble(FULL, start_profile(900))
        second = assemble(FULL, start_profile(900), dict.fromkeys(first.ids, True))
        assert len(first.ids) > 5
        assert len(second.ids) > 5
        assert not set(first.ids) & set(second.ids)


class TestBudget:
    @given(
        st.lists(st.builds(passage, st.sampled_from(SECTIONS), st.integers(0, 99), st.integers(0, 400)), max_size=30),
        st.sampled_from(sorted(BUILT_IN)),
        st.integers(0, 3_000),
        st.integers(0, 12_000),
    )
    @settings(max_examples=150)
    def test_it_holds_for_the_whole_text(self, passages: list[Passage], name: str, budget: int, max_chars: int) -> None:
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

    def test_one_long_note_takes_nothing_of_what_the_others_are_sure_of(self) -> None:
        greedy = [passage("project", 1, 600), passage("lessons", 1, 10), passage("decisions", 1, 10)]
        injection = assemble(greedy, start_profile(700))
        assert shown(injection.text) == {"": 0, "The project": 1, "Decisions": 10, "Lessons": 10}
        assert injection.shortened == 1

    @given(st.integers(150, 2_000))
    def test_the_budget_is_used_as_long_as_a_line_of_what_is_left_out_fits(self, budget: int) -> None:
        injection = assemble(FULL, start_profile(budget))
        left = [each for each in FULL if each.id not in injection.ids and each.section != "notes"]
        assert injection.left_out == len(left)
        if left:
            assert (
                injection.tokens + tokens_in(f"\n\n## Conventions and preferences\n\n{left[0].brief}") + len(SECTIONS)
                > budget
            )


def test_the_marks_are_those_by_which_memory_knows_its_own_words() -> None:
    """P26: there are two copies, since the other module takes longer to load than a hook may."""
    assert (assembling.CONTEXT_START, assembling.CONTEXT_END) == (own_marks.CONTEXT_START, own_marks.CONTEXT_END)


COUNTED = [
    ("The worker retried the request without a key, and charged the card twice.", 16),
    ("getUserPreferencesFromDatabaseConnectionPool", 7),
    ("数据库迁移需要先锁定表,然后再执行。", 25),
    ("Миграция базы данных требует блокировки таблицы.", 19),
    ('{"a": 1, "b": [1,2,3], "c": {"d": "e"}}', 26),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_it_is_not_below_what_a_tokenizer_counts(text: str, counted: int) -> None:
    assert counted <= tokens_in(text) <= 2.5 * counted
