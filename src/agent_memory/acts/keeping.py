"""Keeps tags, state and scopes in order: what `memory tags`, `memory state`, `memory scope` and the state tools of MCP
do, and how notes follow a repository that comes back under another key. Every change is on disk before it returns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen
from returns.result import Failure, Success

from agent_memory.capture.places import UNKNOWN, KnownPlace, KnownPlaces, redacted_scope, root_commit_of, unborn_mark
from agent_memory.capture.repository import Repository, scope_there, stated_scope
from agent_memory.care.checks import ScopeUse
from agent_memory.errors import Error, StateInvalid, StateNotFound, UsageInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Listed, Listing, Sensitivity, UnreadableFile
from agent_memory.note.tagging import VOCABULARY_KEY, TagUse, TagVocabulary, alike, survey_tags, tag_counts
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import Dropped
from agent_memory.rules.run_log import short_id
from agent_memory.store.bookkeeping import StateKeysFiles, StateValue, TagVocabularyFile, key_problem, state_value
from agent_memory.store.recorded_writes import ActRuns, RecordedWrites
from agent_memory.text.ids import DEFAULT_PREFIX, normal_tag
from agent_memory.text.plain_text import counted

# -- tags -----------------------------------------------------------------------------------------------------------------


_CONFLICTED = "it holds unresolved merge conflicts"


@frozen
class Tags:
    uses: tuple[TagUse, ...]
    renamed: Mapping[str, str]
    """The present name of a tag, by its earlier name."""
    unreadable: tuple[UnreadableFile, ...] = ()
    """Notes whose tags are unknown (P6)."""


@frozen
class Renamed:
    """What became of the notes that had a tag or a scope, now that it has another name."""

    old: str
    new: str
    notes: tuple[str, ...] = ()
    """The ids of those that were changed."""
    left: tuple[Dropped, ...] = ()
    """Those that stay as they are, and why."""
    run_id: str = ""
    """The run, if there was one."""


@frozen
class TagKeeping:
    """Tags on behalf of a caller. Only a person accepts and renames tags: all notes and all agents go by them."""

    writes: RecordedWrites
    vocabulary: TagVocabularyFile

    @as_result
    def list(self) -> Tags:
        """Returns every tag in use or accepted. An agent does not learn of tags that only secret notes have."""
        vocabulary, live = unwrap(self.vocabulary.get()), unwrap(self.writes.store.list())
        hidden = Sensitivity.SECRET if self.writes.caller.is_agent else None
        seen = (each.meta.tags for each in live.entries if each.meta.sensitivity is not hidden)
        counts = tag_counts(seen, vocabulary)
        uses = survey_tags(counts, counts, alike(counts), vocabulary)
        return Tags(uses, vocabulary.renamed, live.unreadable)

    @as_result
    def accept(self, tags: Iterable[str]) -> TagVocabulary:
        """Takes these into the vocabulary, in one commit. UsageInvalid where one of them cannot be a tag."""
        with self.writes.locks.write():
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
    def rename(self, old: str, new: str) -> Renamed:
        """Gives every live note `new` instead of `old`, now and whenever one is written later, in one commit.
        Conflicted notes stay as they are. If it is interrupted, running it again does the rest."""
        writes = self.writes
        with writes.act():
            self.writes.caller.only_a_person("tags rename")
            old, new = _all_normal((old, new))
            if old == new:
                raise UsageInvalid(f"{old} already has that name")
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
            subject = f"tags: rename {old} to {new} ({counted(len(notes), 'note')})"
            writes.tolerate(writes.recorder.record((path, *receipt.touched), subject))
            return Renamed(old, new, notes, (*receipt.dropped, *left))


def _stays(listed: Listed) -> str:
    """Returns the reason why a note is not retagged; empty if it is."""
    if listed.conflicted:
        return _CONFLICTED
    return "it has no id of its own yet (`memory doctor --fix` gives it one)" if listed.provisional_id else ""


def _all_normal(words: Iterable[str]) -> tuple[str, ...]:
    tags: list[str] = []
    for word in words:
        tag = normal_tag(word)
        if tag is None:
            raise UsageInvalid(f"{word!r} cannot be a tag")
        tags.append(tag)
    return tuple(tags)


# -- state ----------------------------------------------------------------------------------------------------------------


@frozen
class KeptState:
    """The values that `list` found, by key, and why the rest could not be read."""

    values: tuple[StateValue, ...]
    unreadable: tuple[Error, ...] = ()


@frozen
class StateKeeping:
    writes: RecordedWrites
    keys: StateKeysFiles
    clock: Clock
    vocabulary: TagVocabularyFile

    @as_result
    def get(self, key: str) -> StateValue | None:
        """Returns the value kept under the key; None if there is none. `project_tags`, where agents look for the tags
        of a project, is the vocabulary of tags unless somebody set it."""
        kept = self._kept(key)
        if kept is not None or key != VOCABULARY_KEY:
            return kept
        accepted = unwrap(self.vocabulary.get()).accepted
        tags = sorted(tag.removeprefix(f"{DEFAULT_PREFIX}__") for tag in accepted)
        return StateValue(VOCABULARY_KEY, json.dumps({"vocabulary": tags})) if tags else None

    def list(self) -> KeptState:
        found = list(self.keys.all())
        values = sorted((each.unwrap() for each in found if isinstance(each, Success)), key=lambda value: value.key)
        return KeptState(tuple(values), tuple(each.failure() for each in found if isinstance(each, Failure)))

    @as_result
    def set(self, key: str, value: object) -> StateValue:
        """Keeps any JSON value under the key, replacing the present one, in one commit. Of two at once the last wins."""
        with self.writes.locks.write():
            new = unwrap(state_value(key, value, self.clock.now_ms()))
            self._record(unwrap(self.keys.put(new)), f"state: set {key}")
            return new

    @as_result
    def delete(self, key: str) -> StateValue:
        """Removes the key and returns its value; git keeps it."""
        with self.writes.locks.write():
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


# -- scopes ------------------------------------------------------------------------------------------------------------


@frozen
class ScopeKeeping:
    runs: ActRuns
    environ: Mapping[str, str]
    known: KnownPlaces

    @property
    def writes(self) -> RecordedWrites:
        return self.runs.writes

    @as_result
    def list(self) -> tuple[ScopeUse, ...]:
        """Returns the scopes of live notes, those with most notes first."""
        counts = Counter([each.meta.scope for each in unwrap(self.writes.store.list()).entries])
        places = tuple(self.known.all())
        uses: list[ScopeUse] = []
        for scope, count in counts.most_common():
            had = [each for each in places if redacted_scope(each.scope) == scope]
            is_path = scope.startswith("path:")
            if is_path:
                there = scope_there(scope.removeprefix("path:"), self.environ)
                is_gone = there is not None and redacted_scope(there) != scope and "[redacted" not in scope
            else:
                is_gone = bool(had) and not any(map(self._is_there, had))
            roots = {each.root_commit for each in had if _is_known(each)}
            same = (
                each.scope for each in places if each.root_commit in roots and each not in had and self._is_there(each)
            )
            now = next(same, None) if is_gone else None
            # A repository with a remote does not miss anything because it is not on this disk just now.
            uses.append(ScopeUse(scope, count, is_gone and (is_path or now is not None), now))
        return tuple(uses)

    @as_result
    def rename(self, old: str, new: str, *, merge: bool = False) -> Renamed:
        """Moves the live notes of one scope to another, as one run. UsageInvalid where there are none, where the other is
        no scope, and, unless they are to be merged, where it has notes already."""
        if (stated := stated_scope(new)) is None:
            raise UsageInvalid(f"{new[:80]!r} is not a scope", "`memory scope list` shows what there is.")
        old, new = stated_scope(old) or old, stated
        with self.writes.locks.write():
            live = unwrap(self.writes.store.list())
            scopes = Counter([each.meta.scope for each in live.entries])
            if old == new or not scopes[old]:
                raise UsageInvalid(f"No note has the scope {old}", "`memory scope list` shows those in use.")
            if scopes[new] and not merge:
                hint = f"`memory scope merge` adds the {counted(scopes[old], 'note')} of {old}."
                raise UsageInvalid(f"{new} has notes of its own", hint)
            moved = self._moved(live, (old,), new)
        self.runs.show(moved.run_id)
        return moved

    def arrive(self, repository: Repository) -> None:
        """Records where a repository is. Notes that it had under an earlier key follow it, and the caller is told; so
        is any trouble, in which case the next command there tries again."""
        common = repository.common
        if common is None:
            return
        before, scope = self.known.at(common), redacted_scope(repository.scope)
        here = KnownPlace(common, repository.scope, root_commit_of(common, repository.commit))
        places = tuple(self.known.all())
        try:
            with self.writes.locks.write():
                live = unwrap(self.writes.store.list())
                used = {*[each.meta.scope for each in live.entries], *(redacted_scope(each.scope) for each in places)}
                others = sorted(used - {scope, GLOBAL_SCOPE})
                olds = [old for old in others if self._is_same(old, here, repository.top, before, places)]
                moved = self._moved(live, olds, scope)
        except Error as error:
            self.writes.warn(str(error))
            return
        if count := len(moved.notes):
            self.writes.warn(
                f"This place was known as {moved.old}: {counted(count, 'note')} followed. "
                f"`memory undo {short_id(moved.run_id)}` takes that back."
            )
        self.known.put(here)

    # -- the same place? ----------------------------------------------------------------------------------------------

    def _is_same(
        self, old: str, here: KnownPlace, top: str, before: KnownPlace | None, places: Sequence[KnownPlace]
    ) -> bool:
        """Returns whether a scope was that of the repository that is here. One that is still elsewhere is a different
        one (forks, templates); one that had a remote is followed only by the very directory that had it."""
        is_other = (
            before is not None
            and _is_known(before)
            and _is_known(here)
            and before.root_commit not in (here.root_commit, unborn_mark(here.common))
        )
        if old in (redacted_scope(f"path:{here.common}"), redacted_scope(f"path:{top}")):
            return not is_other
        had = [each for each in places if redacted_scope(each.scope) == old]
        if any(each.common != here.common and self._is_there(each) for each in had):
            return False
        if old.startswith("path:"):
            # It may have got its first commit since.
            return any(
                each.root_commit in (here.root_commit, unborn_mark(here.common)) for each in had if _is_known(each)
            )
        return before is not None and redacted_scope(before.scope) == old and not is_other

    def _is_there(self, place: KnownPlace) -> bool:
        """Returns whether the repository is where it was, unchanged; also if that cannot be told (P6)."""
        return scope_there(place.common, self.environ) in (None, place.scope)

    def _moved(self, live: Listing, olds: Sequence[str], new: str) -> Renamed:
        for each in tuple(self.known.all()):
            # A session that took place there, and is read only now, belongs to the new scope as well.
            if redacted_scope(each.scope) in olds and not self._is_there(each):
                self.known.put(KnownPlace(each.common, new, each.root_commit))
        named = ", ".join(olds)
        concerned = [each for each in live.entries if each.meta.scope in olds]
        if not concerned:
            return Renamed(named, new)
        left = [Dropped(each.meta.id, (_CONFLICTED,)) for each in concerned if each.conflicted]
        writes = self.writes
        writes.tolerate(writes.recorder.adopt_hand_edits(tuple(each.path for each in concerned)))
        now_ms = self.runs.clock.now_ms()
        run_id = self.runs.new_id(now_ms)
        moving = (each for each in concerned if not each.conflicted)
        receipt = writes.rewrite(moving, lambda meta: evolve(meta, scope=new), run_id)
        notes = tuple(each.id for each in receipt.applied)
        summary = f"{named} is {new} now ({counted(len(notes), 'note')})"
        self.runs.report("scope", run_id, now_ms, summary, receipt)
        return Renamed(named, new, notes, (*receipt.dropped, *left), run_id)


def _is_known(place: KnownPlace) -> bool:
    return place.root_commit not in ("", UNKNOWN)
