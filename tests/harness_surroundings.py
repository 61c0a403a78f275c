"""What harnesses' sources and finders are built from, for tests: a home, and commands that answer as they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from agent_memory.adapters.agent.child_process import Finished
from agent_memory.adapters.harness import Surroundings
from agent_memory.errors import StoreIo

NOT_FOUND = StoreIo("program", "start", "ENOENT", "No such file or directory")


def surroundings(home: Path | str, *roots: str, **environ: str) -> Surroundings:
    """A home in which no command is to be found, and these further transcript roots."""
    known = {"HOME": str(home), "PATH": "/nowhere"}
    return Surroundings(known | environ, str(home), Path(home) / "m", lambda _: None, roots)


def finished(
    stdout: bytes = b"", status: int = 0, stderr: bytes = b"", *, late: bool = False, capped: bool = False
) -> Finished:
    """How a command ended."""
    return Finished(status, stdout, stderr, late, capped, True)


class ScriptedCommand:
    """Answers each call with the next outcome, the last one again and again."""

    def __init__(self, *outcomes: Finished | StoreIo) -> None:
        self._outcomes = list(outcomes)
        self.calls: list[tuple[tuple[str, ...], str]] = []

    def __call__(self, argv: Sequence[str], cwd: str) -> Finished:
        self.calls.append((tuple(argv), cwd))
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, StoreIo):
            raise outcome
        return outcome


Runs = Callable[[Sequence[str], str], Finished]
