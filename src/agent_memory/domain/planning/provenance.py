"""Where an entry of a window comes from, and when it was learnt."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.entry import Source
from agent_memory.domain.history import Role, Turn
from agent_memory.domain.inbox_entry import InlineNote, session_id_of
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.plan import PlanFacts
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.planning.origin import Claim, is_said_by, origin_of
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Origin

_MAX_CWD_CHARS = 400
_MAX_AGENT_CHARS = 100


def cited_turns(numbers: Iterable[int], facts: PlanFacts) -> tuple[Turn, ...]:
    """The turns of the window that an item cites, in order. Of an inline note, the person's turns, cited or not."""
    if isinstance(facts.entry.retrieval, InlineNote):
        return tuple(turn for turn in facts.window.turns if turn.role is Role.USER)
    wanted = frozenset(numbers)
    return tuple(turn for turn in facts.window.turns if turn.number in wanted)


def learnt_at_ms(cited: tuple[Turn, ...], facts: PlanFacts) -> int:
    """Time of the last cited turn, else the inbox entry's."""
    at_ms = cited[-1].at_ms if cited else None
    is_inline = isinstance(facts.entry.retrieval, InlineNote)
    return facts.entry.at_ms if at_ms is None or at_ms < 0 or is_inline else at_ms


def ended_at_ms(facts: PlanFacts) -> int:
    """Time of the last turn of the window, else the inbox entry's."""
    last = max((turn.at_ms for turn in facts.window.turns if turn.at_ms is not None), default=None)
    ended = facts.window.ended_at_ms if facts.window.ended_at_ms is not None else last
    return facts.entry.at_ms if ended is None else ended


def handoff_expires_at_ms(facts: PlanFacts) -> int:
    """When a handoff of this session is of no use any more."""
    return ended_at_ms(facts) + facts.handoff_days * DAY_MS


def source_of(cited: tuple[Turn, ...], facts: PlanFacts) -> Source:
    """The source of what cites these turns. Without a cited turn `turns` is empty, which keeps an entry from the hot tier."""
    context = facts.entry.context
    cwd = context.cwd or facts.window.cwd
    return Source(
        harness=facts.entry.harness,
        thread_id=session_id_of(facts.entry),
        repo=facts.scope if facts.scope != GLOBAL_SCOPE else context.repo,
        cwd=stored_line(redact_path(cwd), _MAX_CWD_CHARS) if cwd else None,
        agent=stored_line(facts.window.agent, _MAX_AGENT_CHARS) if facts.window.agent else None,
        turns=tuple(dict.fromkeys(turn.number for turn in cited)),
    )


def with_source(sources: tuple[Source, ...], source: Source) -> tuple[Source, ...]:
    """The sources with this one, its turns united with those of an earlier source of the same session."""
    for at, known in enumerate(sources):
        if known.thread_id is not None and (known.harness, known.thread_id) == (source.harness, source.thread_id):
            turns = tuple(sorted({*known.turns, *source.turns}))
            return (*sources[:at], _with_turns(known, turns), *sources[at + 1 :])
    return (*sources, source)


def computed_origin(title: str, text: str, cited: tuple[Turn, ...], facts: PlanFacts) -> Origin:
    """The origin of a text of this window (P19). A person's inline note is theirs as far as the entry says what it says."""
    claim = Claim(title, text, f"{facts.scope} {facts.entry.context.cwd or ''} {facts.window.cwd or ''}")
    note = facts.entry.retrieval
    if isinstance(note, InlineNote):
        is_persons = is_persons_note(facts) and is_said_by(claim, (f"{note.title}\n{note.body}",))
        return Origin.USER if is_persons else Origin.AGENT
    return origin_of(claim, (turn.number for turn in cited), facts.session or facts.window)


def is_persons_note(facts: PlanFacts) -> bool:
    """Whether the window is an inline note that a person wrote."""
    is_inline = isinstance(facts.entry.retrieval, InlineNote)
    return is_inline and facts.entry.harness is Harness.MANUAL and not facts.agent_writes


def _with_turns(source: Source, turns: tuple[int, ...]) -> Source:
    return Source(source.harness, source.thread_id, source.repo, source.cwd, source.agent, turns)
