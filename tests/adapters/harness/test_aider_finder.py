"""Past runs of aider in the directories that are known."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Success

from agent_memory.adapters.harness.aider import CHAT_FILE, AiderChats
from agent_memory.domain.found_session import FoundSession
from agent_memory.errors import StoreIo, TranscriptRefused
from aider_chats import AiderChat, aider_history
from harness_surroundings import surroundings


def two_runs(directory: Path) -> Path:
    chat = AiderChat("2026-02-01 10:00:00")
    chat.user("First.")
    chat.run("2026-02-02 10:00:00")  # nothing was typed in it
    chat.run("2026-02-03 10:00:00")
    chat.user("Second.")
    return chat.write(directory)


def found(finder: AiderChats, since_ms: int | None = None) -> list[FoundSession]:
    return [each.unwrap() for each in finder.find(since_ms) if isinstance(each, Success)]


def test_each_run_with_a_prompt_is_found_and_can_be_read(tmp_path: Path) -> None:
    path = two_runs(tmp_path)
    first, second = found(AiderChats(surroundings(tmp_path, str(tmp_path), str(tmp_path))))
    assert (first.path, first.cwd, first.harness) == (str(path), str(tmp_path), "aider")
    assert [turn.text for turn in aider_history(path, session_id=first.session_id).turns] == ["First."]
    assert [turn.text for turn in aider_history(path, session_id=second.session_id).turns] == ["Second."]
    assert first.changed_at_ms == second.ended_at_ms
    assert second.changed_at_ms == path.stat().st_mtime_ns // 1_000_000


def test_a_run_that_ended_before_another_began_has_not_changed_since(tmp_path: Path) -> None:
    path = two_runs(tmp_path)
    finder = AiderChats(surroundings(tmp_path, str(tmp_path)))
    _, second = found(finder)
    assert found(finder, second.changed_at_ms) == [second]
    os.utime(path, (1, 1))
    assert found(finder, 2_000) == []


def test_directories_without_a_chat_history_have_no_sessions(tmp_path: Path) -> None:
    (tmp_path / "d" / CHAT_FILE).mkdir(parents=True)
    directories = (str(tmp_path), str(tmp_path / "d"), str(tmp_path / "missing"), "/a\0b")
    assert list(AiderChats(surroundings(tmp_path, *directories)).find(None)) == []


def test_the_file_that_the_environment_names_is_looked_at(tmp_path: Path) -> None:
    chat = AiderChat()
    chat.user("Hello.")
    path = chat.write(tmp_path, "mine.md")
    assert len(found(AiderChats.at(surroundings("/nowhere", AIDER_CHAT_HISTORY_FILE=str(path))))) == 1


def test_runs_are_found_above_the_directories_of_projects_as_far_as_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = two_runs(home / "project")
    two_runs(tmp_path)
    below = home / "project" / "src" / "deep"
    directories = [Success(str(each)) for each in (below, home / "project", home / "gone", home)]
    sessions = found(AiderChats(evolve(surroundings(home), project_directories=lambda: directories)))
    assert [each.path for each in sessions] == [str(path)] * 2


def test_only_files_of_aiders_own_name_are_read_in_the_directories_of_projects(tmp_path: Path) -> None:
    """P27"""
    path = two_runs(tmp_path / "project")
    finder = AiderChats(evolve(surroundings(tmp_path), project_directories=lambda: [Success(str(path.parent))]))
    assert len(found(finder)) == 2
    path.rename(path.with_name("chat.md"))
    assert list(finder.find(None)) == []


def test_a_chat_history_that_git_tracks_is_told_once_and_none_of_its_runs_found(tmp_path: Path) -> None:
    path = two_runs(tmp_path / "cloned")
    subprocess.run(["git", "init", "-q", str(path.parent)], check=True)
    finder = AiderChats(evolve(surroundings(tmp_path), project_directories=lambda: [Success(str(path.parent))]))
    assert len(found(finder)) == 2
    subprocess.run(["git", "-C", str(path.parent), "add", "-f", path.name], check=True)
    (error,) = finder.find(None)
    assert isinstance(error.failure(), TranscriptRefused)


def test_projects_that_cannot_be_listed_are_an_error_and_hide_no_run(tmp_path: Path) -> None:
    """P6"""
    two_runs(tmp_path)
    refused = StoreIo("inbox", "list", "EACCES", "Permission denied")
    finder = AiderChats(evolve(surroundings(tmp_path, str(tmp_path)), project_directories=lambda: [Failure(refused)]))
    results = list(finder.find(None))
    assert results[0] == Failure(refused)
    assert len(found(finder)) == 2
