"""The files in which we own a section: which they are, and what is read and written (P2, P17, P21)."""

from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.errors import StoreIo, TargetRefused
from agent_memory.note.note import GLOBAL_SCOPE
from agent_memory.section.targets import Targets, chosen_targets, told_path
from faults import failing_on


@pytest.fixture
def targets(home: Path) -> Targets:
    return Targets(str(home), str(home / "memories"))


@pytest.fixture
def path(home: Path) -> Path:
    return home / "CLAUDE.md"


@pytest.mark.parametrize("before", [None, b"old"])
def test_what_somebody_wrote_meanwhile_is_not_overwritten_p8(
    targets: Targets, path: Path, before: bytes | None
) -> None:
    if before is not None:
        path.write_bytes(before)
    file = targets.read(str(path)).unwrap()
    path.write_bytes(b"theirs")
    assert isinstance(targets.write(file, b"ours").failure(), TargetRefused)
    assert isinstance(targets.remove(file).failure(), TargetRefused)
    assert path.read_bytes() == b"theirs"


def test_a_section_that_nobody_here_wrote_is_copied_before_it_goes_p8(targets: Targets, path: Path) -> None:
    def write(data: bytes) -> str | None:
        copy: str | None = targets.write(targets.read(str(path)).unwrap(), data).unwrap()
        return copy

    theirs, ours, others = (
        f"<!-- agent-memory:start -->\n{text}\n<!-- agent-memory:end -->\n".encode()
        for text in ("Mine.", "Ours.", "Ours too.")
    )
    path.write_bytes(theirs)
    assert (write(ours) or "").endswith(path.name)
    assert (write(others), write(ours)) == (None, None)
    path.write_bytes(theirs)
    assert targets.remove(targets.read(str(path)).unwrap()).unwrap() is not None


def refusal(targets: Targets, path: Path | str) -> str:
    error = targets.read(str(path)).failure()
    assert isinstance(error, TargetRefused), error
    assert error.path == str(path)
    return error.reason


class TestRefused:
    def test_a_relative_path_and_one_that_no_file_can_have(self, targets: Targets) -> None:
        assert "absolute" in refusal(targets, "AGENTS.md")
        assert refusal(targets, "/a\0b/c")

    def test_a_link_from_outside_leads_nowhere_else(self, home: Path, tmp_path: Path, targets: Targets) -> None:
        project, other = tmp_path / "project", tmp_path / "other"
        project.mkdir()
        other.mkdir()
        (project / "AGENTS.md").write_text("x")
        (project / "CLAUDE.md").symlink_to("AGENTS.md")
        (project / "odd").symlink_to(other / "x")
        assert targets.read(str(project / "CLAUDE.md")).unwrap().real_path == str(project / "AGENTS.md")
        assert str(other) in refusal(targets, project / "odd")

    def test_what_lies_among_the_memories_p21(self, home: Path, targets: Targets) -> None:
        (home / "memories/topics").mkdir(parents=True)
        (home / "link").symlink_to(home / "memories/topics/x.md")
        for path in (home / "memories/AGENTS.md", home / "link"):
            assert "inside the store" in refusal(targets, path)

    def test_a_file_that_its_owner_made_read_only(self, home: Path, targets: Targets) -> None:
        path = home / "AGENTS.md"
        path.write_text("x")
        path.chmod(0o444)
        file = targets.read(str(path)).unwrap()
        error = targets.write(file, b"y").failure()
        assert isinstance(error, TargetRefused)
        assert error.reason == "it is read-only"
        assert targets.write(file, b"x") == Success(None)
        assert path.read_text() == "x"


class TestOnDisk:
    @pytest.mark.parametrize("name", ["/lamp", "/real"])
    def test_a_directory_that_cannot_be_looked_at_is_not_taken_for_missing_p6(self, home: Path, name: str) -> None:
        for each in ("lamp", "real"):
            (home / each).mkdir()
        (home / "lamp/AGENTS.md").symlink_to(home / "real/AGENTS.md")
        with failing_on(name, "stat"):
            refused = Targets(str(home), f"{home}/memories").read(f"{home}/lamp/AGENTS.md").failure()
        assert isinstance(refused, StoreIo)


class TestSurroundings:
    def work_tree(self, home: Path) -> Path:
        project = home / "lamp"
        (project / ".git").mkdir(parents=True)
        (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (project / "src").mkdir()
        return project

    def test_a_file_in_a_work_tree_is_known_also_behind_a_link(self, home: Path, targets: Targets) -> None:
        project = self.work_tree(home)
        (home / "link").symlink_to(project / "AGENTS.md")
        assert targets.read(str(project / "src/AGENTS.md")).unwrap().in_repository
        assert targets.read(str(home / "link")).unwrap().in_repository
        assert not targets.read(str(home / "AGENTS.md")).unwrap().in_repository

    def test_what_codex_reads_together_is_counted(self, home: Path, targets: Targets) -> None:
        project = self.work_tree(home)
        (home / ".codex").mkdir()
        (home / ".codex/AGENTS.md").write_bytes(b"1" * 100)
        (project / "AGENTS.md").write_bytes(b"2" * 30)
        (project / "src/AGENTS.md").write_bytes(b"3" * 5)
        assert targets.read(str(project / "src/AGENTS.md")).unwrap().chain_bytes == 135
        assert targets.read(str(project / "AGENTS.md")).unwrap().chain_bytes == 130
        assert targets.read(str(home / ".codex/AGENTS.md")).unwrap().chain_bytes == 100
        assert targets.read(str(project / "CLAUDE.md")).unwrap().chain_bytes == 0
        (project / "AGENTS.override.md").write_bytes(b"4" * 1_000)
        assert targets.read(str(project / "src/AGENTS.md")).unwrap().chain_bytes == 1_105
        assert targets.read(str(project / "AGENTS.md")).unwrap().overridden_by == str(project / "AGENTS.override.md")
        assert targets.read(str(project / "src/AGENTS.md")).unwrap().overridden_by is None


# -- which files are targets, and whose notes each shows ---------------------------------------------------------------


DOTFILES = "github.com/ada/dotfiles"


def scopes(path: Path, home: Path, places: dict[str, str]) -> set[str]:
    is_committed = {str(home / "lamp/AGENTS.md"): True}.get
    (target,) = chosen_targets(
        [str(path)], str(home), lambda cwd: places.get(cwd or "", GLOBAL_SCOPE), lambda each: is_committed(each, False)
    )
    return set(target.scopes)


def test_what_is_read_in_every_session_shows_what_is_global_whatever_repository_holds_it(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / "dotfiles/amp").mkdir(parents=True)
    (home / ".amp").symlink_to(home / "dotfiles/amp")
    (home / ".config/goose").mkdir(parents=True)
    places = {str(home / each): DOTFILES for each in (".claude", ".amp", ".config/goose", "dotfiles/amp")}
    assert scopes(home / ".claude/CLAUDE.md", home, places) == {GLOBAL_SCOPE}
    assert scopes(home / ".config/goose/.goosehints", home, places) == {GLOBAL_SCOPE}
    assert scopes(home / ".amp/AGENTS.md", home, places) == {GLOBAL_SCOPE}
    assert scopes(home / "dotfiles/amp/AGENTS.md", home, places) == {GLOBAL_SCOPE, DOTFILES}


def test_a_path_in_the_home_is_told_without_its_name(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert told_path(f"{home}/memories", str(tmp_path / "link")) == "~/memories"
    assert told_path(f"{home}/memories", str(home)) == "~/memories"
    assert told_path(f"{home}-other/memories", str(home)) == f"{home}-other/memories"
