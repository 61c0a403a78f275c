"""A hook's call, whatever it is for: who calls, with what on stdin, about which store, and where to tell of trouble.

Free of imports but C modules and our own import-free ones, since hooks run inside every turn of every agent.
"""

import os
import stat
import sys
import time

from agent_memory.adapters.disk.json_lite import scan_json, scan_members
from agent_memory.adapters.surroundings.configured_root import root_and_doubt
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.queueing.session_event import PAYLOAD_KEYS, SHAPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

MAX_PAYLOAD_BYTES = 8 << 20
"""What lies behind is read and thrown away, so that the harness never writes into a closed pipe."""
MAX_DRAINED_BYTES = 256 << 20
STDIN_SECONDS = 2.0
QUIET_SECONDS = 0.2
"""How long the end is waited for after what may be the payload's last brace: a harness that keeps stdin open must not
cost the session's end its time."""
_CHUNK_BYTES = 1 << 16


class HookProblem(Exception):
    """Why a hook's call came to nothing: a stable code, and our own words."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def run_silently(act: "Callable[[], None]") -> "NoReturn":
    """Do it and end the process with code 0, whatever happens.

    `os._exit` skips the interpreter's own tidying up, which takes a third as long as its start; every file is closed
    and synced by then.
    """
    try:
        act()
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
        log_problem(os.environ, None, "defect", f"{type(bug).__name__} at {place}")
    finally:
        os._exit(0)


def current_directory() -> str:
    """The working directory; `/` where it was removed under us."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def log_problem(environ: "Mapping[str, str]", harness: str | None, code: str, message: str, act: str = "") -> None:
    """Tell the hook log; `act` is what the hook is for, where that is not to capture."""
    from agent_memory.adapters.inbox.hook_log import log_hook_problem

    home = home_of(environ)
    root, _ = root_and_doubt(environ, home)
    log_hook_problem(home, root, harness, code, message, act)


# -- the call ---------------------------------------------------------------------------------------------------------


def named_harness(words: list[str], command: str) -> str:
    """The harness of `memory COMMAND --harness X --hook`; there is nothing else to say."""
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


def payload_on_stdin() -> object:
    """The payload; of one that is cut off or too long, the members before the cut."""
    text = _read_stdin().decode("utf-8", "replace").removeprefix("\ufeff")
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
