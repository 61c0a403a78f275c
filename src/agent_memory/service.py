"""The service: what a person or a program does with single entries. Every change is on disk before it returns."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen
from returns.result import Failure, Result

from agent_memory.domain.change import Replace, Restore, Retire
from agent_memory.domain.editing import (
    EDITABLE as EDITABLE,
    edited_title,
    kept_description,
    patched,
    promoted,
    trusted_after,
)
from agent_memory.domain.entry import Listed, MemoryEntry, Meta, StoredEntry, reads_of
from agent_memory.domain.note_draft import Caller, MetaPatch, NoteDraft
from agent_memory.domain.planning.drafts import stored_body, stored_description, stored_tags
from agent_memory.domain.section import Published
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.tiering.standing import with_hot, without
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity, strictest
from agent_memory.errors import ActRefused, EntryChanged, EntryInvalid, EntryProtected, Error
from agent_memory.known_notes import KnownNotes
from agent_memory.ports import Clock, Locks, Recorder, Store, UsageLedger
from agent_memory.reading import ListedEntries, ListFilter, ReadEntry, Reading
from agent_memory.recorded_writes import RecordedWrites, published_nowhere
from agent_memory.remembering import Remembered as Remembered, Remembering
from agent_memory.results import as_result, unwrap
from agent_memory.wording import describe

_EMPTY = EntryInvalid(("body: is empty (`memory archive` puts a note away)",))
_UNTITLED = EntryInvalid(("title: is empty",))


@frozen
class MemoryService:
    """Operations on entries over the ports. `warn` is told what did not go wrong enough to fail: trouble with git or with
    a target. `publish` brings the managed sections up to date."""

    store: Store
    ledger: UsageLedger
    recorder: Recorder
    clock: Clock
    caller: Caller
    warn: Callable[[str], None]
    locks: Locks
    publish: Callable[[], Result[Published, Error]] = published_nowhere
    known: Callable[[], KnownNotes] | None = None
    """Makes what finds notes about the same subject; without it the listing does."""
    vocabulary: Callable[[], TagVocabulary] = TagVocabulary
    """By which tags get their present names."""

    @property
    def _writes(self) -> RecordedWrites:
        return RecordedWrites(self.store, self.recorder, self.locks, self.caller, self.warn, self.publish)

    @property
    def reading(self) -> Reading:
        """The same entries, only to be looked at."""
        return Reading(self.store, self.ledger, self.clock, self.caller)

    def list(self, wanted: ListFilter, *, archived: bool = False) -> Result[ListedEntries, Error]:
        """The entries that the filter accepts, last changed first. Counts no read."""
        return self.reading.list(wanted, archived=archived)

    def read(self, id: str, *, archived: bool = False, secret: bool = False) -> Result[ReadEntry, Error]:
        """The whole entry, by id or alias, and one more read in the ledger."""
        return self.reading.read(id, archived=archived, secret=secret)

    def remember(self, draft: NoteDraft) -> Result[Remembered, Error]:
        """Store a note at once as `captured`. A similar entry is linked; an identical body is not stored twice."""
        draft = evolve(draft, tags=self._by_present_names(draft.tags))
        known = self.known() if self.known else KnownNotes(self.store)
        return Remembering(self.store, self.clock, self.caller, self.locks, self._writes, known).remember(draft)

    def update_meta(self, id: str, patch: MetaPatch) -> Result[StoredEntry, Error]:
        """Change some frontmatter. An agent's change makes the entry's origin at best `agent`."""
        return self.edit(id, patch, None)

    def update_body(self, id: str, body: str) -> Result[StoredEntry, Error]:
        """Change the text; the earlier version goes to the archive byte for byte."""
        return self.edit(id, MetaPatch(), body)

    def edit(self, id: str, patch: MetaPatch, body: str | None) -> Result[StoredEntry, Error]:
        """Change some frontmatter and, unless `body` is None, the text, in one write."""
        text = None if body is None else stored_body(body)
        if text is not None and not text.strip():
            return Failure(_EMPTY)
        if patch.title is not None and not patch.title.strip():
            return Failure(_UNTITLED)
        if patch.tags is not None:
            patch = evolve(patch, tags=self._by_present_names(patch.tags))

        def edited(stored: StoredEntry) -> MemoryEntry:
            meta, said = patched(stored.meta, patch), stored.body if text is None else text
            if patch.description is None:
                meta = evolve(meta, description=kept_description(stored.entry, said))
            return MemoryEntry(meta, said)

        return self._change(id, edited, "edit")

    def replace(self, id: str, text: MemoryEntry, expected_hash: str) -> Result[StoredEntry, Error]:
        """Change the text and what `EDITABLE` names at once, unless the entry changed since `expected_hash`.

        EntryInvalid where `text` changes anything else: what raises trust has its own commands, and the rest is history.
        """
        if not text.body.strip():
            return Failure(_EMPTY)

        def edited(stored: StoredEntry) -> MemoryEntry:
            if stored.listed.content_hash != expected_hash:
                raise EntryChanged(id)
            others = _other_keys_changed(stored.meta, text.meta)
            if others:
                raise EntryInvalid(tuple(f"{key}: is not changed by editing" for key in others))
            meta = evolve(stored.meta, **{name: getattr(text.meta, name) for name in EDITABLE})
            body = stored_body(text.body)
            is_described = meta.description != stored.meta.description
            described = stored_description(meta.description) if is_described else kept_description(stored.entry, body)
            tags = self._by_present_names(meta.tags)
            return MemoryEntry(evolve(meta, title=edited_title(meta.title), description=described, tags=tags), body)

        return self._change(id, edited, "edit")

    def pin(self, id: str) -> Result[StoredEntry, Error]:
        """Promote the entry and keep it hot; the targets show it at once."""
        return self._trusting(id, "pin", lambda meta: evolve(promoted(meta), pinned=True))

    def unpin(self, id: str) -> Result[StoredEntry, Error]:
        """Take the pin off; the promotion stays."""
        return self._change(id, lambda entry: MemoryEntry(evolve(entry.meta, pinned=False), entry.body), "unpin")

    def promote(self, id: str) -> Result[StoredEntry, Error]:
        """Vouch for an entry: it may be hot whatever its origin, and is so until defrag decides otherwise."""
        return self._trusting(id, "promote", promoted)

    @as_result
    def archive(self, id: str) -> Listed:
        """Move a live entry to the archive. A pinned one only at a person's word."""
        with self.locks.write() as held:  # or a tier list that somebody else writes would be lost
            unwrap(held)
            stored = self._mine(id, "archiving")
            if stored.meta.pinned and self.caller.is_agent:
                raise EntryProtected(id, "archiving by an agent", "pinned")
            tiers = self._writes.retiering(lambda tiers: without(tiers, stored.meta.id))
            change = Retire(stored.meta.id, stored.listed.content_hash)
            self._writes.apply(change, stored.meta.id, f"archive: {stored.meta.title}", tiers)
        self._writes.show_at_once()
        return stored.listed

    def remove(self, id: str) -> Result[Listed, Error]:
        """Like `archive`: nothing that a program asks for deletes knowledge."""
        return self.archive(id)

    @as_result
    def restore(self, id: str) -> StoredEntry:
        """Bring an archived entry back to life. What comes before agents only at a person's word is a person's to bring back
        (P19): to archive it was to take that word back."""
        with self.locks.write() as held:  # or a tier list that somebody else writes would be lost
            unwrap(held)
            stored = self._mine(id, "restoring", archived=True)
            if self.caller.is_agent and stored.meta.promoted_by is not None and _needs_vouching(stored.entry):
                raise EntryProtected(stored.meta.id, "restoring by an agent", "promoted")
            self._writes.apply(Restore(id), id, f"restore: {stored.meta.title}", self._writes.telling(stored.meta))
            live = unwrap(self.store.read(id))
        self._writes.show_at_once()
        return live

    def _by_present_names(self, tags: tuple[str, ...]) -> tuple[str, ...]:
        return self.vocabulary().current(stored_tags(tags))

    # -- writing ------------------------------------------------------------------------------------------------------

    def _trusting(self, id: str, act: str, change: Callable[[Meta], Meta]) -> Result[StoredEntry, Error]:
        if self.caller.variable is not None:
            return Failure(ActRefused(act, self.caller.variable))

        def trusted(stored: StoredEntry) -> MemoryEntry:
            if stored.meta.sensitivity is Sensitivity.SECRET:
                raise EntryProtected(id, act, "secret")
            return MemoryEntry(change(stored.meta), stored.body)

        return self._change(id, trusted, act, hot=True)

    @as_result
    def _change(
        self, id: str, change: Callable[[StoredEntry], MemoryEntry], act: str, *, hot: bool = False
    ) -> StoredEntry:
        """Write the entry as `change` makes it, with `hot` as a hot one; the targets show it at once."""
        with self.locks.write() as held:  # or of two at once one would find the entry changed
            unwrap(held)
            stored = self._mine(id, act)
            entry = change(stored)
            tiers = self._writes.retiering(lambda tiers: with_hot(tiers, stored.meta.id)) if hot else None
            changed = self._changed(stored, entry, act, tiers)
        self._writes.show_at_once()
        return changed

    def _changed(self, stored: StoredEntry, entry: MemoryEntry, act: str, tiers: TierList | None) -> StoredEntry:
        id, subject = stored.meta.id, f"{act}: {entry.meta.title}"
        if entry == stored.entry:
            self._writes.retiered(tiers, subject)
            return stored
        before, after = stored.meta.sensitivity, entry.meta.sensitivity
        if self.caller.is_agent and stored.meta.pinned:
            raise EntryProtected(id, f"{act} by an agent", "pinned")
        if self.caller.is_agent and strictest((before, after)) != after:
            raise EntryProtected(id, "an agent's change of its sensitivity", before.value)
        if entry.meta.pinned and after is Sensitivity.SECRET:
            raise EntryProtected(id, "a secret", "pinned, and `memory unpin` comes first")
        meta = self._with_usage(trusted_after(stored.entry, entry, self.caller))
        new = MemoryEntry(evolve(meta, updated_at_ms=self.clock.now_ms()), entry.body)
        self._writes.apply(Replace(new, stored.listed.content_hash), new.meta.id, subject, tiers)
        return unwrap(self.store.read(new.meta.id))

    def _mine(self, id: str, act: str, *, archived: bool = False) -> StoredEntry:
        """The entry, if this caller may act on it: what is secret is none of an agent's business."""
        stored = unwrap(self.store.read(id, archived=archived))
        if stored.meta.sensitivity is Sensitivity.SECRET and self.caller.is_agent:
            raise EntryProtected(id, f"{act} by an agent", "secret")
        return stored

    def _with_usage(self, meta: Meta) -> Meta:
        """The frontmatter with a fresh copy of what the ledgers say of the entry."""
        totals = self.ledger.totals()
        if isinstance(totals, Failure):
            self.warn(describe(totals.failure()))
            return meta
        usage = reads_of(meta, totals.unwrap())
        return evolve(meta, used=usage.count, last_used_at_ms=usage.last_at_ms)


def _needs_vouching(entry: MemoryEntry) -> bool:
    from agent_memory.domain.tiering.eligibility import needs_vouching  # what tells an order is loaded for few acts

    return needs_vouching(entry)


def _other_keys_changed(before: Meta, after: Meta) -> list[str]:
    """The frontmatter keys, apart from those that editing may change, with another value."""
    from agent_memory.formats.meta_fields import META_FIELDS

    fixed = (field for field in META_FIELDS if field.attribute not in (*EDITABLE, "updated_at_ms"))
    return [field.key for field in fixed if getattr(after, field.attribute) != getattr(before, field.attribute)]
