"""`memory capture --harness X --hook`: a hook's payload on stdin becomes an inbox entry.

Runs inside every turn of every agent, so it starts fast (C modules and our own import-free ones only), exits 0, prints
nothing and waits for nothing; what went wrong is in the hook log, which `memory status` shows. Nothing of the payload is
kept but what locates the session.
"""

import os
import stat
import sys
import time

from agent_memory.adapters.disk.json_lite import json_object, scan_json, scan_members
from agent_memory.adapters.inbox.inbox_put import INBOX, put_text
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE, config_path, home_of, storage_root
from agent_memory.domain.queueing.plain_name import is_plain_name
from agent_memory.domain.queueing.scope import GLOBAL_SCOPE
from agent_memory.domain.queueing.session_event import PAYLOAD_KEYS, SHAPES, SessionEvent, session_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

FORGOTTEN = "state/forgotten"
ANY_HARNESS = "any"
"""As in `adapters.forgetting.tombstone_files`, which takes long to load."""

DEPTH_VARIABLE = "AGENT_MEMORY_DEPTH"
CHILD_MARK = ".agent-memory-child"

MAX_PAYLOAD_BYTES = 8 << 20
"""What lies behind is read and thrown away, so that the harness never writes into a closed pipe."""
MAX_DRAINED_BYTES = 256 << 20
STDIN_SECONDS = 2.0
QUIET_SECONDS = 0.2
"""How long the end is waited for after what may be the payload's last brace: a harness that keeps stdin open must not
cost the session's end its time."""
MAX_CONFIG_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16


class HookProblem(Exception):  # noqa: N818 - it is a problem for the log, not an error of the call
    """Why a hook's call recorded nothing: a stable code, and our own words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def run_hook(words: list[str]) -> "NoReturn":
    """Capture and end the process with code 0, whatever happens.

    `os._exit` skips the interpreter's own tidying up, which takes a third as long as its start; every file is closed
    and synced by then, and nothing was printed.
    """
    try:
        capture_hook(words, os.environ)
    finally:
        bug = sys.exc_info()[1]
        if bug is not None:
            _log_bug(bug)
        os._exit(0)


def _log_bug(bug: BaseException) -> None:
    """Log what no rule foresaw: its type and place, not its text, which may quote the payload."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace is not None else "?"
    try:
        _log(os.environ, None, "defect", f"{type(bug).__name__} at {place}")
    finally:
        os._exit(0)


def capture_hook(words: list[str], environ: "Mapping[str, str]") -> None:
    """Write the inbox entry of the payload on stdin, if it is to have one; problems go to the hook log."""
    if is_own_call(environ) or is_marked(_current_directory()):
        return
    harness = None
    try:
        harness = _named_harness(words)
        event = _event_of(_read_stdin(), harness)
        if event is not None and not (event.cwd is not None and is_marked(event.cwd)):
            _put(event, environ)
    except HookProblem as problem:
        _log(environ, harness, problem.code, problem.message)


def is_own_call(environ: "Mapping[str, str]") -> bool:
    """Whether we are inside an agent command that we ourselves started (P23)."""
    return environ.get(DEPTH_VARIABLE, "").strip() not in ("", "0")


def is_marked(directory: str) -> bool:
    """Whether a directory is, or is below, the private directory of an agent command (P23)."""
    while True:
        if os.path.lexists(f"{directory}/{CHILD_MARK}"):
            return True
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent


def _current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return "/"


def _log(environ: "Mapping[str, str]", harness: str | None, code: str, message: str) -> None:
    from agent_memory.adapters.inbox.hook_log import log_hook_problem

    home = home_of(environ)
    root, _ = _storage_root(environ, home)
    log_hook_problem(home, root, harness, code, message)


# -- the call ---------------------------------------------------------------------------------------------------------


