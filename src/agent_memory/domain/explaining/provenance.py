"""Whose word an entry is, in words."""

from __future__ import annotations

from agent_memory.domain.entry import Meta, Source
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiering.standing import is_vouched_for
from agent_memory.domain.vocabulary import Harness, Origin

_LINE_CHARS = 300


def said_by(meta: Meta) -> str:
    """One or two sentences: who said it, and whether a person vouches for it."""
    if meta.origin is Origin.USER:
        wrote = not meta.sources or all(source.harness is Harness.MANUAL for source in meta.sources)
        who = "You wrote it." if wrote else "You said it in a session."
    elif meta.origin is Origin.AGENT:
        who = "An agent concluded it; no message of yours says it."
    else:
        who = "It comes from outside: what a tool, a page, another program or an import said."
    return f"{who} You vouched for it." if is_vouched_for(meta) and meta.origin is not Origin.USER else who


def source_in_words(source: Source) -> str:
    """`claude-code session 5f2c…, turns 3 and 9, in /srv/shop (github.com/acme/shop), written down by builtin`."""
    words = "you, by hand" if source.harness is Harness.MANUAL and not source.thread_id else str(source.harness)
    if source.thread_id:
        words += f" session {one_line(source.thread_id, _LINE_CHARS)}"
    if source.turns:
        words += f", {_turns(source.turns)}"
    if source.cwd:
        words += f", in {one_line(source.cwd, _LINE_CHARS)}"
    if source.repo:
        words += f" ({one_line(source.repo, _LINE_CHARS)})"
    if source.agent:
        words += f", by {one_line(source.agent, _LINE_CHARS)}"
    return words


def _turns(turns: tuple[int, ...]) -> str:
    if len(turns) == 1:
        return f"turn {turns[0]}"
    return f"turns {', '.join(map(str, turns[:-1]))} and {turns[-1]}"
