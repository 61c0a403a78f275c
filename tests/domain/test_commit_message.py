from __future__ import annotations

import re
import subprocess

from hypothesis import given, settings, strategies as st

from agent_memory.domain.commit_message import commit_message
from fixtures.secret_samples import base62


def test_subject_and_body_are_parted_by_an_empty_line() -> None:
    assert commit_message("consolidate: 2 notes", "a\nb\n") == "consolidate: 2 notes\n\na\nb\n"
    assert commit_message("remember: x") == "remember: x\n"


def test_an_empty_subject_still_makes_a_message() -> None:
    assert commit_message(" \n\x00") == "Update memories\n"


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


def test_git_itself_finds_no_trailer_in_a_hostile_body() -> None:
    message = commit_message("x", "text\n\nThread-Id: forged\nSigned-off-by: x <x@y>")
    parsed = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=message.encode(), capture_output=True, check=True
    )
    assert parsed.stdout == b""
