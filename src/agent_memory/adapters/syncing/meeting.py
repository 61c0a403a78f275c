"""Two histories that are to become one: what each holds, how they are related, whether they may be merged, and the commit that
holds both, not yet on any branch."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from agent_memory.adapters.forgetting.forgetting_files import PURGE_MARK
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.syncing.commits import Commits
from agent_memory.domain.merging import EMPTY, Held, Leaf, MergedTree, Remark, SyncRequest, Tree
from agent_memory.domain.recording.commit_message import commit_message
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE, holds_secret
from agent_memory.errors import SyncRefused
from agent_memory.formats.bookkeeping_json import PURGE
from agent_memory.formats.merged_tree import merged_tree, wanted_contents

_OURS = ("topics/", "archive/", "state/", "usage/")


@frozen
class Meeting:
    """Ours is None in a store without a commit, theirs for an empty remote."""

    ours: str | None
    theirs: str | None
    our_tree: Tree
    their_tree: Tree
    base_tree: Tree | None
    """Of the commit that both come from: their best common ancestor, or what they had in common before a purge."""
    ancestor: str | None
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
    base = ancestor = commits.ancestor(ours, theirs)
    common = commits.tree(ancestor)
    # A purge that is in the commit which both come from is known to both, also where a crash kept us from noting it.
    is_known = common.get(PURGE_MARK) == our_tree.get(PURGE_MARK) == their_tree.get(PURGE_MARK)
    may_be_news = ours is not None and theirs is not None and not is_known
    our_news = may_be_news and our_purge not in (None, handled_ms)
    their_news = may_be_news and their_purge not in (None, handled_ms, our_purge)
    if agreed is not None and (our_news or their_news):
        base, common = agreed, commits.tree(agreed)
    is_kept = theirs is None or agreed is None or commits.has(theirs, agreed)
    is_ahead = ours is not None and ancestor == theirs
    return Meeting(
        ours=ours,
        theirs=theirs,
        our_tree=our_tree,
        their_tree=their_tree,
        base_tree=None if base is None else common,
        ancestor=ancestor,
        our_purge_is_news=our_news,
        their_purge_is_news=their_news,
        is_rewritten=not is_kept and not is_ahead and our_purge in (None, handled_ms),
    )


def _purge_in(commits: Commits, tree: Tree) -> int | None:
    leaf = tree.get(PURGE_MARK)
    if leaf is None:
        return None
    return PURGE.parse(contents_of(commits.git, (leaf.object_id,)).get(leaf.object_id, b""), PURGE_MARK)


def refuse(meeting: Meeting, remote: str, request: SyncRequest) -> None:
    """SyncRefused where these two are not to be merged."""
    if meeting.ours is None and meeting.theirs is None:
        hint = "`memory remember` or `memory consolidate` writes a first note."
        raise SyncRefused("there is nothing on either side yet", hint)
    if meeting.theirs is None:
        return
    paths = meeting.their_tree.keys() - {IGNORE_FILE}
    if paths and not any(path.startswith(_OURS) for path in paths):
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


def merge(commits: Commits, meeting: Meeting, at_ms: int, *, dry_run: bool) -> tuple[str, MergedTree]:
    """The commit that both are to become, and what it holds; a dry run makes none, and names none where it would be a new
    one. After a purge it leaves the history behind that was not purged."""
    ours, theirs = meeting.ours, meeting.theirs
    if ours is not None and meeting.ancestor == theirs and not meeting.purge_is_news:
        return ours, MergedTree(meeting.our_tree)
    data = contents_of(commits.git, wanted_contents(meeting.base_tree, meeting.our_tree, meeting.their_tree))
    merged = merged_tree(meeting.base_tree, meeting.our_tree, meeting.their_tree, data)
    merged = evolve(merged, remarks=(*merged.remarks, *_secrets(merged, meeting.our_tree, data)))
    parents = _parents(meeting)
    first = EMPTY if not parents else meeting.our_tree if parents[0] == ours else meeting.their_tree
    if len(parents) == 1 and _is_same(merged.files, first, data):
        return parents[0], evolve(merged, files=first)
    if dry_run:
        return "", merged
    conflicts = "\n".join(f"{each.subject}: both had changed the same lines" for each in merged.conflicts)
    message = commit_message("sync: merged with another machine", conflicts)
    commit = commits.make(merged.files, parents, first, message, at_ms)
    return commit, evolve(merged, files=commits.tree(commit))


def _parents(meeting: Meeting) -> tuple[str, ...]:
    """Of a history that still holds what was purged nothing is taken on but the files; of two purges neither is."""
    keeps_ours = not meeting.their_purge_is_news and (meeting.theirs is None or meeting.ancestor != meeting.ours)
    kept = (meeting.ours if keeps_ours else None, None if meeting.our_purge_is_news else meeting.theirs)
    if meeting.our_purge_is_news and meeting.their_purge_is_news:
        return ()
    return tuple(each for each in kept if each is not None)


def _is_same(files: Mapping[str, Held], tree: Tree, data: Mapping[str, bytes]) -> bool:
    return files.keys() == tree.keys() and all(
        held == tree[path] if isinstance(held, Leaf) else held == data.get(tree[path].object_id)
        for path, held in files.items()
    )


def _secrets(merged: MergedTree, ours: Tree, data: Mapping[str, bytes]) -> list[Remark]:
    """A remark on each file that came and seems to hold a secret (P20): whoever wrote it committed it by hand."""
    remarks: list[Remark] = []
    for path, held in merged.files.items():
        if ours.get(path) == held or path in merged.outside or path.startswith(("state/", "usage/")):
            continue
        text = held if isinstance(held, bytes) else data.get(held.object_id, b"")
        if holds_secret(path, text.decode("utf-8", "replace")):
            remarks.append(Remark(path, "seems to hold a secret; `memory doctor --secrets` shows where"))
    return remarks
