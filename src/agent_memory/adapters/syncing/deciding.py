"""What becomes of two histories that meet: the commit that holds both, not yet on any branch."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.adapters.syncing.meeting import Meeting
from agent_memory.domain.merging.counting import count_notes
from agent_memory.domain.merging.synced import Synced, SyncRequest
from agent_memory.domain.merging.tree import EMPTY, Leaf, MergedTree, Remark, Tree
from agent_memory.domain.recording.commit_message import commit_message
from agent_memory.domain.recording.recorded_paths import holds_secret
from agent_memory.errors import Error, SyncRefused
from agent_memory.formats.merge_sides import wanted_contents
from agent_memory.formats.merged_tree import merged_tree

_NOTHING = SyncRefused(
    "there is nothing on either side yet", "`memory remember` or `memory consolidate` writes a first note."
)


@frozen
class Decided:
    """A merge: its commit and what that holds, and what a person should know of it."""

    commit: str
    """Empty in a dry run, where it would be a new one."""
    files: Mapping[str, Leaf | bytes]
    told: MergedTree | None = None
    """None where one side had all of the other."""


def decide(commits: Commits, meeting: Meeting, at_ms: int, *, dry_run: bool) -> Result[Decided, Error]:
    """The commit that both are to become; a dry run makes none. After a purge it leaves the history behind that was not purged."""
    if meeting.ours is None and meeting.theirs is None:
        return Failure(_NOTHING)
    if meeting.ours is not None and meeting.ours_is_ahead and not meeting.purge_is_news:
        return Success(Decided(meeting.ours, meeting.our_tree))
    wanted = wanted_contents(meeting.base_tree, meeting.our_tree, meeting.their_tree)
    return contents_of(commits.git, wanted).bind(
        lambda data: _decided(commits, meeting, data, None if dry_run else at_ms)
    )


def _decided(
    commits: Commits, meeting: Meeting, data: Mapping[str, bytes], at_ms: int | None
) -> Result[Decided, Error]:
    merged = merged_tree(meeting.base_tree, meeting.our_tree, meeting.their_tree, data)
    merged = _with_secrets(merged, meeting.our_tree, data)
    parents = _parents(meeting)
    trees = {meeting.ours: meeting.our_tree, meeting.theirs: meeting.their_tree}
    first = trees[parents[0]] if parents else EMPTY
    if len(parents) == 1 and _is_same(merged.files, first, data):
        return Success(Decided(parents[0], first, merged))
    if at_ms is None:
        return Success(Decided("", merged.files, merged))
    ids = "\n".join(f"{each.subject}: both had changed the same lines" for each in merged.conflicts)
    message = commit_message("sync: merged with another machine", ids)
    made = commits.make(merged.files, parents, first, message, at_ms)
    return made.bind(lambda commit: commits.tree(commit).map(lambda tree: Decided(commit, tree, merged)))


def _parents(meeting: Meeting) -> tuple[str, ...]:
    """Of a history that still holds what was purged nothing is taken on but the files."""
    ours, theirs = meeting.ours, meeting.theirs
    if meeting.our_purge_is_news and meeting.their_purge_is_news:
        return ()
    if meeting.our_purge_is_news:
        theirs = None
    if meeting.their_purge_is_news or meeting.theirs_is_ahead:
        ours = None
    return tuple(each for each in (ours, theirs) if each is not None)


def _is_same(files: Mapping[str, Leaf | bytes], tree: Tree, data: Mapping[str, bytes]) -> bool:
    return files.keys() == tree.keys() and all(
        held == tree[path] if isinstance(held, Leaf) else held == data.get(tree[path].object_id)
        for path, held in files.items()
    )


def _with_secrets(merged: MergedTree, ours: Tree, data: Mapping[str, bytes]) -> MergedTree:
    """With a remark on each file that came and seems to hold a secret (P20): whoever wrote it committed it by hand."""
    remarks = list(merged.remarks)
    for path, held in merged.files.items():
        if ours.get(path) == held or path in merged.outside or path.startswith(("state/", "usage/")):
            continue
        text = held if isinstance(held, bytes) else data.get(held.object_id, b"")
        if holds_secret(path, text.decode("utf-8", "replace")):
            remarks.append(Remark(path, "seems to hold a secret; `memory doctor --secrets` shows where"))
    return MergedTree(merged.files, merged.outside, merged.conflicts, tuple(remarks), merged.forgotten)


def told_of(remote: str, branch: str, meeting: Meeting, decided: Decided, request: SyncRequest) -> Synced:
    """What the merge means for both sides."""
    told = decided.told
    return Synced(
        remote=remote,
        branch=branch,
        received=count_notes(meeting.our_tree, decided.files),
        sent=count_notes(meeting.their_tree, decided.files),
        pushed=decided.commit != meeting.theirs,
        merged=decided.commit not in (meeting.ours, meeting.theirs),
        conflicts=() if told is None else told.conflicts,
        remarks=() if told is None else told.remarks,
        forgotten=0 if told is None else told.forgotten,
        after_purge=meeting.purge_is_news,
        dry_run=request.dry_run,
    )
