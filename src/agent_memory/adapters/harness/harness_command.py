"""Asking a harness itself, through its command, for what it keeps where no file tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from agent_memory.adapters.agent.agent_environment import child_environment
from agent_memory.adapters.agent.child_process import Finished, run_child
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import HistoryUnavailable, StoreIo

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
        return run_child(
            argv,
            stdin=b"",
            env=child_environment(self.environ, self.variables, self.settings),
            cwd=cwd,
            timeout_seconds=TIMEOUT_SECONDS,
            max_stdout_bytes=MAX_PRINTED_BYTES,
        )


def printed_by(run: RunsHarness, argv: Sequence[str], cwd: str, session_id: str) -> bytes:
    """What a command of a harness printed. Raises StoreIo where it is not installed here, HistoryUnavailable where it cannot be
    started, goes wrong or prints too much."""
    try:
        finished = run(argv, cwd)
    except StoreIo as error:
        if error.errno_name in ("ENOENT", "EACCES", "ENOTDIR"):
            raise
        raise HistoryUnavailable(session_id, f"{argv[0]} could not be started: {error.reason}") from None
    if finished.stdout_capped:
        raise HistoryUnavailable(session_id, f"its export is larger than {MAX_PRINTED_BYTES // 2**20} MiB")
    if finished.timed_out:
        raise HistoryUnavailable(session_id, f"{argv[0]} did not answer within {TIMEOUT_SECONDS:g} s")
    if finished.exit_status != 0:
        words = (finished.stderr_tail or finished.stdout[-_SAID_CHARS * 4 :]).decode("utf-8", "replace")
        said = one_line(redact(words).text, _SAID_CHARS)
        ended = f"{argv[0]} ended with status {finished.exit_status}"
        raise HistoryUnavailable(session_id, f"{ended}: {said}" if said else ended)
    return finished.stdout
