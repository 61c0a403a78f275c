"""Notes and last words as passages: text that may stand in front of an agent (P18, P20, P26)."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.handing_over.handover import Exchange, Handover
from agent_memory.domain.handing_over.resuming import NAMES
from agent_memory.domain.history import Role
from agent_memory.domain.injecting.candidates import Shown
from agent_memory.domain.injecting.passage import Passage
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.check_boxes import CheckBoxes, check_boxes
from agent_memory.formats.neutral_markdown import neutral_body, neutral_line
from agent_memory.formats.shown_note import TITLE_LEVEL, brief_note, facts_line, shown_title, whole_note

_MOST_BOXES = 20
_BOX_CHARS = 300
_SPEAKERS = {Role.USER: "The person", Role.AGENT: "The agent"}


def passage_of(shown: Shown) -> Passage | None:
    """The note as a passage; None for a task of which nothing is open. Of a note that is only its title, one line says all."""
    stored = shown.stored
    brief = brief_note(stored.meta)
    boxes = check_boxes(stored.body) if shown.section == "tasks" else CheckBoxes()
    if boxes.done and not boxes.open:
        return None
    if not shown.whole or stored.body.strip() == stored.meta.title:
        whole = ""
    else:
        whole = _open_boxes(shown, boxes.open) if boxes.open else whole_note(stored)
    return Passage(stored.meta.id, shown.section, whole, brief)


def _open_boxes(shown: Shown, boxes: tuple[str, ...]) -> str:
    meta = shown.stored.meta
    lines = [f"- [ ] {neutral_line(redact(box).text, _BOX_CHARS)}" for box in boxes[:_MOST_BOXES]]
    if len(boxes) > _MOST_BOXES:
        lines.append(f"- and {len(boxes) - _MOST_BOXES} more: `memory read {meta.id}`")
    return "\n".join((f"{'#' * TITLE_LEVEL} {shown_title(meta)}", "", facts_line(meta), "", *lines))


def recovery_id(harness: str, session_id: str) -> str:
    """What stands for the last words of a session among the ids of notes."""
    return f"session:{harness}:{session_id}"


def recovery_passage(handover: Handover) -> Passage | None:
    """The last words of a session that was cut off; None where there are none. What an agent said counts as its conclusion:
    it is left out where it tells an agent what to do."""
    lines = list(_quoted(handover.exchanges))
    if not lines:
        return None
    name = NAMES[handover.harness]
    told = f"The {name} session {handover.session_id} was cut off, or is still at work"
    return Passage(
        recovery_id(handover.harness.value, handover.session_id),
        "recovery",
        "\n".join((f"{told}. The last words in it were:", *lines)),
        f"- {told}: `memory handoff --session {handover.session_id}` shows what it was about",
    )


def _quoted(exchanges: Iterable[Exchange]) -> Iterable[str]:
    for each in exchanges:
        if each.role is Role.AGENT and is_directive(each.text):
            continue
        yield ""
        yield f"{_SPEAKERS[each.role]}:"
        body = neutral_body(redact(each.text).text, TITLE_LEVEL + 1)
        yield from (f"> {line}".rstrip() for line in body.split("\n"))
