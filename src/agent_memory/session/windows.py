"""A history on its way into prompts: without secrets, and in windows that fit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from attrs import evolve

from agent_memory.redaction.redact import redact, redact_path, redact_with_paths
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.own_marks import PASTED_MARKS, pasted_review
from agent_memory.session.tool_calls import answers
from agent_memory.session.turns import TOOL_TEXT_CHARS, cut_text, excerpt, last_time
from agent_memory.text.tables import read_table

# -- without secrets: a history is redacted before anything else (P20) -------------------------------------------------


def redact_history(history: History) -> History:
    """Returns the history with a placeholder for every secret in its texts and paths."""

    def text(given: str | None) -> str | None:
        return given and redact_with_paths(given)

    def path(given: str | None) -> str | None:
        return given and redact_path(given)

    def call(given: ToolCall) -> ToolCall:
        return evolve(given, name=redact(given.name).text, brief=redact_with_paths(given.brief), path=path(given.path))

    def turn(given: Turn) -> Turn:
        calls, tool_name = tuple(map(call, given.tool_calls)), text(given.tool_name)
        said, answers = redact_with_paths(given.text), given.answers and call(given.answers)
        return evolve(given, text=said, tool_calls=calls, tool_name=tool_name, answers=answers)

    return evolve(
        history,
        turns=tuple(map(turn, history.turns)),
        title=text(history.title),
        cwd=path(history.cwd),
        also_in=tuple(map(redact_path, history.also_in)),
        branch=path(history.branch),
        agent=text(history.agent),
    )


# -- windows: a long session in parts that fit a prompt ----------------------------------------------------------------

TURN_OVERHEAD_CHARS = 60
"""The limit of what a prompt adds around a turn: number, role, day, what is missing, line ends."""

MIN_WINDOW_CHARS = 2_000

_LEAST_ECHO_CHARS, _LEAST_OUTPUT_CHARS = 300, 1_200
"""How short an echo, or any other output, may be cut to spare a session a second prompt, which costs a call."""
_WHOLE, _ECHO, _OUTPUT = "whole", "echo", "output"
"""How a turn may be cut."""

_MARKS = r"(?:AGENTS|CLAUDE|GEMINI|SKILL|MEMORY|copilot-instructions)(?:\.local|\.override)?\.md|\.cursorrules"
_TOLD_TO_AGENTS = re.compile(
    rf"(?:^|[/\s\"'])(?:{_MARKS}|(?:skills|rules|steering|instructions|memory|memories)/[^\s\"']+\.mdc?)(?=$|[\s\"':;|&])"
)
"""Matches paths of instructions that harnesses give their agents: those are known wherever they are needed."""
_TABLE = read_table("agent_memory.session", "wording.txt")
TODO_TOOL = _TABLE.expression("todo_tool")
_SKILL_TOOL = _TABLE.expression("skill_tool")
_ECHO_TOOL = _TABLE.expression("echo_tool")
_ECHO_COMMAND = _TABLE.expression("echo_command", re.NOFLAG)
_NUMBER = re.compile(r"^[ \t]{0,8}\d{1,6}(?:→|\t|: |\. )", re.MULTILINE)
_NUMBERED_LINES = re.compile(rf"(?:{_NUMBER.pattern}[^\n]*(?:\n|\Z)){{5,}}", re.MULTILINE)
"""Matches file lines shown with their numbers."""
_TEST_COMMAND = _TABLE.expression("test_command")


def turn_chars(turn: Turn) -> int:
    """Returns how many characters this turn may take in a prompt."""
    # A prompt adds at most 20 characters around a tool call: name, dashes, line end.
    calls = sum(20 + len(call.name) + len(call.brief) + len(call.path or "") for call in turn.tool_calls)
    if turn.role is Role.USER and pasted_review(turn.text):
        calls += sum(map(len, PASTED_MARKS)) + len(PASTED_MARKS)
    return TURN_OVERHEAD_CHARS + len(turn.tool_name or "") + len(turn.text) + calls


def cut_windows(history: History, max_chars: int) -> tuple[History, ...]:
    """Returns the history in as few parts of at most `max_chars` characters (by `turn_chars`) as possible, in order.

    Turns that say nothing new are left out. Tool output is cut only as far as that saves parts: first echoes of the
    project, then other output, never failures, tests or the words of person and agent. Parts end between turns, if
    possible before a user's turn; only a turn too long by itself is divided, into pieces with its number. Every part
    knows whether tools answered before it. `max_chars` is at least `MIN_WINDOW_CHARS`.
    """
    if max_chars < MIN_WINDOW_CHARS:
        raise ValueError(f"a window of {max_chars} characters is too small")
    outputs = _outputs(history)

    def parts(echo_chars: int) -> list[tuple[Turn, ...]]:
        limits = {_WHOLE: sys.maxsize, _ECHO: echo_chars, _OUTPUT: max(_LEAST_OUTPUT_CHARS, 4 * echo_chars)}
        pieces = [piece for turn, kind in outputs for piece in _pieces(_short(turn, limits[kind]), max_chars)]
        return list(_windows(pieces, max_chars))

    best, least, most = parts(_LEAST_ECHO_CHARS), _LEAST_ECHO_CHARS, TOOL_TEXT_CHARS
    while least <= most:
        between = (least + most + 1) // 2
        more = parts(between)
        if len(more) <= len(best):
            best, least = more, between + 1
        else:
            most = between - 1
    windows: list[History] = []
    answered = history.tools_answered_before
    for part in best:
        ended_at_ms = history.ended_at_ms if part is best[-1] else last_time(part)
        windows.append(evolve(history, turns=part, tools_answered_before=answered, ended_at_ms=ended_at_ms))
        answered = windows[-1].tools_answered
    return tuple(windows) or (history,)


def _outputs(history: History) -> list[tuple[Turn, str]]:
    """Returns the turns that say something, with paths relative to the session's directory, and how each may be cut."""
    asked = {turn.number: calls[0] if calls else None for turn, calls in answers(history)}
    printed: dict[str, str] = {}
    outputs: list[tuple[Turn, str]] = []
    here = f"{history.cwd.rstrip('/')}/" if history.cwd and history.cwd.count("/") > 1 else ""
    plans = [turn.number for turn in history.turns if any(TODO_TOOL.match(call.name) for call in turn.tool_calls)]
    overtaken = frozenset(plans[:-1])  # only the last to-do list counts
    for turn in history.turns:
        near = turn
        if here:
            calls = tuple(
                evolve(call, brief=call.brief.replace(here, ""), path=call.path and call.path.replace(here, ""))
                for call in turn.tool_calls
            )
            text = turn.text.replace(here, "") if turn.role is Role.TOOL else turn.text
            near = evolve(turn, text=text, tool_calls=calls)
        if turn.number in overtaken:
            calls = tuple(call for call in near.tool_calls if not TODO_TOOL.match(call.name))
            if not calls and not turn.text:
                continue
            near = evolve(near, tool_calls=calls)
        if turn.role is not Role.TOOL:
            outputs.append((near, _WHOLE))
            continue
        name, call = turn.tool_name or "", asked.get(turn.number)
        # A notice that nobody asked for, as of a background job, is the same again however short it is.
        may_be_repeated = len(turn.text) > TURN_OVERHEAD_CHARS or call is None or call.name != name
        is_repeated = may_be_repeated and printed.get(name) == turn.text
        printed[name] = turn.text
        if is_repeated or (not turn.failed and ((call is not None and call.writes) or TODO_TOOL.match(name))):
            continue
        brief = f"{call.path or ''} {call.brief}" if call else ""
        if _SKILL_TOOL.match(name) or _TOLD_TO_AGENTS.search(brief):
            outputs.append((_short(near, 300), _WHOLE))
            continue
        is_echo = bool(_ECHO_TOOL.match(name) or (call and _ECHO_COMMAND.match(call.brief)))
        if is_echo:
            near = evolve(near, text=_NUMBERED_LINES.sub(lambda lines: _NUMBER.sub("", lines[0]), near.text))
        is_whole = turn.failed or (not is_echo and _TEST_COMMAND.search(brief))
        outputs.append((near, _WHOLE if is_whole else _ECHO if is_echo else _OUTPUT))
    return outputs


def _short(turn: Turn, max_chars: int) -> Turn:
    if len(turn.text) <= max_chars:
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
    for call in turn.tool_calls:
        yield evolve(whole, text="", tool_calls=(call,), clipped_chars=0)


def _windows(turns: Sequence[Turn], max_chars: int) -> Iterator[tuple[Turn, ...]]:
    """Yields windows as long as fit, but ending before a user's turn if there is one in the second half."""
    start = used = 0
    before_user = None
    at = 0
    while at < len(turns):
        if at > start and turns[at].role is Role.USER and used > max_chars // 2:
            before_user = at
        used += turn_chars(turns[at])
        at += 1
        if used > max_chars and at - 1 > start:
            end = before_user or at - 1
            yield tuple(turns[start:end])
            start, at, used, before_user = end, end, 0, None
    if turns:
        yield tuple(turns[start:])
