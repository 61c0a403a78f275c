"""What a store of this size costs each command, and what one changed note in it costs: whole processes, CPU time and peak memory.

    python -m bench.scale [--notes 1000 10000]

Three rows of figures: the *first* time, when nothing is recorded, indexed or cached; *again*, with nothing changed; and after
*one* note was changed by hand, a different one before each command. Cost should grow with what changed and not with what is
stored. Notes are files that people edit, so every command that wants to know what changed looks at each from outside, as git
does: all stand beside a process that does that and nothing else, beside one that reads every note, and beside git itself, which
those that write ask to record what they wrote.
Exits 1 where a peak of `capture` or `consolidate` reaches LIMIT_MB (P25).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from bench.commands import light_commands
from bench.engines import SETTLED_SECONDS
from bench.measure import BARE, Took, print_table, run
from bench.populated_home import PopulatedHome
from bench.results import Figure, keep

SIZES = (1_000, 10_000)
LIMIT_MB = 200
TIMES = ("first", "again", "one changed")
QUICK_NOTES = 1_000
"""In stores of up to so many notes commands run RUNS times, in larger ones once."""
RUNS = 3
CONSOLIDATE = "consolidate one session"
LOOK_AT_ALL = "look at every note"
READ_ALL = "read every note"


@frozen
class Measured:
    """The CPU seconds of each run, and the highest peak."""

    cpu_seconds: Sequence[float]
    peak_mb: float

    @classmethod
    def of(cls, took: Sequence[Took]) -> Measured:
        return cls([each.cpu_seconds for each in took], max(each.peak_mb for each in took))

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.cpu_seconds)


def readers(home: PopulatedHome) -> Mapping[str, Callable[[], Took]]:
    """Those that leave the notes as they are, by name."""
    return {
        "python -c pass": lambda: run(BARE),
        LOOK_AT_ALL: home.look_at_all,
        READ_ALL: home.read_all,
        **light_commands(home),
        "generate-agents-md": lambda: home.call("generate-agents-md"),
        "defrag --dry-run": lambda: home.call("defrag", "--dry-run"),
        "doctor": home.examine,
    }


def writers(home: PopulatedHome) -> Mapping[str, Callable[[], Took]]:
    """Those that write notes or record them, by name, and git by itself; the first of them begins the repository."""
    note = "The lock gate opens at half tide, never earlier."
    return {
        "remember": lambda: home.call("remember", f"{note} Seen on day {home.new_session()[:8]}."),
        CONSOLIDATE: home.consolidate_session,
        "git status": home.ask_git,
        "git add, git commit": home.commit_one,
    }


def measured(home: PopulatedHome, runs: int) -> Mapping[str, Mapping[str, Measured]]:
    """By command, and by the three times."""
    found: dict[str, dict[str, Measured]] = {}
    for at in TIMES:
        for name, command in {**readers(home), **writers(home)}.items():
            took = []
            for _ in range(1 if at == "first" else runs):
                if at == "one changed":
                    home.change_one()
                took.append(command())
            found.setdefault(name, {})[at] = Measured.of(took)
        if at == "first":
            home.build_index()
            time.sleep(SETTLED_SECONDS)
            for command in readers(home).values():  # takes in what the others wrote
                command()
    return found


def show(found: Mapping[str, Mapping[str, Measured]], notes: int) -> None:
    base_seconds = found[LOOK_AT_ALL]["again"].median_seconds
    rows = []
    for name, by_time in found.items():
        for at, each in by_time.items():
            what = f"{at.replace(' ', '_')}_cpu_seconds"
            keep(Figure(name, what, round(each.median_seconds, 4), notes))
        peak = max(each.peak_mb for each in by_time.values())
        keep(Figure(name, "peak_mb", round(peak, 2), notes))
        seconds = [by_time[at].median_seconds for at in TIMES]
        ratio = by_time["again"].median_seconds / base_seconds
        rows.append((name, *(f"{each:,.2f} s" for each in seconds), f"{ratio:,.1f}", f"{peak:,.0f} MB"))
    print_table(f"{notes:,} notes: CPU", ("", *TIMES, "again, looks", "peak memory"), rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    is_within = True
    for notes in arguments.notes:
        with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
            home = PopulatedHome(Path(directory), arguments.memory, notes)
            found = measured(home, RUNS if notes <= QUICK_NOTES else 1)
        show(found, notes)
        peaks = [each.peak_mb for name in ("capture --hook", CONSOLIDATE) for each in found[name].values()]
        is_within &= max(peaks) < LIMIT_MB
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
