"""What is noticed in many notes, one after the other."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity

AT_ONCE = 5_000
"""So many are put into columns together: by itself, what is noticed in each takes several times the memory."""


class Gathering:
    """Adds to what was known `before`, for `compare`. Nothing of a secret note is put into columns."""

    def __init__(self, before: Gathered, slots: Mapping[str, int], words: Vocabulary) -> None:
        self.gathered = before
        self.slots = dict(slots)
        """Those of notes of which all is known, by id."""
        self.noticed: dict[str, Noticed] = {}
        """What is noticed in the others, by id."""
        self._words = words
        self._added: set[str] = set()
        self._waiting: list[Listed] = []

    def add(self, listed: Listed, noticed: Noticed) -> None:
        """One more note. Of two with one id the first counts."""
        id = listed.meta.id
        if id in self._added:
            return
        self._added.add(id)
        self.noticed[id] = noticed
        if listed.meta.sensitivity is not Sensitivity.SECRET:
            self._waiting.append(listed)
        if len(self._waiting) >= AT_ONCE:
            self._put_into_columns()

    def _put_into_columns(self) -> None:
        # Slots of notes that went are not taken again here: their likenesses are still known.
        slots = self.gathered.free_slots(len(self._waiting), ())
        found = [(listed, self.noticed.pop(listed.meta.id)) for listed in self._waiting]
        self.gathered = self.gathered.changed((), dict(zip(slots, found, strict=True)), self._words)
        self.slots |= zip((listed.meta.id for listed in self._waiting), slots, strict=True)
        self._waiting = []
