"""A sync from its beginning to its end: what is there is fetched, what is here and not recorded is recorded, the two are
merged, the result is pushed; when another machine has pushed meanwhile, once more.

Nothing is ever rebased and, but for a purge that a person confirms, nothing replaced. The caller holds the run lock. The
write lock is held while the two are merged, so that nothing is written between, and never while the remote is talked to.
After a failure anywhere everything on this machine is whole, and the next sync goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.file_in_root import put_file
from agent_memory.adapters.disk.paths import inside, is_there, read_file, real_root
from agent_memory.adapters.forgetting.forgetting_files import ForgettingFiles
from agent_memory.adapters.git.blob_contents import contents_of
from agent_memory.adapters.git.git_process import GitProcess
from agent_memory.adapters.git.git_repository import GitRepository
from agent_memory.adapters.syncing.commits import AGREED, Commits
from agent_memory.adapters.syncing.deciding import Decided, decide, told_of
from agent_memory.adapters.syncing.disk_merge import DiskMerge
from agent_memory.adapters.syncing.meeting import Meeting, meet, refusal
from agent_memory.adapters.syncing.remote import INCOMING, Pushed, Remote, RemoteRefs
from agent_memory.adapters.syncing.remote_choice import RemoteChoice
from agent_memory.domain.merging.synced import Synced, SyncRequest, together
from agent_memory.domain.merging.tree import Leaf, Tree
from agent_memory.errors import Error, SyncRefused
from agent_memory.formats.merged_bookkeeping import FORGOTTEN
from agent_memory.formats.sync_json import SyncAtWork, parse_synced, render_synced
from agent_memory.ports import Clock, Locks, Recorder
from agent_memory.results import sealed

_ATTEMPTS = 8
"""How often another machine may push, or somebody here write, at the wrong moment."""

_BOOKKEEPING = ("state", "usage")
_HEADS = "refs/heads/"

_NO_HISTORY = SyncRefused("this store has no history yet", "`memory sync --remote URL` without --dry-run begins one.")
_DETACHED = SyncRefused(
    "the store's git is on no branch (detached HEAD)", "`git switch main` there, or another branch."
)
_BEGUN = SyncRefused("a merge in the store's git was begun by hand and not finished", "Finish or abort it with git.")
_RESTLESS = SyncRefused("others kept writing at the same moment", "What is here is whole; try again.")


@frozen
class _Branch:
    """The remote's branch that is ours."""

    name: str
    is_there: bool


