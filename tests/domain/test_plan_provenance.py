"""Where an entry of a window comes from, and when it was learnt."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory.domain.entry import Source
from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.plan import PlanFacts
from agent_memory.domain.planning.origin import with_source
from agent_memory.domain.planning.plan_window import computed_origin
from agent_memory.domain.queue import Context, InboxEntry, Retrieval, SessionFile
from agent_memory.domain.vocabulary import Harness, Origin, Status

NOTED_AT = 99
SESSION = SessionFile("claude-code-session", "s-1")


def facts(*at_ms: int | None, retrieval: Retrieval = SESSION, **window: Any) -> PlanFacts:
    scope, context = window.pop("scope", "global"), window.pop("context", Context())
    turns = tuple(Turn(n, Role.USER, "Use tabs.", f"r{n}", at_ms=at) for n, at in enumerate(at_ms, 1))
    return PlanFacts(
        entry=InboxEntry(NOTED_AT, Harness.AMP, retrieval, context),
        window=History(Harness.AMP, "s-1", turns, **window),
        scope=scope,
        live=(),
        taken_ids=frozenset(),
        shown={},
        status=Status.CONSOLIDATED,
        now_ms=100,
    )


def test_turns_of_one_session_are_united_in_its_place() -> None:
    before, one, after = (Source(Harness.AMP, id, "r", "/c", "m", (4, 1)) for id in ("s-0", "s-1", "s-2"))
    united = with_source((before, one, after), Source(Harness.AMP, "s-1", turns=(3, 1)))
    assert united == (before, Source(Harness.AMP, "s-1", "r", "/c", "m", (1, 3, 4)), after)
    other = Source(Harness.PI, "s-1", turns=(3,))
    assert with_source((before, one), other) == (before, one, other)
    nobody = Source(Harness.AMP, None, turns=(1,))
    assert with_source((nobody,), nobody) == (nobody, nobody)


@pytest.mark.parametrize(
    "place",
    [
        {"scope": "github.com/harbour/kilo"},
        {"context": Context(cwd="/srv/harbour/kilo")},
        {"cwd": "/opt/harbour/kilo"},
        {"context": Context(cwd="/srv/harbour"), "cwd": "/opt/kilo"},
    ],
)
def test_names_of_the_place_are_nobodys_claim(place: dict[str, Any]) -> None:
    known = facts(5, **place)
    title, text = "Use tabs", "Use tabs in harbour and kilo."
    assert computed_origin(title, text, known.window.turns, known) is Origin.USER
    assert computed_origin(title, text, facts(5).window.turns, facts(5)) is not Origin.USER
