"""Notes are chosen from columns, and only those that are shown are unpacked: the same ones as if each were looked at."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.injecting.candidates import (
    Place,
    candidates,
    good_until_ms,
    may_be_injected,
    shown,
    those_let_through,
)
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Kind, Origin, Sensitivity
from packed_notes import partly_packed

HERE = "github.com/ada/lamp"
SCOPES = st.sampled_from((HERE, GLOBAL_SCOPE, "github.com/eve/other"))
INSTANTS = st.none() | st.integers(0, 20)
PLACES = st.builds(Place, SCOPES, st.booleans(), st.integers(0, 20))
METAS = st.builds(
    Meta,
    id=st.from_regex(r"id__[a-c]{2}", fullmatch=True),
    title=st.just("Lamp"),
    created_at_ms=st.just(0),
    updated_at_ms=st.integers(0, 3),
    kind=st.sampled_from(Kind),
    origin=st.sampled_from(Origin),
    scope=SCOPES,
    importance=st.sampled_from(Importance),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    promoted_by=st.sampled_from((None, "person", "agent")),
    expires_at_ms=INSTANTS,
    valid_until_ms=INSTANTS,
)
NOTES = st.lists(st.tuples(METAS, st.booleans(), st.booleans()), max_size=40)
"""What each says, whether it lies in the archive, and whether it is packed."""


def _entries(notes: Sequence[tuple[Meta, bool, bool]]) -> tuple[list[Listed], Sequence[Listed]]:
    plain = [Listed(meta, f"topics/{at:02}.md", "", is_old) for at, (meta, is_old, _) in enumerate(notes)]
    return plain, partly_packed(zip(plain, (is_packed for _, _, is_packed in notes), strict=True))


def _read(listed: Listed) -> StoredEntry:
    return StoredEntry(listed, "The lamp has two relays.")


def _rank(listed: Listed, scope: str) -> tuple[int, int, str, str]:
    meta = listed.meta
    points = 0 if meta.kind is Kind.HANDOFF else list(Importance).index(meta.importance)
    points += 8 * meta.pinned + 2 * (meta.scope == scope and scope != GLOBAL_SCOPE)
    return -points, -meta.updated_at_ms, meta.id, listed.path


@given(NOTES, PLACES)
def test_those_that_are_let_through_are_those_of_which_each_may_be_injected(
    notes: list[tuple[Meta, bool, bool]], around: Place
) -> None:
    plain, packed = _entries(notes)
    expected = [each for each in plain if may_be_injected(each, around)]
    assert list(those_let_through(packed, around)) == list(those_let_through(plain, around)) == expected


@given(NOTES, PLACES)
def test_they_are_chosen_in_the_order_of_their_ranks(notes: list[tuple[Meta, bool, bool]], around: Place) -> None:
    plain, packed = _entries(notes)
    fit = [each for each in plain if may_be_injected(each, around)]
    best = [each for each in sorted(fit, key=lambda each: _rank(each, around.scope)) if shown(_read(each)) is not None]
    handoffs = [each for each in best if each.meta.kind is Kind.HANDOFF]
    expected = [each.path for each in best if each not in handoffs[1:]]
    assert [each.stored.listed.path for each in candidates(packed, _read, around).shown] == expected


@given(NOTES, PLACES)
def test_they_are_good_until_the_first_of_here_runs_out(notes: list[tuple[Meta, bool, bool]], around: Place) -> None:
    plain, packed = _entries(notes)
    ends = [
        end
        for each in plain
        if each.meta.scope in around.scopes
        for end in (each.meta.expires_at_ms, each.meta.valid_until_ms)
        if end is not None and end > around.now_ms
    ]
    assert good_until_ms(packed, around) == min(ends, default=None)
