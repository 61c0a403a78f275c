"""Publishing over stores and targets in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, StoreIo
from agent_memory.note.note import MemoryEntry, Meta, Origin, TierList
from agent_memory.rules.change import Change
from agent_memory.rules.section import Published, SectionBudget, Target, TargetFile
from agent_memory.rules.undo_run import SectionChange
from agent_memory.section.publishing import Publisher
from agent_memory.session.own_marks import SECTION_START
from stand_ins.dict_targets import DictTargets
from stand_ins.temporary_store import TemporaryStore

CLAUDE, CODEX = "/home/ada/.claude/CLAUDE.md", "/home/ada/.codex/AGENTS.md"
BASE = Meta("id__aaaaaa", "Ports", 1_778_000_000_000, 1_778_000_000_000)


@define
class World:
    """One store, some targets, and what was kept of how sections change."""

    store: TemporaryStore = field(factory=TemporaryStore)
    targets: DictTargets = field(factory=DictTargets)
    kept: list[SectionChange] = field(factory=list)

    @property
    def publisher(self) -> Publisher:
        return Publisher(self.store, self.targets, SectionBudget())

    def keep(self, sections: Sequence[SectionChange]) -> Result[None, Error]:
        self.kept += sections
        return Success(None)

    def publish(self, *paths: str, dry_run: bool = False) -> Published:
        targets = [Target(path) for path in paths]
        return self.publisher.publish(targets, self.keep, dry_run=dry_run).unwrap()

    def note(self, letter: str, body: str = "The server listens.", **facts: Any) -> str:
        meta = evolve(BASE, id=f"id__{letter * 6}", title=f"Title {letter}", **facts)
        self.store.apply([Change.of(MemoryEntry(meta, body))]).unwrap()
        return meta.id

    def tier(self, hot: Sequence[str], warm: Sequence[str] = ()) -> None:
        self.store.apply([], tiers=TierList(tuple(hot), tuple(warm))).unwrap()


@pytest.fixture
def world() -> World:
    return World()


def test_how_sections_change_is_kept_before_the_first_write_p16(world: World) -> None:
    world.targets.files[CLAUDE] = b"Mine."
    world.publish(CLAUDE, CODEX)
    one, other = world.kept
    assert (one.path, one.before, one.separator, one.created) == (CLAUDE, None, "\n\n", False)
    assert (other.path, other.separator, other.created) == (CODEX, "", True)
    refused = World()
    error = StoreIo("runs", "write", "ENOSPC", "full")
    assert refused.publisher.publish([Target(CLAUDE)], lambda _: Failure(error)) == Failure(error)
    assert refused.targets.files == {}


def test_without_a_tier_list_what_a_person_vouches_for_is_hot_p13(world: World) -> None:
    pinned = world.note("p", pinned=True, promoted_by="person")
    promoted = world.note("q", promoted_by="person", origin=Origin.EXTERNAL)
    world.note("a")
    rendered = world.publish(CLAUDE).targets[0].rendered
    assert rendered is not None
    assert (rendered.hot, rendered.cold) == ((pinned, promoted), 1)


def test_a_damaged_tier_list_is_an_error_and_touches_no_target_p6(world: World) -> None:
    error = StoreIo("state/tiers.json", "read", "EIO", "broken")

    class Broken(TemporaryStore):
        def tiers(self) -> Result[TierList, Error]:
            return Failure(error)

    publisher = Publisher(Broken(), world.targets)
    assert publisher.publish([Target(CLAUDE)]) == Failure(error)
    assert world.targets.files == {}
    assert publisher.publish([]) == Success(Published())


def test_two_names_of_one_file_are_one_section(world: World) -> None:
    @frozen
    class Linked(DictTargets):
        def read(self, path: str) -> Result[TargetFile, Error]:
            real = super().read(CODEX)
            return real.map(lambda file: evolve(file, path=path, real_path=CODEX))

        def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
            return super().write(evolve(file, path=CODEX), data)

    publisher = Publisher(world.store, Linked())
    published = publisher.publish([Target(CODEX), Target("/link")], world.keep).unwrap()
    assert [each.outcome for each in published.targets] == ["written", "unchanged"]
    assert CODEX in published.targets[1].warnings[0]
    assert len(world.kept) == 1


class TestSomebodyElseWritesMeanwhile:
    """The file changes between the look at it and the write (P8, P17)."""

    def racing(self, world: World, *texts: bytes) -> Publisher:
        waiting = list(texts)

        class Racing(DictTargets):
            def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
                if waiting:
                    self.files[file.path] = waiting.pop(0)
                return super().write(file, data)

        world.targets = Racing(world.targets.files)
        return world.publisher

    def test_their_text_stays_and_the_section_is_put_into_it(self, world: World) -> None:
        world.targets.files[CLAUDE] = b"Mine.\n"
        published = self.racing(world, b"Mine, changed.\n").publish([Target(CLAUDE)], world.keep).unwrap()
        assert published.targets[0].outcome == "written"
        assert world.targets.files[CLAUDE].startswith(b"Mine, changed.\n\n" + SECTION_START.encode())

    def test_the_store_is_read_anew_so_that_the_newest_section_stays(self, world: World) -> None:
        world.tier([world.note("a")])
        publisher = self.racing(world, b"Theirs.\n")
        read = world.store.tiers

        def tiers() -> Result[TierList, Error]:
            found = read()
            if "id__bbbbbb" not in found.unwrap().hot:
                world.tier(["id__aaaaaa", world.note("b")])  # somebody promotes a note right after the first look
            return found

        world.store.tiers = tiers  # type: ignore[method-assign]
        published = publisher.publish([Target(CLAUDE)], world.keep).unwrap()
        assert published.targets[0].outcome == "written"
        assert b"Title b" in world.targets.files[CLAUDE]

    def test_whoever_never_stops_writing_is_not_overwritten(self, world: World) -> None:
        published = self.racing(world, *(f"{n}\n".encode() for n in range(9))).publish([Target(CLAUDE)]).unwrap()
        assert published.targets[0].outcome == "refused"
        assert SECTION_START.encode() not in world.targets.files[CLAUDE]

    def test_a_marker_that_appears_meanwhile_is_respected_p17(self, world: World) -> None:
        published = self.racing(world, SECTION_START.encode()).publish([Target(CLAUDE)]).unwrap()
        assert published.targets[0].outcome == "refused"
        assert world.targets.files[CLAUDE] == SECTION_START.encode()
