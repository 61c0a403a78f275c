"""What follows for a proposed note from notes that are about the same subject."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory.domain.change import Create
from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.history import History
from agent_memory.domain.plan import ChangeSet, PlanFacts, ProposedEntry
from agent_memory.domain.planning.plan_window import plan_window, subject_of
from agent_memory.domain.queue import InboxEntry, InlineNote, SessionFile
from agent_memory.domain.similarity import Subject
from agent_memory.domain.vocabulary import Harness, Kind, Status

SESSION = InboxEntry(1, Harness.AMP, SessionFile("claude-code-session", "s"))
NOTE = InboxEntry(1, Harness.MANUAL, InlineNote("Port", "The staging api listens on port 8080."))
LESSON = ProposedEntry("Api port", "The staging api listens on port 8080.", Kind.LESSON, ())


def stored(letter: str, body: str, title: str = "Api port") -> StoredEntry:
    id = f"id__{letter * 6}"
    return StoredEntry(Listed(Meta(id, title, 1, 1), f"topics/{id}.md", "hash"), body)


def facts(
    proposed: ProposedEntry, *known: StoredEntry, entry: InboxEntry = SESSION, status: Status = Status.CAPTURED
) -> PlanFacts:
    return PlanFacts(
        entry=entry,
        window=History(entry.harness, "s", ()),
        scope="global",
        live=tuple(each.listed for each in known),
        taken_ids=frozenset(),
        shown={},
        status=status,
        now_ms=2,
        similar={proposed: known},
    )


def said_already(proposed: ProposedEntry, given: PlanFacts) -> str | None:
    lead = "it is already stored as "
    reasons = [each.reasons[0] for each in plan_window(ChangeSet((proposed,)), given).dropped]
    return next((reason.removeprefix(lead) for reason in reasons if reason.startswith(lead)), None)


KNOWN = stored("a", "The staging api server listens on port 8080, behind the proxy.")
OTHER = stored("b", "The staging api moves to a new rack.")


def test_a_note_is_compared_as_it_would_be_stored() -> None:
    proposed = ProposedEntry(" Api\nport ", "Port\u200b 8080.\n", Kind.LESSON, ("x",), description="Where it listens")
    assert subject_of(proposed) == Subject("Api port", "Port 8080.", "Where it listens", Kind.LESSON)
    assert subject_of(LESSON).description == ""


def test_a_note_is_linked_to_those_of_its_subject_that_it_does_not_take_the_place_of() -> None:
    proposed = ProposedEntry("Api port", "It listens on 9090.", Kind.FACT, (), supersedes=(KNOWN.meta.id,))
    (change,) = plan_window(ChangeSet((proposed,)), facts(proposed, OTHER, KNOWN)).changes
    assert isinstance(change, Create)
    assert change.entry.body == f"It listens on 9090.\n\nSee also: [[{OTHER.meta.id}]]"


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.LESSON])
def test_the_same_body_but_for_its_links_is_the_same_note(kind: Kind) -> None:
    proposed = ProposedEntry("Ports", "It listens on 8080.", kind, ())
    twin = stored("c", "It listens on 8080.\n\nSee also: [[id__aaaaaa]]")
    assert said_already(proposed, facts(proposed, OTHER, twin, status=Status.CONSOLIDATED)) == twin.meta.id
    assert said_already(proposed, facts(proposed, OTHER, status=Status.CONSOLIDATED)) is None


def test_a_lesson_that_nobody_judged_and_that_a_known_note_holds_is_none() -> None:
    assert said_already(LESSON, facts(LESSON, OTHER, KNOWN)) == KNOWN.meta.id
    assert said_already(LESSON, facts(LESSON, OTHER)) is None


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"kind": Kind.FACT}, {}),
        ({"supersedes": ("id__bbbbbb",)}, {}),
        ({}, {"status": Status.CONSOLIDATED}),
        ({}, {"entry": NOTE}),
    ],
)
def test_what_was_judged_or_is_no_lesson_is_kept_beside_it(changes: dict[str, Any], more: dict[str, Any]) -> None:
    kept = ProposedEntry(LESSON.title, LESSON.body, **{"kind": Kind.LESSON, "tags": (), **changes})
    assert said_already(kept, facts(kept, KNOWN, **more)) is None
