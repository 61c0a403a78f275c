"""`memory capture --harness X --hook`: turns a hook's payload on stdin into an inbox entry; and what every hook's call
does first.

Runs inside every turn of every agent, so it starts fast (C modules and our own import-free ones only), exits 0, prints
nothing and waits for nothing; problems go to the hook log, which `memory status` shows. Of the payload it keeps only
what locates the session.
"""

import os
import stat
import sys
import time

from agent_memory.capture.hook_files import INBOX, log_hook_problem, put_text, timestamp_of
from agent_memory.capture.repository import read_repository
from agent_memory.capture.session_event import PAYLOAD_KEYS, SHAPES, SessionEvent, plain_name, session_event
from agent_memory.files.durable import create_file, make_directories, read_loosely
from agent_memory.files.json_lite import json_object, scan_json, scan_members
from agent_memory.files.root import (
    INCOGNITO_VARIABLE,
    MAX_CONFIG_BYTES,
    config_path,
    home_of,
    is_marked,
    is_own_call,
    pauses_path,
    root_and_doubt,
)
from agent_memory.text.value_rules import has_plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

# -- a hook's call, whatever it is for --------------------------------------------------------------------------------

MAX_PAYLOAD_BYTES = 8 << 20
"""Input beyond this is read and discarded, so that the harness never writes into a closed pipe."""
MAX_DRAINED_BYTES = 256 << 20
QUIET_SECONDS = 0.2
"""How long to wait for the end of stdin after a possible last brace: an open stdin must not delay the session's end."""


class HookProblem(Exception):
    """Why a hook's call failed: a stable code, and our own words."""


def run_silently(act: "Callable[[], None]") -> "NoReturn":
    """Runs `act` and ends the process with code 0, whatever happens. `os._exit` skips the interpreter's cleanup, which
    takes a third as long as its start; every file is closed and synced by then."""
    try:
        act()
    except BaseException as bug:  # noqa: BLE001 - of what no rule foresaw, type and place are logged: its text may quote the payload
        trace = bug.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace is not None else "?"
        log_problem(os.environ, None, "defect", f"{type(bug).__name__} at {place}")
    finally:
        os._exit(0)


def current_directory() -> str:
    """Returns the working directory; `/` if it was removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def stays_out(event: SessionEvent, environ: "Mapping[str, str]", act: str = "") -> bool:
    """Returns whether memory stays out of a session, which is logged once. An incognito session counts as forgotten, so
    that no later look through transcripts learns from it."""
    home = home_of(environ)
    if INCOGNITO_VARIABLE not in environ and not (
        os.path.lexists(pauses_path(home)) or b'"projects"' in read_loosely(config_path(home), MAX_CONFIG_BYTES)
    ):
        return False
    from agent_memory.capture.switches import INCOGNITO, Switches  # most people have never set one

    off = Switches(environ).off(event.cwd or current_directory())
    if off is None:
        return False
    root, _ = root_and_doubt(environ)
    log_hook_problem(home, root, event.harness, off.kind, off.sentence, act, is_once=True)
    if off.kind == INCOGNITO and not _is_forgotten(event, root):
        now = timestamp_of(time.time_ns() // 1_000_000)
        tombstone = {"version": 1, "session": event.session_id, "harness": event.harness, "at": now}
        try:
            make_directories(f"{root}/{FORGOTTEN}")
            path = f"{root}/{tombstone_path(event.harness, event.session_id)}"
            create_file(path, f"{json_object(tombstone)}\n".encode())
        except FileExistsError:  # another hook of the same session
            pass
        except OSError as error:
            raise HookProblem("store-io", f"could not write to {root}/{FORGOTTEN}: {error.strerror}") from None
    return True


def log_problem(environ: "Mapping[str, str]", harness: str | None, code: str, message: str, act: str = "") -> None:
    """Writes to the hook log; `act` is the hook's purpose, if that is not to capture."""
    root, _ = root_and_doubt(environ)
    log_hook_problem(home_of(environ), root, harness, code, message, act)


# -- the call ---------------------------------------------------------------------------------------------------------


def named_harness(words: list[str], command: str) -> str:
    """Returns the harness of `memory COMMAND --harness X --hook`; no other arguments are allowed."""
    rest = [word for word in words if word != "--hook"]
    if len(rest) == 1 and rest[0].startswith("--harness="):
        harness = rest[0].partition("=")[2]
    elif len(rest) == 2 and rest[0] == "--harness":
        harness = rest[1]
    else:
        raise HookProblem("usage", f"the hook's command must be: memory {command} --harness NAME --hook")
    if harness not in SHAPES:
        raise HookProblem("usage", f"the hook's command names a harness without hooks; known are {', '.join(SHAPES)}")
    return harness


