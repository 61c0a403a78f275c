"""Publishing into real files: what is kept before the first write, and whoever else writes meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, StoreIo
from agent_memory.note.note import Listing, MemoryEntry, Meta, TierList, UnreadableFile
from agent_memory.rules.change import Change, Published, SectionBudget, SectionChange, Target, TargetFile
from agent_memory.section.publishing import Publisher
from agent_memory.section.targets import Targets
from agent_memory.session.own_marks import SECTION_START
from stand_ins.temporary import TemporaryStore

BASE = Meta("id__aaaaaa", "Ports", 1_778_000_000_000, 1_778_000_000_000)


@frozen
class Racing(Targets):
    """Before each write, somebody else writes one of these."""

    texts: list[bytes] = field(factory=list[bytes])

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        if self.texts:
            Path(file.path).write_bytes(self.texts.pop(0))
        return super().write(file, data)


@define
class World:
    """One store, a home with targets, and what was kept of how sections change."""

    home: Path
    store: TemporaryStore = field(factory=TemporaryStore)
    kept: list[SectionChange] = field(factory=list)

    def keep(self, sections: Sequence[SectionChange]) -> Result[None, Error]:
        self.kept += sections
        return Success(None)

    def publish(self, *paths: Path, meanwhile: Sequence[bytes] = ()) -> Published:
        targets = Racing(str(self.home), f"{self.home}/memories", texts=list(meanwhile))
        publisher = Publisher(self.store, targets, SectionBudget())
        return publisher.publish([Target(str(path)) for path in paths], self.keep).unwrap()

    def note(self, letter: str) -> str:
        meta = evolve(BASE, id=f"id__{letter * 6}", title=f"Title {letter}")
        self.store.apply([Change.of(MemoryEntry(meta, "The server listens."))]).unwrap()
        return meta.id

    def tier(self, *hot: str) -> None:
        self.store.apply([], tiers=TierList(hot)).unwrap()


@pytest.fixture
def world(home: Path) -> World:
    return World(home)


@pytest.fixture
def mine(home: Path) -> Path:
    path = home / "CLAUDE.md"
    path.write_text("Mine.\n")
    return path


def test_how_sections_change_is_kept_before_the_first_write_p16(world: World, mine: Path) -> None:
    error = StoreIo("runs", "write", "ENOSPC", "full")
    publisher = Publisher(world.store, Targets(str(world.home), f"{world.home}/memories"), SectionBudget())
    assert publisher.publish([Target(str(mine))], lambda _: Failure(error)) == Failure(error)
    assert mine.read_text() == "Mine.\n"
    world.publish(mine, world.home / "AGENTS.md")
    one, other = world.kept
    assert (one.path, one.before, one.separator, one.created) == (str(mine), None, "\n", False)
    assert (other.path, other.separator, other.created) == (f"{world.home}/AGENTS.md", "", True)


def test_a_note_that_cannot_be_read_does_not_leave_its_section_p6(
    world: World, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.tier(world.note("b"))
    world.publish(mine)
    before, error = mine.read_bytes(), StoreIo("topics/b.md", "read", "EIO", "Input/output error")
    damaged = Listing((), (UnreadableFile("topics/b.md", (str(error),), error),))
    monkeypatch.setattr(world.store, "list", lambda: Success(damaged))
    publisher = Publisher(world.store, Targets(str(world.home), f"{world.home}/memories"))
    assert (publisher.publish([Target(str(mine))]), mine.read_bytes()) == (Failure(error), before)


def test_two_names_of_one_file_are_one_section(world: World, mine: Path) -> None:
    link = world.home / "link.md"
    link.symlink_to(mine)
    published = world.publish(mine, link)
    assert [each.outcome for each in published.targets] == ["written", "unchanged"]
    assert str(mine) in published.targets[1].warnings[0]
    assert len(world.kept) == 1


class TestSomebodyElseWritesMeanwhile:
    """The file changes between the look at it and the write (P8, P17)."""

    def test_their_text_stays_and_the_section_is_put_into_it(self, world: World, mine: Path) -> None:
        assert world.publish(mine, meanwhile=[b"Mine, changed.\n"]).targets[0].outcome == "written"
        assert mine.read_text().startswith(f"Mine, changed.\n\n{SECTION_START}")

    def test_the_store_is_read_anew_so_that_the_newest_section_stays(
        self, world: World, mine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.tier(world.note("a"))
        read = TemporaryStore.tiers

        def tiers(store: TemporaryStore) -> Result[TierList, Error]:
            found = read(store)
            if "id__bbbbbb" not in found.unwrap().hot:
                world.tier("id__aaaaaa", world.note("b"))  # somebody promotes a note right after the first look
            return found

        monkeypatch.setattr(TemporaryStore, "tiers", tiers)
        assert world.publish(mine, meanwhile=[b"Theirs.\n"]).targets[0].outcome == "written"
        assert "Title b" in mine.read_text()

    def test_whoever_never_stops_writing_is_not_overwritten(self, world: World, mine: Path) -> None:
        published = world.publish(mine, meanwhile=[f"{n}\n".encode() for n in range(9)])
        assert published.targets[0].outcome == "refused"
        assert SECTION_START not in mine.read_text()

    def test_a_marker_that_appears_meanwhile_is_respected_p17(self, world: World, mine: Path) -> None:
        published = world.publish(mine, meanwhile=[SECTION_START.encode()])
        assert published.targets[0].outcome == "refused"
        assert mine.read_text() == SECTION_START
