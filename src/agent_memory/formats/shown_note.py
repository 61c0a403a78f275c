"""A note as it is shown to an agent that did not ask for it, and what is injected of it and of a session that was cut off: redacted,
neutral, with its origin (P18-P20)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.history import Role
from agent_memory.domain.injecting.assembling import Passage
from agent_memory.domain.injecting.deliveries import unread_session
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.resuming import NAMES
from agent_memory.domain.text.directives import is_directive
from agent_memory.domain.text.markdown import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, CheckBoxes, check_boxes
from agent_memory.domain.vocabulary import Kind, Origin
from agent_memory.formats.neutral_markdown import neutral_body, neutral_line

if TYPE_CHECKING:
    from agent_memory.domain.handover import Exchange, Handover  # which reads sessions
    from agent_memory.domain.injecting.candidates import Shown

TITLE_LEVEL = 3
"""Of the heading above each note that is shown whole; no heading in its text stands as high."""

_MOST_BOXES = 20
_BOX_CHARS = 300

_SAID_BY = {
    Origin.USER: "from the person",
    Origin.AGENT: "concluded by an agent",
    Origin.EXTERNAL: "from a tool, page or file",
}


def whole_note(stored: StoredEntry, contradicted_by: str = "") -> str:
    """Title as a heading, a line of facts that begins with the id, and the body. `contradicted_by`: the id of a note that is
    told, too, says otherwise, and is to be believed; also below."""
    meta = stored.meta
    body = neutral_body(_without_title(redact(stored.body).text, meta.title), TITLE_LEVEL + 1)
    return f"{'#' * TITLE_LEVEL} {shown_title(meta)}\n\n{facts_line(meta, contradicted_by)}\n\n{body}"


def brief_note(meta: Meta, contradicted_by: str = "") -> str:
    """One list item: title, description, which note it is, of when, and whether an agent concluded it."""
    title = shown_title(meta)
    description = neutral_line(redact(meta.description).text, MAX_DESCRIPTION_CHARS)
    said = "" if not description or description == title else f": {description}"
    return f"- {title}{said} ({_mark(meta)}, {iso_of(meta.updated_at_ms)[:10]}{contradiction(contradicted_by)})"


def title_note(meta: Meta, contradicted_by: str = "") -> str:
    """The same without description and date."""
    return f"- {shown_title(meta)} ({_mark(meta)}{contradiction(contradicted_by)})"


def contradiction(by: str) -> str:
    """What is added to the facts of a note that another one contradicts and outranks; empty where none does."""
    return by and f", contradicted by {by}"


def _mark(meta: Meta) -> str:
    return meta.id if meta.origin is Origin.USER or meta.promoted_by else f"{meta.id}, agent"


def facts_line(meta: Meta, contradicted_by: str = "") -> str:
    """Which note it is, of what kind, who says it, and when it was last changed."""
    return f"{meta.id} · {_kind_and_origin(meta)}{contradiction(contradicted_by)}"


def shown_title(meta: Meta) -> str:
    """The title on one line; the id where nothing of it can be shown."""
    return neutral_line(redact(meta.title).text, MAX_TITLE_CHARS) or meta.id


def _kind_and_origin(meta: Meta) -> str:
    vouched = ", vouched for by the person" if meta.promoted_by and meta.origin is not Origin.USER else ""
    return f"{meta.kind.value} · {_SAID_BY[meta.origin]}{vouched} · {iso_of(meta.updated_at_ms)[:10]}"


def _without_title(body: str, title: str) -> str:
    """The body without a first heading that only repeats the title."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return rest if rest.strip() and first.lstrip("#").strip() == title and first.startswith("#") else body


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


# -- the last words of a session that was cut off ----------------------------------------------------------------------


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
