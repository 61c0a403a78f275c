from __future__ import annotations

import pytest

from agent_memory.session.history import Role, ToolCall, Turn
from agent_memory.session.tool_calls import entry_uses, tool_call

FILE = "/home/dana/memories/topics/staging ports -- topic__ports id__a1b2c3.md"


def turn(*calls: ToolCall, number: int = 1, role: Role = Role.AGENT) -> Turn:
    return Turn(number, role, "", f"r{number}", number * 1000, tool_calls=calls)


def opened(*calls: ToolCall) -> list[str]:
    return list(entry_uses([turn(*calls)])[1])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": FILE}),
        ("Grep", {"pattern": "port", "path": FILE}),
        ("shell", {"command": f"bash -lc \"head -20 '{FILE}' | wc -l\""}),
        ("Bash", {"command": f"sed -n 1,20p '{FILE}'"}),
    ],
)
def test_a_tool_that_reads_the_file_of_an_entry_opens_it(name: str, arguments: dict[str, object]) -> None:
    assert opened(tool_call(name, arguments)) == ["id__a1b2c3"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Write", {"file_path": FILE, "content": "x"}),
        ("delete_file", {"path": FILE}),
        ("Bash", {"command": f"git add '{FILE}'"}),
        ("Bash", {"command": f"sed -i s/a/b/ '{FILE}'"}),
        ("Read", {"file_path": "/srv/id__a1b2c3.txt"}),
        ("Task", {"prompt": f"cat '{FILE}'"}),
    ],
)
def test_a_tool_that_changes_or_only_names_it_does_not(name: str, arguments: dict[str, object]) -> None:
    assert opened(tool_call(name, arguments)) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Bash", {"command": "memory read id__a1b2c3"}),
        ("Bash", {"command": "cd /x && memory read --json a1b2c3 | jq .body"}),
        ("shell", {"command": "python -m agent_memory read 'id__a1b2c3'"}),
        ("mcp__memory__read_context", {"id": "id__a1b2c3"}),
        ("agent-memory__read_context", {"id": "id__a1b2c3", "other": 1}),
    ],
)
def test_what_was_read_through_memory_is_told_apart(name: str, arguments: dict[str, object]) -> None:
    assert entry_uses([turn(tool_call(name, arguments))]) == ({"id__a1b2c3"}, {})


def test_searching_and_listing_count_as_no_use() -> None:
    calls = (
        tool_call("Bash", {"command": "memory search id__a1b2c3"}),
        tool_call("mcp__memory__search_context", {"query": "id__a1b2c3"}),
    )
    assert entry_uses([turn(*calls)]) == (set(), {})
