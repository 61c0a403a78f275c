"""An inline note that is stored whole: nobody's judgement stands between it and the store."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory.domain.change import Create, Dropped
from agent_memory.domain.entry import Listed, MemoryEntry, Meta, body_hash
from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.plan import ChangeSet, Plan, PlanFacts, ProposedEntry
from agent_memory.domain.planning.plan_window import plan_inline_fallback, plan_window
from agent_memory.domain.queue import InboxEntry, InlineNote
from agent_memory.domain.vocabulary import Harness, Kind, Origin, Status


def facts(title: str, body: str, harness: Harness = Harness.MANUAL, **more: Any) -> PlanFacts:
    note = more.pop("note", InlineNote(title, body))
    known: dict[str, Any] = {
        "entry": InboxEntry(9, harness, note),
        "window": History(harness, "n", (Turn(1, Role.USER, f"{title}\n\n{body}", "r"),)),
        "scope": "global",
        "live": (),
        "taken_ids": frozenset(),
        "shown": {},
        "status": Status.CONSOLIDATED,
        "now_ms": 9,
    }
    return PlanFacts(**{**known, **more})


def whole(known: PlanFacts) -> MemoryEntry:
    plan = plan_inline_fallback(known)
    (change,) = plan.changes
    assert isinstance(change, Create)
    return change.entry


@pytest.mark.parametrize(
    ("title", "body", "stored_title", "stored_body"),
    [
        ("Deploys", "Never on Fridays. Ask Ana.", "Deploys", "Never on Fridays. Ask Ana."),
        ("\u200b", "Never on Fridays.\nAsk Ana.", "Never on Fridays.", "Never on Fridays.\nAsk Ana."),
        ("Never on Fridays", "\u200b\n", "Never on Fridays", "Never on Fridays"),
        ("\u200b", "---", "untitled note", "---"),
    ],
)
def test_a_note_has_a_title_and_a_body_whatever_it_lacks(
    title: str, body: str, stored_title: str, stored_body: str
) -> None:
    entry = whole(facts(title, body))
    assert (entry.meta.title, entry.body) == (stored_title, stored_body)


def test_what_a_person_writes_is_theirs_and_what_an_agent_writes_the_agents() -> None:
    assert whole(facts("Be", "It is so.")).meta.origin is Origin.USER
    assert whole(facts("Be", "It is so.", Harness.AMP)).meta.origin is Origin.AGENT
    assert whole(facts("Ports", "It listens on 8080.", harness=Harness.AMP)).meta.origin is Origin.AGENT


def test_a_link_to_nowhere_is_plain_text_in_it() -> None:
    live = Listed(Meta("id__aaaaaa", "Port", 1, 1), "topics/a.md", "h", body_hash="x")
    entry = whole(facts("A", "See [[id__aaaaaa]], [[ref:x]] and [[id__zzzzzz]].", live=(live,)))
    assert entry.body == "See [[id__aaaaaa]], a note that was not kept and id__zzzzzz."


def test_a_body_that_lives_already_is_told_once() -> None:
    live = Listed(Meta("id__aaaaaa", "Port", 1, 1), "topics/a.md", "h", body_hash=body_hash("It listens on 8080."))
    known = facts("Port again", "It listens on 8080.", live=(live,))
    plan = plan_inline_fallback(known, Plan(skipped="nothing"))
    assert plan == Plan(dropped=(Dropped("Port again", ("it is already stored as id__aaaaaa",)),), skipped="nothing")
    assert plan_inline_fallback(known, plan) == plan


@pytest.mark.parametrize(
    ("note", "written", "is_kept"),
    [
        ("alpha bravo charlie delta echo.", ("alpha bravo charlie",), True),  # three fifths of its words
        ("alpha bravo charlie delta echo foxtrot.", ("alpha bravo charlie",), False),
        ("alpha bravo charlie.", ("kilo lima mike",), False),
        ("alpha bravo charlie on port 8080.", ("alpha bravo charlie on port 9090",), False),
        ("alpha bravo charlie on port 8080.", ("alpha bravo on port 8080", "charlie"), True),
        ("alpha bravo charlie in src/app", ("alpha bravo.\n\nIt is in src/app", "charlie"), True),
    ],
)
def test_a_persons_note_is_stored_whole_unless_what_was_made_of_it_says_it(
    note: str, written: tuple[str, ...], is_kept: bool
) -> None:
    entries = tuple(ProposedEntry("alpha", body, Kind.FACT, ()) for body in written)
    plan = plan_window(ChangeSet(entries), facts("alpha", note))
    bodies = [change.entry.body for change in plan.changes if isinstance(change, Create)]
    assert bodies == [*written, *(() if is_kept else (note,))]
