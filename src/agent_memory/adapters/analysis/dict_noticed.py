"""What was noticed in notes, in memory."""

from __future__ import annotations

from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.values import define, field


@define
class DictNoticed:
    """`ports.NoticedNotes` in a dict."""

    notes: dict[str, Noticed] = field(factory=dict[str, Noticed])
    words: Vocabulary = field(factory=Vocabulary)
    _used: dict[str, Noticed] = field(factory=dict[str, Noticed])

    def recall(self, content_hash: str) -> Noticed | None:
        """See the port."""
        noticed = self.notes.get(content_hash)
        if noticed is not None:
            self._used[content_hash] = noticed
        return noticed

    def keep(self, content_hash: str, noticed: Noticed) -> None:
        """See the port."""
        self._used[content_hash] = noticed

    def save(self) -> None:
        """See the port."""
        self.notes = dict(self._used)
