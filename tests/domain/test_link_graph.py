"""What ties one entry to others."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.entry import Listed, Listing, Meta, StoredEntry
from agent_memory.domain.link_graph import (
    Edge,
    IncomingLink,
    LinkGraph,
    LinkSheet,
    OutgoingLink,
    Reference,
    Relation,
    Whereabouts,
    graph_of,
    links_of,
)

A, B, C, OLD, GONE = "id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__oooooo", "id__gggggg"


def entry(id: str, body: str = "", *, archived: bool = False, **meta: object) -> StoredEntry:
    whole = evolve(Meta(id, id[-1].upper(), 1, 1), **meta)  # type: ignore[arg-type]
    return StoredEntry(Listed(whole, f"topics/{id}.md", "", archived=archived), body)


def sheet(wanted: StoredEntry, *live: StoredEntry, archive: tuple[StoredEntry, ...] = ()) -> LinkSheet:
    return links_of(
        wanted,
        live,
        Listing(tuple(each.listed for each in live)),
        Listing(tuple(each.listed for each in archive)),
    )


def test_outgoing_links_say_where_they_lead() -> None:
    a = entry(A, f"[[{B}|label]] [[{OLD}]] [[{C}]] [[{GONE}]] `[[id__iiiiii]]` [[{B}|label]]")
    b = entry(B, aliases=(OLD,))
    assert sheet(a, a, b, archive=(entry(C, archived=True),)).outgoing == (
        OutgoingLink(B, "label", Whereabouts.LIVE, B, "B"),
        OutgoingLink(OLD, None, Whereabouts.ALIAS, B, "B"),
        OutgoingLink(C, None, Whereabouts.ARCHIVED, C, "C"),
        OutgoingLink(GONE, None, Whereabouts.UNRESOLVED, None, None),
    )


def test_incoming_links_by_id_or_alias_and_not_from_itself_or_from_code() -> None:
    b = entry(B, f"[[{B}]]", aliases=(OLD,))
    a, c = entry(A, f"[[{OLD}]] and [[{B}]]"), entry(C, f"```\n[[{B}]]\n```")
    assert sheet(b, a, b, c).incoming == (IncomingLink(A, "A", OLD, None), IncomingLink(A, "A", B, None))


def test_supersession_both_ways_and_aliases() -> None:
    new, old = entry(A, supersedes=(C, GONE), aliases=(OLD,)), entry(C, archived=True)
    found = sheet(new, new, archive=(old,))
    assert found.supersedes == (Reference(C, Whereabouts.ARCHIVED, "C"), Reference(GONE, Whereabouts.UNRESOLVED, None))
    assert found.aliases == (OLD,)
    # An earlier version of the live entry is in the archive too, and says so a second time.
    assert sheet(old, new, archive=(old, new)).superseded_by == (Reference(A, Whereabouts.LIVE, "A"),)


def test_an_entry_alone_has_nothing() -> None:
    assert sheet(entry(A, "text"), entry(A, "text")) == LinkSheet()


def graph(*live: StoredEntry, archive: tuple[StoredEntry, ...] = (), left_out: tuple[str, ...] = ()) -> LinkGraph:
    listed, archived = (Listing(tuple(each.listed for each in shelf)) for shelf in (live, archive))
    return graph_of(live, listed, archived, left_out)


def test_all_links_at_once_lead_to_what_bears_the_id_now() -> None:
    a = entry(A, f"[[{B}|label]] [[{B}|label]] [[{OLD}]] [[{GONE}]] `[[id__iiiiii]]`", supersedes=(C,))
    b, c = entry(B, aliases=(OLD,)), entry(C, archived=True)
    found = graph(a, b, archive=(c, c, entry("id__dddddd", archived=True)))
    assert found.edges == (
        Edge(A, B, Relation.LINKS, "label", Whereabouts.LIVE),
        Edge(A, B, Relation.LINKS, None, Whereabouts.ALIAS),
        Edge(A, GONE, Relation.LINKS, None, Whereabouts.UNRESOLVED),
        Edge(A, C, Relation.SUPERSEDES, None, Whereabouts.ARCHIVED),
    )
    assert [each.meta.id for each in found.entries] == [A, B, C], "of the archive only what is named, once"


def test_what_is_left_out_is_not_named() -> None:
    assert graph(entry(A, f"[[{B}]] [[{C}]]"), entry(C), left_out=(B,)).edges == (
        Edge(A, C, Relation.LINKS, None, Whereabouts.LIVE),
    )
