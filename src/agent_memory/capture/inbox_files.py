"""The queue on disk: one JSON file for each entry in `inbox/`, with `.processed/` and `.failed/` below it; and the JSON of
an entry and of the troubles of pending ones, version 1 (docs/contributing/formats.md).

Any step of an entry that leaves or returns may be the last before a crash (P3): it is written to its new place, with
its outcome, before it is removed from the old one; a rerun finds it in both and continues. Nothing is overwritten but
an earlier copy of the very same entry. Consumed entries are kept without the secrets in their paths; given-up ones keep
what finds their session, since they may return. A malformed file is moved aside with the reason beside it, without
secrets (P20), never deleted (P6).

None stands for a missing file, and `InboxEntryInvalid` for a malformed one; any other error says nothing about its
content (P6).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.capture.hook_files import (
    FAILED,
    INBOX,
    PROCESSED,
    REASON_ENDING,
    is_entry_name,
    put_text,
    random_digits,
)
from agent_memory.capture.places import known_places, repo_now
from agent_memory.capture.session_event import method_of
from agent_memory.errors import Error, InboxEntryInvalid, PathRefused, StoreIo
from agent_memory.files.durable import create_file, make_directories, move_file, replace_file
from agent_memory.files.paths import (
    JsonFile,
    as_store_io,
    directory_in,
    exists,
    names_below,
    names_in,
    read_image,
    remove_file,
    write_text,
)
from agent_memory.redaction.redact import redact_path, redact_with_paths
from agent_memory.results import as_result
from agent_memory.session.queue import (
    SESSION_METHODS,
    SNAPSHOTS,
    UPGRADE_EVENT,
    AmpThread,
    FailedEntry,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    KnownSessions,
    Loaded,
    Outcome,
    Pending,
    Quarantined,
    Retrieval,
    SessionFile,
    Trouble,
    as_captured,
    as_consumed,
    fold_queue,
    is_same_work,
    queue_key,
    session_key,
)
from agent_memory.text.instants import iso_of, ms_in_name
from agent_memory.text.json_codec import Format, InvalidValue, load_json, tagged_union

MAX_ENTRY_BYTES = 256 * 1024
MAX_RETIRED_BYTES = 4 << 20

# -- an entry as JSON -------------------------------------------------------------------------------------------------

tagged_union(
    Retrieval,
    "method",
    {
        "amp-thread": AmpThread,
        **dict.fromkeys(SESSION_METHODS, SessionFile),
        "file": FileSnapshot,
        "inline": InlineNote,
    },
)


def _harness_problem(entry: InboxEntry) -> Iterator[str]:
    method = entry.retrieval.method
    if isinstance(entry.retrieval, SessionFile | AmpThread) and method != method_of(entry.harness):
        yield f"harness is {entry.harness.value!r}, but {method} belongs to {method.rpartition('-')[0]}"


_ENTRY = Format(InboxEntry, indent=None, check=_harness_problem)


def entry_of(text: str) -> InboxEntry:
    """Returns the entry in a JSON text; raises InboxEntryInvalid with every problem as `key what is wrong`."""
    try:
        return _ENTRY.value_of(load_json(text))
    except InvalidValue as error:
        raise InboxEntryInvalid(error.problems) from error


parse_inbox_entry = as_result(entry_of)

render_inbox_entry = _ENTRY.render
"""Returns one line of JSON; `entry_of` returns the same entry if it is valid."""


# -- names and files --------------------------------------------------------------------------------------------------


def printable(name: str) -> str:
    """Returns a file's name as it is safe to show on any terminal."""
    return name if name.isprintable() else ascii(name)[1:-1]


def entry_in(root: str, place: str, name: str) -> InboxEntry | None:
    """Returns the entry in a file of the inbox (`place`: INBOX, PROCESSED or FAILED)."""
    try:
        image = read_image(f"{root}/{place}/{name}", MAX_ENTRY_BYTES if place == INBOX else MAX_RETIRED_BYTES)
        return None if image is None else entry_of(image.data.decode())
    except PathRefused as refused:
        raise InboxEntryInvalid((refused.reason,)) from refused
    except UnicodeDecodeError as error:
        raise InboxEntryInvalid((f"the file is not UTF-8 at byte {error.start:,}",)) from error


