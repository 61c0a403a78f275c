"""P20: each rule of every table finds what it is there for, and leaves what is one character short of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_memory.redaction.redact import RULES
from agent_memory.redaction.rule import Rule
from fixtures.rule_examples import (
    ADDRESS_EXAMPLES,
    ASSIGNED_EXAMPLES,
    HEADER_EXAMPLES,
    TOKEN_EXAMPLES,
    VENDOR_EXAMPLES,
    Example,
    found_by,
    rules_made_anew,
)

_TABLES = {
    "TOKENS": TOKEN_EXAMPLES,
    "ADDRESSES": ADDRESS_EXAMPLES,
    "VENDORS": VENDOR_EXAMPLES,
    "HEADERS": HEADER_EXAMPLES,
    "ASSIGNMENTS": ASSIGNED_EXAMPLES,
}
"""The examples of each table."""
_OF_ONE_SHAPE = ("TOKENS", "VENDORS")


def _finders(example: Example, rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule.name == example.name and example.secret in found_by(rule, example.text)]


def test_the_tables_are_all_the_rules_there_are() -> None:
    assert sum(len(rules_made_anew(table)) for table in _TABLES) == len(RULES)


@pytest.mark.parametrize("table", _TABLES)
def test_p20_every_example_is_found_by_a_rule_of_its_name(table: str) -> None:
    rules = rules_made_anew(table)
    assert [each for each in _TABLES[table] if not _finders(each, rules)] == []


@pytest.mark.parametrize("table", _TABLES)
def test_p20_every_rule_has_an_example(table: str) -> None:
    rules = rules_made_anew(table)
    tried = {id(rule) for each in _TABLES[table] for rule in _finders(each, rules)}
    assert [(rule.name, rule.keywords) for rule in rules if id(rule) not in tried] == []


@pytest.mark.parametrize("table", _OF_ONE_SHAPE)
def test_what_is_one_character_short_of_a_shape_is_left(table: str) -> None:
    rules = rules_made_anew(table)
    shorter = [
        Example(each.name, each.text.replace(each.secret, each.secret[:-1]), each.secret[:-1])
        for each in _TABLES[table]
    ]
    assert [
        each
        for each, less in zip(_TABLES[table], shorter, strict=True)
        if _finders(each, rules) == _finders(less, rules)
    ] == []


def test_a_mask_in_the_shape_of_a_secret_is_left() -> None:
    rules = rules_made_anew("TOKENS")
    assert [text for text in (f"ghp_{'x' * 36}", f"xai-{'7' * 60}") for rule in rules if found_by(rule, text)] == []


def test_some_shapes_are_found_inside_a_word_and_others_where_one_begins() -> None:
    rules = rules_made_anew("TOKENS")
    inside, ahead = (next(each for each in TOKEN_EXAMPLES if each.name == name) for name in ("github-token", "xai-key"))
    for text in (inside.secret, f"word{inside.secret}", ahead.secret, f"word_{ahead.secret}"):
        assert [rule.name for rule in rules if found_by(rule, text)], text
    assert [rule.name for rule in rules if found_by(rule, f"word{ahead.secret}")] == []
