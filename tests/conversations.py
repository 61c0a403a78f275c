"""Short histories for tests of what is learnt from them."""

from __future__ import annotations

from agent_memory.extraction.extract import extracted
from agent_memory.note.note import Harness
from agent_memory.rules.plan import ChangeSet, ProposedEntry
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.text.instants import DAY_MS

STARTED_AT_MS = 1_767_000_000_000
MUCH_LATER_MS = STARTED_AT_MS + 365 * DAY_MS
"""When a session is too old for a handoff."""

EDIT = ToolCall("Edit", "/srv/shop/src/cart.py", path="/srv/shop/src/cart.py", writes=True)


def user(text: str) -> tuple[Role, str, tuple[ToolCall, ...]]:
    return Role.USER, text, ()


def agent(text: str, *calls: ToolCall) -> tuple[Role, str, tuple[ToolCall, ...]]:
    return Role.AGENT, text, calls


def tool(text: str) -> tuple[Role, str, tuple[ToolCall, ...]]:
    return Role.TOOL, text, ()


def answered(question: str, answer: str, output: str) -> tuple[tuple[Role, str, tuple[ToolCall, ...]], ...]:
    """The agent puts a question by a tool, which prints `output`, and the person says something."""
    call = ToolCall("AskUserQuestion", question)
    return (agent("", call), (Role.TOOL, output, (call,)), user(answer))


def history(*said: tuple[Role, str, tuple[ToolCall, ...]], automated: bool = False) -> History:
    """A history with a minute between its turns."""
    turns = tuple(
        Turn(
            number,
            role,
            text,
            f"r{number}",
            STARTED_AT_MS + number * 60_000,
            calls,
            calls[0].name if role is Role.TOOL and calls else None,
        )
        for number, (role, text, calls) in enumerate(said, 1)
    )
    return History(Harness.CLAUDE_CODE, "s1", turns, cwd="/srv/shop", automated=automated)


def learnt(*said: tuple[Role, str, tuple[ToolCall, ...]]) -> ChangeSet:
    """What is learnt from a history that is too old for a handoff."""
    return extracted(history(*said), now_ms=MUCH_LATER_MS)


def notes(*said: tuple[Role, str, tuple[ToolCall, ...]]) -> tuple[ProposedEntry, ...]:
    return learnt(*said).entries


def work_on(asked: str, *closing: str) -> tuple[tuple[Role, str, tuple[ToolCall, ...]], ...]:
    """An episode: the request, one edit, and the agent's closing words."""
    return (user(asked), agent("Let me look.", EDIT), tool("ok"), *(agent(text) for text in closing))
