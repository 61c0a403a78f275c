"""Which memory entries an agent looked at in a session, as its tool calls show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from agent_memory.domain.history import Role, ToolCall, Turn
from agent_memory.domain.transcripts.own_marks import is_memory_tool

_TOPIC_FILE = re.compile(r"\b(id__[1-9A-HJ-NP-Za-km-z]{6})\.md\b")
_ID = re.compile(r"\bid__[1-9A-HJ-NP-Za-km-z]{6}\b")
_BARE_ID = r"(?:id__)?[1-9A-HJ-NP-Za-km-z]{6}\b"
_MEMORY_READ = re.compile(rf"\b(?:memory|agent_memory[\w.]*)\s+(?:-\S+\s+)*read\s+(?:-\S+\s+)*['\"]?({_BARE_ID})")

_SHELLS = re.compile(r"bash|shell|exec|command|terminal", re.IGNORECASE)
_CHANGES = re.compile(r"write|edit|create|delete|remove|rename|move|patch|update|replace|insert", re.IGNORECASE)
_STEP = re.compile(r"[;|&]+")
_READING_STEP = re.compile(r"(?:^|[\s'\"(/])(?:cat|bat|batcat|head|tail|less|more|nl|sed|awk|grep|egrep|rg|view)\s")
_NOT_READING = re.compile(r"[<>]|\s-i\b|\s--in-place\b")


@frozen
class EntryUses:
    """The entries that a session's tool calls name, by id."""

    read: frozenset[str] = frozenset()
    """Read through memory itself (`memory read`, its MCP server), which counted them."""
    opened_at_ms: tuple[tuple[str, int | None], ...] = ()
    """Opened directly, by whatever reads files: each once, with the time of the first."""


def entry_uses(turns: Iterable[Turn]) -> EntryUses:
    """What these turns show. A tool that only names an entry's file, or changes it, does not use it."""
    read: set[str] = set()
    opened: dict[str, int | None] = {}
    for turn in turns:
        for call in turn.tool_calls if turn.role is Role.AGENT else ():
            read.update(_read_by(call))
            for id in _opened_by(call):
                opened.setdefault(id, turn.at_ms)
    return EntryUses(frozenset(read), tuple(opened.items()))


def _read_by(call: ToolCall) -> Iterator[str]:
    if is_memory_tool(call.name):
        if "read" in call.name.lower():
            yield from _ID.findall(call.brief)
    elif _SHELLS.search(call.name):
        for found in _MEMORY_READ.findall(call.brief):
            yield found if found.startswith("id__") else f"id__{found}"


def _opened_by(call: ToolCall) -> Iterator[str]:
    if is_memory_tool(call.name):
        return
    if call.path is not None:
        if not call.writes and not _CHANGES.search(call.name):
            yield from _TOPIC_FILE.findall(call.path)
    elif _SHELLS.search(call.name):
        for step in _STEP.split(call.brief):
            if _READING_STEP.search(step) and not _NOT_READING.search(step):
                yield from _TOPIC_FILE.findall(step)
