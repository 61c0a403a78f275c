"""All benches, one after another, or one with its own arguments: `python -m bench [--json FILE] [NAME [ARGUMENT …]]`.

Each runs in a process of its own; `python -m bench.retrieval --help` says what it takes. `--json` writes all figures as one
document, in which what a run repeats is replaced, and the rest kept; `docs/contributing/bench.md` is made of
`docs/contributing/bench.json`. Every figure stands beside a baseline of the same run: compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.results import KEPT_IN, Piece, Results, kept, parsed, rendered, this_machine

BENCHES: Mapping[str, str] = {
    "retrieval": "what stores find, side by side",
    "redaction": "what is removed, and how fast",
    "extraction": "what the built-in agent keeps",
    "delivery": "what of it the next session is told",
    "reach": "how many of our functions a command executes",
    "commands": "what commands and hooks cost in a store of many notes",
    "bulk": "a long transcript, a line of 100 MB, a full inbox, many notes",
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, into what it holds")
    arguments, further = parser.parse_known_args(argv)
    if further and len(arguments.names) != 1:
        parser.error(f"{further[0]} is for one bench: name it")
    if unknown := [name for name in arguments.names if name not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]}")
    results = earlier(arguments.json) if arguments.json else Results(this_machine())
    failed = []
    for name in arguments.names or BENCHES:
        print(f"== {' '.join((name, *further))}: {BENCHES[name]}\n", flush=True)
        piece = run_piece(name, tuple(further))
        results = results.with_piece(piece)
        if arguments.json:  # after each piece: the next one may be interrupted
            write_whole(arguments.json, rendered(results))
        if not piece.goals_met:
            failed.append(name)
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


def run_piece(name: str, further: Sequence[str]) -> Piece:
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
        tuple(re.sub(r"[^\s=:,]*/", "", each) for each in further),  # whose directories they were, nobody need know
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
