"""P20: which values are secrets, and which are placeholders, references, words or code; both sides of every limit."""

from __future__ import annotations

import pytest

from agent_memory.domain.redacting.rule import (
    digits_in,
    entropy_bits,
    is_drawn,
    is_environment_value,
    is_hex,
    is_key,
    is_password,
    is_placeholder,
    is_plain_password,
    is_reference,
    is_strong_password,
    is_unquoted_password,
    is_uuid,
    tokenlike,
    varied,
    worded_share,
)
from fixtures.secret_samples import uuid

_MIXED = "qZ7wR2kX9vB4nT6m"
"""Sixteen characters, none twice."""


def test_entropy_weighs_each_character_by_its_share() -> None:
    assert entropy_bits("aab") == pytest.approx(0.9183, abs=1e-4)
    assert entropy_bits(_MIXED) == 4
    assert entropy_bits("") == 0


def test_only_ascii_digits_are_digits() -> None:
    assert digits_in("a1b23٣") == 3


def test_the_share_of_words_is_of_the_letters() -> None:
    assert worded_share("Token9xQ") == 5 / 7
    assert worded_share("TOKEN-xq") == 5 / 7
    assert worded_share("Toke9nQ") == 4 / 6
    assert worded_share("1234") == 0


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


def test_a_uuid_and_hexadecimal_are_such_as_a_whole() -> None:
    one = uuid()
    assert (is_uuid(one), is_uuid(f"{one}0"), is_uuid(one.replace("-", ""))) == (True, False, False)
    assert (is_hex("0xAb09"), is_hex("ab09"), is_hex("ab0g"), is_hex("0x")) == (True, True, False, False)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("abcd", True),  # 2 bits
        ("aabc", False),  # 1.5
        ("aabbccddeeffgghh", True),  # 16 characters of 3 bits
        ("aabbccddeeffff", True),  # 14 of 2.5
        ("aaabbbcccdddefg", True),  # 15 of 2.6
        ("aaabbbcccdddefgg", False),  # 16 of 2.75
        ("aB3dE6gH9kL2xxxx", True),
        ("aB3dE6gH9kL2xXXxx", False),
    ],
)
def test_a_varied_value_is_no_mask(value: str, is_one: bool) -> None:
    assert varied(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("aZ7bQ9cR1", True),
        ("aZ7bQ9cRd", False),  # two digits
        ("abc7Z9k142", True),
        ("abc7Z9142", False),  # three letters of four in a run
        ("token7192", False),
        ("777777777", False),
    ],
)
def test_a_token_is_varied_has_digits_and_no_words(value: str, is_one: bool) -> None:
    assert tokenlike(value) is is_one


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
        ("monsoon", False),
        ("monsoons", True),
        ("tangerine" * 4 + "abcd", True),
        ("tangerine" * 4 + "abcde", False),
        ("monsoon7", False),
        ("abcabcabc", False),
        ("abcdabcd", True),
        ("placeholder", False),
    ],
)
def test_a_plain_password_is_one_long_word(value: str, is_one: bool) -> None:
    assert is_plain_password(value) is is_one


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
        ("abcdef", True),
        ("abcde", False),
        ("739184", False),
        ("7391846", False),
        ("aaabbc", False),
        ("aabbcd", True),
        ("changeme", False),
        ("$PASSWORD", False),
        ("lamp.conf", False),
    ],
)
def test_an_environment_value_is_any_literal_that_is_no_placeholder(value: str, is_one: bool) -> None:
    assert is_environment_value(value) is is_one


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


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("tangerine7orchard2monsoon9", True),
        ("TANGERINE7ORCHARD2MONSOON9", True),
        ("Tangerine7orchard2monsoon9", False),
        ("tangerine7-orchard2monsoon9", False),
        ("tangerine7orchard2monsoon", False),
        ("tangerineorchardmonsoonharbour72", True),  # 32 characters
        ("tangerineorchardmonsoonharbou72", False),
    ],
)
def test_a_long_run_of_one_case_is_a_key_though_it_is_made_of_words(value: str, is_one: bool) -> None:
    assert is_key(value) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("abcXY.defZW.ghiVU22", False),
        ("abcXY7->defZW9.ghiVU", False),
        ("abcXY7::defZW9.ghiVU", False),
        ("abcXY7?.defZW9.ghiVU", False),
        ("abcXYdefZ.ghiVUklm22", False),
        ("abcXYdefZWghiVUjkl22", True),  # one part alone
        ("abcXY..defZW.ghiVU22", False),
        ("9abcXY.defZW.ghiVU22", True),  # no identifier
        ("abcXyZ.defZW.ghiVU22", True),  # half of its letters in words
    ],
)
def test_a_path_of_identifiers_is_no_key(value: str, is_one: bool) -> None:
    assert is_key(value) is is_one
