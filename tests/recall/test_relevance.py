"""Whether a note has to do with a prompt."""

from __future__ import annotations

import pytest

from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.recall.candidates import can_connect, is_relevant


def note(title: str, body: str = "", tags: tuple[str, ...] = (), description: str = "") -> StoredEntry:
    return StoredEntry(Listed(Meta("id__a1b2c3", title, 0, 0, description, tags=tags), "topics/x.md", ""), body)


ZEBRA = note("The zebra migration deadlocks", "It waits for the lock table.", ("topic__zebra-import",))


@pytest.mark.parametrize(
    "prompt",
    [
        "yes",
        "continue",
        "ok, go on",
        "Please fix the bug in this file and run the tests again",
        "thanks!",
        "",
        "👍",
        "sim, continue",
    ],
)
def test_small_talk_connects_nothing(prompt: str) -> None:
    assert not can_connect(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Why does the zebra migration hang?",
        "zebra migration",
        "The zebra import holds the lock on which table?",
        "Das zebra deadlocks",
    ],
)
def test_two_telling_words_one_of_them_in_the_title_connect(prompt: str) -> None:
    assert can_connect(prompt)
    assert is_relevant(prompt, ZEBRA)


@pytest.mark.parametrize(
    "prompt",
    [
        "Paint the giraffe enclosure green",
        "Write a test for the zebra",
        "The lock table waits",
        "Explain the error of the build and update the file of the test",
    ],
)
def test_one_word_or_everyday_words_do_not(prompt: str) -> None:
    assert not is_relevant(prompt, ZEBRA)


def test_of_a_long_prompt_a_fifth_of_its_words_or_five() -> None:
    others = " ".join(f"subject{number}" for number in range(40))
    assert not is_relevant(f"zebra migration {others}", ZEBRA)
    assert is_relevant(f"zebra migration deadlocks waits lock table {others}", ZEBRA)
