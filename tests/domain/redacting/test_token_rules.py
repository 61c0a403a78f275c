"""P20: which values in the shape of a token are one, where the shape alone is no proof."""

from __future__ import annotations

import base64

import pytest

from agent_memory.domain.redacting.tables import TOKENS
from fixtures.rule_examples import found_by_all, rules_made_anew
from fixtures.secret_samples import base64_text


@pytest.mark.parametrize(
    ("drawn", "is_one"),
    [("QZVWRJKXPVBSNTCWQZRKMH7392", True), ("QZVWRJKXPVBSNTCWQZRKMHD392", False), ("7" * 26, False)],
)
def test_a_key_of_capitals_has_four_digits(drawn: str, is_one: bool) -> None:
    assert (found_by_all(TOKENS, f"API-{drawn}") == [f"API-{drawn}"]) is is_one


@pytest.mark.parametrize(
    ("drawn", "is_one"), [("QZVWRJKXPVB2NTCW", True), ("QZVWRJKX2EXAMPLE", False), ("A" * 16, False)]
)
def test_a_key_id_is_no_mask_and_no_example(drawn: str, is_one: bool) -> None:
    assert (found_by_all(TOKENS, f"AKIA{drawn}") == [f"AKIA{drawn}"]) is is_one


@pytest.mark.parametrize(
    ("drawn", "is_one"),
    [
        ("qZvwRjkXpvBsnTcwQzrKmhD7", True),
        ("qZvwRjkXpvBsnTcwQzrKmhDg", False),
        ("qzvwrjkxpvbsntcwqzrkmhd7", False),
        ("QZVWRJKXPVBSNTCWQZRKMHD7", False),
        ("aAaAaAaAaAaAaAaAaAaAaAa7", False),
    ],
)
def test_a_short_token_of_vault_mixes_digits_and_both_cases(drawn: str, is_one: bool) -> None:
    assert (found_by_all(TOKENS, f"s.{drawn}") == [f"s.{drawn}"]) is is_one


@pytest.mark.parametrize(
    ("label", "is_one"),
    [("PRIVATE KEY", True), ("ENCRYPTED PRIVATE KEY", True), ("CERTIFICATE", False), ("PUBLIC KEY", False)],
)
def test_base64_of_a_private_key_is_told_from_that_of_a_certificate(label: str, is_one: bool) -> None:
    encoded = base64.b64encode(f"-----BEGIN {label}-----\n{base64_text(64)}".encode()).decode()
    assert (found_by_all(TOKENS, encoded) == [encoded]) is is_one


@pytest.mark.parametrize(
    ("secret", "is_one"),
    [
        ("qZvw/jkX7vBsnTc4wQzrKmhD9pLgFyHt+JdNbVxC", True),
        ("qZvw/jkX7vBsnTc4wQzrKmhDqpLgFyHt+JdNbVxC", False),  # two digits
        ("7" * 40, False),
    ],
)
def test_what_stands_behind_a_key_id_was_drawn(secret: str, is_one: bool) -> None:
    assert (secret in found_by_all(TOKENS, f"AKIAQZVWRJKXPVB2NTCW {secret}")) is is_one


_WORDS = ["ribbon", "velvet", "cactus", "orbit", "lunar", "saddle", "tonic", "hazard", "mimic", "walnut"]


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        ([*_WORDS, "ribbon", "velvet"], True),
        ([*_WORDS[:9], "ribbon", "velvet", "cactus"], False),  # three of them twice
        ([*_WORDS, "the", "fossil"], False),
    ],
)
@pytest.mark.parametrize("between", [" ", ",", ", "])
def test_a_seed_phrase_hardly_repeats_a_word_and_is_no_sentence(words: list[str], is_one: bool, between: str) -> None:
    phrase = between.join(words)
    assert (found_by_all(TOKENS, f"mnemonic: {phrase}") == [phrase]) is is_one


@pytest.mark.parametrize(
    ("place", "secret", "is_one"),
    [
        ("algolia", "qzvwrjkxpvbsntcwqzrkmhdgplfyht72", True),
        ("algolia", "qzvwrjkxpvbsntcwqzrkmhdgplfyhtx2", False),  # one digit
        ("algolia", "7" * 32, False),
        ("algolia", "abcdefghijklmnop12345678qzvwrjkx", False),  # counts up
        ("linkedin", "aaabbbcc77dd9q", True),  # 2.6 bits a character
        ("linkedin", "aaaabbbb77779q", False),  # 2
    ],
)
def test_beside_the_name_of_an_issuer_stands_something_random(place: str, secret: str, is_one: bool) -> None:
    assert (found_by_all(rules_made_anew("VENDORS"), f"{place}_admin = '{secret}'") == [secret]) is is_one
