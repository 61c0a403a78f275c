"""What a person typed, out of what the Gemini CLI records as a user's message."""

from __future__ import annotations

import re

from agent_memory.adapters.harness.any_json import text_at
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import typed_words
from agent_memory.values import frozen

# A command is one word without a slash in it: a path may begin a sentence.
_COMMAND = re.compile(r"(?:/[A-Za-z?][\w:.-]*|\?)(?=\s|\Z)")
_INJECTED = ("Here is the user's editor context", "I ran the following shell command:\n```")
_FILES = "--- Content from referenced files ---"
"""Stands after what was typed; the files follow to the end."""


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
    if _COMMAND.match(raw.strip()):
        return Typed(left_out="command")
    text = typed_words(raw.partition(_FILES)[0])
    if not text or text.startswith(_INJECTED):
        return Typed(left_out="harness-text" if raw.strip() else "empty")
    return Typed(text)
