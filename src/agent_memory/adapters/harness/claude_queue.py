"""Prompts typed while the agent worked: Claude Code records them up to three times, and must be heard once."""

from __future__ import annotations

from collections import deque

_WAITING = 200
_PROMPTS_APART = 3
"""A copy comes soon: by the third prompt after the first record, the same words were typed again."""


class QueuedPrompts:
    """Three records may hold one queued prompt: its removal from the queue when the agent takes it (in some versions the
    only one, with the text or without), an attachment, a user record. The first to come counts."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque(maxlen=_WAITING)
        self._heard: dict[str, int] = {}
        """How many more prompts a copy of this text is expected for."""

    def enqueue(self, text: str) -> None:
        """It waits."""
        self._waiting.append(text)

    def dequeue(self) -> None:
        """The first that waits becomes a prompt of its own, in a record of its own."""
        if self._waiting:
            self._waiting.popleft()

    def remove(self, text: str) -> str:
        """The text that left the queue, which may not say so itself."""
        if not text:
            return self._waiting.popleft() if self._waiting else ""
        if text in self._waiting:
            self._waiting.remove(text)
        return text

    def is_new(self, text: str, *, is_record: bool) -> bool:
        """Whether this is the first record of the prompt. `is_record` for a user record, of which only the copy of a
        queued prompt is a repetition: a person may type the same words twice."""
        key = " ".join(text.split())
        if key in self._heard:
            del self._heard[key]
            return False
        self._heard = {known: left - is_record for known, left in self._heard.items() if left > is_record}
        if not is_record:
            self._heard[key] = _PROMPTS_APART
        return True
