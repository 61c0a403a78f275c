"""The history in git: records one commit for each finished write, in a repository of the store's own (P4); reads it;
and rewrites it without some files (P28).

Recording needs the store's write lock, so that two of our processes never meet in the repository.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from returns.result import Failure

from agent_memory.capture.repository import work_tree_above
from agent_memory.config import StorageConfig
from agent_memory.errors import ConfigInvalid, Error, PathRefused, RecorderFailed
from agent_memory.files.durable import FILE_MODE, make_directories, replace_file
from agent_memory.files.locks import Locks
from agent_memory.files.paths import as_store_io, exists, is_directory, names_in, store_io
from agent_memory.git.git_process import OURSELVES, GitProcess, directory_of, failed, make_ready
from agent_memory.note.file_name import id_in_name
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result, unwrap
from agent_memory.rules.commit_message import (
    IGNORE_FILE,
    IGNORE_TEXT,
    commit_message,
    filled,
    hand_edit_words,
    holds_secret,
    is_bookkeeping,
    is_ignored,
    parse_command_template,
    path_problem,
    wanted_of,
)
from agent_memory.rules.run_log import Revision
from agent_memory.text.json_shape import is_list
from agent_memory.text.plain_text import counted, one_line

_CHECKED_BYTES = 16 * 2**20
"""Larger files are not checked for secrets, and so are not recorded."""
_LEFT_ALONE = frozenset({b"AD", b"DD", b"AU", b"UD", b"UA", b"DU", b"AA", b"UU"})
"""Staged as new but gone, or in conflict: adding such a path would tell git that the person has resolved it."""
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
_OWED = "runs/owed.json"


def _write_in_place(path: Path, data: bytes) -> None:
    """Writes a file for git alone. A write that is cut off leaves nothing beside it, and the next one overwrites it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)


