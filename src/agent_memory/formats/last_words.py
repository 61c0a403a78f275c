"""The last words of a session that was cut off, as a passage (P18-P20)."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.handover import Exchange, Handover
from agent_memory.domain.history import Role
from agent_memory.domain.injecting.assembling import Passage
from agent_memory.domain.injecting.deliveries import unread_session
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.redaction import redact
from agent_memory.domain.resuming import NAMES
from agent_memory.formats.neutral_markdown import neutral_body
from agent_memory.formats.shown_note import TITLE_LEVEL

_SPEAKERS = {Role.USER: "The person", Role.AGENT: "The agent"}


def recovery_passage(handover: Handover) -> Passage | None:
    """The last words of a session that was cut off; None where there are none. What an agent said counts as its conclusion:
    it is left out where it tells an agent what to do, or repeats what only a foreign source said."""
    lines = list(_quoted(handover.exchanges))
    if not lines:
        return None
    name = NAMES[handover.harness]
    told = f"The {name} session {handover.session_id} was cut off, or is still at work"
    unread = unread_session(handover.harness.value, handover.session_id, told)
    whole = "\n".join((f"{told}. The last words in it were:", *lines))
    return Passage(unread.id, unread.section, whole, unread.brief)


def _quoted(exchanges: Iterable[Exchange]) -> Iterable[str]:
    for each in exchanges:
        if each.role is Role.AGENT and (each.repeats_a_page or is_directive(each.text)):
            continue
        yield ""
        yield f"{_SPEAKERS[each.role]}:"
        body = neutral_body(redact(each.text).text, TITLE_LEVEL + 1)
        yield from (f"> {line}".rstrip() for line in body.split("\n"))