# -- what was given up ------------------------------------------------------------------------------------------------

MOST_REASONS = 200
"""Reasons are read for this many entries, so that a status stays quick."""


@as_result
def failed_entries(root: str) -> tuple[FailedEntry, ...]:
    """Returns every given-up entry and every invalid file, by name."""
    directory = f"{root}/{FAILED}"
    present = frozenset(names_in(directory))
    found: list[FailedEntry] = []
    for number, name in enumerate(sorted(filter(is_entry_name, present))):
        malformed = f"{name}{REASON_ENDING}" in present
        path = f"{directory}/{name}{REASON_ENDING if malformed else ''}"
        found.append(FailedEntry(printable(name), _reason(path) if number < MOST_REASONS else "", malformed))
    return tuple(found)


def _reason(path: str) -> str:
    """Returns the reason in a file of ours; empty if it cannot be read, so that the rest of the status is still shown."""
    try:
        image = read_image(path, 1 << 20)
        document = None if image is None else json.loads(image.data)
    except (PathRefused, StoreIo, ValueError, RecursionError):
        return ""
    match document:
        case {"problems": [*problems]}:
            return "; ".join(map(str, problems))
        case {"outcome": {"reason": str(reason)}}:
            return reason
        case _:
            return ""


_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_([a-z][a-z-]*)_[0-9A-Za-z]+\.json", re.ASCII)


@as_result
def captures(root: str) -> tuple[tuple[str, int], ...]:
    """Returns harness and time (epoch ms) of every entry, from their names; each harness's newest last."""
    found = chain.from_iterable(names_below(root, relative) for relative in (INBOX, PROCESSED, FAILED))
    told = [(name[1], ms_in_name(name[0])) for name in map(_NAME.fullmatch, found) if name]
    return tuple(sorted((harness, at_ms) for harness, at_ms in told if at_ms is not None))


MOST_OPENED = 5_000
"""How many files are opened, by name: a name begins with the time of its capture."""


def newest_entries(root: str, places: Iterable[str], most: int = MOST_OPENED) -> Iterator[Result[InboxEntry, Error]]:
    """Yields the newest entries in these places; an error if one cannot be read, which may be the newest (P6).
    Malformed files, which `memory status` reports, and files moved meanwhile are left out."""
    found: list[tuple[str, str]] = []
    for place in places:
        try:
            found += [(name, place) for name in names_below(root, place, is_entry_name)]
        except (StoreIo, PathRefused) as error:
            yield Failure(error)
    for name, place in sorted(found, reverse=True)[:most]:
        try:
            entry = entry_in(root, place, name)
        except InboxEntryInvalid:
            continue
        except (StoreIo, PathRefused) as error:
            yield Failure(error)
        else:
            if entry is not None:
                yield Success(entry)


TROUBLES = f"{INBOX}/.queue.json"
TROUBLES_FORMAT = Format(dict[str, Trouble], member="troubles")
MAX_BYTES = 64 << 20


def _troubles_file(root: str) -> JsonFile[dict[str, Trouble]]:
    return JsonFile(root, TROUBLES, TROUBLES_FORMAT, MAX_BYTES)


def troubles_of(root: str) -> Mapping[str, Trouble]:
    """Returns the troubles of all entries by `queue_key`. A damaged file is StateCorrupt, never "no trouble" (P6)."""
    return _troubles_file(root).read() or {}


def change_troubles(root: str, changes: Mapping[str, Trouble | None]) -> None:
    """Replaces the troubles of these entries; None removes one. Only the holder of the run lock may call it. Writes
    nothing if nothing changes."""
    known = troubles_of(root)
    changed = {key: trouble for key, trouble in sorted({**known, **changes}.items()) if trouble is not None}
    if changed != known:
        _troubles_file(root).write(changed)


