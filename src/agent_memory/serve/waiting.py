"""What waits for a decision, and what the doctor found, kept between requests: to look at all notes takes seconds in a large
store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from attrs import define, evolve, field

from agent_memory.acts.review import PUT_OFF_DAYS, ReviewItem
from agent_memory.app import Memory
from agent_memory.care.checks import DoctorReport
from agent_memory.results import unwrap
from agent_memory.text.instants import DAY_MS

_MAX_AGE_MS = 5 * 60_000
"""What expires, or was put off until now, is seen after this time at the latest."""


@define
class Waiting:
    """The queue of one store. It is read again when somebody else changed a note or the time is up."""

    memory: Memory
    _items: tuple[ReviewItem, ...] = ()
    _hashes: Mapping[str, str] | None = None
    _read_at_ms: int = field(default=0)
    _report: tuple[Mapping[str, str], int, DoctorReport] | None = None

    def report(self, examine: Callable[[], DoctorReport]) -> tuple[int, DoctorReport]:
        """Returns what the doctor found, and when."""
        hashes, now_ms = self._now()
        if self._report is None or self._report[0] != hashes or not 0 <= now_ms - self._report[1] < _MAX_AGE_MS:
            self._report = hashes, now_ms, examine()
        return self._report[1:]

    def items(self) -> tuple[ReviewItem, ...]:
        hashes, now_ms = self._now()
        if hashes != self._hashes or not 0 <= now_ms - self._read_at_ms < _MAX_AGE_MS:
            self._items = unwrap(self.memory.reviewing.items())
            self._hashes, self._read_at_ms = hashes, now_ms
        return self._items

    def decided(self, keys: Collection[str], *, put_off: bool = False) -> None:
        """Takes out what was decided just now, and what is about notes that this changed; what was put off comes last."""
        self._hashes, now_ms = self._now()
        standing = [
            each
            for each in self._items
            if all(self._hashes.get(note.meta.id) == note.content_hash for note in each.notes)
        ]
        until_ms = now_ms + PUT_OFF_DAYS * DAY_MS
        later = (evolve(each, put_off_until_ms=until_ms) for each in standing if put_off and each.key in keys)
        self._items = (*(each for each in standing if each.key not in keys), *later)

    def read_again(self) -> None:
        """Has the next request look at everything anew."""
        self._hashes = self._report = None

    def _now(self) -> tuple[Mapping[str, str], int]:
        return unwrap(self.memory.store.list()).hashes, self.memory.clock.now_ms()
