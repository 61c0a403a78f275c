"""Who is calling over MCP, as far as a client's own word for itself tells."""

from __future__ import annotations

import re
from collections.abc import Collection

from agent_memory.domain.note_draft import Caller
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.vocabulary import Harness

UNNAMED = "unnamed"
_MAX_NAME_CHARS = 60
_MAX_VERSION_CHARS = 20
_WORDS = re.compile(r"[a-z]+")
_KNOWN = {
    "claude": Harness.CLAUDE_CODE,
    **{harness.value: harness for harness in Harness if harness not in (Harness.MANUAL, Harness.CLAUDE_CODE)},
}


def client_caller(name: str, version: str, trusted: Collection[str]) -> Caller:
    """The caller that a client is. Its harness is a label taken from its name (`cursor-vscode`, `codex-mcp-client`); trust
    goes by the whole name and to nobody who has none."""
    shown = stored_line(name, _MAX_NAME_CHARS) or UNNAMED
    client = f"{shown} {stored_line(version, _MAX_VERSION_CHARS)}".rstrip()
    return Caller(harness_of(name), client=client, client_is_trusted=name != "" and name in trusted)


def harness_of(name: str) -> Harness:
    """The harness whose name is a word of this one; `manual` for any other program."""
    return next((_KNOWN[word] for word in _WORDS.findall(name.lower()) if word in _KNOWN), Harness.MANUAL)
