"""Finds the traces of what is forgotten: in notes, live and archived with every version, in the inbox, and in the
records of runs (P28)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from attrs import Factory, evolve, field, frozen
from returns.result import Failure

from agent_memory.capture.hook_files import FAILED, INBOX, PROCESSED, REASON_ENDING, is_entry_name
from agent_memory.capture.inbox_files import MAX_RETIRED_BYTES, parse_inbox_entry
from agent_memory.errors import PathRefused, StateCorrupt
from agent_memory.files.paths import (
    FileImage,
    directory_in,
    existing_paths,
    files_below,
    names_below,
    read_bytes,
    remove_file,
    subdirectories,
    write_text,
)
from agent_memory.harness import any_json as get
from agent_memory.note.file_name import is_note_name
from agent_memory.note.note import TIERS_FILE, StoredEntry, TierList
from agent_memory.recall.delivery_log import DELIVERIES
from agent_memory.results import as_result
from agent_memory.rules.change import Change, FileChange, FileState, Footprint
from agent_memory.rules.forgotten import FORGOTTEN, ForgettingAtWork, SessionKey, TraceWords, share_of
from agent_memory.rules.plan import ids_of
from agent_memory.session.queue import SNAPSHOTS, FileSnapshot, InlineNote, queue_key
from agent_memory.store.bookkeeping import FOOTPRINT
from agent_memory.store.note_files import ARCHIVE, RUNS, TOPICS, entry_or_none, parse_tiers, read_image, render_tiers
from agent_memory.store.reversal import files_together
from agent_memory.store.run_files import FORGOTTEN_MARK, MAX_RUN_FILE_BYTES, REPORT, RunLog
from agent_memory.store.run_json import CHANGES, DEFERRED
from agent_memory.text.ids import ID_PATTERN, is_id
from agent_memory.text.instants import iso_of
from agent_memory.text.json_shape import is_list, is_object

# -- notes ------------------------------------------------------------------------------------------------------------

_ANY_ID = re.compile(ID_PATTERN)


@frozen
class NoteFile:
    """One file below `topics/` or `archive/`. `stored` is None if it is not a note."""

    path: str
    image: FileImage
    stored: StoredEntry | None

    @property
    def id(self) -> str | None:
        """Returns the note's id: as the file states it, else as its name or directory does."""
        return id_at(self.path) if self.stored is None else self.stored.meta.id

    @property
    def live(self) -> bool:
        return self.path.startswith(f"{TOPICS}/")

    def changed_to(self, text: str | None) -> FileChange:
        after = None if text is None else FileState(text.encode("utf-8"), self.image.mtime_ns)
        return FileChange(self.path, FileState(self.image.data, self.image.mtime_ns), after)


def id_at(path: str) -> str | None:
    """Returns the id in a path: `archive/<id>/…`, or the last one in the file's name."""
    directory, _, name = path.rpartition("/")
    owner = directory.rpartition("/")[2]
    found = _ANY_ID.findall(name)
    return owner if is_id(owner) else found[-1] if found else None


def note_files(root: str) -> Iterator[NoteFile]:
    """Reads every file of a note, one at a time, in order; an error where one cannot be looked at (P6)."""
    for directory in (TOPICS, ARCHIVE):
        for found in sorted(files_below(directory_in(root, directory))):
            path = found.removeprefix(f"{root}/")
            parent, _, name = path.rpartition("/")
            is_in_place = parent == directory or (directory == ARCHIVE and is_id(parent.removeprefix(f"{ARCHIVE}/")))
            if is_in_place and is_note_name(name) and (image := read_image(root, path)) is not None:
                yield NoteFile(path, image, entry_or_none(path, image.data, image.mtime_ns))


# -- the inbox --------------------------------------------------------------------------------------------------------


@frozen
class InboxTraces:
    paths: tuple[str, ...] = ()
    """Relative to the root."""
    keys: frozenset[str] = field(default=frozenset())
    """The keys of their recorded troubles."""
    made_ids: frozenset[str] = field(default=frozenset())
    """Ids of notes that were recorded as made from them."""


