"""`undo`: P16, and what must keep it from taking anybody's work away."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.note.note import MemoryEntry, Meta, StoredEntry, TierList
from agent_memory.pipelines.undo import UndoIo, Undone, finish_undo, undo
from agent_memory.rules.change import Change, ChangeGroup, SectionChange
from agent_memory.rules.findings import store_fingerprint
from agent_memory.rules.run import TieringMemo
from agent_memory.rules.run_log import LoggedAction, LoggedRun, RunKind, Undoing, logged_actions, short_id
from agent_memory.section.section_splice import splice_section
from agent_memory.section.targets import Targets
from agent_memory.store.run_files import DefragRecords, RunLog
from agent_memory.store.store_files import Store
from agent_memory.text.instants import iso_of
from stand_ins.dict_clock import DictClock
from stand_ins.dict_recorder import DictRecorder
from stand_ins.temporary import temporary_locks

_LITTER = re.compile(r"/\.cache/|/\.transaction/|/\.tmp-|\.agent-memory-[0-9a-f]+$|/agent-memory/sections/")
"""Derived files, and what a crash leaves until somebody tidies up."""
NOON_MS = 1_772_409_600_000
SECTION = "<!-- agent-memory:start -->\n## Memory of earlier sessions\n\n{}\n<!-- agent-memory:end -->"


def entry(letter: str, body: str, title: str = "") -> MemoryEntry:
    meta = Meta(f"id__aaaaa{letter}", title or f"Note {letter}", NOON_MS, NOON_MS)
    return MemoryEntry(meta, body)


@define
class World:
    """One root below a directory of the test."""

    home: Path
    clock: DictClock = field(factory=lambda: DictClock(NOON_MS))
    recorder: DictRecorder = field(factory=DictRecorder)

    @property
    def root(self) -> Path:
        return self.home / "memories"

    @property
    def target(self) -> Path:
        return self.home / "AGENTS.md"

    @property
    def records(self) -> DefragRecords:
        return DefragRecords(self.root, self.clock)

    @property
    def log(self) -> RunLog:
        return RunLog(self.root)

    @property
    def store(self) -> Store:
        return Store(self.root, temporary_locks())

    def io(self) -> UndoIo:
        return UndoIo(
            store=self.store,
            log=self.log,
            targets=Targets(str(self.home), str(self.root)),
            recorder=self.recorder,
            records=self.records,
            clock=self.clock,
            finish_interrupted=lambda: Success(None),
            new_run_id=self.run_id,
        )

    def run_id(self, now_ms: int) -> str:
        self.clock.at_ms += 60_000
        return f"{iso_of(now_ms).replace(':', '-')}_{(self.clock.at_ms - NOON_MS) // 60_000:06x}"

    # -- runs ---------------------------------------------------------------------------------------------------------

    def run(
        self,
        *changes: Change | ChangeGroup,
        tiers: TierList | None = None,
        machine: RunKind = "consolidate",
        section: str | None = None,
        actions: Sequence[LoggedAction] = (),
    ) -> str:
        """A run that makes these changes and, where asked, puts a section into the target; its id."""
        run_id = self.run_id(self.clock.at_ms)
        receipt = self.store.apply(changes, tiers=tiers, run_id=run_id).unwrap()
        assert receipt.dropped == ()
        if section is not None:
            self.publish(run_id, section)
        done = tuple(actions) or logged_actions(receipt.applied)
        self.log.put_report(
            LoggedRun(run_id, machine, self.clock.at_ms, self.clock.at_ms, "completed", f"{len(done)} done", done)
        ).unwrap()
        return run_id

    def publish(self, run_id: str, words: str) -> None:
        there = self.target.exists()
        spliced = splice_section(str(self.target), self.target.read_bytes() if there else b"", SECTION.format(words))
        change = SectionChange(str(self.target), spliced.before, spliced.after, spliced.separator, not there)
        self.log.put_sections(run_id, [change]).unwrap()
        self.target.write_bytes(spliced.data)

    def create(self, letter: str, body: str = "Words.") -> Change:
        return Change.of(entry(letter, body))

    def replace(self, letter: str, body: str) -> Change:
        stored = self.stored(letter)
        self.clock.at_ms += 1
        meta = evolve(stored.meta, updated_at_ms=self.clock.at_ms)
        return Change.of(MemoryEntry(meta, body), stored.listed.content_hash)

    def retire(self, letter: str) -> Change:
        return Change.retire(f"id__aaaaa{letter}", self.stored(letter).listed.content_hash)

    def merge(self, one: str, other: str, into: str, body: str) -> ChangeGroup:
        """Two notes become one that answers to their ids."""
        ids = (f"id__aaaaa{one}", f"id__aaaaa{other}")
        merged = entry(into, body)
        aliased = evolve(merged, meta=evolve(merged.meta, aliases=ids))
        return ChangeGroup("merge", (self.retire(one), self.retire(other), Change.of(aliased)))

    def stored(self, letter: str) -> StoredEntry:
        return self.store.read(f"id__aaaaa{letter}").unwrap()

    def path(self, letter: str) -> Path:
        return self.root / self.stored(letter).listed.path

    # -- undo ---------------------------------------------------------------------------------------------------------

    def result(self, name: str | None = None, *, dry_run: bool = False) -> Result[Undone, Error]:
        return undo(self.io(), name, dry_run=dry_run)

    def undo(self, name: str | None = None) -> Undone:
        return self.result(name).unwrap()

    def refused(self, name: str | None = None) -> str:
        """Why an undo was refused; nothing at all may differ by it."""
        before = self.everything()
        error = self.result(name).failure()
        assert (error.code, error.exit_code) == ("undo-refused", 20), error
        assert self.everything() == before
        return "; ".join(error.reasons)  # type: ignore[attr-defined]

    # -- looks --------------------------------------------------------------------------------------------------------

    def tree(self) -> dict[str, str]:
        """A hash of every file that an undo has to restore: notes, archive, tiers, targets (P16)."""
        return {path: each for path, each in self.everything().items() if not path.startswith("memories/runs/")}

    def everything(self) -> dict[str, str]:
        found = (each for each in self.home.rglob("*") if each.is_file())
        return {
            path: hashlib.sha256(each.read_bytes()).hexdigest()
            for each in found
            if not _LITTER.search(path := str(each.relative_to(self.home)))
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path / "home")
    world.home.mkdir()
    world.run(*(world.create(letter, f"Note {letter} says {letter * 3}.") for letter in "abcd"))
    return world


TIERS = TierList(("id__aaaaaa",), ("id__aaaaab", "id__aaaaac"))


def everything_at_once(world: World) -> str:
    """A run that does all that a run can do; its id."""
    replaced, merged = world.replace("a", "Something else."), world.merge("b", "c", "e", "Both b and c.")
    tiers = TierList(("id__aaaaae",), ("id__aaaaaa",))
    fingerprint = LoggedAction("merge", ("id__aaaaab", "id__aaaaac"), ("id__aaaaae",), "b and c", "f" * 32)
    return world.run(
        replaced, merged, world.retire("d"), tiers=tiers, machine="defrag", section="New.", actions=[fingerprint]
    )


class TestBytes:
    def test_one_undo_after_the_other_goes_back_run_by_run_p16(self, world: World) -> None:
        trees = [world.tree()]
        for letter in "ab":
            world.run(world.replace(letter, "Changed."), machine="defrag")
            trees.append(world.tree())
        for tree in reversed(trees[:-1]):
            world.undo()
            assert world.tree() == tree

    @pytest.mark.parametrize(
        "own", [None, b"", b"# Mine\n", b"# Mine", b"# Mine\r\n\r\nText\r\n", b"\xef\xbb\xbf# Mine\n", b"\n\n"]
    )
    def test_a_target_gets_back_what_it_held_before_p16(self, world: World, own: bytes | None) -> None:
        if own is not None:
            world.target.write_bytes(own)
        before = world.tree()
        run = world.run(tiers=TIERS, section="First.", machine="defrag")
        after = world.tree()
        undone = world.undo(run)
        assert world.tree() == before
        assert undone.left == ()
        world.undo(undone.run_id)
        assert world.tree() == after

    def test_what_the_person_wrote_into_a_file_of_ours_stays_p17(self, world: World) -> None:
        world.run(tiers=TIERS, section="First.", machine="defrag")
        world.target.write_text(world.target.read_text() + "Mine\n")
        world.undo()
        assert world.target.read_text() == "Mine\n"

    def test_a_section_that_was_changed_since_stays_and_is_named_p17(self, world: World) -> None:
        world.run(world.replace("a", "Changed."), section="First.", machine="defrag")
        changed = world.target.read_bytes().replace(b"First.", b"Mine.")
        world.target.write_bytes(changed)
        undone = world.undo()
        assert world.target.read_bytes() == changed
        assert "changed since" in undone.left[0].reason
        assert "memory generate-agents-md" in undone.warnings[0]
        assert world.stored("a").body.strip() == "Note a says aaa."

    @pytest.mark.parametrize("trouble", ["gone", "directory", "doubled"])
    def test_a_targets_trouble_hinders_nothing_else(self, world: World, trouble: str) -> None:
        world.target.write_text("# Mine\n")
        before = world.stored("a").listed.content_hash
        world.run(world.replace("a", "Changed."), section="First.", machine="defrag")
        data = world.target.read_bytes()
        if trouble == "doubled":
            world.target.write_bytes(data + data)
        else:
            world.target.unlink()
        if trouble == "directory":
            world.target.mkdir()
        assert [each.path for each in world.undo().left] == [str(world.target)]
        assert world.stored("a").listed.content_hash == before


class TestWhichRun:
    def test_an_older_run_is_undone_where_nothing_after_it_touched_the_same_notes_p16(self, world: World) -> None:
        before = world.path("a").read_bytes()
        older = world.run(world.replace("a", "Changed."))
        world.run(world.replace("b", "Changed too."))
        world.undo(older)
        assert world.path("a").read_bytes() == before
        assert world.stored("b").body.strip() == "Changed too."


class TestRefusals:
    def test_a_later_run_on_the_same_note_is_named(self, world: World) -> None:
        older = world.run(world.replace("a", "Changed."))
        newer = world.run(world.replace("a", "Changed again."), machine="defrag")
        reason = world.refused(older)
        assert f"Note a (id__aaaaaa) was changed since by the defrag run {short_id(newer)}" in reason
        assert f"memory undo {short_id(newer)}" in reason

    def test_a_later_run_that_was_undone_does_not_hinder(self, world: World) -> None:
        before = world.tree()
        older = world.run(world.replace("a", "Changed."))
        world.undo(world.run(world.replace("a", "Changed again.")))
        world.undo(older)
        assert world.tree() == before

    def test_a_note_that_was_removed_or_restored_since_is_named(self, world: World) -> None:
        run = world.run(world.replace("a", "Changed."), world.retire("b"))
        world.path("a").unlink()
        world.store.apply([Change.restore("id__aaaaab")]).unwrap()
        reason = world.refused(run)
        assert "id__aaaaaa" in reason
        assert "id__aaaaab" in reason

    def test_a_file_that_nobody_can_read_is_not_taken_for_what_the_run_left_p6(self, world: World) -> None:
        run = world.run(world.replace("a", "Changed."))
        world.path("a").write_bytes(b"---\ntitle: [\n---\n")
        assert world.refused(run)

    def test_a_link_to_what_would_be_gone_keeps_it_there_p15(self, world: World) -> None:
        run = world.run(world.create("f"))
        world.store.apply([world.replace("a", "See [[id__aaaaaf]].")]).unwrap()
        assert "id__aaaaaf" in world.refused(run)

    def test_a_footprint_that_names_other_files_undoes_nothing_p21(self, world: World) -> None:
        run = world.run(world.replace("a", "Changed."))
        path = world.root / f"runs/{run}/footprint-1.json"
        path.write_text(path.read_text().replace("topics/", "../out/"))
        before = world.everything()
        assert isinstance(world.result(), Failure)
        assert world.everything() == before

    def test_an_older_run_is_not_undone_because_the_newest_cannot_be_read_p6(self, world: World) -> None:
        older = world.run(world.replace("b", "Changed first."))
        newest = world.run(world.replace("a", "Changed."))
        (world.root / f"runs/{newest}/report.json").write_text("{")
        assert f"`memory undo {short_id(newest)}` undoes this one" in world.refused()
        assert world.undo(older).undid.run_id == older


class TestWhatIsRemembered:
    def test_a_tidied_store_counts_as_tidied_after_its_undo(self, world: World) -> None:
        everything_at_once(world)
        tidied = store_fingerprint(world.store.list().unwrap().entries)
        world.records.put_tiering(TieringMemo(tidied, "scripted", frozenset({"j"}))).unwrap()
        world.undo()
        memo = world.records.tiering().unwrap()
        assert memo.fingerprint == store_fingerprint(world.store.list().unwrap().entries) != tidied
        assert (memo.agent, memo.judged) == ("scripted", frozenset({"j"}))


class TestHalfDone:
    def test_what_an_undo_did_is_never_guessed_p6(self, world: World) -> None:
        """Its own footprint is damaged: it stays half done, and says so."""
        run = world.run(world.replace("a", "Changed."))
        undoing = Undoing(world.run_id(NOON_MS), run, NOON_MS)
        world.log.put_undoing(undoing).unwrap()
        directory = world.root / "runs" / undoing.run_id
        directory.mkdir()
        (directory / "footprint-1.json").write_text("{")
        assert isinstance(finish_undo(world.io()), Failure)
        assert world.log.undoing() == Success(undoing)
