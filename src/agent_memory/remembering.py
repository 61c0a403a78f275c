"""To remember a note: stored at once, linked to what is known of its subject, and never twice."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen
from returns.result import Failure, Result

from agent_memory.domain.change import Create, Retire, Together
from agent_memory.domain.editing import edited_title
from agent_memory.domain.entry import Listed, Listings, MemoryEntry, Meta, Source, StoredEntry
from agent_memory.domain.note_draft import Caller, NoteDraft
from agent_memory.domain.planning.drafts import stored_agent, stored_body, stored_description, stored_tags
from agent_memory.domain.planning.same_body import body_hash
from agent_memory.domain.planning.taken_ids import TakenIds
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.similarity.same_subject import Subject
from agent_memory.domain.text.derive import derive_description, derive_title
from agent_memory.domain.text.ids import is_id, mint_id
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.text.tags import tags_in
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Sensitivity, Status
from agent_memory.errors import EntryInvalid, EntryNotFound, EntryProtected, Error
from agent_memory.known_notes import KnownNotes, Near
from agent_memory.ports import Clock, Locks, Store
from agent_memory.recorded_writes import RecordedWrites


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

    def remember(self, draft: NoteDraft) -> Result[Remembered, Error]:
        """Store a note at once as `captured`. A similar entry is linked; an identical body is not stored twice."""
        body = stored_body(draft.body)
        if not body.strip():
            return Failure(EntryInvalid(("body: is empty",)))
        title = edited_title(draft.title or derive_title(body))
        subject = Subject(title, body, stored_description(draft.description or derive_description(body)), draft.kind)
        # Before the write lock is taken: an index may have to catch up with the files first.
        return self.known.near(subject, draft.scope).bind(lambda near: self._stored(draft, subject, near))

    def _stored(self, draft: NoteDraft, subject: Subject, near: Near) -> Result[Remembered, Error]:
        def stored(listed: Listings) -> Result[Remembered, Error]:
            old = tuple(listed.live.found.by_id.get(id) for id in dict.fromkeys(draft.supersedes))
            refused = _why_not(draft.supersedes, old, self.caller)
            if refused is not None:
                return Failure(refused)
            replaced = [each for each in old if each is not None]
            gone = {each.meta.id for each in replaced}
            left = listed.live.found.by_id.keys() - gone
            similar, compared = (
                tuple(each for each in known if each.meta.id in left) for known in (near.similar, near.compared)
            )
            # An agent that guesses what a secret note says is not to learn that it guessed right (P20).
            linked = append_see_also(subject.body, [each.meta.id for each in similar])
            # Somebody may have stored it just now, with the same links: what is similar was looked for before.
            same = (each for body in (subject.body, linked) for each in listed.live.with_body(body_hash(body)))
            shown = (each for each in same if not (self.caller.is_agent and _is_secret(each)))
            twin = next(shown, None) or _linked_twin(subject.body, similar)
            if twin is not None:
                return self.store.read(twin.meta.id).map(lambda entry: Remembered(entry, existing=True))
            taken = TakenIds(listed)
            meta = self._meta(draft, subject, taken)
            if replaced:
                ids = tuple(each.meta.id for each in replaced)
                meta = evolve(meta, supersedes=ids, valid_from_ms=meta.created_at_ms)
            entry = MemoryEntry(meta, linked)
            retired = (Retire(each.meta.id, each.content_hash, meta.created_at_ms) for each in replaced)
            change = Together(meta.id, (Create(entry), *retired)) if replaced else Create(entry)
            targets = dict.fromkeys(link.target for link in find_links(linked) if is_id(link.target))
            unresolved = tuple(target for target in targets if target.casefold() not in taken)
            return (
                self.writes.apply(
                    change, meta.id, f"remember: {meta.title}", self.writes.telling(meta, sorted(gone)), listed
                )
                .bind(lambda _: self.store.read(meta.id))
                .map(
                    lambda new: Remembered(
                        new,
                        tuple(each.listed for each in similar),
                        _contradicted(new, compared),
                        unresolved=unresolved,
                    )
                )
            )

        with self.locks.write() as held:  # or two that remember the same at once both find it new
            remembered = (
                held.bind(lambda _: self.store.list())
                .bind(lambda live: self.store.list(archived=True).map(lambda archive: Listings(live, archive)))
                .bind(stored)
            )
        return self.writes.shown_at_once(remembered)

    def _meta(self, draft: NoteDraft, subject: Subject, taken: TakenIds) -> Meta:
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


def _why_not(ids: Sequence[str], found: Sequence[Listed | None], caller: Caller) -> Error | None:
    for id, each in zip(dict.fromkeys(ids), found, strict=True):
        if each is None:
            return EntryNotFound(id)
        if caller.is_agent and _is_secret(each):
            return EntryNotFound(id)
        if caller.is_agent and each.meta.pinned:
            return EntryProtected(id, "superseding by an agent", "pinned")
    return None


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