def inbox_traces(root: str, session: SessionKey | None, ids: frozenset[str] = frozenset()) -> InboxTraces:
    """Finds every file that names the session, malformed ones too, and the inline notes and copies of files from which
    these ids were made: they hold the text."""
    paths: dict[str, None] = {}
    keys, made_ids = set[str](), set[str]()
    places = (INBOX, PROCESSED, FAILED)
    for path in [f"{place}/{name}" for place in places for name in names_below(root, place, is_entry_name)]:
        try:
            data = read_bytes(root, path, MAX_RETIRED_BYTES)
        except PathRefused:
            continue  # a link, a directory, something huge: not an entry of ours, and it was never read
        if data is None:
            continue
        entry = parse_inbox_entry(data.decode("utf-8", "replace")).value_or(None)
        beside = [f"{path}{REASON_ENDING}"]
        if entry is None:
            if session is None or session.session_id.encode("utf-8", "surrogatepass") not in data:
                continue
        else:
            made = frozenset[str]() if entry.outcome is None else frozenset(entry.outcome.entry_ids)
            named = None if session is None else (session.session_id, session.harness or entry.harness)
            holds_text = isinstance(entry.retrieval, InlineNote | FileSnapshot) and not ids.isdisjoint(made)
            if (entry.retrieval.session_id, entry.harness) != named and not holds_text:
                continue
            made_ids |= made
            keys.add(queue_key(entry, path.rpartition("/")[2]))
            if isinstance(entry.retrieval, FileSnapshot):  # the copy that it names, wherever it was moved
                copy = os.path.basename(entry.retrieval.path)
                beside += [f"{place}/{copy}" for place in (SNAPSHOTS, PROCESSED, FAILED)]
        paths |= dict.fromkeys((path, *existing_paths(root, beside)))
    return InboxTraces(tuple(paths), frozenset(keys), frozenset(made_ids))


_REPLIES = "replies"


