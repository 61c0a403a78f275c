"""Sizes that nobody should have and somebody will: time and peak memory of whole processes (P25).

    python -m bench.scale [--full]

A long transcript, and one that is a single line, go through capture and consolidate; an inbox full of sessions and notes
is counted (`memory status`) and one entry of it consolidated (`--limit 1`); a store full of notes is listed, read from
and added to. By default a fiftieth of the sizes that are promised; with `--full` the promised ones, which take some
minutes and 3 GB of disk. Exits 1 where a peak reaches LIMIT_MB.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from bench.histories import SESSION, one_long_line, working_session
from bench.listing import fill
from bench.measure import BARE, MEGA, Took, print_table, run, scratch_environment

from agent_memory.domain.inbox_entry import Context, InboxEntry, InlineNote, SessionFile
from agent_memory.domain.instants import iso_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.formats.inbox_json import render_inbox_entry

LIMIT_MB = 200
FIRST_MS = 1_770_000_000_000
MINUTE_MS = 60_000
EVENTS_A_SESSION = 20
"""A session leaves an entry after every turn."""

Measured = tuple[str, str, Took]
"""What was done, on what, and what it took."""


@frozen
class Sizes:
    transcript_bytes: int
    line_bytes: int
    inbox_entries: int
    topics: int


PROMISED = Sizes(1024 * MEGA, 100 * MEGA, 100_000, 50_000)
SMALL = Sizes(20 * MEGA, 100 * MEGA, 2_000, 1_000)


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
    yield "status", subject, bench.call("inbox", "status")
    yield "consolidate --limit 1", subject, bench.call("inbox", "consolidate", "--limit", "1")


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


def topics(bench: Bench, entries: int) -> Iterator[Measured]:
    """Listing a full store, reading from it and adding to it."""
    fill(Path(bench.environ("topics")["AGENT_MEMORY_ROOT"]), entries)
    subject = f"{entries:,} topics"
    yield "list, cold", subject, bench.call("topics", "list")
    bench.call("topics", "list")  # what was written less than two seconds ago is read again
    warm = bench.call("topics", "list")
    yield "list, warm", subject, warm
    yield "read ID", subject, bench.call("topics", "read", warm.stdout.split()[0].decode())
    yield "remember", subject, bench.call("topics", "remember", "The lock gate opens at half tide, never earlier.")
    note = ("--title", "Half tide", "--body", "The lock gate of the north basin opens at half tide.")
    yield "capture", subject, bench.call("topics", "capture", *note)
    yield "consolidate, first", subject, bench.call("topics", "consolidate")
    bench.call(
        "topics", "capture", "--title", "Full tide", "--body", "The lock gate of the south basin opens at full tide."
    )
    yield "consolidate, second", subject, bench.call("topics", "consolidate")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the promised sizes")
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    sizes = PROMISED if arguments.full else SMALL
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        bench = Bench(arguments.memory, Path(directory))
        bare = [run(BARE) for _ in range(5)]
        bare_seconds = sorted(each.seconds for each in bare)[2]
        measured: list[Measured] = [("python -c pass", "", bare[2])]
        for part in (transcripts(bench, sizes), inbox(bench, sizes.inbox_entries), topics(bench, sizes.topics)):
            measured.extend(part)
    print_table(
        "Whole processes, once each",
        ("on", "did", "seconds", "ratio", "peak memory"),
        [
            (subject, did, f"{took.seconds:,.2f} s", f"{took.seconds / bare_seconds:,.0f}", f"{took.peak_mb:,.0f} MB")
            for did, subject, took in measured
        ],
    )
    return 1 if max(took.peak_mb for _, _, took in measured) >= LIMIT_MB else 0


if __name__ == "__main__":
    sys.exit(main())
