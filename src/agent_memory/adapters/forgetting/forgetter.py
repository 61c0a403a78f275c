"""Forgetting, from the first look to the last byte: what goes is decided, noted, and then carried out to the end (P28).

Each step may be the last before a crash. The tombstones come first, so that whatever else happens nothing is learnt
again; then the notes, as one transaction; then what knew of them. The journal says what is left to do, and goes last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import drop_file
from agent_memory.adapters.disk.listed_names import listed_names
from agent_memory.adapters.disk.paths import FileImage, real_root
from agent_memory.adapters.forgetting.forgetting_files import ForgettingFiles
from agent_memory.adapters.forgetting.forgetting_look import ForgettingLook, Found, newest_of_each, was_forgotten
from agent_memory.adapters.forgetting.inbox_traces import inbox_of_session
from agent_memory.adapters.forgetting.note_traces import NoteTraces, traces_of_entry, traces_of_session
from agent_memory.adapters.forgetting.run_traces import RunTraces, remove_directory_below
from agent_memory.adapters.forgetting.tombstone_files import TombstoneFiles
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.store.entry_files import read_image
from agent_memory.adapters.store.tier_file import tiers_in
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
from agent_memory.domain.forgetting.statements import statement_hashes
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.forgetting.trace_words import TraceWords
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryChanged, EntryNotFound, Error
from agent_memory.formats.forgetting_json import ForgettingAtWork
from agent_memory.formats.tiers_json import render_tiers
from agent_memory.ports import Clock, KeptHistories, Locks, Recorder
from agent_memory.results import sealed

_ATTEMPTS = 5
_CACHE = ".cache"
_OLD_GIT = ".git.broken-"
"""Beginning of the names of repositories that could not be read and were moved aside."""


@frozen
class Forgetter:
    """Forgets in one root. The caller holds the run lock, and has finished whatever a crash left half done."""

    root: Path
    histories: KeptHistories
    recorder: Recorder
    locks: Locks
    clock: Clock
    purge: Callable[[ForgettingAtWork], Result[None, Error]]
    """Rewrites the git history."""
    publish: Callable[[], object]
    """Brings the managed sections up to date; its trouble is told there."""
    tell: Callable[[Error], None]
    """Is told what did not go wrong enough to fail."""

    def look(self, target: ForgetTarget) -> Result[Found, Error]:
        """All that would go. EntryNotFound for an id of which there is nothing."""
        return ForgettingLook(self.root, self.histories, self.clock).look(target)

    def forget_what_was_seen(self, seen: Found) -> Result[Forgetting, Error]:
        """Look again, and forget. EntryChanged where there is more of it by now than what was seen; where nothing is left of
        it, since what had been begun before was finished meanwhile, all that was seen is forgotten."""

        def still_so(found: Found) -> Result[Forgetting, Error]:
            if set(found.told.paths) <= set(seen.told.paths):
                return self.forget(found)
            return Failure(EntryChanged(found.told.target.id or next(iter(found.told.ids), "")))

        match sealed(self.look(seen.told.target)):
            case Failure(EntryNotFound() as missing):
                gone = was_forgotten(self._real, seen.told.target.id or "")
                return gone.bind(lambda is_gone: Success(seen.told) if is_gone else Failure(missing))
            case Failure(error):
                return Failure(error)
            case Success(found):
                return still_so(found)

    def forget(self, found: Found) -> Result[Forgetting, Error]:
        """Carry it out. EntryChanged, and nothing of any note changed, where somebody keeps changing the same notes."""
        return (
            self._entomb(found)
            .bind(lambda _: ForgettingFiles(self.root).begin(found.work))
            .bind(lambda _: self._without_notes_and_troubles(found))
            .bind(lambda _: self._finish(found.work))
            .map(lambda _: found.told)
        )

    def purge_state(self, path: str) -> Result[None, Error]:
        """Take the file of a state value away, and every version of it out of the git history."""
        work = ForgettingAtWork(self.clock.now_ms(), purge=True, words=TraceWords(), marks=(path,))
        entombed = TombstoneFiles(self.root).put(StateTombstone(path, work.at_ms))
        return entombed.bind(lambda _: ForgettingFiles(self.root).begin(work)).bind(lambda _: self._finish(work))

    def resume(self) -> Result[bool, Error]:
        """Carry out the rest of a forgetting that a crash interrupted; whether there was one. One that had not come to its
        notes is decided anew: they may have changed."""
        journal = ForgettingFiles(self.root)

        def resumed(work: ForgettingAtWork | None) -> Result[bool, Error]:
            if work is None:
                return Success(False)
            target = ForgetTarget(session=work.session, purge=work.purge)
            targets = [target] if work.session is not None else [ForgetTarget(id) for id in sorted(work.words.ids)]
            for each in targets:
                match sealed(self.look(each)):
                    case Failure(EntryNotFound()):
                        continue
                    case Failure(error):
                        return Failure(error)
                    case Success(left):
                        done = self._without_notes_and_troubles(left)
                        if isinstance(done, Failure):
                            return done
            return self._finish(work).map(lambda _: True)

        return journal.at_work().bind(resumed)

    def _entomb(self, found: Found) -> Result[None, Error]:
        tombstones = TombstoneFiles(self.root)
        at_ms, session = found.told.at_ms, found.told.target.session
        if session is not None:
            put = tombstones.put(SessionTombstone(session.session_id, session.harness, at_ms))
            if isinstance(put, Failure):
                return put
        newest = newest_of_each(found.traces.removed)
        for id in found.told.ids:
            stored = newest.get(id)
            said = frozenset[str]() if stored is None else statement_hashes(stored.meta.title, stored.body)
            put = tombstones.put(EntryTombstone(id, at_ms, said))
            if isinstance(put, Failure):
                return put
        return Success(None)

    def _without_notes_and_troubles(self, found: Found) -> Result[None, Error]:
        return self._without_notes(found).bind(lambda _: QueueTroubles(self._real).clear(found.keys))

    def _without_notes(self, found: Found) -> Result[None, Error]:
        """The notes' files and the tier list, as one transaction under the write lock."""
        with self.locks.write() as held:
            return held.bind(lambda _: self._changed_notes(found))

    def _changed_notes(self, found: Found) -> Result[None, Error]:
        transactions = Transactions(self._real)
        recovered = transactions.recover()
        if isinstance(recovered, Failure):
            return recovered
        for _ in range(_ATTEMPTS):
            traces = self._traces_now(found)
            if isinstance(traces, Failure):
                return traces
            if not {file.path for file in traces.unwrap().removed} <= set(found.told.paths):
                return Failure(EntryChanged(found.told.target.id or next(iter(found.told.ids), "")))
            notes = traces.unwrap().changes
            tiers = self._tier_change(found.work.words.ids)
            if isinstance(tiers, Failure):
                return tiers
            committed = transactions.commit((*notes, *tiers.unwrap()))
            if isinstance(committed, Failure):
                return committed.map(lambda _: None)
            if committed.unwrap():
                return Success(None)
        return Failure(EntryChanged(found.told.target.id or ""))

    def _traces_now(self, found: Found) -> Result[NoteTraces, Error]:
        target = found.told.target
        session = target.session
        if session is None:
            return traces_of_entry(self._real, target.id or "")
        return inbox_of_session(self._real, session).bind(
            lambda inbox: traces_of_session(self._real, session, inbox.entry_ids)
        )

    def _tier_change(self, ids: frozenset[str]) -> Result[tuple[FileChange, ...], Error]:
        """What becomes of the tier list when these are gone; StateCorrupt for a damaged one, which is not replaced."""

        def without(data: bytes, tiers: TierList) -> tuple[FileChange, ...]:
            hot, warm = (tuple(id for id in tier if id not in ids) for tier in (tiers.hot, tiers.warm))
            after = render_tiers(TierList(hot, warm))
            return (
                (FileChange(TIERS_FILE, FileState(data), FileState(after)),)
                if (hot, warm) != (tiers.hot, tiers.warm)
                else ()
            )

        def changed(image: FileImage | None) -> Result[tuple[FileChange, ...], Error]:
            data = None if image is None else image.data
            return tiers_in(self._real, data).map(lambda tiers: without(data or b"", tiers))

        return read_image(self._real, TIERS_FILE).bind(changed)

    def _finish(self, work: ForgettingAtWork) -> Result[None, Error]:
        """All that comes after the notes; doing any of it twice is harmless."""
        journal = ForgettingFiles(self.root)
        for path in (*work.inbox, *work.marks):
            gone = drop_file(self._real, path)
            if isinstance(gone, Failure):
                return gone.alt(_as_error)
        for harness, session_id in work.histories:
            forgotten = self.histories.forget(harness, session_id)
            if isinstance(forgotten, Failure):
                return forgotten
        marked = journal.mark_purge(work.at_ms) if work.purge else Success(None)
        return (
            marked.bind(
                lambda _: RunTraces(self.root, work.words, work.touched_ids, work.session).remove(work.runs, work.at_ms)
            )
            .bind(lambda _: remove_directory_below(self._real, _CACHE))
            .bind(lambda _: self._recorded(work))
            .bind(lambda _: self._published())
            .bind(lambda _: self._purged(work))
            .bind(lambda _: journal.end())
        )

    def _recorded(self, work: ForgettingAtWork) -> Result[None, Error]:
        """Git is history, not durability (P4): its trouble is told, and fails nothing but a purge."""
        what = "a session" if work.session is not None else "a note" if work.words.ids else "a state value"
        paths = (*work.paths, TIERS_FILE, *work.marks)
        match sealed(self.recorder.record(paths, f"forget: {what}")):
            case Failure(error):
                self.tell(error)
            case Success(_):
                pass
        return Success(None)

    def _published(self) -> Result[None, Error]:
        self.publish()
        return Success(None)

    def _purged(self, work: ForgettingAtWork) -> Result[None, Error]:
        if not work.purge:
            return Success(None)
        with self.locks.write() as held:
            return held.bind(lambda _: self.purge(work)).bind(lambda _: self._without_old_repositories())

    def _without_old_repositories(self) -> Result[None, Error]:
        return listed_names(self._real, lambda name: name.startswith(_OLD_GIT)).bind(self._without_directories)

    def _without_directories(self, names: Sequence[str]) -> Result[None, Error]:
        for name in names:
            gone = remove_directory_below(self._real, name)
            if isinstance(gone, Failure):
                return gone
        return Success(None)

    @property
    def _real(self) -> str:
        return real_root(self.root)


def _as_error(error: Error) -> Error:
    return error
