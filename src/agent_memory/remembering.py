"""To remember a note: stored at once, linked to what is known of its subject, and never twice."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from agent_memory.domain.change import Create, Replace, Retire, Together
from agent_memory.domain.editing import edited_title
from agent_memory.domain.entry import Listed, Listings, MemoryEntry, Meta, Source, StoredEntry
from agent_memory.domain.note_draft import Caller, NoteDraft
from agent_memory.domain.planning.drafts import stored_agent, stored_body, stored_description, stored_tags
from agent_memory.domain.planning.linking import taken_ids
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.similarity.same_subject import Subject
from agent_memory.domain.text.derive import body_hash, derive_description, derive_title
from agent_memory.domain.text.ids import is_id, mint_id
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also, without_see_also_of
from agent_memory.domain.text.tags import tags_in
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Sensitivity, Status
from agent_memory.errors import EntryInvalid, EntryNotFound, EntryProtected
from agent_memory.known_notes import KnownNotes, Near
from agent_memory.ports import Clock, Locks, Store
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result, unwrap


@frozen
class Remembered:
    """A stored note; `existing` when its very body was stored already, and nothing was written."""

    stored: StoredEntry
    similar: tuple[Listed, ...] = ()
    contradicted: tuple[Listed, ...] = ()
    """Those that give another value for the same thing."""
    existing: bool = False
    unresolved: tuple[str, ...] = ()
    """Ids that its text links to and no note bears (P15): they are told, since only the writer knows what was meant."""


@frozen
class Remembering:
    """Stores new notes for one caller."""

    store: Store
    clock: Clock
    caller: Caller
    locks: Locks
    writes: RecordedWrites
    known: KnownNotes

    @as_result
    def remember(self, draft: NoteDraft) -> Remembered:
        """Store a note at once as `captured`. A similar entry is linked; an identical body is not stored twice."""
        remembered = self._remembered(draft)
        self.writes.show_at_once()
        return remembered

    def _remembered(self, draft: NoteDraft) -> Remembered:
        body = stored_body(draft.body)
        if not body.strip():
            raise EntryInvalid(("body: is empty",))
        title = edited_title(draft.title or derive_title(body))
        subject = Subject(title, body, stored_description(draft.description or derive_description(body)), draft.kind)
        # Before the write lock is taken: an index may have to catch up with the files first.
        near = unwrap(self.known.near(subject, draft.scope))
        with self.locks.write() as held:  # or two that remember the same at once both find it new
            unwrap(held)
            return self._stored(
                draft, subject, near, Listings(unwrap(self.store.list()), unwrap(self.store.list(archived=True)))
            )

    def _stored(self, draft: NoteDraft, subject: Subject, near: Near, listed: Listings) -> Remembered:
        replaced = {id: self._replaceable(listed.live.by_id.get(id), id) for id in draft.supersedes}
        left = listed.live.by_id.keys() - replaced.keys()
        similar, compared = (
            tuple(each for each in known if each.meta.id in left) for known in (near.similar, near.compared)
        )
        # An agent that guesses what a secret note says is not to learn that it guessed right (P20).
        linked = append_see_also(subject.body, [each.meta.id for each in similar])
        # Somebody may have stored it just now, with the same links: what is similar was looked for before.
        same = (each for body in (subject.body, linked) for each in listed.live.with_body(body_hash(body)))
        shown = (each for each in same if not (self.caller.is_agent and _is_secret(each)))
        twin = next(shown, None) or _linked_twin(subject.body, similar)
        replaced = {id: each for id, each in replaced.items() if twin is None or id != twin.meta.id}
        taken = taken_ids(listed.live, listed.archive)
        if twin is None:
            entry = MemoryEntry(self._meta(draft, subject, taken), linked)
        else:
            entry = unwrap(self.store.read(twin.meta.id)).entry
        if replaced:
            since_ms = entry.meta.created_at_ms if twin is None else self.clock.now_ms()
            ids = _once(*entry.meta.supersedes, *replaced)
            meta = evolve(entry.meta, supersedes=ids, valid_from_ms=since_ms)
            entry = evolve(entry, meta=meta, body=without_see_also_of(entry.body, replaced))
        if twin is None or replaced:
            stored = Create(entry) if twin is None else Replace(entry, twin.content_hash)
            retired = [Retire(id, each.content_hash, entry.meta.valid_from_ms) for id, each in replaced.items()]
            tiers = self.writes.telling(entry.meta, sorted(replaced))
            change = Together(entry.meta.id, (stored, *retired)) if retired else stored
            self.writes.apply(change, entry.meta.id, f"remember: {entry.meta.title}", tiers)
        new = unwrap(self.store.read(entry.meta.id))
        targets = _once(*(link.target for link in find_links(linked) if is_id(link.target)))
        return Remembered(
            new,
            () if twin else tuple(each.listed for each in similar),
            () if twin else _contradicted(new, compared),
            existing=twin is not None,
            unresolved=() if twin else tuple(target for target in targets if target.casefold() not in taken),
        )

    def _replaceable(self, found: Listed | None, id: str) -> Listed:
        """The note that is to be superseded, as far as this caller may."""
        if found is None or (self.caller.is_agent and _is_secret(found)):
            raise EntryNotFound(id)
        if self.caller.is_agent and found.meta.pinned:
            raise EntryProtected(id, "superseding by an agent", "pinned")
        return found

    def _meta(self, draft: NoteDraft, subject: Subject, taken: frozenset[str]) -> Meta:
        now = self.clock.now_ms()
        here = draft.here or draft.scope
        source = Source(
            self.caller.harness,
            cwd=draft.cwd and redact_path(draft.cwd),
            repo=here if here != GLOBAL_SCOPE else None,
            agent=draft.agent and stored_agent(draft.agent),
        )
        return Meta(
            id=mint_id(subject.title, now, taken),
            title=subject.title,
            description=subject.description,
            kind=draft.kind,
            tags=stored_tags((*draft.tags, *tags_in(subject.body))),
            status=Status.CAPTURED,
            origin=self.caller.origin,
            scope=draft.scope,
            importance=draft.importance,
            sensitivity=draft.sensitivity,
            expires_at_ms=draft.expiry.at_ms,
            created_at_ms=now,
            updated_at_ms=now,
            sources=(source,),
        )


def _once(*ids: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _contradicted(new: StoredEntry, known: Sequence[StoredEntry]) -> tuple[Listed, ...]:
    if not known:
        return ()
    # A command that finds nothing alike needs none of it.
    from agent_memory.domain.analysis.analyze import contradictions_among

    against = {id for each in contradictions_among((new, *known)) if new.meta.id in each.ids for id in each.ids}
    return tuple(each.listed for each in known if each.meta.id in against)


def _is_secret(listed: Listed) -> bool:
    return listed.meta.sensitivity is Sensitivity.SECRET


def _linked_twin(body: str, similar: Sequence[StoredEntry]) -> Listed | None:
    """The similar entry whose body is this one, but for the links that were added when it was stored."""
    wanted = without_see_also(body)
    return next((each.listed for each in similar if without_see_also(each.body) == wanted), None)
