"""Reading transcripts of every size: seconds and peak memory of one fetch, each in a process of its own.

    python -m bench.histories [--full | --megabytes N] [--transcript FILE ...]

Generates its transcripts in a temporary directory (`TMPDIR`), largest first, and removes each after its run. P25: every
peak stays below 200 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen
from bench.measure import print_table
from returns.result import Success

from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.transcripts import TranscriptRoots
from agent_memory.note.note import Harness
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import InboxEntry, SessionFile
from agent_memory.text.instants import iso_of

SESSION = "00000000-0000-4000-8000-00000000be7c"
LIMIT_MB = 200
MB = 1_000_000


def record(number: int, kind: str, message: object, **further: object) -> bytes:
    value = {
        "parentUuid": f"{number - 1:08x}-0000-4000-8000-000000000000",
        "isSidechain": False,
        "cwd": "/srv/harbour",
        "sessionId": SESSION,
        "version": "2.1.210",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": iso_of(1_770_000_000_000 + number),
        **further,
    }
    return json.dumps(value).encode() + b"\n"


def text_message(role: str, text: str, id: str = "") -> dict[str, object]:
    return {"role": role, "id": id, "model": "claude-opus-5", "content": [{"type": "text", "text": text}]}


def working_session(size_bytes: int) -> Iterator[bytes]:
    """What a long session holds: prompts, answers in blocks, calls, long outputs, progress."""
    number = written = 0
    output = "src/harbour/server.py:120: warning: unused import of the old port table\n" * 60
    while written < size_bytes:
        call = f"toolu_{number}"
        asked = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"make test-{number}"}}
        answered = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
        round_of_records = [
            record(number, "user", text_message("user", f"Look at failure {number}, please.")),
            record(
                number + 1,
                "assistant",
                text_message("assistant", "I run the tests and read the log. " * 6, f"m{number}"),
            ),
            record(number + 2, "assistant", {"role": "assistant", "id": f"m{number}", "content": [asked]}),
            *(
                record(number + 3 + step, "progress", None, data={"type": "bash_progress", "output": output[:1500]})
                for step in range(5)
            ),
            record(number + 8, "user", {"role": "user", "content": [answered]}),
        ]
        number += len(round_of_records)
        written += sum(map(len, round_of_records))
        yield from round_of_records


def tiny_prompts(size_bytes: int) -> Iterator[bytes]:
    """As many turns as a file of this size can hold."""
    number = written = 0
    while written < size_bytes:
        line = record(number, "user", {"content": "go on"})
        number += 1
        written += len(line)
        yield line


def one_long_line(size_bytes: int) -> Iterator[bytes]:
    yield record(0, "user", text_message("user", "Before."))
    yield b'{"type":"user","message":{"content":"'
    for _ in range(size_bytes // MB):
        yield b"x" * MB
    yield b'"}}\n'
    yield record(1, "user", text_message("user", "After."))


def lines_just_below_the_limit(filling: str) -> Callable[[int], Iterator[bytes]]:
    def lines(size_bytes: int) -> Iterator[bytes]:
        filler = filling * (15 * MB // len(filling.encode()))
        for number in range(max(1, size_bytes // (15 * MB))):
            message = json.dumps(text_message("user", "MARK"), ensure_ascii=False).replace("MARK", filler)
            yield record(number, "user", "HERE").replace(b'"HERE"', message.encode())

    return lines


@frozen
class Case:
    name: str
    lines: Callable[[int], Iterator[bytes]]
    size_bytes: int


def cases(megabytes: int) -> tuple[Case, ...]:
    return (
        Case("a working session", working_session, megabytes * MB),
        Case("prompts of two words", tiny_prompts, megabytes * MB // 4),
        Case("one line of 100 MB", one_long_line, 100 * MB),
        Case("lines of 15 MB, ASCII", lines_just_below_the_limit("x"), 60 * MB),
        Case("lines of 15 MB, emoji", lines_just_below_the_limit("⚓🚢 harbour "), 60 * MB),
    )


def fetch(path: Path, mark: SessionMark | None) -> History:
    source = ClaudeCodeSessions(TranscriptRoots((str(path.parent),)))
    entry = InboxEntry(0, Harness.CLAUDE_CODE, SessionFile("claude-code-session", SESSION, str(path)))
    match source.fetch(entry, mark):
        case Success(History() as history):
            return history
        case other:
            raise SystemExit(f"{path}: {other}")


def last_mark(path: Path) -> SessionMark:
    """The mark of a session that has been consolidated to its last record."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 64 * 1024))
        last = next(line for line in reversed(file.read().splitlines()) if b'"uuid"' in line)
    return SessionMark(Harness.CLAUDE_CODE, SESSION, json.loads(last)["uuid"], None, 0, True, "builtin")


def peak_bytes() -> int:
    """The most memory that this process has held. On Linux `ru_maxrss` would count its parent's before it was started."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure_here(path: Path, grown: bool) -> None:
    """One fetch, in this process alone; prints what was measured as JSON."""
    mark = last_mark(path) if grown else None
    started = time.perf_counter()
    history = fetch(path, mark)
    seconds = time.perf_counter() - started
    peak = peak_bytes() / MB
    chars = sum(len(turn.text) for turn in history.turns)
    skipped = sum(history.skipped.values())
    print(json.dumps([seconds, peak, len(history.turns), chars, skipped, history.remaining]))


def seconds_to_read(path: Path) -> float:
    """The baseline: a pass over the file's bytes, from the same cache."""
    started = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(MB):
            continue
    return time.perf_counter() - started


@frozen
class Report:
    """One row of the table."""

    cells: tuple[str, ...]
    within: bool
    """Whether the peak stays below the limit."""


def report(name: str, path: Path, *, grown: bool = False) -> Report:
    argv = [sys.executable, "-m", "bench.histories", "--measure", str(path), *(["--grown"] if grown else [])]
    baseline = seconds_to_read(path)
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    seconds, peak, turns, chars, skipped, remaining = json.loads(done.stdout)
    size = path.stat().st_size / MB
    cells = (
        name + (" (more remains)" if remaining else ""),
        f"{size:,.1f} MB",
        f"{seconds:.2f} s",
        f"{size / seconds:,.0f}",
        f"{seconds / baseline:,.0f}",
        f"{peak:,.0f} MB",
        f"{turns:,}",
        f"{chars:,}",
        f"{skipped:,}",
    )
    return Report(cells, peak < LIMIT_MB)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Seconds and peak memory of reading transcripts.")
    parser.add_argument("--megabytes", type=int, default=64, help="size of the largest generated transcript")
    parser.add_argument("--full", action="store_const", const=1024, dest="megabytes", help="a gigabyte, as promised")
    parser.add_argument("--transcript", type=Path, action="append", default=[], help="also measure this transcript")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--grown", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.measure:
        measure_here(arguments.measure, arguments.grown)
        return 0
    reports = [report(path.name[-34:], path.resolve()) for path in arguments.transcript]
    with tempfile.TemporaryDirectory() as directory:
        for case in cases(arguments.megabytes):
            path = Path(directory) / f"{SESSION}.jsonl"
            with path.open("wb") as file:
                file.writelines(case.lines(case.size_bytes))
            reports.append(report(case.name, path))
            if case.lines in (working_session, tiny_prompts):
                reports.append(report("  with nothing new in it", path, grown=True))
            os.unlink(path)
    print_table(
        "One fetch each; the ratio is to reading the file's bytes",
        ("transcript", "size", "seconds", "MB/s", "ratio", "peak memory", "turns", "chars", "skipped"),
        [each.cells for each in reports],
    )
    return 0 if all(each.within for each in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
