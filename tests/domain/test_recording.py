from __future__ import annotations

import pytest

from agent_memory.domain.commit_message import (
    holds_secret,
    is_bookkeeping,
    is_ignored,
    path_problem,
    wanted_of,
)
from fixtures.secret_samples import base62


@pytest.mark.parametrize("path", ["topics/a.md", "state/tiers.json", "-x", "a b\nc", "..a/b", "topics/.gitkeep"])
def test_paths_inside_the_root_may_be_recorded(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "topics/../../x", ".git/config", ".GIT/hooks/x", "a\0b"])
def test_p21_paths_that_leave_the_root_or_enter_git_are_refused(path: str) -> None:
    assert path_problem(path)


def test_what_is_transient_is_ignored_and_notes_are_not() -> None:
    ignored = (
        "inbox/a.json",
        "runs/x/plan.json",
        "histories/a",
        ".cache/i",
        ".transaction/x",
        "topics/.tmp-1",
        ".git.broken-1/HEAD",
    )
    assert all(is_ignored(path) for path in ignored)
    assert not any(
        is_ignored(path) for path in ("topics/inbox.md", "archive/id__a/1.md", ".gitignore", "state/tiers.json")
    )


def test_state_and_usage_are_ours() -> None:
    assert is_bookkeeping("usage/host.jsonl")
    assert not is_bookkeeping("topics/usage.md")


def test_a_directory_asks_for_everything_in_it_and_forms_of_unicode_are_one() -> None:
    changed = ("topics/a.md", "topics/cafe\u0301.md", "archive/id__x/1.md", "archive/id__xy/1.md")
    assert wanted_of(changed, ["archive/id__x"]) == ("archive/id__x/1.md",)
    assert wanted_of(changed, ["topics/caf\u00e9.md", "./topics/a.md"]) == ("topics/a.md", "topics/cafe\u0301.md")


def test_a_secret_counts_in_the_text_and_in_the_name() -> None:
    token = f"ghp_{base62(36)}"
    assert holds_secret("topics/a.md", f"x {token}")
    assert holds_secret(f"topics/{token}.md", "")
    assert not holds_secret("topics/a.md", "plain")
