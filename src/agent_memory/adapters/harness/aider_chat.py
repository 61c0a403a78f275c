"""The lines of aider's chat history, told apart: the person's, the agent's, and aider's own. Pure; never raises.

Aider (seen: 0.35 to 0.86) appends to one markdown file a directory. Each of its writes leaves a shape behind (aider/io.py):

    # aider chat started at 2026-02-13 14:30:05        a run begins; local time

    #### what the person typed··                       `·` is a space: every line of a prompt ends with two
    what the agent answered, between blank lines
    > what aider says··                                one write a line, or one of several lines of which the last ends so

A heading of the fourth level that the agent wrote has no two spaces behind it, or stands in a code block; so has a quotation.
What cannot be told is taken for the agent's, never for the person's.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from attrs import frozen

HEADING = b"# aider chat started at "
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_WRITE_END = "  "
_PROMPT = "#### "
_NOTE = "> "
_REPLY_END = "> Tokens: "
"""Aider counts tokens after each reply, also after one that was broken off inside a code block."""
_MAX_NOTE_LINES = 1_000


class Speaker(Enum):
    """Who a line is from."""

    RUN = auto()
    """Aider's heading of a run."""
    PERSON = auto()
    AGENT = auto()
    AIDER = auto()


@frozen
class Said:
    """One line. `begins`: it is the first of what its speaker says here."""

    speaker: Speaker
    text: str
    begins: bool


class ChatLines:
    """Tells the lines of a chat history apart, one after the other."""

    def __init__(self) -> None:
        self._speaker: Speaker | None = None
        self._after_blank = True
        self._fence = ""
        self._note_lines = 0
        """Of a write of aider's that has not come to its end."""

    def take(self, line: str) -> Said:
        """Whose the next line is, without its marks. `line` is without its line end."""
        said = self._told(line)
        self._speaker = said.speaker
        self._after_blank = not line.strip()
        return said

    def pass_over(self, *, blank: bool) -> None:
        """A line was not taken; what comes next that matters is a heading."""
        self._after_blank = blank

    def _told(self, line: str) -> Said:
        started = _STARTED.fullmatch(line) if self._after_blank else None
        if started:
            self._fence, self._note_lines = "", 0
            return Said(Speaker.RUN, started[1], True)
        if self._fence and not (self._after_blank and line.startswith(_REPLY_END) and line.endswith(_WRITE_END)):
            return self._in_fence(line)
        self._fence = ""
        if self._note_lines:
            return self._rest_of_note(line)
        if self._is_prompt(line):
            return Said(Speaker.PERSON, line[len(_PROMPT) :].rstrip(), self._after_blank)
        if self._is_note(line):
            self._note_lines = 0 if line.endswith(_WRITE_END) else 1
            return Said(Speaker.AIDER, line[len(_NOTE) :].rstrip(), True)
        return self._of_agent(line)

    def _is_prompt(self, line: str) -> bool:
        goes_on = self._speaker is Speaker.PERSON and not self._after_blank
        return line.startswith(_PROMPT) and line.endswith(_WRITE_END) and (self._after_blank or goes_on)

    def _is_note(self, line: str) -> bool:
        if not line.startswith(_NOTE):
            return False
        after_write = self._speaker is not Speaker.AGENT and not self._after_blank
        return after_write or (line.endswith(_WRITE_END) and (self._after_blank or self._speaker is not Speaker.AGENT))

    def _rest_of_note(self, line: str) -> Said:
        ended = line.endswith(_WRITE_END) or self._note_lines >= _MAX_NOTE_LINES
        self._note_lines = 0 if ended else self._note_lines + 1
        return Said(Speaker.AIDER, line.rstrip(), False)

    def _of_agent(self, line: str) -> Said:
        opened = _FENCE.fullmatch(line)
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            self._fence = opened[1]
        begins = self._speaker is not Speaker.AGENT
        if begins and not line.strip():  # the blank lines around a write are nobody's
            return Said(self._speaker or Speaker.AGENT, "", False)
        return Said(Speaker.AGENT, line, begins)

    def _in_fence(self, line: str) -> Said:
        closed = _FENCE.fullmatch(line)
        if closed and closed[1].startswith(self._fence) and not closed[2].strip():
            self._fence = ""
        return Said(Speaker.AGENT, line, False)
