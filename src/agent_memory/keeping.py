"""Tags and state kept in order: what `memory tags`, `memory state` and the state tools of MCP do. Every change is on disk before
it returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Dropped
from agent_memory.domain.entry import Listed, StateValue, UnreadableFile, key_problem
from agent_memory.domain.tagging import VOCABULARY_KEY, TagUse, TagVocabulary, alike, survey_tags, tag_counts
from agent_memory.domain.text.file_name import DEFAULT_PREFIX, normal_tag
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error, StateInvalid, StateNotFound, UsageInvalid
from agent_memory.formats.bookkeeping_json import state_value
from agent_memory.ports import Clock
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result, unwrap

# -- tags -----------------------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    from agent_memory.adapters.records.bookkeeping_files import StateKeysFiles, TagVocabularyFile


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

    writes: RecordedWrites
    vocabulary: TagVocabularyFile

    @as_result
    def list(self) -> Tags:
        """Every tag in use or accepted. An agent is told of none that only secret notes have."""
        vocabulary, live = unwrap(self.vocabulary.get()), unwrap(self.writes.store.list())
        hidden = Sensitivity.SECRET if self.writes.caller.is_agent else None
        seen = (each.meta.tags for each in live.entries if each.meta.sensitivity is not hidden)
        counts = tag_counts(seen, vocabulary)
        uses = survey_tags(counts, counts, alike(counts), vocabulary)
        return Tags(uses, vocabulary.renamed, live.unreadable)

    @as_result
    def accept(self, tags: Iterable[str]) -> TagVocabulary:
        """Take these into the vocabulary; one commit. UsageInvalid where one of them cannot be a tag."""
        with self.writes.locked():
            self.writes.caller.only_a_person("tags accept")
            normal = _all_normal(tags)
            before = unwrap(self.vocabulary.get())
            after = before.with_accepted(normal)
            if after != before:
                new = ", ".join(sorted(after.accepted - before.accepted))
                path = unwrap(self.vocabulary.put(after))
                self.writes.tolerate(self.writes.recorder.record((path,), f"tags: accept {new}"))
            return after

    @as_result
    def rename(self, old: str, new: str) -> Retagged:
        """Give every live note `new` in the place of `old`, now and whenever one is written later; one commit. Conflicted
        notes stay as they are. Where it is cut short, doing it again does the rest."""
        writes = self.writes
        with writes.act():
            self.writes.caller.only_a_person("tags rename")
            old, new = _all_normal((old, new))
            if old == new:
                raise UsageInvalid(f"{old} is called that already")
            before = unwrap(self.vocabulary.get())
            concerned = [each for each in unwrap(writes.store.list()).entries if old in each.meta.tags]
            if not concerned and old not in before.accepted:
                raise UsageInvalid(f"No note has the tag {old}", "`memory tags` lists those in use.")
            after = before.with_renamed(old, new)
            writes.tolerate(writes.recorder.adopt_hand_edits(tuple(each.path for each in concerned)))
            path = unwrap(self.vocabulary.put(after))
            moving = (each for each in concerned if not _stays(each))
            receipt = writes.rewrite(moving, lambda meta: evolve(meta, tags=after.current(meta.tags)))
            notes = tuple(each.id for each in receipt.applied)
            left = tuple(Dropped(each.meta.id, (_stays(each),)) for each in concerned if _stays(each))
            subject = f"tags: rename {old} to {new} ({len(notes)} {'note' if len(notes) == 1 else 'notes'})"
            writes.tolerate(writes.recorder.record((path, *receipt.touched), subject))
            return Retagged(old, new, notes, (*receipt.dropped, *left))


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


# -- state ----------------------------------------------------------------------------------------------------------------


@frozen
class KeptState:
    """What `list` found, by key, and why the rest could not be read."""

    values: tuple[StateValue, ...]
    unreadable: tuple[Error, ...] = ()


@frozen
class StateKeeping:
    """Small values by key, on behalf of a caller."""

    writes: RecordedWrites
    keys: StateKeysFiles
    clock: Clock
    vocabulary: Callable[[], Result[TagVocabulary, Error]] = lambda: Success(TagVocabulary())
    """The tags that a person has accepted."""

    @as_result
    def get(self, key: str) -> StateValue | None:
        """What is kept under the key; None for nothing. Where nobody has kept anything under `project_tags`, where agents look
        for the tags of a project, it is the vocabulary of tags."""
        kept = self._kept(key)
        if kept is not None or key != VOCABULARY_KEY:
            return kept
        accepted = unwrap(self.vocabulary()).accepted
        tags = sorted(tag.removeprefix(f"{DEFAULT_PREFIX}__") for tag in accepted)
        return StateValue(VOCABULARY_KEY, json.dumps({"vocabulary": tags})) if tags else None

    def list(self) -> KeptState:
        """Everything there is, by key."""
        found = list(self.keys.all())
        values = sorted((each.unwrap() for each in found if isinstance(each, Success)), key=lambda value: value.key)
        return KeptState(tuple(values), tuple(each.failure() for each in found if isinstance(each, Failure)))

    @as_result
    def set(self, key: str, value: object) -> StateValue:
        """Keep any JSON value under the key, in the place of what was there; one commit. Of two at once the last wins."""
        with self.writes.locked():
            new = unwrap(state_value(key, value, self.clock.now_ms()))
            self._record(unwrap(self.keys.put(new)), f"state: set {key}")
            return new

    @as_result
    def delete(self, key: str) -> StateValue:
        """Take the key away; git keeps what was there. What was there."""
        with self.writes.locked():
            value = self._kept(key)
            if value is None:
                raise StateNotFound(key)
            self._record(unwrap(self.keys.delete(key)), f"state: delete {key}")
            return value

    def _kept(self, key: str) -> StateValue | None:
        problem = key_problem(key)
        if problem is not None:
            raise StateInvalid((problem,))
        return unwrap(self.keys.get(key))

    def _record(self, path: str, subject: str) -> None:
        self.writes.tolerate(self.writes.recorder.record((path,), subject, self.writes.caller.signature))
