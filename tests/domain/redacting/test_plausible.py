"""P20: which values are secrets, and which are placeholders, references, words or code; both sides of every limit."""

from __future__ import annotations

import pytest

from agent_memory.domain.redacting.rule import (
    is_drawn,
    is_key,
    is_password,
    is_placeholder,
    is_reference,
    is_strong_password,
    is_unquoted_password,
)
from fixtures.secret_samples import uuid

_MIXED = "qZ7wR2kX9vB4nT6m"
"""Sixteen characters, none twice."""


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        # a row of neighbours makes up a third of it
        ("abcdefgh" + "Z7w-R2k-X9v-B4nT", True),
        ("abcdefgh" + "Z7w-R2k-X9v-B4nT_", False),
        ("Z7w-R2k" + "ABCDEFGH" + "-X9v-B4nT", True),
        ("Z7w-R2k" + "ABCDEFGH" + "-X9v-B4nT_", False),
        ("bcdefghi" + "Z7w", False),  # a row, but none that people type
        ("Z7" + "12345678", True),
        ("qwertyui-op", True),
        # only its beginning is read
        (_MIXED * 9 + "Z7-your", True),
        (_MIXED * 10 + "-your-key", False),
    ],
)
def test_a_placeholder_says_so_or_counts_up(value: str, is_one: bool) -> None:
    assert is_placeholder(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(_MIXED * 9 + "Z7-${KEY}", True), (_MIXED * 10 + "${KEY}", False), (_MIXED, False), ("config.key", True)],
)
def test_a_reference_shows_in_the_beginning(value: str, is_one: bool) -> None:
    assert is_reference(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("xK7", True),
        ("xKqZ", False),
        ("739184", False),
        ("abcdef1G2H3J4K", True),  # six letters of ten in a long run
        ("abcdefg1H2J3K", False),
        ("ABCDEF1g2h3j4k", True),
        ("ABCDEFG1h2j3k", False),
        ("abc1def2ghi3", True),  # no run is long
    ],
)
def test_what_was_drawn_has_digits_among_letters_of_no_word(value: str, is_one: bool) -> None:
    assert is_drawn(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("aB3$5", False),
        ("aB3$56", True),
        ((_MIXED * 13)[:200], True),
        ((_MIXED * 13)[:201], False),
        ("aB3$56:", False),
        ("aB3 $56", False),
        ("aB3\t$56", False),
        ("changeme1!", False),
        ("${aB3$56}", False),
        ("harbour7.yaml", False),
        ("harbour7.lantern", True),
        ("aBcDeFgH", False),  # neither digit nor symbol
        ("abcde7", True),
        ("ABCDE7", True),
        ("abcde!", True),
        ("ABCDE!", True),
        ("7391!846", True),
        ("7391846205", False),
        ("!@%=~!@%=~", False),
        ("aaab7c", False),  # four different characters
        ("aabd7c", True),
    ],
)
def test_a_password_mixes_kinds_of_characters(value: str, is_one: bool) -> None:
    assert is_password(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("tangerin7Q", True),
        ("tangerine7Q", False),  # nine letters of ten in a word
        ("tangerine77", False),
        ("tangerQ", False),  # no password
        ("abcXY7.defZW", False),  # a path of identifiers
    ],
)
def test_an_unquoted_password_is_no_prose_and_no_code(value: str, is_one: bool) -> None:
    assert is_unquoted_password(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("aBqZ7rTykW2v", True),
        ("aBqZ7rTykW2", False),
        ("aBcDq!RtYz7v", True),
        ("aBcDq!RtYzWv", False),
        ("abqz7rtykw2v", False),
        ("Tangerines77", False),
    ],
)
def test_a_strong_password_is_long_and_of_three_kinds(value: str, is_one: bool) -> None:
    assert is_strong_password(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (_MIXED, True),
        (_MIXED[:15], False),
        ("qZvwRjkX9vBsnTc4", True),
        ("qZvwRjkXpvBsnTc4", False),  # one digit
        ("qZ7wR2kX 9vB4nT6m", False),
        ("qZ7wR2kX-your-B4nT", False),
        ("qZ7wR2kX{{9vB4nT", False),
        ("qZ7wR2kX9vB4n.json", False),
        (uuid(), True),
        ("11111111-1111-1111-1111-111111111112", True),
        # bits a character: hexadecimal has only sixteen different ones
        ("1122334455667788", True),  # 3
        ("1122334455667777", False),  # 2.75
        ("zz22334455667788", False),  # 3, and no hexadecimal
        ("z4z4q5q5k6k6778wv9", True),  # 3.5
        # words, and what is no word
        ("abcQ7defQ8ghiQ9jklR", True),
        ("harbour-lantern-2026", False),
        ("harbour1Q2Z3X459", False),  # seven letters of ten in a word
        ("abcd1efgh2ijkl3mnop", True),  # words by their letters, but four groups of digits
        ("Abc1Def2Ghi3Jkl4", True),  # words by their letters, and no long run
        ("harbQ1lantZ2moonX3q", False),
    ],
)
def test_a_key_was_drawn_at_random(value: str, is_one: bool) -> None:
    assert is_key(value) is is_one
