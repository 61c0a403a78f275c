"""P20: which values are secrets where a name says secret, and which are words."""

from __future__ import annotations

import pytest

from agent_memory.domain.redacting.rule import ASSIGNMENTS
from fixtures.rule_examples import found_by_all, rules_made_anew
from fixtures.secret_samples import hexadecimal, uuid

_WORDS = "tangerinemonsoonharbour"
_HEX = "3f9ac04e71b8d25f60ea"


@pytest.mark.parametrize(
    "text",
    [
        f'"token": "{_WORDS}"',
        f"token: {_WORDS}",
        "ACME_TOKEN=changeme",
        f"<secret>{_WORDS}</secret>",
        "<secret>only some ordinary words</secret>",
        f"the token is {_WORDS}",
        f'variable "token" {{ default = "{_WORDS}" }}',
        "if password == 'required':",
        f"--token {_WORDS}",
        f"Using Key={_WORDS}",
        f"https://acme.io/v1?key={_WORDS}",
        f'("pass", "{_WORDS}7!")',
        f'("password", "{_WORDS}")',
    ],
)
def test_words_are_left_in_the_place_of_a_secret(text: str) -> None:
    assert found_by_all(rules_made_anew("ASSIGNMENTS"), text) == []


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("qZ7wR2", True),
        ("qZ7wR2:", True),
        ("qZ7wR2.", True),
        ("qZ7wR.", False),  # without the full stop too short
        ("qZ7wRX", True),
        ("tangerines", False),
    ],
)
def test_the_end_of_a_sentence_is_no_part_of_the_password(value: str, is_one: bool) -> None:
    assert (found_by_all(rules_made_anew("ASSIGNMENTS"), f"the password is {value}") == [value.rstrip(".:")]) is is_one


@pytest.mark.parametrize("value", ["acme {qZ7wR2kX9vB4nT6m}", "acme qZ7wR2kX9vB4nT6X", "('qZ7wR2kX9vB4nT6m', acme)"])
def test_an_element_goes_when_one_of_its_words_was_drawn(value: str) -> None:
    assert found_by_all(ASSIGNMENTS, f"<id>{value}</id>") == [value]


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("qZvwRjkX7vBsnTc4wQ9r", True),
        ("qZvwRjkX7vBsnTc4wQzr", False),  # two digits
        ("qZvwRjkX7vBsnTc4wQ9.", False),  # 19 characters
        (_HEX, False),
        (f"{_HEX}.", False),
        (f"{_HEX}X", True),
        (hexadecimal(64), False),
        (uuid(), False),
        ("qZ/vwR/jkX7/vBsnTc4wQ9r", True),
        ("qZ/vwR/jkX7/vBsn/Tc4wQ9r", False),  # a path
        ("sha512-qZvwRjkX7vBsnTc4wQ9r", False),
        ("tangerine777monsoonharbour", False),
    ],
)
def test_a_key_that_says_no_more_was_drawn_and_names_no_contents(value: str, is_one: bool) -> None:
    assert (found_by_all(ASSIGNMENTS, f"Using Key={value}") == [value]) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("monsoon", True),
        ("harbor", False),
        ("tangerine" * 4 + "abcd", True),
        ("tangerine" * 4 + "abcde", False),
        ("to be set", False),
        ("Expired", False),
        ("placeholder", False),
        ("$PASSWD", False),
        ("qZ7wR2", True),
    ],
)
def test_a_password_that_is_said_in_quotes_may_be_a_word_but_not_any(value: str, is_one: bool) -> None:
    assert (found_by_all(ASSIGNMENTS, f"the password is '{value}'") == [value]) is is_one