@frozen
class RunTraces:
    """Finds traces in `runs/` of a real root, and removes them.

    A run whose footprint, section or plan held one loses its details, except for what it did to other notes: that can
    still be undone. The file `forgotten.json` in its directory says so; it is written first.
    """

    root: str
    work: ForgettingAtWork
    words: TraceWords = field(init=False, default=Factory(lambda self: self.work.words, takes_self=True))

    def runs(self) -> tuple[str, ...]:
        """Returns the runs that lose their details, newest first. Nothing is changed."""
        return tuple(filter(self._holds_trace, reversed(self._names())))

    def remove(self) -> None:
        """Removes the details of the runs that lose them, matching work for the next run, and every other trace; twice
        is harmless."""
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
        touched = self.work.touched_ids
        self._rewrite(f"{RUNS}/deferred.json", self._other_changes)
        self._rewrite(
            f"{RUNS}/deferred-actions.json",
            lambda data: DEFERRED.render(
                [each for each in DEFERRED.parse(data, "") if touched.isdisjoint(ids_of(each.action))]
            ).encode(),
        )
        if self.words.names_one(self._text(memo := f"{RUNS}/tiering.json") or ""):
            remove_file(self.root, memo)  # derived data is made anew
        for path in self._files(DELIVERIES):
            self._rewrite(path, self._other_deliveries)

    # -- looking ------------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        names = subdirectories(f"{self.root}/{RUNS}")
        return [name for name in names if not name.startswith(".") and f"{RUNS}/{name}" != DELIVERIES]

    def _holds_trace(self, run: str) -> bool:
        for path in self._files(f"{RUNS}/{run}"):
            name = path.rpartition("/")[2]
            if name in (FORGOTTEN_MARK, REPORT) or _REPLIES in path.split("/"):
                continue  # reports and replies are checked one by one
            if name.startswith("footprint-"):
                footprint = as_result(FOOTPRINT.parse)(self._read(path) or b"", path).value_or(None)
                # A damaged one cannot be undone any more, and nobody can tell what is in it.
                if footprint is None or any(map(self._is_trace_in, footprint.files)):
                    return True
            elif self.words.names_one(self._text(path) or ""):
                return True
        return False

    def _is_trace_in(self, change: FileChange) -> bool:
        if id_at(change.path) in self.work.touched_ids:
            return True
        session = None if self.work.session_id is None else self.work.session_id.encode("utf-8", "surrogatepass")
        states = (state.data for state in (change.before, change.after) if state is not None)
        return session is not None and any(session in data for data in states)

    # -- removing -----------------------------------------------------------------------------------------------------

    def _of_others(self, run: str) -> tuple[FileChange, ...]:
        """Returns what the run did to unrelated notes; nothing where that cannot be told."""
        footprint = RunLog(self.root).footprint(run)
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
        """Removes the replies of a run that processed what is forgotten, or, for a session, of which no report tells
        whose they are; and others that state it."""
        report = self._text(f"{RUNS}/{run}/{REPORT}")
        all_go = self.words.names_one(report) if report is not None else self.work.session is not None
        for path in self._files(f"{RUNS}/{run}/{_REPLIES}"):
            # The text of a reply is JSON inside JSON.
            text = (self._text(path) or "").replace("\\\\", "\\").replace("\\n", "\n")
            if all_go or self.words.names_one(text, shortened=True) or self.words.is_in(text):
                remove_file(self.root, path)

    def _other_changes(self, data: bytes) -> bytes:
        """Returns what waits to be written, without changes that come from the session: they go whole, since nobody has
        seen them yet."""

        def stays(change: Change) -> bool:
            if change.id in self.work.touched_ids:
                return False
            if change.entry is None or self.work.session is None:
                return True
            return share_of(change.entry.meta, self.work.session) == "none"

        return CHANGES.render([each for each in CHANGES.parse(data, "") if stays(each)]).encode()

    def _other_deliveries(self, data: bytes) -> bytes:
        """Returns what other sessions were told of other notes, or they would be told it again."""
        ids = f'"(?:{"|".join(map(re.escape, self.words.ids)) or "-"})"'
        others = re.sub(f", {ids}|{ids}(?:, )?", "", data.decode("utf-8", "replace"))
        return "\n".join(line for line in others.split("\n") if not self.words.names_one(line)).encode()

    # -- files --------------------------------------------------------------------------------------------------------

    def _files(self, directory: str) -> list[str]:
        """Returns every file below, with the directories of replies; by path, the last footprint first."""
        paths = files_below(f"{self.root}/{directory}")
        return sorted((path[len(self.root) + 1 :] for path in paths), reverse=True)

    def _read(self, path: str) -> bytes | None:
        return read_bytes(self.root, path, MAX_RUN_FILE_BYTES)

    def _text(self, path: str) -> str | None:
        data = self._read(path)
        return None if data is None else data.decode("utf-8", "replace")

    def _rewrite(self, path: str, rewritten: Callable[[bytes], bytes]) -> None:
        """Rewrites a file. One that cannot be parsed is removed if it names what is forgotten; else whoever uses it
        reports it (P6)."""
        data = self._read(path)
        if data is None:
            return
        try:
            new = rewritten(data)
        except StateCorrupt:
            if self.words.names_one(data.decode("utf-8", "replace")):
                remove_file(self.root, path)
            return
        if new != data:
            write_text(self.root, path, new.decode("utf-8", "replace"))


# -- records without what was forgotten, whatever else they hold -------------------------------------------------------


def forgetful_report(data: bytes, words: TraceWords) -> bytes:
    """Returns the report of a run without the session and with `(forgotten)` in place of any text that states what was
    forgotten. Ids of notes stay, so that the log still tells what the run changed. The same bytes if nothing is
    forgotten."""
    report = get.parsed(data)
    if not is_object(report):
        raise StateCorrupt(REPORT, ("it is not a report",))
    sessions = filter(is_object, get.items(report, "sessions") if words.session_id is not None else ())
    gone = [each for each in sessions if each.get("session") == words.session_id]
    outcomes = filter(is_object, (each.get("outcome") for each in gone))
    # The report may repeat elsewhere what it says of the session.
    said = {text for outcome in outcomes for text in get.items(outcome, "dropped") if isinstance(text, str) and text}

    def without(value: Any) -> Any:
        if is_object(value):
            told = {key: without(each) for key, each in value.items()}
            is_gone = not words.ids.isdisjoint((*get.items(value, "ids"), *get.items(value, "newIds")))
            return {**told, "words": FORGOTTEN} if is_gone and value.get("words") else told
        if is_list(value):
            return [without(each) for each in value if each not in gone]
        if not isinstance(value, str):
            return value
        is_of_session = words.session_id is not None and words.session_id in value
        return FORGOTTEN if value in said or words.is_in(value) or is_of_session else value

    cleaned = without(report)
    text = json.dumps(cleaned, ensure_ascii=False, indent=1) + "\n"
    return data if cleaned == report else text.encode("utf-8", "replace")
