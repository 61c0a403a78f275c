"""A process that has `memory` loaded, and becomes one call after the other by forking: what every call loads is loaded once.

A call is a process like any other, with its own environment, directory and streams, that begins in `entry.main`. What is the
same for every call is there before it: modules, what an installed package holds, and what is compiled once a process.

On the control socket each call comes as one byte with four files: standard input, output and error, and the call's own
socket. There the call reads its words, and the server says its process id and, when it has ended, how (two int32).
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, TextIO, cast

import agent_memory

if TYPE_CHECKING:
    from coverage import Coverage

LOADED = (
    *("attrs", "json_repair", "numpy", "returns.result", "ruamel.yaml", "snowballstemmer", "sqlite3"),
    *("statemachine", "subprocess"),
)
INT32 = struct.Struct("!i")
LARGE_PAGE, MADV_COLLAPSE = 2 << 20, 25


def serve(control: socket.socket) -> None:
    """Answer until the other side hangs up. Returns in the server when that happens, and in each call when it is ready to
    begin."""
    waking, woken = socket.socketpair()
    for each in (waking, woken):
        each.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno())
    calls: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if woken in ready:
                woken.recv(4096)
                _tell_ended(calls)
            if control in ready:
                _, files, _, _ = socket.recv_fds(control, 1, 4)
                if not files:
                    return
                call = socket.socket(fileno=files[3])
                child = os.fork()
                if not child:
                    break
                for file in files[:3]:
                    os.close(file)
                calls[child] = call
                call.sendall(INT32.pack(child))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for each in (control, waking, woken, *calls.values()):
        each.close()
    _become(files[:3], call)


def _tell_ended(calls: dict[int, socket.socket]) -> None:
    while calls:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        with calls.pop(child) as call:
            try:
                call.sendall(INT32.pack(os.waitstatus_to_exitcode(status)))
            except OSError:  # nobody waits for it any more
                continue


def _become(streams: list[int], call: socket.socket) -> None:
    """This process is now as one that was started with the call's words, directory, environment and streams."""
    with call, call.makefile("rb") as asking:
        wanted = json.loads(asking.read())
    if not wanted["is_measured"]:
        _go_unmeasured()
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    os.chdir(wanted["cwd"])
    if "umask" in wanted:
        os.umask(wanted["umask"])
    if (
        "LD_PRELOAD" not in os.environ
    ):  # else the library sees the flushes: it fails them, or the power goes without them
        os.fsync = lambda fd: None  # as in the tests' own process
    os.environ.clear()
    os.environ.update(wanted["environ"])
    time.tzset()
    _customize(wanted["environ"].get("PYTHONPATH", ""))
    sys.argv[:] = ["-c", *wanted["words"]]
    sys.orig_argv[:] = [sys.executable, *wanted["program"], *wanted["words"]]
    sys.stdin = _like(sys.stdin, io.BufferedReader(io.FileIO(0, "r", closefd=False)))
    sys.stdout = _like(sys.stdout, io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    sys.stderr = _like(sys.stderr, io.BufferedWriter(io.FileIO(2, "w", closefd=False)))


def _go_unmeasured() -> None:
    measuring = _coverage()
    if measuring is not None:
        measuring._auto_save = False
        measuring.stop()


def _coverage() -> Coverage | None:
    """What measures this process, if anything does."""
    if "coverage" not in sys.modules:
        return None
    from coverage import Coverage

    return Coverage.current()


def _customize(python_path: str) -> None:
    """What Python does on starting with a PYTHONPATH: modules are found there, and a `sitecustomize` runs."""
    added = [each for each in python_path.split(os.pathsep) if each and each not in sys.path]
    sys.path[1:1] = added
    if any(os.path.exists(f"{each}/sitecustomize.py") for each in added):
        sys.modules.pop("sitecustomize", None)
        import_module("sitecustomize")


def _like(stream: TextIO, buffer: io.BufferedReader | io.BufferedWriter) -> TextIO:
    """A text stream over a buffer that is set up as this one is; to a terminal, line by line."""
    known = cast("io.TextIOWrapper", stream)
    by_line = known.line_buffering or buffer.isatty()
    return io.TextIOWrapper(buffer, encoding=known.encoding, errors=known.errors, line_buffering=by_line)


def act(main: Callable[[], int]) -> NoReturn:
    """Run `main`, and end as Python ends after `sys.exit(main())`, but for taking all modules apart: that would cost more
    than most calls."""
    try:
        code = main()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(code)


def load() -> None:
    """Load what calls load. What cannot be loaded (an extra that is not installed) is left to the call that needs it."""
    ours = pkgutil.walk_packages(agent_memory.__path__, "agent_memory.", onerror=lambda _: None)
    for name in (*LOADED, *(module.name for module in ours)):
        with suppress(Exception):
            import_module(name)
    _read_vocabulary()
    _hand_nothing_over()
    if "LD_PRELOAD" not in os.environ:
        _warm_up()
    measuring = _coverage()
    if measuring is not None:  # what was covered so far is the server's: no call is to write it down once more
        measuring.stop()
        measuring.save()
        measuring.start()
    gc.collect()
    gc.freeze()
    _fold_pages()


WARM_UP = (
    *(
        ("remember", "The lamp is lit from port 8080."),
        ("remember", "The lamp is lit from port 9090."),
        ("list", "--json"),
    ),
    *(("capture", "--title", "Lamp", "--body", "The lamp is built with make."), ("consolidate",), ("search", "lamp")),
    *(("defrag",), ("status", "--json"), ("doctor", "--json"), ("log", "--json"), ("undo",)),
)
"""Calls after which most is compiled that a process compiles once: patterns, converters, the rules of redaction."""


def _warm_up() -> None:
    """Make these calls here, in a home that goes away: it is a third of what each later call would take."""
    from agent_memory.cli.entry import main

    known, words = dict(os.environ), sys.argv
    with tempfile.TemporaryDirectory() as home, open(os.devnull, "w") as nowhere:
        os.environ |= {"HOME": home, "AGENT_MEMORY_ROOT": f"{home}/memories"}
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            for each in WARM_UP:
                sys.argv = ["memory", *each]
                main()
    os.environ.clear()
    os.environ.update(known)
    sys.argv = words


def _fold_pages() -> None:
    """Have Linux (6.1 and later) keep what is loaded in large pages: what forking takes is mostly to copy the table of them."""
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if not madvise or not os.path.exists("/proc/self/maps"):
        return
    with open("/proc/self/maps") as maps:
        spans = [line.split()[0].split("-") for line in maps if " rw-p 00000000 00:00 0" in line]
    for first, last in spans:
        for address in range(-(-int(first, 16) // LARGE_PAGE) * LARGE_PAGE, int(last, 16) - LARGE_PAGE + 1, LARGE_PAGE):
            madvise(ctypes.c_void_p(address), ctypes.c_size_t(LARGE_PAGE), MADV_COLLAPSE)


def _read_vocabulary() -> None:
    """The vocabulary of the installed embedder, which a third of most calls is spent on, is the same for each of them."""
    from agent_memory.recall import embedding

    vars(embedding)["_read_vocabulary"] = functools.cache(embedding._read_vocabulary)
    embedding.open_static_vectors("/")


def _hand_nothing_over() -> None:
    """No hook at a session's end starts `memory checkpoint`: it would write into the home behind the test's back. What it does is
    tested with a process of its own."""
    from agent_memory.capture import hook

    vars(hook)["_hand_over"] = lambda _: None


if __name__ == "__main__":
    from agent_memory.cli.entry import main

    # That of an installed script. Nothing is imported from where the call is made: a fault there would be one of Python.
    sys.path[0] = os.path.dirname(sys.executable)
    load()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        server = os.getpid()
        serve(control)
    if os.getpid() != server:
        act(main)
