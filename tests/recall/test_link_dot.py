"""Links as a graph that Graphviz reads, whatever the titles hold."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from agent_memory.cli.tracing import render_link_dot
from agent_memory.note.note import Listed, Meta, Relation
from agent_memory.recall.links import Edge, LinkGraph, Whereabouts

A, B, GONE = "id__aaaaaa", "id__bbbbbb", "id__gggggg"


def listed(id: str, title: str, *, archived: bool = False) -> Listed:
    return Listed(Meta(id, title, 1, 1), f"topics/{id}.md", "", archived=archived)


_LINE = re.compile(r'  "(?:[^"\\]|\\.)*"(?: -> "(?:[^"\\]|\\.)*")?(?: \[label="(?:[^"\\]|\\.)*"\])?')


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_title_and_no_label_ends_its_quotation_p21(title: str, label: str) -> None:
    edge = Edge(A, B, Relation.LINKS, label, Whereabouts.LIVE)
    text = render_link_dot(LinkGraph((listed(A, title), listed(B, title)), (edge,)))
    lines = text.split("\n")
    assert len(lines) == 6
    assert all(_LINE.fullmatch(line) for line in lines[2:5])
