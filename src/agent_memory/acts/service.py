"""The service: what a person or a program does with single notes. Every change is on disk before it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen
from returns.result import Failure

from agent_memory.caller import Caller
from agent_memory.errors import EntryChanged, EntryInvalid, EntryNotFound, EntryProtected, UsageInvalid
from agent_memory.note.note import (
    GLOBAL_SCOPE,
    Listed,
    Listing,
    MemoryEntry,
    Meta,
    Sensitivity,
    Source,
    Status,
    StoredEntry,
    body_hash,
    reads_of,
    strictest,
)
from agent_memory.note.tagging import TagVocabulary
from agent_memory.ports import Clock
from agent_memory.recall.known_notes import KnownNotes, Near
from agent_memory.redaction.redact import redact_path
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import Change
from agent_memory.rules.drafts import (
    EDITABLE,
    MetaPatch,
    NoteDraft,
    edited_title,
    patched,
    promoted,
    stored_agent,
    stored_body,
    stored_description,
    stored_tags,
    superseding,
    taken_ids,
    trusted_after,
)
from agent_memory.rules.features import digest_of, said_in
from agent_memory.rules.similarity import Subject
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.store_files import Store
from agent_memory.store.usage_ledger import UsageLedger
from agent_memory.text.ids import is_id, mint_id, tags_in
from agent_memory.text.markdown import append_see_also, derive_description, derive_title, find_links

_EMPTY = ("body: is empty (`memory archive` archives a note)",)


@frozen
class Remembered:
    """A stored note; `existing` if the same body was stored already and nothing was written."""

    stored: StoredEntry
    similar: tuple[Listed, ...] = ()
    contradicted: tuple[Listed, ...] = ()
    """Notes that give another value for the same thing."""
    existing: bool = False
    unresolved: tuple[str, ...] = ()
    """Ids in its text that no note has (P15). They are reported, since only the writer knows what was meant."""


@frozen
class MemoryService:
    writes: RecordedWrites
    ledger: UsageLedger
    clock: Clock
    known: Callable[[], KnownNotes]
    """Makes the search for notes about the same subject."""
    vocabulary: Callable[[], TagVocabulary]
    """The vocabulary from which tags get their present names."""
    holds_back: bool
    """Whether what an agent writes is withheld until a person approves it (`review.before`)."""

    @property
    def store(self) -> Store:
        return self.writes.store

    @property
    def caller(self) -> Caller:
        return self.writes.caller

    # -- a new note -----------------------------------------------------------------------------------------------------

    @as_result
    def remember(self, draft: NoteDraft) -> Remembered:
        """Stores a note at once as `captured`. Similar notes are linked; an identical body is not stored twice where the
        first is told."""
        draft = evolve(draft, tags=self._by_present_names(draft.tags))
        body = stored_body(draft.body)
        if not body.strip():
            raise EntryInvalid(("body: is empty",))
        title = edited_title(draft.title or derive_title(body))
        subject = Subject(title, body, stored_description(draft.description or derive_description(body)), draft.kind)
        # Before the write lock is taken, since an index may have to catch up with the files.
        (near,) = unwrap(self.known().near_each([(subject, draft.scope)]))
        with self.writes.act():  # under the lock, or two that remember the same at once would both find it new
            live, archive = unwrap(self.store.listings())
            return self._stored(draft, subject, near, live, archive)

    def _stored(self, draft: NoteDraft, subject: Subject, near: Near, live: Listing, archive: Listing) -> Remembered:
        replaced: dict[str, Listed] = {}
        for id in draft.supersedes:
            found = live.by_id.get(id)
            if found is None or (self.caller.is_agent and found.meta.is_secret):
                raise EntryNotFound(id)
            if self.caller.is_agent and found.meta.pinned:
                raise EntryProtected(id, "superseding by an agent", "pinned")
            replaced[id] = found
        by, scopes, hash = self.caller.origin, (draft.scope, GLOBAL_SCOPE), body_hash(subject.body)
        for each in live.entries:  # the person's word takes the place of a foreign source's
            if each.body_hash == hash and each.meta.is_unheard(by) and each.meta.scope in scopes:
                replaced[each.meta.id] = each
        left = live.by_id.keys() - replaced.keys()
        similar, compared = (
            tuple(each for each in known if each.meta.id in left) for known in (near.similar, near.compared)
        )
        # An agent that guesses the text of a secret note must not learn that it guessed right (P20).
        linked = append_see_also(subject.body, [each.meta.id for each in similar])
        # Somebody may have stored it just now, with the same links: similar notes were looked up before.
        hashes = (hash, body_hash(linked))
        same = (each for one in hashes for each in live.entries if each.body_hash == one)
        told = (each for each in same if each.meta.scope in scopes and not each.meta.is_unheard(by))
        shown = (each for each in told if not (self.caller.is_agent and each.meta.is_secret))
        # The same body, but for its links.
        plain = digest_of(said_in(subject.body))
        alike = (each.listed for each in similar if plain and digest_of(said_in(each.body)) == plain)
        twin = next(shown, None) or next(alike, None)
        replaced = {id: each for id, each in replaced.items() if twin is None or id != twin.meta.id}
        taken = taken_ids(live, archive)
        if twin is None:
            entry = MemoryEntry(self._meta(draft, subject, taken), linked)
        else:
            entry = unwrap(self.store.read(twin.meta.id)).entry
        if replaced:
            since_ms = entry.meta.created_at_ms if twin is None else self.clock.now_ms()
            entry = superseding(entry, replaced, since_ms)
        if twin is None or replaced:
            stored = Change.of(entry, None if twin is None else twin.content_hash)
            retired = [Change.retire(id, each.content_hash, entry.meta.valid_from_ms) for id, each in replaced.items()]
            tiers = self.writes.telling(entry.meta, sorted(replaced))
            self.writes.apply(f"remember: {entry.meta.title}", stored, *retired, tiers=tiers)
        new = unwrap(self.store.read(entry.meta.id))
        targets = dict.fromkeys(link.target for link in find_links(linked) if is_id(link.target))
        return Remembered(
            new,
            () if twin else tuple(each.listed for each in similar),
            () if twin else _contradicted(new, compared),
            existing=twin is not None,
            unresolved=() if twin else tuple(target for target in targets if target.casefold() not in taken),
        )

    def _meta(self, draft: NoteDraft, subject: Subject, taken: frozenset[str]) -> Meta:
        now = self.clock.now_ms()
        here = draft.here or draft.scope
        source = Source(
            self.caller.harness,
            cwd=draft.cwd and redact_path(draft.cwd),
            repo=here if here != GLOBAL_SCOPE else None,
            agent=draft.agent and stored_agent(draft.agent),
            commit=draft.commit,
        )
        return Meta(
            id=mint_id(subject.title, now, taken),
            title=subject.title,
            description=subject.description,
            kind=draft.kind,
            tags=stored_tags((*draft.tags, *tags_in(subject.body))),
            status=Status.CAPTURED,
            origin=self.caller.origin,
            withheld=self.holds_back and self.caller.is_agent,
            scope=draft.scope,
            importance=draft.importance,
            sensitivity=draft.sensitivity,
            expires_at_ms=draft.expiry.at_ms,
            created_at_ms=now,
            updated_at_ms=now,
            sources=(source,),
        )

    def _by_present_names(self, tags: tuple[str, ...]) -> tuple[str, ...]:
        return self.vocabulary().current(stored_tags(tags))

    # -- changes ----------------------------------------------------------------------------------------------------------

    @as_result
    def edit(self, id: str, patch: MetaPatch = MetaPatch(), body: str | None = None) -> StoredEntry:  # noqa: B008 - a frozen value
        """Changes some frontmatter and, unless `body` is None, the text, in one write; the earlier version goes to the
        archive byte for byte. An agent's change makes the note's origin at best `agent`."""
        text = None if body is None else stored_body(body)
        if text is not None and not text.strip():
            raise EntryInvalid(_EMPTY)
        if patch.title is not None and not patch.title.strip():
            raise EntryInvalid(("title: is empty",))
        if patch.tags is not None:
            patch = evolve(patch, tags=self._by_present_names(patch.tags))

        return self._change(id, lambda old: patched(old.entry, patch, old.body if text is None else text), "edit")

    @as_result
    def replace(self, id: str, text: MemoryEntry, expected_hash: str) -> StoredEntry:
        """Changes the text and the `EDITABLE` fields at once, unless the note changed since `expected_hash`.

        EntryInvalid where `text` changes anything else: raising trust has its own commands, and the rest is history.
        """
        return self._change(id, lambda stored: self.edited(stored, text, expected_hash), "edit")

    def edited(self, stored: StoredEntry, text: MemoryEntry, expected_hash: str) -> MemoryEntry:
        """Returns the note with this text and these `EDITABLE` fields. EntryChanged where it is not the note of this hash
        any more; EntryInvalid where `text` changes anything else."""
        from agent_memory.note.note_format import META_FIELDS

        if not text.body.strip():
            raise EntryInvalid(_EMPTY)
        if stored.listed.content_hash != expected_hash:
            raise EntryChanged(stored.meta.id)
        others = [
            f"{field.key}: cannot be changed by editing"
            for field in META_FIELDS
            if field.attribute not in (*EDITABLE, "updated_at_ms")
            and getattr(text.meta, field.attribute) != getattr(stored.meta, field.attribute)
        ]
        if others:
            raise EntryInvalid(tuple(others))
        old, new = stored.meta, text.meta
        patch = MetaPatch(
            title=None if new.title == old.title else new.title,
            description=None if new.description == old.description else new.description,
            tags=self._by_present_names(new.tags),
        )
        meta = evolve(new, title=old.title, description=old.description, updated_at_ms=old.updated_at_ms)
        return patched(MemoryEntry(meta, stored.body), patch, stored_body(text.body))

    @as_result
    def pin(self, id: str) -> StoredEntry:
        """Promotes the note and keeps it hot; the targets show it at once."""
        return self._trust(id, "pin", lambda meta: evolve(promoted(meta), pinned=True))

    @as_result
    def unpin(self, id: str) -> StoredEntry:
        """Removes the pin; the promotion stays."""
        return self._change(id, lambda entry: MemoryEntry(evolve(entry.meta, pinned=False), entry.body), "unpin")

    @as_result
    def promote(self, id: str) -> StoredEntry:
        """Vouches for a note: it may be hot whatever its origin, and is so until defrag decides otherwise."""
        return self._trust(id, "promote", promoted)

    @as_result
    def archive(self, id: str) -> Listed:
        """Moves a live note to the archive; a pinned one only if a person asks. Nothing deletes knowledge."""
        with self.writes.act():  # under the lock, or a tier list that somebody else writes would be lost
            stored = self._mine(id, "archiving")
            if stored.meta.pinned and self.caller.is_agent:
                raise EntryProtected(id, "archiving by an agent", "pinned")
            tiers = self.writes.retiering(lambda tiers: tiers.without({stored.meta.id}))
            change = Change.retire(stored.meta.id, stored.listed.content_hash)
            self.writes.apply(f"archive: {stored.meta.title}", change, tiers=tiers)
            return stored.listed

    @as_result
    def restore(self, id: str) -> StoredEntry:
        """Brings an archived note back to life; a live one gets back its text before the last change of it, whose word that
        was, and the person's promotion. Only for a person, who may have archived or rejected it."""
        self.caller.only_a_person("restore")
        if self.store.read(id).map(lambda live: live.meta.id.casefold() == id.casefold()).value_or(False):
            return self._change(id, self._earlier, "restore")
        with self.writes.act():
            stored = self._mine(id, "restoring", archived=True)
            id, tiers = stored.meta.id, self.writes.telling(stored.meta)
            self.writes.apply(f"restore: {stored.meta.title}", Change.restore(id), tiers=tiers)
            return unwrap(self.store.read(id))

    def _earlier(self, live: StoredEntry) -> MemoryEntry:
        try:
            earlier = unwrap(self.store.read(live.meta.id, archived=True))
        except EntryNotFound as absent:
            raise UsageInvalid(f"{absent.id} is not archived, and has no earlier text") from None
        was = earlier.meta
        meta = evolve(
            live.meta,
            title=was.title,
            description=was.description,
            origin=was.origin,
            sources=was.sources,
            promoted_by=live.meta.promoted_by or was.promoted_by,
        )
        return MemoryEntry(meta, earlier.body)  # changes of anything else leave no version

    def _trust(self, id: str, act: str, change: Callable[[Meta], Meta]) -> StoredEntry:
        self.caller.only_a_person(act)

        def trusted(stored: StoredEntry) -> MemoryEntry:
            if stored.meta.is_secret:
                raise EntryProtected(id, act, "secret")
            return MemoryEntry(change(stored.meta), stored.body)

        return self._change(id, trusted, act, hot=True)

    def _change(
        self, id: str, change: Callable[[StoredEntry], MemoryEntry], act: str, *, hot: bool = False
    ) -> StoredEntry:
        """Writes the note as `change` makes it; with `hot`, as a hot one."""
        with self.writes.act():  # under the lock, or of two at once one would find the note changed
            stored = self._mine(id, act)
            entry = change(stored)
            id, subject = stored.meta.id, f"{act}: {entry.meta.title}"
            tiers = self.writes.retiering(lambda tiers: tiers.with_hot(id)) if hot else None
            if entry == stored.entry:
                if tiers is not None:
                    touched = unwrap(self.store.apply([], tiers=tiers)).touched
                    self.writes.tolerate(self.writes.recorder.record(touched, subject))
                return stored
            new = self.allowed(stored.entry, entry, act)
            self.writes.apply(subject, Change.of(new, stored.listed.content_hash), tiers=tiers)
            return unwrap(self.store.read(id))

    def allowed(self, old: MemoryEntry, new: MemoryEntry, act: str) -> MemoryEntry:
        """Returns the new version as this caller may write it now. EntryProtected where they may not."""
        before, after = old.meta, new.meta
        was, will_be = before.sensitivity, after.sensitivity
        if self.caller.is_agent and before.pinned:
            raise EntryProtected(before.id, f"{act} by an agent", "pinned")
        if self.caller.is_agent and strictest((was, will_be)) != will_be:
            raise EntryProtected(before.id, "a change of its sensitivity by an agent", was.value)
        if after.pinned and will_be is Sensitivity.SECRET:
            raise EntryProtected(before.id, "making it secret", "pinned (run `memory unpin` first)")
        meta = self._with_usage(trusted_after(old, new, self.caller))
        if self.holds_back and self.caller.is_agent and old.texts != new.texts:
            meta = evolve(meta, withheld=True)
        # A clock that was set back, or another machine's, must not make this version look older than the one before (P24).
        return MemoryEntry(evolve(meta, updated_at_ms=max(self.clock.now_ms(), before.updated_at_ms)), new.body)

    def _mine(self, id: str, act: str, *, archived: bool = False) -> StoredEntry:
        """Returns the note, if this caller may act on it: secret notes are not an agent's business."""
        stored = unwrap(self.store.read(id, archived=archived))
        if stored.meta.is_secret and self.caller.is_agent:
            raise EntryProtected(id, f"{act} by an agent", "secret")
        return stored

    def _with_usage(self, meta: Meta) -> Meta:
        totals = self.ledger.totals()
        if isinstance(totals, Failure):
            self.writes.warn(str(totals.failure()))
            return meta
        usage = reads_of(meta, totals.unwrap())
        return evolve(meta, used=usage.count, last_used_at_ms=usage.last_at_ms)


def _contradicted(new: StoredEntry, known: Sequence[StoredEntry]) -> tuple[Listed, ...]:
    if not known:
        return ()
    # A command that finds no similar note needs none of this.
    from agent_memory.rules.analyze import contradictions_among

    against = {id for each in contradictions_among((new, *known)) if new.meta.id in each.ids for id in each.ids}
    return tuple(each.listed for each in known if each.meta.id in against)
