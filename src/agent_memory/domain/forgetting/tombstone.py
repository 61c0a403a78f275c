"""What is left of what was forgotten: enough to keep it from being learnt again, and none of its text (P28)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.forgetting.statements import statement_hashes
from agent_memory.domain.vocabulary import Harness

SAME_SHARE = 0.6
"""Of a forgotten note's statements that must be in a text for it to say the same."""


@frozen
class SessionTombstone:
    """A session that is not to be learnt from again."""

    session_id: str
    harness: Harness | None
    """None: of whatever harness."""
    at_ms: int
    """When it was forgotten."""


@frozen
class StateTombstone:
    """A state value that is not to come back from another machine; what was set after it is another value."""

    path: str
    """Of its file, relative to the root."""
    at_ms: int


@frozen
class EntryTombstone:
    """A note that is not to be learnt again from what was said before it was forgotten."""

    id: str
    at_ms: int
    statements: frozenset[str]
    """Hashes of what it last said (`statement_hashes`)."""

    def is_said_by(self, title: str, body: str) -> bool:
        """Whether most of what the note said is in this text."""
        said = statement_hashes(title, body)
        return bool(self.statements) and len(self.statements & said) >= SAME_SHARE * len(self.statements)


def forgotten_note(
    tombstones: Iterable[EntryTombstone], title: str, body: str, said_at_ms: int
) -> EntryTombstone | None:
    """The forgotten note that this text would bring back; None for one that says something else, and for what was said
    after the forgetting: who says it again wants it known again."""
    return next((each for each in tombstones if said_at_ms <= each.at_ms and each.is_said_by(title, body)), None)
