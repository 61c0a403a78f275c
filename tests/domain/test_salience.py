from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.text.salience import (
    actionable_tokens,
    lost_salience,
    salient_tokens,
)

ORACLE = re.compile(
    r"`[^`\n]{2,80}`|https?://[^\s)>\]]+|(?:[\w.-]+/)+[\w.-]+|\b[A-Za-z]+(?:[._-][A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b"
    r"|\b[A-Z]{2,}[A-Z0-9_]*\b|\b\d[\d.,:]*\d\b"
)
"""What an independent check of the store holds for salient (P12): we must hold at least that."""

PROSE = (
    "never do not use `npm ci` in src/app/main.py at 8080 or 10.5 because HTTP_PROXY and fooBar x.y.z https://a.io/b?c=1 `a`b` "
    "1. 2) 7 don't MAX ünïcode_é é/è/ê - -- \n ``` ~~~"
)
WORDS = st.sampled_from(PROSE.split(" "))
TEXTS = st.lists(WORDS, max_size=25).map(" ".join) | st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("Run `bun test --rerun 2` in CI", "bun test --rerun 2"),
        ("See https://example.org/a?b=1.", "https://example.org/a?b=1."),
        ("in src/agent/main.py", "src/agent/main.py"),
        ("the retry_budget", "retry_budget"),
        ("calls fetchUser", "fetchuser"),
        ("a LoadSettings call", "loadsettings"),
        ("set HTTP_PROXY", "http_proxy"),
        ("listens on 8080", "8080"),
        ("retries 3 times", "3"),
        ("pass --no-verify", "--no-verify"),
        ("from @scope/pkg", "@scope/pkg"),
        ("version 2.0.64", "2.0.64"),
        ("fixed in #123", "#123"),
        ("reads $HOME", "$home"),
        ("under /etc/hosts", "/etc/hosts"),
        ("up to MAX", "max"),
    ],
)
def test_what_is_salient(text: str, token: str) -> None:
    assert token in salient_tokens(text)


def test_prose_and_the_numbers_of_a_list_are_not_salient() -> None:
    assert salient_tokens("The cache is stale after a restart\n1. first\n2. second") == frozenset()


def test_actionable_is_what_could_be_typed_or_opened() -> None:
    assert actionable_tokens("Run `make x` with --fast in src/app, see https://a.io on port 80") == {
        "make x",
        "--fast",
        "src/app",
        "https://a.io",
    }


def test_a_lost_number_is_named() -> None:
    assert lost_salience("The port is 8080.", "The port is 9090.") == ("8080",)
    assert lost_salience("The port is 80.", "The port is 8080.") == ("80",)
    assert lost_salience("Version 1.5 is out", "Version 11.5 and 1.5.2 are out") == ("1.5",)
    assert lost_salience("Version 1.5 is out", "Version 2.1.5 is out") == ("1.5",)
    assert lost_salience("The port is 80.", "x80 is up.") == ("80",)
    assert lost_salience("The port is 80.", "my_80 is up.") == ("80",)
    assert lost_salience("The port is 80.", "80_my is up.") == ("80",)
    assert lost_salience("It is https://a.io/", "It is https://a.io/x") == ()


def test_a_token_that_is_named_in_drops_may_go() -> None:
    assert lost_salience("The port is 8080.", "The port is 9090.", ["port 8080"]) == ()
    assert lost_salience("The port is 8080.", "The port is 9090.", ["18080"]) == ("8080",)


def test_code_may_lose_its_backticks_but_not_its_words() -> None:
    assert lost_salience("Use `npm ci`.", "Use npm ci.") == ()
    assert lost_salience("Use `npm ci`.", "npm ci is used.") == ()
    assert lost_salience("Use `npm ci`.", "Use npm.") == ("npm ci",)


def test_a_turned_negation_is_lost() -> None:
    assert lost_salience("Never push to main.", "Push to main.") == ("Never push to main",)
    assert lost_salience("Não use yarn.", "Use yarn.") == ("Não use yarn",)


def test_a_negation_may_be_said_in_other_words() -> None:
    assert lost_salience("Never push to main.", "Do not push to main.") == ()
    assert lost_salience("Don't use npm; use pnpm.", "Use pnpm, not npm.") == ()


def test_a_negation_of_one_thing_does_not_stand_for_another() -> None:
    assert lost_salience("Never push to main.", "Push to main. Never delete logs.") == ("Never push to main",)


def test_a_negation_that_is_named_in_drops_may_go() -> None:
    assert lost_salience("Never push to main.", "Push to main.", ["never push"]) == ()


@settings(deadline=None)
@given(TEXTS)
def test_nothing_is_lost_in_the_same_text(text: str) -> None:
    assert lost_salience(text, text) == ()
    assert lost_salience(text, f"more\n{text}\nmore") == ()


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_what_is_not_lost_is_there_by_an_independent_check(before: str, after: str) -> None:
    """P12: an independent check finds every token of `before` in `after`, unless we call it lost."""
    held = {token.strip("`").strip().lower() for token in ORACLE.findall(before)}
    assert {token for token in held if token not in after.lower()} <= set(lost_salience(before, after))
