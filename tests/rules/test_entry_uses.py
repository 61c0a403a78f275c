"""Which notes an agent looked at: those that memory printed for it, and those whose files it opened itself."""

from __future__ import annotations

import pytest

from agent_memory.session.history import Role, Turn
from agent_memory.session.tool_calls import entry_uses, tool_call

FILE = "/home/dana/memories/topics/staging ports -- topic__ports id__a1b2c3.md"
READ, OPENED, NEITHER = (1, 0), (0, 1), (0, 0)


@pytest.mark.parametrize(
    ("name", "arguments", "use"),
    [
        ("Read", {"file_path": FILE}, OPENED),
        ("Grep", {"pattern": "port", "path": FILE}, OPENED),
        ("shell", {"command": f"bash -lc \"head -20 '{FILE}' | wc -l\""}, OPENED),
        ("Bash", {"command": f"sed -n 1,20p '{FILE}'"}, OPENED),
        # what changes it, or only names it
        ("Write", {"file_path": FILE, "content": "x"}, NEITHER),
        ("delete_file", {"path": FILE}, NEITHER),
        ("Bash", {"command": f"git add '{FILE}'"}, NEITHER),
        ("Bash", {"command": f"sed -i s/a/b/ '{FILE}'"}, NEITHER),
        ("Read", {"file_path": "/srv/id__a1b2c3.txt"}, NEITHER),
        ("Task", {"prompt": f"cat '{FILE}'"}, NEITHER),
        # through memory, which counted it itself; searching and listing is no use
        ("Bash", {"command": "memory read id__a1b2c3"}, READ),
        ("Bash", {"command": "cd /x && memory read --json a1b2c3 | jq .body"}, READ),
        ("shell", {"command": "python -m agent_memory read 'id__a1b2c3'"}, READ),
        ("mcp__memory__read_context", {"id": "id__a1b2c3"}, READ),
        ("agent-memory__read_context", {"id": "id__a1b2c3", "other": 1}, READ),
        ("Bash", {"command": "memory search id__a1b2c3"}, NEITHER),
        ("mcp__memory__search_context", {"query": "id__a1b2c3"}, NEITHER),
    ],
)
def test_a_call_is_a_use_where_it_shows_the_note(name: str, arguments: dict[str, object], use: tuple[int, int]) -> None:
    turn = Turn(1, Role.AGENT, "", "r1", 1000, tool_calls=(tool_call(name, arguments),))
    read, opened = entry_uses([turn])
    assert (len(read), len(opened)) == use
    assert {*read, *opened} <= {"id__a1b2c3"}
