"""What a purge takes out of the git history: every version of the notes that went, and what else came from the session.

It is a program: `python -m agent_memory.adapters.forgetting.purging ROOT GONE` rewrites the repository in the directory where it
is started (`adapters.git.git_history`), by the journal of the forgetting at work in ROOT.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import git_filter_repo as filter_repo
from attrs import define, evolve, field, frozen

from agent_memory.adapters.disk.paths import real_root, those_there
from agent_memory.adapters.forgetting.forgetting_files import journal_of
from agent_memory.adapters.forgetting.note_traces import id_at
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, entry_or_none
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.forgetting import forgetful_message, share_of, without_session
from agent_memory.formats.bookkeeping_json import ForgettingAtWork
from agent_memory.formats.note import render_note

_WORDS = (
    *("--force", "--quiet"),
    "--partial",  # which leaves remotes and refs alone; the caller expires the reflog and collects the garbage
    *("--prune-empty", "never", "--prune-degenerate", "never"),
    *("--replace-refs", "delete-no-add"),
    "--preserve-commit-encoding",
)
_SUBMODULE = b"160000"


@frozen
class PurgeRules:
    """What goes, decided from the path alone or from what a file held."""

    drops_path: Callable[[str], bool]
    looks_at: Callable[[str], bool]
    """Paths whose versions are to be read."""
    version: Callable[[str, bytes], bytes | None]
    """What a version that was read holds from now on; None: it goes. The very bytes: it stays."""
    message: Callable[[str, bool], str]
    """A message from now on; with whether its commit touched anything that goes."""


def purge_rules(work: ForgettingAtWork, gone: frozenset[str]) -> PurgeRules:
    """The rules for a forgetting whose notes are gone by now: the files at these paths are."""
    words, titles = work.words, set(work.titles)
    """What was forgotten is called, and was called in the history: that is known only from there."""

    def drops_path(path: str) -> bool:
        return path in gone or (_is_note(path) and id_at(path) in work.ids)

    def looks_at(path: str) -> bool:
        return _is_note(path) and (work.session is not None or drops_path(path))

    def version(path: str, data: bytes) -> bytes | None:
        stored = entry_or_none(path, data, 0)
        session = work.session
        if not drops_path(path):
            if session is None or session.session_id.encode("utf-8", "surrogatepass") not in data:
                return data
            share = "all" if stored is None else share_of(stored.meta, session)  # nobody can tell what else is in it
            if share == "none":
                return data
            if stored is not None and share == "some":
                entry = MemoryEntry(without_session(stored.meta, session), stored.body)
                return render_note(entry, data.decode("utf-8")).encode("utf-8")
        if stored is not None:
            titles.add(stored.meta.title)
        return None

    def message(text: str, touched: bool) -> str:
        return forgetful_message(text, evolve(words, titles=frozenset(titles)), touched=touched)

    return PurgeRules(drops_path, looks_at, version, message)


def _is_note(path: str) -> bool:
    return path.startswith((f"{TOPICS}/", f"{ARCHIVE}/"))


# -- rewriting, by git-filter-repo: each version of each file is looked at where a commit brings it -----------------------


def rewrite(rules: PurgeRules, gone: Path) -> None:
    """Rewrite every commit and tag of the repository of this process. `gone` becomes a list of the objects that are not to
    be there any more: those that stay nowhere, at no path."""
    arguments = filter_repo.FilteringOptions.parse_args(_WORDS)
    with subprocess.Popen(["git", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        rewriting = _Rewriting(rules, reader)

        def rewrite_commit(commit: filter_repo.Commit, _: object) -> None:
            rewriting.commit(commit, filtering)

        def rewrite_tag(tag: filter_repo.Tag, _: object) -> None:
            rewriting.tag(tag)

        filtering = _Filter(arguments, commit_callback=rewrite_commit, tag_callback=rewrite_tag)
        filtering.run()
    gone.write_bytes(b"".join(b"%s\n" % id for id in sorted(rewriting.dropped - rewriting.kept)))


class _Filter(filter_repo.RepoFilter):
    """Leaves the work tree alone: whoever called sees to the index and to what is left of the old objects."""

    def cleanup(
        self, repo: bytes, repack: bool, reset: bool, run_quietly: bool = False, show_debuginfo: bool = False
    ) -> None:
        return


@define
class _Rewriting:
    rules: PurgeRules
    reader: subprocess.Popen[bytes]
    kept: set[bytes] = field(factory=set[bytes])
    dropped: set[bytes] = field(factory=set[bytes])
    decided: dict[tuple[str, bytes], bytes | int | None] = field(factory=dict[tuple[str, bytes], bytes | int | None])
    """What a file, by its path and object, is from now on: the same object, a new one, or nothing."""

    def commit(self, commit: filter_repo.Commit, filtering: filter_repo.RepoFilter) -> None:
        # All of a commit's files come before its message: what they were called is known by then.
        touched = [self._change(change, filtering) for change in commit.file_changes]
        commit.message = self._message(commit.message, touched=any(touched))

    def tag(self, tag: filter_repo.Tag) -> None:
        tag.message = self._message(tag.message, touched=True)

    def _message(self, message: bytes, *, touched: bool) -> bytes:
        text = message.decode("utf-8", "surrogateescape")
        return self.rules.message(text, touched).encode("utf-8", "surrogateescape")

    def _change(self, change: filter_repo.FileChange, filtering: filter_repo.RepoFilter) -> bool:
        """Whether it goes, or is another one now."""
        path = os.fsdecode(change.filename)
        id = change.blob_id
        if not isinstance(id, bytes) or change.mode == _SUBMODULE:
            return self.rules.drops_path(path)
        if (path, id) not in self.decided:
            self.decided[path, id] = self._decided(path, id, filtering)
        instead = self.decided[path, id]
        if instead == id:
            self.kept.add(id)
            return False
        self.dropped.add(id)
        if instead is None:
            change.type, change.blob_id, change.mode = b"D", None, None
        else:
            change.blob_id = instead
        return True

    def _decided(self, path: str, id: bytes, filtering: filter_repo.RepoFilter) -> bytes | int | None:
        held = self._contents(id) if self.rules.looks_at(path) else b""
        instead = self.rules.version(path, held) if self.rules.looks_at(path) else held
        if instead is None or self.rules.drops_path(path):
            return None
        if instead == held:
            return id
        blob = filter_repo.Blob(instead)
        filtering.insert(blob)
        return blob.id

    def _contents(self, id: bytes) -> bytes:
        assert self.reader.stdin is not None
        assert self.reader.stdout is not None
        self.reader.stdin.write(id + b"\n")
        self.reader.stdin.flush()
        size = int(self.reader.stdout.readline().split()[2])
        return self.reader.stdout.read(size + 1)[:-1]


def main() -> None:
    root, gone = map(Path, sys.argv[1:])
    work = journal_of(root).read()
    if work is None:
        raise SystemExit("nothing is being forgotten")
    still_there = those_there(real_root(root), work.paths)
    rewrite(purge_rules(work, (frozenset(work.paths) - frozenset(still_there)) | frozenset(work.marks)), gone)


if __name__ == "__main__":
    main()
