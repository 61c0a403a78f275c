"""What a client of MCP sends: a tool's arguments of any shape are an answer or an error in words, never an exception (P19, P21)."""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from functools import cache
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.app import Memory, open_memory
from agent_memory.cli.mcp_tools import TOOLS, Tool, error_text
from agent_memory.errors import UsageInvalid
from agent_memory.results import as_result, sealed
from agent_memory.rules.drafts import NoteDraft
from fuzz.target import Target

_ACTING = {name: tool for name, tool in TOOLS.items() if (hints := tool.listed.annotations) and hints.read_only_hint}


@cache
def _memory() -> Memory:
    """A store with some notes, in a home of its own; words alone answer, so that no model is looked for."""
    directory = tempfile.TemporaryDirectory(prefix="fuzz-")
    atexit.register(directory.cleanup)
    environ = {
        "HOME": directory.name,
        "PATH": os.environ.get("PATH", ""),
        "AGENT_MEMORY_ROOT": f"{directory.name}/memories",
    }
    memory = open_memory(environ, Path(directory.name), lambda _: None).unwrap()
    for number in range(6):
        body = f"Note {number}: the zebra of C++ locks `session_{number}` in src/db/session.py; 数据库 🦓."
        memory.service.remember(NoteDraft(body, title=f"Zebra {number}", tags=("topic__db",))).unwrap()
    return memory


def _check(data: bytes) -> None:
    """A list: the name of a tool, and its arguments."""
    try:
        call = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(call, list) or len(call) != 2 or not isinstance(call[1], dict):
        return
    name, arguments = call
    for tool in TOOLS.values():
        _check_reading(tool, arguments)
    if isinstance(name, str) and name in _ACTING:
        match sealed(_ACTING[name](_memory(), arguments)):
            case Success(text):
                assert isinstance(text, str)
            case Failure(error):
                assert error_text(error)


def _check_reading(tool: Tool, arguments: dict[str, object]) -> None:
    match sealed(as_result(tool.read)(arguments)):
        case Failure(UsageInvalid(problem)):
            assert problem
        case Failure(error):
            raise AssertionError(error)
        case Success(values):
            assert values.keys() == tool.parameters.model_fields.keys()


TOOL = Target(
    "mcp-tool",
    _check,
    (*_ACTING, "query", "topic", "content", "tags", "agent", "top_k", "min_score", "search_mode", "hybrid", "bm25", "importance", "critical", "ttl_days", "kind", "scope",
     "repo", "id", "id__a1b2c3", "limit", "offset", "key", "value", "task", "zebra", "\ud800", "\u202e", "since last week", "NaN", "Infinity", "-Infinity"),
)  # fmt: skip
