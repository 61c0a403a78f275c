"""However an agent answers, and however often: nothing is lost from live and archive, and no promise is broken."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agent_memory.files.locks import KernelLocks
from agent_memory.note.file_name import MAX_NAME_BYTES, folded_name
from agent_memory.note.note import MemoryEntry, Meta, Origin, Status, StoredEntry
from agent_memory.ports import Store
from agent_memory.rules.change import Change, entries_written, max_changes
from agent_memory.rules.drafts import taken_ids
from agent_memory.rules.plan import (
    Action,
    Deferred,
    DefragFacts,
    DefragPlan,
    DefragProposal,
    Edit,
    Merge,
    ids_of,
    kind_of,
)
from agent_memory.rules.plan_defrag import ids_to_read, plan_defrag
from agent_memory.store.store_files import StoreFiles
from agent_memory.text.ids import mint_id
from agent_memory.text.markdown import derive_description, find_links
from agent_memory.text.salience import salient_tokens
from defrag_replies import a_body, a_title, some_actions
from stand_ins.temporary_store import TemporaryStore

STARTED_AT_MS = 1_771_000_000_000
SEEDS = st.integers(0, 2**32)


class World:
    """A store, what every entry in it has ever said, and runs of defrag on it."""

    def __init__(self, store: Store, random: Random) -> None:
        self.store = store
        self.said: dict[str, frozenset[str]] = {}
        self.hashes: dict[str, set[str]] = {}
        self.deferred: tuple[Deferred, ...] = ()
        self.now_ms = STARTED_AT_MS
        self.planned_count = 0
        for _ in range(random.randint(2, 16)):
            self.add(random)

    def live(self) -> list[StoredEntry]:
        return [self.store.read(each.meta.id).unwrap() for each in self.store.list().unwrap().entries]

    def archived(self) -> list[StoredEntry]:
        listing = self.store.list(archived=True).unwrap()
        return [self.store.read(each.meta.id, archived=True).unwrap() for each in listing.entries]

    def add(self, random: Random, **more: Any) -> None:
        """What a session or a person adds between runs."""
        self.now_ms += 1
        title = a_title(random)
        body = a_body(random, tuple(each.meta.id for each in self.live()))
        taken = taken_ids(self.store.list().unwrap(), self.store.list(archived=True).unwrap())
        known = {"scope": random.choice(("global", "global", "github.com/acme/web")), "pinned": random.random() < 0.15}
        id = mint_id(title, self.now_ms, taken)
        meta = Meta(
            id, title, self.now_ms, self.now_ms, derive_description(body), origin=Origin.AGENT, **{**known, **more}
        )
        self.store.apply([Change.of(MemoryEntry(meta, body))]).unwrap()

    def edit_by_hand(self, random: Random) -> None:
        stored = random.choice(self.live())
        entry = MemoryEntry(evolve(stored.meta, updated_at_ms=self.now_ms), f"{stored.body}\n{a_body(random)}")
        self.store.apply([Change.of(entry, stored.listed.content_hash)]).unwrap()

    def facts(self, random: Random) -> DefragFacts:
        listing, archive = self.store.list().unwrap(), self.store.list(archived=True).unwrap()
        shown = [each for each in self.live() if random.random() < 0.9]
        return DefragFacts(
            live=listing.entries,
            taken_ids=taken_ids(listing, archive),
            shown={each.meta.id: each for each in shown},
            status=Status.CONSOLIDATED,
            now_ms=self.now_ms,
            live_at_start=len(listing.entries),
            force=random.random() < 0.1,
        )

    def defrag(self, random: Random, *, edited_meanwhile: bool) -> None:
        """One run: what was shown, what is answered, perhaps a hand edit, the plan, and its effect, checked."""
        self.now_ms += 1
        facts = self.facts(random)
        proposal = DefragProposal(some_actions(list(facts.shown.values()), random))
        if edited_meanwhile:
            self.edit_by_hand(random)
        before = {each.meta.id: each for each in self.live()}
        self.remember(before)
        wanted = ids_to_read(proposal, self.deferred, facts.shown)
        facts = evolve(
            facts,
            live=tuple(each.listed for each in before.values()),
            at_hand={id: before[id] for id in wanted if id in before},
        )
        plan = plan_defrag(proposal, facts, self.deferred)
        assert plan == plan_defrag(proposal, facts, self.deferred), "deterministic"
        receipt = self.store.apply([change for each in plan.actions for change in each.changes]).unwrap()
        assert receipt.dropped == (), "the plan fits the store that it was made for"
        self.planned_count += len(plan.actions)
        actions = (*(each.action for each in self.deferred), *proposal.actions)
        self.deferred = plan.deferred
        self.check(plan, facts, before, actions)

    def remember(self, entries: dict[str, StoredEntry]) -> None:
        for id, stored in entries.items():
            self.said[id] = self.said.get(id, frozenset()) | salient_tokens(stored.body)
            self.hashes.setdefault(id, set()).add(stored.listed.content_hash)

    def check(
        self, plan: DefragPlan, facts: DefragFacts, before: dict[str, StoredEntry], actions: Iterable[Action]
    ) -> None:
        after = {each.meta.id: each for each in self.live()}
        archived = {each.meta.id: each for each in self.archived()}
        self.check_p12(before, after, archived)
        self.check_p13_and_p14(facts, before, after)
        self.check_p15(after, archived)
        self.check_text(plan, before, actions)

    def check_p12(
        self, before: dict[str, StoredEntry], after: dict[str, StoredEntry], archived: dict[str, StoredEntry]
    ) -> None:
        aliases = {alias for each in after.values() for alias in each.meta.aliases}
        for id, stored in before.items():
            assert id in after or id in archived
            if id not in after:
                assert archived[id].listed.content_hash == stored.listed.content_hash, "byte for byte"
                assert id in aliases or self.was_archived_alone(id)
            elif after[id].body != stored.body:
                assert archived[id].listed.content_hash == stored.listed.content_hash
        everything = "\n".join(each.body for each in (*after.values(), *archived.values())).lower()
        for stored in before.values():
            assert [token for token in salient_tokens(stored.body) if token not in everything] == []

    def was_archived_alone(self, id: str) -> bool:
        return self.store.read(id).failure().code == "entry-not-found"

    def check_p13_and_p14(
        self, facts: DefragFacts, before: dict[str, StoredEntry], after: dict[str, StoredEntry]
    ) -> None:
        assert after
        changed = [id for id, stored in before.items() if after.get(id) != stored]
        assert facts.force or len(changed) <= max_changes(facts.live_at_start)
        for id, stored in before.items():
            if stored.meta.pinned:
                assert after[id] == stored

    def check_p15(self, after: dict[str, StoredEntry], archived: dict[str, StoredEntry]) -> None:
        aliases = {alias for each in after.values() for alias in each.meta.aliases}
        known = {*after, *archived, *aliases}
        names = [each.listed.path.rpartition("/")[2] for each in after.values()]
        assert len({folded_name(name) for name in names}) == len(names)
        assert all(len(name.encode()) <= MAX_NAME_BYTES for name in names)
        assert len({id.casefold() for id in {*after, *aliases}}) == len(after) + len(aliases - set(after))
        for each in after.values():
            assert {link.target for link in find_links(each.body)} <= known

    def check_text(self, plan: DefragPlan, before: dict[str, StoredEntry], actions: Iterable[Action]) -> None:
        """Every token of what is replaced is in what takes its place, unless the action names it."""
        done = [(each.kind, each.ids) for each in plan.actions]
        proposed = [each for each in actions if (kind_of(each), ids_of(each)) in done]
        for planned in plan.actions:
            texts = [entry.whole for entry in entries_written(planned.changes).values()]
            if not texts or planned.kind == "rename":
                continue
            ids = planned.ids
            # An edit, a title and tags for one entry become one text.
            drops = (drop for each in proposed if set(ids_of(each)) & set(ids) for drop in _drops(each))
            kept = "\n".join((*texts, *drops)).lower()
            tokens = frozenset().union(*(salient_tokens(before[id].body) for id in ids))
            assert [token for token in tokens if token.rstrip(".,:;") not in kept] == []


def _drops(action: Action) -> tuple[str, ...]:
    return action.drops if isinstance(action, Merge | Edit) else ()


class DefragMachine(RuleBasedStateMachine):
    @initialize(seed=SEEDS)
    def start(self, seed: int) -> None:
        self.world = World(TemporaryStore(), Random(seed))

    @rule(seed=SEEDS, edited_meanwhile=st.booleans())
    def defrag(self, seed: int, edited_meanwhile: bool) -> None:
        self.world.defrag(Random(seed), edited_meanwhile=edited_meanwhile)

    @rule(seed=SEEDS)
    def a_session_adds_a_note(self, seed: int) -> None:
        self.world.add(Random(seed))

    @rule(seed=SEEDS)
    def a_person_edits_a_note(self, seed: int) -> None:
        self.world.edit_by_hand(Random(seed))


TestDefragMachine = DefragMachine.TestCase
TestDefragMachine.settings = settings(max_examples=8, stateful_step_count=8, deadline=None)


def test_the_machine_does_apply_actions() -> None:
    """The control: replies of this kind are mostly acted upon."""
    world = World(TemporaryStore(), Random(1))
    for seed in range(6):
        world.defrag(Random(seed), edited_meanwhile=False)
    assert world.planned_count >= 6


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the oracle
def test_an_independent_check_of_the_files_finds_nothing_lost(shared: Path, tmp_path: Path) -> None:
    """P12, P13, P14, P15 by the developers' oracle, run for run."""
    check = runpy.run_path(str(shared / "tools" / "store_oracle.py"))["check"]
    for seed in range(2):
        random, root = Random(seed), tmp_path / f"root{seed}"
        world = World(StoreFiles(root, KernelLocks(root, {"HOME": str(tmp_path)})), random)
        for run in range(5):
            before = tmp_path / f"before{seed}-{run}"
            shutil.copytree(root, before)
            world.defrag(random, edited_meanwhile=False)
            assert check(str(before), str(root), 1) == []
            world.add(random)
