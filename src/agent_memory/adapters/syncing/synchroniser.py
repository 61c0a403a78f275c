"""A sync from its beginning to its end: what is there is fetched, what is here and not recorded is recorded, the two are
merged, the result is pushed; when another machine has pushed meanwhile, once more.

Nothing is ever rebased and, but for a purge that a person confirms, nothing replaced. The caller holds the run lock. The
write lock is held while the two are merged, so that nothing is written between, and never while the remote is talked to.
After a failure anywhere everything on this machine is whole, and the next sync goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from agent_memory.adapters.disk.paths import exists, real_root
from agent_memory.adapters.disk.root_files import MAX_STATE_BYTES, read_bytes, write_text
from agent_memory.adapters.forgetting.forgetter import Forgetter
from agent_memory.adapters.forgetting.forgetting_files import purge_mark_of
from agent_memory.adapters.git.git_history import contents_of
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.syncing.commits import AGREED, INCOMING, Commits, DiskMerge
from agent_memory.adapters.syncing.meeting import Meeting, meet, merge, refuse
from agent_memory.adapters.syncing.remote import Remote, chosen_remote, keep_remote
from agent_memory.domain.forgetting import EntryTombstone, ForgetTarget, SessionKey, SessionTombstone
from agent_memory.domain.merging import Leaf, MergedTree, Synced, SyncRequest, count_notes, together
from agent_memory.domain.recording.recorded_paths import BOOKKEEPING
from agent_memory.domain.tiers import TIERS_FILE
from agent_memory.errors import EntryNotFound, StateCorrupt, SyncRefused
from agent_memory.formats.bookkeeping_json import SYNCED, TOMBSTONE, SyncAtWork, Tombstone
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.ports import Clock, Locks, Recorder
from agent_memory.results import as_result, unwrap

SYNCED_FILE = "runs/synced.json"
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

    root: Path
    git: GitProcess
    recorder: Recorder
    locks: Locks
    clock: Clock
    forgetter: Forgetter
    """Forgets here what other machines have forgotten, and brings the managed sections up to date."""
    program: str | None
    """Of `memory`, for git to call; None where it is not known."""
    tell: Callable[[str], None]
    """Is told how it goes."""
    warn: Callable[[str], None]

    def sync(self, request: SyncRequest) -> Synced:
        """See the module. SyncRefused, and nothing changed, where the two are not to be merged."""
        if request.dry_run and not exists(str(self.root / ".git")):
            raise _NO_HISTORY
        self._make_ready()
        remote = chosen_remote(self.git, request.remote)
        try:
            return self._until_landed(remote, request)
        finally:
            # What was fetched and refused need not stay; a ref that cannot be dropped is overwritten the next time.
            as_result(self._commits.drop)(INCOMING)

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
                agreed = merged or self._commits.named(AGREED)
                theirs = self._commits.named(INCOMING) if is_there else None
                meeting = meet(self._commits, self._commits.named("HEAD"), theirs, agreed, self._purge_handled_ms())
                refuse(meeting, remote.shown, request)
                commit, tree = merge(self._commits, meeting, self.clock.now_ms(), dry_run=request.dry_run)
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
            if commit != meeting.ours and _shown(meeting.our_tree) != _shown(tree.files):
                self.forgetter.publish()
            so_far = synced if so_far is None else together(so_far, synced)
            merged = meeting.theirs or merged
            if self._send(remote, branch, meeting):
                return so_far
        raise _RESTLESS

    # -- before -------------------------------------------------------------------------------------------------------

    def _make_ready(self) -> None:
        with self.locks.write() as held:
            unwrap(held)
            GitRepository(self.git, warn=self.warn).ready()
            if self._commits.named("MERGE_HEAD") is not None:
                raise _BEGUN

    def _branch(self, remote: Remote) -> tuple[str, bool]:
        """The remote's branch of the same name as ours, else its first, else one that is not there yet."""
        self.tell(f"asking {remote.shown}")
        ref = self._commits.branch()
        if ref is None:
            raise _DETACHED
        ours, refs = ref.removeprefix("refs/heads/"), remote.refs()
        if ours in refs.branches or not refs.branches:
            return ours, ours in refs.branches
        if refs.head is not None and refs.head in refs.branches:
            return refs.head, True
        named = ", ".join(sorted(refs.branches)[:5])
        reason = f"{remote.shown} has no branch {ours}, and none that is its first (it has {named})"
        raise SyncRefused(reason, f"Switch to one of them here, or push {ours} there with git once.")

    def _record(self) -> None:
        """All that is on disk and may be recorded is."""
        unwrap(self.recorder.adopt_hand_edits())
        unwrap(self.recorder.record(BOOKKEEPING, "sync: what this machine knows of its notes"))

    # -- here ---------------------------------------------------------------------------------------------------------

    def _apply(self, meeting: Meeting, commit: str, tree: MergedTree) -> bool:
        """The merge on disk and in git. False where somebody wrote here meanwhile."""
        if self._forget_here(meeting, tree):
            return False  # it is a commit of its own
        if commit == meeting.ours:
            return True
        head, ref = self._commits.named("HEAD"), self._commits.branch()
        if head != meeting.ours or ref is None:
            return False
        try:
            work = SyncAtWork(ref, head, commit)
            return DiskMerge(self.root, self._commits, self.clock).carry_out(work, meeting.our_tree)
        except SyncRefused:
            self._record()  # somebody may have edited it while the remote was asked
            if self._commits.named("HEAD") == head:
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
        for data in contents_of(self.git, news).values():
            try:
                target = _target_of(TOMBSTONE.parse(data, FORGOTTEN))
            except StateCorrupt:  # `memory doctor` tells of it
                continue
            try:
                found = None if target is None else self.forgetter.look(target)
            except EntryNotFound:
                continue
            if found is not None and found.told.is_known:
                self.forgetter.forget(found)
                gone = True
        return gone

    # -- there --------------------------------------------------------------------------------------------------------

    def _send(self, remote: Remote, branch: str, meeting: Meeting) -> bool:
        """Push all that was recorded here when the push began. False where it did not land. Afterwards the remote is this
        store's, the two agree, and a purge is dealt with: nothing of the old history stays here."""
        head = self._commits.named("HEAD")
        if head is None:
            return False
        if head != meeting.theirs:
            self.tell(f"sending to {remote.shown}")
            if not remote.push(head, branch, meeting.theirs if meeting.our_purge_is_news else None):
                return False
        purged_at_ms = purge_mark_of(self.root).read()
        self._commits.agree(head)
        keep_remote(self.git, remote.address, branch, self.program)
        if purged_at_ms != self._purge_handled_ms():
            with self.locks.write() as held:
                unwrap(held)
                self._commits.forget_remote_history()
                write_text(real_root(self.root), SYNCED_FILE, SYNCED.render(purged_at_ms))
        return True

    def _purge_handled_ms(self) -> int | None:
        """The purge that this machine has dealt with (epoch ms); None for none yet. StateCorrupt for a damaged mark."""
        real = real_root(self.root)
        data = read_bytes(real, SYNCED_FILE, MAX_STATE_BYTES)
        return None if data is None else SYNCED.parse(data, f"{real}/{SYNCED_FILE}")

    @property
    def _commits(self) -> Commits:
        return Commits(self.git)


def _shown(tree: Mapping[str, object]) -> dict[str, object]:
    """What managed sections are made of."""
    return {path: held for path, held in tree.items() if path.startswith("topics/") or path == TIERS_FILE}


def _target_of(tombstone: Tombstone) -> ForgetTarget | None:
    """What is to be forgotten by it; None for a state value, which the merge leaves out."""
    match tombstone:
        case EntryTombstone(id, _, _):
            return ForgetTarget(id)
        case SessionTombstone(session_id, harness, _):
            return ForgetTarget(session=SessionKey(session_id, harness))
        case _:
            return None
