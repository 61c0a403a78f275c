"""Forgetting, from the first look to the last byte: what goes is decided, noted, and then carried out to the end (P28).

Each step may be the last before a crash. The tombstones come first, so that whatever else happens nothing is learnt
again; then the notes, as one transaction; then what knew of them. The journal says what is left to do, and goes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result

from agent_memory.adapters.disk.paths import exists, real_root, those_there
from agent_memory.adapters.disk.root_files import names_in, remove_file
from agent_memory.adapters.doctor.files import unwritten, walk
from agent_memory.adapters.forgetting.forgetting_files import FORGOTTEN, TombstoneFiles, journal_of, purge_mark_of
from agent_memory.adapters.forgetting.note_traces import (
    NoteFile,
    NoteTraces,
    inbox_traces,
    note_files,
    traces_of_entry,
    traces_of_session,
)
from agent_memory.adapters.forgetting.run_traces import RunTraces, remove_directory_below
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.store.entry_files import read_image, tiers_in
from agent_memory.adapters.store.reversal import without
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.forgetting import (
    MENTION_SHARE,
    EntryTombstone,
    ForgetTarget,
    Forgetting,
    GoneNote,
    Mention,
    SessionKey,
    SessionTombstone,
    SharedNote,
    StateTombstone,
    TraceWords,
    share_held,
    statement_hashes,
    statements_of,
)
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.text.slug import slug_of
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.domain.vocabulary import Harness, Sensitivity
from agent_memory.errors import EntryChanged, EntryNotFound, Error
from agent_memory.formats.bookkeeping_json import ForgettingAtWork
from agent_memory.formats.tiers_json import render_tiers
from agent_memory.ports import Clock, KeptHistories, Locks, Recorder
from agent_memory.results import unwrap

_ATTEMPTS = 5
_MARKS = "state/sessions"
_OLD_GIT = ".git.broken-"
"""Beginning of the names of repositories that could not be read and were moved aside."""


@frozen
class Found:
    """A forgetting with all that carrying it out needs."""

    told: Forgetting
    traces: NoteTraces
    work: ForgettingAtWork
    keys: frozenset[str]
    """Of the inbox's troubles."""


