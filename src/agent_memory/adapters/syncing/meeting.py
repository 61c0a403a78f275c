"""Two histories that are to become one: what each holds, how they are related, and whether they may be merged."""

from __future__ import annotations

from collections.abc import Mapping

from returns.result import Result, Success

from agent_memory.adapters.forgetting.forgetting_files import PURGE_MARK
from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.syncing.commits import SYNCED, Commits
from agent_memory.domain.merging.tree import EMPTY, Leaf, Tree
from agent_memory.domain.recording.recorded_paths import IGNORE_FILE
from agent_memory.errors import Error, SyncRefused
from agent_memory.formats.forgetting_json import parse_purge
from agent_memory.values import frozen

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


def meet(commits: Commits, ours: str | None, theirs: str | None, handled_ms: int | None) -> Result[Meeting, Error]:
    """All that is known of the two. `handled_ms` is the purge that this machine has dealt with last."""

    def known(our_tree: Tree, their_tree: Tree, synced: str | None) -> Result[Meeting, Error]:
        purges = _purges(commits, our_tree, their_tree)
        return purges.bind(
            lambda found: _related(commits, ours, theirs, (our_tree, their_tree), found, handled_ms, synced)
        )

    return _tree(commits, ours).bind(
        lambda our_tree: _tree(commits, theirs).bind(
            lambda their_tree: commits.named(SYNCED).bind(lambda synced: known(our_tree, their_tree, synced))
        )
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
    synced: str | None,
) -> Result[Meeting, Error]:
    both = ours is not None and theirs is not None
    ahead = commits.has(ours, theirs) if ours and theirs else Success(ours is not None)
    behind = commits.has(theirs, ours) if ours and theirs else Success(theirs is not None)
    common = commits.ancestor(ours, theirs) if ours and theirs else Success(None)
    kept = commits.has(theirs, synced) if synced and theirs else Success(True)
    facts = ahead.bind(lambda a: behind.bind(lambda b: common.bind(lambda c: kept.map(lambda d: (a, b, c, d)))))

    def related(found: tuple[bool, bool, str | None, bool]) -> Result[Meeting, Error]:
        is_ahead, is_behind, ancestor, is_kept = found
        agreed = purges[0] == purges[1] and (is_ahead or is_behind)
        our_news = both and not agreed and purges[0] not in (None, handled_ms)
        their_news = both and not agreed and purges[1] not in (None, handled_ms, purges[0])
        base = synced if (our_news or their_news) and synced else ancestor
        return _tree(commits, base).map(
            lambda tree: Meeting(
                ours=ours,
                theirs=theirs,
                our_tree=trees[0],
                their_tree=trees[1],
                base=base,
                base_tree=None if base is None else tree,
                ours_is_ahead=is_ahead,
                theirs_is_ahead=is_behind,
                our_purge_is_news=our_news,
                their_purge_is_news=their_news,
                is_rewritten=not is_kept and not is_ahead,
            )
        )

    return facts.bind(related)


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