@frozen
class Inbox:
    """Keeps the queue on disk (P1, P3, P6, P7). Any process may `put` and list at any time; everything else needs the run
    lock."""

    root: Path
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)

    @as_result
    def put(self, entry: InboxEntry) -> str:
        """Returns the name under which the entry is now durable. An entry that could not be read back is refused, with
        every problem; the branch is redacted."""
        entry = as_captured(entry)
        text = render_inbox_entry(entry)
        entry_of(text)
        return put_entry(str(self.root), entry, text)

    @as_result
    def waiting(self) -> tuple[int, int | None]:
        """Returns how many sessions and notes a run would find, and the time of the oldest in epoch ms. Changes nothing;
        a file that cannot be read counts as one."""
        names = self._listed(INBOX)

        def entries() -> Iterator[tuple[str, InboxEntry]]:
            for name in names:
                with suppress(Error):
                    if (entry := entry_in(str(self.root), INBOX, name)) is not None:
                        yield name, entry

        folded = fold_queue(entries(), {}, 0).pending
        unread = len(names) - sum(len(each.names) for each in folded)
        return len(folded) + unread, ms_in_name(names[0]) if names else None

    def recent(self, most: int = MOST_OPENED) -> Iterator[Result[InboxEntry, Error]]:
        """Yields the newest entries of sessions, whatever their outcome."""
        for each in newest_entries(str(self.root), (INBOX, PROCESSED, FAILED), most):
            if isinstance(each, Failure) or not isinstance(each.unwrap().retrieval, InlineNote | FileSnapshot):
                yield each

    @as_result
    def load(self, now_ms: int) -> Loaded:
        """Returns the folded queue in working order; malformed files are quarantined, and do not stop the others. A
        context without a repository gets that of its directory."""
        troubles = troubles_of(str(self.root))
        taken, left = list[Quarantined](), list[Quarantined]()

        def entries() -> Iterator[tuple[str, InboxEntry]]:
            for name in self._listed(INBOX):
                try:
                    entry = self._pending_entry(name)
                except InboxEntryInvalid as malformed:
                    told, is_moved = _quarantine(str(self.root), name, malformed.problems, now_ms)
                    (taken if is_moved else left).append(told)
                except (StoreIo, PathRefused) as error:
                    left.append(Quarantined(printable(name), str(error)))
                else:
                    if entry is not None:
                        yield name, entry

        queue = fold_queue(entries(), troubles, now_ms)
        repo_of = cache(partial(repo_now, environ=self.environ, known=known_places(self.environ, str(self.root))))
        pending: list[Pending] = []
        for one in queue.pending:
            context = one.entry.context
            if context.cwd is not None:
                context = evolve(context, repo=repo_of(context.cwd, context.repo))
            pending.append(evolve(one, entry=evolve(one.entry, context=context)))
        return evolve(
            queue,
            pending=tuple(pending),
            quarantined=tuple(taken),
            unreadable=tuple(left),
            waiting=queue.waiting + len(left),
        )

    @as_result
    def note(self, pending: Pending, trouble: Trouble) -> None:
        """Stores the trouble; the entry stays pending."""
        change_troubles(str(self.root), {queue_key(pending.entry, pending.name): trouble})

    @as_result
    def retire(self, pending: Pending, outcome: Outcome) -> None:
        """Moves all its files to `.processed/` with the outcome added. Files that are there already are fine."""
        self._move_out(pending, outcome, PROCESSED)

    @as_result
    def give_up(self, pending: Pending, outcome: Outcome) -> None:
        """Moves all its files to `.failed/` with the outcome beside them."""
        self._move_out(pending, outcome, FAILED)

    @as_result
    def retry_failed(self) -> int:
        """Brings back what was given up (not what was malformed), its counts cleared; returns the number of entries.
        Entries that fold into one count as one."""
        root, keys = str(self.root), set[str]()
        for name, entry in self._readable(FAILED):
            if isinstance(entry.retrieval, FileSnapshot):
                # If the place of its snapshot cannot be told, the entry must not return without it (P6).
                path = entry.retrieval.path
                copies = (f"{place}/{os.path.basename(path)}" for place in (FAILED, PROCESSED))
                if (there := next((copy for copy in copies if exists(f"{root}/{copy}")), None)) is not None:
                    _move_snapshot(root, there, path)
            pending = evolve(entry, outcome=None)
            new_name = _make_pending(root, name, pending)
            remove_file(root, f"{FAILED}/{name}")
            keys.add(queue_key(pending, new_name))
        change_troubles(root, dict.fromkeys(keys))
        return len(keys)

    @as_result
    def known(self) -> KnownSessions:
        """Returns which sessions are pending and which were given up. Changes nothing, and takes no lock. Malformed
        files are skipped; a file that the operating system cannot read is an error: it may be the very one that the
        caller is asking about."""
        keys: set[str] = set()
        asked_again: set[str] = set()
        for name, entry in self._readable(INBOX):
            key = queue_key(entry, name)
            keys.add(key)
            if entry.context.event == UPGRADE_EVENT:
                asked_again.add(key)
        given_up: dict[str, int] = {}
        for name, entry in self._readable(FAILED):
            if entry.outcome is not None:
                key = queue_key(entry, name)
                given_up[key] = max(entry.outcome.at_ms, given_up.get(key, 0))
        return KnownSessions(frozenset(keys), frozenset(asked_again), given_up)

    def directories(self, most: int) -> Iterator[Result[str, Error]]:
        """Yields the directories of sessions, newest first, with repetitions; an error for what cannot be read (P6)."""
        for each in newest_entries(str(self.root), (INBOX, PROCESSED), most):
            if isinstance(each, Failure):
                yield each
            elif (cwd := each.unwrap().context.cwd) is not None:
                yield Success(cwd)

    def _move_out(self, pending: Pending, outcome: Outcome, target: str) -> None:
        """Moves all files of `pending` to `target` with the outcome added, then the snapshot if there is one. A file
        that is gone counts as moved; one that no longer asks for the same work stays."""
        root = str(self.root)
        for name in pending.names:
            with suppress(InboxEntryInvalid):
                entry = entry_in(root, INBOX, name)
                if entry is not None and is_same_work(entry, name, pending):
                    entry = as_consumed(entry) if target == PROCESSED else as_captured(entry)
                    free = _free_name(root, target, name, entry)
                    write_text(root, f"{target}/{free}", render_inbox_entry(evolve(entry, outcome=outcome)))
                    remove_file(root, f"{INBOX}/{name}")
        snapshot = pending.entry.retrieval
        if isinstance(snapshot, FileSnapshot) and snapshot.path.startswith(f"{SNAPSHOTS}/"):
            _move_snapshot(root, snapshot.path, f"{target}/{os.path.basename(snapshot.path)}")
        change_troubles(root, dict.fromkeys(key(pending.entry, pending.name) for key in (queue_key, session_key)))

    def _listed(self, relative: str) -> tuple[str, ...]:
        return tuple(sorted(names_below(str(self.root), relative, is_entry_name)))

    def _pending_entry(self, name: str) -> InboxEntry | None:
        """Returns the entry; None if it was removed, or was finished by a run that stopped before removing it here
        (P3)."""
        if not name.isprintable():
            raise InboxEntryInvalid(("the file's name cannot be printed",))
        entry, retired = entry_in(str(self.root), INBOX, name), None
        if entry is not None:
            with suppress(InboxEntryInvalid):
                retired = entry_in(str(self.root), PROCESSED, name)
            if retired is not None and evolve(retired, outcome=None) == as_consumed(entry):
                remove_file(str(self.root), f"{INBOX}/{name}")
                return None
        return entry

    def _readable(self, relative: str) -> Iterator[tuple[str, InboxEntry]]:
        for name in self._listed(relative):
            with suppress(InboxEntryInvalid):
                found = entry_in(str(self.root), relative, name)
                if found is not None:
                    yield name, found


