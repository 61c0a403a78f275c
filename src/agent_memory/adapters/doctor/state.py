"""Files of ours that hold state, what waits in the inbox, the agent command and the repository: whether each is sound."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.chosen_command import choose_command, shown_command, uses_builtin
from agent_memory.adapters.disk.io_errors import as_store_io, store_io
from agent_memory.adapters.disk.paths import exists, is_directory
from agent_memory.adapters.disk.root_files import read_bytes
from agent_memory.adapters.git.git_process import GitOutput, GitProcess
from agent_memory.adapters.git.git_repository import GitRepository, stale_locks
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import entry_in
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.config import LlmConfig
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, trouble
from agent_memory.domain.doctor.store_checks import TIERS_FILE, Found, GitFacts
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import COPY, SessionMark
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot
from agent_memory.domain.instants import HOUR_MS
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, TagVocabulary
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import ERRORS, AgentMissing, Error, InboxEntryInvalid, PathRefused, StateCorrupt, StoreIo
from agent_memory.formats.bookkeeping_json import parse_session_mark
from agent_memory.results import sealed, unwrap
from agent_memory.wording import describe

_STATE = "state"
_SESSIONS = "state/sessions"
_RUNS = "runs"
_RUN_STATE = ("deferred.json", "deferred-actions.json", "owed.json", "tiering.json", "undone.json", "undoing.json")
_CHECKPOINTS = ("checkpoint", "defrag")
_MAX_BYTES = 64 << 20


def examine_state(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Of the files that were seen every one below `state/` but the tier list and the vocabulary, and what lies in `runs/` beside the reports."""
    for path in _json_files(walked):
        if path in (TIERS_FILE, VOCABULARY_FILE):
            continue
        yield from _examine_mark(root, path) if path.startswith(f"{_SESSIONS}/") else _examine_json(root, path)
    for name in _RUN_STATE:
        yield from _examine_json(root, f"{_RUNS}/{name}")
    yield from _examine_checkpoints(root, walked, now_ms)


def examine_vocabulary(read: Result[TagVocabulary, Error]) -> Iterator[Finding]:
    """What keeps the tags from being held against the vocabulary."""
    if isinstance(read, Failure):
        error = read.failure()
        problem = "; ".join(error.problems) if isinstance(error, StateCorrupt) else describe(error).rstrip(".")
        yield of.DAMAGED_STATE.found(
            VOCABULARY_FILE, f"No tag is held against it: {problem}; restore it from git or a backup, or move it away"
        )


def _examine_json(root: str, path: str) -> Iterator[Finding]:
    match _read(root, path):
        case str(problem):
            yield of.DAMAGED_STATE.found(path, f"{problem}; restore it from git or a backup, or move it away")
        case bytes(data) if not _is_json(data):
            yield of.DAMAGED_STATE.found(path, "It is not JSON; restore it from git or a backup, or move it away")
        case _:  # it is not there, or is what it should be
            return


def _examine_mark(root: str, path: str) -> Iterator[Finding]:
    match _read(root, path):
        case bytes(data):
            parsed = parse_session_mark(data, path)
            problem = "; ".join(getattr(parsed.failure(), "problems", ())) if isinstance(parsed, Failure) else ""
        case read:
            problem = read or ""
    if problem:
        yield of.DAMAGED_STATE.found(
            path,
            f"Its session cannot go on: {problem}; move the file away to consolidate that session from its beginning",
        )


