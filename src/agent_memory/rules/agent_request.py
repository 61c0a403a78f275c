"""What an agent is asked to do, and what it answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from attrs import field, frozen

from agent_memory.note.note import Listed, StoredEntry, TierList, Usage
from agent_memory.rules.findings import Analysis
from agent_memory.rules.published import SectionBudget
from agent_memory.session.history import History
from agent_memory.session.queue import InboxEntry
from agent_memory.text.plain_text import Count


@frozen
class SessionRequest:
    """Asks what is worth keeping of a session. A command gets `prompt`; the built-in extractor reads the values behind
    it."""

    prompt: str
    nonce: str
    entry: InboxEntry
    window: History
    shown: tuple[StoredEntry, ...] = ()
    handoff_id: str | None = None
    """The session's earlier handoff (among `shown`), to be updated in place."""
    now_ms: int = 0
    final_window: bool = True
    """Whether the session, as far as it is known, ends with this window."""


@frozen
class DefragRequest:
    """Asks how the store should be tidied. Prompt and values as in `SessionRequest`."""

    prompt: str
    nonce: str
    live: Sequence[Listed] = ()
    shown: tuple[StoredEntry, ...] = ()
    analysis: Analysis = Analysis()
    usage: Mapping[str, Usage] = field(factory=dict[str, Usage])
    tiers: TierList = TierList()
    now_ms: int = 0
    budget: SectionBudget = SectionBudget()
    undone: frozenset[str] = frozenset()
    """Fingerprints of actions that a person has undone (`actions.fingerprint_of`)."""
    force: bool = False
    """A person lifts the limit on how much one run may change."""


AgentRequest = SessionRequest | DefragRequest


@frozen
class AgentReply:
    """The agent's answer as it arrived. It is redacted before it is stored or parsed."""

    text: str
    prompt_chars: int = 0
    """Characters sent to a command; 0 for the built-in and for a replayed reply."""


KEPT_DAYS = 90


_STATED = {"stated": True}


@frozen
class DaySpend:
    """The calls of one UTC day, and the characters sent and received."""

    calls: Count = field(default=0, metadata=_STATED)
    prompt_chars: Count = field(default=0, metadata=_STATED)
    reply_chars: Count = field(default=0, metadata=_STATED)


Spend = dict[str, DaySpend]
"""Spending by day (`2026-02-13`), oldest first."""


def with_added(spend: Spend, day: str, *, calls: int = 0, prompt_chars: int = 0, reply_chars: int = 0) -> Spend:
    """Returns the spend with these amounts added to a day; negative amounts are subtracted, never below 0. Days more
    than `KEPT_DAYS` before that one are dropped. A later day, left by a clock that ran ahead, stays."""
    old = spend.get(day, DaySpend())
    amounts = (old.calls + calls, old.prompt_chars + prompt_chars, old.reply_chars + reply_chars)
    new = DaySpend(*(max(0, amount) for amount in amounts))
    oldest = (datetime.fromisoformat(day) - timedelta(days=KEPT_DAYS)).strftime("%Y-%m-%d")
    return {each: spent for each, spent in sorted({**spend, day: new}.items()) if each >= oldest}