@frozen
class Forgetter:
    """Forgets in one root. The caller holds the run lock, and has finished whatever a crash left half done."""

    root: Path
    histories: KeptHistories
    recorder: Recorder
    locks: Locks
    clock: Clock
    purge: Callable[[], None]
    """Rewrites the git history without what the forgetting at work takes away."""
    publish: Callable[[], object]
    """Brings the managed sections up to date; its trouble is told there."""
    tell: Callable[[Error], None]
    """Is told what did not go wrong enough to fail."""

    # -- looking: all that would go, all that would change, and what states the same -------------------------------------

    def look(self, target: ForgetTarget) -> Found:
        """All that would go; nothing is changed. EntryNotFound for an id of which there is nothing."""
        real, session, marks = self._real, target.session, tuple[str, ...]()
        if session is None:
            id = target.id or ""
            traces, gone = traces_of_entry(real, id), frozenset((id,))
            inbox, keys, _ = inbox_traces(real, None, gone)
            if not (traces.removed or traces.linked) and self._was_forgotten(id):
                # The note went before, and the history may still hold it, or what knew of it.
                begun = journal_of(self.root).read()
                is_left = target.purge or (begun is not None and id in begun.ids)
            else:
                is_left = bool(traces.removed or traces.linked)
            if not is_left:
                raise EntryNotFound(id)
            metas = [file.stored.meta for file in traces.removed if file.stored is not None]
            sources = [source for meta in metas for source in meta.sources] if target.purge else []
            sessions = [(each.harness, each.thread_id) for each in sources if each.thread_id]
        else:
            traces = self._traces_of(session)
            gone = _ids_of(traces.removed) - traces.kept_ids
            inbox, keys, _ = inbox_traces(real, session, gone)
            harnesses = tuple(Harness) if session.harness is None else (session.harness,)
            sessions = [(harness, session.session_id) for harness in harnesses]
            slug = slug_of(session.session_id)
            marks = those_there(real, (f"{_MARKS}/{harness}_{slug}.json" for harness in harnesses))
        stored = [file.stored for file in traces.removed if file.stored is not None]
        lines = {line.text: line for each in stored for line in statements_of(each.meta.title, each.body)}
        titles = frozenset(each.meta.title for each in stored)
        words = TraceWords(gone, None if session is None else session.session_id, titles, tuple(lines.values()))
        touched = _ids_of(traces.removed) | _ids_of(traces.shared)
        # As `kept_histories_files` names what it keeps of a session.
        names = {each: f"{each[0]}_{slug_of(each[1]).replace('.', '~')}" for each in sessions}
        kept = frozenset(each.name for each in unwrap(self.histories.sessions()))
        told = Forgetting(
            target=target,
            at_ms=self.clock.now_ms(),
            notes=_notes_in(traces),
            shared=() if session is None else _shared_in(traces, session),
            linked=traces.linked,
            mentions=self._mentions(traces),
            inbox=inbox,
            runs=RunTraces(self.root, words, touched, session).runs(),
            histories=tuple(each for each, name in names.items() if name in kept),
            marks=marks,
            has_history=exists(f"{real}/.git"),
        )
        work = ForgettingAtWork(
            at_ms=told.at_ms,
            purge=target.purge,
            session_id=words.session_id,
            harness=None if session is None else session.harness,
            ids=gone,
            touched_ids=touched,
            paths=tuple(change.path for change in traces.changes),
            titles=titles,
            statements=tuple(lines),
            runs=told.runs,
            inbox=inbox,
            marks=marks,
            histories=told.histories,
        )
        return Found(told, traces, work, keys)

    def _traces_of(self, session: SessionKey) -> NoteTraces:
        _, _, recorded = inbox_traces(self._real, session, frozenset())
        return traces_of_session(self._real, session, recorded)

    def _was_forgotten(self, id: str) -> bool:
        return is_id(id) and exists(f"{self._real}/{FORGOTTEN}/{id}.json")

    def _mentions(self, traces: NoteTraces) -> tuple[Mention, ...]:
        """Notes that stay and hold most of what a forgotten one states: the likest first. An error where one cannot be looked
        at that may be among them (P6)."""
        gone = {file.path for file in traces.removed}
        forgotten = [statements_of(each.meta.title, each.body) for each in _newest_of_each(traces.removed).values()]
        mentions: dict[str, Mention] = {}
        for file in note_files(self._real) if forgotten else ():
            if file.stored is None or file.path in gone:
                continue
            meta = file.stored.meta
            text = f"{meta.title}\n{meta.description}\n{file.stored.body}"
            share = max(share_held(statements, text) for statements in forgotten)
            known = mentions.get(meta.id)
            if share >= MENTION_SHARE and (known is None or known.percent < 100 * share):
                mentions[meta.id] = Mention(meta.id, _title_of(meta), not file.live, round(100 * share))
        return tuple(sorted(mentions.values(), key=lambda each: (-each.percent, each.archived, each.id)))

    # -- carrying out -------------------------------------------------------------------------------------------------

    def forget_what_was_seen(self, seen: Found) -> Forgetting:
        """Look again, and forget. EntryChanged where there is more of it by now than what was seen; where nothing is left of
        it, since what had been begun before was finished meanwhile, all that was seen is forgotten."""
        try:
            found = self.look(seen.told.target)
        except EntryNotFound:
            if self._was_forgotten(seen.told.target.id or ""):
                return seen.told
            raise
        if not set(found.told.paths) <= set(seen.told.paths):
            raise _changed(found)
        return self.forget(found)

    def forget(self, found: Found) -> Forgetting:
        """Carry it out. EntryChanged, and nothing of any note changed, where somebody keeps changing the same notes."""
        tombstones = TombstoneFiles(self.root)
        at_ms, session = found.told.at_ms, found.told.target.session
        if session is not None:
            unwrap(tombstones.put(SessionTombstone(session.session_id, session.harness, at_ms)))
        newest = _newest_of_each(found.traces.removed)
        for id in found.told.ids:
            stored = newest.get(id)
            said = frozenset[str]() if stored is None else statement_hashes(stored.meta.title, stored.body)
            unwrap(tombstones.put(EntryTombstone(id, at_ms, said)))
        journal_of(self.root).write(found.work)
        self._remove_notes(found)
        self._finish(found.work)
        return found.told

    def purge_state(self, path: str) -> None:
        """Take the file of a state value away, and every version of it out of the git history."""
        at_ms, none = self.clock.now_ms(), frozenset[str]()
        work = ForgettingAtWork(at_ms, True, None, None, none, none, (), none, (), (), (), (path,), ())
        unwrap(TombstoneFiles(self.root).put(StateTombstone(path, at_ms)))
        journal_of(self.root).write(work)
        self._finish(work)

    def resume(self) -> bool:
        """Carry out the rest of a forgetting that a crash interrupted; whether there was one. One that had not come to its
        notes is decided anew: they may have changed."""
        work = journal_of(self.root).read()
        if work is None:
            return False
        target = ForgetTarget(session=work.session, purge=work.purge)
        targets = [target] if work.session is not None else [ForgetTarget(id) for id in sorted(work.ids)]
        for each in targets:
            try:
                left = self.look(each)
            except EntryNotFound:
                continue
            self._remove_notes(left)
        self._finish(work)
        return True

    def _remove_notes(self, found: Found) -> None:
        """The notes' files and the tier list, as one transaction under the write lock; then what troubles them had."""
        session = found.told.target.session
        with self.locks.write() as held:
            unwrap(held)
            transactions = Transactions(self._real)
            transactions.recover()
            for _ in range(_ATTEMPTS):
                if session is None:
                    traces = traces_of_entry(self._real, found.told.target.id or "")
                else:
                    traces = self._traces_of(session)
                if not {file.path for file in traces.removed} <= set(found.told.paths):
                    raise _changed(found)
                if transactions.commit((*traces.changes, *self._tier_change(found.work.ids))):
                    break
            else:
                raise _changed(found)
        unwrap(QueueTroubles(self._real).clear(found.keys))

    def _tier_change(self, ids: frozenset[str]) -> tuple[FileChange, ...]:
        """What becomes of the tier list when these are gone; StateCorrupt for a damaged one, which is not replaced."""
        image = read_image(self._real, TIERS_FILE)
        tiers = None if image is None else tiers_in(self._real, image.data)
        if image is None or tiers is None or (left := without(tiers, ids)) == tiers:
            return ()
        return (FileChange(TIERS_FILE, FileState(image.data), FileState(render_tiers(left))),)

    def _finish(self, work: ForgettingAtWork) -> None:
        """All that comes after the notes; doing any of it twice is harmless."""
        for path in (*work.inbox, *work.marks):
            remove_file(self._real, path)
        for harness, session_id in work.histories:
            unwrap(self.histories.forget(harness, session_id))
        if work.purge:
            purge_mark_of(self.root).write(work.at_ms)
        RunTraces(self.root, work.words, work.touched_ids, work.session).remove(work.runs, work.at_ms)
        remove_directory_below(self._real, ".cache")
        for found in walk(self._real):  # what a killed process left half written may hold it, too
            if not isinstance(found, OSError) and found.is_temporary:
                with unwritten(self._real, found, self.clock.now_ms()) as is_free:
                    if is_free:
                        remove_file(self._real, found.path)
        what = "a session" if work.session is not None else "a note" if work.ids else "a state value"
        recorded: Result[None, Error] = self.recorder.record((*work.paths, TIERS_FILE, *work.marks), f"forget: {what}")
        if isinstance(recorded, Failure):
            self.tell(recorded.failure())  # git is history, not durability (P4): it fails nothing but a purge
        self.publish()
        if work.purge:
            with self.locks.write() as held:
                unwrap(held)
                self.purge()
                for name in names_in(self._real, lambda name: name.startswith(_OLD_GIT)):
                    remove_directory_below(self._real, name)
        journal_of(self.root).remove()

    @property
    def _real(self) -> str:
        return real_root(self.root)


