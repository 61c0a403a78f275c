"""The links of a store as a graph that Graphviz draws (`dot -Tsvg`)."""

from __future__ import annotations

from agent_memory.domain.entry import Listed
from agent_memory.domain.link_graph import Edge, LinkGraph, Relation, Whereabouts
from agent_memory.domain.text.plain_text import one_line

_TITLE_CHARS = 80


def render_link_dot(graph: LinkGraph) -> str:
    """One `digraph`: a node for each note, dashed where it is archived, dotted where there is none; an edge for each link.
    The same links give the same text."""
    missing = dict.fromkeys(edge.target for edge in graph.edges if edge.where is Whereabouts.UNRESOLVED)
    lines = (
        *map(_node, graph.entries),
        *(f"  {_quoted(id)} [style=dotted]" for id in missing),
        *map(_edge, graph.edges),
    )
    return "\n".join(("digraph memory {", "  node [shape=box]", *lines, "}"))


def _node(listed: Listed) -> str:
    title = one_line(listed.meta.title, _TITLE_CHARS)
    style = ", style=dashed" if listed.archived else ""
    return f"  {_quoted(listed.meta.id)} [label={_quoted(title or listed.meta.id)}{style}]"


def _edge(edge: Edge) -> str:
    words = "supersedes" if edge.relation is Relation.SUPERSEDES else one_line(edge.label or "", _TITLE_CHARS)
    label = f" [label={_quoted(words)}]" if words else ""
    return f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{label}"


def _quoted(text: str) -> str:
    """A quoted string, in which Graphviz takes a backslash for the beginning of an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
