from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.formats.content_file import Content, parse_content, render_content

CONTENT = Content({"a" * 64: b"row of a", "b" * 64: b""}, ["lamp", "", "port"])
WHOLE = render_content("1", CONTENT)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), st.binary()), st.lists(st.text()))
def test_what_is_read_is_what_was_written(rows: dict[str, bytes], words: list[str]) -> None:
    assert parse_content(render_content("1", Content(rows, words)), "1") == Content(rows, words)


def test_nothing_is_believed_of_another_program() -> None:
    assert parse_content(WHOLE, "1") == CONTENT
    assert parse_content(WHOLE, "2") == Content()


@settings(max_examples=100)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_nothing_is_believed_of_a_file_with_a_damaged_byte(at: int, flip: int) -> None:
    damaged = WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]
    assert parse_content(damaged, "1") == Content()


@pytest.mark.parametrize("data", [b"", b"x", WHOLE[:-1], WHOLE + b"\x00", b"\x00" * 64, WHOLE[:64]])
def test_nothing_is_believed_of_what_is_not_whole(data: bytes) -> None:
    assert parse_content(data, "1") == Content()