def _named_harness(words: list[str]) -> str:
    """The harness of `--harness X --hook`; there is nothing else to say."""
    rest = [word for word in words if word != "--hook"]
    if len(rest) == 1 and rest[0].startswith("--harness="):
        harness = rest[0].partition("=")[2]
    elif len(rest) == 2 and rest[0] == "--harness":
        harness = rest[1]
    else:
        raise HookProblem("usage", "the hook's command must be: memory capture --harness NAME --hook")
    if harness not in SHAPES:
        raise HookProblem("usage", f"the hook's command names a harness without hooks; known are {', '.join(SHAPES)}")
    return harness


def _read_stdin() -> bytes:
    """What the harness says, within bounds of size and time; more than MAX_PAYLOAD_BYTES when it was cut."""
    try:
        is_file = stat.S_ISREG(os.fstat(0).st_mode)
        return _read_descriptor(0, is_file)
    except OSError as error:
        raise HookProblem("payload", f"stdin cannot be read: {error.strerror}") from None


def _read_descriptor(descriptor: int, is_file: bool) -> bytes:
    deadline = time.monotonic() + STDIN_SECONDS
    chunks: list[bytes] = []
    kept = drained = 0
    while drained < MAX_DRAINED_BYTES and (is_file or _is_ready(descriptor, deadline, chunks)):
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if not chunk:
            break
        if kept <= MAX_PAYLOAD_BYTES:
            chunks.append(chunk)
            kept += len(chunk)
        elif is_file:
            break
        else:
            drained += len(chunk)
    return b"".join(chunks)


def _is_ready(descriptor: int, deadline: float, chunks: list[bytes]) -> bool:
    from select import select

    seconds = max(0.0, deadline - time.monotonic())
    if chunks and chunks[-1].rstrip().endswith(b"}"):
        seconds = min(seconds, QUIET_SECONDS)
    return bool(select((descriptor,), (), (), seconds)[0])


def _event_of(data: bytes, harness: str) -> SessionEvent | None:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if not text.strip():
        raise HookProblem("payload", "nothing came on stdin")
    event = session_event(harness, _payload(text))
    if isinstance(event, str):
        raise HookProblem("payload", event)
    return event


def _payload(text: str) -> object:
    """The payload; of one that is cut off or too long, the members before the cut."""
    if len(text) <= MAX_PAYLOAD_BYTES:
        try:
            return scan_json(text)
        except (ValueError, RecursionError):
            pass
    members = scan_members(text, PAYLOAD_KEYS)
    if not members:
        raise HookProblem("payload", "what came on stdin is not a JSON object")
    return members


# -- the entry --------------------------------------------------------------------------------------------------------


def _put(event: SessionEvent, environ: "Mapping[str, str]") -> None:
    home = home_of(environ)
    root, doubt = _storage_root(environ, home)
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
        context["repo"] = None if repository.scope == GLOBAL_SCOPE else repository.scope
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
    from agent_memory.domain.redacted_path import redact_path

    return redact_path(branch)


def _present(members: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in members.items() if value is not None}


# -- the root ---------------------------------------------------------------------------------------------------------


def _storage_root(environ: "Mapping[str, str]", home: str | None) -> tuple[str | None, str]:
    """The root, and what puts it in doubt. The current directory's config has no say: it may come from a clone."""
    if environ.get(ROOT_VARIABLE) or home is None:
        return storage_root(environ), ""
    try:
        return storage_root(environ, _configured_root(config_path(home))), ""
    except HookProblem as problem:
        return storage_root(environ), problem.message


def _configured_root(path: str) -> str | None:
    """`storage.root` of the person's config, None where it says nothing."""
    try:
        config = scan_json(_read_config(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HookProblem("config-unreadable", f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise HookProblem("config-invalid", f"{path} is not JSON") from None
    storage = config.get("storage", {}) if isinstance(config, dict) else None
    root = storage.get("root") if isinstance(storage, dict) else 0
    if root is None or (isinstance(root, str) and root and "\0" not in root):
        return root
    raise HookProblem("config-invalid", f"storage.root in {path} is not a path")


def _read_config(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        return os.read(descriptor, MAX_CONFIG_BYTES).decode().removeprefix("\ufeff")
    finally:
        os.close(descriptor)
