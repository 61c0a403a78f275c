"""Whole processes measured: seconds, CPU seconds, peak memory; and the tables that the benches print.

A small interpreter of its own starts each process and waits for it. Linux counts what the *parent* held towards a child's
`ru_maxrss` (the memory before `exec`), so a parent of our size would hide small children; and starting from a small
process costs the same whatever the bench has loaded. A peak below that of a bare interpreter (some 10 MB) cannot be seen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from attrs import frozen

MEGA = 1_000_000
SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Fixtures beside the checkout; a bench does without where they are absent."""

BARE = (sys.executable, "-c", "pass")
"""What every ratio is to, unless a bench says otherwise."""

_LAUNCHER = """
import os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
status, used = os.wait4(child, 0)[1:]
seconds = time.perf_counter() - started
figures = seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status)
os.write(int(sys.argv[1]), " ".join(map(str, figures)).encode())
"""

SETTLED_SECONDS = 2.1
"""A file that was written less than two seconds ago is looked at again."""

_MAXRSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


@frozen
class Took:
    """What one process took. Its own children count towards CPU time and peak, each peak by itself."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stdout: bytes
    stderr: bytes

    @property
    def ms(self) -> float:
        return self.seconds * 1000

    @property
    def peak_mb(self) -> float:
        return self.peak_bytes / MEGA


def run(
    command: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: bytes = b"",
    ends_well: Collection[int] = (0,),
) -> Took:
    """One process from start to end. SystemExit where it fails: a figure of a failure is none. A command whose exit code
    tells what it found has several that are no failure."""
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-E", "-c", _LAUNCHER, str(writing), *command],
            input=input,
            capture_output=True,
            env=None if environ is None else dict(environ),
            cwd=cwd,
            pass_fds=(writing,),
            check=False,
        )
    finally:
        os.close(writing)
    with os.fdopen(reading) as figures:
        words = figures.read().split()
    if done.returncode or int(words[3]) not in ends_well:
        raise SystemExit(f"{' '.join(command)} failed: {(done.stderr or done.stdout).decode('utf-8', 'replace')}")
    return Took(float(words[0]), float(words[1]), int(words[2]) * _MAXRSS_UNIT_BYTES, done.stdout, done.stderr)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """One table on stdout, figures to the right of what they belong to."""
    lines = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(title)
    for first, *others in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        print("  " + "   ".join(cells).rstrip())
    print(flush=True)


def scratch_environment(work: Path) -> dict[str, str]:
    """An environment whose home and store lie below `work`."""
    return {"PATH": os.environ["PATH"], "HOME": str(work), "AGENT_MEMORY_ROOT": str(work / "store"), "LANG": "C.UTF-8"}
