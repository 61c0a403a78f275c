"""The passage that a hit is shown with."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.note.terms import query_words
from agent_memory.recall.snippet import SNIPPET_CHARS, Snippet, snippet_of

FILLER = "Nothing of note happens in this sentence. " * 40


def passage(query: str, *texts: str, max_chars: int = SNIPPET_CHARS) -> Snippet:
    return snippet_of(texts, {word.term: 1.0 for word in query_words(query)}, max_chars)


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_the_passage_is_around_the_densest_hits() -> None:
    body = f"The lock is mentioned here.\n\n{FILLER}\n\nA migration takes the zebra lock first.\n\n{FILLER}"
    found = passage("zebra lock migration", body)
    assert marked(found) == ["migration", "zebra", "lock"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= SNIPPET_CHARS


def test_other_forms_of_a_word_are_marked() -> None:
    assert marked(passage("run migrations", "He ran the migration of getUserMigrations")) == [
        "ran",
        "migration",
        "getUserMigrations",
    ]


def test_without_a_hit_the_beginning_of_what_there_is_is_shown() -> None:
    found = passage("absent", "", f"First sentence. {FILLER}")
    assert found.text.startswith("First sentence.")
    assert found.marks == ()
    assert len(found.text) <= SNIPPET_CHARS
    assert passage("absent", "", " \n") == Snippet("")


def test_the_text_that_says_more_is_shown_the_first_of_equals() -> None:
    assert passage("zebra lock", "about a lock", "the zebra lock").text == "the zebra lock"
    assert passage("zebra lock", "a zebra lock", "the zebra lock").text == "a zebra lock"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("# Heading about zebras\n\ntext", "Heading about zebras text"),
        ("- [ ] feed the **zebra**\n- [x] `done`", "feed the zebra done"),
        ("> quoted zebra", "quoted zebra"),
        ("```sh\nzebra --lock\n```", "zebra --lock"),
        ("| zebra | lock |\n|---|:--:|\n| 1 | 2 |", "zebra | lock 1 | 2"),
        ("see [[id__a1b2c3|the zebra]] and [docs](https://example.org/z)", "see the zebra and docs"),
        ("zebra <!-- hidden --> shown", "zebra shown"),
        ("zebra\x1b[31m red\u202e\u200b", "zebra red"),
        ("zebra\r\n\tindented", "zebra indented"),
        ("a topic__zebra id__a1b2c3", "a topic__zebra id__a1b2c3"),
    ],
)
def test_the_noise_of_markdown_and_what_is_hidden_is_left_out(body: str, shown: str) -> None:
    assert passage("zebra", body).text == shown


@given(
    st.text(max_size=30),
    st.lists(
        st.text(st.sampled_from("ab cé-_.`*#|[]<>!\n\u0301数据🧑🚀\u200d\u202e\x1b…"), max_size=300),
        min_size=1,
        max_size=2,
    ),
    st.integers(20, 200),
)
def test_a_snippet_is_one_line_that_fits_and_its_marks_are_in_it(query: str, texts: list[str], max_chars: int) -> None:
    found = passage(f"{query} ab", *texts, max_chars=max_chars)
    assert len(found.text) <= max_chars
    assert not any(character in found.text for character in "\n\r\t\x1b\u202e")
    places = [place for mark in found.marks for place in mark]
    assert places == sorted(places)
    assert all(0 <= place <= len(found.text) for place in places)
    assert all(start < end for start, end in found.marks)
