"""A listing that is brought up to date is the one that is made of all files."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.adapters.store import listing_changes
from agent_memory.adapters.store.listing_changes import brought_up_to_date
from agent_memory.adapters.store.shelves import one_an_id
from agent_memory.domain.entry import Listed, Listing, Meta, UnreadableFile

Seen = Listed | UnreadableFile
PATHS = tuple(f"topics/{letter}.md" for letter in "abcdef")

_entry = st.builds(
    lambda id, hash: (id, hash), st.sampled_from([f"id__{letter * 6}" for letter in "abcdefgh"]), st.sampled_from("12")
)
files: st.SearchStrategy[dict[str, object]] = st.dictionaries(st.sampled_from(PATHS), st.just("damaged") | _entry)


def _seen(path: str, content: object) -> Seen:
    if isinstance(content, tuple):
        return Listed(Meta(content[0], "T", 1, 1), path, content[1], body_hash=content[1])
    return UnreadableFile(path, (str(content),))


def _listing(content: dict[str, object]) -> Listing:
    return one_an_id([_seen(path, each) for path, each in content.items()])


def _has_one_file_an_id(content: dict[str, object]) -> bool:
    ids = [each[0] for each in content.values() if isinstance(each, tuple)]
    return len(ids) == len(set(ids))


@given(files.filter(_has_one_file_an_id), files)
def test_it_is_the_listing_of_all_files(before: dict[str, object], after: dict[str, object]) -> None:
    touched = {path for path in PATHS if before.get(path) != after.get(path)}
    fresh = [_seen(path, after[path]) for path in touched if path in after]
    changed = brought_up_to_date(_listing(before), before, touched, fresh)
    if _has_one_file_an_id(after):
        assert changed == _listing(after)
        assert changed is not None
        assert changed.found.by_id == _listing(after).found.by_id
        for one, other in ((changed, _listing(after)), (_listing(after), changed)):
            assert all(one.bearers(id) == other.bearers(id) for id in other.found.bearers)
            assert all(one.with_body(each.body_hash) == other.with_body(each.body_hash) for each in other.entries)
    else:
        assert changed is None


def test_what_could_not_be_read_and_is_gone_is_not_told_again() -> None:
    before = Listing((), (UnreadableFile("topics/a.md", ("it cannot be read",)),))
    assert brought_up_to_date(before, {}, set(), []) == Listing(())


def test_many_changes_are_for_a_look_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert brought_up_to_date(Listing(()), {}, {"topics/a.md", "topics/b.md"}, []) == Listing(())
    monkeypatch.setattr(listing_changes, "FEW", 1)
    assert brought_up_to_date(Listing(()), {}, {"topics/a.md", "topics/b.md"}, []) is None
