"""How soon commands answer: whole processes on a small store, beside `python -c pass`.

    python -m bench.startup [--runs 15]

Exits 1 where `memory list` takes more than GOAL times as long as a bare interpreter. "libraries" is the interpreter with
the four that every command needs; what a command takes beyond it is ours.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.measure import BARE, COMPARED, Took, alternating, compared, median_ms, print_table, run, scratch_environment

GOAL = 12.0
NOTES = 20
_LIBRARIES = "import argparse, json, attrs, returns.result"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--memory", default=f"{sysconfig.get_path('scripts')}/memory", help="the command to measure")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as directory:
        took = _measured(Path(directory), arguments.memory, arguments.runs)
    print_table(f"{NOTES} notes in the store", COMPARED, compared(took, "python -c pass"))
    ratio = median_ms(took["memory list"]) / median_ms(took["python -c pass"])
    return 1 if ratio > GOAL else 0


def _measured(work: Path, memory: str, runs: int) -> dict[str, list[Took]]:
    environ = scratch_environment(work)
    for number in range(NOTES):
        remembered = run(
            [memory, "remember", f"Fact {number}: lamp {number * 7} hangs at pier {number}."], environ=environ
        )
    id = remembered.stdout.split()[1].decode()

    def timed(*command: str) -> Callable[[], Took]:
        return partial(run, command, environ=environ, cwd=work)

    return alternating(
        {
            "python -c pass": timed(*BARE),
            "libraries": timed(sys.executable, "-c", _LIBRARIES),
            "memory --version": timed(memory, "--version"),
            "memory list": timed(memory, "list"),
            "memory list --json": timed(memory, "list", "--json"),
            "memory read ID": timed(memory, "read", id),
            "memory status": timed(memory, "status"),
            "memory config": timed(memory, "config"),
            "memory capture --title --body": timed(
                memory, "capture", "--title", "Lamp", "--body", "It hangs at pier 1."
            ),
            "memory remember (stored already)": timed(
                memory, "remember", f"Fact {NOTES - 1}: lamp {(NOTES - 1) * 7} hangs at pier {NOTES - 1}."
            ),
        },
        runs,
    )


if __name__ == "__main__":
    sys.exit(main())
