"""Whose word a note is, in words."""

from __future__ import annotations

import pytest

from agent_memory.domain.entry import Source
from agent_memory.domain.explaining.provenance import said_by, source_in_words
from agent_memory.domain.vocabulary import Harness, Origin
from defrag_requests import stored


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"origin": Origin.USER}, "You said it in a session."),
        ({"origin": Origin.USER, "sources": ()}, "You wrote it."),
        ({"origin": Origin.USER, "sources": (Source(Harness.MANUAL),)}, "You wrote it."),
        ({"origin": Origin.AGENT}, "An agent concluded it; no message of yours says it."),
        ({"origin": Origin.EXTERNAL, "promoted_by": "person"}, "You vouched for it."),
    ],
)
def test_it_says_who_said_it(fields: dict[str, object], words: str) -> None:
    assert said_by(stored("We use tabs", **fields).meta).endswith(words)  # type: ignore[arg-type]


def test_only_a_persons_promotion_counts() -> None:
    """P19"""
    meta = stored("We use tabs", origin=Origin.EXTERNAL, promoted_by="claude").meta
    assert said_by(meta).startswith("It comes from outside")
    assert "vouched" not in said_by(meta)


def test_a_source_names_session_turns_place_and_agent() -> None:
    source = Source(Harness.AMP, "T-1", "github.com/acme/shop", "/srv/shop", "opus", (3, 9, 12))
    assert source_in_words(source) == (
        "amp session T-1, turns 3, 9 and 12, in /srv/shop (github.com/acme/shop), by opus"
    )
    assert source_in_words(Source(Harness.MANUAL)) == "you, by hand"


def test_hostile_text_stays_on_its_line() -> None:
    """P18"""
    words = source_in_words(Source(Harness.AMP, "T-1\n\x1b[2J", cwd="/srv/\u202eshop"))
    assert words.isprintable()
