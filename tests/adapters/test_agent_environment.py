"""What an agent command sees of our environment, and how an agent that calls us is recognised (P21, P23)."""

from __future__ import annotations

import pytest

from agent_memory.adapters.agent.agent_environment import (
    HARNESS_VARIABLES,
    caller_of,
    child_environment,
    depth_of,
)
from agent_memory.domain.entry import Caller
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import ActRefused

EDITOR_TERMINAL = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_SSE_PORT": "12345",
    "CURSOR_TRACE_ID": "abc",
    "GEMINI_CLI_IDE_SERVER_PORT": "4711",
    "VSCODE_PID": "17",
    "TERM_PROGRAM": "vscode",
    "CODEX_HOME": "/home/ann/.codex",
    "OPENCODE_CONFIG": "/home/ann/opencode.json",
}


def test_our_secrets_are_not_passed_to_an_agent_command_p21() -> None:
    ours = {
        "PATH": "/usr/bin",
        "HOME": "/home/ann",
        "LC_ALL": "pt_PT.UTF-8",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "https_proxy": "http://proxy:3128",
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
        "DATABASE_URL": "x",
        "LD_PRELOAD": "x",
        "GIT_DIR": "x",
        "AGENT_MEMORY_ROOT": "x",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "PATH_TO_SECRET": "x",
    }
    assert child_environment(ours, (), {}) == {
        "PATH": "/usr/bin",
        "HOME": "/home/ann",
        "LC_ALL": "pt_PT.UTF-8",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "https_proxy": "http://proxy:3128",
        "AGENT_MEMORY_DEPTH": "1",
    }


def test_what_is_asked_for_by_name_is_passed() -> None:
    child = child_environment({"MY_TOKEN": "t", "OTHER": "o"}, ["MY_TOKEN", "ABSENT"], {"A": "b"})
    assert child == {"MY_TOKEN": "t", "A": "b", "AGENT_MEMORY_DEPTH": "1"}


def test_nothing_overrides_the_depth_p23() -> None:
    child = child_environment({"AGENT_MEMORY_DEPTH": "3"}, ["AGENT_MEMORY_DEPTH"], {"AGENT_MEMORY_DEPTH": "0"})
    assert child == {"AGENT_MEMORY_DEPTH": "4"}


@pytest.mark.parametrize(
    ("value", "depth"), [("", 0), ("0", 0), ("1", 1), (" 2 ", 2), ("yes", 1), ("-1", 1), ("٣", 1), ("9" * 5000, 1)]
)
def test_a_depth_that_is_no_number_counts_as_one_p23(value: str, depth: int) -> None:
    assert depth_of({"AGENT_MEMORY_DEPTH": value}) == depth


def test_every_harness_with_an_agent_of_its_own_is_recognised() -> None:
    found = caller_of({"CLAUDE_CODE_CHILD_SESSION": "1"})
    assert found == Caller(Harness.CLAUDE_CODE, "CLAUDE_CODE_CHILD_SESSION")
    assert set(HARNESS_VARIABLES.values()) == set(Harness) - {Harness.AIDER, Harness.MANUAL}


def test_a_persons_terminal_in_an_editor_is_not_an_agent() -> None:
    assert caller_of(EDITOR_TERMINAL) == Caller()
    assert caller_of({**EDITOR_TERMINAL, "CURSOR_AGENT": "1"}).variable == "CURSOR_AGENT"


def test_an_empty_variable_is_no_sign() -> None:
    assert caller_of({"CURSOR_AGENT": "", "AGENT_MEMORY_DEPTH": ""}) == Caller()


def test_an_act_that_raises_trust_is_refused_to_an_agent_and_open_to_a_person_p19() -> None:
    for variable in ("AGENT_MEMORY_DEPTH", "OPENCODE"):
        with pytest.raises(ActRefused) as refused:
            caller_of({variable: "1"}).only_a_person("trust")
        assert refused.value == ActRefused("trust", variable)
    caller_of(EDITOR_TERMINAL).only_a_person("trust")
