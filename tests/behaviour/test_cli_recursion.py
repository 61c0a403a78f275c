"""P23: the system never captures its own agent calls. Any one of the guards is enough, with all the others taken away."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from claude_transcripts import Conversation
from memory_process import Memory

AGENT = Path(__file__).parents[1] / "fixtures" / "agents" / "as_a_harness.py"


class Calls:
    """`memory` whose agent command is a harness with our hook, and one session of a person's that waits."""

    def __init__(self, home: Path, way: str, *guards: str) -> None:
        self.memory = Memory.unrecorded(home)
        self._directory = home / "agent"
        self._directory.mkdir()
        words = [sys.executable, str(AGENT), str(self._directory), str(self.memory.root), way, *guards]
        self.memory.configure(llm={"command": shlex.join(words)})
        self.memory.session("s1", Conversation("s1").exchange("We deploy from main only.").data)

    @property
    def count(self) -> int:
        """How often the agent command was called."""
        return len(list(self._directory.glob("prompt-*")))

    def consolidate(self) -> None:
        done = self.memory("consolidate")
        assert done.code == 0, done


@pytest.mark.parametrize("guard", ["environment", "own-directory", "told-directory"])
def test_a_hook_in_our_own_agents_call_captures_nothing(home: Path, guard: str) -> None:
    """P23: the variable under any directory; the private directory under `env -i`, by the hook's own or by the told one."""
    calls = Calls(home, "hook", guard)
    calls.consolidate()
    assert (calls.count, calls.memory.pending()) == (1, [])


@pytest.mark.parametrize("guard", ["environment", "own-directory"])
def test_a_plugin_in_our_own_agents_call_captures_nothing_p23(home: Path, guard: str) -> None:
    calls = Calls(home, "plugin", guard)
    calls.consolidate()
    assert (calls.count, calls.memory.pending()) == (1, [])


@pytest.mark.parametrize("way", ["hook", "plugin"])
def test_a_call_that_was_captured_is_dropped_by_the_first_line_of_its_prompt(home: Path, way: str) -> None:
    """P23: under `env -i`, in another directory."""
    calls = Calls(home, way, "marker")
    calls.consolidate()
    assert (calls.count, len(calls.memory.pending())) == (1, 1)
    calls.consolidate()
    assert (calls.count, calls.memory.pending(), calls.memory.notes()) == (1, [], [])


@pytest.mark.parametrize("way", ["hook", "plugin"])
def test_without_any_guard_the_call_would_be_a_session_like_any_other(home: Path, way: str) -> None:
    """P23: the positive control; what bounds it then is the day's cap."""
    calls = Calls(home, way)
    calls.consolidate()
    assert (calls.count, len(calls.memory.pending())) == (1, 1)
    calls.consolidate()
    assert calls.count == 2
