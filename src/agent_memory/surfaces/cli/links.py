"""`memory links`: of one note, or all of them, also as a graph for Graphviz."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.link_graph import Edge, Link, LinkGraph, LinkSheet, Whereabouts
from agent_memory.domain.searching.search import Relation
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import ENTRY, add_flag, add_id, set_command
from agent_memory.surfaces.cli.dialogue import open_here, warn_unreadable
from agent_memory.surfaces.console import Console, fields_of, rows_of, unreadable_documents

_TITLE_CHARS = 200
_SAID = {Whereabouts.ARCHIVED: "  (archived)", Whereabouts.UNRESOLVED: "  (there is no such note)"}


def configure_links(parser: argparse.ArgumentParser) -> None:
    add_id(parser, f"{ENTRY} (default: the links of all notes)", optional=True)
    add_flag(parser, "--dot", "all links as a graph for Graphviz")
    add_flag(parser, "--private", "private notes, too, where all links are shown")
    epilog = (
        "Shows live notes and archived ones. Links inside code are no links. Counts no read. Of all links, those from and "
        "to secret notes are left out. Piped, one link a line, its fields separated by tabs: id, what it links to, links "
        "or supersedes, live, alias, archived or unresolved, the label, both titles.\n\n"
        "Examples:\n  memory links id__a1b2c3\n  memory links --dot | dot -Tsvg > links.svg"
    )
    set_command(parser, _run, epilog, "memory links id__a1b2c3")


def _run(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.id is None:
        graph = unwrap(open_here(console).reading.link_graph(private=arguments.private))
        console.answer(_graph_document(graph), *_graph_lines(graph, console, dot=arguments.dot))
        warn_unreadable(console, graph.unreadable)
        return
    if arguments.dot or arguments.private:
        raise UsageInvalid("--dot and --private go with all links: leave the ID out")
    stored, sheet = unwrap(open_here(console).reading.links(arguments.id))
    document = {
        **fields_of(stored.meta, "id", "title"),
        "archived": stored.listed.archived,
        "outgoing": rows_of(sheet.outgoing, "target", "label", "where", "id", "title"),
        "incoming": rows_of(sheet.incoming, "id", "title", "target", "label"),
        "supersedes": list(map(_reference_document, sheet.supersedes)),
        "supersededBy": list(map(_reference_document, sheet.superseded_by)),
        **fields_of(sheet, "aliases"),
        "unreadable": unreadable_documents(sheet.unreadable),
    }
    console.answer(document, *_sheet_lines(stored, sheet))
    warn_unreadable(console, sheet.unreadable)


# -- of one note ------------------------------------------------------------------------------------------------------


def _sheet_lines(stored: StoredEntry, sheet: LinkSheet) -> Iterator[str]:
    yield f"{stored.meta.id}  {_title(stored.meta.title)}{'  (archived)' if stored.listed.archived else ''}"
    parts = (
        ("links to", list(map(_leading, sheet.outgoing))),
        ("linked from", [_incoming(each, stored.meta.id) for each in sheet.incoming]),
        ("supersedes", list(map(_leading, sheet.supersedes))),
        ("superseded by", list(map(_leading, sheet.superseded_by))),
        ("took over from", list(sheet.aliases)),
    )
    if not any(items for _, items in parts):
        yield "No links in either direction."
    for heading, items in parts:
        if items:
            yield f"{heading}:"
            yield from (f"  {item}" for item in items)


def _leading(link: Link) -> str:
    said = f"  (now {link.id})" if link.where is Whereabouts.ALIAS else _SAID.get(link.where, "")
    return f"{link.target}  {_title(link.title)}{said}" if link.title else f"{link.target}{said}"


def _incoming(link: Link, id: str) -> str:
    through = f"  (by its earlier id {link.target})" if link.target != id else ""
    return f"{link.id}  {_title(link.title or '')}{through}"


def _reference_document(link: Link) -> dict[str, object]:
    return {"id": link.target, **fields_of(link, "where", "title")}


def _title(text: str) -> str:
    return one_line(text, _TITLE_CHARS)


# -- of all notes -----------------------------------------------------------------------------------------------------


def _graph_document(graph: LinkGraph) -> dict[str, object]:
    entries = [
        fields_of(each.meta, "id", "title", "kind", "scope", "origin", "tags") | fields_of(each, "archived", "path")
        for each in graph.entries
    ]
    return {
        "entries": entries,
        "links": rows_of(graph.edges, "source", "target", "relation", "label", "where"),
        "unreadable": unreadable_documents(graph.unreadable),
    }


def _graph_lines(graph: LinkGraph, console: Console, *, dot: bool) -> Iterator[str]:
    titles = {each.meta.id: _title(each.meta.title) for each in graph.entries}
    if dot:
        yield render_link_dot(graph)
    elif not console.is_terminal:
        for edge in graph.edges:
            sides = (titles.get(edge.source, ""), titles.get(edge.target, ""))
            yield "\t".join((edge.source, edge.target, edge.relation, edge.where, _title(edge.label or ""), *sides))
    elif graph.edges:
        for edge in graph.edges:
            arrow = "supersedes" if edge.relation is Relation.SUPERSEDES else "->"
            source, target = (f"{id}  {titles[id]}" if id in titles else id for id in (edge.source, edge.target))
            yield f"{source} {arrow} {target}{_SAID.get(edge.where, '')}"
    else:
        yield "No note links to another."


_DOT_TITLE_CHARS = 80


def render_link_dot(graph: LinkGraph) -> str:
    """One `digraph`, as Graphviz draws it: a node for each note, dashed where it is archived, dotted where there is none; an
    edge for each link. The same links give the same text."""
    missing = dict.fromkeys(edge.target for edge in graph.edges if edge.where is Whereabouts.UNRESOLVED)
    lines = (
        *map(_node, graph.entries),
        *(f"  {_quoted(id)} [style=dotted]" for id in missing),
        *map(_edge, graph.edges),
    )
    return "\n".join(("digraph memory {", "  node [shape=box]", *lines, "}"))


def _node(listed: Listed) -> str:
    title = one_line(listed.meta.title, _DOT_TITLE_CHARS)
    style = ", style=dashed" if listed.archived else ""
    return f"  {_quoted(listed.meta.id)} [label={_quoted(title or listed.meta.id)}{style}]"


def _edge(edge: Edge) -> str:
    words = "supersedes" if edge.relation is Relation.SUPERSEDES else one_line(edge.label or "", _DOT_TITLE_CHARS)
    label = f" [label={_quoted(words)}]" if words else ""
    return f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{label}"


def _quoted(text: str) -> str:
    """A quoted string, in which Graphviz takes a backslash for the beginning of an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
