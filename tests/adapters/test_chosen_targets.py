"""Which files are targets, and whose notes each of them shows."""

from __future__ import annotations

from pathlib import Path

from agent_memory.adapters.targets import chosen_targets, expanded, told_path
from agent_memory.domain.vocabulary import GLOBAL_SCOPE

LAMP = "github.com/ada/lamp"
DOTFILES = "github.com/ada/dotfiles"


def scopes(path: Path, home: Path, places: dict[str, str]) -> set[str]:
    is_committed = {str(home / "lamp/AGENTS.md"): True}.get
    (target,) = chosen_targets(
        [str(path)], str(home), lambda cwd: places.get(cwd or "", GLOBAL_SCOPE), lambda each: is_committed(each, False)
    )
    return set(target.scopes)


def test_a_file_shows_what_is_global_unless_its_repository_commits_it(home: Path) -> None:
    (home / "lamp").mkdir()
    assert scopes(home / "lamp/AGENTS.md", home, {str(home / "lamp"): LAMP}) == {LAMP}
    assert scopes(home / "lamp/CLAUDE.local.md", home, {str(home / "lamp"): LAMP}) == {GLOBAL_SCOPE, LAMP}
    assert scopes(home / "AGENTS.md", home, {}) == {GLOBAL_SCOPE}


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


def test_paths_are_expanded() -> None:
    assert expanded("~/x", "/home/ada") == "/home/ada/x"
    assert expanded("~", "/home/ada") == "/home/ada"
    assert expanded("x/../y", "/home/ada", "/srv") == "/srv/y"
    assert expanded("/x", "/home/ada", "/work") == "/x"
    assert expanded("x", "/home/ada") == "x"


def test_a_path_in_the_home_is_told_without_its_name(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert told_path(f"{home}/memories", str(tmp_path / "link")) == "~/memories"
    assert told_path(f"{home}/memories", str(home)) == "~/memories"
    assert told_path(f"{home}-other/memories", str(home)) == f"{home}-other/memories"
    assert told_path("/srv/memories", None) == "/srv/memories"
