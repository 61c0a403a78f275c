"""Two histories that are to become one: what each holds, how they are related, and whether they may be merged."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from returns.result import Result, Success

from agent_memory.adapters.forgetting.forgetting_files import PURGE_MARK
from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.syncing.commits import SYNCED, Commits
from agent_memory.domain.merging.tree import EMPTY, Leaf, Tree
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE
from agent_memory.errors import Error, SyncRefused
from agent_memory.formats.forgetting_json import parse_purge

_OURS = ("topics/", "archive/", "state/", "usage/")


@frozen
class Meeting:
    """Ours is None in a store without a commit, theirs for an empty remote."""

    ours: str | None
    theirs: str | None
    our_tree: Tree
    their_tree: Tree
    base: str | None
    """The commit that both come from: their best common ancestor, or what they had in common before a purge."""
    base_tree: Tree | None
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


def meet(
    commits: Commits, ours: str | None, theirs: str | None, agreed: str | None, handled_ms: int | None
) -> Result[Meeting, Error]:
    """All that is known of the two. `agreed` is what they last had in common, and `handled_ms` the purge that this machine
    has dealt with last."""

    def known(our_tree: Tree, their_tree: Tree) -> Result[Meeting, Error]:
        purges = _purges(commits, our_tree, their_tree)
        return purges.bind(
            lambda found: _related(commits, ours, theirs, (our_tree, their_tree), found, handled_ms, agreed)
        )

    return _tree(commits, ours).bind(
        lambda our_tree: _tree(commits, theirs).bind(lambda their_tree: known(our_tree, their_tree))
    )


def _tree(commits: Commits, commit: str | None) -> Result[Tree, Error]:
    return Success(EMPTY) if commit is None else commits.tree(commit)


def _purges(commits: Commits, our_tree: Tree, their_tree: Tree) -> Result[tuple[int | None, int | None], Error]:
    leaves = [tree.get(PURGE_MARK) for tree in (our_tree, their_tree)]
    read = contents_of(commits.git, {leaf.object_id for leaf in leaves if leaf is not None})
    return read.bind(
        lambda data: _purge_at(leaves[0], data).bind(
            lambda ours: _purge_at(leaves[1], data).map(lambda theirs: (ours, theirs))
        )
    )


def _purge_at(leaf: Leaf | None, data: Mapping[str, bytes]) -> Result[int | None, Error]:
    if leaf is None:
        return Success(None)
    return parse_purge(data.get(leaf.object_id, b""), PURGE_MARK).map(lambda at_ms: at_ms)


def _related(
    commits: Commits,
    ours: str | None,
    theirs: str | None,
    trees: tuple[Tree, Tree],
    purges: tuple[int | None, int | None],
    handled_ms: int | None,
    agreed: str | None,
) -> Result[Meeting, Error]:
    both = ours is not None and theirs is not None

    def related(ancestor: str | None, common: Tree, is_kept: bool) -> Result[Meeting, Error]:
        is_ahead = ours is not None and ancestor == theirs
        # A purge that is in the commit which both come from is known to both, also where a crash kept us from noting it.
        is_known = common.get(PURGE_MARK) == trees[0].get(PURGE_MARK) == trees[1].get(PURGE_MARK)
        our_news = both and not is_known and purges[0] not in (None, handled_ms)
        their_news = both and not is_known and purges[1] not in (None, handled_ms, purges[0])
        base = agreed if our_news or their_news else None
        return (Success(common) if base is None else commits.tree(base)).map(
            lambda tree: Meeting(
                ours=ours,
                theirs=theirs,
                our_tree=trees[0],
                their_tree=trees[1],
                base=base or ancestor,
                base_tree=None if (base or ancestor) is None else tree,
                ours_is_ahead=is_ahead,
                theirs_is_ahead=theirs is not None and ancestor == ours,
                our_purge_is_news=our_news,
                their_purge_is_news=their_news,
                is_rewritten=not is_kept and not is_ahead and purges[0] in (None, handled_ms),
            )
        )

    found = commits.ancestor(ours, theirs) if ours and theirs else Success(None)
    kept = _is_kept(commits, theirs, agreed) if theirs else Success(True)
    return found.bind(
        lambda ancestor: _tree(commits, ancestor).bind(
            lambda common: kept.bind(lambda is_kept: related(ancestor, common, is_kept))
        )
    )


def _is_kept(commits: Commits, theirs: str, agreed: str | None) -> Result[bool, Error]:
    """Whether the remote still has what it had when we last met."""
    if agreed is not None:
        return commits.has(theirs, agreed)
    return commits.named(SYNCED).bind(
        lambda older: (
            Success(True) if older is None else commits.ancestor(theirs, older).map(lambda one: one is not None)
        )
    )


def refusal(meeting: Meeting, remote: str, *, after_purge: bool, is_new: bool) -> SyncRefused | None:
    """Why these two are not merged; None where they may be. `is_new`: a person has just named this remote."""
    if meeting.theirs is None:
        return None
    if meeting.their_tree and not _is_store(meeting.their_tree):
        return SyncRefused(f"{remote} holds files, and no memories", "Name an empty repository, or one of memories.")
    if meeting.purge_is_news and not after_purge:
        where = "this machine" if meeting.our_purge_is_news else f"{remote} (another machine)"
        return SyncRefused(
            f"the history was purged on {where}, and the other side still holds what was to go",
            "`memory sync --after-purge` keeps it purged on both; `docs/sync.md` says how.",
        )
    if meeting.is_rewritten and not meeting.purge_is_news and not is_new:
        return SyncRefused(
            f"the history of {remote} was rewritten: it no longer holds what this machine last saw there",
            f"If that is meant, `memory sync --remote {remote}` merges the two as they are now.",
        )
    return None


def _is_store(tree: Tree) -> bool:
    return all(path == IGNORE_FILE for path in tree) or any(path.startswith(_OURS) for path in tree)
