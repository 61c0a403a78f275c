"""The one place where an error becomes words: what happened, where, what to do next."""

from __future__ import annotations

import time
from typing import assert_never

from returns.result import Failure, Result

from agent_memory import errors as e

_REMOTE_HINTS = {
    "network": "Nothing on this machine was lost; run `memory sync` again when it can be reached.",
    "login": "Log in to it as git does (an ssh agent, a credential helper): memory never asks for a password.",
    "gone": "Check that the repository is there, or name another with `memory sync --remote URL`.",
    "refused": "Nothing on this machine was lost; see what it says.",
}


def _list(problems: tuple[str, ...]) -> str:
    return "; ".join(problems)


def warning_of(result: Result[object, e.Error]) -> tuple[str, ...]:
    """The sentence for a failure that hinders nothing; none for a success."""
    return (describe(result.failure()),) if isinstance(result, Failure) else ()


def describe(error: e.Error) -> str:
    """One plain sentence (or two short ones), without a final newline."""
    match error:
        case e.UsageInvalid(problem, hint):
            return f"{problem}. {hint}".rstrip(" ") if hint else f"{problem}."
        case e.ActRefused(act, because):
            return f"`memory {act}` is for a person, and {because} says that an agent is calling. Run it from your own terminal."
        case e.ConfigInvalid(path, problems):
            return f"The config {path} is not valid: {_list(problems)}. Correct it, or see `memory config --help`."
        case e.ConfigUnreadable(path, reason):
            return f"The config {path} cannot be read: {reason}. Check its permissions."
        case e.SettingsRefused(path, reason):
            return f"{path} was left as it is: {reason}."
        case e.SchedulerFailed(scheduler, reason, hint):
            return f"{scheduler} does not run the jobs: {reason}. {hint}"
        case e.HomeUnknown():
            return "No home directory is known, so there is no place for the memories. Set HOME to an absolute path."
        case e.StoreIo(path, operation, errno_name, reason):
            return f"Could not {operation} {path}: {reason} ({errno_name}). Nothing was lost; run the command again once that is mended."
        case e.EntryNotFound(id, archived):
            if archived:
                return f"{id} is in the archive. Use `memory read --archived {id}`, or `memory restore {id}`."
            return f"There is no entry {id if id.strip() else repr(id)}. `memory list` shows what there is."
        case e.EntryUnreadable(path, problems):
            return f"{path} is not a valid entry: {_list(problems)}. It was left as it is; correct it by hand."
        case e.EntryInvalid(problems):
            return f"That would not be a valid entry: {_list(problems)}."
        case e.EntryChanged(id):
            return f"{id} was changed by someone else meanwhile, so nothing was written. Look at it and try again."
        case e.EntryExists(id, path):
            return f"{id} exists already as {path}."
        case e.EntryProtected(id, act, because):
            return f"{id} cannot be used for {act}: it is {because}."
        case e.PathRefused(path, reason):
            return f"{path} was refused: {reason}."
        case e.StateCorrupt(path, problems):
            return f"{path} cannot be understood: {_list(problems)}. Nothing was changed; move the file away to start it afresh."
        case e.StateInvalid(problems):
            return f"That cannot be kept as state: {_list(problems)}."
        case e.StateNotFound(key):
            return f"Nothing is kept under the key {key}. `memory state list` shows what there is."
        case e.RunNotFound(""):
            return "There is no run that changed anything and still stands. `memory log` lists the runs."
        case e.RunNotFound(run_id):
            return f"There is no run {run_id}. `memory log` lists the runs."
        case e.UndoRefused(run_id, reasons):
            return f"The run {run_id} was not undone: {_list(reasons)}. Nothing was changed."
        case e.InboxEntryInvalid(problems, path):
            where = f"The inbox entry {path}" if path else "The inbox entry"
            return f"{where} is not valid: {_list(problems)}."
        case e.HistoryUnavailable(session_id, reason, is_missing=True):
            return f"The history of session {session_id} is not there: {reason}."
        case e.HistoryUnavailable(session_id, reason):
            return f"The history of session {session_id} is not available yet: {reason}. It stays in the inbox and is tried again."
        case e.HistoryUnreadable(path, reason):
            return f"The transcript {path} cannot be read: {reason}."
        case e.TranscriptRefused(path, reason):
            return f"The transcript {path} was not read: {reason}."
        case e.SessionForgotten(session_id, at_ms):
            day = time.strftime("%Y-%m-%d", time.gmtime(at_ms / 1000))
            return f"The session {session_id} was forgotten on {day} (`memory forget`), and is not learnt again."
        case e.AgentMissing(command):
            return f"The agent command {command} was not found. Install it, or set llm.command or llm.preset (`builtin` needs nothing)."
        case e.AgentFailed(command, exit_status, stderr_tail):
            how = f"was ended by signal {-exit_status}" if exit_status < 0 else f"ended with status {exit_status}"
            said = f": {stderr_tail.rstrip('.')}" if stderr_tail else ""
            return f"The agent command {command} {how}{said}. Nothing was changed; the next run tries again."
        case e.AgentUnavailable(command, cause, said):
            return f"The agent command {command} cannot serve now ({cause}): {said.rstrip('.')}. Nothing was changed; the next run tries again."
        case e.AgentTimedOut(command, seconds):
            return f"The agent command {command} gave no reply within {seconds:g} s. Raise llm.timeoutSeconds if it needs longer."
        case e.SpendExhausted(calls_today, max_calls_per_day):
            return (
                f"Today's calls to the agent command are used up ({calls_today} of {max_calls_per_day}). "
                "The rest waits until tomorrow (UTC), or raise llm.maxCallsPerDay."
            )
        case e.PresetRefused(preset):
            return f"The preset {preset} cannot run without its tools. Choose another, or set llm.allowTools to true."
        case e.ReplyRefused(reasons):
            return f"The agent's reply was refused: {_list(reasons)}. Nothing was changed."
        case e.RecorderFailed(command, exit_status, stderr_tail):
            return f"The notes are written, but `{command}` ended with status {exit_status}: {stderr_tail}. The next run records them."
        case e.SyncRefused(reason, hint):
            return f"Nothing was synced: {reason}. {hint}"
        case e.RemoteUnavailable(remote, operation, cause, said):
            return (
                f"Could not {operation} {remote} ({cause}): {said.rstrip('.')}. {_REMOTE_HINTS.get(cause, '')}".rstrip()
            )
        case e.MarkersAmbiguous(path, problem):
            return (
                f"{path} was left as it is: {problem}. "
                "Keep one `<!-- agent-memory:start -->` and one `<!-- agent-memory:end -->` after it, or neither."
            )
        case e.TargetRefused(path, reason):
            return f"{path} was left as it is: {reason}."
        case e.Busy(lock_path):
            return f"Another run is at work on this store ({lock_path}). Try again when it has finished."
        case e.Defect(step, detail):
            return f"A bug in agent-memory at {step}: {detail}. Nothing was lost; please report it."
        case _ as never:
            assert_never(never)
