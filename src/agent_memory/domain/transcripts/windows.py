"""A long session in pieces that each fit a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.transcripts.turns import cut_text, excerpt, last_time
from agent_memory.values import evolve

TURN_OVERHEAD_CHARS = 60
"""What a prompt may write around one turn: number, role, day, what is missing, line ends."""
CALL_OVERHEAD_CHARS = 20
"""What a prompt may write around one tool call: name, dashes, line end."""

MIN_WINDOW_CHARS = 2_000

_TOOL_CHARS_STEPS = (2_000, 800)
"""To how much tool output is shortened, one step after the other, where a session does not fit one window."""


def turn_chars(turn: Turn) -> int:
    """How many characters this turn may take in a prompt."""
    calls = sum(_call_chars(call) for call in turn.tool_calls)
    return TURN_OVERHEAD_CHARS + len(turn.tool_name or "") + len(turn.text) + calls


def cut_windows(history: History, max_chars: int) -> tuple[History, ...]:
    """The history in parts of at most `max_chars` characters each (by `turn_chars`), in order; itself if it fits.

    Tool output is shortened first. A cut falls between turns, before a user's turn where one is near; only a turn too
    long by itself is divided, into pieces with its number. What a person or the agent said is never shortened. Every
    part knows whether tools answered before it. A history without turns is one window. At least `MIN_WINDOW_CHARS`.
    """
    if max_chars < MIN_WINDOW_CHARS:
        raise ValueError(f"a window of {max_chars} characters is too small")
    turns: tuple[Turn, ...] = history.turns
    for limit in _TOOL_CHARS_STEPS:
        if _total(turns) <= max_chars:
            break
        turns = tuple(_with_short_output(turn, limit) for turn in turns)
    pieces = [piece for turn in turns for piece in _pieces(turn, max_chars)]
    return tuple(_windows(history, list(_packed(pieces, max_chars))))


def _total(turns: Sequence[Turn]) -> int:
    return sum(turn_chars(turn) for turn in turns)


def _call_chars(call: ToolCall) -> int:
    return CALL_OVERHEAD_CHARS + len(call.name) + len(call.brief) + len(call.path or "")


def _with_short_output(turn: Turn, max_chars: int) -> Turn:
    if turn.role is not Role.TOOL or len(turn.text) <= max_chars:
        return turn
    kept = excerpt(turn.text, max_chars)
    return evolve(turn, text=kept.text, clipped_chars=turn.clipped_chars + kept.clipped_chars)


def _pieces(turn: Turn, max_chars: int) -> Iterator[Turn]:
    if turn_chars(turn) <= max_chars:
        yield turn
        return
    room = max_chars - TURN_OVERHEAD_CHARS - len(turn.tool_name or "")
    whole = evolve(turn, tool_calls=())
    for at, text in enumerate(cut_text(turn.text, room)):
        yield evolve(whole, text=text, clipped_chars=turn.clipped_chars if at == 0 else 0)
    for calls in _cut_calls(turn.tool_calls, room):
        yield evolve(whole, text="", tool_calls=calls, clipped_chars=0)


def _cut_calls(calls: tuple[ToolCall, ...], max_chars: int) -> Iterator[tuple[ToolCall, ...]]:
    part: list[ToolCall] = []
    used = 0
    for call in calls:
        size = _call_chars(call)
        if part and used + size > max_chars:
            yield tuple(part)
            part, used = [], 0
        part.append(call)
        used += size
    if part:
        yield tuple(part)


def _packed(turns: Sequence[Turn], max_chars: int) -> Iterator[tuple[Turn, ...]]:
    start = 0
    while start < len(turns):
        end = _end_of_window(turns, start, max_chars)
        yield tuple(turns[start:end])
        start = end


def _end_of_window(turns: Sequence[Turn], start: int, max_chars: int) -> int:
    """Where the window ends: as late as it fits, but before a user's turn where one comes in its second half."""
    used = turn_chars(turns[start])
    before_user = None
    for at in range(start + 1, len(turns)):
        if turns[at].role is Role.USER and used > max_chars // 2:
            before_user = at
        used += turn_chars(turns[at])
        if used > max_chars:
            return before_user or at
    return len(turns)


def _windows(history: History, parts: list[tuple[Turn, ...]]) -> Iterator[History]:
    if not parts:
        yield history
        return
    answered = history.tools_answered_before
    for part in parts:
        ended_at_ms = history.ended_at_ms if part is parts[-1] else last_time(part)
        yield evolve(history, turns=part, tools_answered_before=answered, ended_at_ms=ended_at_ms)
        answered = answered or any(turn.role is Role.TOOL for turn in part)
