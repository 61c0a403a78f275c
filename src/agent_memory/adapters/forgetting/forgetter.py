"""Forgetting, from the first look to the last byte: what goes is decided, noted, and then carried out to the end (P28).

Each step may be the last before a crash. The tombstones come first, so that whatever else happens nothing is learnt
again; then the notes, as one transaction; then what knew of them. The journal says what is left to do, and goes last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from attrs import Factory, evolve, field, frozen
from returns.result import Failure

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.disk.paths import (
    as_store_io,
    directory_in,
    exists,
    files_below,
    names_in,
    read_bytes,
    remove_file,
    subdirectories,
    those_there,
    write_text,
)
from agent_memory.adapters.doctor.files import unwritten, walk
from agent_memory.adapters.forgetting.forgetting_files import (
    FORGOTTEN as TOMBSTONES,
    NoteFile,
    NoteTraces,
    TombstoneFiles,
    id_at,
    inbox_traces,
    journal_of,
    note_files,
    purge_mark_of,
    traces_of,
)
from agent_memory.adapters.git.git_history import purge_history
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.inbox.inbox_files import QueueTroubles
from agent_memory.adapters.records.kept_histories_files import session_name
from agent_memory.adapters.records.run_files import FORGOTTEN_MARK, REPORT, RUNS, RunLogFiles
from agent_memory.adapters.store.entry_files import read_image, tiers_in
from agent_memory.adapters.store.reversal import files_together
from agent_memory.adapters.store.transaction import change_files
from agent_memory.domain.actions import ids_of
from agent_memory.domain.change import Change, Create, FileChange, FileState, Replace, subject_of
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.forgetting import (
    FORGOTTEN,
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
    TraceWords,
    share_held,
    share_of,
    statement_hashes,
    statements_of,
)
from agent_memory.domain.instants import iso_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.file_name import is_id, slug_of
from agent_memory.domain.undo_run import Footprint
from agent_memory.domain.vocabulary import TIERS_FILE, Harness, Sensitivity, TierList
from agent_memory.errors import EntryChanged, EntryNotFound, StateCorrupt
from agent_memory.formats.bookkeeping_json import FOOTPRINT
from agent_memory.formats.run_json import CHANGES, DEFERRED
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.ports import Clock, KeptHistories
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result, unwrap

PURGING = "agent_memory.adapters.forgetting.purging"
"""The module that rewrites the git history, in a process of its own."""


@frozen
class Found:
    """A forgetting with all that carrying it out needs."""

    told: Forgetting
    traces: NoteTraces
    keys: frozenset[str]


@frozen
class Forgetter:
    """Forgets in one root. The caller holds the run lock, and has finished whatever a crash left half done."""

    git: GitProcess
    """Of the root."""
    histories: KeptHistories
    writes: RecordedWrites
    clock: Clock
    publish: Callable[[], object]

    # -- looking: all that would go, all that would change, and what states the same -------------------------------------

    def look(self, target: ForgetTarget) -> Found:
        """All that would go; nothing is changed. EntryNotFound for an id of which there is nothing."""
        real, session, id, marks = self._real, target.session, target.id or "", tuple[str, ...]()
        traces = self._traces_of(target)
        stored = [file.stored for file in traces.removed if file.stored is not None]
        if session is None:
            if not (traces.removed or traces.linked):
                # The note may have gone before, and the history may still hold it, or what knew of it.
                begun = journal_of(self.git.root).read()
                is_left = target.purge or (begun is not None and id in begun.ids)
                if not (is_left and self._was_forgotten(id)):
                    raise EntryNotFound(id)
            gone = frozenset((id,))
            sources = [source for each in stored for source in each.meta.sources] if target.purge else []
            sessions = [(each.harness, each.thread_id) for each in sources if each.thread_id]
        else:
            gone = _ids_of(traces.removed) - traces.kept_ids
            harnesses = tuple(Harness) if session.harness is None else (session.harness,)
            sessions = [(harness, session.session_id) for harness in harnesses]
            slug = slug_of(session.session_id)
            marks = those_there(real, (f"state/sessions/{harness}_{slug}.json" for harness in harnesses))
        inbox, keys, _ = inbox_traces(real, session, gone)
        statements = (line.text for each in stored for line in statements_of(each.meta.title, each.body))
        kept = frozenset(each.name for each in unwrap(self.histories.sessions()))
        work = ForgettingAtWork(
            at_ms=self.clock.now_ms(),
            purge=target.purge,
            session_id=None if session is None else session.session_id,
            harness=None if session is None else session.harness,
            ids=gone,
            touched_ids=_ids_of(traces.removed) | _ids_of(traces.shared),
            paths=tuple(change.path for change in traces.changes),
            titles=frozenset(each.meta.title for each in stored),
            statements=tuple(dict.fromkeys(statements)),
            runs=(),
            inbox=inbox,
            marks=marks,
            histories=tuple(each for each in dict.fromkeys(sessions) if session_name(*each) in kept),
        )
        told = Forgetting(
            target=target,
            work=evolve(work, runs=RunTraces(real, work).runs()),
            notes=_notes_in(traces),
            shared=() if session is None else _shared_in(traces, session),
            linked=traces.linked,
            mentions=self._mentions(traces),
            has_history=exists(f"{real}/.git"),
        )
        return Found(told, traces, keys)

    def _traces_of(self, target: ForgetTarget) -> NoteTraces:
        recorded = inbox_traces(self._real, target.session, frozenset())[2] if target.session else frozenset[str]()
        return traces_of(self._real, target, recorded)

    def _was_forgotten(self, id: str) -> bool:
        return is_id(id) and exists(f"{self._real}/{TOMBSTONES}/{id}.json")

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
        tombstones = TombstoneFiles(self.git.root)
        at_ms, session = found.told.work.at_ms, found.told.target.session
        if session is not None:
            unwrap(tombstones.put(SessionTombstone(session.session_id, session.harness, at_ms)))
        newest = _newest_of_each(found.traces.removed)
        for id in found.told.ids:
            stored = newest.get(id)
            said = frozenset[str]() if stored is None else statement_hashes(stored.meta.title, stored.body)
            unwrap(tombstones.put(EntryTombstone(id, at_ms, said)))
        journal_of(self.git.root).write(found.told.work)
        self._remove_notes(found)
        self._finish(found.told.work)
        return found.told

    def purge_state(self, path: str) -> None:
        """Take the file of a state value away, and every version of it out of the git history."""
        at_ms, none = self.clock.now_ms(), frozenset[str]()
        work = ForgettingAtWork(at_ms, True, None, None, none, none, (), none, (), (), (), (path,), ())
        unwrap(TombstoneFiles(self.git.root).put(StateTombstone(path, at_ms)))
        journal_of(self.git.root).write(work)
        self._finish(work)

    def resume(self) -> None:
        """Carry out the rest of a forgetting that a crash interrupted. One that had not come to its notes is decided anew: they
        may have changed."""
        work = journal_of(self.git.root).read()
        if work is None:
            return
        target = ForgetTarget(session=work.session, purge=work.purge)
        for each in [target] if work.session is not None else [ForgetTarget(id) for id in sorted(work.ids)]:
            try:
                left = self.look(each)
            except EntryNotFound:
                continue
            self._remove_notes(left)
        self._finish(work)

    def _remove_notes(self, found: Found) -> None:
        """The notes' files and the tier list, as one transaction under the write lock; then what troubles them had. StateCorrupt
        for a damaged tier list, which is not replaced."""

        def decided() -> tuple[list[FileChange], None]:
            traces = self._traces_of(found.told.target)
            if not {file.path for file in traces.removed} <= set(found.told.paths):
                raise _changed(found)
            changes = [*traces.changes]
            if (image := read_image(self._real, TIERS_FILE)) is not None:
                tiers = tiers_in(self._real, image)
                if (left := tiers.without(found.told.work.ids)) != tiers:
                    changes.append(FileChange(TIERS_FILE, FileState(image.data), FileState(render_tiers(left))))
            return changes, None

        change_files(self._real, self.writes.locks, decided, _changed(found))
        QueueTroubles(self._real).clear(found.keys)

    def _finish(self, work: ForgettingAtWork) -> None:
        """All that comes after the notes; doing any of it twice is harmless."""
        for path in (*work.inbox, *work.marks):
            remove_file(self._real, path)
        for harness, session_id in work.histories:
            unwrap(self.histories.forget(harness, session_id))
        if work.purge:
            purge_mark_of(self.git.root).write(work.at_ms)
        RunTraces(self._real, work).remove()
        remove_directory_below(self._real, ".cache")
        for found in walk(self._real):  # what a killed process left half written may hold it, too
            if not isinstance(found, OSError) and found.is_temporary:
                with unwritten(self._real, found, self.clock.now_ms()) as is_free:
                    if is_free:
                        remove_file(self._real, found.path)
        what = "a session" if work.session is not None else "a note" if work.ids else "a state value"
        # Git is history, not durability (P4): it fails nothing but a purge.
        writes, paths = self.writes, (*work.paths, TIERS_FILE, *work.marks)
        writes.tolerate(writes.recorder.record(paths, f"forget: {what}"))
        self.publish()
        if work.purge:
            with writes.locks.write():
                purge_history(self.git, (PURGING, self._real))
                # Repositories that could not be read were moved aside.
                for name in names_in(self._real, lambda name: name.startswith(".git.broken-")):
                    remove_directory_below(self._real, name)
        journal_of(self.git.root).remove()

    @property
    def _real(self) -> str:
        return str(self.git.root)


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
    titles: dict[str, str | None] = dict.fromkeys(paths, "(not a readable note)")
    for id, stored in newest.items():
        titles[id] = None if stored.meta.sensitivity is Sensitivity.SECRET else stored.meta.title
    return tuple(GoneNote(id, titles[id], tuple(found), id in traces.kept_ids) for id, found in paths.items())


def _shared_in(traces: NoteTraces, session: SessionKey) -> tuple[SharedNote, ...]:
    shared: list[SharedNote] = []
    for id, stored in _newest_of_each(traces.shared).items():
        others = [each for each in stored.meta.sources if not session.is_of(each)]
        named = dict.fromkeys(f"{each.harness} {each.thread_id or 'without a session'}" for each in others)
        shared.append(SharedNote(id, _title_of(stored.meta), tuple(named)))
    return tuple(shared)


def _title_of(meta: Meta) -> str:
    return "(secret)" if meta.sensitivity is Sensitivity.SECRET else meta.title


# -- what runs keep: replies, plans, footprints, managed sections, reports, deferred changes ----------------------------------

# A run of which a footprint or a section held it loses its details, but for what it did to other notes: that can still be
# undone. The file `forgotten.json` in its directory says so; it is written first.

_REPLIES = "replies"
_MAX_BYTES = 1 << 30


@frozen
class RunTraces:
    """Looks through `runs/` of a real root for the traces of some entries and, maybe, a session; and removes them."""

    root: str
    work: ForgettingAtWork
    words: TraceWords = field(init=False, default=Factory(lambda self: self.work.words, takes_self=True))

    def runs(self) -> tuple[str, ...]:
        """The runs that lose their details, newest first. Nothing is changed."""
        return tuple(filter(self._holds_trace, reversed(self._names())))

    def remove(self) -> None:
        """Take the details of the runs that lose them, what waits for the next run, and every other trace. Doing it twice is harmless."""
        for run in self.work.runs:
            mark, first = f"{RUNS}/{run}/{FORGOTTEN_MARK}", f"{RUNS}/{run}/footprint-1.json"
            write_text(self.root, mark, json.dumps({"version": 1, "at": iso_of(self.work.at_ms)}) + "\n")
            stay = [f"{RUNS}/{run}/{REPORT}", mark]
            if kept := self._of_others(run):
                write_text(self.root, first, FOOTPRINT.render(Footprint(kept)))
                stay.append(first)
            for path in self._files(f"{RUNS}/{run}"):
                if path not in stay:
                    remove_file(self.root, path)
        for name in self._names():
            self._remove_replies(name)
            self._rewrite(f"{RUNS}/{name}/{REPORT}", lambda data: forgetful_report(data, self.words))
        self._rewrite(f"{RUNS}/deferred.json", self._other_changes)
        self._rewrite(
            f"{RUNS}/deferred-actions.json",
            lambda data: DEFERRED.render(
                [each for each in DEFERRED.parse(data, "") if self.work.touched_ids.isdisjoint(ids_of(each.action))]
            ).encode(),
        )
        self._rewrite(f"{RUNS}/owed.json", lambda data: forgetful_commits(data, self.words))
        memo = self._read(f"{RUNS}/tiering.json")
        if memo is not None and self._is_named_in(memo):
            remove_file(self.root, f"{RUNS}/tiering.json")  # what is derived is made anew

    # -- looking ------------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [name for name in subdirectories(f"{self.root}/{RUNS}") if not name.startswith(".")]

    def _holds_trace(self, run: str) -> bool:
        for path in self._files(f"{RUNS}/{run}"):
            name = path.rpartition("/")[2]
            if name in (FORGOTTEN_MARK, REPORT) or _REPLIES in path.split("/"):
                continue  # reports and replies are looked at one by one
            data = self._read(path) or b""
            if name.startswith("footprint-"):
                footprint = as_result(FOOTPRINT.parse)(data, path).value_or(None)
                # A damaged one can be undone no more, and nobody can tell what is in it.
                if footprint is None or any(map(self._is_trace_in, footprint.files)):
                    return True
            elif self._is_named_in(data):
                return True
        return False

    def _is_trace_in(self, change: FileChange) -> bool:
        if id_at(change.path) in self.work.touched_ids:
            return True
        session = None if self.work.session_id is None else self.work.session_id.encode("utf-8", "surrogatepass")
        states = (state.data for state in (change.before, change.after) if state is not None)
        return session is not None and any(session in data for data in states)

    def _is_named_in(self, data: bytes) -> bool:
        """Whether a file holds an id of what goes, as it is or as JSON writes it."""
        for id in filter(None, (*self.work.ids, self.work.session_id)):
            if id.encode("utf-8", "surrogatepass") in data or json.dumps(id)[1:-1].encode("ascii") in data:
                return True
        return False

    # -- removing -----------------------------------------------------------------------------------------------------

    def _of_others(self, run: str) -> tuple[FileChange, ...]:
        """What the run did to notes that have nothing to do with what goes; nothing where that cannot be told."""
        footprint = RunLogFiles(self.root).footprint(run)
        if isinstance(footprint, Failure):
            return ()
        files = footprint.unwrap().files
        groups = files_together(files)
        going = {path for each in files if self._is_trace_in(each) for path in groups[each.path]}
        others = [each for each in files if each.path not in going]
        if all(each.path == TIERS_FILE for each in others):
            return ()

        def fewer_tiers(state: FileState | None) -> FileState | None:
            if state is None:
                return None
            tiers = parse_tiers(state.data, TIERS_FILE).map(lambda found: found.without(self.work.touched_ids))
            return evolve(state, data=render_tiers(tiers.value_or(TierList())))

        return tuple(
            FileChange(each.path, fewer_tiers(each.before), fewer_tiers(each.after))
            if each.path == TIERS_FILE
            else each
            for each in others
        )

    def _remove_replies(self, run: str) -> None:
        """Replies of a run that dealt with what went, or of which no report says whose they are, where a session is
        forgotten; and others that state it."""
        report = self._read(f"{RUNS}/{run}/{REPORT}")
        all_go = self._is_named_in(report) if report is not None else self.work.session is not None
        for path in self._files(f"{RUNS}/{run}/{_REPLIES}"):
            # The text of a reply is JSON inside JSON.
            text = (self._read(path) or b"").decode("utf-8", "replace").replace("\\\\", "\\").replace("\\n", "\n")
            if all_go or self.words.names_one(text) or self.words.is_in(text):
                remove_file(self.root, path)

    def _other_changes(self, data: bytes) -> bytes:
        """What waits to be written and comes from the session goes as a whole: nobody has seen it yet."""

        def stays(change: Change) -> bool:
            if subject_of(change) in self.work.touched_ids:
                return False
            if not isinstance(change, Create | Replace) or self.work.session is None:
                return True
            return share_of(change.entry.meta, self.work.session) == "none"

        return CHANGES.render([each for each in CHANGES.parse(data, "") if stays(each)]).encode()

    # -- files --------------------------------------------------------------------------------------------------------

    def _files(self, directory: str) -> list[str]:
        """Every file below, with the directories of replies; by path, the last footprint first."""
        paths = files_below(f"{self.root}/{directory}")
        return sorted((path[len(self.root) + 1 :] for path in paths), reverse=True)

    def _read(self, path: str) -> bytes | None:
        return read_bytes(self.root, path, _MAX_BYTES)

    def _rewrite(self, path: str, rewritten: Callable[[bytes], bytes]) -> None:
        """A file that cannot be understood goes where it names what is forgotten; else whoever uses it tells of it (P6)."""
        data = self._read(path)
        if data is None:
            return
        try:
            new = rewritten(data)
        except StateCorrupt:
            if self._is_named_in(data):
                remove_file(self.root, path)
            return
        if new != data:
            write_text(self.root, path, new.decode("utf-8", "replace"))


def remove_directory_below(root: str, relative: str) -> None:
    """Remove a directory of derived files with all that is in it; no link is followed. One that is not there is gone."""
    directory = directory_in(root, relative)
    with as_store_io("remove", directory), suppress(FileNotFoundError):
        for parent, directories, names in os.walk(directory, topdown=False, followlinks=False):
            for name in (*names, *directories):
                path = f"{parent}/{name}"
                with suppress(FileNotFoundError):  # that one is gone already does not mean that the others are
                    os.rmdir(path) if name in directories and not os.path.islink(path) else os.unlink(path)
        os.rmdir(directory)
        fsync_directory(os.path.dirname(directory))


# -- records without what was forgotten, whatever else they hold -------------------------------------------------------


def forgetful_report(data: bytes, words: TraceWords) -> bytes:
    """The report of a run without the session, and without any text that states what was forgotten: `(forgotten)` is in its
    place. Ids of entries stay, so that the log still tells what the run changed. The same bytes where nothing goes."""
    report = _document(data)
    if not is_object(report):
        raise StateCorrupt(REPORT, ("it is not a report",))
    sessions = filter(is_object, _list_at(report, "sessions") if words.session_id is not None else ())
    gone = [each for each in sessions if each.get("session") == words.session_id]
    outcomes = filter(is_object, (each.get("outcome") for each in gone))
    # What it says of a session that goes, the report may say again elsewhere.
    said = {text for outcome in outcomes for text in _list_at(outcome, "dropped") if isinstance(text, str) and text}

    def without(value: Any) -> Any:
        if is_object(value):
            told = {key: without(each) for key, each in value.items()}
            is_gone = not words.ids.isdisjoint((*_list_at(value, "ids"), *_list_at(value, "newIds")))
            return {**told, "words": FORGOTTEN} if is_gone and value.get("words") else told
        if is_list(value):
            return [without(each) for each in value if each not in gone]
        if not isinstance(value, str):
            return value
        is_of_session = words.session_id is not None and words.session_id in value
        return FORGOTTEN if value in said or words.is_in(value) or is_of_session else value

    cleaned = without(report)
    return data if cleaned == report else _dumped(cleaned)


def forgetful_commits(data: bytes, words: TraceWords) -> bytes:
    """Pending commits without the words of those that tell of what was forgotten: their paths stay."""
    commits = _document(data)
    if not is_list(commits):
        raise StateCorrupt("owed.json", ("it is not a list of pending commits",))
    cleaned = [*commits]
    for number, commit in enumerate(commits):
        text = json.dumps(commit, ensure_ascii=False)
        if is_object(commit) and (words.names_one(text) or words.is_in(text)):
            cleaned[number] = {**commit, "subject": FORGOTTEN, "body": "", "thread_id": None}
    return data if cleaned == commits else _dumped(cleaned)


def _document(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _list_at(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if is_list(value) else []


def _dumped(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
