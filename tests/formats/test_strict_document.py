"""What is not taken for JSON, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from returns.pipeline import is_successful
from returns.result import Failure, Success

from agent_memory.formats.strict_document import parse_strict_json


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is empty; an empty object is {}"),
        (b" \n", "it is empty; an empty object is {}"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark; save it as UTF-8 without one"),
        (b"{'a': 1}", "line 1, column 2: expecting property name enclosed in double quotes"),
        (b'{\n "a": 1,\n "b" 2}', "line 3, column 6: expecting ':' delimiter"),
        (b'{"a": 1} x', "line 1, column 10: extra data"),
        (b'{"a": 1, "a": 2}', 'the key "a" occurs twice in one object'),
        (b'{"b": {"a": 1, "a": 1}}', 'the key "a" occurs twice in one object'),
        (b"[NaN]", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b'"\xff"', "it is not UTF-8 text (byte 1)"),
        (b'"\\ud800"', "it holds half of a surrogate pair, which is no character"),
        (b'{"\\udfff": 1}', "it holds half of a surrogate pair, which is no character"),
        (b'"a\\u0000b"', "it holds the character \\u0000"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"[" * 66 + b"]" * 66, "it is nested too deeply"),
        (b"1" * 5_000, "a number in it is too long"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(content: bytes, problem: str) -> None:
    assert parse_strict_json(content) == Failure(problem)


def test_what_is_right_is_read() -> None:
    content = '{"a": [1, 2.5, true, null, "\\ud83d\\ude00 ü"], "b": {}}'.encode()
    assert parse_strict_json(content) == Success({"a": [1, 2.5, True, None, "😀 ü"], "b": {}})


@given(st.binary(max_size=80))
def test_any_bytes_have_a_reading_or_a_reason(content: bytes) -> None:
    result = parse_strict_json(content)
    assert is_successful(result) or result.failure()


@pytest.mark.shared
def test_the_json_test_suite_is_read_as_the_standard_says(shared: Path) -> None:
    seen = 0
    for path in sorted((shared / "corpora/json-test-suite").glob("*.json")):
        verdict = path.name.removeprefix("test_parsing__")[:2]
        accepted = is_successful(parse_strict_json(path.read_bytes()))
        if verdict == "n_":
            assert not accepted, path.name
        elif verdict == "y_":
            ours = (
                "duplicated_key",
                "null_in_string",
                "escaped_null",
                "u0000",
                "noncharacter",
                "allowed_escapes",
                "null_escape",
            )
            assert accepted or any(reason in path.name for reason in ours), path.name
        seen += 1
    assert seen > 100
