"""Two histories that are to become one: what each holds, how they are related, whether they may be merged, and the commit that
holds both, not yet on any branch."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.adapters.forgetting.forgetting_files import PURGE_MARK
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.syncing.commits import SYNCED, Commits
from agent_memory.domain.merging import EMPTY, Held, Leaf, MergedTree, Remark, Synced, SyncRequest, Tree, count_notes
from agent_memory.domain.recording.commit_message import commit_message
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, holds_secret
from agent_memory.errors import SyncRefused
from agent_memory.formats.bookkeeping_json import parse_purge
from agent_memory.formats.merged_tree import merged_tree, wanted_contents

_OURS = ("topics/", "archive/", "state/", "usage/")
_NOTHING = SyncRefused(
    "there is nothing on either side yet", "`memory remember` or `memory consolidate` writes a first note."
)


@frozen
class Meeting:
    """Ours is None in a store without a commit, theirs for an empty remote."""

    ours: str | None
    theirs: str | None
    our_tree: Tree
    their_tree: Tree
    base_tree: Tree | None
    """Of the commit that both come from: their best common ancestor, or what they had in common before a purge."""
    ours_is_ahead: bool
    """Ours has all of theirs in its history."""
    theirs_is_ahead: bool
    our_purge_is_news: bool
    """We have purged, and the remote does not know."""
    their_purge_is_news: bool
    """Another machine has purged, and we do not know."""
    is_rewritten: bool
    """The remote has lost what it had when we last met, and nobody has purged."""

    @property
    def purge_is_news(self) -> bool:
        return self.our_purge_is_news or self.their_purge_is_news


def meet(commits: Commits, ours: str | None, theirs: str | None, agreed: str | None, handled_ms: int | None) -> Meeting:
    """All that is known of the two. `agreed` is what they last had in common, and `handled_ms` the purge that this machine
    has dealt with last."""
    our_tree, their_tree = commits.tree(ours), commits.tree(theirs)
    our_purge, their_purge = (_purge_in(commits, tree) for tree in (our_tree, their_tree))
    ancestor = commits.ancestor(ours, theirs)
    common = commits.tree(ancestor)
    is_ahead = ours is not None and ancestor == theirs
    both = ours is not None and theirs is not None
    # A purge that is in the commit which both come from is known to both, also where a crash kept us from noting it.
    is_known = common.get(PURGE_MARK) == our_tree.get(PURGE_MARK) == their_tree.get(PURGE_MARK)
    our_news = both and not is_known and our_purge not in (None, handled_ms)
    their_news = both and not is_known and their_purge not in (None, handled_ms, our_purge)
    base = ancestor
    if agreed is not None and (our_news or their_news):
        base, common = agreed, commits.tree(agreed)
    is_kept = theirs is None or _is_kept(commits, theirs, agreed)
    return Meeting(
        ours=ours,
        theirs=theirs,
        our_tree=our_tree,
        their_tree=their_tree,
        base_tree=None if base is None else common,
        ours_is_ahead=is_ahead,
        theirs_is_ahead=theirs is not None and ancestor == ours,
        our_purge_is_news=our_news,
        their_purge_is_news=their_news,
        is_rewritten=not is_kept and not is_ahead and our_purge in (None, handled_ms),
    )


def _purge_in(commits: Commits, tree: Tree) -> int | None:
    leaf = tree.get(PURGE_MARK)
    if leaf is None:
        return None
    return parse_purge(contents_of(commits.git, (leaf.object_id,)).get(leaf.object_id, b""), PURGE_MARK)


def _is_kept(commits: Commits, theirs: str, agreed: str | None) -> bool:
    """Whether the remote still has what it had when we last met."""
    if agreed is not None:
        return commits.has(theirs, agreed)
    older = commits.named(SYNCED)
    return older is None or commits.ancestor(theirs, older) is not None


def refuse(meeting: Meeting, remote: str, request: SyncRequest) -> None:
    """SyncRefused where these two are not to be merged."""
    if meeting.theirs is None:
        return
    if meeting.their_tree and not _is_store(meeting.their_tree):
        raise SyncRefused(f"{remote} holds files, and no memories", "Name an empty repository, or one of memories.")
    if meeting.purge_is_news and not request.after_purge:
        where = "this machine" if meeting.our_purge_is_news else f"{remote} (another machine)"
        raise SyncRefused(
            f"the history was purged on {where}, and the other side still holds what was to go",
            "`memory sync --after-purge` keeps it purged on both; `docs/sync.md` says how.",
        )
    # A remote that a person has just named may be any.
    if meeting.is_rewritten and not meeting.purge_is_news and request.remote is None:
        raise SyncRefused(
            f"the history of {remote} was rewritten: it no longer holds what this machine last saw there",
            f"If that is meant, `memory sync --remote {remote}` merges the two as they are now.",
        )


def _is_store(tree: Tree) -> bool:
    return all(path == IGNORE_FILE for path in tree) or any(path.startswith(_OURS) for path in tree)


# -- the merge --------------------------------------------------------------------------------------------------------


@frozen
class Decided:
    """A merge: its commit and what that holds, and what a person should know of it."""

    commit: str
    """Empty in a dry run, where it would be a new one."""
    files: Mapping[str, Held]
    told: MergedTree
    """Empty where we had all of theirs."""


def decide(commits: Commits, meeting: Meeting, at_ms: int, *, dry_run: bool) -> Decided:
    """The commit that both are to become; a dry run makes none. After a purge it leaves the history behind that was not purged."""
    if meeting.ours is None and meeting.theirs is None:
        raise _NOTHING
    if meeting.ours is not None and meeting.ours_is_ahead and not meeting.purge_is_news:
        return Decided(meeting.ours, meeting.our_tree, MergedTree(meeting.our_tree))
    wanted = wanted_contents(meeting.base_tree, meeting.our_tree, meeting.their_tree)
    data = contents_of(commits.git, wanted)
    merged = merged_tree(meeting.base_tree, meeting.our_tree, meeting.their_tree, data)
    merged = _with_secrets(merged, meeting.our_tree, data)
    parents = _parents(meeting)
    trees = {meeting.ours: meeting.our_tree, meeting.theirs: meeting.their_tree}
    first = trees[parents[0]] if parents else EMPTY
    if len(parents) == 1 and _is_same(merged.files, first, data):
        return Decided(parents[0], first, merged)
    if dry_run:
        return Decided("", merged.files, merged)
    ids = "\n".join(f"{each.subject}: both had changed the same lines" for each in merged.conflicts)
    message = commit_message("sync: merged with another machine", ids)
    commit = commits.make(merged.files, parents, first, message, at_ms)
    return Decided(commit, commits.tree(commit), merged)


def _parents(meeting: Meeting) -> tuple[str, ...]:
    """Of a history that still holds what was purged nothing is taken on but the files."""
    keeps_ours = not (meeting.their_purge_is_news or meeting.theirs_is_ahead)
    keeps_theirs = not meeting.our_purge_is_news
    if meeting.our_purge_is_news and meeting.their_purge_is_news:
        return ()
    both = (meeting.ours if keeps_ours else None, meeting.theirs if keeps_theirs else None)
    return tuple(each for each in both if each is not None)


def _is_same(files: Mapping[str, Held], tree: Tree, data: Mapping[str, bytes]) -> bool:
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
    return Synced(
        remote=remote,
        branch=branch,
        received=count_notes(meeting.our_tree, decided.files),
        sent=count_notes(meeting.their_tree, decided.files),
        pushed=decided.commit != meeting.theirs,
        merged=decided.commit not in (meeting.ours, meeting.theirs),
        conflicts=decided.told.conflicts,
        remarks=decided.told.remarks,
        forgotten=decided.told.forgotten,
        after_purge=meeting.purge_is_news,
        dry_run=request.dry_run,
    )