def _examine_checkpoints(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    for each in walked:
        if stat.S_ISDIR(each.mode) and each.path.rpartition("/")[0] == _RUNS:
            for name in _CHECKPOINTS:
                yield from _examine_checkpoint(root, f"{each.path}/{name}", now_ms)


def _examine_checkpoint(root: str, stem: str, now_ms: int) -> Iterator[Finding]:
    path, aside = f"{stem}.json", f"{stem}.unreadable.json"
    match _read(root, path):
        case str(problem):
            yield of.INTERRUPTED_RUN.found(path, f"A run left this, and {problem}")
        case bytes(data) if not _is_json(data, dict):
            damaged = "A run was cut short, and what it noted of how far it had come is damaged"
            yield of.INTERRUPTED_RUN.found(path, f"{damaged}; the next run moves it aside")
        case bytes():
            yield from _examine_age(root, path, now_ms)
        case _:
            pass
    try:
        has_it = exists(f"{root}/{aside}")
    except StoreIo as error:
        yield trouble(error, of.UNREADABLE_STORE)
        return
    if has_it:
        words = "A run was cut short and could not be resumed, so its work was done again; this file may be removed"
        yield of.INTERRUPTED_RUN.found(aside, words)


def _examine_age(root: str, path: str, now_ms: int) -> Iterator[Finding]:
    try:
        age_ms = now_ms - os.lstat(f"{root}/{path}").st_mtime_ns // 1_000_000
    except FileNotFoundError:  # that run has just ended
        return
    except OSError as error:
        yield trouble(store_io(error, "look at", f"{root}/{path}"), of.UNREADABLE_STORE)
        return
    if age_ms > HOUR_MS:
        yield of.INTERRUPTED_RUN.found(path, "A run was cut short; the next one finishes it")


def _is_json(data: bytes, kind: type = object) -> bool:
    try:
        return isinstance(json.loads(data), kind)
    except (ValueError, RecursionError):
        return False


def _read(root: str, path: str) -> bytes | str | None:
    """The bytes, None where there is no such file, or what is wrong with it."""
    try:
        return read_bytes(root, path, _MAX_BYTES)
    except PathRefused as refused:
        return refused.reason
    except StoreIo as error:
        return describe(error).rstrip(".")


def _json_files(walked: Sequence[Found]) -> Iterator[str]:
    for each in walked:
        name = each.path.rpartition("/")[2]
        if each.path.startswith(f"{_STATE}/") and name.endswith(".json") and not name.startswith("."):
            yield each.path


# -- the inbox --------------------------------------------------------------------------------------------------------


def examine_pending(root: str, names: Sequence[str], walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Every pending entry that cannot be understood, and, of the files that were seen, every snapshot that has waited an
    hour for its entry. While an entry cannot be read it may name any of them (P6)."""
    named: set[str] = set()
    is_all_read = True
    for name in names:
        match sealed(entry_in(f"{root}/{INBOX}/{name}")):
            case Success(entry):
                if entry is not None and isinstance(entry.retrieval, FileSnapshot):
                    named.add(entry.retrieval.path)
            case Failure(InboxEntryInvalid(problems)):
                yield of.MALFORMED_ENTRY.found(
                    f"{INBOX}/{name}", f"It is no inbox entry: {'; '.join(problems)}; the next run moves it aside"
                )
            case Failure(error):
                is_all_read = False
                yield of.MALFORMED_ENTRY.found(f"{INBOX}/{name}", describe(error).rstrip("."))
    for snapshot in _snapshots(walked) if is_all_read else ():
        if snapshot.path not in named and now_ms - snapshot.mtime_ms > HOUR_MS:
            yield of.ORPHAN_SNAPSHOT.found(
                snapshot.path,
                "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it",
            )


def _snapshots(walked: Sequence[Found]) -> Iterator[Found]:
    for each in walked:
        directory, _, name = each.path.rpartition("/")
        if directory == SNAPSHOTS and not name.startswith("."):
            yield each


# -- false copies -----------------------------------------------------------------------------------------------------


def false_copies(
    marks: Iterable[Result[SessionMark, Error]], sessions: Iterable[Result[FoundSession, Error]]
) -> tuple[SessionMark, ...]:
    """The marks of copies whose transcript is there while their last record is in none of a session that is no copy. A session
    that cannot be read is one that may hold it."""
    copies = {mark.session_id: mark for each in marks if (mark := each.value_or(None)) and mark.agent_name == COPY}
    if not copies:
        return ()
    found = [session for each in sessions if (session := each.value_or(None)) is not None]
    doubtful = {session.session_id: copies[session.session_id] for session in found if session.session_id in copies}
    for session in found:
        if session.session_id in copies or session.path is None:
            continue
        try:
            with open(session.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                held = [id for id, mark in doubtful.items() if text.find(mark.last_record_id.encode()) >= 0]
        except ValueError:  # it is empty
            continue
        except OSError:
            return ()
        for id in held:
            del doubtful[id]
    return tuple(doubtful.values())


# -- the agent command ------------------------------------------------------------------------------------------------


def agent_trouble(llm: LlmConfig, environ: Mapping[str, str]) -> Error | None:
    """Why the command cannot be run: AgentMissing, ConfigInvalid, PresetRefused; None where nothing speaks against it."""
    if uses_builtin(llm):
        return None
    match sealed(choose_command(llm, home_of(environ))):
        case Failure(error):
            return error
        case Success(command):
            path = environ.get("PATH", os.defpath)
            return None if shutil.which(command.argv[0], path=path) else AgentMissing(shown_command(command.argv[:1]))


# -- the repository ---------------------------------------------------------------------------------------------------

_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_SAID_CHARS = 160
_DETACHED = 1
"""How `git symbolic-ref --quiet` ends where HEAD is on no branch; any other status but 0 is damage."""
# Asked of a path that is never tracked, so that history and index are read, and fifty thousand files not looked at.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--", ".git")


def read_git(root: Path, environ: Mapping[str, str], owed: int) -> GitFacts:
    """The repository as it lies there, of which nothing is changed, not even its index; `owed` are the writes that wait to
    be recorded."""
    git = GitProcess(root, environ)
    facts = GitFacts(present=True, owed=owed)
    try:
        if not exists(str(root / ".git")):
            facts = evolve(facts, present=False)
            if unwrap(is_directory(str(root))):  # there is something to record
                git.run("--version")
            return facts
        where = git_directory(root, environ)
        with as_store_io("look through", str(where)):
            facts = evolve(facts, stale_locks=tuple(os.path.relpath(path, root) for path in stale_locks(root, where)))
        status = git.run(*_STATUS)
        unmerged = git.run("ls-files", "-z", "--unmerged") if status.ok else status
        if not unmerged.ok:
            return evolve(facts, trouble=_unreadable(unmerged))
        head = git.run("symbolic-ref", "--quiet", "--short", "HEAD")
        return evolve(
            facts,
            trouble=_unreadable(head) if head.status > _DETACHED else "",
            branch=head.stdout.decode("utf-8", "replace").strip() if head.ok else None,
            unfinished=next((what for name, what in _UNFINISHED.items() if exists(f"{where}/{name}")), ""),
            # Each file has an entry for each side: `<mode> <object> <stage>`, a tab, the path.
            conflicted=tuple(
                dict.fromkeys(os.fsdecode(each.partition(b"\t")[2]) for each in unmerged.stdout.split(b"\0") if each)
            ),
        )
    except ERRORS as error:
        return evolve(facts, trouble=describe(error))


def git_directory(root: Path, environ: Mapping[str, str]) -> Path:
    """Where git keeps the repository of a root."""
    return GitRepository(GitProcess(root, environ)).directory()


def _unreadable(output: GitOutput) -> str:
    said = one_line(output.stderr, _SAID_CHARS) or f"status {output.status}"
    return f"Git cannot read the history ({said}); the next run mends it, or moves it aside and begins a new one"
