"""Faults at the k-th system call: the process dies there, or the call fails with an errno.

A wrapper round each function of `os` that changes the disk (or, for errors, also those that open, read and list). `fsync`
is counted but not carried out: it takes most of the time, and what a dead process wrote is still there without it.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from typing import Any

CHANGING = ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "utime", "chmod", "fchmod")
ALL = (*CHANGING, "open", "read", "listdir", "scandir", "stat", "lstat", "fstat", "close")


class Killed(BaseException):
    """The process is dead from here on."""


class Counter:
    """Calls seen so far, and whether the fault was reached."""

    def __init__(self) -> None:
        self.calls = 0
        self.struck = False


@contextmanager
def killed_at(k: int) -> Iterator[Counter]:
    """Every changing call from the k-th (1 is the first) on raises Killed instead of being made."""
    yield from _patched(CHANGING, k, lambda: Killed(), once=False)


@contextmanager
def failing_at(k: int, number: int, *, once: bool) -> Iterator[Counter]:
    """The k-th call raises `OSError(number)`; unless `once`, so does every later one that needs the disk's goodwill."""
    yield from _patched(ALL, k, lambda: OSError(number, os.strerror(number)), once=once)


def each_failure(
    number: int, *, once: bool = True, first: int = 1, step: int = 1
) -> Iterator[tuple[int, AbstractContextManager[Counter]]]:
    """`failing_at` one call after the other, each to be entered, until there is none left to fail."""
    return _each(lambda k: failing_at(k, number, once=once), first, step)


def each_kill(first: int = 1, step: int = 1) -> Iterator[tuple[int, AbstractContextManager[Counter]]]:
    """`killed_at` one call after the other, each to be entered and survived, until there is none left to be killed at."""
    return _each(killed_at, first, step)


def _each(
    fault: Callable[[int], AbstractContextManager[Counter]], first: int, step: int
) -> Iterator[tuple[int, AbstractContextManager[Counter]]]:
    for k in count(first, step):
        counters: list[Counter] = []

        @contextmanager
        def entered(k: int = k, counters: list[Counter] = counters) -> Iterator[Counter]:
            with suppress(Killed), fault(k) as counter:
                counters.append(counter)
                yield counter

        yield k, entered()
        if not counters[0].struck:
            return


@contextmanager
def failing_on(ending: str, *names: str, number: int = errno.EIO) -> Iterator[Counter]:
    """These functions of `os` fail on every path that ends so; with `open` Python's own `open` does, too."""
    counter = Counter()

    def wrapper(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            counter.calls += 1
            if args and isinstance(args[0], str | os.PathLike) and os.fspath(args[0]).endswith(ending):
                counter.struck = True
                raise OSError(number, os.strerror(number), args[0])
            return real(*args, **kwargs)

        return call

    places = [(os, name) for name in names] + ([(builtins, "open"), (io, "open")] if "open" in names else [])
    real = [(module, name, getattr(module, name)) for module, name in places]
    try:
        for module, name, function in real:
            setattr(module, name, wrapper(function))
        yield counter
    finally:
        for module, name, function in real:
            setattr(module, name, function)


def _patched(names: tuple[str, ...], k: int, fault: Callable[[], BaseException], *, once: bool) -> Iterator[Counter]:
    counter = Counter()

    def wrapper(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            counter.calls += 1
            if counter.calls == k or (counter.calls > k and not once):
                counter.struck = True
                raise fault()
            return real(*args, **kwargs)

        return call

    real = {name: getattr(os, name) for name in names}
    try:
        for name, function in real.items():
            setattr(os, name, wrapper(function if name != "fsync" else lambda _: None))
        yield counter
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def snapshot(root: os.PathLike[str] | str) -> dict[str, bytes]:
    """Bytes of every file below a directory that is not derived data, by relative path."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), root)
            if not path.startswith(".cache/"):
                with open(os.path.join(directory, name), "rb") as file:
                    found[path] = file.read()
    return found
