"""What a capture costs a harness: `memory capture --harness claude-code --hook` against `python -c pass`, in one run.

    python -m bench.capture [--runs 200] [--memory PATH]

Both commands are the same interpreter's and take turns, so a busy machine slows both. Every run is a fresh process with a
payload on stdin; the hook reads a real repository and leaves a durable inbox entry each time, on tmpfs and on disk.
Printed are medians in milliseconds and the ratio; the goal is at most 1.5 on tmpfs. Exits 1 where it is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.measure import BARE, COMPARED, alternating, compared, median_ms, print_table, run, scratch_environment

GOAL = 1.5
WARMUPS = 5
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


def measure(name: str, parent: Path, hook: Sequence[str], runs: int) -> float:
    """Print the medians for a store below `parent`; the ratio."""
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-", dir=parent) as directory:
        work = Path(directory)
        environ = scratch_environment(work)
        project = repository(work / "lamp")
        data = payload(project)
        took = alternating(
            {
                "python -c pass": partial(run, BARE, environ=environ, cwd=project, input=data),
                "memory capture --hook": partial(run, hook, environ=environ, cwd=project, input=data),
            },
            runs,
            WARMUPS,
        )
        captures = took["memory capture --hook"]
        if any(each.stdout or each.stderr for each in captures):
            raise SystemExit("the hook printed something")
        written = len(list((work / "store" / "inbox").glob("*.json")))
        if written != WARMUPS + runs:
            raise SystemExit(f"{WARMUPS + runs} captures left {written} entries")
    print_table(name, COMPARED, compared(took, "python -c pass"))
    return median_ms(captures) / median_ms(took["python -c pass"])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    hook = [arguments.memory, "capture", "--harness", "claude-code", "--hook"]
    ratio = None
    if os.access(TMPFS, os.W_OK):
        ratio = measure("tmpfs", TMPFS, hook, arguments.runs)
    measure("disk", Path.home(), hook, arguments.runs)
    return 1 if ratio is not None and ratio > GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
