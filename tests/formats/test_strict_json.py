"""What is not taken for JSON, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from agent_memory.formats.json_codec import NotJson, load_document, load_json


def refusal(content: bytes) -> str | None:
    try:
        load_document(content)
    except NotJson as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n", "it is empty; an empty object is {}"),
        (b"{'a': 1}", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        (b'{\n "a": 1,\n "b" 2}', "not JSON: Expecting ':' delimiter at line 3, column 6"),
        (b'{"a": 1} x', "not JSON: Extra data at line 1, column 10"),
        (b'{"b": {"a": 1, "a": 1}}', "not JSON: the key 'a' stands twice in one object"),
        (b"[NaN]", "not JSON: NaN is no number"),
        (b"[-Infinity]", "not JSON: -Infinity is no number"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b'"\\ud800"', "it holds half of a surrogate pair, which is no character"),
        (b'{"\\udfff": 1}', "it holds half of a surrogate pair, which is no character"),
        (b'"a\\u0000b"', "it holds the character \\u0000"),
        (b"[" * 100_000, "not JSON: nested too deeply"),
        (b"[" * 66 + b"]" * 66, "not JSON: nested too deeply"),
        (b"1" * 5_000, "not JSON: a number has 5,000 digits"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(content: bytes, problem: str) -> None:
    assert refusal(content) == problem


def test_what_is_right_is_read() -> None:
    content = '{"a": [1, 2.5, true, null, "\\ud83d\\ude00 ü"], "b": {}}'.encode()
    assert load_document(content) == {"a": [1, 2.5, True, None, "😀 ü"], "b": {}}
    assert load_json('\ufeff{"half": "\\ud800"}') == {"half": "\ud800"}


@given(st.binary(max_size=80))
def test_any_bytes_have_a_reading_or_a_reason(content: bytes) -> None:
    assert refusal(content) != ""


@pytest.mark.shared
def test_the_json_test_suite_is_read_as_the_standard_says(shared: Path) -> None:
    ours = (
        *("duplicated_key", "null_in_string", "escaped_null", "u0000", "noncharacter", "allowed_escapes"),
        "null_escape",
    )
    seen = 0
    for path in sorted((shared / "corpora/json-test-suite").glob("*.json")):
        verdict = path.name.removeprefix("test_parsing__")[:2]
        accepted = refusal(path.read_bytes()) is None
        if verdict == "n_" and "BOM" not in path.name.upper():
            assert not accepted, path.name
        elif verdict == "y_":
            assert accepted or any(reason in path.name for reason in ours), path.name
        seen += 1
    assert seen > 100
