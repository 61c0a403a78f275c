"""What comparing all notes found, in memory."""

from __future__ import annotations

from agent_memory.domain.analysis.compared import Compared
from agent_memory.values import define, field


@define
class DictCompared:
    """`ports.KeptComparisons` in a dict."""

    kept: dict[str, Compared] = field(factory=dict[str, Compared])

    def recall(self, key: str) -> Compared | None:
        """See the port."""
        return self.kept.get(key)

    def keep(self, key: str, compared: Compared | None) -> None:
        """See the port."""
        if compared is None:
            self.kept.clear()
            return
        same = compared.outlines.slots.keys()
        self.kept = {other: each for other, each in self.kept.items() if each.outlines.slots.keys() == same}
        self.kept[key] = compared
