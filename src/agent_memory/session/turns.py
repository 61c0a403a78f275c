"""Turns: how much of them is kept, which are new, documents as turns, and the parts of a kept history as one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

from attrs import evolve, frozen

from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.own_marks import without_own_output
from agent_memory.text.markdown import find_code, is_inside
from agent_memory.text.plain_text import clean_text

USER_TEXT_CHARS = 50_000
AGENT_TEXT_CHARS = 20_000
TOOL_TEXT_CHARS = 8_000

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""The limit for the turns of one fetch: redacting them and cutting them into prompts needs a multiple (P25)."""
TURN_BYTES = 700
"""The memory a turn takes besides its text."""

_CUT_CHARS = 300
"""How far from a cut to look for a line end or space."""

_HUNK = re.compile(r"\n(?=@@ |diff --git )")

TEXT_CHARS = {Role.USER: USER_TEXT_CHARS, Role.AGENT: AGENT_TEXT_CHARS, Role.TOOL: TOOL_TEXT_CHARS}
"""How many characters of a turn are kept, by role."""


@frozen
class Excerpt:
    """The beginning and the end of a text of any length, at most `max_chars` together."""

    max_chars: int
    head: str = ""
    tail: str = ""
    total_chars: int = 0
    """The length of the whole text so far."""

    @property
    def clipped_chars(self) -> int:
        """Returns how many characters of the text are missing."""
        return self.total_chars - len(self.head) - len(self.tail)

    @property
    def kept_bytes(self) -> int:
        return sys.getsizeof(self.head) + sys.getsizeof(self.tail)

    @property
    def text(self) -> str:
        """Returns the text, or its two ends around a line that says how much is missing."""
        if not self.clipped_chars:
            return self.head + self.tail
        # A secret cut in two would not be recognised: the rest of its line or word goes too.
        head, tail = _trim_end(self.head), _trim_start(self.tail)
        return f"{head}\n[… {self.total_chars - len(head) - len(tail)} characters left out …]\n{tail}"

    def grown(self, text: str) -> Excerpt:
        head_room = self.max_chars * 3 // 4 - len(self.head) if not self.tail else 0
        rest = text[head_room:]
        tail_chars = self.max_chars - self.max_chars * 3 // 4
        tail = (self.tail + rest[-tail_chars:])[-tail_chars:] if tail_chars else ""
        return evolve(self, head=self.head + text[:head_room], tail=tail, total_chars=self.total_chars + len(text))


