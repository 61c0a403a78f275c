"""Calls of Cursor's tools and their answers, as its transcripts and its store record them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from agent_memory.adapters.harness.any_json import answer_text, mapping_at, object_in, text_at
from agent_memory.adapters.harness.turn_drafts import Asked, asked
from agent_memory.domain.json_shape import is_object

_THROUGH = frozenset(("CallMcpTool", "CallDynamicTool", "call_mcp_tool", "mcp"))
"""Tools that only pass a call on to a server's tool, named in the arguments."""
_MCP = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)


def cursor_call(call_id: str, name: str, arguments: Mapping[str, object]) -> Asked:
    """The call; one passed on to a server's tool under the name `mcp__server__tool`."""
    if name in _THROUGH:
        server = text_at(arguments, "server", "serverName", "namespace", "providerIdentifier")
        tool = text_at(arguments, "toolName", "tool", "name")
        if _MCP.fullmatch(server) and _MCP.fullmatch(tool):
            inner = mapping_at(arguments, "arguments") or mapping_at(arguments, "args")
            return asked(call_id, f"mcp__{server}__{tool}", inner)
    return asked(call_id, name or "unknown", arguments)


def arguments_in(value: object) -> Mapping[str, object]:
    """Arguments, which may be the JSON of an object."""
    return value if is_object(value) else object_in(value) if isinstance(value, str) else {}


def result_text(value: object) -> str:
    """The text of a result, which may be in an object or a list, or in the JSON of one."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return answer_text(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return answer_text(value)
