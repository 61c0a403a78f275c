"""A place of work keeps its notes when it is renamed, moved, cloned, or gets another remote; `memory scope` for the rest."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fixtures.secret_samples import base62
from memory_process import Memory
from places_of_work import AGENT, TEXT, git, remembered, repository, told


def scopes(memory: Memory) -> dict[str, int]:
    return {each["scope"]: each["notes"] for each in memory("scope", "list", "--json").document["scopes"]}


def test_notes_follow_a_repository_that_is_renamed_gets_a_remote_and_another(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp")
    remembered(memory, lamp)
    lantern = lamp.rename(home / "work lantern")
    assert TEXT in told(memory, lantern)
    assert scopes(memory) == {f"path:{lantern}/.git": 1}
    for remote, scope in (("git@github.com:me/lantern", "me"), ("https://github.com/we/lantern", "we")):
        git(lantern, "remote", "add" if scope == "me" else "set-url", "origin", remote)
        assert TEXT in told(memory, lantern)
        assert scopes(memory) == {f"github.com/{scope}/lantern": 1}
    git(lantern, "remote", "remove", "origin")
    assert TEXT in memory("inject", cwd=lantern).out, "a command is as good as a hook"


def test_that_is_one_run_which_is_told_and_undone(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp")
    remembered(memory, lamp)
    remembered(memory, lamp, "The lamp is tested on Fridays.")
    before = {path.name: path.read_bytes() for path in (memory.root / "topics").iterdir()}
    lantern = lamp.rename(home / "lantern")
    done = memory("search", "lamp", cwd=lantern)
    assert "2 notes followed" in done.err
    assert "2 notes followed" not in memory("search", "lamp", cwd=lantern).err
    (run,) = memory("log", "--json").document["runs"]
    assert (run["machine"], run["result"]) == ("scope", "completed")
    assert memory("undo").code == 0
    assert {path.name: path.read_bytes() for path in (memory.root / "topics").iterdir()} == before
    assert TEXT not in told(memory, lantern), "what was undone is not done again"


def test_a_fork_beside_it_is_another_place(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp", "https://github.com/me/lamp")
    remembered(memory, lamp)
    git(home, "clone", "-q", str(lamp), "fork")
    git(home / "fork", "remote", "set-url", "origin", "https://github.com/they/lamp")
    shutil.copytree(lamp, home / "template")
    git(home / "template", "remote", "remove", "origin")
    for other in ("fork", "template"):
        assert TEXT not in told(memory, home / other)
    shutil.rmtree(lamp)
    assert TEXT not in told(memory, repository(home / "lamp", "https://github.com/them/lamp")), "another project there"
    assert scopes(memory) == {"github.com/me/lamp": 1}


def test_a_remote_that_another_clone_still_has_keeps_its_notes(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp", "https://github.com/me/lamp")
    git(home, "clone", "-q", str(lamp), "second")
    git(home / "second", "remote", "set-url", "origin", "https://github.com/me/lamp")
    remembered(memory, lamp)
    assert TEXT in told(memory, home / "second")
    git(lamp, "remote", "set-url", "origin", "https://github.com/we/lamp")
    assert TEXT not in told(memory, lamp)
    git(home / "second", "remote", "set-url", "origin", "https://github.com/we/lamp")
    assert TEXT in told(memory, home / "second")
    assert TEXT in told(memory, lamp)


def test_a_directory_becomes_a_repository_and_gets_its_first_commit(memory: Memory, home: Path) -> None:
    lamp = home / "lamp"
    lamp.mkdir()
    remembered(memory, lamp)
    git(lamp, "init", "-q", "-b", "main")
    assert TEXT in told(memory, lamp)
    git(lamp, "commit", "-q", "--allow-empty", "-m", "first")
    assert TEXT in told(memory, lamp)
    assert TEXT in told(memory, lamp.rename(home / "lantern"))


def test_notes_follow_a_repository_without_a_commit_and_no_other(memory: Memory, home: Path) -> None:
    lamp = home / "lamp"
    git(home, "init", "-q", str(lamp))
    remembered(memory, lamp)
    lantern = lamp.rename(home / "lantern")
    assert TEXT not in told(memory, Path(shutil.copytree(lantern, home / "copy")))
    assert TEXT in told(memory, lantern)
    light = lantern.rename(home / "light")
    git(light, "commit", "-q", "--allow-empty", "-m", "first")
    assert TEXT in told(memory, light)
    assert TEXT in told(memory, light.rename(home / "lamps"))


def test_a_session_that_is_read_after_the_move_belongs_to_the_new_place(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp")
    remembered(memory, lamp)
    memory("capture", "--title", "Bulbs", "--body", "The bulbs are of type E14.", cwd=lamp)
    lantern = lamp.rename(home / "lantern")
    told(memory, lantern)
    assert memory("consolidate").code == 0
    assert scopes(memory) == {f"path:{lantern}/.git": 2}


def test_doctor_names_a_place_that_is_gone_and_scope_mends_it(memory: Memory, home: Path) -> None:
    papers = home / "my papers"
    papers.mkdir()
    remembered(memory, papers)
    assert "gone-place" not in memory("doctor", "--json").out
    articles = papers.rename(home / "articles")
    assert TEXT not in told(memory, articles)
    (found,) = (each for each in memory("doctor", "--json").document["symptoms"] if each["code"] == "gone-place")
    assert f"`memory scope rename 'path:{papers}' NEW`" in found["message"]
    assert memory("scope").out == f"path:{papers}\t1\tgone\n"
    done = memory("scope", "rename", f"path:{papers}", f"path:{articles}")
    assert (done.code, "Moved 1 note from" in done.out) == (0, True)
    assert TEXT in told(memory, articles)
    assert "gone-place" not in memory("doctor", "--json").out


def test_a_rename_takes_no_notes_together_and_a_merge_does(memory: Memory, home: Path) -> None:
    for name in ("one", "two"):
        (home / name).mkdir()
        remembered(memory, home / name, f"The fair of {name} is in May.")
    one, two = f"path:{home}/one", f"path:{home}/two"
    refused = memory("scope", "rename", one, two, "--json")
    assert (refused.code, refused.error["code"]) == (2, "usage")
    assert memory("scope", "merge", one, two).code == 0
    assert scopes(memory) == {two: 2}
    assert memory("scope", "merge", one, two).code == 2, "none is left there"
    assert memory("undo").code == 0
    assert scopes(memory) == {one: 1, two: 1}


def test_an_agent_moves_no_notes(memory: Memory, home: Path) -> None:
    (home / "one").mkdir()
    remembered(memory, home / "one")
    refused = memory("scope", "rename", f"path:{home}/one", "global", "--json", environ=AGENT)
    assert refused.error["code"] == "act-refused"
    assert scopes(memory) == {f"path:{home}/one": 1}


def test_a_dry_run_and_doctor_move_nothing(memory: Memory, home: Path) -> None:
    lamp = repository(home / "lamp")
    remembered(memory, lamp)
    lamp.rename(home / "lantern")
    memory("capture", "--title", "Bulbs", "--body", "The bulbs are of type E14.", cwd=home / "lantern")
    for words in (("doctor",), ("consolidate", "--dry-run"), ("scope", "list")):
        memory(*words)
        assert scopes(memory) == {f"path:{lamp}/.git": 1}


def test_a_place_whose_path_holds_a_secret_is_asked_for_once_and_stands_nowhere_p20(memory: Memory, home: Path) -> None:
    secret = f"ghp_{base62(36)}"
    asked = home / "asked"
    (home / "bin").mkdir()
    wrapper = home / "bin" / "git"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    path = {"PATH": f"{home}/bin:{os.environ['PATH']}"}
    for name in ("lamp", secret):
        lamp = repository(home / name)
        for times in (1, 0):
            asked.write_text("")
            assert memory("remember", os.urandom(4).hex(), cwd=lamp, environ=path).code == 0
            assert asked.read_text().count("--max-parents=0") == times
    state = home / ".local" / "state"
    assert all(secret.encode() not in file.read_bytes() for file in state.rglob("*") if file.is_file())


def test_the_same_words_are_kept_in_each_repository_that_they_are_said_in_and_once_in_each(
    memory: Memory, home: Path
) -> None:
    repositories = [repository(home / name, f"git@github.com:me/{name}") for name in ("lamp", "tide")]
    for where in (*repositories, repositories[0]):
        remembered(memory, where)
        said = ("--title", "Tabs", "--body", "Tabs, not spaces.")
        assert memory("capture", *said, cwd=where).code == 0
        assert memory("consolidate").code == 0
    for where in repositories:
        assert TEXT in told(memory, where)
        assert "Tabs, not spaces." in told(memory, where)
    assert len(memory.titles()) == 4
    assert memory("remember", TEXT, "--scope", "global").code == 0
    assert "Already stored" in memory("remember", TEXT, cwd=repository(home / "dune")).out
