"""What was noticed in notes, in memory."""

from __future__ import annotations

from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.values import define


@define
class DictNoticed:
    """`ports.NoticedNotes` in memory."""

    gathered: Gathered = Gathered()

    def recall(self) -> Gathered:
        """See the port."""
        return self.gathered

    def keep(self, gathered: Gathered) -> None:
        """See the port."""
        self.gathered = gathered
