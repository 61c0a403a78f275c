"""The words by which a trace of what was forgotten is known, in reports, replies and commit messages."""

from __future__ import annotations

import re

from attrs import field, frozen

from agent_memory.domain.defragging.kept_lines import Line
from agent_memory.domain.forgetting.statements import holds_some
from agent_memory.domain.recording.command_template import one_word

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
