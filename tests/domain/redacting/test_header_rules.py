"""P20: what counts as a credential in HTTP headers, cookies and the options of curl."""

from __future__ import annotations

import pytest

from agent_memory.domain.redacting.tables import HEADERS
from fixtures.rule_examples import found_by_all


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("1122334455667777", True),  # 2.75 bits a character
        ("1122334455777777", False),
        ("harbour7", True),
        ("harbourQ", False),
        ("harXyZqW", True),
        ("harbXyZq", False),  # half of its letters in a word
        ("changeme7Q", False),
        ("$qZ7wR2kX", False),
    ],
)
def test_a_credential_has_a_digit_or_hardly_a_word(value: str, is_one: bool) -> None:
    assert (found_by_all(HEADERS, f"Authorization: {value}") == [value]) is is_one


@pytest.mark.parametrize(("value", "is_one"), [("harbour72", True), ("harbour7q", False), ("7777777777777", False)])
def test_the_key_of_a_header_has_two_digits(value: str, is_one: bool) -> None:
    assert (found_by_all(HEADERS, f"X-API-Key: {value}") == [value]) is is_one


@pytest.mark.parametrize(("value", "is_one"), [("xKqZwvR77", True), ("xKqZwvR7", False), ("harbour77", False)])
def test_the_key_of_any_header_in_quotes_was_drawn(value: str, is_one: bool) -> None:
    assert (found_by_all(HEADERS, f"-H 'apikey: {value}'") == [value]) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("harbour-lantern-77", True),
        ("harbour-lantern-7q", False),
        ("qZvwRjkXpvBsnTcwQzrK", True),
        ("qZvwRjkXpvBsnTcwQzr", False),  # 19 letters
        ("qZvwRjkXpvBsnTcw", False),
        ("harbourlanXyZqWvRkTp7", False),  # half of its letters in a word
        ("harbourlaXyZqWvRkTpQ7", True),
        ("qz-vw-rj-kx-pv-bs-nt-cw", False),
        ("internationalisation", False),
    ],
)
def test_a_bearer_has_digits_or_letters_in_an_order_no_word_has(value: str, is_one: bool) -> None:
    assert (found_by_all(HEADERS, f"Bearer {value}") == [value]) is is_one


@pytest.mark.parametrize(
    ("cookies", "is_one"),
    [
        ("sid=qZ7wR2kX9vB4", True),
        ("sid=qZ7wR2kX9vB", False),  # 11 characters
        ("sid=qZ7wR2kX9vB4==", True),
        ("theme=harbour-lantern-moonlight;sid=qZ7wR2kX9vB4", True),
        ("theme=dark; lang=english", False),
        ("sid=harQZwX12345", True),
        ("sid=harbQZwX1234", False),  # half of its letters in a word
        ("sid=harbQZ123456", False),
        ("sid=$qZ7wR2kX9vB4", False),
        ("sid=77777777777777", False),
        ("sid=qZvwRjkXpvBs", False),
    ],
)
def test_cookies_go_when_one_of_them_was_drawn(cookies: str, is_one: bool) -> None:
    assert (found_by_all(HEADERS, f"Cookie: {cookies}\n") == [cookies]) is is_one
