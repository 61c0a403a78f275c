"""How much of a session is kept, which of its turns are new, the same without secrets, and a document as turns."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

from attrs import evolve, frozen

from agent_memory.domain.history import History, Role, SessionMark, ToolCall, Turn
from agent_memory.domain.redaction import redact, redact_path, redact_with_paths
from agent_memory.domain.text.markdown import find_code, is_inside
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.transcripts.own_marks import without_own_output

USER_TEXT_CHARS = 50_000
AGENT_TEXT_CHARS = 20_000
TOOL_TEXT_CHARS = 8_000

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Of the turns that one fetch returns: what holds, redacts and cuts them into prompts needs a multiple (P25)."""
TURN_BYTES = 700
"""What a turn takes besides its text."""

_CUT_CHARS = 300
"""How far from a cut the end of what it cuts is looked for."""

_HUNK = re.compile(r"\n(?=@@ |diff --git )")

TEXT_CHARS = {Role.USER: USER_TEXT_CHARS, Role.AGENT: AGENT_TEXT_CHARS, Role.TOOL: TOOL_TEXT_CHARS}
"""How many characters of one turn are kept, by its role."""


@frozen
class Excerpt:
    """The beginning and the end of a text that may be far longer than `max_chars`; it never holds more than these."""

    max_chars: int
    head: str = ""
    tail: str = ""
    total_chars: int = 0
    """Of the whole text so far."""

    @property
    def clipped_chars(self) -> int:
        """How many characters of the whole are in neither."""
        return self.total_chars - len(self.head) - len(self.tail)

    @property
    def text(self) -> str:
        """The whole text, or its two ends around a line that says how much is missing."""
        if not self.clipped_chars:
            return self.head + self.tail
        # A secret that the cut goes through could no longer be told: what is left of its line or word goes too.
        head, tail = _to_a_whole_end(self.head), _from_a_whole_beginning(self.tail)
        return f"{head}\n[… {self.total_chars - len(head) - len(tail)} characters left out …]\n{tail}"

    def grown(self, text: str) -> Excerpt:
        head_room = self.max_chars * 3 // 4 - len(self.head) if not self.tail else 0
        rest = text[head_room:]
        tail_chars = self.max_chars - self.max_chars * 3 // 4
        tail = (self.tail + rest[-tail_chars:])[-tail_chars:] if tail_chars else ""
        return evolve(self, head=self.head + text[:head_room], tail=tail, total_chars=self.total_chars + len(text))


