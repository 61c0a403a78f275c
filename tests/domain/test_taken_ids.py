from __future__ import annotations

from agent_memory.domain.entry import Listed, Listing, Listings, Meta
from agent_memory.domain.planning.linking import TakenBesides, TakenIds, taken_ids
from agent_memory.domain.planning.plan_window import SpelledIds


def listing(*metas: Meta) -> Listing:
    return Listing(tuple(Listed(meta, f"topics/{meta.id}.md", f"h-{meta.id}") for meta in metas))


def test_no_id_is_free_that_is_live_archived_or_an_alias_however_it_is_spelled() -> None:
    """P15"""
    live = listing(Meta("id__AAAAAA", "A", 0, 0, aliases=("id__Bbbbbb",)))
    archive = listing(Meta("id__cCcccc", "C", 0, 0, aliases=("id__dddddD", "id__eeeeee")))
    taken = {"id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd", "id__eeeeee"}
    assert taken_ids(live, archive) == taken
    assert {id for id in (*taken, "id__ffffff") if id in TakenIds(Listings(live, archive))} == taken
    assert "id__aaaaaa" not in TakenIds(Listings(listing(), listing()))
    assert taken_ids(listing(), listing()) == frozenset()


def test_what_is_planned_is_taken_besides() -> None:
    taken = TakenBesides(frozenset({"id__aaaaaa"}), ["id__Bbbbbb"])
    assert "id__cccccc" not in taken
    taken.add("id__cCcccc")
    assert all(f"id__{letter * 6}" in taken for letter in "abc")
    assert "id__dddddd" not in taken


def test_an_id_is_found_as_it_is_spelled_and_goes_before_an_alias_p15() -> None:
    live = listing(
        Meta("id__AAAAAA", "A", 0, 0, aliases=("id__Bbbbbb",)),
        Meta("id__bbbbbB", "B", 0, 0),
        Meta("id__cCcccc", "C", 0, 0, aliases=("id__dddddD",)),
    )
    spelled = SpelledIds(live.found)
    assert dict(spelled) == {
        "id__aaaaaa": "id__AAAAAA",
        "id__bbbbbb": "id__bbbbbB",
        "id__cccccc": "id__cCcccc",
        "id__dddddd": "id__dddddD",
    }
    assert len(spelled) == 4
    assert spelled.get("id__eeeeee") is None
