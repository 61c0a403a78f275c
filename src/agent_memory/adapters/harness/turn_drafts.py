"""What turns are made from while a session is read: which records are new, calls that wait for an answer, drafts."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from attrs import define, field, frozen

from agent_memory.adapters.harness.any_json import text_at
from agent_memory.domain.history import Role, SessionMark, ToolCall, Turn
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.own_marks import is_entry_path, is_memory_command, is_memory_tool
from agent_memory.domain.transcripts.tool_calls import tool_calls
from agent_memory.domain.transcripts.turns import Excerpt, readable

_NAME_CHARS = 120


@frozen
class NewFrom:
    """Which records of a session are new: those after the record `after_id`, those later than `after_ms`, those of turns
    beyond `after_number`, or, with none of these, all."""

    after_id: str | None = None
    after_ms: int | None = None
    after_number: int | None = None


def new_after(mark: SessionMark | None) -> NewFrom:
    """By the id of the mark's record."""
    return NewFrom(mark.last_record_id) if mark else NewFrom()


def new_after_lost_record(mark: SessionMark) -> NewFrom:
    """Without that id, which is gone from a rewritten transcript."""
    if mark.last_at_ms is not None:
        return NewFrom(after_ms=mark.last_at_ms)
    return NewFrom(after_number=mark.turns_seen)


@frozen
class Asked:
    """One tool call, with what is needed to recognise its answer."""

    call_id: str
    call: ToolCall
    of_memory: bool
    """It asks memory itself, so that the answer is nothing new (P26)."""
    more: tuple[ToolCall, ...] = ()
    """The other files of a patch."""


def asked(call_id: str, name: str, arguments: Mapping[str, object]) -> Asked:
    """A call of the tool `name`, whose command, if it runs one, is under `command` or `cmd`."""
    call, *more = tool_calls(name, arguments)
    commands = (text_at(arguments, "command"), text_at(arguments, "cmd"))
    of_memory = (
        is_memory_tool(name)
        or any(map(is_memory_command, commands))
        or any(is_entry_path(each.path or "") for each in (call, *more))
    )
    return Asked(call_id, call, of_memory, tuple(more))


@define
class Draft:
    """A turn that may still grow."""

    number: int
    role: Role
    branch: int
    text: Excerpt
    at_ms: int | None
    tool_name: str | None = None
    failed: bool = False
    record_ids: list[str] = field(factory=list[str])
    last_position: int = 0
    calls: list[ToolCall] = field(factory=list[ToolCall])


def turn_of(draft: Draft, record_id: str, scripted: bool) -> Turn:
    """The turn, under the record id to be marked for it. In a `scripted` session nobody said what a person would have."""
    by_script = draft.role is Role.USER and scripted
    tool_name = "script" if by_script else draft.tool_name
    return Turn(
        number=draft.number,
        role=Role.TOOL if by_script else draft.role,
        text=readable(draft.text.text),
        record_id=record_id,
        at_ms=draft.at_ms,
        tool_calls=tuple(draft.calls),
        tool_name=one_line(tool_name, _NAME_CHARS) if tool_name else None,
        failed=draft.failed,
        clipped_chars=draft.text.clipped_chars,
    )


def size_of(text: Excerpt) -> int:
    """The bytes of memory that an excerpt takes."""
    return sys.getsizeof(text.head) + sys.getsizeof(text.tail)
