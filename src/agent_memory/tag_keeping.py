"""Keeping the tags in order: what `memory tags` does. Every change is on disk before it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Dropped, Receipt, Replace
from agent_memory.domain.entry import Listed, Listing, MemoryEntry, StoredEntry, UnreadableFile
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.tagging.tag_survey import TagUse, alike, survey_tags, tag_counts
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.text.tags import normal_tag
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import ActRefused, Error, UsageInvalid
from agent_memory.ports import KeptVocabulary, Locks, Recorder, Store
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.wording import describe

T = TypeVar("T")


@frozen
class Tags:
    """What there is."""

    uses: tuple[TagUse, ...]
    renamed: Mapping[str, str]
    """What a tag is called now, by its earlier name."""
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes whose tags are not known (P6)."""


@frozen
class Retagged:
    """What a renaming did."""

    old: str
    new: str
    notes: tuple[str, ...]
    """The ids of those that were retagged."""
    left: tuple[Dropped, ...] = ()
    """Those that stay as they are, and why."""


@frozen
class TagKeeping:
    """Tags on behalf of a caller. To accept and to rename is a person's: all notes and all agents go by it."""

    store: Store
    vocabulary: KeptVocabulary
    recorder: Recorder
    locks: Locks
    caller: Caller
    writes: RecordedWrites
    warn: Callable[[str], None]

    def list(self) -> Result[Tags, Error]:
        """Every tag in use or accepted. An agent is told of none that only secret notes have."""

        def seen(live: Listing) -> Iterable[Sequence[str]]:
            hidden = Sensitivity.SECRET if self.caller.is_agent else None
            return (each.meta.tags for each in live.entries if each.meta.sensitivity is not hidden)

        def uses(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> tuple[TagUse, ...]:
            counts = tag_counts(notes, vocabulary)
            return survey_tags(counts, counts, alike(counts), vocabulary)

        return self.vocabulary.get().bind(
            lambda vocabulary: self.store.list().map(
                lambda live: Tags(uses(seen(live), vocabulary), vocabulary.renamed, live.unreadable)
            )
        )

    def accept(self, tags: Iterable[str]) -> Result[TagVocabulary, Error]:
        """Take these into the vocabulary; one commit. UsageInvalid where one of them cannot be a tag."""

        def accepted(before: TagVocabulary, normal: Iterable[str]) -> Result[TagVocabulary, Error]:
            after = before.with_accepted(normal)
            if after == before:
                return Success(before)
            new = ", ".join(sorted(after.accepted - before.accepted))
            return self.vocabulary.put(after).map(lambda path: self._recorded((path,), f"tags: accept {new}", after))

        with self.locks.write() as held:
            return (
                held.bind(lambda _: self._by_a_person("tags accept"))
                .bind(lambda _: _all_normal(tags))
                .bind(lambda normal: self.vocabulary.get().bind(lambda before: accepted(before, normal)))
            )

    def rename(self, old: str, new: str) -> Result[Retagged, Error]:
        """Give every live note `new` in the place of `old`, now and whenever one is written later; one commit. Conflicted
        notes stay as they are. Where it is cut short, doing it again does the rest."""
        with self.locks.write() as held:
            renamed = (
                held.bind(lambda _: self._by_a_person("tags rename"))
                .bind(lambda _: _all_normal((old, new)))
                .bind(lambda pair: self._renamed(*pair))
            )
        return self.writes.shown_at_once(renamed)

    def _renamed(self, old: str, new: str) -> Result[Retagged, Error]:
        if old == new:
            return Failure(UsageInvalid(f"{old} is called that already"))

        def carried_out(before: TagVocabulary, live: Listing) -> Result[Retagged, Error]:
            concerned = [each for each in live.entries if old in each.meta.tags]
            if not concerned and old not in before.accepted:
                return Failure(UsageInvalid(f"No note has the tag {old}", "`memory tags` lists those in use."))
            after = before.with_renamed(old, new)
            adopted = self.recorder.adopt_hand_edits(tuple(each.path for each in concerned))
            if isinstance(adopted, Failure):
                self.warn(describe(adopted.failure()))
            return self.vocabulary.put(after).bind(
                lambda path: self._retagged(concerned, after).map(
                    lambda receipt: self._told(old, new, path, receipt, concerned)
                )
            )

        return self.vocabulary.get().bind(lambda before: self.store.list().bind(lambda live: carried_out(before, live)))

    def _retagged(self, concerned: Iterable[Listed], vocabulary: TagVocabulary) -> Result[Receipt, Error]:
        def replaced(stored: StoredEntry) -> Replace:
            # When it was changed says when the knowledge was: a tag is none.
            meta = evolve(stored.meta, tags=vocabulary.current(stored.meta.tags))
            return Replace(MemoryEntry(meta, stored.body), stored.listed.content_hash)

        changes: list[Replace] = []
        for each in concerned:
            found = self.store.read(each.meta.id)
            if isinstance(found, Failure):
                return Failure(found.failure())
            if not _stays(each):
                changes.append(replaced(found.unwrap()))
        return self.store.apply(changes)

    def _told(self, old: str, new: str, path: str, receipt: Receipt, concerned: Iterable[Listed]) -> Retagged:
        notes = tuple(each.id for each in receipt.applied)
        left = tuple(Dropped(each.meta.id, (_stays(each),)) for each in concerned if _stays(each))
        subject = f"tags: rename {old} to {new} ({len(notes)} {'note' if len(notes) == 1 else 'notes'})"
        return self._recorded((path, *receipt.touched), subject, Retagged(old, new, notes, (*receipt.dropped, *left)))

    def _by_a_person(self, act: str) -> Result[None, Error]:
        because = self.caller.variable or self.caller.client
        return Success(None) if because is None else Failure(ActRefused(act, because))

    def _recorded(self, paths: tuple[str, ...], subject: str, done: T) -> T:
        """The same, once git was told; git's trouble fails nothing (P4)."""
        recorded = self.recorder.record(paths, subject)
        if isinstance(recorded, Failure):
            self.warn(describe(recorded.failure()))
        return done


def _stays(listed: Listed) -> str:
    """Why a note is not retagged; empty where it is."""
    if listed.conflicted:
        return "it holds unresolved merge conflicts"
    return "it has no id of its own yet (`memory doctor --fix` gives it one)" if listed.provisional_id else ""


def _all_normal(words: Iterable[str]) -> Result[tuple[str, ...], Error]:
    tags: list[str] = []
    for word in words:
        tag = normal_tag(word)
        if tag is None:
            return Failure(UsageInvalid(f"Nothing of {word!r} can be a tag"))
        tags.append(tag)
    return Success(tuple(tags))
