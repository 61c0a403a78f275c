"""How a session is opened again."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.domain.vocabulary import Harness, resume_command


def test_it_is_opened_where_it_took_place() -> None:
    command = resume_command(Harness.CLAUDE_CODE, "5f2c", "/srv/my shop")
    assert command == "cd '/srv/my shop' && claude --resume 5f2c"
    assert resume_command(Harness.CODEX, "5f2c", None) == "codex resume 5f2c"


@pytest.mark.parametrize("session_id", [None, "", "--dangerous", "a\nb", "a\u202eb", "a\x1b[2Jb"])
def test_an_id_that_is_none_makes_no_command(session_id: str | None) -> None:
    assert resume_command(Harness.CLAUDE_CODE, session_id, None) is None


def test_a_harness_without_such_a_command_has_none() -> None:
    assert resume_command(Harness.MANUAL, "5f2c", None) is None


@settings(max_examples=80)
@given(st.text(min_size=1, max_size=40), st.text(max_size=40))
def test_no_id_and_no_directory_is_anything_but_one_word(session_id: str, directory: str) -> None:
    """P21"""
    command = resume_command(Harness.CLAUDE_CODE, session_id, f"/{directory}")
    if command is not None:
        words = shlex.split(command)
        assert words[-3:] == ["claude", "--resume", session_id]
        assert words[:-3] in ([], ["cd", f"/{directory}", "&&"])
