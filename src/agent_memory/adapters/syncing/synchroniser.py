"""A sync from its beginning to its end: what is there is fetched, what is here and not recorded is recorded, the two are
merged, the result is pushed; when another machine has pushed meanwhile, once more.

Nothing is ever rebased and, but for a purge that a person confirms, nothing replaced. The caller holds the run lock. The
write lock is held while the two are merged, so that nothing is written between, and never while the remote is talked to.
After a failure anywhere everything on this machine is whole, and the next sync goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from agent_memory.adapters.disk.paths import JsonFile
from agent_memory.adapters.forgetting.forgetter import Forgetter
from agent_memory.adapters.forgetting.forgetting_files import PURGE_MARK, purge_mark_of
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.git.git_process import GitRepository
from agent_memory.adapters.syncing.commits import AGREED, INCOMING, Commits
from agent_memory.adapters.syncing.remote import Remote, chosen_remote, keep_remote
from agent_memory.domain.commit_message import BOOKKEEPING, IGNORE_FILE, commit_message, holds_secret
from agent_memory.domain.forgetting import EntryTombstone, ForgetTarget, SessionKey, SessionTombstone
from agent_memory.domain.merging import (
    EMPTY,
    Held,
    Leaf,
    MergedTree,
    Remark,
    Synced,
    SyncRequest,
    Tree,
    count_notes,
    together,
)
from agent_memory.errors import EntryNotFound, StateCorrupt, SyncRefused
from agent_memory.formats.bookkeeping_json import PURGE, SYNCED, TOMBSTONE, SyncAtWork
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.formats.merged_tree import merged_tree, wanted_contents
from agent_memory.ports import Clock, Locks, Recorder
from agent_memory.results import as_result, unwrap

_ATTEMPTS = 8
"""How often another machine may push, or somebody here write, at the wrong moment."""

_NO_HISTORY = SyncRefused("this store has no history yet", "`memory sync --remote URL` without --dry-run begins one.")
_DETACHED = SyncRefused(
    "the store's git is on no branch (detached HEAD)", "`git switch main` there, or another branch."
)
_BEGUN = SyncRefused("a merge in the store's git was begun by hand and not finished", "Finish or abort it with git.")
_RESTLESS = SyncRefused("others kept writing at the same moment", "What is here is whole; try again.")


@frozen
class Synchroniser:
    """Syncs one root."""

    commits: Commits
    recorder: Recorder
    locks: Locks
    clock: Clock
    forgetter: Forgetter
    """Forgets here what other machines have forgotten, and brings the managed sections up to date."""
    program: str | None
    """Of `memory`, for git to call; None where it is not known."""
    tell: Callable[[str], None]
    warn: Callable[[str], None]

    def sync(self, request: SyncRequest) -> Synced:
        """See the module. SyncRefused, and nothing changed, where the two are not to be merged."""
        repository = GitRepository(self.commits.git, warn=self.warn)
        if request.dry_run and not repository.exists():
            raise _NO_HISTORY
        with self.locks.write() as held:
            unwrap(held)
            repository.ready()
            if self.commits.named("MERGE_HEAD") is not None:
                raise _BEGUN
        remote = chosen_remote(self.commits.git, request.remote)
        try:
            return self._until_landed(remote, request)
        finally:
            # What was fetched and refused need not stay; a ref that cannot be dropped is overwritten the next time.
            as_result(self.commits.drop)(INCOMING)

    def _until_landed(self, remote: Remote, request: SyncRequest) -> Synced:
        """Fetch, merge and push, as often as another machine pushes, or somebody here writes, meanwhile."""
        so_far: Synced | None = None
        merged: str | None = None
        for _ in range(_ATTEMPTS):
            branch, is_there = self._branch(remote)
            if is_there:
                remote.fetch(branch)
            with self.locks.write() as held:
                unwrap(held)
                if not request.dry_run:
                    self._record()
                agreed = merged or self.commits.named(AGREED)
                theirs = self.commits.named(INCOMING) if is_there else None
                meeting = meet(self.commits, self.commits.named("HEAD"), theirs, agreed, self._purge_handled.read())
                refuse(meeting, remote.shown, request)
                commit, tree = merge(self.commits, meeting, self.clock.now_ms(), dry_run=request.dry_run)
                is_applied = not request.dry_run and self._apply(meeting, commit, tree)
            synced = Synced(
                remote=remote.shown,
                branch=branch,
                received=count_notes(meeting.our_tree, tree.files),
                sent=count_notes(meeting.their_tree, tree.files),
                pushed=commit != meeting.theirs,
                merged=commit not in (meeting.ours, meeting.theirs),
                conflicts=tree.conflicts,
                remarks=tree.remarks,
                forgotten=tree.forgotten,
                after_purge=meeting.purge_is_news,
                dry_run=request.dry_run,
            )
            if request.dry_run:
                return synced
            if not is_applied:  # the two are to be looked at anew
                continue
            if commit != meeting.ours:
                self.forgetter.publish()
            so_far = synced if so_far is None else together(so_far, synced)
            merged = meeting.theirs or merged
            if self._send(remote, branch, meeting):
                return so_far
        raise _RESTLESS

    # -- before -------------------------------------------------------------------------------------------------------

    def _branch(self, remote: Remote) -> tuple[str, bool]:
        """The remote's branch of the same name as ours, else its first, else one that is not there yet."""
        self.tell(f"asking {remote.shown}")
        ref = self.commits.branch()
        if ref is None:
            raise _DETACHED
        ours = ref.removeprefix("refs/heads/")
        branches, first = remote.branches()
        if ours in branches or not branches:
            return ours, ours in branches
        if first in branches:
            return first, True
        named = ", ".join(sorted(branches)[:5])
        reason = f"{remote.shown} has no branch {ours}, and none that is its first (it has {named})"
        raise SyncRefused(reason, f"Switch to one of them here, or push {ours} there with git once.")

    def _record(self) -> None:
        unwrap(self.recorder.adopt_hand_edits())
        unwrap(self.recorder.record(BOOKKEEPING, "sync: what this machine knows of its notes"))

    # -- here ---------------------------------------------------------------------------------------------------------

    def _apply(self, meeting: Meeting, commit: str, tree: MergedTree) -> bool:
        """The merge on disk and in git. False where somebody wrote here meanwhile."""
        if self._forget_here(meeting, tree):
            return False  # it is a commit of its own
        if commit == meeting.ours:
            return True
        head, ref = self.commits.named("HEAD"), self.commits.branch()
        if head != meeting.ours or ref is None:
            return False
        try:
            return self.commits.apply(SyncAtWork(ref, head, commit), meeting.our_tree, self.clock.now_ms())
        except SyncRefused:
            self._record()  # somebody may have edited it while the remote was asked
            if self.commits.named("HEAD") == head:
                raise
            return False

    def _forget_here(self, meeting: Meeting, tree: MergedTree) -> bool:
        """Whether something went that another machine has forgotten: notes, kept histories, runs and inbox entries (P28).
        Their notes are still there to be followed."""
        news = {
            held.object_id
            for path, held in tree.files.items()
            if path.startswith(FORGOTTEN) and path not in meeting.our_tree and isinstance(held, Leaf)
        }
        gone = False
        for data in contents_of(self.commits.git, news).values():
            try:
                match TOMBSTONE.parse(data, FORGOTTEN):
                    case EntryTombstone(id, _, _):
                        found = self.forgetter.look(ForgetTarget(id))
                    case SessionTombstone(session_id, harness, _):
                        found = self.forgetter.look(ForgetTarget(session=SessionKey(session_id, harness)))
                    case _:  # a state value, which the merge leaves out
                        continue
            except (StateCorrupt, EntryNotFound):  # of a damaged one `memory doctor` tells
                continue
            if found.told.is_known:
                self.forgetter.forget(found)
                gone = True
        return gone

    # -- there --------------------------------------------------------------------------------------------------------

    def _send(self, remote: Remote, branch: str, meeting: Meeting) -> bool:
        """Push all that was recorded here when the push began. False where it did not land. Afterwards the remote is this
        store's, the two agree, and a purge is dealt with: nothing of the old history stays here."""
        git, head = self.commits.git, self.commits.named("HEAD")
        if head is None:
            return False
        if head != meeting.theirs:
            self.tell(f"sending to {remote.shown}")
            if not remote.push(head, branch, meeting.theirs if meeting.our_purge_is_news else None):
                return False
        purged_at_ms = purge_mark_of(git.root).read()
        git.must("update-ref", AGREED, head)
        keep_remote(git, remote.address, branch, self.program)
        if purged_at_ms != self._purge_handled.read():
            with self.locks.write() as held:
                unwrap(held)
                self.commits.forget_remote_history()
                self._purge_handled.write(purged_at_ms)
        return True

    @property
    def _purge_handled(self) -> JsonFile[int | None]:
        """The purge that this machine has dealt with (epoch ms)."""
        return JsonFile(self.commits.git.root, "runs/synced.json", SYNCED)


