"""What runs keep of what is forgotten: replies, plans, footprints, managed sections, reports, deferred changes.

A run of which a footprint or a section held it loses its details, but for what it did to other notes: that can still be
undone. The file `forgotten.json` in its directory says so; it is written first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from returns.result import Failure

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.disk.paths import as_store_io, directory_in, real_root
from agent_memory.adapters.disk.root_files import files_below, read_bytes, remove_file, subdirectories, write_text
from agent_memory.adapters.forgetting.note_traces import id_at
from agent_memory.adapters.records.run_log_files import FORGOTTEN_MARK, RUNS, RunLogFiles
from agent_memory.adapters.store.reversal import files_together, without
from agent_memory.domain.actions import ids_of
from agent_memory.domain.change import Change, Create, Replace, subject_of
from agent_memory.domain.forgetting import FORGOTTEN, SessionKey, TraceWords, share_of
from agent_memory.domain.instants import iso_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.domain.undo_run import Footprint
from agent_memory.errors import StateCorrupt
from agent_memory.formats.footprint_json import FOOTPRINT
from agent_memory.formats.run_json import CHANGES, DEFERRED
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.results import as_result

_REPORT = "report.json"
_REPLIES = "replies"
_MAX_BYTES = 1 << 30


@frozen
class RunTraces:
    """Looks through `runs/` of a root for the traces of some entries and, maybe, a session; and removes them."""

    root: Path
    words: TraceWords
    touched_ids: frozenset[str]
    """Entries of which some file goes or is rewritten: what runs kept of those files is not to come back."""
    session: SessionKey | None

    def runs(self) -> tuple[str, ...]:
        """The runs that lose their details, newest first. Nothing is changed."""
        return tuple(sorted(filter(self._holds_trace, self._names()), reverse=True))

    def remove(self, runs: tuple[str, ...], at_ms: int) -> None:
        """Take the details of these runs, what waits for the next run, and every other trace. Doing it twice is harmless."""
        for name in runs:
            self._remove_details(name, at_ms)
        for name in self._names():
            self._remove_replies(name)
            path = f"{RUNS}/{name}/{_REPORT}"
            self._rewrite(path, partial(forgetful_report, words=self.words, path=path))
        self._rewrite(f"{RUNS}/deferred.json", self._other_changes)
        self._rewrite(f"{RUNS}/deferred-actions.json", self._other_actions)
        self._rewrite(f"{RUNS}/owed.json", partial(forgetful_commits, words=self.words, path=""))
        memo = self._read(f"{RUNS}/tiering.json")
        if memo is not None and self._is_named_in(memo):
            remove_file(self._real, f"{RUNS}/tiering.json")  # what is derived is made anew

    # -- looking ------------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [name for name in subdirectories(f"{self._real}/{RUNS}") if not name.startswith(".")]

    def _holds_trace(self, run: str) -> bool:
        for path in self._files(f"{RUNS}/{run}"):
            name = path.rpartition("/")[2]
            if name in (FORGOTTEN_MARK, _REPORT) or _REPLIES in path.split("/"):
                continue  # reports and replies are looked at one by one
            data = self._read(path)
            if data is None:
                continue
            if not name.startswith("footprint-"):
                if self._is_named_in(data):
                    return True
                continue
            footprint = as_result(FOOTPRINT.parse)(data, path).value_or(None)
            # A damaged one can be undone no more, and nobody can tell what is in it.
            if footprint is None or any(map(self._is_trace_in, footprint.files)):
                return True
        return False

    def _is_trace_in(self, change: FileChange) -> bool:
        if id_at(change.path) in self.touched_ids:
            return True
        session = None if self.session is None else self.session.session_id.encode("utf-8", "surrogatepass")
        states = (state.data for state in (change.before, change.after) if state is not None)
        return session is not None and any(session in data for data in states)

    def _is_named_in(self, data: bytes) -> bool:
        """Whether a file holds an id of what goes, as it is or as JSON writes it."""
        for id in (*self.words.ids, *(() if self.session is None else (self.session.session_id,))):
            if id.encode("utf-8", "surrogatepass") in data or json.dumps(id)[1:-1].encode("ascii") in data:
                return True
        return False

    # -- removing -----------------------------------------------------------------------------------------------------

    def _remove_details(self, run: str, at_ms: int) -> None:
        mark, first = f"{RUNS}/{run}/{FORGOTTEN_MARK}", f"{RUNS}/{run}/footprint-1.json"
        write_text(self._real, mark, json.dumps({"version": 1, "at": iso_of(at_ms)}) + "\n")
        stay = [f"{RUNS}/{run}/{_REPORT}", mark]
        if kept := self._of_others(run):
            write_text(self._real, first, FOOTPRINT.render(Footprint(kept)))
            stay.append(first)
        for path in self._files(f"{RUNS}/{run}"):
            if path not in stay:
                remove_file(self._real, path)

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
        return tuple(
            FileChange(each.path, self._fewer_tiers(each.before), self._fewer_tiers(each.after))
            if each.path == TIERS_FILE
            else each
            for each in others
        )

    def _fewer_tiers(self, state: FileState | None) -> FileState | None:
        if state is None:
            return None
        tiers = parse_tiers(state.data, TIERS_FILE).map(lambda found: without(found, self.touched_ids))
        return evolve(state, data=render_tiers(tiers.value_or(TierList())))

    def _remove_replies(self, run: str) -> None:
        """Replies of a run that dealt with what went, or of which no report says whose they are, where a session is
        forgotten; and others that state it."""
        report = self._read(f"{RUNS}/{run}/{_REPORT}")
        all_go = self._is_named_in(report) if report is not None else self.session is not None
        for path in self._files(f"{RUNS}/{run}/{_REPLIES}"):
            # The text of a reply is JSON inside JSON.
            text = (self._read(path) or b"").decode("utf-8", "replace").replace("\\\\", "\\").replace("\\n", "\n")
            if all_go or self.words.names_one(text) or self.words.is_in(text):
                remove_file(self._real, path)

    def _other_changes(self, data: bytes) -> bytes:
        """What waits to be written and comes from the session goes as a whole: nobody has seen it yet."""

        def stays(change: Change) -> bool:
            if subject_of(change) in self.touched_ids:
                return False
            if not isinstance(change, Create | Replace) or self.session is None:
                return True
            return share_of(change.entry.meta, self.session) == "none"

        return CHANGES.render([each for each in CHANGES.parse(data, "") if stays(each)]).encode()

    def _other_actions(self, data: bytes) -> bytes:
        found = DEFERRED.parse(data, "")
        return DEFERRED.render([each for each in found if self.touched_ids.isdisjoint(ids_of(each.action))]).encode()

    # -- files --------------------------------------------------------------------------------------------------------

    @property
    def _real(self) -> str:
        return real_root(self.root)

    def _files(self, directory: str) -> list[str]:
        """Every file below, with the directories of replies; by path, the last footprint first."""
        paths = files_below(f"{self._real}/{directory}")
        return sorted((path[len(self._real) + 1 :] for path in paths), reverse=True)

    def _read(self, path: str) -> bytes | None:
        return read_bytes(self._real, path, _MAX_BYTES)

    def _rewrite(self, path: str, rewritten: Callable[[bytes], bytes]) -> None:
        """A file that cannot be understood goes where it names what is forgotten; else whoever uses it tells of it (P6)."""
        data = self._read(path)
        if data is None:
            return
        try:
            new = rewritten(data)
        except StateCorrupt:
            if self._is_named_in(data):
                remove_file(self._real, path)
            return
        if new != data:
            write_text(self._real, path, new.decode("utf-8", "replace"))


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


def forgetful_report(data: bytes, words: TraceWords, path: str) -> bytes:
    """The report of a run without the session, and without any text that states what was forgotten: `(forgotten)` is in its
    place. Ids of entries stay, so that the log still tells what the run changed. The same bytes where nothing goes."""
    report = _document(data)
    if not is_object(report):
        raise StateCorrupt(path, ("it is not a report",))
    kept = dict(report)
    said: set[str] = set()  # of a session that goes, which the report may say again elsewhere
    for session in filter(is_object, _list_at(report, "sessions")):
        if words.session_id is not None and session.get("session") == words.session_id:
            outcome = session.get("outcome")
            dropped = _list_at(outcome, "dropped") if is_object(outcome) else []
            said |= {text for text in dropped if isinstance(text, str) and text}
            kept["sessions"] = [each for each in kept["sessions"] if each is not session]

    def silenced(action: Any) -> Any:
        """An action without its words, where it is about an entry that went."""
        if not is_object(action) or words.ids.isdisjoint((*_list_at(action, "ids"), *_list_at(action, "newIds"))):
            return action
        return {**action, "words": FORGOTTEN if action.get("words") else ""}

    def without(value: Any) -> Any:
        if is_object(value):
            return {key: without(each) for key, each in value.items()}
        if is_list(value):
            return [without(each) for each in value]
        if not isinstance(value, str):
            return value
        is_of_session = words.session_id is not None and words.session_id in value
        return FORGOTTEN if value in said or words.is_in(value) or is_of_session else value

    if is_list(report.get("actions")):
        kept["actions"] = [silenced(each) for each in report["actions"]]
    cleaned = without(kept)
    return data if cleaned == report else _dumped(cleaned)


def forgetful_commits(data: bytes, words: TraceWords, path: str) -> bytes:
    """Pending commits without the words of those that tell of what was forgotten: their paths stay."""
    commits = _document(data)
    if not is_list(commits):
        raise StateCorrupt(path, ("it is not a list of pending commits",))

    def silenced(commit: Any) -> Any:
        text = json.dumps(commit, ensure_ascii=False)
        if not is_object(commit) or not (words.names_one(text) or words.is_in(text)):
            return commit
        return {**commit, "subject": FORGOTTEN, "body": "", "thread_id": None}

    cleaned = [silenced(each) for each in commits]
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