def _to_a_whole_end(text: str) -> str:
    """`text` up to its last hunk, where it is a diff, or else the last line end or space near its end."""
    hunks = [hunk.start() for hunk in _HUNK.finditer(text, len(text) // 2)]
    if hunks:
        return text[: hunks[-1]]
    for mark in "\n ":
        if (end := text.rfind(mark, max(1, len(text) - _CUT_CHARS))) > 0:
            return text[:end]
    return text


def _from_a_whole_beginning(text: str) -> str:
    """`text` from its first hunk on, where it is a diff, or else the first line end or space near its beginning."""
    if hunk := _HUNK.search(text, 0, len(text) // 2):
        return text[hunk.start() + 1 :]
    for mark in "\n ":
        if 0 <= (end := text.find(mark, 0, _CUT_CHARS)) < len(text) - 1:
            return text[end + 1 :]
    return text


def excerpt(text: str, max_chars: int) -> Excerpt:
    """At most `max_chars` characters of a text: three quarters from its beginning, one quarter from its end; a diff
    between hunks where it can be."""
    return Excerpt(max_chars).grown(text)


def cut_text(text: str, max_chars: int) -> Iterator[str]:
    """Consecutive parts of at most `max_chars` characters that together are the text, cut after a blank line, a line or a
    word where there is one in the second half."""
    while len(text) > max_chars:
        marks = ("\n\n", "\n", " ")
        cuts = (text.rfind(mark, max_chars // 2, max_chars - len(mark) + 1) + len(mark) for mark in marks)
        cut = next((cut for cut in cuts if cut > max_chars // 2), max_chars)
        yield text[:cut]
        text = text[cut:]
    if text:
        yield text


def readable(text: str) -> str:
    """The text as it may be shown and stored: no control, bidirectional or invisible characters, no lone surrogates, no
    end marks of a managed section."""
    return clean_text(text).text


def turns_after(turns: Sequence[Turn], mark: SessionMark | None) -> tuple[Turn, ...]:
    """The turns that the mark does not cover: those after its record; where that record is gone (a rewritten
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
    """The time of the last turn that has one."""
    return next((turn.at_ms for turn in reversed(turns) if turn.at_ms is not None), None)


def as_many_as_fit(turns: Sequence[Turn], max_bytes: int = MAX_KEPT_BYTES) -> tuple[Turn, ...]:
    """The first turns, at least one, that take about `max_bytes` bytes of memory together."""
    kept: list[Turn] = []
    used = 0
    for turn in turns:
        used += TURN_BYTES + sys.getsizeof(turn.text)
        if kept and used > max_bytes:
            break
        kept.append(turn)
    return tuple(kept)


# -- without secrets: the first thing that happens to a history (P20) ---------------------------------------------------


def redact_history(history: History) -> History:
    """The same history with every secret in its texts and paths replaced by a placeholder."""

    def text(given: str | None) -> str | None:
        return given and redact_with_paths(given)

    def path(given: str | None) -> str | None:
        return given and redact_path(given)

    def call(given: ToolCall) -> ToolCall:
        return evolve(given, name=redact(given.name).text, brief=redact_with_paths(given.brief), path=path(given.path))

    def turn(given: Turn) -> Turn:
        calls, tool_name = tuple(map(call, given.tool_calls)), text(given.tool_name)
        return evolve(given, text=redact_with_paths(given.text), tool_calls=calls, tool_name=tool_name)

    return evolve(
        history,
        turns=tuple(map(turn, history.turns)),
        title=text(history.title),
        cwd=path(history.cwd),
        also_in=tuple(map(redact_path, history.also_in)),
        branch=path(history.branch),
        agent=text(history.agent),
    )


# -- documents --------------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_SMALL_CHARS, _SECTION_CHARS = 1_500, 4_000


def document_turns(text: str, tool_name: str) -> tuple[Turn, ...]:
    """One tool turn for each section (small neighbours together, a long one in parts), nothing lost but blank lines.

    Tool turns, since nobody in the session said it: whoever wrote a document, its words are no user's. The record id of a
    turn is made from its text and the texts before it.
    """
    sections = _grouped(
        part for section in _sections(without_own_output(text)) for part in cut_text(section, _SECTION_CHARS)
    )
    digest = blake2b(digest_size=10)
    turns: list[Turn] = []
    for section in sections:
        digest.update(section.encode("utf-8", "surrogatepass"))
        turns.append(Turn(len(turns) + 1, Role.TOOL, readable(section), digest.hexdigest(), tool_name=tool_name))
    return tuple(turns)


def _sections(text: str) -> Iterator[str]:
    """The text in order, a new piece at every heading that is not in a fenced code block."""
    fences = find_code(text).fences
    headings = (heading.start() for heading in _HEADING.finditer(text))
    cuts = (0, *(at for at in headings if at and not is_inside(at, fences)), len(text))
    return (text[start:end] for start, end in pairwise(cuts) if start < end)


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
# What is kept of the histories of consolidated sessions.


@frozen
class KeptPart:
    """One part of a session's history, as one fetch returned it, redacted."""

    history: History
    after_record_id: str | None
    """The record after which it goes on; None for the beginning of the session."""


@frozen
class KeptSession:
    """A session of which something is kept: its name in the directory, its size and when it last grew (epoch ms)."""

    name: str
    size_bytes: int
    kept_at_ms: int


def joined_history(parts: Iterable[KeptPart], mark: SessionMark | None) -> History | None:
    """The turns of the parts (in their order) that the mark does not cover, as many as fit one fetch; None where there are
    none, and, without a mark, where the parts do not begin at the beginning.

    A record that is in two parts (a session that was consolidated afresh) counts once. No more than two parts are held.
    """
    joined: History | None = None
    known: set[str] = set()
    new: tuple[Turn, ...] = ()
    answered = past_mark = False
    for part in parts:
        if joined is None and mark is None and part.after_record_id is not None:
            return None
        answered = answered or (not new and part.history.tools_answered_before)
        # A message that went on after a mark has its rest in the next part, under its number.
        going_on = new[-1].number if new else None
        unknown = [turn for turn in part.history.turns if turn.record_id not in known or turn.number == going_on]
        # Another transcript of the same session begins with 1 again: its turns get numbers of their own.
        behind = new[-1].number - unknown[0].number if unknown and new else 0
        fresh = tuple(evolve(turn, number=turn.number + behind + 1) if behind > 0 else turn for turn in unknown)
        past_mark = past_mark or mark is None or part.after_record_id == mark.last_record_id
        found = fresh if past_mark else turns_after(fresh, mark)
        if not new:
            answered = answered or any(turn.role is Role.TOOL for turn in fresh[: len(fresh) - len(found)])
        past_mark = past_mark or (mark is not None and any(turn.record_id == mark.last_record_id for turn in fresh))
        known.update(turn.record_id for turn in part.history.turns)
        later = part.history
        if joined is not None:  # with what only the earlier one says of the session
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
        ended_at_ms=last_time(kept),
        tools_answered_before=answered,
        remaining=len(kept) < len(new),
        skipped={},
    )
