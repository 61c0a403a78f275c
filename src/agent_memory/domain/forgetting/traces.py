"""How what is to be forgotten is known: a note by its sources, other notes by their links, texts by the words in them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from attrs import evolve, field, frozen

from agent_memory.domain.defragging.information import Line
from agent_memory.domain.entry import MemoryEntry, Meta, Source
from agent_memory.domain.forgetting.tombstone import holds_some
from agent_memory.domain.recording.commit_message import one_word
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.vocabulary import Harness

Share = Literal["all", "some", "none"]

FORGOTTEN = "(forgotten)"
"""What stands where something was."""

_SHOWN_ID_CHARS = 12
"""Of a session's id in the subject of a commit."""
_TITLE_CHARS = 40
"""A longer title may have been cut where it was shown; a beginning of this length is one."""
_MIN_TITLE_CHARS = 4
"""A shorter title is a word like any other."""
_VERB = re.compile(r"[a-z][a-z ]{0,20}(?=:)")


@frozen
class SessionKey:
    """A session; of whatever harness where none is named."""

    session_id: str
    harness: Harness | None = None

    def is_of(self, source: Source) -> bool:
        """Whether the source is some part of this session."""
        return source.thread_id == self.session_id and self.harness in (None, source.harness)


def share_of(meta: Meta, session: SessionKey, recorded: frozenset[str] = frozenset()) -> Share:
    """How much of an entry comes from the session, by its sources. One without any, that was recorded as made of the
    session, comes from nothing else."""
    if not meta.sources:
        return "all" if meta.id in recorded else "none"
    count = sum(session.is_of(source) for source in meta.sources)
    return "all" if count == len(meta.sources) else "some" if count else "none"


def without_session(meta: Meta, session: SessionKey) -> Meta:
    """The frontmatter without the session among its sources."""
    return evolve(meta, sources=tuple(source for source in meta.sources if not session.is_of(source)))


def unlinked(entry: MemoryEntry, ids: Collection[str]) -> MemoryEntry:
    """The same entry without these ids: no alias, nothing superseded; a link becomes its label, or the plain id, and goes
    altogether from the list of links at the end of the body. The rest of the text stays."""
    meta = evolve(
        entry.meta,
        aliases=tuple(id for id in entry.meta.aliases if id not in ids),
        supersedes=tuple(id for id in entry.meta.supersedes if id not in ids),
    )
    return MemoryEntry(meta, _body_without(entry.body, ids))


def _body_without(body: str, ids: Collection[str]) -> str:
    if not any(link.target in ids for link in find_links(body)):
        return body
    text = without_see_also(body)
    listed = [link.target for link in find_links(body) if link.start >= len(text)]
    if not any(target in ids for target in listed):
        return _plain(body, ids)
    return append_see_also(_plain(text, ids), [target for target in listed if target not in ids])


def _plain(body: str, ids: Collection[str]) -> str:
    parts, position = list[str](), 0
    for link in find_links(body):
        if link.target in ids:
            parts += [body[position : link.start], (link.label or "").strip() or link.target]
            position = link.end
    return "".join((*parts, body[position:]))


# -- words ------------------------------------------------------------------------------------------------------------


@frozen
class TraceWords:
    """All of it is empty where nothing goes."""

    ids: frozenset[str] = field(default=frozenset())
    session_id: str | None = None
    titles: frozenset[str] = field(default=frozenset())
    statements: tuple[Line, ...] = ()

    @property
    def beginnings(self) -> tuple[str, ...]:
        """How the titles begin, as far as they are sure to be shown."""
        return tuple({title[:_TITLE_CHARS] for title in self.titles if len(title.strip()) >= _MIN_TITLE_CHARS})

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of entries, and of the session as it is written anywhere."""
        session = self.session_id
        if session is None:
            return tuple(self.ids)
        forms = {session, one_word(session), *({session[:_SHOWN_ID_CHARS]} if len(session) > _SHOWN_ID_CHARS else ())}
        return (*self.ids, *(form for form in forms if form))

    def names_one(self, text: str) -> bool:
        """Whether a text holds one of the ids."""
        return any(name in text for name in self.names)

    def is_in(self, text: str) -> bool:
        """Whether a text holds a title, or states what was forgotten."""
        return any(beginning in text for beginning in self.beginnings) or holds_some(self.statements, text)


def forgetful_message(message: str, words: TraceWords, *, touched: bool) -> str:
    """A commit's message without what was forgotten: of its subject the verb stays, other lines go.

    Titles count only where the commit touched a file of what was forgotten: they are words like any others.
    """
    lines = message.split("\n")
    is_trace = [words.names_one(line) or (touched and words.is_in(line)) for line in lines]
    if not any(is_trace):
        return message
    kept = [line for line, goes in zip(lines[1:], is_trace[1:], strict=True) if not goes]
    text = "\n".join((_subject(lines[0]) if is_trace[0] else lines[0], *kept))
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def _subject(line: str) -> str:
    verb = _VERB.match(line)
    return f"{verb[0]}: {FORGOTTEN}" if verb else FORGOTTEN
