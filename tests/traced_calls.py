"""Processes of `memory` whose system calls fail, or are their last, by what the kernel offers to tracers (strace): `disk_faults` does
it to functions of the C library, this to the calls beneath them, whoever makes them.

Counted are the calls of the process's first thread. What it starts (git, an agent command) is left alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define, field

from disk_faults import KILL, SHORT, Fault
from memory_process import LIMIT_SECONDS, PROGRAM, Done, Memory
from swept_scenes import Scene

IN_A_DIRECTORY = frozenset(
    ["linkat", "mkdirat", "newfstatat", "openat", "readlinkat", "renameat", "renameat2", "unlinkat", "utimensat"]
)
"""Their first argument is a directory, and their second a name in it."""
OF_A_NAME = frozenset(["chmod", "link", "mkdir", "readlink", "rename", "rmdir", "unlink"])
OF_A_FILE = frozenset(
    [
        "close",
        "fchmod",
        "fcntl",
        "fdatasync",
        "flock",
        "fsync",
        "ftruncate",
        "getdents64",
        "lseek",
        "pread64",
        "pwrite64",
        "read",
        "write",
    ]
)
CALLS = IN_A_DIRECTORY | OF_A_NAME | OF_A_FILE
_ALL = f"trace={','.join(sorted(CALLS))}"
"""Also where one is to be struck: who traces fewer makes a process faster, and what it hears of its children comes otherwise."""
_LINE = re.compile(r'(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>(?:, )?)?(?:"([^"]*)")?')
_STRUCK = "(INJECTED)"


@define
class Traced:
    """The calls of one scene; each is struck in a process of its own."""

    _points: list[tuple[str, int]] = field(factory=list)
    """Each call below the home: its name, and the how many-th of that name it is in the process."""
    _has_struck: bool = False

    def calls_of(self, memory: Memory, scene: Scene) -> list[str]:
        """See `Means`."""
        log = memory.home.with_name(f"{memory.home.name}.calls")
        done = _traced(memory, scene, log, _ALL)
        assert done.code in scene.ends, done
        found = list(_calls_below(memory.home, log))
        self._points = [point for point, _ in found]
        return [f"{name} {path}" for (name, _), path in found]

    def can(self, fault: Fault) -> bool:
        """See `Means`. A call fails once, or is the last."""
        return not fault.is_lasting and fault.what != SHORT

    def struck(self, memory: Memory, fault: Fault, scene: Scene) -> Done:
        """See `Means`."""
        log = memory.home.with_name(f"{memory.home.name}.struck")
        if not fault.at:
            return _traced(memory, scene, log, "trace=none")
        name, number = self._points[fault.at - 1]
        what = "signal=KILL" if fault.what == KILL else f"error={fault.what}"
        done = _traced(memory, scene, log, _ALL, f"inject={name}:{what}:when={number}")
        lines = log.read_text(errors="replace").splitlines()
        made = [line for line in lines if line.startswith(f"{name}(")]
        # A process that is killed never returns from the call, and nothing is said of it.
        struck = made[number - 1 :][:1] if fault.what == KILL else [line for line in made if _STRUCK in line]
        self._has_struck = any(_is_below(memory.home, _path(line)) for line in struck)
        return done

    def has_struck(self) -> bool:
        """See `Means`. The k-th call of a kind may be another one this time: one on a pipe, say."""
        return self._has_struck


def _traced(memory: Memory, scene: Scene, log: Path, *expressions: str) -> Done:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    traced = [strace, "-y", "-qq", "-o", str(log), *(word for each in expressions for word in ("-e", each))]
    finished = subprocess.run(
        [*traced, *PROGRAM, *scene.words],
        input=scene.data(memory.home),
        cwd=memory.home,
        env=memory.environment({"PYTHONHASHSEED": "0", **scene.variables(memory.home)}),
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return Done(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


def _calls_below(home: Path, log: Path) -> Iterator[tuple[tuple[str, int], str]]:
    counts: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        name = line.partition("(")[0]
        counts[name] += 1
        path = _path(line)
        if name in CALLS and _is_below(home, path):
            yield (name, counts[name]), path.removeprefix(f"{home}/")


def _is_below(home: Path, path: str) -> bool:
    return f"{path}/".startswith(f"{home}/")


def _path(line: str) -> str:
    """What a call is about; names are as strace writes them."""
    found = _LINE.match(line)
    if found is None:
        return ""
    name, opened, said = found[1], found[2] or "", found[3] or ""
    if name in OF_A_FILE or not said:
        return opened
    return said if said.startswith("/") else f"{opened}/{said}"
