"""The notes as they were, from the history in git: at an instant, or at a commit. Changes nothing, and brings nothing back that
was forgotten or is secret by now: git still holds it, unless it was purged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from agent_memory.errors import EntryUnreadable, UsageInvalid
from agent_memory.files.paths import exists
from agent_memory.git.git_history import contents_of
from agent_memory.git.git_process import GitProcess
from agent_memory.note.note import TIERS_FILE, Meta
from agent_memory.note.note_format import read_note
from agent_memory.rules.change import FileChange, FileState
from agent_memory.rules.forgotten import EntryTombstone, forgotten_note
from agent_memory.rules.undo_run import Footprint

_LIVE = "topics/"
Forgotten: TypeAlias = tuple[Sequence[EntryTombstone], Collection[str]]
"""What was forgotten, and the ids of the notes that are there today."""


def commit_at(git: GitProcess, when: int | str) -> str | None:
    """Returns the last commit by an instant (epoch ms), None before the first one; or the one that this id names, which
    may be abbreviated. Raises UsageInvalid if there is no such commit, or no history."""
    if not exists(str(git.root / ".git")):
        raise UsageInvalid(f"{git.root} has no git history")
    if isinstance(when, int):
        return git.must("rev-list", "--max-count=1", f"--before=@{when // 1000}", "HEAD").decode().strip() or None
    if not (found := git.run("rev-parse", "--verify", "--quiet", f"{when}^{{commit}}")).ok:
        raise UsageInvalid(f"The history of the store has no commit {when}; `git -C {git.root} log` lists them")
    return found.text


def notes_at(
    git: GitProcess, commit: str | None, forgotten: Forgotten, secret: Collection[str]
) -> Iterator[tuple[Meta, str]]:
    """Yields the live notes at a commit, each with its text; none that is forgotten, or secret then or by now (`secret`, ids),
    nor a file that is not a valid note."""
    tree = {path: blob for path, blob in _tree(git, commit).items() if path.startswith(_LIVE)}
    contents = contents_of(git, tree.values())
    for path in sorted(tree):
        try:
            note = read_note(contents.get(tree[path], b""), path, 0)
        except EntryUnreadable:
            continue
        is_secret = note.meta.is_secret or any(id in secret for id in note.meta.all_ids)
        if not (is_secret or _is_forgotten(forgotten, path, contents[tree[path]])):
            yield note.meta, note.body


def changes_since(git: GitProcess, commit: str | None, forgotten: Forgotten) -> Footprint:
    """Returns what the newest commit has that this one had not, and the reverse: notes but for forgotten ones, archive and
    tiers."""
    before, after = _tree(git, commit), _tree(git, "HEAD")
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    contents = contents_of(git, {tree[path] for tree in (before, after) for path in paths if path in tree})

    def state(tree: Mapping[str, str], path: str) -> FileState | None:
        return FileState(contents[tree[path]]) if tree.get(path) in contents else None

    def is_seen(path: str) -> bool:
        blobs = (tree[path] for tree in (before, after) if path in tree)
        return not any(_is_forgotten(forgotten, path, contents.get(blob, b"")) for blob in blobs)

    seen = filter(is_seen, paths)
    return Footprint(tuple(FileChange(path, state(before, path), state(after, path)) for path in seen))


def _is_forgotten(forgotten: Forgotten, path: str, data: bytes) -> bool:
    """Returns whether this is a file of a forgotten note, or says what one said under another id that is no more."""
    tombstones, there = forgotten
    try:
        note = read_note(data, path, 0)
    except EntryUnreadable:
        return any(each.id in path for each in tombstones)
    said_again = forgotten_note(tombstones, note.meta.title, note.body, note.meta.updated_at_ms) is not None
    ids = {each.id for each in tombstones}
    return (said_again and note.meta.id not in there) or not ids.isdisjoint(note.meta.all_ids)


def _tree(git: GitProcess, commit: str | None) -> Mapping[str, str]:
    """Returns the blob at each path of a note or of the tiers."""
    if commit is None:
        return {}
    listed = git.must("ls-tree", "-r", "-z", commit, "--", "topics", "archive", TIERS_FILE).decode(
        "utf-8", "surrogateescape"
    )
    rows = (row.partition("\t") for row in listed.split("\0") if row)
    return {path: facts.split(" ")[2] for facts, _, path in rows if facts.startswith("100")}
