from __future__ import annotations

from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.domain.change import Change, Create, Replace, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, Meta
from agent_memory.domain.plan import PLANNED_HASH, Plan, live_when_applied, stored_when_applied
from agent_memory.domain.text.derive import body_hash

OLD = Listed(Meta("id__aaaaaa", "Old", 0, 0), "topics/old -- id__aaaaaa.md", "h-a")
GONE = Listed(Meta("id__bbbbbb", "Gone", 0, 0), "topics/gone -- id__bbbbbb.md", "h-b")
NEW = MemoryEntry(Meta("id__cccccc", "New", 0, 0), "New body")
CHANGED = MemoryEntry(evolve(OLD.meta, title="Changed"), "Changed body")
PLAN = Plan((Create(NEW), Replace(CHANGED, "h-a"), Retire("id__bbbbbb", "h-b")))


def test_the_entries_of_a_plan_as_if_they_were_stored() -> None:
    stored = stored_when_applied(PLAN, (OLD, GONE))
    assert {id: (each.entry, each.listed.content_hash) for id, each in stored.items()} == {
        "id__cccccc": (NEW, PLANNED_HASH),
        "id__aaaaaa": (CHANGED, "h-a"),
    }
    assert stored["id__cccccc"].listed.path == "topics/New -- id__cccccc.md"


def test_the_live_entries_as_they_will_be() -> None:
    assert [each.meta.title for each in live_when_applied(PLAN, (OLD, GONE))] == ["Changed", "New"]
    assert live_when_applied(Plan(), (OLD, GONE)) == (OLD, GONE)


_IDS = [f"id__{letter * 6}" for letter in "abcdef"]
_titles = st.sampled_from(("One", "Two"))
_changes = st.sampled_from(_IDS).flatmap(
    lambda id: st.one_of(
        _titles.map(lambda title: Create(MemoryEntry(Meta(id, title, 1, 1), f"{title}."))),
        _titles.map(lambda title: Replace(MemoryEntry(Meta(id, title, 1, 1), f"{title}."), "hash")),
        st.just(Retire(id, "hash")),
    )
)


@given(st.lists(st.sampled_from(_IDS), unique=True), st.lists(_changes))
def test_the_live_entries_as_they_will_be_are_those_one_by_one(made: list[str], changes: list[Change]) -> None:
    live = [Listed(Meta(id, "Old", 0, 0), f"topics/{id}.md", "hash") for id in made]
    plan = Plan(tuple(changes))
    written = {id: stored.listed for id, stored in stored_when_applied(plan, live).items()}
    gone = {change.id for change in changes if isinstance(change, Retire)}
    kept = [written.get(each.meta.id, each) for each in live if each.meta.id not in gone]
    expected = kept + [each for id, each in written.items() if id not in [one.meta.id for one in kept]]

    assert list(live_when_applied(plan, live)) == expected


def test_what_is_planned_is_known_by_its_body_as_what_is_stored() -> None:
    """So that a later window does not store it again."""
    old, new = (
        MemoryEntry(Meta("id__aaaaaa", "Old", 1, 1), "One."),
        MemoryEntry(Meta("id__bbbbbb", "New", 1, 1), "Two."),
    )
    live = (
        Listed(old.meta, "topics/a.md", "hash", body_hash=body_hash("Before.")),
        Listed(Meta("id__cccccc", "Other", 1, 1), "topics/c.md", "other", body_hash=body_hash("Three.")),
    )
    listed = live_when_applied(Plan((Create(new), Replace(old, "hash"))), live)
    assert [(each.meta.id, each.content_hash, each.body_hash) for each in listed] == [
        ("id__aaaaaa", "hash", body_hash("One.")),
        ("id__cccccc", "other", body_hash("Three.")),
        ("id__bbbbbb", PLANNED_HASH, body_hash("Two.")),
    ]
