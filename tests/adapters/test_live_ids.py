from __future__ import annotations

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent_memory.adapters.store.store_draft import LiveIds, Revocable
from agent_memory.domain.entry import Listed, Listing, Meta

IDS = ["id__aaaaaa", "id__AAAAAA", "id__bbbbbb", "id__cccccc"]

ids = st.sampled_from(IDS)
listed = st.builds(
    lambda id, aliases: Listed(Meta(id, "T", 1, 1, aliases=tuple(aliases)), f"topics/{id}.md", "0"), ids, st.lists(ids)
)


class LiveIdsMachine(RuleBasedStateMachine):
    """Whatever is put and taken back, the index answers as a look at every entry would."""

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[str, Listed | None] = {}
        self.index = LiveIds(self.live, {})
        self.revocable = Revocable()
        self.copies: list[tuple[int, dict[str, Listed | None]]] = []

    @initialize(entries=st.lists(listed, unique_by=lambda each: each.meta.id))
    def begin(self, entries: list[Listed]) -> None:
        listing = Listing(tuple(entries))
        self.live |= listing.found.by_id
        self.index = LiveIds(self.live, listing.found.bearers)

    @rule(listed=listed)
    def goes_live(self, listed: Listed) -> None:
        self.revocable.put(self.live, listed.meta.id, listed)
        self.index.note(listed)

    @rule(id=ids)
    def leaves(self, id: str) -> None:
        self.revocable.put(self.live, id, None)

    @rule()
    def mark(self) -> None:
        self.copies.append((self.revocable.mark(), dict(self.live)))

    @rule()
    def go_back(self) -> None:
        if self.copies:
            mark, copy = self.copies.pop()
            self.revocable.go_back(mark)
            assert self.live == copy

    @invariant()
    def every_bearer_is_found(self) -> None:
        for id in IDS:
            expected = {
                each.meta.id
                for each in self.live.values()
                if each and id.casefold() in [one.casefold() for one in (each.meta.id, *each.meta.aliases)]
            }
            assert {each.meta.id for each in self.index.bearers(id)} == expected


TestLiveIdsMachine = LiveIdsMachine.TestCase
TestLiveIdsMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


class CountedAlias(str):
    """An alias that counts how often aliases are folded."""

    __slots__ = ()
    folded = 0

    def casefold(self) -> str:
        CountedAlias.folded += 1
        return super().casefold()


def test_who_bears_each_alias_of_an_entry_is_told_without_a_look_at_all_of_them_for_each() -> None:
    def folded(number: int) -> int:
        aliases = tuple(CountedAlias(f"id__{each:06}") for each in range(number))
        one = Listed(Meta("id__aaaaaa", "T", 1, 1, aliases=aliases), "topics/a.md", "0")
        index = LiveIds({"id__aaaaaa": one}, Listing((one,)).found.bearers)
        index.note(one)
        CountedAlias.folded = 0
        assert all(index.bearers(alias) == (one,) for alias in aliases)
        return CountedAlias.folded

    assert folded(400) <= folded(100) * 4 + 4
