"""What came of a told note, judged by the session's turns."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.care.use import Outcome, outcome_of, traces_of
from agent_memory.extraction.extract import Correction
from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.session.history import Role, ToolCall, Turn

TOLD_MS = 1_000
SAYS = "Deploys run by `make ship`, never by `make push`."


def note(text: str = SAYS, updated_at_ms: int = 0) -> StoredEntry:
    return StoredEntry(Listed(Meta("id__a1b2c3", text, 0, updated_at_ms), "", ""), text)


def turns(*said: str, begin_ms: int = TOLD_MS + 1) -> tuple[Turn, ...]:
    """The person, a tool (`< …`), the agent (`* …`), or its call (`$ …`) by turns, a millisecond apart."""
    roles = {"<": Role.TOOL, "*": Role.AGENT, "$": Role.AGENT}
    return tuple(
        Turn(
            at,
            roles.get(text[:1], Role.USER),
            "" if text.startswith("$") else text[2:] if text[:1] in roles else text,
            f"r{at}",
            begin_ms + at,
            (ToolCall("Bash", text[2:]),) if text.startswith("$") else (),
        )
        for at, text in enumerate(said, 1)
    )


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (("Release it.", "$ git pull && make ship"), Outcome.ACTED_ON),
        (("Release it.", "* You can run make ship."), Outcome.NAMED),
        (("Release it.", "$ make push", "< pushed"), Outcome.UNUSED),
        (("Release it with make ship.", "$ make ship"), Outcome.UNKNOWN),
        (("Release it.", f"* Memory says: {SAYS}"), Outcome.UNUSED),
        (("Release it.",), Outcome.UNKNOWN),
    ],
)
def test_a_use_is_what_the_agent_was_first_to_write(said: tuple[str, ...], outcome: Outcome) -> None:
    assert outcome_of(note(), TOLD_MS, turns(*said), ()) is outcome


def test_what_cannot_be_known_is_unknown() -> None:
    used = turns("Release it.", "$ make ship")
    assert outcome_of(note(updated_at_ms=TOLD_MS + 1), TOLD_MS, used, ()) is Outcome.UNKNOWN
    assert outcome_of(note(), TOLD_MS, turns("Release it.", "$ make ship", begin_ms=0), ()) is Outcome.UNKNOWN
    assert outcome_of(note(), TOLD_MS, tuple(evolve(each, at_ms=None) for each in used), ()) is Outcome.UNKNOWN
    cut = turns("Release it.", "$ cat log", "< a long log", "$ make ship")
    assert outcome_of(note(), TOLD_MS, cut, ()) is Outcome.ACTED_ON
    clipped = (*cut[:2], evolve(cut[2], clipped_chars=9), *cut[3:])
    assert outcome_of(note(), TOLD_MS, clipped, ()) is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("known", "said", "outcome"),
    [
        ("Use pnpm here, not npm.", "use pnpm here, not npm", Outcome.CORRECTED),
        ("We use npm.", "We use pnpm, not npm.", Outcome.CONTRADICTED),
        ("The staging port is 8081.", "The staging port is 9090, not 8081.", Outcome.CONTRADICTED),
        ("Releases are signed with the key of the build host.", "Never sign releases with the key of the build host.",
         Outcome.UNKNOWN),
        ("Releases are signed with the build key", "the build key, never sign releases with it", Outcome.UNKNOWN),
        ("We use npm.", "We never commit generated files here.", Outcome.ACTED_ON),
    ],
)  # fmt: skip
def test_a_correction_counts_where_it_is_about_the_note(known: str, said: str, outcome: Outcome) -> None:
    spoken = turns("Go on.", "$ npm install", said, "* Sorry.")
    assert outcome_of(note(known), TOLD_MS, spoken, (Correction(3, said),)) is outcome
    before_heard = outcome_of(note(known), TOLD_MS, spoken, (Correction(1, said),))
    assert before_heard not in (Outcome.CORRECTED, Outcome.CONTRADICTED)


def test_what_is_denied_beside_the_matter_of_a_note_is_no_doubt() -> None:
    known = evolve(note("Packages are installed by pnpm"), body="Packages are installed by pnpm, not npm.")
    again = (Correction(3, "use pnpm to install packages, not npm!"),)
    assert (
        outcome_of(known, TOLD_MS, turns("Go on.", "$ npm install", "Again!", "* Sorry."), again) is Outcome.CORRECTED
    )


@pytest.mark.parametrize(
    ("text", "traces"),
    [
        ("Retries live in src/net/retry.py and are capped by MAX_RETRIES.", {"src/net/retry.py", "MAX_RETRIES"}),
        ("We use pnpm, not npm.", {"pnpm"}),
        ("Run `docker compose -f infra/dev.yml up`: it waits.", {"docker compose -f infra/dev.yml up"}),
        ("\0`a_b`\0 `", {"a_b"}),
    ],
)
def test_only_what_a_note_affirms_and_can_be_typed_is_looked_for(text: str, traces: set[str]) -> None:
    assert {each.text for each in traces_of("", text)} == traces


SAID = st.lists(
    st.sampled_from(("Release it.", "make ship", "* make ship it is", "$ make ship", "< make ship", "$ ls", "* Done."))
    | st.text(max_size=40),
    max_size=8,
)


@given(SAID, SAID)
def test_what_was_in_view_before_is_never_a_use(before: list[str], after: list[str]) -> None:
    shown = turns(*before, "< make ship", begin_ms=0)
    later = tuple(evolve(each, number=each.number + len(shown)) for each in turns(*after))
    assert outcome_of(note(), TOLD_MS, (*shown, *later), ()) in (Outcome.UNKNOWN, Outcome.UNUSED)


@given(SAID, st.text(max_size=60))
def test_whatever_is_said_has_an_outcome_and_more_turns_undo_no_act(said: list[str], text: str) -> None:
    spoken = turns("Go on.", *said)
    assert outcome_of(note(text), TOLD_MS, spoken, (Correction(2, text),)) in Outcome
    if outcome_of(note(), TOLD_MS, spoken, ()) is Outcome.ACTED_ON:
        assert outcome_of(note(), TOLD_MS, (*spoken, *turns(*said)), ()) is Outcome.ACTED_ON
