"""Consolidating one long session, as a process from start to end: fetch, redact, extract, check, write, commit.

    python -m bench.consolidate [--runs 5] [--transcript FILE]

Measured is the largest Claude Code transcript among the shared fixtures; where there are none, a generated one of 2 MB.
Beside it stand a bare interpreter and one that passes each line of the same file through `json.loads`. Every run begins
with an empty store; the commit to git is part of it. Exits 1 where the peak is above LIMIT_MB (P25).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.histories import working_session
from bench.measure import (
    BARE,
    COMPARED,
    MEGA,
    SHARED,
    Took,
    alternating,
    compared,
    peak_mb,
    print_table,
    run,
    scratch_environment,
)

LIMIT_MB = 200
GENERATED_BYTES = 2 * MEGA

_PARSE = """
import json, sys
for line in open(sys.argv[1], "rb"):
    try:
        json.loads(line)
    except ValueError:
        continue
"""


def largest_transcript(directory: Path) -> Path | None:
    """The largest transcript below a directory, if there is any."""
    return max(directory.rglob("*.jsonl"), key=lambda path: path.stat().st_size, default=None)


def session_of(transcript: Path) -> str:
    """The session id that the first record with one states."""
    with transcript.open("rb") as lines:
        for line in lines:
            if b'"sessionId"' in line:
                return str(json.loads(line)["sessionId"])
    raise SystemExit(f"{transcript} states no session")


def placed(transcript: Path, work: Path) -> Path:
    """A copy where Claude Code keeps its transcripts under the home `work`: nothing else is read (P27)."""
    place = work / ".claude" / "projects" / "-work-harbour" / f"{session_of(transcript)}.jsonl"
    place.parent.mkdir(parents=True)
    shutil.copyfile(transcript, place)
    return place


def consolidated(memory: str, transcript: Path, work: Path) -> Took:
    """`memory consolidate` of this session alone, in a new store."""
    environ = scratch_environment(work)
    shutil.rmtree(work / "store", ignore_errors=True)
    capture = [
        memory,
        "capture",
        "--harness",
        "claude-code",
        "--session",
        transcript.stem,
        "--transcript",
        str(transcript),
    ]
    run(capture, environ=environ, cwd=work)
    took = run([memory, "consolidate"], environ=environ, cwd=work)
    if b"1 session processed" not in took.stdout:
        raise SystemExit(f"the session was not consolidated: {took.stdout.decode()}")
    return took


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--transcript", type=Path, default=largest_transcript(SHARED / "fixtures" / "claude-code"))
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        work = Path(directory)
        source = arguments.transcript or work / "generated.jsonl"
        if arguments.transcript is None:
            with source.open("wb") as file:
                file.writelines(working_session(GENERATED_BYTES))
        transcript = placed(source, work)
        took = alternating(
            {
                "python -c pass": partial(run, BARE),
                "json.loads of each line": partial(run, (sys.executable, "-c", _PARSE, str(transcript))),
                "memory consolidate": partial(consolidated, arguments.memory, transcript, work),
            },
            arguments.runs,
        )
        said = took["memory consolidate"][0].stdout.decode().strip().splitlines()[-1]
        size_mb = transcript.stat().st_size / MEGA
    print_table(f"{source.name}, {size_mb:.1f} MB: {said}", COMPARED, compared(took, "python -c pass"))
    return 1 if peak_mb(took["memory consolidate"]) > LIMIT_MB else 0


if __name__ == "__main__":
    sys.exit(main())