# -- two histories that are to become one ------------------------------------------------------------------------------

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

    def purge_in(tree: Tree) -> int | None:
        if (leaf := tree.get(PURGE_MARK)) is None:
            return None
        return PURGE.parse(contents_of(commits.git, (leaf.object_id,)).get(leaf.object_id, b""), PURGE_MARK)

    our_tree, their_tree = commits.tree(ours), commits.tree(theirs)
    our_purge, their_purge = purge_in(our_tree), purge_in(their_tree)
    base = ancestor = None if ours is None or theirs is None else commits.ancestor(ours, theirs)
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
    secrets: list[Remark] = []
    for path, held in merged.files.items():
        # Whoever wrote a file that came, and seems to hold a secret (P20), committed it by hand.
        if meeting.our_tree.get(path) == held or path in merged.outside or path.startswith(("state/", "usage/")):
            continue
        text = held if isinstance(held, bytes) else data.get(held.object_id, b"")
        if holds_secret(path, text.decode("utf-8", "replace")):
            secrets.append(Remark(path, "seems to hold a secret; `memory doctor --secrets` shows where"))
    merged = evolve(merged, remarks=(*merged.remarks, *secrets))
    # Of a history that still holds what was purged nothing is taken on but the files; of two purges neither is.
    keeps_ours = not meeting.their_purge_is_news and (theirs is None or meeting.ancestor != ours)
    kept = (ours if keeps_ours else None, None if meeting.our_purge_is_news else theirs)
    is_new = meeting.our_purge_is_news and meeting.their_purge_is_news
    parents = () if is_new else tuple(each for each in kept if each is not None)
    first = EMPTY if not parents else meeting.our_tree if parents[0] == ours else meeting.their_tree
    if len(parents) == 1 and _is_same(merged.files, first, data):
        return parents[0], evolve(merged, files=first)
    if dry_run:
        return "", merged
    conflicts = "\n".join(f"{each.subject}: both had changed the same lines" for each in merged.conflicts)
    message = commit_message("sync: merged with another machine", conflicts)
    commit = commits.make(merged.files, parents, first, message, at_ms)
    return commit, evolve(merged, files=commits.tree(commit))


def _is_same(files: Mapping[str, Held], tree: Tree, data: Mapping[str, bytes]) -> bool:
    return files.keys() == tree.keys() and all(
        held == tree[path] if isinstance(held, Leaf) else held == data.get(tree[path].object_id)
        for path, held in files.items()
    )
