from __future__ import annotations

from agent_memory.domain.entry import Listed, Listing, Meta
from agent_memory.domain.planning.taken_ids import taken_ids


def listing(*metas: Meta) -> Listing:
    return Listing(tuple(Listed(meta, f"topics/{meta.id}.md", f"h-{meta.id}") for meta in metas))


def test_no_id_is_free_that_is_live_archived_or_an_alias_however_it_is_spelled() -> None:
    """P15"""
    live = listing(Meta("id__AAAAAA", "A", 0, 0, aliases=("id__Bbbbbb",)))
    archive = listing(Meta("id__cCcccc", "C", 0, 0, aliases=("id__dddddD", "id__eeeeee")))
    assert taken_ids(live, archive) == {"id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd", "id__eeeeee"}
    assert taken_ids(listing(), listing()) == frozenset()
