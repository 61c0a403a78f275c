"""The files of hooks: inbox entries, a log of problems, and what the next session is to be told. Imports only C modules
and our own import-free ones, since capture uses it inside every turn of every agent."""

import errno
import os
import stat
import time

from agent_memory.files.durable import append_line, create_file, make_directories, make_room, read_loosely
from agent_memory.files.json_lite import json_object
from agent_memory.files.root import local_state_directory

# -- entries: under a fresh name, whole or not at all, durable before the call returns (P1). Errors are plain OSErrors -----

INBOX = "inbox"
PROCESSED = f"{INBOX}/.processed"
FAILED = f"{INBOX}/.failed"
REASON_ENDING = ".reason.json"
"""The ending of the file beside a malformed one that says what is wrong with it."""

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_entry_name(name: str) -> bool:
    """Returns whether a file counts as an entry: `….json`, not hidden, not the reason beside a malformed one."""
    return name.endswith(".json") and not name.startswith(".") and not name.endswith(REASON_ENDING)


def random_digits() -> str:
    """Returns six base58 digits: 38 thousand million possibilities for one millisecond and harness."""
    number = int.from_bytes(os.urandom(8), "big")
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, 58)
        digits += _BASE58[digit]
    return digits


def timestamp_of(at_ms: int) -> str:
    """Returns ISO 8601 in UTC with milliseconds."""
    seconds, millis = divmod(at_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{millis:03d}Z"


def mentions(path: str, text: str) -> bool:
    """Returns whether an inbox file contains this text, unparsed; False if it is gone. Raises OSError (P6)."""
    try:
        with open(path, "rb") as file:
            return text.encode() in file.read(1 << 18)
    except FileNotFoundError:
        return False


def put_text(root: str, directory: str, text: str, timestamp: str, label: str, ending: str) -> str:
    """Writes a new file in `directory` (relative to the root); returns its name,
    `<timestamp>_<label>_<digits><ending>`, with dashes for colons. An existing file is never overwritten."""
    path = f"{root}/{directory}"
    make_directories(path)
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise OSError(errno.ELOOP, "it is a symbolic link, and links inside the store are not followed", path)
    data = text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
    while True:
        name = f"{timestamp.replace(':', '-')}_{label}_{random_digits()}{ending}"
        try:
            create_file(f"{path}/{name}", data)
        except FileExistsError:
            continue
        return name


# -- the log: one JSON line a problem, two files at most --------------------------------------------------------------
# Hooks may neither print nor fail. A line says when, which harness, for which root, and in our own words what happened,
# without anybody's text. It is in `~/.local/state/agent-memory/`, where it survives a root that is full or gone, or
# else in the root's `.cache/`. If neither can be written, the problem is lost: a full disk must not block an agent.

LOG_NAME = "hook-log.jsonl"
PREVIOUS_LOG_NAME = "hook-log.previous.jsonl"
MAX_LOG_BYTES = 64 * 1024
"""The limit of each of the two files; the older one is dropped when the newer one is full."""


def hook_log_directories(home: str, root: str) -> tuple[str, str]:
    """Returns the possible directories of the log, the preferred one first."""
    return local_state_directory(home), f"{root}/.cache"


def log_hook_problem(
    home: str, root: str, harness: str | None, code: str, message: str, act: str = "", *, is_once: bool = False
) -> None:
    """Appends one line to the first writable log; `act` is what failed, if that is not to capture. With `is_once` a log
    that has the line is left as it is. Never raises an OSError, and never waits for a lock."""
    members = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "harness": harness,
        "act": act,
        "root": root,
        "code": code,
        "message": message[:500],
    }
    line = (json_object({key: value for key, value in members.items() if value}) + "\n").encode(
        "utf-8", "backslashreplace"
    )
    for directory in hook_log_directories(home, root):
        path = f"{directory}/{LOG_NAME}"
        if is_once and json_object({"message": members["message"]})[1:-1].encode() in read_loosely(path, MAX_LOG_BYTES):
            return
        try:
            make_directories(directory)
            make_room(path, f"{directory}/{PREVIOUS_LOG_NAME}", len(line), MAX_LOG_BYTES)
            append_line(path, line)
        except OSError:
            continue
        return


# -- a failed scheduled run, told once: to the next command, and to the next session -----------------------------------

COMMAND, SESSION = "command", "session"
_MAX_CHARS = 500


def schedule_directory(home: str) -> str:
    return f"{local_state_directory(home)}/schedule"


def take_notice(home: str, kind: str) -> str | None:
    """Returns the sentence that is waiting, which is then told no more; None in most cases, at the cost of one look-up. A
    notice that cannot be taken away is not told: it would be told for ever."""
    path = f"{schedule_directory(home)}/notice-{kind}"
    data = read_loosely(path, 4 * _MAX_CHARS)
    if not data:
        return None
    try:
        os.unlink(path)
    except OSError:
        return None
    return " ".join(data.decode("utf-8", "replace").split())[:_MAX_CHARS] or None
