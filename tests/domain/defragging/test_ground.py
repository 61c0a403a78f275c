"""What the actions of one run are planned upon."""

from __future__ import annotations

import pytest
from attrs import evolve

from agent_memory.domain.actions import Edit, Merge
from agent_memory.domain.change import Create, Restore, Retire
from agent_memory.domain.defragging.plan_defrag import Ground
from agent_memory.domain.text.ids import mint_id
from defrag_entries import LONG_AGO, REPO, facts_of, note, planned, written

PORT = note("a", "Staging port", "The staging server listens on port 8080.")
DEPLOY = note("b", "Deploys", "Deploys go out with `make deploy`.")
OTHER = note("c", "Releases", "Releases are tagged on Fridays.", aliases=("id__dddddd",))
BOTH = Merge((PORT.meta.id, DEPLOY.meta.id), "Staging", f"{PORT.body}\n{DEPLOY.body}")


def edited(link: str, *before: Merge) -> str:
    """The body of the third entry, once an edit has put a link into it."""
    edit = Edit(OTHER.meta.id, "on Fridays", f"on Fridays ({link})")
    return written(planned(facts_of(PORT, DEPLOY, OTHER), *before, edit))[-1].body


def test_a_link_leads_to_what_lives_as_its_id_is_spelled_there() -> None:
    """P15"""
    assert edited("[[id__AaAaaa|port]]") == "Releases are tagged on Fridays ([[id__aaaaaa|port]])."
    assert edited("[[id__zzzzzz|port]]") == "Releases are tagged on Fridays (port)."


def test_a_link_may_lead_to_what_the_run_has_made() -> None:
    """P15"""
    id = mint_id(BOTH.title, LONG_AGO, frozenset())
    assert edited(f"[[{id}|both]]", BOTH) == f"Releases are tagged on Fridays ([[{id}|both]])."
    assert edited(f"[[{id}|both]]") == "Releases are tagged on Fridays (both)."


def test_there_are_no_refs_in_a_defrag() -> None:
    assert edited("[[ref:a|both]]") == "Releases are tagged on Fridays (both)."


def test_a_title_is_taken_in_its_scope_by_what_lives_and_what_is_made() -> None:
    ground = Ground(facts_of(PORT, DEPLOY))
    assert ground.titled("STAGING port", REPO) == PORT.meta.id
    assert ground.titled("Staging port", "global") is None
    made = evolve(OTHER.entry, meta=evolve(OTHER.meta, title="Made"))
    ground.accept((Retire(PORT.meta.id, "hash"), Create(made)))
    assert ground.titled("Staging port", REPO) is None
    assert ground.titled("made", REPO) == OTHER.meta.id
    assert all(id in ground.taken_ids for id in ("id__aaaaaa", "id__bbbbbb", "id__cccccc"))
    assert "id__dddddd" not in ground.taken_ids


def test_a_defrag_restores_nothing() -> None:
    with pytest.raises(TypeError, match="a defrag restores nothing"):
        Ground(facts_of(PORT)).accept((Restore(PORT.meta.id),))
