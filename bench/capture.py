"""What a capture costs a harness: `memory capture --harness claude-code --hook` against `python -c pass`, in one run.

    python bench/capture.py [--runs 200] [--memory PATH]

Both commands are the same interpreter's and take turns, so a busy machine slows both. Every run is a fresh process with a
payload on stdin; the hook reads a real repository and leaves a durable inbox entry each time, on tmpfs and on disk.
Printed are medians in milliseconds and the ratio; the goal is at most 1.5 on tmpfs. Exits 1 where it is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

GOAL = 1.5
TMPFS = Path("/dev/shm")


def payload(cwd: Path) -> bytes:
    """A turn's end, with an answer of ordinary length."""
    return json.dumps(
        {
            "session_id": "3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11",
            "transcript_path": "/home/ada/.claude/projects/lamp/3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11.jsonl",
            "cwd": str(cwd),
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "The relay was wired backwards. " * 60,
        }
    ).encode()


def repository(directory: Path) -> Path:
    """A directory with what git keeps in a clone."""
    git = directory / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (git / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        '[remote "origin"]\n\turl = git@github.com:owner/repo.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    )
    return directory


def run_ms(command: Sequence[str], data: bytes, environ: dict[str, str], cwd: Path) -> float:
    """Wall-clock milliseconds of one process; it must succeed in silence."""
    start = time.perf_counter()
    finished = subprocess.run(command, input=data, capture_output=True, env=environ, cwd=cwd, check=True)
    elapsed_ms = (time.perf_counter() - start) * 1000
    if finished.stdout or finished.stderr:
        raise SystemExit(f"{command[0]} printed something: {finished.stdout + finished.stderr!r}")
    return elapsed_ms


def measure(name: str, parent: Path, hook: Sequence[str], runs: int) -> float:
    """Print the medians for a store below `parent`; the ratio."""
    work = Path(tempfile.mkdtemp(prefix="agent-memory-bench-", dir=parent))
    try:
        environ = {"PATH": os.environ["PATH"], "HOME": str(work), "AGENT_MEMORY_ROOT": str(work / "store")}
        project = repository(work / "lamp")
        data = payload(project)
        bare, captures = [], []
        for _ in range(runs + 5):
            bare.append(run_ms([sys.executable, "-c", "pass"], data, environ, project))
            captures.append(run_ms(hook, data, environ, project))
        written = len(list((work / "store" / "inbox").glob("*.json")))
        if written != runs + 5:
            raise SystemExit(f"{runs + 5} captures left {written} entries")
    finally:
        shutil.rmtree(work)
    bare_ms, capture_ms = statistics.median(bare[5:]), statistics.median(captures[5:])  # the first ones warm the caches
    print(
        f"{name:6} python -c pass {bare_ms:6.2f} ms   capture {capture_ms:6.2f} ms   ratio {capture_ms / bare_ms:.2f}"
    )
    return capture_ms / bare_ms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args()
    hook = [arguments.memory, "capture", "--harness", "claude-code", "--hook"]
    ratio = None
    if os.access(TMPFS, os.W_OK):
        ratio = measure("tmpfs", TMPFS, hook, arguments.runs)
    measure("disk", Path.home(), hook, arguments.runs)
    return 1 if ratio is not None and ratio > GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