def _read_stdin() -> bytes:
    """Returns the input, within limits of size and time; more than MAX_PAYLOAD_BYTES means that it was cut."""
    from select import select

    is_file = stat.S_ISREG(os.fstat(0).st_mode)
    deadline = time.monotonic() + 2.0
    chunks: list[bytes] = []
    kept = drained = 0
    while drained < MAX_DRAINED_BYTES:
        seconds = max(0.0, deadline - time.monotonic())
        if chunks and chunks[-1].rstrip().endswith(b"}"):
            seconds = min(seconds, QUIET_SECONDS)
        if not (is_file or select((0,), (), (), seconds)[0]):
            break
        chunk = os.read(0, 1 << 16)
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


def payload_on_stdin() -> object:
    """Returns the payload; if it is cut off or too long, the members before the cut."""
    try:
        text = _read_stdin().decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise HookProblem("payload", f"stdin cannot be read: {error.strerror}") from None
    if not text.strip():
        raise HookProblem("payload", "nothing came on stdin")
    if len(text) <= MAX_PAYLOAD_BYTES:
        try:
            return scan_json(text)
        except (ValueError, RecursionError):
            pass
    members = scan_members(text, PAYLOAD_KEYS)
    if not members:
        raise HookProblem("payload", "what came on stdin is not a JSON object")
    return members


# -- capture ----------------------------------------------------------------------------------------------------------

FORGOTTEN = "state/forgotten"


def run_hook(words: list[str]) -> "NoReturn":
    """Captures and ends the process with code 0, whatever happens; prints nothing."""
    run_silently(lambda: capture_hook(words, os.environ))


def capture_hook(words: list[str], environ: "Mapping[str, str]") -> None:
    """Writes the inbox entry of the payload on stdin, if it needs one; problems go to the hook log."""
    if is_own_call(environ) or is_marked(current_directory()):
        return
    harness = None
    try:
        harness = named_harness(words, "capture")
        event = session_event(harness, payload_on_stdin())
        if isinstance(event, str):
            raise HookProblem("payload", event)
        is_private = event is None or (event.cwd is not None and is_marked(event.cwd))
        if event is not None and not is_private and not stays_out(event, environ):
            _put(event, environ)
    except HookProblem as problem:
        code, message = problem.args
        log_problem(environ, harness, code, message)


def _put(event: SessionEvent, environ: "Mapping[str, str]") -> None:
    root, doubt = root_and_doubt(environ)
    if _is_forgotten(event, root):
        return
    timestamp = timestamp_of(time.time_ns() // 1_000_000)
    text = entry_text(event, timestamp, environ)
    try:
        put_text(root, INBOX, text, timestamp, event.harness, ".json")
    except OSError as error:
        raise HookProblem("store-io", f"could not write to {root}/{INBOX}: {error.strerror}") from None
    _hand_over(event)
    if doubt:
        raise HookProblem("config-invalid", f"{doubt}, so this session was captured to {root}")


def _hand_over(event: SessionEvent) -> None:
    """Starts `memory checkpoint` for a session that has ended. Nobody waits for it, or hears of it: what it cannot do,
    the next consolidation does."""
    words = sys.argv[1:]
    is_whole_call = words[:1] == ["capture"] and sys.orig_argv[-len(words) :] == words
    try:
        if plain_name(event.event or "") != "sessionend" or not is_whole_call or not fork_aside():
            return
        program = sys.orig_argv[: -len(words)]
        os.execv(
            sys.executable, [*program, "checkpoint", f"--harness={event.harness}", f"--session={event.session_id}"]
        )
    except OSError:
        pass


def fork_aside() -> bool:
    """Goes on twice. Returns True in the child, which nobody waits for or hears of."""
    if os.fork():
        return False
    os.setsid()  # a harness that ends takes its process group with it
    os.nice(10)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    return True


def _is_forgotten(event: SessionEvent, root: str) -> bool:
    """Returns whether a person had memory forget the session (P28), by the name of a file alone."""
    directory = f"{root}/{FORGOTTEN}"
    if not os.path.isdir(directory):
        return False
    paths = (tombstone_path(whose, event.session_id) for whose in (event.harness, None))
    return any(os.path.lexists(f"{root}/{path}") for path in paths)


def tombstone_path(harness: str | None, session_id: str) -> str:
    """Returns the path of a session's tombstone, relative to the root."""
    from agent_memory.text.ids import slug_of  # not needed if nothing was ever forgotten

    return f"{FORGOTTEN}/{harness or 'any'}_{slug_of(session_id)}.json"


def entry_text(event: SessionEvent, timestamp: str, environ: "Mapping[str, str]") -> str:
    """Returns the inbox entry, version 1, byte for byte as `capture.inbox_files` renders it."""
    context: dict[str, str | None] = {"cwd": event.cwd}
    if event.cwd is not None:
        repository = read_repository(event.cwd, environ)
        branch = repository.branch
        if branch is not None and not has_plain_words(branch):
            # Redacted (P20). The rules take long to load, and most names are words.
            from agent_memory.redaction.redact import redact_path

            branch = redact_path(branch)
        context |= {"repo": repository.repo, "branch": branch, "commit": repository.commit}
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


def _present(members: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in members.items() if value is not None}
