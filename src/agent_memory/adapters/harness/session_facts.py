"""What is known of a session as a whole, and the history made of that and its turns."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define

from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Draft
from agent_memory.domain.history import History
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.turns import last_time
from agent_memory.domain.vocabulary import Harness

_TITLE_CHARS = 300


@define
class SessionFacts:
    """Gathered while a session is read."""

    harness: Harness
    session_id: str
    title: str | None = None
    cwd: str | None = None
    also_in: tuple[str, ...] = ()
    branch: str | None = None
    agent: str | None = None
    started_at_ms: int | None = None
    automated: bool = False
    """No person took part; whatever stands in a person's place was said by a program."""
    tools_answered: bool = False
    """A tool answered in what was left out."""

    def started(self, at_ms: int | None) -> None:
        """A record has this time; the first one's is the session's."""
        self.started_at_ms = at_ms if self.started_at_ms is None else self.started_at_ms


def history_of(
    facts: SessionFacts,
    session: SessionTurns,
    left_out: Callable[[Draft], str | None] = lambda _: None,
    *,
    remaining: bool,
) -> History:
    """The history of the turns that are new. `left_out` says why one is not kept; `remaining`: more of them wait for another
    fetch."""
    turns = session.turns(left_out, scripted=facts.automated)
    return History(
        harness=facts.harness,
        session_id=facts.session_id,
        turns=turns,
        title=one_line(facts.title, _TITLE_CHARS) or None if facts.title else None,
        cwd=facts.cwd,
        also_in=facts.also_in,
        branch=facts.branch,
        agent=facts.agent,
        started_at_ms=facts.started_at_ms,
        ended_at_ms=last_time(turns),
        tools_answered_before=facts.tools_answered or session.tools_answered_before(turns),
        remaining=remaining and not session.own_call,
        automated=facts.automated,
        own_call=session.own_call,
        skipped=session.skipped,
    )
