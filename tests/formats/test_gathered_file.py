from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.analysis.compared import compare
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.noticed import noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import StoredEntry
from agent_memory.formats.gathered_file import parse_gathered, render_gathered
from analysed_notes import FACTS, note

NOTES = (
    note(
        "Port of the lamp server",
        "The lamp server listens on port 8080 since 2026-01-02. It does not retry `send()`.\n\n```\nmake lamp\n```\n\n"
        "See [[id__c3d4e5]]. The settings live in `etc/lamp.toml`. Cartões são guardados em Redis.",
    ),
    note("Keel", "Anchor, basin, crane, dredger, engine, ferry, gantry and island."),
    note("Keels", "Anchor, basin, crane, dredger, engine, ferry, gantry and islands."),
    note("Links", "[[id__c3d4e5]]"),
)


def gathered(*notes: StoredEntry) -> Gathered:
    words = Vocabulary()
    noticed = {each.meta.id: noticed_in(each, words) for each in notes}
    return compare([each.listed for each in notes], {}, noticed, words, FACTS)[1]


def rendered(of: Gathered, program: str = "1") -> bytes:
    size_bytes, pieces = render_gathered(program, of)
    data = b"".join(pieces)
    assert len(data) == size_bytes
    return data


def parsed(data: bytes, program: str = "1") -> Gathered | None:
    return parse_gathered(program, BytesIO(data).read, len(data))


ALL = gathered(*NOTES)
WHOLE = rendered(ALL)


def test_what_is_read_is_what_was_written() -> None:
    read = parsed(WHOLE)
    assert read is not None
    assert all((ALL.claims, ALL.denials, ALL.likened.pairs)), "positive control"
    assert [read.noticed(slot) for slot in range(4)] == [ALL.noticed(slot) for slot in range(4)]
    assert (read.words, read.marks, read.named) == (ALL.words, ALL.marks, ALL.named)
    assert read.likened.pairs == ALL.likened.pairs
    assert read.likened.slots == ALL.likened.slots
    assert read.likened.holders == ALL.likened.holders.whole()
    assert parsed(rendered(read)) == read


def test_that_there_is_no_note_is_read_too() -> None:
    assert parsed(rendered(Gathered())) == Gathered()


def test_nothing_is_believed_of_another_program() -> None:
    assert parsed(WHOLE, "2") is None


@settings(max_examples=200)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_nothing_is_believed_of_a_file_with_a_damaged_byte(at: int, flip: int) -> None:
    assert parsed(WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]) is None


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1))
def test_nothing_is_believed_of_a_file_of_which_the_end_is_missing(length: int) -> None:
    assert parsed(WHOLE[:length]) is None


@pytest.mark.parametrize("data", [b"", b"x", WHOLE + b"\x00", b"\x00" * 64, WHOLE[:32] + b"\xff" * 80])
def test_nothing_is_believed_of_what_is_no_such_file(data: bytes) -> None:
    assert parsed(data) is None
