"""Every rule of redaction is linear by its structure, and is reached by its keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agent_memory.redaction.redact import RULES
from agent_memory.redaction.rule import Rule
from fixtures.rule_examples import found_at

parser: Any = re._parser  # type: ignore[attr-defined]
constants: Any = re._constants  # type: ignore[attr-defined]


def _operations(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every operation of a parsed expression, inner ones included."""
    if isinstance(tree, parser.SubPattern):
        for operation, argument in tree:
            yield operation, argument
            yield from _operations(argument)
    elif isinstance(tree, (tuple, list)):
        for part in tree:
            yield from _operations(part)


def _limits(expression: str) -> list[int]:
    """The most of each repetition that may give back what it took."""
    greedy = (constants.MAX_REPEAT, constants.MIN_REPEAT)
    return [argument[1] for operation, argument in _operations(parser.parse(expression)) if operation in greedy]


def test_p20_every_repetition_is_bounded_or_possessive() -> None:
    for rule in RULES:
        assert all(limit is not constants.MAXREPEAT and limit <= 8_000 for limit in _limits(rule.expression)), rule.name
    assert _limits("a(?:b|c*)") == [constants.MAXREPEAT]


def test_keywords_are_lower_case_and_names_are_slugs() -> None:
    assert all(keyword and keyword == keyword.lower() for rule in RULES for keyword in rule.keywords)
    assert all(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", rule.name) for rule in RULES)


WORD = Rule("key", ("key-",), r"key-(?P<secret>[a-z]{3})", word=True)


@pytest.mark.parametrize(
    ("before", "is_found"),
    [
        ("", True),
        (" ", True),
        ("a_", True),
        ("a", False),
        ("7", False),
        ("\\n", True),
        ("\\t", True),
        ("an", False),
        ("\x1b[0m", True),
        ("\x1b[31;1mgreen \x1b[2K", True),
        ("\\u001b[0m", True),
        ("\\e[0m", True),
        ("[0m", False),
        ("\x1b[0m am", False),
        ("\x1b[0h", False),
        ("x" * 40 + "\x1b[0m", True),
    ],
)
def test_a_word_begins_after_no_letter_or_digit_an_escaped_space_or_a_colour(before: str, is_found: bool) -> None:
    text = f"{before}key-abc"
    at = len(before)
    assert found_at(WORD, text, at) == ((at + 4, at + 7) if is_found else None)
    assert found_at(WORD, text, at, {at}) == (at + 4, at + 7)  # where another secret ends
    assert found_at(Rule("key", ("key-",), WORD.expression), text, at) == (at + 4, at + 7)
