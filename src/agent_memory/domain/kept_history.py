"""What is kept of the histories of consolidated sessions."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from agent_memory.domain.history import History, Role, SessionMark, Turn
from agent_memory.domain.transcripts.turns import as_many_as_fit, last_time, turns_after


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
