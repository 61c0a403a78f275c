"""How an inbox entry gets onto the disk: under a fresh name, whole or not at all, durable before the call returns (P1).

Imports nothing but `os` and `durable`, since capture uses it inside every turn of every agent. Errors are plain `OSError`.
"""

import errno
import os
import stat

from agent_memory.adapters.disk.durable import create_file, make_directories

INBOX = "inbox"

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RANDOM_DIGITS = 6
_MAX_ENTRY_BYTES = 1 << 18


def random_digits() -> str:
    """Six base58 digits: 38 thousand million possibilities for one millisecond and harness."""
    number = int.from_bytes(os.urandom(8), "big")
    digits = ""
    for _ in range(_RANDOM_DIGITS):
        number, digit = divmod(number, 58)
        digits += _BASE58[digit]
    return digits


def mentions(path: str, text: str) -> bool:
    """Whether the entry in a file holds this text, unparsed; one that has moved on does not. Raises OSError (P6)."""
    try:
        with open(path, "rb") as file:
            return text.encode() in file.read(_MAX_ENTRY_BYTES)
    except FileNotFoundError:
        return False


def put_text(root: str, directory: str, text: str, timestamp: str, label: str, ending: str) -> str:
    """Write `text` to a new file in `directory` (relative to the root); its name, `<timestamp>_<label>_<digits><ending>`.

    The colons of the ISO timestamp become dashes. A name that is taken, by whatever chance, is never overwritten.
    """
    path = f"{root}/{directory}"
    make_directories(path)
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise OSError(errno.ELOOP, "it is a symbolic link, and links inside the store are not followed", path)
    data = text.encode("utf-8", "backslashreplace")  # half a surrogate pair becomes its own JSON escape
    while True:
        name = f"{timestamp.replace(':', '-')}_{label}_{random_digits()}{ending}"
        try:
            create_file(f"{path}/{name}", data)
        except FileExistsError:
            continue
        return name