@frozen
class Synchroniser:
    """Syncs one root."""

    root: Path
    git: GitProcess
    recorder: Recorder
    locks: Locks
    clock: Clock
    program: str | None
    """Of `memory`, for git to call; None where it is not known."""
    forget: Callable[[Sequence[bytes]], Result[bool, Error]]
    """Forgets here what tombstones of other machines name, while its notes are still there to be followed; whether anything
    went."""
    after_merge: Callable[[Tree, Mapping[str, object]], Result[object, Error]]
    """Is told which files became which on this machine: what follows from it is recorded before anything is sent."""
    tell: Callable[[str], None]
    """Is told how it goes."""
    warn: Callable[[str], None]

    def sync(self, request: SyncRequest) -> Result[Synced, Error]:
        """See the module. SyncRefused, and nothing changed, where the two are not to be merged."""
        begun = is_there(str(self.root / ".git")) if request.dry_run else Success(True)
        chosen = begun.bind(lambda is_begun: self._ready() if is_begun else Failure(_NO_HISTORY)).bind(
            lambda _: RemoteChoice(self.git, self.program).chosen(request.remote)
        )
        match sealed(chosen):
            case Failure(error):
                return Failure(error)
            case Success(remote):
                synced = self._branch(remote).bind(lambda branch: self._until_landed(remote, branch, request))
                # What was fetched and refused need not stay; a ref that cannot be dropped is overwritten the next time.
                self._commits.drop(INCOMING)
                return synced

    # -- before -------------------------------------------------------------------------------------------------------

    def _ready(self) -> Result[None, Error]:
        with self.locks.write() as held:
            now_seconds = self.clock.now_ms() / 1000
            repository = GitRepository(self.git, lambda: now_seconds, self.warn)
            ready = held.bind(lambda _: repository.ready()).bind(lambda _: self._commits.named("MERGE_HEAD"))
            return ready.bind(lambda begun: Success(None) if begun is None else Failure(_BEGUN))

    def _branch(self, remote: Remote) -> Result[_Branch, Error]:
        """The branch of the same name as ours, else the remote's first, else one that is not there yet."""
        self.tell(f"asking {remote.shown}")

        def known(ours: str, refs: RemoteRefs) -> Result[_Branch, Error]:
            if ours in refs.branches or not refs.branches:
                return Success(_Branch(ours, ours in refs.branches))
            if refs.head is not None and refs.head in refs.branches:
                return Success(_Branch(refs.head, True))
            named = ", ".join(sorted(refs.branches)[:5])
            reason = f"{remote.shown} has no branch {ours}, and none that is its first (it has {named})"
            return Failure(SyncRefused(reason, f"Switch to one of them here, or push {ours} there with git once."))

        def on(ref: str | None) -> Result[_Branch, Error]:
            if ref is None:
                return Failure(_DETACHED)
            return remote.refs().bind(lambda refs: known(ref.removeprefix(_HEADS), refs))

        return self._commits.branch().bind(on)

    def _recorded(self) -> Result[object, Error]:
        """All that is on disk and may be recorded is."""
        return self.recorder.adopt_hand_edits().bind(
            lambda _: self.recorder.record(_BOOKKEEPING, "sync: what this machine knows of its notes")
        )

    # -- rounds -------------------------------------------------------------------------------------------------------

    def _until_landed(self, remote: Remote, branch: _Branch, request: SyncRequest) -> Result[Synced, Error]:
        so_far: Synced | None = None
        merged: str | None = None
        for _ in range(_ATTEMPTS):
            match sealed(self._round(remote, branch, request, merged)):
                case Failure(error):
                    return Failure(error)
                case Success((synced, landed, taken)):
                    so_far = synced if so_far is None else together(so_far, synced)
                    merged = taken or merged
                    if landed:
                        return Success(so_far)
                    refs = remote.refs()
                    if isinstance(refs, Failure):
                        return Failure(refs.failure())
                    branch = evolve(branch, is_there=branch.name in refs.unwrap().branches)
        return Failure(_RESTLESS)

    def _round(
        self, remote: Remote, branch: _Branch, request: SyncRequest, merged: str | None
    ) -> Result[tuple[Synced, bool, str | None], Error]:
        """Fetch, merge and push once; with False where it is to be done again, and the commit of theirs that is merged now.
        `merged` is the one of the round before."""
        fetched = remote.fetch(branch.name) if branch.is_there else Success(None)
        match sealed(fetched.bind(lambda _: self._merged(remote, branch, request, merged))):
            case Failure(error):
                return Failure(error)
            case Success((meeting, merge, is_merged)):
                synced = told_of(remote.shown, branch.name, meeting, merge, request)
                if request.dry_run:
                    return Success((synced, True, None))
                if not is_merged:
                    return Success((Synced(remote.shown, branch.name), False, None))
                sent = self._followed_up(meeting, merge).bind(lambda _: self._sent(remote, branch, meeting))
                ended = sent.bind(lambda agreed: self._ended(remote, branch, agreed) if agreed else Success(False))
                return ended.map(lambda landed: (synced, landed, meeting.theirs))

    def _merged(
        self, remote: Remote, branch: _Branch, request: SyncRequest, merged: str | None
    ) -> Result[tuple[Meeting, Decided, bool], Error]:
        """What was fetched, merged with all that is here by now; with False where the two are to be looked at anew."""

        def decided(meeting: Meeting) -> Result[tuple[Meeting, Decided, bool], Error]:
            is_new = request.remote is not None
            refused = refusal(meeting, remote.shown, after_purge=request.after_purge, is_new=is_new)
            if refused is not None:
                return Failure(refused)
            merge = decide(self._commits, meeting, self.clock.now_ms(), dry_run=request.dry_run)
            if request.dry_run:
                return merge.map(lambda both: (meeting, both, False))
            return merge.bind(lambda both: self._applied(meeting, both).map(lambda done: (meeting, both, done)))

        with self.locks.write() as held:
            recorded = held if request.dry_run else held.bind(lambda _: self._recorded())
            return recorded.bind(lambda _: self._met(branch, merged)).bind(decided)

    def _met(self, branch: _Branch, merged: str | None) -> Result[Meeting, Error]:
        ours = self._commits.named("HEAD")
        theirs = self._commits.named(INCOMING) if branch.is_there else Success(None)
        agreed = self._commits.named(AGREED) if merged is None else Success(merged)
        handled = self._mark.purge_handled_ms()
        return ours.bind(
            lambda mine: theirs.bind(
                lambda other: agreed.bind(
                    lambda last: handled.bind(lambda handled_ms: meet(self._commits, mine, other, last, handled_ms))
                )
            )
        )

    # -- here ---------------------------------------------------------------------------------------------------------

    def _applied(self, meeting: Meeting, merge: Decided) -> Result[bool, Error]:
        """The merge on disk and in git. False where somebody wrote here meanwhile."""

        def carried_out(head: str | None, ref: str | None) -> Result[bool, Error]:
            if head != meeting.ours or ref is None:
                return Success(False)
            done = self._disk.carry_out(SyncAtWork(ref, head, merge.commit), meeting.our_tree)
            return done.lash(
                lambda error: self._again(head, error) if isinstance(error, SyncRefused) else Failure(error)
            )

        def applied(something_went: bool) -> Result[bool, Error]:
            # What was forgotten here just now is a commit of its own, so that the two are to be looked at anew.
            if something_went or merge.commit == meeting.ours:
                return Success(not something_went)
            return self._commits.named("HEAD").bind(
                lambda head: self._commits.branch().bind(lambda ref: carried_out(head, ref))
            )

        return self._forgotten_here(meeting, merge).bind(applied)

    def _again(self, head: str | None, error: SyncRefused) -> Result[bool, Error]:
        """False where what was not recorded is by now: somebody edited it while the remote was asked."""
        recorded = self._recorded().bind(lambda _: self._commits.named("HEAD"))
        return recorded.bind(lambda now: Failure(error) if now == head else Success(False))

    def _forgotten_here(self, meeting: Meeting, merge: Decided) -> Result[bool, Error]:
        news = {
            held.object_id
            for path, held in merge.files.items()
            if path.startswith(FORGOTTEN) and path not in meeting.our_tree and isinstance(held, Leaf)
        }
        if not news:
            return Success(False)
        return contents_of(self.git, news).bind(lambda data: self.forget(tuple(data.values())))

    def _followed_up(self, meeting: Meeting, merge: Decided) -> Result[object, Error]:
        return Success(None) if merge.commit == meeting.ours else self.after_merge(meeting.our_tree, merge.files)

    # -- there --------------------------------------------------------------------------------------------------------

    def _sent(self, remote: Remote, branch: _Branch, meeting: Meeting) -> Result[str | None, Error]:
        """The commit that is there now, with all that was recorded here when the push began; None where it did not land."""

        def sent(head: str | None) -> Result[str | None, Error]:
            if head is None or head == meeting.theirs:
                return Success(head)
            self.tell(f"sending to {remote.shown}")
            replacing = meeting.theirs if meeting.our_purge_is_news else None
            pushed: Result[Pushed, Error] = remote.push(head, branch.name, replacing)
            return pushed.map(lambda found: head if found.landed else None)

        return self._commits.named("HEAD").bind(sent)

    def _ended(self, remote: Remote, branch: _Branch, agreed: str) -> Result[bool, Error]:
        """The remote is this store's, the two agree, and a purge is dealt with: nothing of the old history stays here."""
        purged = ForgettingFiles(self.root).purged_at_ms()
        kept = self._commits.agree(agreed).bind(
            lambda _: RemoteChoice(self.git, self.program).keep(remote.address, branch.name)
        )
        return (
            kept.bind(lambda _: self._mark.purge_handled_ms())
            .bind(lambda handled: purged.bind(lambda now: self._left_behind(handled, now)))
            .map(lambda _: True)
        )

    def _left_behind(self, handled_ms: int | None, purged_at_ms: int | None) -> Result[None, Error]:
        if purged_at_ms == handled_ms:
            return Success(None)
        with self.locks.write() as held:
            return (
                held.bind(lambda _: self._commits.drop(INCOMING))
                .bind(lambda _: self._commits.drop_remote_branches())
                .bind(lambda _: self._commits.forget_unreachable())
                .bind(lambda _: self._mark.put(purged_at_ms))
            )

    @property
    def _commits(self) -> Commits:
        return Commits(self.git)

    @property
    def _disk(self) -> DiskMerge:
        return DiskMerge(self.root, self._commits, self.clock)

    @property
    def _mark(self) -> SyncedMark:
        return SyncedMark(self.root)


SYNCED_FILE = "runs/synced.json"
_MAX_BYTES = 1 << 16


@frozen
class SyncedMark:
    root: Path

    def purge_handled_ms(self) -> Result[int | None, Error]:
        """The purge (epoch ms); None for none yet. StateCorrupt for a damaged mark."""
        real = real_root(self.root)
        match sealed(inside(real, SYNCED_FILE).bind(lambda path: read_file(path, _MAX_BYTES))):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return Success(None)
            case Success(image):
                data = b"" if image is None else image.data
                return parse_synced(data, f"{real}/{SYNCED_FILE}").map(lambda at_ms: at_ms)

    def put(self, purged_at_ms: int | None) -> Result[None, Error]:
        """Make it durable."""
        return put_file(real_root(self.root), SYNCED_FILE, render_synced(purged_at_ms))
