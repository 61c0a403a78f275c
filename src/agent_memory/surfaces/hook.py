"""`memory capture --harness X --hook`: a hook's payload on stdin becomes an inbox entry.

Runs inside every turn of every agent, so it starts fast (C modules and our own import-free ones only), exits 0, prints
nothing and waits for nothing; what went wrong is in the hook log, which `memory status` shows. Nothing of the payload is
kept but what locates the session.
"""

import os
import time

from agent_memory.adapters.disk.json_lite import json_object
from agent_memory.adapters.inbox.inbox_put import INBOX, put_text
from agent_memory.adapters.surroundings.configured_root import root_and_doubt
from agent_memory.adapters.surroundings.own_calls import is_marked, is_own_call
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.queueing.inbox_rules import is_plain_name
from agent_memory.domain.queueing.session_event import SessionEvent, session_event
from agent_memory.surfaces.hook_call import (
    HookProblem,
    current_directory,
    log_problem,
    named_harness,
    payload_on_stdin,
    run_silently,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

FORGOTTEN = "state/forgotten"
ANY_HARNESS = "any"
"""As in `adapters.forgetting.forgetting_files`, which takes long to load."""


def run_hook(words: list[str]) -> "NoReturn":
    """Capture and end the process with code 0, whatever happens; nothing was printed."""
    run_silently(lambda: capture_hook(words, os.environ))


def capture_hook(words: list[str], environ: "Mapping[str, str]") -> None:
    """Write the inbox entry of the payload on stdin, if it is to have one; problems go to the hook log."""
    if is_own_call(environ) or is_marked(current_directory()):
        return
    harness = None
    try:
        harness = named_harness(words, "capture")
        event = _event_for(harness)
        if event is not None and not (event.cwd is not None and is_marked(event.cwd)):
            _put(event, environ)
    except HookProblem as problem:
        log_problem(environ, harness, problem.code, problem.message)


def _event_for(harness: str) -> SessionEvent | None:
    event = session_event(harness, payload_on_stdin())
    if isinstance(event, str):
        raise HookProblem("payload", event)
    return event


# -- the entry --------------------------------------------------------------------------------------------------------


def _put(event: SessionEvent, environ: "Mapping[str, str]") -> None:
    home = home_of(environ)
    root, doubt = root_and_doubt(environ, home)
    if root is None:
        raise HookProblem("home-unknown", "no home directory is known; set HOME or AGENT_MEMORY_ROOT")
    if _is_forgotten(event, root):
        return
    timestamp = timestamp_of(time.time_ns() // 1_000_000)
    text = entry_text(event, timestamp, environ, home)
    try:
        put_text(root, INBOX, text, timestamp, event.harness, ".json")
    except OSError as error:
        raise HookProblem("store-io", f"could not write to {root}/{INBOX}: {error.strerror}") from None
    if doubt:
        raise HookProblem("config-invalid", f"{doubt}, so this session was captured to {root}")


def _is_forgotten(event: SessionEvent, root: str) -> bool:
    """Whether a person had the session forgotten (P28). Its name alone says so: nothing is opened."""
    directory = f"{root}/{FORGOTTEN}"
    if not os.path.isdir(directory):
        return False
    from agent_memory.domain.text.slug import slug_of  # where nothing was ever forgotten it is not needed

    slug = slug_of(event.session_id)
    return any(os.path.lexists(f"{directory}/{whose}_{slug}.json") for whose in (event.harness, ANY_HARNESS))


def timestamp_of(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds."""
    seconds, millis = divmod(at_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{millis:03d}Z"


def entry_text(event: SessionEvent, timestamp: str, environ: "Mapping[str, str]", home: str | None) -> str:
    """The inbox entry, version 1, byte for byte as `formats.inbox_json` renders it."""
    context: dict[str, str | None] = {"cwd": event.cwd}
    if event.cwd is not None:
        repository = read_repository(event.cwd, environ, home)
        context["repo"] = repository.repo
        context["branch"] = _without_secrets(repository.branch)
        context["commit"] = repository.commit
    context |= {"event": event.event, "reason": event.reason, "harnessVersion": event.harness_version}
    id_key = "threadId" if event.method == "amp-thread" else "sessionId"
    retrieval = {"method": event.method, id_key: event.session_id, "sessionPath": event.session_path}
    entry = {
        "version": 1,
        "timestamp": timestamp,
        "harness": event.harness,
        "retrieval": _present(retrieval),
        "context": _present(context),
    }
    return json_object({key: value for key, value in entry.items() if value}) + "\n"


def _without_secrets(branch: str | None) -> str | None:
    """The branch, redacted (P20). The rules take long to load, and most names are words."""
    if branch is None or is_plain_name(branch):
        return branch
    from agent_memory.domain.redaction import redact_path

    return redact_path(branch)


def _present(members: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in members.items() if value is not None}