# -- leaving and returning --------------------------------------------------------------------------------------------


def _free_name(root: str, directory: str, name: str, entry: InboxEntry) -> str:
    """Returns the name, or the first free numbered one; a copy of this very entry may be replaced."""
    stem = name.removesuffix(".json")
    for candidate in (name, *(f"{stem}~{number}.json" for number in range(2, 100))):
        with suppress(Error):
            there = entry_in(root, directory, candidate)
            if there is None or evolve(there, outcome=None) == entry:
                return candidate
    return f"{stem}~{random_digits()}.json"


def _make_pending(root: str, name: str, entry: InboxEntry) -> str:
    path = f"{root}/{INBOX}/{name}"
    text = render_inbox_entry(entry)
    try:
        with as_store_io("write", path):
            create_file(path, text.encode("utf-8", "backslashreplace"))
    except StoreIo as taken:
        if taken.errno_name != "EEXIST":
            raise
        with suppress(Error):
            if entry_in(root, INBOX, name) == entry:
                return name
        return put_entry(root, entry, text)
    return name


def put_entry(root: str, entry: InboxEntry, text: str) -> str:
    """Writes a new inbox file with this text; returns its name."""
    directory = directory_in(root, INBOX)
    with as_store_io("write to", directory):
        make_directories(directory)
        return put_text(root, INBOX, text, iso_of(entry.at_ms), entry.harness, ".json")


