"""Forgets: decides what goes, records it, and then carries it out to the end (P28).

Any step may be the last before a crash. The tombstones come first, so that whatever else happens nothing is learnt
again; then the notes, as one transaction; then everything that knew of them. The journal says what is left to do, and
is removed last.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress

from attrs import evolve, frozen

from agent_memory.capture.inbox_files import change_troubles
from agent_memory.care.files import everything_in, unwritten
from agent_memory.care.tombstones import FORGOTTEN, Tombstones, journal_of, purge_mark_of
from agent_memory.care.traces import NoteFile, RunTraces, id_at, inbox_traces, note_files
from agent_memory.errors import Busy, EntryChanged, EntryNotFound
from agent_memory.files.durable import fsync_directory
from agent_memory.files.paths import (
    as_store_io,
    directory_in,
    existing_paths,
    exists,
    names_in,
    remove_file,
    subdirectories,
)
from agent_memory.git.git_history import purge_history
from agent_memory.git.git_process import GitProcess
from agent_memory.note.note import TIERS_FILE, Harness, MemoryEntry, Meta, StoredEntry
from agent_memory.note.note_format import render_note
from agent_memory.ports import Clock
from agent_memory.results import unwrap
from agent_memory.rules.change import FileChange, FileState
from agent_memory.rules.forgotten import (
    MENTION_SHARE,
    EntryTombstone,
    ForgetTarget,
    Forgetting,
    ForgettingAtWork,
    GoneNote,
    Mention,
    SessionKey,
    SessionTombstone,
    SharedNote,
    StateTombstone,
    share_held,
    share_of,
    statement_hashes,
    statements_of,
    unlinked,
    without_session,
)
from agent_memory.section.targets import Targets
from agent_memory.store.kept_histories_files import session_name
from agent_memory.store.note_files import read_image, render_tiers, tiers_in
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.session_index import SessionIndex
from agent_memory.store.store_database import DIRECTORY as CACHE, NAME, FollowedFiles, UnwritableError
from agent_memory.store.transaction import Transactions
from agent_memory.text.ids import is_id, slug_of


@frozen
class Forgetter:
    """Forgets in one root. The caller holds the run lock, and has finished whatever a crash left half done."""

    git: GitProcess
    files: FollowedFiles
    index: SessionIndex
    writes: RecordedWrites
    clock: Clock
    publish: Callable[[], object]
    targets: Targets

    # -- looking: all that would go, all that would change, and what states the same -------------------------------------

    def look(self, target: ForgetTarget, *, heirs_wait: bool = False) -> Forgetting:
        """Returns everything that would go, and changes nothing. EntryNotFound for an id of which there is nothing. With
        `heirs_wait` the notes that were made from it are left as they are."""
        real, session, notes = self._real, target.session, list(note_files(self._real))
        wanted = (target.id or "").casefold()
        id = next((each.id for each in notes if each.id and each.id.casefold() == wanted), target.id or "")
        target = evolve(target, id=target.id and id)
        recorded = frozenset[str]() if session is None else inbox_traces(real, session).made_ids

        def share(file: NoteFile) -> str:
            if session is None:
                return "all" if id in (file.id, id_at(file.path)) else "none"
            return "none" if file.stored is None else share_of(file.stored.meta, session, recorded)

        files = [(file, share(file)) for file in notes]
        removed = [file for file, whose in files if whose == "all"]
        shared = [file for file, whose in files if whose == "some"]
        kept_ids = _ids_of(file for file, whose in files if whose != "all")
        gone = _ids_of(removed) - kept_ids if session is not None else frozenset((id,))
        staying = [each for each in files if not (heirs_wait and _is_heir(each[0], gone))]
        rewritten, linked = _rewritten(staying, session, gone | (_ids_of(removed) - kept_ids))
        if session is None and not (removed or linked):
            # The note may be gone already, while the history or other records still hold it.
            begun = journal_of(self.git.root).read()
            is_left = target.purge or (begun is not None and id in begun.ids)
            if not (is_left and self._was_forgotten(id)):
                raise EntryNotFound(id)

        newest = _newest_of_each(removed)
        sessions, marks = self._sessions_of(target, [each.meta for each in newest.values()])
        inbox = inbox_traces(real, session, gone)
        kept = frozenset(each.name for each in unwrap(self.index.open_kept().sessions()))
        stored = [file.stored for file in removed if file.stored is not None]
        statements = (line.text for each in stored for line in statements_of(each.meta.title, each.body))
        changes = (*(file.changed_to(None) for file in removed), *rewritten)
        work = ForgettingAtWork(
            at_ms=self.clock.now_ms(),
            purge=target.purge,
            session_id=None if session is None else session.session_id,
            harness=None if session is None else session.harness,
            ids=gone,
            touched_ids=_ids_of(removed) | _ids_of(shared),
            paths=tuple(change.path for change in changes),
            titles=frozenset(each.meta.title for each in stored),
            statements=tuple(dict.fromkeys(statements)),
            runs=(),
            inbox=inbox.paths,
            marks=marks,
            histories=tuple(each for each in dict.fromkeys(sessions) if session_name(*each) in kept),
        )
        return Forgetting(
            target=target,
            work=evolve(work, runs=RunTraces(real, work).runs()),
            notes=_gone_notes(removed, newest, kept_ids),
            shared=() if session is None else _shared_notes(shared, session),
            linked=linked,
            mentions=_mentions([file for file, whose in files if whose != "all"], newest.values()),
            has_history=exists(f"{real}/.git"),
            changes=changes,
            said={id: statement_hashes(each.meta.title, each.body) for id, each in newest.items()},
            trouble_keys=inbox.keys,
        )

    def _sessions_of(
        self, target: ForgetTarget, removed: Sequence[Meta]
    ) -> tuple[list[tuple[Harness, str]], tuple[str, ...]]:
        """Returns the sessions whose kept histories go, and the files of the marks that go."""
        session = target.session
        if session is None:
            sources = [source for meta in removed for source in meta.sources] if target.purge else []
            return [(each.harness, each.thread_id) for each in sources if each.thread_id], ()
        harnesses = tuple(Harness) if session.harness is None else (session.harness,)
        marks = (f"state/sessions/{harness}_{slug_of(session.session_id)}.json" for harness in harnesses)
        return [(harness, session.session_id) for harness in harnesses], existing_paths(self._real, marks)

    def _was_forgotten(self, id: str) -> bool:
        return is_id(id) and exists(f"{self._real}/{FORGOTTEN}/{id}.json")

    # -- carrying out -------------------------------------------------------------------------------------------------

    def forget_what_was_seen(self, seen: Forgetting) -> Forgetting:
        """Looks again, and forgets. EntryChanged where there is more by now than what was seen; if nothing is left,
        since an earlier forgetting was finished meanwhile, everything that was seen is forgotten."""
        with self._writing():
            try:
                found = self.look(seen.target)
            except EntryNotFound:
                if self._was_forgotten(seen.target.id or ""):
                    return seen
                raise
            if not set(found.paths) <= set(seen.paths):
                raise _changed(found)
            self._begin(found)
        self._finish(found.work)
        return found

    def forget(self, target: ForgetTarget) -> bool:
        """Forgets everything, whatever that is by now, but for the notes that were made from it, which a sync sees to.
        False if the store holds nothing of it."""
        with self._writing():
            found = self.look(target, heirs_wait=True)
            if found.is_known:
                self._begin(found)
        if found.is_known:
            self._finish(found.work)
        return found.is_known

    def purge_state(self, path: str) -> None:
        """Removes the file of a state value, and every version of it from the git history."""
        at_ms, none = self.clock.now_ms(), frozenset[str]()
        work = ForgettingAtWork(at_ms, True, None, None, none, none, (), none, (), (), (), (path,), ())
        unwrap(Tombstones(self.git.root).put(StateTombstone(path, at_ms)))
        journal_of(self.git.root).write(work)
        self._finish(work)

    def forget_traces(self, paths: tuple[str, ...]) -> None:
        """Removes what runs and derived files hold of notes that may have lost what they had from a forgotten one, and updates
        the managed sections."""
        none, ids = frozenset[str](), frozenset(id for path in paths if (id := id_at(path)) is not None)
        work = ForgettingAtWork(self.clock.now_ms(), False, None, None, none, ids, paths, none, (), (), (), (), ())
        self._finish(evolve(work, runs=RunTraces(self._real, work).runs()))

    def resume(self) -> None:
        """Finishes a forgetting that a crash interrupted. One that had not reached its notes is decided anew: they may
        have changed."""
        work = journal_of(self.git.root).read()
        if work is None:
            return
        target = ForgetTarget(session=work.session, purge=work.purge)
        for each in [target] if work.session is not None else [ForgetTarget(id) for id in sorted(work.ids)]:
            with self._writing(), suppress(EntryNotFound):
                self._remove_notes(self.look(each))
        self._finish(work)

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        """Holds the write lock, with no file half changed."""
        with self.writes.locks.write():
            Transactions(self._real).recover()
            yield

    def _begin(self, found: Forgetting) -> None:
        """Writes tombstones and journal and changes the notes, under the write lock. EntryChanged, with no note
        changed, where somebody changes the same notes."""
        tombstones, at_ms, session = Tombstones(self.git.root), found.work.at_ms, found.target.session
        if session is not None:
            unwrap(tombstones.put(SessionTombstone(session.session_id, session.harness, at_ms)))
        for id in found.ids:
            unwrap(tombstones.put(EntryTombstone(id, at_ms, found.said.get(id, frozenset()))))
        journal_of(self.git.root).write(found.work)
        self._remove_notes(found)

    def _remove_notes(self, found: Forgetting) -> None:
        """Changes the notes' files and the tier list, as one transaction, and clears their recorded troubles.
        StateCorrupt for a damaged tier list, which is not replaced."""
        changes = [*found.changes]
        if (image := read_image(self._real, TIERS_FILE)) is not None:
            tiers = tiers_in(self._real, image)
            if (left := tiers.without(found.work.ids)) != tiers:
                changes.append(FileChange(TIERS_FILE, FileState(image.data), FileState(render_tiers(left))))
        if not Transactions(self._real).commit(changes):  # somebody is editing one of them right now
            raise _changed(found)
        change_troubles(self._real, dict.fromkeys(found.trouble_keys))

    def _finish(self, work: ForgettingAtWork) -> None:
        """Does everything that comes after the notes; doing any of it twice is harmless."""
        for path in (*work.inbox, *work.marks):
            remove_file(self._real, path)
        for harness, session_id in work.histories:
            unwrap(self.index.open_kept().forget(harness, session_id))
        if work.purge:
            purge_mark_of(self.git.root).write(work.at_ms)
        RunTraces(self._real, work).remove()
        lines = evolve(work.words, titles=frozenset())  # a title may be a word like any other
        self.targets.forget_copied(
            lambda line: line.lstrip("# ") in work.titles or lines.names_one(line) or lines.is_in(line)
        )
        self._forget_derived(work.paths)
        for found in everything_in(self._real):  # a file that a killed process left half written may hold it too
            if not isinstance(found, OSError) and found.is_temporary:
                with unwritten(self._real, found, self.clock.now_ms()) as is_free:
                    if is_free:
                        remove_file(self._real, found.path)
        what = "a session" if work.session is not None else "a note" if work.ids else "a state value"
        # Git is history, not durability (P4): its failure fails nothing but a purge.
        writes, paths = self.writes, (*work.paths, TIERS_FILE, *work.marks)
        writes.tolerate(writes.recorder.record(paths, f"forget: {what}"))
        self.publish()
        if work.purge:
            with writes.locks.write():
                purge_history(self.git, ("agent_memory.care.purging", self._real))
                # Repositories that could not be read were moved aside.
                for name in names_in(self._real, lambda name: name.startswith(".git.broken-")):
                    remove_directory(self._real, name)
        journal_of(self.git.root).remove()

    def _forget_derived(self, paths: Collection[str]) -> None:
        """Takes what is gone out of the database, which is slow to fill, or removes it too; removes what else is derived."""
        directory, kept = directory_in(self._real, CACHE), ""
        if exists(f"{directory}/{NAME}"):
            with suppress(Busy, UnwritableError, sqlite3.Error):
                self.files.take_out(paths)
                self.index.forget()
                self.files.database.scrub()
                kept = NAME
        for name in subdirectories(directory):
            remove_directory(self._real, f"{CACHE}/{name}")
        for name in names_in(directory, lambda name: not (kept and name.startswith(kept))):
            remove_file(self._real, f"{CACHE}/{name}")

    @property
    def _real(self) -> str:
        return str(self.git.root)


def remove_directory(root: str, relative: str) -> None:
    """Removes a directory of derived files with its contents; no link is followed. A missing one counts as removed."""
    directory = directory_in(root, relative)
    with as_store_io("remove", directory):
        while exists(directory):
            with suppress(FileNotFoundError):  # if one file is gone already, the others may still be there
                shutil.rmtree(directory)
                fsync_directory(os.path.dirname(directory))


# -- what is decided about notes --------------------------------------------------------------------------------------


def _changed(found: Forgetting) -> EntryChanged:
    return EntryChanged(found.target.id or next(iter(found.ids), ""))


def _ids_of(files: Iterable[NoteFile]) -> frozenset[str]:
    return frozenset(file.id for file in files if file.id is not None)


def _is_heir(file: NoteFile, gone: Collection[str]) -> bool:
    return file.live and file.stored is not None and not set(file.stored.meta.aliases).isdisjoint(gone)


def _rewritten(
    files: Sequence[tuple[NoteFile, str]], session: SessionKey | None, gone: Collection[str]
) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Returns the changes of the files that stay, without the session as a source and without links to what goes, and
    the ids of the notes that lose a link."""
    changes: list[FileChange] = []
    linked: dict[str, None] = {}
    for file, whose in files:
        if whose == "all" or file.stored is None:
            continue
        entry = file.stored.entry
        if whose == "some" and session is not None:
            entry = MemoryEntry(without_session(entry.meta, session), entry.body)
        if file.live:
            freed = unlinked(entry, gone)
            linked |= {} if freed == entry else {file.stored.meta.id: None}
            entry = freed
        if entry != file.stored.entry:
            changes.append(file.changed_to(render_note(entry, file.image.data.decode("utf-8"))))
    return tuple(changes), tuple(linked)


