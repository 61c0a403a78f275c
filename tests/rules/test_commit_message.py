"""Messages, templates and paths of commits. P21: nothing that fills a template can become more than one word."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given, settings, strategies as st
from returns.result import Failure

from agent_memory.rules.commit_message import (
    CommandTemplate,
    commit_message,
    filled,
    one_word,
    parse_command_template,
    path_problem,
    wanted_of,
)
from fixtures.secret_samples import base62


def test_the_subject_is_one_line_and_bounded() -> None:
    message = commit_message("a\nb\r\n" + "x" * 500)
    assert message.startswith("a b xxx")
    assert len(message.splitlines()) == 1
    assert len(message) <= 121


def test_a_long_body_is_cut_with_a_count() -> None:
    message = commit_message("s", "\n".join(f"note {number}" for number in range(1_000)))
    assert message.endswith("… and 800 lines more\n")


def test_p20_no_secret_reaches_a_message() -> None:
    token = f"ghp_{base62(36)}"
    assert token not in commit_message(f"remember: {token}", f"create {token}")


@given(st.text(), st.text(alphabet=st.sampled_from("a \t\n\r#-:")))
@settings(max_examples=20, deadline=None)
def test_git_would_tidy_nothing_in_it(subject: str, body: str) -> None:
    message = commit_message(subject, body).encode("utf-8", "replace")
    tidied = subprocess.run(["git", "stripspace"], input=message, capture_output=True, check=True)
    assert tidied.stdout == message


@given(st.text(), st.text())
@settings(max_examples=40, deadline=None)
def test_a_body_cannot_forge_a_trailer(subject: str, body: str) -> None:
    message = commit_message(subject, f"{body}\n\nThread-Id: forged\nSigned-off-by: x")
    lines = message.split("\n")[2:]
    assert not any(re.match(r"[A-Za-z0-9-]+[ \t]*:", line) for line in lines)


def _parsed(text: str) -> CommandTemplate:
    return parse_command_template(text).unwrap()


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


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "topics/../../x", ".git/config", ".GIT/hooks/x", "a\0b"])
def test_p21_paths_that_leave_the_root_or_enter_git_are_refused(path: str) -> None:
    assert path_problem(path)


def test_a_directory_asks_for_everything_in_it_and_forms_of_unicode_are_one() -> None:
    changed = ("topics/a.md", "topics/cafe\u0301.md", "archive/id__x/1.md", "archive/id__xy/1.md")
    assert wanted_of(changed, ["archive/id__x"]) == ("archive/id__x/1.md",)
    assert wanted_of(changed, ["topics/caf\u00e9.md", "./topics/a.md"]) == ("topics/a.md", "topics/cafe\u0301.md")
