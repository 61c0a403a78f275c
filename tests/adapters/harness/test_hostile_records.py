"""Whatever shape records have, no reader raises, and turns keep their numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.harness.amp import AmpSession
from agent_memory.adapters.harness.claude_code import ClaudeSession
from agent_memory.adapters.harness.codex import CodexSession
from agent_memory.adapters.harness.copilot import CopilotSession
from agent_memory.adapters.harness.cursor import CursorSession
from agent_memory.adapters.harness.cursor_store import ComposerSession
from agent_memory.adapters.harness.gemini import GeminiSession
from agent_memory.adapters.harness.goose import GooseSession
from agent_memory.adapters.harness.opencode import OpencodeSession
from agent_memory.adapters.harness.pi import PiSession
from agent_memory.adapters.harness.turn_builder import NewFrom, Session

BEGINS: tuple[Callable[[str, NewFrom], Session], ...] = (
    *(AmpSession, ClaudeSession, CodexSession, CopilotSession, CursorSession, ComposerSession),
    *(GooseSession, OpencodeSession, PiSession, lambda id, new: GeminiSession(id, None, new)),
)
KEYS = (
    *("type", "role", "message", "content", "text", "id", "uuid", "parentId", "parentUuid", "sessionId", "timestamp"),
    *("time", "name", "input", "arguments", "output", "result", "status", "state", "data", "payload", "tool", "source"),
    *("toolCall", "toolResult", "toolCalls", "toolFormerData", "toolRequests", "attachment", "origin", "metadata"),
    *("bubbleId", "createdAt", "images", "run", "meta", "usage", "$set", "$rewindTo", "messages", "changes", "item"),
)
WORDS = (
    *("user", "assistant", "gemini", "text", "tool_use", "tool_result", "tool", "session", "message", "session_meta"),
    *("event_msg", "response_item", "user_message", "function_call", "custom_tool_call", "item_completed"),
    *(
        "session.start",
        "user.message",
        "assistant.message",
        "tool.execution_complete",
        "completed",
        "error",
        "attachment",
    ),
    *("queue-operation", "toolRequest", "toolResponse", "toolCall", "patch_apply_end", "exec_command_end", "human"),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)
RECORDS = st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=6)


@pytest.mark.parametrize("begin", BEGINS)
@settings(max_examples=120)
@given(records=st.lists(RECORDS, max_size=8), data=st.data())
def test_no_shape_of_record_raises(
    begin: Callable[[str, NewFrom], Session], records: list[dict[str, object]], data: st.DataObject
) -> None:
    session = partial(begin, "s")(NewFrom())
    for record in records:
        session.take(record | {"type": data.draw(st.sampled_from(WORDS))})
        session.take(record | {"role": data.draw(st.sampled_from(("user", "assistant")))})
        if isinstance(session, OpencodeSession):
            session.take_part(record)
        if isinstance(session, ComposerSession):
            session.take_composer(record, is_sub_agent=False)
            session.take(record | {"type": data.draw(st.sampled_from((1, 2)))})
    numbers = [turn.number for turn in session.history().turns]
    assert numbers == sorted(set(numbers))