# -- values -----------------------------------------------------------------------------------------------------------


def _changed(found: Found) -> EntryChanged:
    return EntryChanged(found.told.target.id or next(iter(found.told.ids), ""))


def _ids_of(files: Iterable[NoteFile]) -> frozenset[str]:
    return frozenset(file.id for file in files if file.id is not None)


def _newest_of_each(files: Iterable[NoteFile]) -> dict[str, StoredEntry]:
    """Of several files of one entry the live one, else the one that was changed last; by id."""
    newest: dict[str, tuple[tuple[bool, int], StoredEntry]] = {}
    for file in files:
        if file.stored is not None:
            id, age = file.stored.meta.id, (file.live, file.stored.meta.updated_at_ms)
            if id not in newest or age > newest[id][0]:
                newest[id] = (age, file.stored)
    return {id: stored for id, (_, stored) in newest.items()}


def _notes_in(traces: NoteTraces) -> tuple[GoneNote, ...]:
    newest = _newest_of_each(traces.removed)
    paths: dict[str, list[str]] = {}
    for file in traces.removed:
        paths.setdefault(file.id or "", []).append(file.path)
    return tuple(
        GoneNote(
            id=id,
            title=_title_of(newest[id].meta) if id in newest else "(not a readable note)",
            paths=tuple(found),
            stays=id in traces.kept_ids,
            secret=id in newest and newest[id].meta.sensitivity is Sensitivity.SECRET,
        )
        for id, found in paths.items()
    )


def _shared_in(traces: NoteTraces, session: SessionKey) -> tuple[SharedNote, ...]:
    shared: list[SharedNote] = []
    for id, stored in _newest_of_each(traces.shared).items():
        others = [each for each in stored.meta.sources if not session.is_of(each)]
        named = dict.fromkeys(f"{each.harness} {each.thread_id or 'without a session'}" for each in others)
        shared.append(SharedNote(id, _title_of(stored.meta), tuple(named)))
    return tuple(shared)


def _title_of(meta: Meta) -> str:
    return "(secret)" if meta.sensitivity is Sensitivity.SECRET else meta.title
