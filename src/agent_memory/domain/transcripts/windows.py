"""A long session in pieces that each fit a prompt."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from attrs import evolve

from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.transcripts.pasted_reviews import PASTED_MARKS, pasted_review
from agent_memory.domain.transcripts.tool_calls import answers
from agent_memory.domain.transcripts.turns import TOOL_TEXT_CHARS, cut_text, excerpt, last_time

TURN_OVERHEAD_CHARS = 60
"""What a prompt may write around one turn: number, role, day, what is missing, line ends."""
CALL_OVERHEAD_CHARS = 20
"""What a prompt may write around one tool call: name, dashes, line end."""

MIN_WINDOW_CHARS = 2_000

_LEAST_ECHO_CHARS, _LEAST_OUTPUT_CHARS = 300, 1_200
"""To how much an echo, and any other output, is cut before a session takes a second prompt, which is paid for again."""
_FEW_LINES_CHARS = 300
_WHOLE, _ECHO, _OUTPUT = "whole", "echo", "output"
"""How far a turn may be cut."""

_MARKS = r"(?:AGENTS|CLAUDE|GEMINI|SKILL|MEMORY|copilot-instructions)(?:\.local|\.override)?\.md|\.cursorrules"
_TOLD_TO_AGENTS = re.compile(
    rf"(?:^|[/\s\"'])(?:{_MARKS}|(?:skills|rules|steering|instructions|memory|memories)/[^\s\"']+\.mdc?)(?=$|[\s\"':;|&])"
)
"""Paths of what harnesses tell their agents: it is known wherever it is needed."""
_TODO_TOOL = re.compile(
    r"(?:todo_?(?:write|read|list)|write_todos|manage_todo_list|update_plan|task_?(?:create|update|list))$",
    re.IGNORECASE,
)
_SKILL_TOOL = re.compile(r"(?:load_|use_|activate_)?skill$", re.IGNORECASE)
_ECHO_TOOL = re.compile(
    r"(?:read|view|cat|grep|rg|ripgrep|glob|ls|list|find|search|codebase_search)"
    r"(?:[_-]?(?:files?|dir|folder|many|code|text|content|notebook|bash|raw|grep|search).*)?$|.*(?:output|stdin)$",
    re.IGNORECASE,
)
"""Tools that print what lies in the project, or what a command has printed so far."""
_ECHO_COMMAND = re.compile(
    r"(?:\s*(?:cd|sleep|export|timeout)\s[^;&|]*(?:;|&&)\s*)*"
    r"(?:sleep|cat|nl|head|tail|less|sed\s+-n|awk|grep|rg|fd|find|ls|tree|wc|pwd|git\s+(?:\S+\s+)?(?:show|log|diff|status|ls-files|grep))\b"
)
_NUMBER = re.compile(r"^[ \t]{0,8}\d{1,6}(?:→|\t|: |\. )", re.MULTILINE)
_NUMBERED_LINES = re.compile(rf"(?:{_NUMBER.pattern}[^\n]*(?:\n|\Z)){{5,}}", re.MULTILINE)
"""As those of a file are shown, each after its number."""
_TEST_COMMAND = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|spec|check|lint|typecheck|fix|fmt|format|tsc|build|compile|vet|mypy|ruff|clippy|verify)\b",
    re.IGNORECASE,
)


def turn_chars(turn: Turn) -> int:
    """How many characters this turn may take in a prompt."""
    calls = sum(
        CALL_OVERHEAD_CHARS + len(call.name) + len(call.brief) + len(call.path or "") for call in turn.tool_calls
    )
    if turn.role is Role.USER and pasted_review(turn.text):
        calls += sum(map(len, PASTED_MARKS)) + len(PASTED_MARKS)
    return TURN_OVERHEAD_CHARS + len(turn.tool_name or "") + len(turn.text) + calls


def cut_windows(history: History, max_chars: int) -> tuple[History, ...]:
    """The history in as few parts of at most `max_chars` characters (by `turn_chars`) as may be, in order.

    What says nothing new is left out. Output of tools is cut only as far as fewer parts come of it: first what only echoes
    the project, then other output, never failures, tests and what the person or the agent said. A cut falls between turns,
    before a user's turn where one is near; only a turn too long by itself is divided, into pieces with its number. Every
    part knows whether tools answered before it. A history without turns is one part. At least `MIN_WINDOW_CHARS`.
    """
    if max_chars < MIN_WINDOW_CHARS:
        raise ValueError(f"a window of {max_chars} characters is too small")
    outputs = _outputs(history)

    def parts(echo_chars: int) -> list[tuple[Turn, ...]]:
        limits = {_WHOLE: sys.maxsize, _ECHO: echo_chars, _OUTPUT: max(_LEAST_OUTPUT_CHARS, 4 * echo_chars)}
        pieces = [piece for turn, kind in outputs for piece in _pieces(_short(turn, limits[kind]), max_chars)]
        return list(_packed(pieces, max_chars))

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
    """The turns that say something, their paths from the session's directory on, and how far each may be cut."""
    asked = {turn.number: calls[0] if calls else None for turn, calls in answers(history)}
    printed: dict[str, str] = {}
    outputs: list[tuple[Turn, str]] = []
    here = f"{history.cwd.rstrip('/')}/" if history.cwd and history.cwd.count("/") > 1 else ""
    plans = [turn.number for turn in history.turns if any(_TODO_TOOL.match(call.name) for call in turn.tool_calls)]
    overtaken = frozenset(plans[:-1])  # the last list of what is to be done is the one that counts
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
            calls = tuple(call for call in near.tool_calls if not _TODO_TOOL.match(call.name))
            if not calls and not turn.text:
                continue
            near = evolve(near, tool_calls=calls)
        if turn.role is not Role.TOOL:
            outputs.append((near, _WHOLE))
            continue
        name, call = turn.tool_name or "", asked.get(turn.number)
        is_repeated = len(turn.text) > TURN_OVERHEAD_CHARS and printed.get(name) == turn.text
        printed[name] = turn.text
        if is_repeated or (not turn.failed and ((call is not None and call.writes) or _TODO_TOOL.match(name))):
            continue
        brief = f"{call.path or ''} {call.brief}" if call else ""
        if _SKILL_TOOL.match(name) or _TOLD_TO_AGENTS.search(brief):
            outputs.append((_short(near, _FEW_LINES_CHARS), _WHOLE))
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


def _packed(turns: Sequence[Turn], max_chars: int) -> Iterator[tuple[Turn, ...]]:
    """Each window ends as late as it fits, but before a user's turn where one comes in its second half."""
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
