"""Keeping the tags in order: what `memory tags` does. Every change is on disk before it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, frozen

from agent_memory.domain.change import Dropped, Replace
from agent_memory.domain.entry import Listed, MemoryEntry, UnreadableFile
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.tagging.tag_survey import TagUse, alike, survey_tags, tag_counts
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.text.tags import normal_tag
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import ActRefused, UsageInvalid
from agent_memory.ports import KeptVocabulary, Locks, Recorder, Store
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result, unwrap


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

    @as_result
    def list(self) -> Tags:
        """Every tag in use or accepted. An agent is told of none that only secret notes have."""
        vocabulary, live = unwrap(self.vocabulary.get()), unwrap(self.store.list())
        hidden = Sensitivity.SECRET if self.caller.is_agent else None
        seen = (each.meta.tags for each in live.entries if each.meta.sensitivity is not hidden)
        counts = tag_counts(seen, vocabulary)
        uses = survey_tags(counts, counts, alike(counts), vocabulary)
        return Tags(uses, vocabulary.renamed, live.unreadable)

    @as_result
    def accept(self, tags: Iterable[str]) -> TagVocabulary:
        """Take these into the vocabulary; one commit. UsageInvalid where one of them cannot be a tag."""
        with self.locks.write() as held:
            unwrap(held)
            self._only_a_person("tags accept")
            normal = _all_normal(tags)
            before = unwrap(self.vocabulary.get())
            after = before.with_accepted(normal)
            if after != before:
                new = ", ".join(sorted(after.accepted - before.accepted))
                path = unwrap(self.vocabulary.put(after))
                self.writes.tolerate(self.recorder.record((path,), f"tags: accept {new}"))
            return after

    @as_result
    def rename(self, old: str, new: str) -> Retagged:
        """Give every live note `new` in the place of `old`, now and whenever one is written later; one commit. Conflicted
        notes stay as they are. Where it is cut short, doing it again does the rest."""
        with self.locks.write() as held:
            unwrap(held)
            self._only_a_person("tags rename")
            old, new = _all_normal((old, new))
            renamed = self._renamed(old, new)
        self.writes.show_at_once()
        return renamed

    def _renamed(self, old: str, new: str) -> Retagged:
        if old == new:
            raise UsageInvalid(f"{old} is called that already")
        before = unwrap(self.vocabulary.get())
        concerned = [each for each in unwrap(self.store.list()).entries if old in each.meta.tags]
        if not concerned and old not in before.accepted:
            raise UsageInvalid(f"No note has the tag {old}", "`memory tags` lists those in use.")
        after = before.with_renamed(old, new)
        self.writes.tolerate(self.recorder.adopt_hand_edits(tuple(each.path for each in concerned)))
        path = unwrap(self.vocabulary.put(after))
        changes: list[Replace] = []
        for each in concerned:
            stored = unwrap(self.store.read(each.meta.id))
            if not _stays(each):
                # When it was changed says when the knowledge was: a tag is none.
                meta = evolve(stored.meta, tags=after.current(stored.meta.tags))
                changes.append(Replace(MemoryEntry(meta, stored.body), stored.listed.content_hash))
        receipt = unwrap(self.store.apply(changes))
        notes = tuple(each.id for each in receipt.applied)
        left = tuple(Dropped(each.meta.id, (_stays(each),)) for each in concerned if _stays(each))
        subject = f"tags: rename {old} to {new} ({len(notes)} {'note' if len(notes) == 1 else 'notes'})"
        self.writes.tolerate(self.recorder.record((path, *receipt.touched), subject))
        return Retagged(old, new, notes, (*receipt.dropped, *left))

    def _only_a_person(self, act: str) -> None:
        because = self.caller.variable or self.caller.client
        if because is not None:
            raise ActRefused(act, because)


def _stays(listed: Listed) -> str:
    """Why a note is not retagged; empty where it is."""
    if listed.conflicted:
        return "it holds unresolved merge conflicts"
    return "it has no id of its own yet (`memory doctor --fix` gives it one)" if listed.provisional_id else ""


def _all_normal(words: Iterable[str]) -> tuple[str, ...]:
    tags: list[str] = []
    for word in words:
        tag = normal_tag(word)
        if tag is None:
            raise UsageInvalid(f"Nothing of {word!r} can be a tag")
        tags.append(tag)
    return tuple(tags)
