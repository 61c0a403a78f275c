"""What a command loads before it does anything: nothing that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LATE = (
    "statemachine", "ruamel", "json_repair", "agent_memory.machines", "agent_memory.pipelines",
    "agent_memory.extraction",
)  # fmt: skip
"""Packages that only few commands need."""

WRITING = (
    "subprocess", "agent_memory.redaction.redact", "agent_memory.acts.service", "agent_memory.capture.inbox_files",
    "agent_memory.store.changes", "agent_memory.git.git_history",
)  # fmt: skip
"""What nothing needs that only looks."""

_PROGRAM = """
import atexit, sys
from pathlib import Path
loaded = Path(sys.argv.pop(1))
atexit.register(lambda: loaded.write_text("\\n".join(sys.modules)))
from agent_memory.cli.entry import main
sys.exit(main())
"""


def loaded_by(root: Path, *words: str) -> frozenset[str]:
    """Every module and package in memory when `memory WORDS` ends."""
    listed = root.parent / "modules"
    command = [sys.executable, "-c", _PROGRAM, str(listed), *words]
    subprocess.run(command, check=True, capture_output=True)
    modules = listed.read_text().splitlines()
    return frozenset(name.rsplit(".", depth)[0] for name in modules for depth in range(name.count(".") + 1))


def test_looking_loads_nothing_of_writing(root: Path) -> None:
    id = remembered(root)
    for words in (("list",), ("list", "--json"), ("read", id), ("--version",)):
        assert not loaded_by(root, *words).intersection((*WRITING, *LATE)), words


@pytest.mark.parametrize(
    "words", [("remember", "Deploys run from main only."), ("capture", "--title", "Deploys", "--body", "From main.")]
)
def test_storing_a_note_loads_no_pipeline(root: Path, words: tuple[str, ...]) -> None:
    assert not loaded_by(root, *words).intersection(LATE)


def test_status_loads_no_extraction(root: Path) -> None:
    loaded = loaded_by(root, "status")
    assert not loaded.intersection(name for name in LATE if name != "json_repair")


def test_what_a_command_needs_is_loaded(root: Path) -> None:
    """The positive control: every name above is that of a real module, and is seen where it is used."""
    config = root.parent / ".config/agent-memory/config.json"
    config.parent.mkdir(parents=True)
    config.write_text("{}")
    storing = loaded_by(root, "remember", "Deploys run from main only.")
    assert storing.issuperset({*WRITING} - {"agent_memory.capture.inbox_files"})
    loaded_by(root, "capture", "--title", "Deploys", "--body", "Always deploy from main, never from a branch.")
    by_builtin = loaded_by(root, "consolidate")
    config.write_text('{"llm": {"command": "false"}}')
    by_command = loaded_by(root, "consolidate")
    assert {"agent_memory.capture.inbox_files", *LATE} - by_builtin - by_command == {"ruamel"}


def test_yaml_is_loaded_for_what_only_yaml_can_read(root: Path) -> None:
    (root / "topics").mkdir(parents=True)
    (root / "topics" / "by hand.md").write_text("---\ntags: [one, two]  # a flow list\n---\nText.\n")
    assert "ruamel" in loaded_by(root, "list")


def remembered(root: Path) -> str:
    """The id of a stored note."""
    program = "from agent_memory.cli.entry import main; main()"
    command = [sys.executable, "-c", program, "remember", "Deploys run from main only."]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1]
