"""All benches, one after another: `python -m bench [--full] [--notes N …] [--json FILE] [NAME …]`.

Each piece runs in a process of its own and can be run alone (`python -m bench.capture --help`). By default stores hold
1,000 and 10,000 notes; `--full` adds those of 50,000 to 250,000, and what else takes minutes and gigabytes; `--notes` names
the sizes. `--json` writes all figures as one document, in which what a run repeats is replaced, and the rest kept.
`docs/contributing/bench.md` is made of `docs/contributing/bench.json`. Every figure stands beside a baseline of the same run: compare ratios, not
milliseconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import field, frozen
from bench.results import KEPT_IN, Piece, Results, kept, parsed, rendered, this_machine


@frozen
class Bench:
    """What a bench measures; at which sizes, if it is told; and whether it knows `--full`."""

    about: str
    sizes: Sequence[int] = ()
    large: Sequence[int] = ()
    knows_full: bool = False


BENCHES: Mapping[str, Bench] = {
    "startup": Bench("how soon commands answer"),
    "commands": Bench("how soon commands and hooks answer with 10,000 notes"),
    "capture": Bench("what a capture costs a harness"),
    "listing": Bench("10,000 entries"),
    "index": Bench("the search index, beside FTS5 and tantivy", (1_000, 10_000), (50_000, 100_000, 250_000)),
    "consolidate": Bench("one long session, end to end"),
    "histories": Bench("transcripts of every size", knows_full=True),
    "scale": Bench("what a large store costs, and one changed note in it", (1_000, 10_000), (50_000,)),
    "bulk": Bench("a gigabyte, a line of 100 MB, a full inbox, many notes", knows_full=True),
    "retrieval": Bench("what search finds"),
    "redaction": Bench("what is removed, and how fast"),
    "extraction": Bench("what the built-in agent keeps"),
    "reach": Bench("how many of our functions a command executes"),
    "delivery": Bench("what of it the next session is told"),
    "analysis": Bench("what is wrong with a store", knows_full=True),
    "defrag": Bench("tidying a store, end to end", knows_full=True),
}


@frozen
class Wanted:
    """Which benches, and how much of them."""

    names: Sequence[str] = field(default=tuple(BENCHES))
    full: bool = False
    sizes: Sequence[int] = ()

    def pieces(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each bench with the arguments of one process."""
        for name in self.names:
            bench = BENCHES[name]
            if bench.sizes:
                for size in self.sizes or (*bench.sizes, *(bench.large if self.full else ())):
                    yield name, ("--notes", str(size))
            else:
                yield name, ("--full",) if self.full and bench.knows_full else ()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--full", action="store_true", help="the largest sizes too")
    parser.add_argument("--notes", type=int, nargs="+", default=(), metavar="N", help="stores of these sizes alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, into what it holds")
    arguments = parser.parse_args(argv)
    if unknown := [name for name in arguments.names if name not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]}")
    if min(arguments.notes, default=1) < 1:
        parser.error("a store has one note at least")
    wanted = Wanted(arguments.names or tuple(BENCHES), arguments.full, arguments.notes)
    results = earlier(arguments.json) if arguments.json else Results(this_machine())
    failed = []
    for name, further in wanted.pieces():
        print(f"== {' '.join((name, *further))}: {BENCHES[name].about}\n", flush=True)
        piece = run_piece(name, further)
        results = results.with_piece(piece)
        if arguments.json:  # after each piece: the next one may be interrupted
            write_whole(arguments.json, rendered(results))
        if not piece.goals_met:
            failed.append(" ".join((name, *further)))
    if failed:
        print(f"not within their goals: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def earlier(path: Path) -> Results:
    """What the file holds, if it is there. SystemExit where it holds what another machine measured."""
    machine = this_machine()
    if not path.exists():
        return Results(machine)
    try:
        results = parsed(path.read_text("utf-8"))
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} holds no figures of ours: {error}") from error
    if dict(results.machine) != dict(machine):
        raise SystemExit(f"{path} was measured on another machine, or with other versions; name a new file")
    return results


def run_piece(name: str, further: tuple[str, ...]) -> Piece:
    """One bench in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="agent-memory-bench-") as directory:
        path = Path(directory) / "kept.jsonl"
        path.touch()
        began_at, load, start = datetime.now(UTC), os.getloadavg()[0], os.times()
        command = [sys.executable, "-m", f"bench.{name}", *further]
        ended = subprocess.run(command, env={**os.environ, KEPT_IN: str(path)}, check=False)
        figures = kept(path)
    end = os.times()
    return Piece(
        name,
        further,
        began_at.strftime("%Y-%m-%dT%H:%MZ"),
        round(end.elapsed - start.elapsed, 1),
        round(load, 1),
        round(os.getloadavg()[0], 1),
        ended.returncode == 0,
        figures,
        round(sum(end[2:4]) - sum(start[2:4]), 1),
    )


def write_whole(path: Path, text: str) -> None:
    """The file holds the old document or the new one, never half of one."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
