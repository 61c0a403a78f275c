"""Sizes that nobody should have and somebody will: CPU time and peak memory of whole processes (P25).

    python -m bench.bulk [--full]

A long transcript, and one that is a single line, go through capture and consolidate; an inbox full of sessions and notes
is counted (`memory status`), captured into, and one entry of it consolidated (`--limit 1`); in a store of many notes one session
is captured and consolidated, and one note remembered: when nothing is indexed or cached, again, and after half of the notes were
touched, as by git. By default a fraction of the sizes that are promised; with `--full` the promised ones, which take some minutes
and 3 GB of disk. Beside them stand a bare interpreter, and one that reads the same bytes. What else a store of many notes costs
is in `bench.scale`.
Exits 1 where a peak reaches LIMIT_MB.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from bench.invented_sessions import SESSION, one_long_line, working_session
from bench.measure import BARE, MEGA, Took, print_table, run, scratch_environment
from bench.populated_home import PopulatedHome
from bench.results import Figure, keep

from agent_memory.capture.inbox_files import render_inbox_entry
from agent_memory.note.note import Harness
from agent_memory.session.queue import Context, InboxEntry, InlineNote, SessionFile
from agent_memory.text.instants import iso_of

LIMIT_MB = 200
FIRST_MS = 1_770_000_000_000
MINUTE_MS = 60_000
EVENTS_A_SESSION = 20
"""A session leaves an entry after every turn."""

READ = """
import os, sys
place = sys.argv[1]
for path in [each.path for each in os.scandir(place)] if os.path.isdir(place) else [place]:
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
"""
Measured = tuple[str, str, Took]
"""What was done, on what, and what it took."""


@frozen
class Sizes:
    transcript_bytes: int
    line_bytes: int
    inbox_entries: int
    notes: int


PROMISED = Sizes(1024 * MEGA, 100 * MEGA, 100_000, 50_000)
SMALL = Sizes(20 * MEGA, 100 * MEGA, 2_000, 2_000)


@frozen
class Bench:
    """Runs `memory` in a scratch home, a new one for each subject."""

    memory: str
    work: Path

    def environ(self, name: str) -> Mapping[str, str]:
        (self.work / name).mkdir(exist_ok=True)
        return scratch_environment(self.work / name)

    def call(self, name: str, *words: str) -> Took:
        return run([self.memory, *words], environ=self.environ(name), cwd=self.work / name)


def transcripts(bench: Bench, sizes: Sizes) -> Iterator[Measured]:
    """Capture and consolidate of one session each."""
    subjects = {
        f"a transcript of {sizes.transcript_bytes // MEGA:,} MB": working_session(sizes.transcript_bytes),
        f"a line of {sizes.line_bytes // MEGA:,} MB": one_long_line(sizes.line_bytes),
    }
    for number, (subject, lines) in enumerate(subjects.items()):
        name = f"transcript-{number}"
        bench.environ(name)
        path = bench.work / name / ".claude" / "projects" / "-work-harbour" / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.writelines(lines)
        session = ("--harness", "claude-code", "--session", SESSION, "--transcript", str(path))
        yield "read it", subject, run((sys.executable, "-c", READ, str(path)))
        yield "capture", subject, bench.call(name, "capture", *session)
        yield "consolidate", subject, bench.call(name, "consolidate")
        path.unlink()


def inbox(bench: Bench, entries: int) -> Iterator[Measured]:
    """Counting a full inbox, and working on one entry of it."""
    directory = Path(bench.environ("inbox")["AGENT_MEMORY_ROOT"]) / "inbox"
    directory.mkdir(parents=True)
    for number in range(entries):
        each = inbox_entry(number, str(bench.work))
        name = f"{iso_of(each.at_ms).replace(':', '-')}_{each.harness}_{number:06d}.json"
        (directory / name).write_text(render_inbox_entry(each))
    subject = f"{entries:,} inbox entries"
    yield "read it", subject, run((sys.executable, "-c", READ, str(directory)))
    yield "status", subject, bench.call("inbox", "status")
    note = ("--title", "Half tide", "--body", "The lock gate of the north basin opens at half tide.")
    yield "capture", subject, bench.call("inbox", "capture", *note)
    yield "consolidate --limit 1", subject, bench.call("inbox", "consolidate", "--limit", "1")


def notes(bench: Bench, count: int) -> Iterator[Measured]:
    """Captures and consolidations of one session each in a store of so many notes, and single notes."""
    home, subject = PopulatedHome(bench.work / "notes", bench.memory, count), f"{count:,} notes"

    def remember(day: int) -> Took:
        return home.call("remember", f"The lock gate opens at half tide, never earlier. Seen on day {day}.")

    yield "read them", subject, home.read_all()
    yield "capture --hook", subject, home.hook("capture", "Stop")
    yield "consolidate, the first time", subject, home.consolidate_session()
    home.build_index()
    yield "remember", subject, remember(1)
    yield "consolidate", subject, home.consolidate_session()
    home.touch_half()
    yield "remember, half of them touched", subject, remember(2)
    home.touch_half()
    yield "consolidate, half of them touched", subject, home.consolidate_session()


def inbox_entry(number: int, cwd: str) -> InboxEntry:
    """Mostly the turns of sessions, and now and then a note; the oldest is a note."""
    at_ms = FIRST_MS + number * MINUTE_MS
    if number % EVENTS_A_SESSION == 0:
        note = InlineNote(f"Berth {number} is dredged", f"Berth {number} takes a draught of 9 m since it was dredged.")
        return InboxEntry(at_ms, Harness.MANUAL, note)
    session = f"{number // EVENTS_A_SESSION:08x}-0000-4000-8000-000000000000"
    path = f"/home/ada/.claude/projects/-work-harbour/{session}.jsonl"
    context = Context(cwd=cwd, branch="main", commit=f"{number:040x}", event="Stop")
    return InboxEntry(at_ms, Harness.CLAUDE_CODE, SessionFile("claude-code-session", session, path), context)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the promised sizes")
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    sizes = PROMISED if arguments.full else SMALL
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        bench = Bench(arguments.memory, Path(directory))
        bare = sorted((run(BARE) for _ in range(5)), key=lambda took: took.cpu_seconds)[2]
        measured: list[Measured] = [("python -c pass", "", bare)]
        for part in (transcripts(bench, sizes), inbox(bench, sizes.inbox_entries), notes(bench, sizes.notes)):
            measured.extend(part)
    rows = []
    for did, subject, took in measured:
        of = f"{did}, {subject}" if subject else did
        keep(Figure(of, "cpu_seconds", round(took.cpu_seconds, 4)), Figure(of, "peak_mb", round(took.peak_mb, 2)))
        ratio = took.cpu_seconds / bare.cpu_seconds
        rows.append((subject, did, f"{took.cpu_seconds:,.2f} s", f"{ratio:,.0f}", f"{took.peak_mb:,.0f} MB"))
    print_table("Whole processes, once each", ("on", "did", "CPU", "ratio", "peak memory"), rows)
    return 1 if max(took.peak_mb for _, _, took in measured) >= LIMIT_MB else 0


if __name__ == "__main__":
    sys.exit(main())
