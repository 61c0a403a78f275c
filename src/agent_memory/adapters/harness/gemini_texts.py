"""What a person typed, out of what the Gemini CLI records as a user's message."""

from __future__ import annotations

import re

from agent_memory.adapters.harness.any_json import text_at
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import without_own_text
from agent_memory.values import frozen

# A command is one word without a slash in it: a path may begin a sentence.
_COMMAND = re.compile(r"(?:/[A-Za-z?][\w:.-]*|\?)(?=\s|\Z)")
_INJECTED = ("<session_context>", "<state_snapshot>", "<hook_context>")
# Up to the last end: what is inside may hold one too, and must not pass for the person's words.
_CONTEXT = re.compile(r"<(hook_context|session_context)>.*</\1>", re.DOTALL)
_FILES = re.compile(r"\n?--- Content from referenced files ---.*(?:--- End of content ---|\Z)", re.DOTALL)


@frozen
class Typed:
    """What is left of a text; where nothing is, `left_out` says what it was."""

    text: str = ""
    left_out: str | None = None


def parts_text(content: object) -> str:
    """The text of a message: a text, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if is_list(content) else [content]
    texts = (
        part if isinstance(part, str) else text_at(part, "text")
        for part in parts
        if isinstance(part, str) or is_object(part)
    )
    return "\n".join(text for text in texts if text)


def typed_text(raw: str) -> Typed:
    """What the person typed: without what hooks, the CLI or memory added, and without the files that were named in it. A
    command to the CLI itself is left out."""
    text = raw.strip()
    if _COMMAND.match(text):
        return Typed(left_out="command")
    text = without_own_text(_FILES.sub("", _CONTEXT.sub("", text))).strip()
    if not text or text.startswith(_INJECTED):
        return Typed(left_out="harness-text" if raw.strip() else "empty")
    return Typed(text)
