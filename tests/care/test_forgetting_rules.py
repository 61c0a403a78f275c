"""What of a note comes from a session, what a forgotten note said, and what other notes keep of it (P28)."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.note.note import Harness, Kind, MemoryEntry, Meta, Source
from agent_memory.rules.forgotten import (
    EntryTombstone,
    SessionKey,
    TraceWords,
    forgetful_message,
    forgotten_note,
    share_of,
    statement_hashes,
    statements_of,
    unlinked,
    without_session,
    without_unwanted,
)
from agent_memory.rules.plan import ChangeSet, ProposedEntry
from agent_memory.session.history import History, Role, Turn

GONE = "id__Gone11"
NOTE = Meta(id="id__a1b2c3", title="Note", created_at_ms=1, updated_at_ms=1)
MINE, OTHERS = Source(Harness.AMP, "T-1"), Source(Harness.CODEX, "T-2")
BODY = "The lamp has a green fuse of 3 A.\nSpare fuses are kept in the harbour office."


@pytest.mark.parametrize(
    ("sources", "recorded", "share"),
    [
        ((MINE,), frozenset(), "all"),
        ((MINE, OTHERS), frozenset(), "some"),
        ((), frozenset(), "none"),
        ((Source(Harness.AMP),), frozenset(), "none"),
    ],
)
def test_how_much_of_a_note_is_a_sessions(sources: tuple[Source, ...], recorded: frozenset[str], share: str) -> None:
    meta = evolve(NOTE, sources=sources)
    assert share_of(meta, SessionKey("T-1", Harness.AMP), recorded) == share
    assert share_of(meta, SessionKey("T-1"), recorded) == share
    assert without_session(meta, SessionKey("T-1")).sources == tuple(
        each for each in sources if each.thread_id != "T-1"
    )


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (f"See [[{GONE}]] first.", f"See {GONE} first."),
        (f"See [[{GONE}|the fuses]] first.", "See the fuses first."),
        (f"Code `[[{GONE}]]` stays.", f"Code `[[{GONE}]]` stays."),
        (f"Text.\n\nSee also: [[{GONE}]]", "Text."),
        (f"Text [[{GONE}|x]].\n\nSee also: [[id__other1]], [[{GONE}]]", "Text x.\n\nSee also: [[id__other1]]"),
        ("Nothing of it.", "Nothing of it."),
    ],
)
def test_a_link_becomes_its_label_or_the_plain_id_and_the_rest_of_the_text_stays(body: str, left: str) -> None:
    assert unlinked(MemoryEntry(NOTE, body), {GONE}).body == left


@given(st.text(st.sampled_from(f"ab \n[]|`{GONE}"), max_size=80))
def test_unlinking_never_leaves_a_link_and_doing_it_twice_changes_nothing(body: str) -> None:
    entry = MemoryEntry(evolve(NOTE, aliases=(GONE, "id__other1"), supersedes=(GONE,)), f"{body} [[{GONE}]]")
    once = unlinked(entry, {GONE})
    assert (once.meta.aliases, once.meta.supersedes) == (("id__other1",), ())
    assert unlinked(once, {GONE}) == once


def test_a_tombstone_knows_the_same_words_in_another_order_and_not_other_words() -> None:
    tombstone = EntryTombstone(GONE, 100, statement_hashes("Fuses", BODY))
    assert tombstone.is_said_by("x", "- Spare fuses: kept in the harbour OFFICE!\n- A green fuse of 3 A, the lamp has.")
    assert not tombstone.is_said_by("Fuses", "The lamp has a red fuse of 3 A.\nSpare fuses are sold in town.")
    assert not EntryTombstone(GONE, 100, frozenset()).is_said_by("", "")
    assert "green" not in repr(tombstone)


def test_what_was_said_after_the_forgetting_is_meant() -> None:
    tombstone = EntryTombstone(GONE, 100, statement_hashes("Fuses", BODY))
    assert forgotten_note([tombstone], "Fuses", BODY, 100) is tombstone
    assert forgotten_note([tombstone], "Fuses", BODY, 101) is None


def test_a_proposal_that_brings_it_back_is_dropped_without_its_words() -> None:
    tombstone = EntryTombstone(GONE, 100, statement_hashes("Fuses", BODY))
    early = Turn(1, Role.USER, BODY, "r1", at_ms=50)
    late = Turn(2, Role.USER, BODY, "r2", at_ms=150)
    window = History(Harness.AMP, "T-1", (early, late))
    again = ProposedEntry("Fuses", BODY, Kind.FACT, (), turns=(1,))
    meant = evolve(again, turns=(1, 2))
    other = ProposedEntry("Piers", "The pier is 120 m long.", Kind.FACT, (), turns=(1,))

    left = without_unwanted(ChangeSet((again, meant, other)), [tombstone], [], window, 50, {})
    assert left.entries == (meant, other)
    assert "Fuses" not in str(left.dropped)
    alone = without_unwanted(ChangeSet((again,)), [tombstone], [], window, 50, {})
    assert (alone.entries, alone.skipped) == ((), "what it says was forgotten")


WORDS = TraceWords(
    frozenset({GONE}), "5f0c1a52-7f7b-4c55", frozenset({"Fuses of the lamp"}), statements_of("Fuses", BODY)
)


@pytest.mark.parametrize(
    ("message", "touched", "left"),
    [
        ("remember: Fuses of the lamp\n", True, "remember: (forgotten)\n"),
        ("remember: Fuses of the lamp\n", False, "remember: Fuses of the lamp\n"),
        (
            f"defrag: 2 merged\n\n- {GONE} Fuses\n+ id__other1 Piers\n",
            False,
            "defrag: 2 merged\n\n+ id__other1 Piers\n",
        ),
        (
            "consolidate: 1 note from amp session 5f0c1a52-7f7\n\n+ id__other1 Piers\n\nThread-Id: 5f0c1a52-7f7b-4c55\n",
            False,
            "consolidate: (forgotten)\n\n+ id__other1 Piers\n",
        ),
        ("Anything by hand\n", True, "Anything by hand\n"),
    ],
)
def test_a_commit_tells_nothing_of_it_any_more(message: str, touched: bool, left: str) -> None:
    assert forgetful_message(message, WORDS, touched=touched) == left
