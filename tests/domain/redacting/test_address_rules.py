"""P20: what counts as a password, a token or an account in URLs, connection strings and commands."""

from __future__ import annotations

import base64

import pytest

from agent_memory.domain.redacting.tables import ADDRESSES
from fixtures.rule_examples import found_by_all


@pytest.mark.parametrize(
    ("password", "is_one"),
    [
        ("aB3", True),
        ("aB", False),
        ("aab3", True),
        ("aa3", False),  # two different characters
        ("tangerine", True),
        ("changeme", False),
        ("$PASS", False),
    ],
)
def test_the_password_of_a_url_is_any_literal(password: str, is_one: bool) -> None:
    assert (found_by_all(ADDRESSES, f"postgres://web:{password}@db.acme.io/web") == [password]) is is_one


@pytest.mark.parametrize(
    ("token", "is_one"),
    [
        ("qZvwRjkX7vBsnTc4wQzr", True),
        ("qZvwRjkX7vBsnTcxwQzr", False),  # one digit
        ("qZvwRjkX7vBsnTc4wQz", False),  # 19 characters
        ("77777777777777777777", False),
        ("harbours12QZ34567890", False),  # eight letters of ten in a word
        ("harbour12QZ3X4567890", True),
        ("harbour-lantern-2026", False),
        ("%qZ7wR2kX9vB4nT6mQ1%", False),  # a variable
    ],
)
def test_the_token_of_a_url_was_drawn(token: str, is_one: bool) -> None:
    assert (found_by_all(ADDRESSES, f"https://{token}@git.acme.io/web.git") == [token]) is is_one


@pytest.mark.parametrize(("password", "is_one"), [("7391846q", True), ("7391846", False), ("aaa3aaa", False)])
def test_the_password_of_a_database_client_is_no_number(password: str, is_one: bool) -> None:
    assert (found_by_all(ADDRESSES, f"mysql -u root -p{password} web") == [password]) is is_one


@pytest.mark.parametrize(
    ("auth", "is_one"),
    [
        (base64.b64encode(b"ana:tangerines").decode(), True),
        (base64.b64encode(b"ana:tangerines!").decode() + "=", True),  # one sign too many
        (base64.b64encode(b"ana-tangerines").decode(), False),
        ("abcdefghijklm", False),  # no base64
    ],
)
def test_what_docker_keeps_holds_a_user_and_a_password(auth: str, is_one: bool) -> None:
    assert (found_by_all(ADDRESSES, f'{{"auth": "{auth}"}}') == [auth]) is is_one


@pytest.mark.parametrize(
    ("user", "is_one"),
    [
        ("ana:q7Z", True),
        ("ana:q7", False),
        ("ana:12", False),
        ("ana:1000", False),
        ("ana:12:34", True),
        ("'tangerine7:'", True),  # a key in the place of the user
        ("tangerine7:", True),
        ("ana:", False),
        ("'ana:'", False),
        ("readonly:", False),
        ("k7m2p9x:", False),  # too short for a key
        ("k7m2p9xq:", True),
        ("12345678:", False),
        ("'tangerine7'", False),
        ("ana:changeme", False),
        ("ana:password", False),
        ('ana:"password"', False),
        ("ana:XpasswordX", True),
        ("ana:${PASS}7q", False),
        ("tangerine7:tangerine7", False),
        ('"tangerine7:tangerine7"', False),
        ("Xtangerine7:tangerine7", True),
    ],
)
def test_a_user_goes_with_the_password(user: str, is_one: bool) -> None:
    assert (found_by_all(ADDRESSES, f"curl -u {user} https://acme.io") == [user]) is is_one