def _trim_end(text: str) -> str:
    """Returns `text` up to its last hunk if it is a diff, or else to the last line end or space near its end."""
    hunks = [hunk.start() for hunk in _HUNK.finditer(text, len(text) // 2)]
    if hunks:
        return text[: hunks[-1]]
    for mark in "\n ":
        if (end := text.rfind(mark, max(1, len(text) - _CUT_CHARS))) > 0:
            return text[:end]
    return text


def _trim_start(text: str) -> str:
    """Returns `text` from its first hunk if it is a diff, or else from the first line end or space near its beginning."""
    if hunk := _HUNK.search(text, 0, len(text) // 2):
        return text[hunk.start() + 1 :]
    for mark in "\n ":
        if 0 <= (end := text.find(mark, 0, _CUT_CHARS)) < len(text) - 1:
            return text[end + 1 :]
    return text


def excerpt(text: str, max_chars: int) -> Excerpt:
    """Returns at most `max_chars` of a text: three quarters from its beginning, one from its end; a diff between hunks."""
    return Excerpt(max_chars).grown(text)


def cut_text(text: str, max_chars: int) -> Iterator[str]:
    """Yields parts of at most `max_chars`, cut after a blank line, a line or a word if one is in the second half."""
    while len(text) > max_chars:
        marks = ("\n\n", "\n", " ")
        cuts = (text.rfind(mark, max_chars // 2, max_chars - len(mark) + 1) + len(mark) for mark in marks)
        cut = next((cut for cut in cuts if cut > max_chars // 2), max_chars)
        yield text[:cut]
        text = text[cut:]
    if text:
        yield text


def turns_after(turns: Sequence[Turn], mark: SessionMark | None) -> tuple[Turn, ...]:
    """Returns the turns that the mark does not cover: those after its record; if that record is gone (a rewritten
    transcript), those later than its time, or without a time those beyond its number."""
    if mark is None:
        return tuple(turns)
    covered = max((at for at, turn in enumerate(turns, 1) if turn.record_id == mark.last_record_id), default=None)
    if covered is not None:
        return tuple(turns[covered:])
    last_at_ms = mark.last_at_ms
    if last_at_ms is None:
        return tuple(turn for turn in turns if turn.number > mark.turns_seen)
    return tuple(turn for turn in turns if turn.at_ms is not None and turn.at_ms > last_at_ms)


def last_time(turns: Sequence[Turn]) -> int | None:
    """Returns the time of the last turn that has one."""
    return next((turn.at_ms for turn in reversed(turns) if turn.at_ms is not None), None)


def as_many_as_fit(turns: Sequence[Turn], max_bytes: int = MAX_KEPT_BYTES) -> tuple[Turn, ...]:
    """Returns the first turns, at least one, that take about `max_bytes` of memory."""
    kept: list[Turn] = []
    used = 0
    for turn in turns:
        used += TURN_BYTES + sys.getsizeof(turn.text)
        if kept and used > max_bytes:
            break
        kept.append(turn)
    return tuple(kept)


# -- documents --------------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_SMALL_CHARS, _SECTION_CHARS = 1_500, 4_000


def document_turns(text: str, tool_name: str) -> tuple[Turn, ...]:
    """Returns one tool turn for each section (small neighbours together, a long one in parts), without blank lines.

    They are tool turns because nobody in the session said it: whoever wrote the document, its words are not the user's.
    A turn's record id is derived from its text and the texts before it.
    """
    text = without_own_output(text)
    fences = find_code(text).fences
    headings = (heading.start() for heading in _HEADING.finditer(text))
    cuts = (0, *(at for at in headings if at and not is_inside(at, fences)), len(text))
    sections = (text[start:end] for start, end in pairwise(cuts) if start < end)
    parts = (part for section in sections for part in cut_text(section, _SECTION_CHARS))
    digest = blake2b(digest_size=10)
    turns: list[Turn] = []
    for section in _grouped(parts):
        digest.update(section.encode("utf-8", "surrogatepass"))
        turns.append(Turn(len(turns) + 1, Role.TOOL, clean_text(section), digest.hexdigest(), tool_name=tool_name))
    return tuple(turns)


def _grouped(sections: Iterator[str]) -> Iterator[str]:
    held = ""
    for section in sections:
        if held.strip() and len(held) + len(section) > _SMALL_CHARS:
            yield held.strip("\n")
            held = ""
        held += section
    if held.strip():
        yield held.strip("\n")


# -- kept histories ---------------------------------------------------------------------------------------------------
# The kept histories of consolidated sessions.


@frozen
class KeptSession:
    """A session with a kept history: its name in the directory, its size and when it last grew (epoch ms)."""

    name: str
    size_bytes: int
    kept_at_ms: int


def joined_history(parts: Iterable[History], mark: SessionMark | None) -> History | None:
    """Returns the turns of the parts (in order) that the mark does not cover, as many as fit one fetch; None if there
    are none, or if, without a mark, the first part is not the beginning.

    A record in two parts (a session consolidated afresh) counts once. At most two parts are held in memory.
    """
    joined: History | None = None
    known: set[str] = set()
    new: tuple[Turn, ...] = ()
    answered = past_mark = False
    for part in parts:
        if joined is None and mark is None and part.after_record is not None:
            return None
        answered = answered or (not new and part.tools_answered_before)
        # A message that continued after a mark has its rest in the next part, under the same number.
        going_on = new[-1].number if new else None
        unknown = [turn for turn in part.turns if turn.record_id not in known or turn.number == going_on]
        # Another transcript of the session starts with 1 again: its turns are renumbered.
        behind = new[-1].number - unknown[0].number if unknown and new else 0
        fresh = tuple(evolve(turn, number=turn.number + behind + 1) if behind > 0 else turn for turn in unknown)
        past_mark = past_mark or mark is None or part.after_record == mark.last_record_id
        found = fresh if past_mark else turns_after(fresh, mark)
        if not new:
            answered = answered or any(turn.role is Role.TOOL for turn in fresh[: len(fresh) - len(found)])
        past_mark = past_mark or (mark is not None and any(turn.record_id == mark.last_record_id for turn in fresh))
        known.update(turn.record_id for turn in part.turns)
        later = part
        if joined is not None:  # with what only the earlier part says about the session
            later = evolve(
                later,
                title=later.title or joined.title,
                cwd=later.cwd or joined.cwd,
                branch=later.branch or joined.branch,
                agent=later.agent or joined.agent,
                started_at_ms=later.started_at_ms if joined.started_at_ms is None else joined.started_at_ms,
            )
        joined = later
        new = (*new, *found)
        if len(as_many_as_fit(new)) < len(new):
            break
    if joined is None or not new:
        return None
    kept = as_many_as_fit(new)
    return evolve(
        joined,
        turns=kept,
        after_record=None,
        ended_at_ms=last_time(kept),
        tools_answered_before=answered,
        remaining=len(kept) < len(new),
        skipped={},
    )
