"""P21: a template becomes argv, and nothing that fills it can become more than one word."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from returns.result import Failure, Success

from agent_memory.config import StorageConfig
from agent_memory.domain.commit_message import (
    CommandTemplate,
    filled,
    one_word,
    parse_command_template,
)


def _parsed(text: str) -> CommandTemplate:
    return parse_command_template(text).unwrap()


def test_the_default_template_writes_the_thread_id_as_a_trailer() -> None:
    template = _parsed(StorageConfig().commit_hook)
    assert filled(template, {"threadId": "T-123", "harness": "amp"}) == ("--trailer", "Thread-Id: T-123")


def test_without_a_thread_id_the_trailer_is_left_out_and_the_rest_stays() -> None:
    template = _parsed(
        "git commit -s --trailer 'Thread-Id: {threadId}' --trailer=Harness={harness} --trailer Store:home"
    )
    assert filled(template, {"threadId": None, "harness": "pi"}) == (
        "-s",
        "--trailer=Harness=pi",
        "--trailer",
        "Store:home",
    )
    assert filled(template, {"threadId": " \n", "harness": None}) == ("-s", "--trailer", "Store:home")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must begin with `git commit`"),
        ("git push", "must begin with `git commit`"),
        ("/bin/sh -c 'git commit'", "must begin with `git commit`"),
        ("git -c core.hooksPath=. commit", "must begin with `git commit`"),
        ("git commit --amend", "--amend is not one of"),
        ("git commit -a", "-a is not one of"),
        ("git commit -m x", "-m is not one of"),
        ("git commit --file=/etc/passwd", "--file=/etc/passwd is not one of"),
        ("git commit topics", "topics is not one of"),
        ("git commit --trailer", "--trailer needs a value"),
        ("git commit --trailer 'A: {user}'", "names {user}, which is not one of {threadId}, {harness}"),
        ("git commit --trailer 'A", "cannot be split"),
    ],
)
def test_other_commands_and_options_are_refused_with_the_reason(text: str, problem: str) -> None:
    parsed = parse_command_template(text)
    assert isinstance(parsed, Failure)
    assert problem in parsed.failure()


@given(st.text())
def test_p21_whatever_the_thread_id_it_stays_one_argument_of_one_line(thread_id: str) -> None:
    options = filled(_parsed("git commit --trailer 'Thread-Id: {threadId}'"), {"threadId": thread_id})
    assert options in ((), ("--trailer", f"Thread-Id: {one_word(thread_id)}"))
    assert all(character.isprintable() and character not in " '\"`$;&|<>\\" for character in one_word(thread_id))


@given(st.text())
def test_every_template_is_either_parsed_or_refused_in_words(text: str) -> None:
    parsed = parse_command_template(text)
    assert isinstance(parsed, Success) or parsed.failure()
