"""Documents as notes: whole, in order, each of a size that can be read."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.adapters.agent.agent_command import MOST_NOTES, NOTE_CHARS, document_notes
from agent_memory.domain.history import History
from agent_memory.domain.text.markdown import first_heading
from agent_memory.domain.transcripts.turns import document_turns
from agent_memory.domain.vocabulary import Harness

NOTES = """# Team notes

We use Postgres 16 because of its JSON indexes.

## Billing

Ana owns the billing module.
"""


def document(text: str) -> History:
    return History(Harness.MANUAL, "file-1", document_turns(text, "file"), title=first_heading(text))


def test_a_short_one_is_one_note_under_its_own_title() -> None:
    (note,) = document_notes(document(NOTES)).entries
    assert (note.title, note.turns) == ("Team notes", (1,))
    assert note.body == NOTES.strip()


def test_without_a_heading_the_first_line_is_the_title() -> None:
    (note,) = document_notes(document("Team notes, 12 November\n\nAna owns billing.\n")).entries
    assert note.title == "Team notes, 12 November"


def test_a_long_one_is_a_note_for_every_few_sections_named_after_both() -> None:
    sections = "\n".join(f"## Part {number}\n\n{'The lamp burns oil. ' * 90}\n" for number in range(6))
    found = document_notes(document(f"# The lamp\n\n{sections}"))
    assert [entry.title for entry in found.entries] == ["The lamp", "The lamp: Part 2", "The lamp: Part 4"]
    assert all(len(entry.body) <= NOTE_CHARS for entry in found.entries)


def test_what_is_too_long_or_no_text_is_left_out_and_said_so() -> None:
    long = document_notes(document("word " * (NOTE_CHARS * (MOST_NOTES + 1) // 5)))
    assert (long.entries, "are too many to be kept as they stand" in (long.skipped or "")) == ((), True)
    for text in ('{"messages": [1, 2]}', "[1,\n2]\n", '{"a": 1}\n{"a": 2}\n'):
        assert document_notes(document(text)).skipped == (
            "it is no text for people but JSON; an agent command (llm.preset) makes notes of it"
        )


@given(st.lists(st.text("ab #`é\n", min_size=1, max_size=3_000), max_size=8))
def test_every_word_of_it_is_in_a_note(parts: list[str]) -> None:
    text = "\n\n".join(parts)
    found = document_notes(document(text))
    if found.skipped is None:
        assert " ".join("\n".join(entry.body for entry in found.entries).split()) == " ".join(text.split())
        assert all(entry.title for entry in found.entries)
