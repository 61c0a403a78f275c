"""A note as it is shown to an agent that did not ask for it: redacted, neutral, with its origin (P18-P20)."""

from __future__ import annotations

from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.derive import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from agent_memory.domain.vocabulary import Origin
from agent_memory.formats.neutral_markdown import neutral_body, neutral_line

TITLE_LEVEL = 3
"""Of the heading above each note that is shown whole; no heading in its text stands as high."""

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
