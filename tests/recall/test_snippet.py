"""The passage that a hit is shown with."""

from __future__ import annotations

import pytest

from agent_memory.note.terms import query_words
from agent_memory.recall.hits import SNIPPET_CHARS, Snippet, snippet_of

FILLER = "Nothing of note happens in this sentence. " * 40


def passage(query: str, *texts: str) -> Snippet:
    return snippet_of(texts, {word.term: 1.0 for word in query_words(query)})


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_the_passage_is_around_the_densest_hits() -> None:
    body = f"The lock is mentioned here.\n\n{FILLER}\n\nA migration takes the zebra lock first.\n\n{FILLER}"
    found = passage("zebra lock migration", body)
    assert marked(found) == ["migration", "zebra", "lock"]
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= SNIPPET_CHARS


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("# Heading about zebras\n\ntext", "Heading about zebras text"),
        ("> quoted zebra", "quoted zebra"),
        ("| zebra | lock |\n|---|:--:|\n| 1 | 2 |", "zebra | lock 1 | 2"),
        ("zebra <!-- hidden --> shown", "zebra shown"),
        ("zebra\r\n\tindented", "zebra indented"),
    ],
)
def test_the_noise_of_markdown_and_what_is_hidden_is_left_out(body: str, shown: str) -> None:
    assert passage("zebra", body).text == shown
