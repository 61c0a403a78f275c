"""Asking a harness itself, through its command, for what it keeps where no file tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from agent_memory.adapters.agent.agent_environment import child_environment
from agent_memory.adapters.agent.child_process import Finished, run_child
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import StoreIo

TIMEOUT_SECONDS = 60.0
MAX_PRINTED_BYTES = MAX_LINE_BYTES
_SAID_CHARS = 200

RunsHarness = Callable[[Sequence[str], str], Finished]
"""Runs one command in a directory to its end, within bounds of time and output. Raises StoreIo where it cannot be started."""


@frozen
class HarnessCommand:
    """Runs a harness's command, without a shell, within `TIMEOUT_SECONDS` and `MAX_PRINTED_BYTES`."""

    environ: Mapping[str, str]
    variables: tuple[str, ...]
    """Which of our variables it is given beyond the allow-list of agents."""
    settings: Mapping[str, str] = field(factory=dict[str, str])
    """Variables that it is given besides."""

    def __call__(self, argv: Sequence[str], cwd: str) -> Finished:
        """See `run_child`."""
        return run_child(
            argv,
            stdin=b"",
            env=child_environment(self.environ, self.variables, self.settings),
            cwd=cwd,
            timeout_seconds=TIMEOUT_SECONDS,
            max_stdout_bytes=MAX_PRINTED_BYTES,
        )


def is_absent(error: StoreIo) -> bool:
    """Whether the command could not be started because it is not installed here."""
    return error.errno_name in ("ENOENT", "EACCES", "ENOTDIR")


def what_it_said(program: str, finished: Finished) -> str:
    """How a run of `program` went wrong, redacted, on one line."""
    if finished.timed_out:
        return f"{program} did not answer within {TIMEOUT_SECONDS:g} s"
    ended = f"{program} ended with status {finished.exit_status}"
    how = ended if finished.exit_status else f"what {program} printed is not understood"
    words = (finished.stderr_tail or finished.stdout[-_SAID_CHARS * 4 :]).decode("utf-8", "replace")
    said = one_line(redact(words).text, _SAID_CHARS)
    return how + (f": {said}" if said else "")
