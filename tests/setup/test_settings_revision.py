"""From what a file is to what it becomes, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_memory.rules.change import TargetFile
from agent_memory.setup.plan import Element, Entry, FileRecord, Member, Part, PlannedFile, Whole
from agent_memory.setup.settings_edit import EditRefused
from agent_memory.setup.settings_revision import with_placed, without_placed

PATH = "/home/ada/.claude/settings.json"


def hook(program: str = "/usr/bin/memory", timeout: int = 10) -> Entry:
    command = f"{program} capture --harness claude-code --hook"
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
    mark = "capture --harness claude-code --hook"
    return Element(("hooks", "Stop"), group, command, mark, Part.HOOKS, ("claude-code",))


def server(program: str = "/usr/bin/memory", harness: str = "claude-code") -> Entry:
    value = {"command": program, "args": ["mcp"]}
    return Member(("mcpServers", "agent-memory"), value, program, part=Part.MCP, harnesses=(harness,))


def lying(data: bytes | None) -> TargetFile:
    return TargetFile(PATH, PATH, data)


def record_of(planned: PlannedFile) -> FileRecord:
    assert isinstance(planned.record, FileRecord)
    return planned.record


def installed(current: bytes | None, *wanted: Entry) -> PlannedFile:
    return with_placed(lying(current), "jsonc", None, None, wanted)


EVERYBODY = frozenset(("claude-code", "codex"))


def test_a_new_place_of_the_program_replaces_the_old_one() -> None:
    once = installed(b'{"a": 1}', hook("/old/memory"), server("/old/memory"))
    moved = with_placed(lying(once.after), "jsonc", record_of(once), once.backup, (hook(), server()))
    assert b"/old/memory" not in (moved.after or b"")
    assert json.loads(moved.after or b"") == json.loads(installed(b'{"a": 1}', hook(), server()).after or b"")
    gone = without_placed(lying(moved.after), record_of(moved), moved.backup, EVERYBODY)
    assert gone.after == b'{"a": 1}'


def test_the_version_that_came_with_ours_stays_for_hooks_of_somebody_elses() -> None:
    version = Member(("version",), 1, optional=True, stays=True, part=Part.HOOKS, harnesses=("cursor",))
    revision = installed(None, version, hook())
    document = json.loads(revision.after or b"")
    document["hooks"]["stop"] = [{"command": "say done"}]
    gone = without_placed(
        lying(json.dumps(document).encode()), record_of(revision), None, frozenset(("cursor", "claude-code"))
    )
    assert json.loads(gone.after or b"") == {"version": 1, "hooks": {"stop": [{"command": "say done"}]}}


class TestWhole:
    OURS = Whole("// ours\n", Part.HOOKS, ("amp",))

    def test_somebody_elses_file_is_refused(self) -> None:
        with pytest.raises(EditRefused):
            with_placed(lying(b"// theirs\n"), "whole", None, None, (self.OURS,))


@pytest.mark.parametrize("data", [b"\xff", b"{\0}"])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(EditRefused):
        with_placed(lying(data), "jsonc", None, None, (hook(),))
