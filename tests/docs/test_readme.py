"""README as a test: what it tells a newcomer to type does what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_memory.presets import PRESETS
from program_on_path import directory_of_memory

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")
SESSION = PROJECT / "docs" / "demo" / "session.jsonl"
SESSION_ID = "b19c5100-4b94-45e6-bd8c-ad7d7f3c7591"


BLOCKS = {
    "demo": ("sh", "make demo "),
    "install": ("sh", "uv tool install ."),
    "next": ("sh", "memory setup "),
    "session": ("console", "$ memory consolidate"),
    "preset": ("sh", "memory config set llm.preset "),
}
"""Every block that somebody may type or copy: its kind, and how it begins."""


def block(name: str) -> str:
    return block_of(README, *BLOCKS[name])


def block_of(page: str, kind: str, beginning: str) -> str:
    (found,) = [text for each, text in all_blocks(page) if each == kind and text.startswith(beginning)]
    return found


def all_blocks(page: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def guide(name: str) -> str:
    return (PROJECT / "docs" / name).read_text("utf-8")


def session_steps(block: str) -> list[tuple[str, str]]:
    """Commands with what they print."""
    return [(command, printed) for command, printed in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]


def shape(printed: str) -> str:
    """The same for two runs: ids, times and random digits are not what is compared, nor is the space between columns."""
    without_times = re.sub(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_([\w-]+)_\w{6}", r"TIME_\1_RANDOM", printed)
    return re.sub(r"[ \t]+", " ", re.sub(r"id__[1-9A-HJ-NP-Za-km-z]{6}", "ID", without_times)).strip()


@pytest.fixture
def mara(home: Path) -> Path:
    """The directory of a project on which somebody worked with Claude Code."""
    transcripts = home / ".claude" / "projects" / "-home-mara-code-tidetable"
    transcripts.mkdir(parents=True)
    shutil.copy(SESSION, transcripts / f"{SESSION_ID}.jsonl")
    project = home / "tidetable"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    origin = "https://github.com/mara/tidetable.git"
    subprocess.run(["git", "-C", str(project), "remote", "add", "origin", origin], check=True)
    return project


def shell(command: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    path = f"{directory_of_memory()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", command],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
        check=False,
    )


def test_the_session_prints_what_it_shows(mara: Path) -> None:
    captured = shell(f"memory capture --harness claude-code --session {SESSION_ID}", mara)
    assert captured.returncode == 0, captured.stderr
    steps = session_steps(block("session"))
    assert len(steps) == 2
    for command, printed in steps:
        finished = shell(command, mara)
        assert (finished.returncode, finished.stderr) == (0, ""), command
        assert shape(finished.stdout) == shape(printed), command


def test_what_mara_says_in_the_readme_she_said_in_the_session() -> None:
    lines = map(json.loads, SESSION.read_text("utf-8").splitlines())
    said = " ".join(
        each["message"]["content"]
        for each in lines
        if each["type"] == "user" and isinstance(each["message"]["content"], str)
    )
    quoted = re.findall(r'"([^"]+)"', README.split("## What it keeps")[1].split("## Try it")[0].replace("\n", " "))
    assert len(quoted) == 2
    assert [words for words in quoted if words not in said] == []


def test_the_hooks_capture_a_session(mara: Path, home: Path) -> None:
    hooks = json.loads(block_of(guide("harnesses.md"), "json", '{"hooks": '))["hooks"]
    assert set(hooks) == {"Stop", "SessionEnd"}
    for event, ((each,),) in ((event, [group["hooks"] for group in groups]) for event, groups in hooks.items()):
        payload = {"hook_event_name": event, "session_id": SESSION_ID, "cwd": str(mara)}
        finished = shell(each["command"], mara, json.dumps(payload))
        assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    pending = sorted((home / ".local/share/agent-memory/inbox").glob("*.json"))
    events = [json.loads(path.read_text("utf-8"))["context"]["event"] for path in pending]
    assert sorted(events) == ["SessionEnd", "Stop"]


def test_a_model_is_chosen_by_one_command_and_the_presets_are_there(home: Path) -> None:
    shell(block("preset"), home)
    finished = shell("memory config --json", home)
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["config"]["llm"]["preset"] == "claude"
    paragraph = README.split("To use your own model")[1].split("```")[0]
    named = set(re.findall(r"`([a-z]+)`", paragraph))
    assert named == {name for name, preset in PRESETS.items() if not preset.keeps_tools}


def test_what_is_in_front_of_every_agent_is_written_and_taken_back(mara: Path, home: Path) -> None:
    config = home / ".config" / "agent-memory" / "config.json"
    config.parent.mkdir(parents=True)
    notes = guide("notes.md")
    config.write_text(block_of(notes, "json", '{"agentsMd": '), "utf-8")
    rules = home / ".claude" / "CLAUDE.md"
    rules.write_text("# My rules\n", "utf-8")
    (home / ".codex").mkdir()
    assert shell("memory remember 'Deploys run from main only' --kind convention", mara).returncode == 0
    assert shell("memory remember 'I like tea' --kind preference --scope global", mara).returncode == 0
    before = rules.read_text("utf-8")
    for command in _commands(block_of(notes, "sh", "memory defrag ")):
        finished = shell(command, mara)
        assert finished.returncode == 0, (command, finished.stderr)
        if command == "memory defrag":
            assert "Deploys run from main only" not in rules.read_text("utf-8")  # it is the repository's alone
            assert "agent-memory:start" in rules.read_text("utf-8")
            assert "### I like tea" in rules.read_text("utf-8")
    assert " — I like tea" in before
    assert rules.read_text("utf-8") == before


def _commands(block: str) -> list[str]:
    return [line.partition("#")[0].strip() for line in block.splitlines()]


def test_the_make_targets_are_there() -> None:
    targets = re.findall(r"^make (\w+)", block("demo"), re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    assert [target for target in targets if f"\n{target}: " not in makefile] == []


def test_installing_gives_both_commands() -> None:
    document = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    scripts = set(document["project"].get("scripts", {}))
    shared = document["tool"]["hatch"]["build"]["targets"]["wheel"].get("shared-scripts", {})
    assert scripts | set(shared.values()) == {"memory", "agent-memory"}


def test_what_comes_next_works(mara: Path, home: Path) -> None:
    """Where nobody can be asked, the answer has to be in the call; and no schedule of this machine is touched."""
    answered = {
        "memory setup": "--yes",
        "memory schedule on": "--dry-run --system cron",
        "memory backfill": "--dry-run",
    }
    commands = _commands(block("next"))
    assert set(answered) < set(commands)
    for command in commands:
        finished = shell(f"{command} {answered.get(command, '')}", mara)
        assert finished.returncode == 0, (command, finished.stderr)
    assert "memory capture" in (home / ".claude" / "settings.json").read_text("utf-8")


def test_every_block_is_looked_at_by_a_test() -> None:
    untested = [text for kind, text in all_blocks(README) if kind != "text" and not text.startswith(_beginnings(kind))]
    assert untested == []
    assert len(re.findall(r"^```", README, re.MULTILINE)) == 2 * len(all_blocks(README))


def _beginnings(kind: str) -> tuple[str, ...]:
    return tuple(beginning for each, beginning in BLOCKS.values() if each == kind)


def test_the_demo_runs_and_shows_notes_log_and_next_steps(home: Path, tmp_path: Path) -> None:
    finished = shell(f"TMPDIR='{tmp_path}' sh '{PROJECT}/docs/demo/run.sh'", tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "1 session processed, 5 notes written" in finished.stdout
    assert len(re.findall(r"^id: id__\w{6}$", finished.stdout, re.MULTILINE)) == 5
    assert f"Thread-Id: {SESSION_ID}" in finished.stdout
    assert "What to do next" in finished.stdout
    assert os.listdir(home) == []
