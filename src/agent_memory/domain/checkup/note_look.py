"""What a look at one file finds, whatever the time and the other notes are: it may be kept while its bytes and its name stay as
they are."""

from __future__ import annotations

from agent_memory.domain.checkup.name_checks import has_odd_name
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.text.tags import normal_tag
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import frozen


@frozen
class NoteLook:
    """Of the text only kinds are told, never what it says."""

    is_empty: bool = False
    odd_tags: tuple[str, ...] = ()
    """Those of the frontmatter that are not written in their normal form, as they are written."""
    secrets: tuple[str, ...] = ()
    """Kinds of secrets that it seems to hold. A note that is marked secret is not looked through."""
    hidden: tuple[str, ...] = ()
    """Kinds of characters that a reader does not see."""
    has_odd_name: bool = False
    """Whether there is something to be said of the file's name alone."""


def look_at(note: NoteFile) -> NoteLook:
    """What there is to be seen in this file."""
    is_secret = note.stored.meta.sensitivity is Sensitivity.SECRET
    return NoteLook(
        is_empty=not note.stored.body.strip(),
        odd_tags=tuple(tag for tag in note.written_tags if normal_tag(tag) != tag),
        secrets=() if is_secret else tuple(name for name, _ in redact(note.text).found),
        hidden=tuple(clean_text(note.text.removeprefix("\ufeff")).removed),
        has_odd_name=has_odd_name(note.stored.listed),
    )
