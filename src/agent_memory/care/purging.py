"""Rewrites the git history for a purge: without any version of the notes that went, and without what else came from the
session.

It is a program: `python -m agent_memory.care.purging ROOT GONE` rewrites the repository in the directory where it is
started (`git.git_history`), by the journal of the forgetting at work in ROOT.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import git_filter_repo as filter_repo
from attrs import evolve

from agent_memory.care.tombstones import journal_of
from agent_memory.care.traces import id_at
from agent_memory.files.paths import existing_paths, real_root
from agent_memory.note.note import MemoryEntry
from agent_memory.note.note_format import render_note
from agent_memory.rules.forgotten import forgetful_message, share_of, without_session
from agent_memory.store.note_files import ARCHIVE, TOPICS, entry_or_none

_WORDS = (
    *("--force", "--quiet"),
    "--partial",  # leaves remotes and refs alone; the caller expires the reflog and collects the garbage
    *("--prune-empty", "never", "--prune-degenerate", "never"),
    *("--replace-refs", "delete-no-add"),
    "--preserve-commit-encoding",
)
_SUBMODULE = b"160000"


Verdict = Literal["stays", "goes"] | bytes
"""Bytes are the new content."""


def main() -> None:
    """Rewrites the history for a forgetting whose notes are gone already."""
    root, listed = map(Path, sys.argv[1:])
    work = journal_of(root).read()
    if work is None:
        raise SystemExit("nothing is being forgotten")
    still_there = existing_paths(real_root(root), work.paths)
    gone = (frozenset(work.paths) - frozenset(still_there)) | frozenset(work.marks)
    words, titles, session = work.words, set(work.titles), work.session
    """The titles that the forgotten notes have and had: only the history knows them."""

    def version(path: str, read: Callable[[], bytes]) -> Verdict:
        is_note = path.startswith((f"{TOPICS}/", f"{ARCHIVE}/"))
        goes = path in gone or (is_note and id_at(path) in work.ids)
        if not goes and (session is None or not is_note):
            return "stays"
        data = read()
        stored = entry_or_none(path, data, 0) if is_note else None
        if not goes and session is not None:
            if session.session_id.encode("utf-8", "surrogatepass") not in data:
                return "stays"
            share = "all" if stored is None else share_of(stored.meta, session)  # nobody can tell what else is in it
            if share == "none":
                return "stays"
            if stored is not None and share == "some":
                entry = MemoryEntry(without_session(stored.meta, session), stored.body)
                return render_note(entry, data.decode("utf-8")).encode("utf-8")
        if stored is not None:
            titles.add(stored.meta.title)
        return "goes"

    def message(text: str, touched: bool) -> str:
        return forgetful_message(text, evolve(words, titles=frozenset(titles)), touched=touched)

    rewrite(version, message, listed)


# -- rewriting, by git-filter-repo: each version of each file is looked at where a commit brings it -----------------------


class _Filter(filter_repo.RepoFilter):
    """Leaves the work tree alone: the caller takes care of the index and of what is left of the old objects."""

    def cleanup(
        self, repo: bytes, repack: bool, reset: bool, run_quietly: bool = False, show_debuginfo: bool = False
    ) -> None:
        return


def rewrite(
    version: Callable[[str, Callable[[], bytes]], Verdict], message: Callable[[str, bool], str], gone: Path
) -> None:
    """Rewrites every commit and tag of the repository in the current directory. `gone` becomes a list of the objects
    that must not exist any more: those that stay at no path.

    `version` decides what becomes of a version of a file, given its path and a reader; `message` returns the new
    message, given the old one and whether its commit touched anything that goes.
    """
    kept, dropped = set[bytes](), set[bytes]()
    decided: dict[tuple[str, bytes], bytes | int | None] = {}
    """The new content of each file, by path and object: the same object, a new one, or none."""

    def contents(id: bytes) -> bytes:
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(id + b"\n")
        reader.stdin.flush()
        size = int(reader.stdout.readline().split()[2])
        return reader.stdout.read(size + 1)[:-1]

    def is_changed(change: filter_repo.FileChange) -> bool:
        path, id = os.fsdecode(change.filename), change.blob_id
        if not isinstance(id, bytes) or change.mode == _SUBMODULE:
            return version(path, bytes) == "goes"
        if (path, id) not in decided:
            verdict = version(path, partial(contents, id))
            if isinstance(verdict, bytes):
                blob = filter_repo.Blob(verdict)
                filtering.insert(blob)
                decided[path, id] = blob.id
            else:
                decided[path, id] = id if verdict == "stays" else None
        instead_id = decided[path, id]
        if instead_id == id:
            kept.add(id)
            return False
        dropped.add(id)
        if instead_id is None:
            change.type, change.blob_id, change.mode = b"D", None, None
        else:
            change.blob_id = instead_id
        return True

    def rewrite_message(item: filter_repo.Commit | filter_repo.Tag, _: object) -> None:
        # A commit's files come before its message, so their titles are known by then.
        touched = [True] if isinstance(item, filter_repo.Tag) else [is_changed(each) for each in item.file_changes]
        text = item.message.decode("utf-8", "surrogateescape")
        item.message = message(text, any(touched)).encode("utf-8", "surrogateescape")

    arguments = filter_repo.FilteringOptions.parse_args(_WORDS)
    with subprocess.Popen(["git", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        filtering = _Filter(arguments, commit_callback=rewrite_message, tag_callback=rewrite_message)
        filtering.run()
    # Objects that an earlier attempt removed, but could not prove to be gone, are looked for again.
    before = set(gone.read_bytes().splitlines()) if gone.exists() else set[bytes]()
    gone.write_bytes(b"".join(b"%s\n" % id for id in sorted((before | dropped) - kept)))


if __name__ == "__main__":
    main()
