"""What commands and hooks cost in a store of many notes, and what one changed note costs them: whole processes, CPU time.

    python -m bench commands [--notes 2000]

Three times: the *first*, when nothing is recorded, indexed or cached; *again*, with nothing changed; and after *one* note was
changed by hand, a different one before each command. The least of several runs counts. All stand beside `python -c pass` of the
same run, beside processes that look at every note from outside or read it, and beside git. Exits 1 where a command takes more
bare interpreters again than MOST_TIMES allows, or where the peak of `capture` or `consolidate` reaches LIMIT_MB (P25).
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.measure import BARE, SETTLED_SECONDS, Took, print_table, run
from bench.populated_home import PopulatedHome
from bench.results import Figure, keep

NOTES = 2_000
MANY_NOTES = 10_000
RUNS = 3
RUNS_OF_GOALS = 10
LIMIT_MB = 200
TIMES = ("first", "again", "one changed")
BASE = "python -c pass"
SEARCH = "search --mode bm25"
PROMPT = "inject --hook, a prompt"
CAPTURE = "capture --hook"
START = "inject --hook, SessionStart"
LIST = "list"
READ = "read ID"
CONSOLIDATE = "consolidate one session"
MOST_TIMES: Mapping[str, tuple[float, float]] = {
    CAPTURE: (1.3, 1.3), START: (5, 5), PROMPT: (16, 40), SEARCH: (16, 40), LIST: (12, 40), READ: (12, 40)
}  # fmt: skip
"""With up to NOTES, and with up to MANY_NOTES."""


def readers(home: PopulatedHome) -> Mapping[str, Callable[[], Took]]:
    """Those that leave the notes as they are, by name."""
    id = home.id_of_first()
    return {
        BASE: lambda: run(BARE),
        "look at every note": home.look_at_all,
        "read every note": home.read_all,
        CAPTURE: lambda: home.hook("capture", "Stop"),
        START: lambda: home.hook("inject", "SessionStart", source="startup"),
        PROMPT: lambda: home.hook("inject", "UserPromptSubmit", prompt=f"What is there about {home.query}?"),
        SEARCH: lambda: home.call("search", "--mode", "bm25", home.query),
        "search, by meaning too": lambda: home.call("search", home.query),
        LIST: lambda: home.call("list"),
        READ: lambda: home.call("read", id),
        "status": lambda: home.call("status", ends_well=(0, 1)),
        "generate-agents-md": lambda: home.call("generate-agents-md"),
        "defrag --dry-run": lambda: home.call("defrag", "--dry-run"),
        "doctor": lambda: home.call("doctor", ends_well=(0, 1)),
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


def measured(home: PopulatedHome) -> Mapping[str, Mapping[str, Sequence[Took]]]:
    """By command, and by the three times."""
    found: dict[str, dict[str, list[Took]]] = {}
    for at in TIMES:
        for name, command in {**readers(home), **writers(home)}.items():
            runs = RUNS_OF_GOALS if at == "again" and name in (BASE, *MOST_TIMES) else RUNS
            for _ in range(1 if at == "first" else runs):  # one after another: the others change notes
                if at == "one changed":
                    home.change_one()
                found.setdefault(name, {}).setdefault(at, []).append(command())
        if at == "first":
            home.build_index()
            time.sleep(SETTLED_SECONDS)
            for command in readers(home).values():  # takes in what the others wrote
                command()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=NOTES, metavar="N", help="100 at least: each is changed once")
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        found = measured(PopulatedHome(Path(directory), arguments.memory, arguments.notes))
    cpu_ms = {
        name: {at: min(each.cpu_seconds * 1000 for each in took) for at, took in by_time.items()}
        for name, by_time in found.items()
    }
    peak_mb = {name: max(each.peak_mb for took in by_time.values() for each in took) for name, by_time in found.items()}
    rows, ratio = [], {name: by_time["again"] / cpu_ms[BASE]["again"] for name, by_time in cpu_ms.items()}
    for name, by_time in cpu_ms.items():
        for at, value in by_time.items():
            keep(Figure(name, f"{at.replace(' ', '_')}_cpu_ms", round(value, 2), arguments.notes))
        keep(Figure(name, "peak_mb", round(peak_mb[name], 2), arguments.notes))
        times = (f"{by_time[at]:,.0f} ms" for at in TIMES)
        rows.append((name, *times, f"{ratio[name]:.1f}", f"{peak_mb[name]:,.0f} MB"))
    print_table(f"{arguments.notes:,} notes: CPU", ("", *TIMES, "ratio, again", "peak memory"), rows)
    goals = {name: most[arguments.notes > NOTES] for name, most in MOST_TIMES.items() if arguments.notes <= MANY_NOTES}
    late = [f"{name}: {ratio[name]:.1f}, at most {most:g}" for name, most in goals.items() if ratio[name] > most]
    for each in late:
        print(each, file=sys.stderr)
    return 0 if not late and max(peak_mb[CAPTURE], peak_mb[CONSOLIDATE]) < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
