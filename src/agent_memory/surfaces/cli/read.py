"""`memory read`."""

from __future__ import annotations

import argparse

from agent_memory.domain.instants import iso_of
from agent_memory.formats.entry_json import entry_document
from agent_memory.reading import ReadEntry, status_shown
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_id, open_here
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--archived", action="store_true", help="the newest archived version instead of the live one")
    parser.add_argument("--secret", action="store_true", help="show a note of sensitivity `secret`")


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    entry = unwrap(memory.reading.read(arguments.id, archived=arguments.archived, secret=arguments.secret))
    console.document(entry_document(entry.stored.listed, entry.usage, entry.stored.body, tier=entry.tier))
    console.out(_text(entry))
    if entry.uncounted is not None:
        console.err(f"memory: This read is not counted. {describe(entry.uncounted)}")
    return 0


def _text(entry: ReadEntry) -> str:
    meta = entry.stored.meta
    facts = [
        f"{meta.id} · {meta.kind} · {status_shown(meta.status, entry.tier)} · {entry.tier} · said by: {meta.origin} · {meta.scope}",
        f"updated {iso_of(meta.updated_at_ms)[:10]} · read {_times(entry.usage.count)} · {' '.join(meta.tags)}".rstrip(
            " ·"
        ),
        *(f"from {_source(source)}" for source in meta.sources),
    ]
    return "\n".join((f"# {meta.title}", "", *facts, "", entry.stored.body.rstrip("\n")))


def _source(source: object) -> str:
    from agent_memory.domain.entry import Source

    if not isinstance(source, Source):
        return ""
    session = f" {source.thread_id}" if source.thread_id else ""
    turns = f", turns {', '.join(map(str, source.turns))}" if source.turns else ""
    return f"{source.harness}{session}{turns}"


def _times(count: int) -> str:
    return f"{count} time{'' if count == 1 else 's'}"
