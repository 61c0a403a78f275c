"""What a session comes to for whoever takes it over: made without any agent command, from its redacted history."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from agent_memory.domain.extraction.cues import Sort
from agent_memory.domain.extraction.extract import Handoff, brief_handoff_of, handoff_of, read_through
from agent_memory.domain.extraction.notes import Candidate, tags_of
from agent_memory.domain.extraction.session import Episode, is_injected
from agent_memory.domain.extraction.text import cut
from agent_memory.domain.handing_over.resuming import resume_command
from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.planning.origin import Claim, origin_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Harness, Origin

INTERRUPTED_DAYS = 7
"""So long the last words of a session that was cut off are worth giving on."""

MAX_EXCHANGES = 6
_EXCHANGE_CHARS = 600
_MAX_DECIDED = 8
_DECIDED_CHARS = 240
_DECISIONS = frozenset({Sort.CORRECTION, Sort.CONVENTION, Sort.DECISION, Sort.WANT, Sort.PREFERENCE, Sort.REASONED})


@frozen
class Exchange:
    """One of the last things that were said."""

    role: Role
    """Of the person or the agent."""
    text: str
    repeats_a_page: bool = False
    """The agent says what only a foreign source said: nothing to be told unasked (P19)."""


@frozen
class Handover:
    """All of it, redacted, in plain lines."""

    harness: Harness
    session_id: str
    handoff: Handoff
    """What was asked and done, which files were written, what is open."""
    decided: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    """The last words, of a session that was cut off and is younger than seven days."""
    tags: tuple[str, ...]
    ended_at_ms: int | None
    cwd: str | None = None
    branch: str | None = None
    agent: str | None = None
    resume: str | None = None
    """The harness's own command to go on with it."""


def handover_of(history: History, now_ms: int) -> Handover | None:
    """The handover of a redacted history; None where nobody asked for anything in it."""
    legible, episodes, candidates = read_through(history)
    handoff = handoff_of(legible, episodes, candidates, goes_on=True) or brief_handoff_of(legible, episodes)
    if handoff is None:
        return None
    ended_at_ms = max((turn.at_ms for turn in history.turns if turn.at_ms is not None), default=history.ended_at_ms)
    recent = ended_at_ms is not None and now_ms - ended_at_ms < INTERRUPTED_DAYS * DAY_MS
    cwd = None if legible.cwd is None else one_line(legible.cwd, 1_000)
    return Handover(
        harness=history.harness,
        session_id=history.session_id,
        handoff=handoff,
        decided=_decided(candidates),
        exchanges=_last_words(legible) if recent and is_interrupted(episodes) else (),
        tags=tags_of(handoff.body, (name.strip("`") for name in handoff.files)),
        ended_at_ms=ended_at_ms,
        cwd=cwd,
        branch=None if history.branch is None else one_line(history.branch, 200),
        agent=history.agent,
        resume=resume_command(history.harness, history.session_id, cwd),
    )


def is_interrupted(episodes: Sequence[Episode]) -> bool:
    """Whether the last thing that was asked has no closing words."""
    return bool(episodes) and episodes[-1].asked is not None and episodes[-1].closing is None


def _decided(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    decisions = [each for each in candidates if each.sort in _DECISIONS]
    return tuple(dict.fromkeys(cut(" ".join(each.claim.split()), _DECIDED_CHARS) for each in decisions[-_MAX_DECIDED:]))


def _last_words(history: History) -> tuple[Exchange, ...]:
    said = [turn for turn in history.turns if _is_said(turn)]
    return tuple(
        Exchange(turn.role, cut(turn.text.strip(), _EXCHANGE_CHARS), _repeats_a_page(turn, history))
        for turn in said[-MAX_EXCHANGES:]
    )


def _repeats_a_page(turn: Turn, history: History) -> bool:
    return turn.role is Role.AGENT and origin_of(Claim("", turn.text), (), history) is Origin.EXTERNAL


def _is_said(turn: Turn) -> bool:
    if turn.role is Role.TOOL or not turn.text.strip():
        return False
    return turn.role is not Role.USER or not is_injected(turn)
