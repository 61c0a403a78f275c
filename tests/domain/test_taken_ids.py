from __future__ import annotations

from attrs import evolve

from agent_memory.domain.entry import Listed, Listing, Meta
from agent_memory.domain.history import History
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.plan import Plan
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.planning.plan_window import link_targets
from agent_memory.domain.vocabulary import Harness
from plan_facts import facts_of


def listing(*metas: Meta) -> Listing:
    return Listing(tuple(Listed(meta, f"topics/{meta.id}.md", f"h-{meta.id}") for meta in metas))


def test_no_id_is_free_that_is_live_archived_or_an_alias_however_it_is_spelled() -> None:
    """P15"""
    live = listing(Meta("id__AAAAAA", "A", 0, 0, aliases=("id__Bbbbbb",)))
    archive = listing(Meta("id__cCcccc", "C", 0, 0, aliases=("id__dddddD", "id__eeeeee")))
    taken = {"id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd", "id__eeeeee"}
    assert taken_ids(live, archive) == taken
    assert taken_ids(listing(), listing()) == frozenset()


def test_an_id_is_found_as_it_is_spelled_and_goes_before_an_alias_p15() -> None:
    live = listing(
        Meta("id__AAAAAA", "A", 0, 0, aliases=("id__Bbbbbb",)),
        Meta("id__bbbbbB", "B", 0, 0),
        Meta("id__cCcccc", "C", 0, 0, aliases=("id__dddddD",)),
    )
    facts = facts_of(
        InboxEntry(5, Harness.AMP, SessionFile("claude-code-session", "s")),
        "s",
        History(Harness.AMP, "s", ()),
        "global",
        (),
    )
    targets = link_targets({}, ["id__ffffFf"], evolve(facts, live=live.entries), Plan())
    assert targets.id_of("id__aAAAAA") == "id__AAAAAA"
    assert targets.id_of("id__bbbbbb") == "id__bbbbbB"
    assert targets.id_of("id__DDDDDD") == "id__dddddD"
    assert targets.id_of("id__ffffff") == "id__ffffFf"
    assert targets.id_of("id__gggggg") is None
