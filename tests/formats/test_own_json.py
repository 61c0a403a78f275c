"""What is read of our own files can be written again (P6)."""

from __future__ import annotations

import pytest

from agent_memory.formats.own_json import own_value


@pytest.mark.parametrize("text", ['{"a": [1, 1.5, "é", null, true]}', b'{"a": [1, 1.5, "\xc3\xa9", null, true]}'])
def test_json_is_its_value(text: str | bytes) -> None:
    assert own_value(text) == {"a": [1, 1.5, "é", None, True]}


def test_a_surrogate_pair_is_a_character() -> None:
    assert own_value(r'"\ud83d\ude00"') == "😀"


@pytest.mark.parametrize(
    "text",
    ['{"a": "\\ud800"}', '{"\\udfff": 1}', "[NaN]", "[1e999]", "[-Infinity]", "{", "", b'"\xff"', b'"\xed\xa0\x80"'],
)
def test_what_we_cannot_have_written_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        own_value(text)


def test_what_is_nested_too_deeply_is_a_recursion_error() -> None:
    with pytest.raises(RecursionError):
        own_value("[" * 100_000)
