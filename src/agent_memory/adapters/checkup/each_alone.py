"""What is wrong with each note alone: of those that are as they were, only the ones are looked at of which there is something to
be said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress, count, repeat
from operator import not_

from agent_memory.adapters.checkup.note_looks import LookedAt, NoteLooks
from agent_memory.adapters.checkup.troubles import trouble
from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.link_checks import examine_links
from agent_memory.domain.checkup.name_checks import examine_name
from agent_memory.domain.checkup.note_checks import NoteRules, examine_note, worth_examining
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import chosen, column_of, with_others
from agent_memory.errors import Error

_NOTES_A_REPORT = 5_000


class EachAlone:
    """The symptoms of the notes of one listing, and the ids of those whose files are new."""

    def __init__(
        self,
        live: Sequence[Listed],
        rules: NoteRules,
        fresh_after_ms: int,
        archived: frozenset[str],
        progress: Callable[[str], None],
    ) -> None:
        self.symptoms: list[Symptom] = []
        self.fresh: set[str] = set()
        self._live, self._rules, self._fresh_after_ms = live, rules, fresh_after_ms
        self._archived, self._progress = archived, progress
        self._otherwise: dict[int, Listed | None] = {}
        """Those that were read otherwise than they were listed, by their places; None for what is left out."""

    def miss(self, error: Error) -> None:
        """Tell of one that cannot be read."""
        self.symptoms.append(trouble(error, of.UNREADABLE_STORE))

    def looked_at(self, looks: NoteLooks) -> Iterator[LookedAt]:
        """Examine all, in the order of the listing: each that is not as it was, and each of which there may be something to be
        said. One that is gone since the listing, is no note any more or cannot be read is left out."""
        ids, live = column_of(self._live, "meta.id"), self._live
        known = looks.known(live)
        mtimes_ms = map(looks.mtimes_ms.get, column_of(live, "path"), repeat(self._fresh_after_ms))
        self.fresh.update(compress(compress(ids, known), compress(map(self._fresh_after_ms.__lt__, mtimes_ms), known)))
        is_due = list(map(bool.__or__, map(not_, known), self._worth_examining(ids, looks)))
        due = chosen(live, is_due)
        bearers = (
            frozenset(chain(ids, chain.from_iterable(column_of(live, "meta.aliases"))))
            if self._archived
            else frozenset[str]()
        )
        for seen, (place, listed) in enumerate(
            zip(compress(count(), is_due), due, strict=True), len(live) - len(due) + 1
        ):
            if seen % _NOTES_A_REPORT == 0:
                self._progress(f"{seen:,} of {len(live):,} notes examined")
            note = looks.look_at(listed)
            if note is None:
                self._otherwise[place] = None
                self.symptoms += examine_name(listed)
                continue
            if note.listed is not listed:
                self._otherwise[place] = note.listed
            self._examine(note, bearers)
            yield note
        if looks.kept is not None:
            looks.kept.save(live)

    def read(self) -> Sequence[Listed]:
        """The notes as they were read, without those that were left out."""
        return with_others(self._live, self._otherwise)

    def _worth_examining(self, ids: Sequence[str], looks: NoteLooks) -> Iterator[bool]:
        is_odd = map(bool.__or__, looks.odd(self._live), worth_examining(self._live, self._rules))
        linking = looks.outlines.links().items() if self._archived else ()
        leading = {id for id, targets in linking if not self._archived.isdisjoint(targets)}
        return map(bool.__or__, is_odd, map(leading.__contains__, ids)) if leading else is_odd

    def _examine(self, note: LookedAt, bearers: frozenset[str]) -> None:
        if note.mtime_ms > self._fresh_after_ms:
            self.fresh.add(note.listed.meta.id)
        self.symptoms += examine_note(note.listed, note.look, self._rules)
        self.symptoms += examine_links(note.listed.path, note.outline.links, bearers, self._archived)
