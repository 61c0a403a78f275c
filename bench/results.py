"""What benches measured, as one JSON document: the figures that `docs/contributing/bench.md` is made of.

A bench runs in a process of its own, and appends to the file that the environment names (`KEPT_IN`) a line for each figure;
`python -m bench --json FILE` makes the document of them. In it each *piece* (a bench with its arguments) says
when it ran and how busy the machine was, and replaces what an earlier run of the same piece left there.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attrs import asdict, field, frozen

KEPT_IN = "AGENT_MEMORY_BENCH_FIGURES"
VERSION = 1
_COMPANIONS = ("tantivy", "numpy", "wordllama")


@frozen
class Figure:
    """One number. `what` ends in its unit (`_ms _seconds _mb _percent`); CPU times say so."""

    of: str
    """What was measured: an engine, a command, a data set."""
    what: str
    value: float
    notes: int | None = None
    """How many notes were in the store."""


@frozen
class Piece:
    """One bench with its arguments, once run. Loads are those of one minute, before and after."""

    bench: str
    arguments: tuple[str, ...]
    began_at: str
    """UTC, to the minute."""
    seconds: float
    load_before: float
    load_after: float
    goals_met: bool
    figures: tuple[Figure, ...] = ()
    cpu_seconds: float = 0.0
    """Of the bench and all that it ran."""


@frozen
class Results:
    """What one machine measured: facts about it by name, and pieces in the order in which they were first run."""

    machine: Mapping[str, str]
    pieces: tuple[Piece, ...] = field(default=())

    def with_piece(self, piece: Piece) -> Results:
        """The same with this piece in the place of an earlier run of it."""
        key = piece.bench, piece.arguments
        keys = [(each.bench, each.arguments) for each in self.pieces]
        if key not in keys:
            return Results(self.machine, (*self.pieces, piece))
        at = keys.index(key)
        return Results(self.machine, (*self.pieces[:at], piece, *self.pieces[at + 1 :]))


def keep(*figures: Figure) -> None:
    """Add figures to what is kept of this run; nothing where no one asked for it."""
    if path := os.environ.get(KEPT_IN):
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(each)) + "\n" for each in figures)


def kept(path: Path) -> tuple[Figure, ...]:
    """The figures that a bench left in the file."""
    return tuple(Figure(**json.loads(line)) for line in path.read_text("utf-8").splitlines())


def rendered(results: Results) -> str:
    """The document: a line for each figure, so that two runs can be compared by eye."""
    pieces = ",\n".join(map(_rendered_piece, results.pieces))
    machine = json.dumps(dict(results.machine), indent=1)
    return f'{{"version": {VERSION},\n"machine": {machine},\n"pieces": [\n{pieces}\n]}}\n'


def parsed(text: str) -> Results:
    """The results in a document. ValueError for one of another version."""
    document = json.loads(text)
    if document.get("version") != VERSION:
        raise ValueError(f"the figures are of version {document.get('version')}, not {VERSION}")
    pieces = (
        Piece(
            **{
                **each,
                "arguments": tuple(each["arguments"]),
                "figures": tuple(Figure(**figure) for figure in each["figures"]),
            }
        )
        for each in document["pieces"]
    )
    return Results(document["machine"], tuple(pieces))


def this_machine() -> Mapping[str, str]:
    """What figures depend on, without saying whose machine it is."""
    versions = {name: _version(name) for name in _COMPANIONS}
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": str(os.cpu_count()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: found for name, found in versions.items() if found},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _rendered_piece(piece: Piece) -> str:
    facts = asdict(piece)
    figures = ",".join(f"\n {json.dumps(each, ensure_ascii=False)}" for each in facts.pop("figures"))
    return f'{json.dumps(facts, ensure_ascii=False)[:-1]}, "figures": [{figures}]}}'