def _newest_of_each(files: Iterable[NoteFile]) -> dict[str, StoredEntry]:
    """Returns by id the live one of several files of one note, else the one that was changed last."""
    newest: dict[str, tuple[tuple[bool, int], StoredEntry]] = {}
    for file in files:
        if file.stored is not None:
            id, age = file.stored.meta.id, (file.live, file.stored.meta.updated_at_ms)
            if id not in newest or age > newest[id][0]:
                newest[id] = (age, file.stored)
    return {id: stored for id, (_, stored) in newest.items()}


def _gone_notes(
    removed: Iterable[NoteFile], newest: dict[str, StoredEntry], kept_ids: Collection[str]
) -> tuple[GoneNote, ...]:
    paths: dict[str, list[str]] = {}
    for file in removed:
        paths.setdefault(file.id or "", []).append(file.path)
    titles: dict[str, str | None] = dict.fromkeys(paths, "(not a readable note)")
    for id, stored in newest.items():
        titles[id] = None if stored.meta.is_secret else stored.meta.title
    return tuple(GoneNote(id, titles[id], tuple(found), id in kept_ids) for id, found in paths.items())


def _shared_notes(files: Iterable[NoteFile], session: SessionKey) -> tuple[SharedNote, ...]:
    shared: list[SharedNote] = []
    for id, stored in _newest_of_each(files).items():
        others = [each for each in stored.meta.sources if not session.is_of(each)]
        named = dict.fromkeys(f"{each.harness} {each.thread_id or 'without a session'}" for each in others)
        shared.append(SharedNote(id, _title_of(stored.meta), tuple(named)))
    return tuple(shared)


def _mentions(staying: Iterable[NoteFile], gone: Iterable[StoredEntry]) -> tuple[Mention, ...]:
    """Returns the notes that stay and hold most of what a forgotten one states, most similar first."""
    forgotten = [statements_of(each.meta.title, each.body) for each in gone]
    mentions: dict[str, Mention] = {}
    for file in staying if forgotten else ():
        if file.stored is None:
            continue
        meta = file.stored.meta
        text = f"{meta.title}\n{meta.description}\n{file.stored.body}"
        share = max(share_held(statements, text) for statements in forgotten)
        known = mentions.get(meta.id)
        if share >= MENTION_SHARE and (known is None or known.percent < 100 * share):
            mentions[meta.id] = Mention(meta.id, _title_of(meta), not file.live, round(100 * share))
    return tuple(sorted(mentions.values(), key=lambda each: (-each.percent, each.archived, each.id)))


def _title_of(meta: Meta) -> str:
    return "(secret)" if meta.is_secret else meta.title
