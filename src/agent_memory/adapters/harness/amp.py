"""Histories of Amp threads, through the `amp` command (`amp-thread`): the threads themselves are on Amp's server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import child_environment
from agent_memory.adapters.agent.child_process import Finished, run_child
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.harness.amp_thread import is_thread, thread_history
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import AmpThread, InboxEntry
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.document_turns import document_turns
from agent_memory.domain.transcripts.turns import as_many_as_fit, tools_answered_before, turns_after
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StoreIo
from agent_memory.results import sealed

TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = (3.0, 7.0)
"""An export is empty until about seven seconds after the agent's last word."""
MAX_EXPORT_BYTES = MAX_LINE_BYTES
AMP_VARIABLES = ("AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE")

_THREAD_ID = re.compile(r"T-[A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,8}", re.ASCII)
_MAX_ID_CHARS = 100
_UNKNOWN_COMMAND = re.compile(r"unknown (?:sub)?command|unrecognized|invalid command|no such command", re.IGNORECASE)
_SAID_CHARS = 200

RunsAmp = Callable[[Sequence[str]], Result[Finished, StoreIo]]
"""Runs one command to its end, within bounds of time and output."""


@frozen
class AmpCommand:
    """Runs `amp` in the directory `cwd`, without a shell, within `TIMEOUT_SECONDS` and `MAX_EXPORT_BYTES`."""

    environ: Mapping[str, str]
    cwd: str

    def __call__(self, argv: Sequence[str]) -> Result[Finished, StoreIo]:
        """See `run_child`."""
        return run_child(
            argv,
            stdin=b"",
            env=child_environment(self.environ, AMP_VARIABLES, {}),
            cwd=self.cwd,
            timeout_seconds=TIMEOUT_SECONDS,
            max_stdout_bytes=MAX_EXPORT_BYTES,
        )


@frozen
class AmpThreads:
    """Asks `amp threads export`, again after a while where that is empty; else takes the file that versions until early
    2026 kept in `threads_directory`; else, where this `amp` cannot export, `amp threads markdown`, whose text cannot tell
    the person's words from a page's, so that all of it counts as a tool's.

    HistoryUnavailable: no `amp`, not logged in, no network, nothing there yet. HistoryUnreadable: an id that is none.
    """

    run: RunsAmp
    sleep: Callable[[float], None]
    threads_directory: str | None = None

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark."""
        if not isinstance(entry.retrieval, AmpThread):
            raise TypeError(f"{entry.retrieval.method} is no Amp thread")
        thread_id = entry.retrieval.thread_id
        if not is_thread_id(thread_id):
            return Failure(HistoryUnreadable(thread_id, "it is not the id of an Amp thread"))
        exported = self._export(thread_id)
        value = exported.value if exported.value is not None else self._kept_locally(thread_id)
        if value is not None:
            return Success(thread_history(value, thread_id, mark))
        if exported.try_markdown:
            return self._markdown(thread_id, mark)
        return Failure(HistoryUnavailable(thread_id, exported.problem, is_missing=exported.empty))

    def _export(self, thread_id: str) -> _Export:
        argv = ("amp", "threads", "export", thread_id)
        found = _exported(self.run(argv), thread_id)
        for seconds in RETRY_SECONDS:
            if not found.empty:
                break
            self.sleep(seconds)
            found = _exported(self.run(argv), thread_id)
        return found

    def _kept_locally(self, thread_id: str) -> Mapping[str, object] | None:
        if self.threads_directory is None:
            return None
        match sealed(read_file(f"{self.threads_directory}/{thread_id}.json", MAX_EXPORT_BYTES)):
            case Success(found):
                return _thread_in(found.data, thread_id) if found is not None else None
            case Failure():  # the server's answer says what is to be done; this file was only another chance
                return None

    def _markdown(self, thread_id: str, mark: SessionMark | None) -> Result[History, Error]:
        match sealed(self.run(("amp", "threads", "markdown", thread_id))):
            case Success(finished):
                if finished.exit_status != 0 and not finished.stdout_capped:
                    return Failure(HistoryUnavailable(thread_id, what_amp_said(finished)))
                turns = document_turns(finished.stdout.decode("utf-8", "replace"), "amp threads markdown")
            case Failure(error):
                return Failure(HistoryUnavailable(thread_id, _not_started(error)))
        if not turns:
            return Failure(HistoryUnavailable(thread_id, "amp prints nothing for it yet", is_missing=True))
        new = turns_after(turns, mark)
        history = History(Harness.AMP, thread_id, as_many_as_fit(new))
        answered = tools_answered_before(turns, new)
        return Success(evolve(history, tools_answered_before=answered, remaining=len(history.turns) < len(new)))


def is_thread_id(text: str) -> bool:
    """Whether this is the id of an Amp thread: `T-` and groups of letters and digits."""
    return len(text) <= _MAX_ID_CHARS and bool(_THREAD_ID.fullmatch(text))


@frozen
class _Export:
    """What came of an export: the thread, or why there is none."""

    value: Mapping[str, object] | None = None
    problem: str = ""
    empty: bool = False
    """It may be there in a while."""
    try_markdown: bool = False


def _exported(outcome: Result[Finished, StoreIo], thread_id: str) -> _Export:
    match sealed(outcome):
        case Failure(error):
            return _Export(problem=_not_started(error))
        case Success(finished):
            return _export_in(finished, thread_id)


def _export_in(finished: Finished, thread_id: str) -> _Export:
    if finished.stdout_capped:
        return _Export(problem=f"its export is larger than {MAX_EXPORT_BYTES // 2**20} MiB", try_markdown=True)
    if finished.timed_out:
        return _Export(problem=f"amp did not answer within {TIMEOUT_SECONDS:g} s")
    if finished.exit_status != 0:
        said = what_amp_said(finished)
        return _Export(problem=said, try_markdown=bool(_UNKNOWN_COMMAND.search(said)))
    if not finished.stdout.strip():
        return _Export(problem="its export is still empty", empty=True)
    value = _thread_in(finished.stdout, thread_id)
    if value is not None:
        return _Export(value)
    if finished.stdout.lstrip()[:1] in (b"{", b"["):
        return _Export(problem="its export holds no messages of it yet", empty=True)
    return _Export(problem="amp printed no JSON for it", try_markdown=True)


def _thread_in(data: bytes, thread_id: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) and is_thread(value, thread_id) else None


def what_amp_said(finished: Finished) -> str:
    """How a run of `amp` went wrong, redacted, on one line."""
    if finished.timed_out:
        return f"amp did not answer within {TIMEOUT_SECONDS:g} s"
    words = (finished.stderr_tail or finished.stdout[-_SAID_CHARS * 4 :]).decode("utf-8", "replace")
    said = one_line(redact(words).text, _SAID_CHARS)
    how = (
        f"amp ended with status {finished.exit_status}"
        if finished.exit_status
        else "what amp printed is not understood"
    )
    return how + (f": {said}" if said else "")


def _not_started(error: StoreIo) -> str:
    if error.errno_name in ("ENOENT", "EACCES", "ENOTDIR"):
        return "the command amp cannot be found or run; install it and log in"
    return f"amp could not be started: {error.reason}"
