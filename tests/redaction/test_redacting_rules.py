"""P20: each rule finds what it is there for, leaves what is one character short of it, and is linear by its structure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agent_memory.redaction.redact import redact
from agent_memory.redaction.rule import RULES, Rule
from fixtures.rule_examples import EXAMPLES, SHAPED, Example, found_by

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


def _finders(example: Example) -> list[Rule]:
    own = (rule for rule in RULES if rule.name == example.name and rule.reads != "whole")
    return [rule for rule in own if example.secret in found_by(rule, example.text)]


def test_p20_every_rule_has_an_example_and_every_example_a_rule_of_its_name() -> None:
    finders = [_finders(each) for each in EXAMPLES]
    assert [each for each, found in zip(EXAMPLES, finders, strict=True) if not found] == []
    tried = {(rule.name, rule.expression) for found in finders for rule in found}
    assert {(rule.name, rule.expression) for rule in RULES if rule.reads != "whole"} - tried == set()


def test_what_is_one_character_short_of_a_shape_is_left() -> None:
    shorter = [
        Example(each.name, each.text.replace(each.secret, each.secret[:-1]), each.secret[:-1]) for each in SHAPED
    ]
    assert [each for each, less in zip(SHAPED, shorter, strict=True) if _finders(each) == _finders(less)] == []


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
        ("x" * 40 + "\x1b[0m", True),
    ],
)
def test_some_shapes_are_found_inside_a_word_and_others_where_one_begins(before: str, is_found: bool) -> None:
    inside, ahead = (next(each.secret for each in SHAPED if each.name == name) for name in ("gcp-api-key", "xai-key"))
    assert redact(f"{before}{inside}").text == f"{before}[redacted:gcp-api-key]"
    assert redact(f"{before}{ahead}").text == f"{before}{'[redacted:xai-key]' if is_found else ahead}"
    assert redact(f"{before}{inside}{ahead}").text == f"{before}[redacted:gcp-api-key][redacted:xai-key]"
