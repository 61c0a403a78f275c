"""A look at all files of a store by a process of its own, while this one still loads what it needs the answer for.

To look at ten thousand files takes as long as to load half of our modules, and needs nothing of them. Only Linux: elsewhere
a second process costs more than it saves, or is not safe in all that a program may have loaded. Imports nothing but C modules.
"""

import marshal
import os
import sys
from array import array

from agent_memory.adapters.disk.directory_state import whole_look
from agent_memory.adapters.disk.durable import close_quietly

_WORTH_A_PROCESS_BYTES = 1 << 18
"""The size of a directory with about so many names that to look at its files takes longer than to start a process."""
_MOST_DESCRIPTORS = 1 << 10

_begun: dict[str, tuple[int, int]] = {}
"""By the real root: who looks, and where the answer comes from."""


def shelf_paths(root: str) -> tuple[str, ...]:
    """The directories of both shelves."""
    return f"{root}/topics", f"{root}/archive"


def shelf_looks(root: str) -> "tuple[tuple[int, array[int]], ...]":
    """Of both shelves of a real root, the state, and how each of those on it looks (`DirectoryLook`). OSError where something
    cannot be looked at."""
    return tuple((look.state, array("q", look.looks)) for look in map(whole_look, shelf_paths(root)))


def look_ahead(root: str) -> None:
    """Begin to look at both shelves, if there is enough to be seen. Best effort; for a process that has no other thread."""
    if root not in _begun and _is_worthwhile(shelf_paths(root)):
        ears = mouth = -1
        try:
            ears, mouth = os.pipe()
            process = os.fork()
        except OSError:  # too many processes or files: it is looked when it is needed
            close_quietly(ears)
            close_quietly(mouth)
            return
        if not process:
            _look(root, mouth)
        close_quietly(mouth)
        _begun[root] = process, ears


def looked_ahead(root: str) -> "tuple[tuple[int, array[int]], ...] | None":
    """`shelf_looks` since `look_ahead` was called: once, since the next question is about a later time. None where nobody
    looked, or something could not be looked at."""
    process, ears = _begun.pop(root, (0, -1))
    if not process:
        return None
    said = bytearray()
    try:
        while chunk := os.read(ears, 1 << 20):
            said += chunk
        return tuple((state, array("q", looks)) for state, looks in marshal.loads(said))
    except (OSError, EOFError, ValueError, TypeError):  # nothing was said, or not all of it
        return None
    finally:
        close_quietly(ears)
        _lay_to_rest(process)


def _is_worthwhile(paths: tuple[str, ...]) -> bool:
    if sys.platform != "linux":
        return False
    try:
        size_bytes = sum(os.stat(path, follow_symlinks=False).st_size for path in paths if os.path.lexists(path))
        return size_bytes >= _WORTH_A_PROCESS_BYTES and len(os.sched_getaffinity(0)) > 1
    except OSError:
        return False


def _look(root: str, mouth: int) -> None:
    """Tell in the new process what there is, and end it."""
    try:
        # Whoever waits for the end of our output must not wait for this one, nor a lock that is held.
        os.closerange(0, mouth)
        os.closerange(mouth + 1, _MOST_DESCRIPTORS)
        # More than fits into a pipe: the rest is written when somebody listens, and refused when nobody does any more.
        said = marshal.dumps([(state, looks.tobytes()) for state, looks in shelf_looks(root)])
        while said:
            said = said[os.write(mouth, said) :]
    finally:
        os._exit(0)


def _lay_to_rest(process: int) -> None:
    try:
        os.waitpid(process, 0)
    except ChildProcessError:  # somebody waits for all children
        return
