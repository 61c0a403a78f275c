"""What a listing's entries are found by is what a look at all of them finds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Listing, Meta
from agent_memory.domain.entry_lookup import EntryLookup

IDS = ("id__aaaaaa", "id__AAAAAA", "id__bbbbbb", "id__cccccc", "id__dddddd")
BODIES = ("one", "two")

entries = st.lists(
    st.builds(
        lambda id, aliases, body: Listed(
            Meta(id, "T", 1, 1, aliases=tuple(aliases)), f"topics/{id}.md", "0", body_hash=body
        ),
        st.sampled_from(IDS),
        st.lists(st.sampled_from(IDS), max_size=2),
        st.sampled_from(BODIES),
    ),
    unique_by=lambda each: each.meta.id,
).map(tuple)


def _agrees(listing: Listing) -> None:
    by_path = sorted(listing.entries, key=lambda each: each.path)
    for id in IDS:
        assert listing.found.by_id.get(id) == next((each for each in by_path if each.meta.id == id), None)
        bearers = tuple(each for each in by_path if id.casefold() in _folded(each))
        assert listing.bearers(id) == listing.bearers(id.upper()) == bearers
    for body in BODIES:
        assert listing.with_body(body) == tuple(each for each in by_path if each.body_hash == body)


def _folded(listed: Listed) -> Sequence[str]:
    return [id.casefold() for id in (listed.meta.id, *listed.meta.aliases)]


@given(entries)
def test_entries_are_found_by_id_alias_and_body(some: tuple[Listed, ...]) -> None:
    _agrees(Listing(some))


@given(entries, entries)
def test_a_lookup_of_other_entries_is_not_believed(some: tuple[Listed, ...], others: tuple[Listed, ...]) -> None:
    first = Listing(some)
    _agrees(first)
    _agrees(Listing(others, lookup=first.lookup))


def test_listings_of_the_same_entries_are_equal_whatever_was_asked_of_them() -> None:
    some = (Listed(Meta("id__aaaaaa", "T", 1, 1), "topics/a.md", "0"),)
    asked = Listing(some)
    assert asked.bearers("id__aaaaaa") == some
    assert asked == Listing(some)
    assert hash(asked) == hash(Listing(some, lookup=EntryLookup()))
    assert asked != Listing(())
