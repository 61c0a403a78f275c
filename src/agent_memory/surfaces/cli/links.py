"""`memory links`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from returns.result import Failure, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.link_graph import IncomingLink, LinkSheet, OutgoingLink, Reference, Whereabouts
from agent_memory.domain.results import sealed
from agent_memory.domain.text.plain_text import one_line
from agent_memory.surfaces.cli.opening import add_id, with_memory
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.unreadable_notes import tell_unreadable, unreadable_documents

_TITLE_CHARS = 200


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.epilog = "Shows live notes and archived ones. Links inside code are no links. Counts no read."


def run(arguments: argparse.Namespace, console: Console) -> int:
    def show(memory: Memory) -> int:
        match sealed(memory.reading.links(arguments.id)):
            case Failure(error):
                return console.fail(error)
            case Success((stored, sheet)):
                console.document(_document(stored, sheet))
                console.out(_text(stored, sheet))
                tell_unreadable(console, sheet.unreadable)
                return 0

    return with_memory(console, show)


def _text(stored: StoredEntry, sheet: LinkSheet) -> str:
    archived = "  (archived)" if stored.listed.archived else ""
    parts = (
        ("links to", [_outgoing(each) for each in sheet.outgoing]),
        ("linked from", [_incoming(each, stored.meta.id) for each in sheet.incoming]),
        ("supersedes", [_reference(each) for each in sheet.supersedes]),
        ("superseded by", [_reference(each) for each in sheet.superseded_by]),
        ("took over from", list(sheet.aliases)),
    )
    lines = [f"{stored.meta.id}  {_title(stored.meta.title)}{archived}"]
    for heading, items in parts:
        if items:
            lines += [f"{heading}:", *(f"  {item}" for item in items)]
    if len(lines) == 1:
        lines.append("No links in either direction.")
    return "\n".join(lines)


def _outgoing(link: OutgoingLink) -> str:
    title = _title(link.title) if link.title is not None else ""
    match link.where:
        case Whereabouts.LIVE:
            said = ""
        case Whereabouts.ALIAS:
            said = f"  (now {link.id})"
        case Whereabouts.ARCHIVED:
            said = "  (archived)"
        case Whereabouts.UNRESOLVED:
            said = "  (there is no such note)"
    return f"{link.target}  {title}{said}".rstrip() if title else f"{link.target}{said}"


def _incoming(link: IncomingLink, id: str) -> str:
    through = f"  (by its earlier id {link.target})" if link.target != id else ""
    return f"{link.id}  {_title(link.title)}{through}"


def _reference(reference: Reference) -> str:
    if reference.title is None:
        return f"{reference.id}  (there is no such note)"
    where = "" if reference.where is Whereabouts.LIVE else f"  ({reference.where})"
    return f"{reference.id}  {_title(reference.title)}{where}"


def _title(text: str) -> str:
    return one_line(text, _TITLE_CHARS)


def _document(stored: StoredEntry, sheet: LinkSheet) -> dict[str, Any]:
    return {
        "id": stored.meta.id,
        "title": stored.meta.title,
        "archived": stored.listed.archived,
        "outgoing": [
            {"target": each.target, "label": each.label, "where": each.where.value, "id": each.id, "title": each.title}
            for each in sheet.outgoing
        ],
        "incoming": [
            {"id": each.id, "title": each.title, "target": each.target, "label": each.label} for each in sheet.incoming
        ],
        "supersedes": _references(sheet.supersedes),
        "supersededBy": _references(sheet.superseded_by),
        "aliases": list(sheet.aliases),
        "unreadable": unreadable_documents(sheet.unreadable),
    }


def _references(references: Iterable[Reference]) -> list[dict[str, Any]]:
    return [{"id": each.id, "where": each.where.value, "title": each.title} for each in references]