class GitRecorder:
    """The `Recorder` in `<root>/.git`, under the write lock. With `autoCommit: false` every call succeeds and does
    nothing.

    Files that could not be committed are listed in `runs/owed.json` and are committed first the next time (P4), or a
    write of ours would count as the person's hand edit.
    """

    def __init__(self, root: Path, config: StorageConfig, environ: Mapping[str, str], locks: Locks) -> None:
        self._root = root
        self._config = config
        self._environ = environ
        self._locks = locks
        self._owed = root / _OWED
        self._warnings: list[str] = []
        self._git = GitProcess(root, environ)

    def warnings(self) -> tuple[str, ...]:
        """Returns warnings for the person since this recorder was made, each once, as whole sentences."""
        return tuple(self._warnings)

    @as_result
    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> int:
        """See the port. What is owed comes first. A file with a secret stays uncommitted, and `warnings` names it."""
        with self._locks.write():
            if owed := unwrap(owed_paths(self._root)):
                self._make(owed, f"recorded late: {counted(len(owed), 'file')}", "", {})
                self._put(())
            if not self._config.auto_commit or not is_directory(str(self._root)):
                return 0
            names = names_in(str(self._root), lambda name: not is_ignored(name) and not is_bookkeeping(name))
            if not names and not exists(str(self._git.directory)):  # nobody has written a note yet
                return 0
            make_ready(self._git, self._warn)
            wanted = [path for path in self._changed() if among is None or path in among]
            paths = self._without_secrets([path for path in wanted if not self._is_ours(path)])
            if paths:
                subject, body = hand_edit_words(paths)
                self._commit(paths, commit_message(subject, body), (), _person(self._git, self._environ))
            return len(paths)

    @as_result
    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> None:
        """See the port. Paths that are unchanged, ignored or hold a secret are left out; if none is left there is no
        commit. After a failure they are owed."""
        with self._locks.write():
            try:
                self._make(paths, subject, body, {"threadId": thread_id, "harness": harness})
            except PathRefused:
                raise
            except Error:
                self._put((*unwrap(owed_paths(self._root)), *paths))
                raise

    def _put(self, owed: Iterable[str]) -> None:
        paths = list(dict.fromkeys(owed))
        with as_store_io("write", str(self._owed)):
            if not paths:
                self._owed.unlink(missing_ok=True)
                return
            make_directories(str(self._owed.parent))
            replace_file(str(self._owed), json.dumps(paths, indent=1).encode())

    def _make(self, paths: Sequence[str], subject: str, body: str, values: Mapping[str, str | None]) -> None:
        """Commits what has changed of these paths; `values` are for the template of `storage.commitHook`."""
        if not self._config.auto_commit:
            return
        for path in paths:
            if problem := path_problem(path):
                raise PathRefused(path, problem)
        template = parse_command_template(self._config.commit_hook)
        if isinstance(template, Failure):
            raise ConfigInvalid("(effective)", (f"storage.commitHook {template.failure()}",))
        options = filled(template.unwrap(), values)
        make_ready(self._git, self._warn)
        changed = self._changed()
        wanted = self._without_secrets(wanted_of(changed, paths))
        if not wanted:
            return
        along = self._without_secrets([path for path in changed if self._is_ours(path)])
        self._commit(tuple(dict.fromkeys((*wanted, *along))), commit_message(subject, body), options, OURSELVES)

    # -- contents ------------------------------------------------------------------------------------------------------

    def _changed(self) -> tuple[str, ...]:
        """Returns the paths that differ from HEAD and are not ignored, deleted ones included, in git's order."""
        records = self._git.must(*_STATUS).split(b"\0")
        paths = (os.fsdecode(record[3:]) for record in records if record and record[:2] not in _LEFT_ALONE)
        # A trailing slash: a repository inside the store.
        return tuple(path for path in paths if not path.endswith("/") and not is_ignored(path))

    def _is_ours(self, path: str) -> bool:
        """Returns whether only we write this path, so that it is committed together with our writes."""
        return is_bookkeeping(path) or (path == IGNORE_FILE and self._text_of(path) == IGNORE_TEXT)

    def _without_secrets(self, paths: Sequence[str]) -> tuple[str, ...]:
        kept: list[str] = []
        for path in paths:
            text = self._text_of(path)
            why = f"it cannot be read, or is larger than {_CHECKED_BYTES // 2**20} MiB."
            if text is not None:
                why = "it seems to hold a secret. Remove it, or commit the file yourself."
            if text is None or holds_secret(path, text):
                self._warn(f"{path} was left out of the history: {why}")
            else:
                kept.append(path)
        return tuple(kept)

    def _text_of(self, path: str) -> str | None:
        """Returns the text that git would store, empty for a deleted path; None if it cannot be checked."""
        whole = self._root / path
        try:
            status = os.lstat(whole)
            if stat.S_ISLNK(status.st_mode):
                return os.readlink(whole)
            if status.st_size > _CHECKED_BYTES:
                return None
            return whole.read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError:
            return None

    # -- commits -------------------------------------------------------------------------------------------------------

    def _commit(self, paths: Sequence[str], message: str, options: Sequence[str], author: tuple[str, str]) -> None:
        """Commits these paths with these options of `git commit`. What somebody else has staged stays staged. During a
        person's merge or rebase git refuses a partial commit: nothing is staged, or `git merge --abort` would remove it."""
        directory = directory_of(self._git)
        if any(exists(f"{directory}/{name}") for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD")):
            raise RecorderFailed("git commit", 128, "a merge or rebase by hand is not finished")
        # The message is not piped: of a process killed just then git would take none for the whole.
        listed, said = directory / "agent-memory-paths", directory / "agent-memory-message"
        only = (f"--pathspec-from-file={listed}", "--pathspec-file-nul")
        words = ("commit", *options, "--quiet", "--no-verify", f"--file={said}", "--only", *only)
        try:
            _write_in_place(listed, b"".join(os.fsencode(path) + b"\0" for path in paths))
            _write_in_place(said, message.encode("utf-8", "replace"))
            if not self._git.run("add", "--all", *only).ok:
                # Git does not know paths that are staged as deleted, by a person or by a failed commit of ours.
                self._git.must("reset", "--quiet", *only)
                self._git.must("add", "--all", *only)
            committed = self._git.run(*words, author=author)
            if not committed.ok and self._restore_lost_objects():
                committed = self._git.run(*words, author=author)
            # Else they only looked changed: git's attributes turn both into the same.
            if not committed.ok and not self._git.run("diff", "--cached", "--quiet", "HEAD").ok:
                raise failed(words, committed)
        except OSError as error:
            raise store_io(error, "write", str(listed)) from error
        finally:
            for each in (listed, said):
                with suppress(OSError):  # the next commit overwrites it
                    each.unlink()
        # Asks the system to make the commit durable: `core.fsync` alone does not cover the names of new files.
        program = shutil.which("sync", path=self._environ.get("PATH", os.defpath))
        if program is not None:
            # This is history, not durability: the commit's content is on disk already.
            with suppress(OSError, subprocess.TimeoutExpired):
                command = [program, "-f", str(self._git.directory)]
                subprocess.run(command, capture_output=True, timeout=20.0, check=False)

    def _restore_lost_objects(self) -> bool:
        """Rewrites lost objects of unchanged files, without which git commits nothing; returns whether there were any."""
        entries = [each for each in os.fsdecode(self._git.must("ls-files", "--stage", "-z")).split("\0") if each]
        known = {path: head.split()[1] for head, _, path in (each.partition("\t") for each in entries)}
        asked = self._git.must("cat-file", "--batch-check", input="".join(f"{id}\n" for id in known.values()).encode())
        answers = zip(known, asked.splitlines(), strict=True)
        lost = self._without_secrets([path for path, answer in answers if answer.endswith(b" missing")])
        for path in lost:
            self._git.run("hash-object", "-w", "--", path)
        return bool(lost)

    def _warn(self, sentence: str) -> None:
        shown = sentence.encode("utf-8", "replace").decode()
        if shown not in self._warnings:
            self._warnings.append(shown)


@as_result
def owed_paths(root: Path) -> tuple[str, ...]:
    """Returns the paths of ours that git has still to record. An unreadable list is an error: the next one would
    replace it (P6)."""
    path = root / _OWED
    with as_store_io("read", str(path)):
        try:
            document = json.loads(path.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            return ()  # a lost or damaged list costs an author's name in the history, never a note
    paths = document if is_list(document) else ()
    return tuple(each for each in paths if isinstance(each, str) and path_problem(each) is None)


# -- author -----------------------------------------------------------------------------------------------------------

_REFUSED = re.compile(r"[\x00-\x1f\x7f<>]")


def _person(git: GitProcess, environ: Mapping[str, str]) -> tuple[str, str]:
    """Returns name and address from the person's global git configuration, or else the login name, at localhost."""
    name, email = (
        git.reach("config", "--global", "--includes", "--get", key).stdout.decode("utf-8", "replace")
        for key in ("user.name", "user.email")
    )
    login = next(filter(None, (_clean(environ.get(name, "")) for name in ("USER", "LOGNAME"))), "")
    if not login:
        try:
            login = _clean(getpass.getuser()) or "person"
        except (OSError, KeyError):
            login = "person"
    return _clean(name) or login, _clean(email) or f"{login}@localhost"


def _clean(value: str) -> str:
    return _REFUSED.sub("", value).strip(" .,:;\"'")


# -- reading ----------------------------------------------------------------------------------------------------------

Tracking = Literal["tracked", "ignored", "new"]

_BEGINS = "\x01"
_FORMAT = "%x01%h%x00%aI%x00%an%x00%s"
_FIELDS = 4


@as_result
def revisions_of(git: GitProcess, path: str, most: int) -> tuple[Revision, ...]:
    """Returns the newest commits that touched a note (by its file's path relative to the root), under any title; newest
    first. What other programs wrote into a commit is shown on one clean line without secrets."""
    if not exists(str(git.root / ".git")):
        return ()
    asked = ("--follow", "--name-only", f"--max-count={most}", f"--format={_FORMAT}", "-z", "--", path)
    output = git.run("log", *asked)
    if not output.ok:
        return ()
    revisions: list[Revision] = []
    for row in output.stdout.decode("utf-8", "replace").removeprefix(_BEGINS).split(f"\0{_BEGINS}"):
        words = row.split("\0")
        paths = [word.lstrip("\n") for word in words[_FIELDS:] if word]
        # A note that began as a copy of another, with another id, looks to git like that one, renamed.
        own, *ids = (id_in_name(each) for each in (path, *paths))
        if len(words) < _FIELDS or any(each not in (None, own) for each in ids):
            break
        revisions.append(Revision(*(one_line(redact(word).text, 200) for word in words[:_FIELDS])))
    return tuple(revisions)


def is_in_history(git: GitProcess, path: str) -> bool:
    output = git.run("rev-list", "--all", "--full-history", "--max-count=1", "--", path)
    return output.ok and bool(output.stdout.strip())


def contents_of(git: GitProcess, ids: Iterable[str]) -> Mapping[str, bytes]:
    """Returns the contents of these objects by id; missing ones are left out."""
    found: dict[str, bytes] = {}
    wanted = sorted(ids)
    output = git.must("cat-file", "--batch", input="".join(f"{id}\n" for id in wanted).encode()) if wanted else b""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        words = output[at:end].split(b" ")
        at = end + 1
        if len(words) == 3:  # else the object is missing
            size = int(words[2])
            found[words[0].decode("ascii")] = output[at : at + size]
            at += size + 1
    return found


def tracking_of(top: str, path: str, environ: Mapping[str, str]) -> Tracking:
    """Returns how git treats a file in the work tree `top`."""
    git, name = GitProcess(Path(top), environ, 5), os.path.relpath(path, top)
    try:
        if git.run("ls-files", "--error-unmatch", "--", name).ok:
            return "tracked"
        # check-ignore refuses literal pathspecs, and takes no others but those that begin with a colon.
        is_ignored = git.run("--no-literal-pathspecs", "check-ignore", "--quiet", "--", f"./{name}").ok
        return "ignored" if is_ignored else "new"
    except Error:
        return "new"


def may_be_committed(path: str, environ: Mapping[str, str]) -> bool:
    """Returns whether a file is in a repository that does not ignore it; True if that cannot be told (P6)."""
    real = os.path.realpath(path)
    try:
        top = work_tree_above(os.path.dirname(real))
    except OSError:
        return True
    return top is not None and tracking_of(top, real, environ) != "ignored"


_KEPT = ("HEAD", "packed-refs", "refs", "objects", "config", "description", "hooks", "index", "info", "shallow")
_KEPT_INFO = ("exclude", "attributes")
_CONSERVED = (("for-each-ref", "--format=%(refname)"), ("rev-list", "--all", "--count"))
_GONE = "gone"
"""A file in the repository with the ids of the objects that the rewrite removed."""


def purge_history(git: GitProcess, rewriter: Sequence[str]) -> None:
    """Rewrites every reachable commit by git-filter-repo, in its own process, and keeps no earlier object; does nothing
    without a repository. If the rewrite fails, the history is unchanged. Repeating it is safe: after a crash the purge
    runs again. The caller holds both locks: a commit in between would be lost.

    `rewriter` is the module that calls `care.purging.rewrite` with its rules, and its arguments; `_GONE` comes last.
    """
    try:
        if not exists(str(git.directory)):  # no permission to look does not mean that nothing is there (P28)
            return
        if not stat.S_ISDIR(os.lstat(git.directory).st_mode):
            elsewhere = "it leads to a repository elsewhere, which is to be purged there"
            raise PathRefused(str(git.directory), elsewhere)
        before = [git.must(*words) for words in _CONSERVED]
        rewritten = git.python(*rewriter, _GONE)
        if not rewritten.ok:
            raise failed(("filter-repo",), rewritten)
        if [git.must(*words) for words in _CONSERVED] != before:
            raise RecorderFailed("git filter-repo", 1, "of the rewritten history something is missing")
        # Derived and transient files, which also name the removed ones, are removed. Others' locks stay.
        for parent, kept in ((git.directory, (*_KEPT, _GONE)), (git.directory / "info", _KEPT_INFO)):
            for name in os.listdir(parent) if exists(str(parent)) else ():
                path = parent / name
                if name in kept or name.endswith(".lock"):
                    continue
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    shutil.rmtree(path)
                else:
                    path.unlink()
        if git.run("rev-parse", "--quiet", "--verify", "HEAD").ok:
            git.must("read-tree", "HEAD")  # the old index would keep what it names
        git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        git.must("gc", "--quiet", "--prune=now")
        git.must("fsck", "--full", "--no-progress", "--no-dangling")
        gone = git.directory / _GONE
        listed = git.must("cat-file", "--batch-check", input=gone.read_bytes())
        if not all(line.endswith(b" missing") for line in listed.splitlines()):
            raise RecorderFailed("git cat-file", 1, "what was to go is still in the rewritten history")
        gone.unlink()
    except OSError as error:
        raise store_io(error, "rewrite", str(git.directory)) from error
