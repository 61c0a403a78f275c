"""Notes are compared with each other once, and again when one of them changed; what is found is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.adapters.analysis.dict_compared import DictCompared
from agent_memory.adapters.store.dict_store import DictStore
from agent_memory.domain.analysis import compared as comparing
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.change import Replace, Retire
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryUnreadable, Error
from agent_memory.pipelines.comparing import analysed
from pipelines.defrag_world import DefragWorld, TidyingAgent

PORT = "The lamp server listens on port 8080 and answers the harbour office of the north basin."


class FaultyStore(DictStore):
    """One that remembers what was read, and in which a note may be in trouble by then."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.errors: dict[str, Error] = {}

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        self.asked.append(id)
        return Failure(self.errors[id]) if id in self.errors else super().read(id, archived=archived)


class World(DefragWorld):
    """A store of which two notes contradict each other, and one links to nothing that is there."""

    def __init__(self) -> None:
        super().__init__(TidyingAgent([]), store=FaultyStore())
        self.one = self.note("Port of the lamp server", PORT)
        self.other = self.note("Port of the lamp server", PORT.replace("8080", "9090"))
        self.third = self.note("Owner of the crane", "Ana owns the crane. See [[id__zzzzzz]].")

    def facts(self, **more: Any) -> AnalysisFacts:
        return evolve(AnalysisFacts(self.clock.at_ms), **more)

    def look(self, facts: AnalysisFacts | None = None, missed: list[str] | None = None) -> Analysis:
        """What is found, which is the same where nothing is kept."""
        store = self.store
        assert isinstance(store, FaultyStore)
        facts = facts or self.facts()
        live = store.list().unwrap().entries
        anew = analysed(evolve(self.io(), compared=None, noticed=None), live, facts, [])
        store.asked.clear()
        found = analysed(self.io(), live, facts, [] if missed is None else missed)
        assert found == anew
        return found

    def change(self, id: str, body: str | None = None, **meta: Any) -> None:
        stored = self.store.read(id).unwrap()
        entry = MemoryEntry(evolve(stored.meta, **meta), stored.body if body is None else body)
        assert self.store.apply([Replace(entry, stored.listed.content_hash)]).unwrap().applied


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many notes were compared with each other, each time that they were."""
    counts: list[int] = []
    findings = comparing._findings

    def counted(entries: Any, *others: object) -> object:
        counts.append(len(entries.placed.places))
        return findings(entries, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(comparing, "_findings", counted)
    return counts


def test_what_did_not_change_is_neither_read_nor_compared_again(world: World, comparisons: list[int]) -> None:
    first = world.look()
    assert [each.kind for each in first.findings] == [FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK]
    assert comparisons == [3, 3], "positive control: anew, and what is then kept"
    comparisons.clear()
    assert world.look() == first
    assert comparisons == [3], "anew"
    assert isinstance(world.store, FaultyStore)
    assert world.store.asked == []


def _edited(world: World) -> None:
    world.change(world.other, PORT)


def _retitled(world: World) -> None:
    world.change(world.other, title="Port of the crane server")


def _over(world: World) -> None:
    world.change(world.other, expires_at_ms=world.clock.at_ms)


def _gone(world: World) -> None:
    stored = world.store.read(world.other).unwrap()
    world.store.apply([Retire(world.other, stored.listed.content_hash)]).unwrap()


def _joined(world: World) -> None:
    world.note("Lamp server of the south", PORT.replace("8080", "7070"))


@pytest.mark.parametrize("change", [_edited, _retitled, _over, _gone, _joined])
def test_every_change_is_seen(world: World, comparisons: list[int], change: Callable[[World], None]) -> None:
    first = world.look()
    change(world)
    comparisons.clear()
    after = world.look()
    assert after != first or change is _retitled
    assert len(comparisons) == 2, "anew, and because of the change"


def test_what_time_and_reads_make_of_a_note_is_seen_without_comparing(world: World, comparisons: list[int]) -> None:
    first = world.look()
    comparisons.clear()
    later = world.look(world.facts(now_ms=world.clock.at_ms + 365 * DAY_MS))
    assert {each.kind for each in later.findings} - {each.kind for each in first.findings} == {FindingKind.STALE}
    assert world.look(world.facts(taken_ids=frozenset({"id__zzzzzz"}))) != first
    assert comparisons == [3, 3], "anew, each time"


def test_a_note_whose_time_is_over_by_now_contradicts_none(world: World) -> None:
    soon = world.clock.at_ms + DAY_MS
    world.change(world.other, expires_at_ms=soon)
    assert FindingKind.CONTRADICTION in {each.kind for each in world.look().findings}
    over = world.look(world.facts(now_ms=soon))
    assert FindingKind.EXPIRED in {each.kind for each in over.findings}
    assert FindingKind.CONTRADICTION not in {each.kind for each in over.findings}


def test_what_is_left_alone_is_compared_apart(world: World) -> None:
    world.change(world.other, PORT.replace("8080", "8080, "))
    alike = world.look()
    assert alike != world.look(world.facts(left_alone=frozenset({world.other})))
    assert world.look() == alike


def test_nothing_of_a_secret_note_is_kept(world: World, comparisons: list[int]) -> None:
    secret = world.note("Key", "It hangs behind the tangerine.", sensitivity=Sensitivity.SECRET)
    world.look()
    assert isinstance(world.compared, DictCompared)
    (kept,) = world.compared.kept.values()
    assert sorted(kept.outlines) == sorted((world.one, world.other, world.third))
    comparisons.clear()
    world.look()
    assert comparisons == [4], "anew"
    assert isinstance(world.store, FaultyStore)
    assert world.store.asked == [secret]


def test_a_note_that_became_secret_is_in_nothing_that_is_kept(world: World) -> None:
    world.look()
    assert isinstance(world.compared, DictCompared)
    assert any(world.third in each.outlines for each in world.compared.kept.values()), "positive control"
    world.change(world.third, sensitivity=Sensitivity.SECRET)
    world.look()
    assert [sorted(each.outlines) for each in world.compared.kept.values()] == [sorted((world.one, world.other))]
    world.change(world.other, sensitivity=Sensitivity.SECRET)
    world.look()
    assert world.compared.kept == {}, "it contradicts another, which would be missing"


def test_where_a_secret_note_is_like_another_nothing_is_kept_and_both_are_always_told(world: World) -> None:
    secret = world.note("Lamp server", PORT, sensitivity=Sensitivity.SECRET)
    for _ in range(2):
        assert any(secret in each.ids for each in world.look().findings)
    assert isinstance(world.compared, DictCompared)
    assert world.compared.kept == {}


def test_what_was_compared_without_a_note_that_could_not_be_read_is_not_kept_p6(world: World) -> None:
    assert isinstance(world.store, FaultyStore)
    world.store.errors[world.one] = EntryUnreadable("topics/x.md", ("no frontmatter",))
    missed: list[str] = []
    assert FindingKind.CONTRADICTION not in {each.kind for each in world.look(missed=missed).findings}
    assert len(missed) == 1
    world.store.errors.clear()
    assert FindingKind.CONTRADICTION in {each.kind for each in world.look().findings}