# -- snapshots: redacted copies of files, beside the entries that name them -------------------------------------------


@as_result
def put_snapshot(root: str, text: str, original_name: str, at_ms: int) -> str:
    """Stores `text` durably; returns its path, relative to the root, with the safe part of the original's name."""
    stem, ending = os.path.splitext(redact_path(os.path.basename(original_name)))
    label = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:40] or "file"
    safe_ending = ending.lower() if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", ending) else ".txt"
    directory = directory_in(root, SNAPSHOTS)
    with as_store_io("write to", directory):
        return f"{SNAPSHOTS}/{put_text(root, SNAPSHOTS, text, iso_of(at_ms), label, safe_ending)}"


def _move_snapshot(root: str, source: str, target: str) -> None:
    """Moves the snapshot; one that is missing counts as moved."""
    directory = directory_in(root, os.path.dirname(target))
    with as_store_io("move", f"{root}/{source}"), suppress(FileNotFoundError):
        make_directories(directory)
        move_file(f"{root}/{source}", f"{root}/{target}")


# -- malformed files --------------------------------------------------------------------------------------------------

_MAX_NAME_BYTES = 200


def _quarantine(root: str, name: str, problems: Sequence[str], now_ms: int) -> tuple[Quarantined, bool]:
    """Moves the file and writes its reason; returns a description, and whether it could be moved. The reason is durable
    before the file moves, so that the next load repairs a crash in between."""
    safe_name = redact_path(name.removesuffix(".json")) + ".json"
    safe_problems = [redact_with_paths(each) for each in problems]
    told = Quarantined(printable(safe_name), "; ".join(safe_problems))
    target = f"{root}/{FAILED}"
    document = {"version": 1, "name": safe_name, "at": iso_of(now_ms), "problems": safe_problems}
    try:
        make_directories(target)
        free = _free_quarantine_name(target, safe_name)
        _redact_file(f"{root}/{INBOX}/{name}")
        replace_file(f"{target}/{free}{REASON_ENDING}", (json.dumps(document, indent=1) + "\n").encode())
        move_file(f"{root}/{INBOX}/{name}", f"{target}/{free}")
    except OSError as error:
        return evolve(told, reason=f"{told.reason}; and it could not be moved aside: {error.strerror}"), False
    return told, True


def _redact_file(path: str) -> None:
    """Redacts a regular file: whatever it was meant to be, it now stays on the disk."""
    try:
        image = read_image(path, 16 << 20)  # a larger file, 250 times the limit for an entry, is moved as it is
    except (PathRefused, StoreIo):
        return
    text = "" if image is None else image.data.decode(errors="surrogateescape")
    if (safe := redact_with_paths(text)) != text:
        replace_file(path, safe.encode(errors="surrogateescape"))


def _free_quarantine_name(directory: str, name: str) -> str:
    """Returns the name, or if it is taken or too long for its reason's name, part of it with random digits. Raises
    OSError if that cannot be told: another file might be overwritten (P6)."""
    if len(os.fsencode(name)) <= _MAX_NAME_BYTES:
        try:
            os.lstat(f"{directory}/{name}")
        except FileNotFoundError:
            return name
    stem = os.fsdecode(os.fsencode(name.removesuffix(".json"))[: _MAX_NAME_BYTES - 20])
    return f"{stem}~{random_digits()}.json"
