"""Notes as passages: text that may stand in front of an agent (P18, P20)."""

from __future__ import annotations

from agent_memory.domain.injecting.candidates import Shown
from agent_memory.domain.injecting.passage import Passage
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.check_boxes import CheckBoxes, check_boxes
from agent_memory.domain.vocabulary import Kind
from agent_memory.formats.neutral_markdown import neutral_line
from agent_memory.formats.shown_note import TITLE_LEVEL, brief_note, facts_line, shown_title, title_note, whole_note

_MOST_BOXES = 20
_BOX_CHARS = 300


def passage_of(shown: Shown) -> Passage | None:
    """The note as a passage; None for a task of which nothing is open. Of a note that is only its title, one line says all."""
    stored = shown.stored
    boxes = check_boxes(stored.body) if stored.meta.kind is Kind.TASK else CheckBoxes()
    if boxes.done and not boxes.open:
        return None
    if not shown.whole or stored.body.strip() == stored.meta.title:
        whole = ""
    else:
        whole = _open_boxes(shown, boxes.open) if boxes.open else whole_note(stored, shown.contradicted_by)
    brief, title = (form(stored.meta, shown.contradicted_by) for form in (brief_note, title_note))
    return Passage(stored.meta.id, shown.section, whole, brief, title)


def _open_boxes(shown: Shown, boxes: tuple[str, ...]) -> str:
    meta = shown.stored.meta
    lines = [f"- [ ] {neutral_line(redact(box).text, _BOX_CHARS)}" for box in boxes[:_MOST_BOXES]]
    if len(boxes) > _MOST_BOXES:
        lines.append(f"- and {len(boxes) - _MOST_BOXES} more: `memory read {meta.id}`")
    return "\n".join(
        (f"{'#' * TITLE_LEVEL} {shown_title(meta)}", "", facts_line(meta, shown.contradicted_by), "", *lines)
    )
