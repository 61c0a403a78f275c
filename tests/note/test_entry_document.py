"""`docs/contributing/formats.md` says of entries what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_memory.note.note_format import META_FIELDS, parse_note, render_note
from agent_memory.results import sealed
from agent_memory.text.ids import mint_id


@pytest.fixture(scope="module")
def document() -> str:
    return (Path(__file__).parents[2] / "docs" / "contributing" / "formats.md").read_text()


def test_the_table_lists_every_key_in_the_order_of_writing(document: str) -> None:
    table = document.split("### Keys")[1].split("### Reading")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [field.key for field in META_FIELDS]


def test_the_example_is_a_note_as_it_is_written(document: str) -> None:
    example = document.split("then a body.\n\n")[1].split("\n\nA file may be")[0]
    text = "\n".join(line.removeprefix("    ") for line in example.split("\n")) + "\n"
    note = sealed(parse_note(text, "x.md", 0)).unwrap()
    assert render_note(note.entry) == text.replace(
        "description: Guards must be pure, since they run more than once.\n", ""
    )


def test_the_known_answers_are_right(document: str) -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) \| `(id__\w{6})` \| (?:`(id__\w{6})`)? ?\|", document, re.MULTILINE)
    assert len(rows) == 3
    for title, created_at_ms, first, second in rows:
        assert mint_id(title, int(created_at_ms), ()) == first
        assert not second or mint_id(title, int(created_at_ms), {first.casefold()}) == second
