"""P27: which transcripts may be read."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from agent_memory.errors import Error, HistoryUnavailable, TranscriptRefused
from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.harness.cursor_store import CursorSessions
from agent_memory.harness.goose import GooseSessions
from agent_memory.harness.opencode import OpencodeSessions
from agent_memory.harness.transcripts import Roots, is_session_id, transcript
from harness_surroundings import surroundings


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    path = tmp_path / "claude" / "projects"
    (path / "-work-harbour").mkdir(parents=True)
    return path


@pytest.fixture
def roots(projects: Path) -> Roots:
    return (str(projects),)


def opened(roots: Roots, path: Path | str) -> bytes | Error:
    try:
        with transcript(roots, str(path), "s") as file:
            return os.read(file.descriptor, file.size_bytes)
    except (HistoryUnavailable, TranscriptRefused) as error:
        return error


@pytest.mark.parametrize(
    "path", ["{root}/../s.jsonl", "{root}x/s.jsonl", "{root}", "s.jsonl", "", "{root}/a\0b", "{root}/\udcff\ud800"]
)
def test_a_path_that_leaves_the_root_or_is_no_path_is_refused_p21_p27(roots: Roots, path: str) -> None:
    assert isinstance(opened(roots, path.format(root=roots[0])), TranscriptRefused)


def test_a_symbolic_link_is_refused_even_to_a_file_inside_p27(roots: Roots, projects: Path) -> None:
    (projects / "real.jsonl").write_bytes(b"{}\n")
    (projects / "link.jsonl").symlink_to(projects / "real.jsonl")
    error = opened(roots, projects / "link.jsonl")
    assert isinstance(error, TranscriptRefused)
    assert "symbolic link" in error.reason


def test_a_linked_directory_is_followed_inside_only_p27(roots: Roots, projects: Path, tmp_path: Path) -> None:
    (projects / "-work-harbour" / "s.jsonl").write_bytes(b"inside")
    (projects / "moved").symlink_to(projects / "-work-harbour")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "s.jsonl").write_bytes(b"outside")
    (projects / "away").symlink_to(tmp_path / "elsewhere")
    assert opened(roots, projects / "moved" / "s.jsonl") == b"inside"
    assert isinstance(opened(roots, projects / "away" / "s.jsonl"), TranscriptRefused)


def test_a_root_may_be_a_symbolic_link(projects: Path, tmp_path: Path) -> None:
    (projects / "s.jsonl").write_bytes(b"{}")
    (tmp_path / "dotfiles").symlink_to(projects)
    assert opened((str(tmp_path / "dotfiles"),), tmp_path / "dotfiles" / "s.jsonl") == b"{}"


def test_a_fifo_a_directory_and_a_socket_are_refused_without_waiting(roots: Roots, projects: Path) -> None:
    """P27"""
    os.mkfifo(projects / "fifo.jsonl")
    (projects / "directory.jsonl").mkdir()
    errors: list[object] = []

    def look() -> None:
        errors.extend(opened(roots, projects / name) for name in ("fifo.jsonl", "directory.jsonl", "socket.jsonl"))

    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(projects)
        listening.bind("socket.jsonl")
        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        looking.join(10)
    assert [type(error) for error in errors] == [TranscriptRefused] * 3


def test_a_file_that_becomes_a_link_after_the_look_is_not_followed_p27(
    roots: Roots, projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "diary").write_bytes(b"private")
    target = projects / "s.jsonl"
    target.write_bytes(b"{}")
    look = os.stat

    def exchanged(path: str, **more: Any) -> os.stat_result:
        status = look(path, **more)
        if path == target.name and not target.is_symlink():
            target.unlink()
            target.symlink_to(tmp_path / "diary")
        return status

    monkeypatch.setattr(os, "stat", exchanged)
    error = opened(roots, target)
    assert target.is_symlink(), "the control"
    assert error == TranscriptRefused(str(target), "it is a symbolic link")


HOME = "/home/ada"


@pytest.mark.parametrize(
    ("source", "environ", "roots"),
    [
        (
            ClaudeCodeSessions,
            {"CLAUDE_CONFIG_DIR": "/opt/claude/"},
            ("/opt/claude/projects", f"{HOME}/.claude/projects"),
        ),
        (
            CursorSessions,
            {"XDG_CONFIG_HOME": "/srv/config"},
            (
                f"{HOME}/.cursor/projects",
                "/srv/config/Cursor/User/globalStorage",
                f"{HOME}/.config/Cursor/User/globalStorage",
                f"{HOME}/Library/Application Support/Cursor/User/globalStorage",
            ),
        ),
        (
            GooseSessions,
            {"GOOSE_PATH_ROOT": "/srv/goose", "XDG_DATA_HOME": "/srv/data"},
            ("/srv/goose/data/sessions", "/srv/data/goose/sessions", f"{HOME}/.local/share/goose/sessions"),
        ),
        (
            OpencodeSessions,
            {"XDG_DATA_HOME": "/srv/data", "OPENCODE_DB": "/srv/db/x.db"},
            ("/srv/data/opencode", f"{HOME}/.local/share/opencode", "/srv/db"),
        ),
    ],
)
def test_the_roots_are_those_of_the_environment_the_home_and_the_config(
    source: Any, environ: dict[str, str], roots: tuple[str, ...]
) -> None:
    further = ("~/transcripts", "/srv/t", "relative", "/srv/t", "")
    found = source.at(surroundings(HOME, *further, **environ)).roots
    assert found == (*roots, f"{HOME}/transcripts", "/srv/t")


@pytest.mark.parametrize("id", ["", "..", "a/b", "../s", "a..b", "*", "-x", "a\0", "a b", "x" * 129, "ü"])
def test_a_session_id_that_is_no_plain_name_finds_nothing_p21(roots: Roots, id: str) -> None:
    assert not is_session_id(id)
    assert ClaudeCodeSessions(roots).path_of(id) is None
