"""What the command line says of itself, and what it makes of words that it does not know."""

from __future__ import annotations

import re

import pytest

from agent_memory import __version__
from agent_memory.cli.main import COMMANDS
from memory_process import Memory


def test_help_lists_every_command_and_needs_no_store(memory: Memory) -> None:
    for words in ((), ("--help",), ("-h",), ("help",)):
        done = memory(*words, environ={"HOME": "/dev/null/x"})
        assert (done.code, done.err) == (0, "")
        assert COMMANDS.keys() <= set(re.findall(r"[a-z-]+", done.out))
    assert memory("--version").out == f"agent-memory {__version__}\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(memory: Memory, name: str) -> None:
    done = memory(name, "--help", environ={"COLUMNS": "80"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: memory {name} ")
    assert "--json" in done.out
    assert done == memory("help", name, environ={"COLUMNS": "80"})
    assert not memory.root.exists()


def test_commands_answer_to_the_names_that_they_had(memory: Memory) -> None:
    for earlier, now in (("install-cron", "on"), ("uninstall-cron", "off"), ("run-scheduled", "run")):
        assert memory(earlier, "--help") == memory("schedule", now, "--help")
        assert f" {earlier}" not in memory("--help").out


def test_json_may_stand_before_or_after_the_command(memory: Memory) -> None:
    assert memory("--json", "list").document == memory("list", "--json").document == {"entries": [], "unreadable": []}


def test_options_may_stand_between_the_words(memory: Memory) -> None:
    memory("remember", "the zebra stands behind the lock", "--kind", "lesson")
    assert memory("state", "set", "herd", "--text", "5").code == 0
    assert memory("state", "get", "herd").out == "5\n"
    between = memory("search", "zebra", "--kind", "lesson", "lock")
    assert (between.code, between.out.count("\n")) == (0, 1)
    assert between.out == memory("search", "zebra", "lock", "--kind", "lesson").out
    assert memory("search", "zebra", "--limit", "1", "--", "-lock").code == 0
