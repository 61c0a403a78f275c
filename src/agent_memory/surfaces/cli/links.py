"""`memory links`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory.app import Memory
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.link_graph import (
    Edge,
    IncomingLink,
    LinkGraph,
    LinkSheet,
    OutgoingLink,
    Reference,
    Relation,
    Whereabouts,
)
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import entry_id, open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.unreadable_notes import tell_unreadable, unreadable_documents

_TITLE_CHARS = 200


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        metavar="ID",
        type=entry_id,
        nargs="?",
        help="an entry: id__a1b2c3, a1b2c3, or its file (default: the links of all notes)",
    )
    parser.add_argument("--dot", action="store_true", help="all links as a graph for Graphviz")
    parser.add_argument("--private", action="store_true", help="private notes, too, where all links are shown")
    parser.epilog = (
        "Shows live notes and archived ones. Links inside code are no links. Counts no read. Of all links, those from and "
        "to secret notes are left out. Piped, one link a line, its fields separated by tabs: id, what it links to, links "
        "or supersedes, live, alias, archived or unresolved, the label, both titles.\n\n"
        "Examples:\n  memory links id__a1b2c3\n  memory links --dot | dot -Tsvg > links.svg"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.id is None:
        memory = open_here(console)
        return _show_all(memory, arguments, console)
    if arguments.dot or arguments.private:
        raise UsageInvalid("--dot and --private go with all links: leave the ID out")

    memory = open_here(console)
    stored, sheet = unwrap(memory.reading.links(arguments.id))
    console.document(_document(stored, sheet))
    console.out(_text(stored, sheet))
    tell_unreadable(console, sheet.unreadable)
    return 0


def _show_all(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    graph = unwrap(memory.reading.link_graph(private=arguments.private))
    console.document(_graph_document(graph))
    titles = {each.meta.id: _title(each.meta.title) for each in graph.entries}
    if arguments.dot:
        from agent_memory.formats.link_dot import render_link_dot

        console.out(render_link_dot(graph))
    elif not console.is_terminal:
        for edge in graph.edges:
            console.out("\t".join(_cells(edge, titles)))
    elif graph.edges:
        console.out("\n".join(_line(edge, titles) for edge in graph.edges))
    else:
        console.out("No note links to another.")
    tell_unreadable(console, graph.unreadable)
    return 0


def _cells(edge: Edge, titles: Mapping[str, str]) -> tuple[str, ...]:
    names = (titles.get(edge.source, ""), titles.get(edge.target, ""))
    return (edge.source, edge.target, edge.relation, edge.where, _title(edge.label or ""), *names)


def _line(edge: Edge, titles: Mapping[str, str]) -> str:
    arrow = "supersedes" if edge.relation is Relation.SUPERSEDES else "->"
    said = {Whereabouts.ARCHIVED: "  (archived)", Whereabouts.UNRESOLVED: "  (there is no such note)"}.get(
        edge.where, ""
    )
    sides = (f"{id}  {titles[id]}" if id in titles else id for id in (edge.source, edge.target))
    return f" {arrow} ".join(sides) + said


def _graph_document(graph: LinkGraph) -> dict[str, Any]:
    return {
        "entries": [
            {
                "id": each.meta.id,
                "title": each.meta.title,
                "kind": each.meta.kind.value,
                "scope": each.meta.scope,
                "origin": each.meta.origin.value,
                "tags": list(each.meta.tags),
                "archived": each.archived,
                "path": each.path,
            }
            for each in graph.entries
        ],
        "links": [
            {
                "source": each.source,
                "target": each.target,
                "relation": each.relation.value,
                "label": each.label,
                "where": each.where.value,
            }
            for each in graph.edges
        ],
        "unreadable": unreadable_documents(graph.unreadable),
    }


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
