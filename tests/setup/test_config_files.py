"""Which configuration counts, and where each part of it comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from returns.result import Success

from agent_memory.config import Config
from agent_memory.errors import ConfigInvalid, ConfigUnreadable, Error
from agent_memory.presets import PRESETS
from agent_memory.setup.config_files import Effective, TrustFile, load_config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def write_own(home: Path, content: object) -> Path:
    path = home / ".config/agent-memory/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def write_local(project: Path, content: object) -> Path:
    path = project / "memory.config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def trust(home: Path, path: Path) -> None:
    TrustFile(str(home)).add(os.path.realpath(path), path.read_bytes(), 0)


def load(home: Path, project: Path, **environ: str) -> Effective:
    return load_config({"HOME": str(home), **environ}, str(project)).unwrap()


def failure(home: Path, project: Path) -> Error:
    return load_config({"HOME": str(home)}, str(project)).failure()


def test_tilde_and_relative_paths_count_from_the_home(home: Path, project: Path) -> None:
    write_own(
        home,
        {
            "$schema": "x",
            "storage": {"root": "~/notes"},
            "agentsMd": {"targets": ["~/.codex/AGENTS.md", "/abs/AGENTS.md", "rel.md"]},
            "capture": {"transcriptRoots": ["~"]},
        },
    )
    config = load(home, project).config
    assert config.storage.root == f"{home}/notes"
    assert config.agents_md.targets == (f"{home}/.codex/AGENTS.md", "/abs/AGENTS.md", f"{home}/rel.md")
    assert config.capture.transcript_roots == (str(home),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "it is empty; an empty object is {}"),
        ("[]", "it must hold one object: { … }"),
        ({"llm": {"timeoutSeconds": 0}}, "llm.timeoutSeconds is 0, expected more than 0"),
        ({"llm": {"command": " "}}, "llm.command must name a command"),
        ({"llm": {"command": "ask 'now"}}, "llm.command cannot be split into arguments: no closing quotation"),
        ({"llm": {"presets": {"../x": "a"}}}, "llm.presets.../x as a name must be a plain name other than builtin"),
        ({"llm": {"preset": "x"}}, f"llm.preset is unknown; there are {', '.join(sorted({'builtin', *PRESETS}))}"),
        ({"llm": {"preset": "ollama"}}, "llm.model is missing, and the preset ollama needs one"),
        ({"schedule": {"defragIntervalHours": 0}}, "schedule.defragIntervalHours is 0, expected more than 0"),
    ],
)
def test_a_wrong_config_is_refused_with_its_problem(home: Path, project: Path, content: object, problem: str) -> None:
    path = write_own(home, content)
    assert failure(home, project) == ConfigInvalid(str(path), (problem,))


def test_what_is_no_file_is_refused_without_waiting(home: Path, project: Path) -> None:
    path = home / ".config/agent-memory/config.json"
    path.mkdir(parents=True)
    assert failure(home, project) == ConfigUnreadable(str(path), "it is a directory")
    path.rmdir()
    os.mkfifo(path)
    assert failure(home, project) == ConfigUnreadable(str(path), "it is not a regular file")
    path.unlink()
    path.write_text(" " * (1 << 20) + "{}")
    assert failure(home, project) == ConfigUnreadable(str(path), "it is larger than 1048576 bytes")


def test_a_link_that_leads_nowhere_is_not_a_missing_config_p6(home: Path, project: Path) -> None:
    path = home / ".config/agent-memory/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(home / "dotfiles.json")
    assert failure(home, project) == ConfigUnreadable(str(path), "it is a symbolic link that leads nowhere")
    (home / "dotfiles.json").write_text("{}")
    assert isinstance(load_config({"HOME": str(home)}, str(project)), Success)


def test_a_relative_root_in_a_directory_that_is_gone_is_an_error_value(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    environ = {"HOME": str(home), "AGENT_MEMORY_ROOT": "notes"}
    assert load_config(environ, None).unwrap().config.storage.root == str(project / "notes")
    project.rmdir()
    refused = load_config(environ, None).failure()
    assert isinstance(refused, ConfigInvalid)
    assert (refused.path, len(refused.problems)) == ("AGENT_MEMORY_ROOT", 1)


class TestCurrentDirectory:
    @pytest.mark.parametrize(
        "content", ["", "{", "[]", "\x00", '{"llm": {"comand": 1}}', '{"inject": {"tokenBudget": "x"}}', "[" * 99_999]
    )
    def test_a_broken_one_breaks_nothing(self, home: Path, project: Path, content: str) -> None:
        write_local(project, content)
        effective = load(home, project)
        assert effective.config.inject == Config().inject
        assert len(effective.warnings) == 1
        assert "was ignored" in effective.warnings[0]

    def test_hostile_text_in_it_reaches_no_terminal(self, home: Path, project: Path) -> None:
        write_local(project, {"llm": {"presets": {"a\x1b[2J": "x"}}})
        assert all(warning.isprintable() for warning in load(home, project).warnings)

    def test_a_damaged_list_of_trust_trusts_nothing_and_says_so(self, home: Path, project: Path) -> None:
        path = write_local(project, {"llm": {"command": "near"}})
        trust(home, path)
        Path(TrustFile(str(home)).path).write_text("{}")
        effective = load(home, project)
        assert effective.config.llm.command is None
        assert "trusted.json cannot be understood" in effective.warnings[0]

    def test_the_persons_own_file_found_there_is_not_judged_twice(self, home: Path) -> None:
        own = write_own(home, {"llm": {"command": "mine"}})
        (own.parent / "memory.config.json").symlink_to(own)
        effective = load(home, own.parent)
        assert effective.config.llm.command == "mine"
        assert effective.warnings == ()
