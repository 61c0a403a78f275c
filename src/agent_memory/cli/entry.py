"""The console script. A hook's call branches off before anything else is imported."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000
"""Modules stay for as long as the process does, so collecting cycles among them is wasted: with Python's threshold of
700, it took a tenth of a search."""


_BLAS_THREADS = "1"
"""For numpy, where meanings are compared: its threads spin for as long as half a search before they have anything to
do, and then one of them has done it."""


def run() -> "NoReturn":
    """Runs `main` as a process. Every file is closed and synced when a command is done; letting the interpreter take
    apart each object then would be a tenth of a search, so it is skipped. If other threads are still at work, they are
    waited for."""
    code = main()
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(code)
    import atexit

    # As `multiprocessing` ends its processes.
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # `main` has reported what was refused; nobody is left to be told
            pass
    os._exit(code)


def main() -> int:
    """Returns the exit code of `memory …`. With `--hook` it does not return: the process ends in `hook` or
    `inject_hook`."""
    words = sys.argv[1:]
    if "--hook" in words and words[:1] in (["capture"], ["inject"]):
        _run_hook(*words)
    _go_on_in_utf_8()
    import gc  # a hook does without

    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    if words[:1] == ["search"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", _BLAS_THREADS)
    try:
        from agent_memory.cli.main import main as run_command

        return run_command()
    except KeyboardInterrupt:  # before the command could handle it, or while the process was ending
        return 130


def _run_hook(command: str, *words: str) -> None:
    """Ends the process with code 0, even where the installation is broken or no file can be opened."""
    try:
        if command == "inject":
            from agent_memory.cli.inject_hook import run_inject_hook

            run_inject_hook([*words])
        from agent_memory.capture.hook import run_hook

        run_hook([*words])
    finally:
        os._exit(0)


def _go_on_in_utf_8() -> None:
    """Restarts in Python's UTF-8 mode if the locale is another: a title could not become a file name, and two people's
    locales would read one store differently. The arguments keep their meaning; the terminal keeps its encoding."""
    # Documented for CPython, and nothing else shows a `-X utf8=0`.
    is_chosen = "utf8" in sys._xoptions  # pyright: ignore[reportPrivateUsage]
    if sys.getfilesystemencoding() == "utf-8" or is_chosen or not sys.executable:
        return
    shown = sys.stdout.encoding if sys.stdout is not None else "utf-8"
    # What the locale could not decode is passed on as it came.
    words = [word.encode("utf-8", "surrogateescape") for word in (sys.executable, "-X", "utf8", *sys.orig_argv[1:])]
    os.execve(sys.executable, words, {"PYTHONIOENCODING": shown, **os.environ})
