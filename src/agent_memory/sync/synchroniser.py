"""A sync from beginning to end: fetch, record what is not recorded here, merge, push; if another machine has pushed
meanwhile, once more.

Nothing is ever rebased and, except for a purge that a person confirms, nothing replaced. The caller holds the run lock.
The write lock is held while the two are merged, so that nothing is written in between, and never while talking to the
remote. After a failure anywhere everything on this machine is whole, and the next sync continues.

Commits are read and made without touching the work tree or the index. A merge is written to disk with all of its files
in one transaction, then git is told (P2, P5). The transaction also writes `runs/syncing.json`, which exists exactly
while the files are on disk and the branch does not lead to the merge yet: after a crash the next command finishes from
there, and nobody takes the files for a person's edits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from agent_memory.care.forgetter import Forgetter
from agent_memory.care.tombstones import FORGOTTEN, PURGE_MARK, purge_mark_of
from agent_memory.errors import EntryNotFound, StateCorrupt, SyncRefused
from agent_memory.files.paths import JsonFile, existing_paths, exists, real_root, remove_file
from agent_memory.git.git_history import contents_of
from agent_memory.git.git_process import OURSELVES, GitOutput, GitProcess, failed, make_ready
from agent_memory.note.file_name import file_name_of
from agent_memory.ports import Clock
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import FileChange, FileState
from agent_memory.rules.commit_message import BOOKKEEPING, IGNORE_FILE, commit_message, holds_secret
from agent_memory.rules.forgotten import EntryTombstone, ForgetTarget, SessionKey, SessionTombstone
from agent_memory.store.bookkeeping import PURGE, SYNCED, SYNCING, TOMBSTONE, SyncAtWork
from agent_memory.store.recorded_writes import RecordedWrites
from agent_memory.store.transaction import Transactions, state_of
from agent_memory.sync.merged_tree import merged_tree, wanted_contents
from agent_memory.sync.remote import INCOMING, Remote, chosen_remote, keep_remote
from agent_memory.sync.tree import EMPTY, Held, Leaf, MergedTree, NoteCounts, Remark, Tree, count_notes, why_outside
from agent_memory.text.plain_text import first_few


@frozen
class SyncRequest:
    remote: str | None = None
    """The address of a remote that should be this store's from now on."""
    dry_run: bool = False
    after_purge: bool = False
    """Whether a person confirmed that a purge, here or on the other machine, should hold on both."""


@frozen
class Synced:
    """What a sync did, or a dry run would do."""

    remote: str
    branch: str
    received: NoteCounts = NoteCounts()
    sent: NoteCounts = NoteCounts()
    pushed: bool = False
    """Whether there was something to send: files, or the history of both."""
    merged: bool = False
    conflicts: tuple[Remark, ...] = ()
    remarks: tuple[Remark, ...] = ()
    forgotten: int = 0
    after_purge: bool = False
    dry_run: bool = False


def sentence_of(synced: Synced) -> str:
    if not (synced.pushed or synced.received.any or synced.merged or synced.forgotten):
        return f"Nothing to sync: this machine and {synced.remote} are the same."
    verbs = ("would receive", "send") if synced.dry_run else ("Received", "sent")
    start = "Dry run: " if synced.dry_run else ""
    received, sent = synced.received.words(), synced.sent.words()
    return f"{start}{verbs[0]} {received}; {verbs[1]} {sent} ({synced.remote}, branch {synced.branch})."


@frozen
class Synchroniser:
    commits: Commits
    writes: RecordedWrites
    clock: Clock
    forgetter: Forgetter
    """Forgets here what other machines have forgotten, and updates the managed sections."""
    program: str | None
    """The `memory` program, for git to call; None if it is not known."""
    tell: Callable[[str], None]

    def sync(self, request: SyncRequest) -> Synced:
        """See the module. SyncRefused, and nothing changed, where the two are not to be merged."""
        git = self.commits.git
        if request.dry_run and not exists(str(git.directory)):
            raise SyncRefused(
                "this store has no history yet", "`memory sync --remote URL` without --dry-run starts one."
            )
        with self.writes.locks.write():
            make_ready(git, self.writes.warn)
            if self.commits.named("MERGE_HEAD") is not None:
                reason = "a merge was started by hand in the store's git and not finished"
                raise SyncRefused(reason, "Finish or abort it with git.")
        remote = chosen_remote(self.commits.git, request.remote)
        try:
            return self._until_landed(remote, request)
        finally:
            # A fetched and refused branch need not stay; a ref that cannot be dropped is overwritten the next time.
            as_result(self.commits.drop)(INCOMING)

    def _until_landed(self, remote: Remote, request: SyncRequest) -> Synced:
        """Fetches, merges and pushes until no other machine pushes, and nobody here writes, meanwhile."""
        done = Synced(remote.shown, "", dry_run=request.dry_run)
        merged: str | None = None
        forgotten = list[Remark]()
        for _ in range(8):  # another machine may push, or somebody here write, at the wrong moment
            branch, is_there = self._branch(remote)
            if is_there:
                remote.fetch(branch)
            with self.writes.locks.write():
                if not request.dry_run:
                    self._record()
                agreed = merged or self.commits.named(AGREED)
                theirs = self.commits.named(INCOMING) if is_there else None
                meeting = meet(self.commits, self.commits.named("HEAD"), theirs, agreed, self._purge_handled.read())
                refuse(meeting, remote.shown, request)
                commit, tree = merge(self.commits, meeting, self.clock.now_ms(), dry_run=request.dry_run)
                gone = () if request.dry_run else self._forget_here(meeting, tree)
                forgotten += gone
                # What is forgotten gets a commit of its own.
                is_applied = not (request.dry_run or gone) and self._apply(meeting, commit, tree)
            if not is_applied and not request.dry_run:  # the two have to be examined anew
                continue
            done = evolve(
                done,
                branch=branch,
                received=done.received + count_notes(meeting.our_tree, tree.files),
                sent=count_notes(meeting.their_tree, tree.files),
                pushed=done.pushed or commit != meeting.theirs,
                merged=done.merged or commit not in (meeting.ours, meeting.theirs),
                conflicts=tuple(dict.fromkeys((*done.conflicts, *tree.conflicts))),
                remarks=tuple(dict.fromkeys((*done.remarks, *forgotten, *tree.remarks))),
                forgotten=done.forgotten + tree.forgotten,
                after_purge=done.after_purge or meeting.purge_is_news,
            )
            if request.dry_run:
                return done
            if forgotten and commit != meeting.ours:
                changed = (path for path, leaf in meeting.our_tree.items() if tree.files.get(path) != leaf)
                self.forgetter.forget_traces(tuple(changed))
            elif commit != meeting.ours:
                self.forgetter.publish()
            merged = meeting.theirs or merged
            if self._send(remote, branch, meeting):
                return done
        raise SyncRefused("others kept writing at the same time", "Nothing was lost; try again.")

    def _branch(self, remote: Remote) -> tuple[str, bool]:
        """Returns the remote's branch with the name of ours, else its default branch, else a name that does not exist
        yet."""
        self.tell(f"asking {remote.shown}")
        ref = self.commits.branch()
        if ref is None:
            reason = "the store's git is on no branch (detached HEAD)"
            raise SyncRefused(reason, "Run `git switch main` there, or switch to another branch.")
        ours = ref.removeprefix("refs/heads/")
        branches, first = remote.branches()
        if ours in branches or not branches:
            return ours, ours in branches
        if first in branches:
            return first, True
        named = ", ".join(sorted(branches)[:5])
        reason = f"{remote.shown} has no branch {ours} and no default branch (it has {named})"
        raise SyncRefused(reason, f"Switch to one of them here, or push {ours} there once with git.")

    def _record(self) -> None:
        self._rename_for_all()
        unwrap(self.writes.recorder.adopt_hand_edits())
        unwrap(self.writes.recorder.record(BOOKKEEPING, "sync: what this machine knows of its notes"))

    def _rename_for_all(self) -> None:
        """Gives notes their own name again whose files a person called what other machines do not accept: there the note
        would be gone."""
        root = real_root(self.commits.git.root)
        for listed in (each for listing in unwrap(self.writes.store.listings()) for each in listing.entries):
            if listed.provisional_id or (why := why_outside(listed.path, Leaf("100644", ""))) is None:
                continue
            if (state := state_of(root, listed.path)) is not None:
                path = f"{listed.path.partition('/')[0]}/{file_name_of(listed.meta)}"
                if Transactions(root).commit([FileChange(listed.path, state, None), FileChange(path, None, state)]):
                    self.writes.warn(f"{listed.path} is now {path}: {why}")

    # -- here ---------------------------------------------------------------------------------------------------------

    def _apply(self, meeting: Meeting, commit: str, tree: MergedTree) -> bool:
        """Writes the merge to disk and to git. False if somebody wrote here meanwhile."""
        if commit == meeting.ours:
            return True
        head, ref = self.commits.named("HEAD"), self.commits.branch()
        if head != meeting.ours or ref is None:
            return False
        return self.commits.apply(SyncAtWork(ref, head, commit), meeting.our_tree, self.clock.now_ms())

    def _forget_here(self, meeting: Meeting, tree: MergedTree) -> tuple[Remark, ...]:
        """Forgets what another machine has forgotten, and returns what went: notes, kept histories, runs and inbox
        entries (P28). Their notes are still there to be followed."""
        news = {
            held.object_id
            for path, held in tree.files.items()
            if path.startswith(f"{FORGOTTEN}/") and path not in meeting.our_tree and isinstance(held, Leaf)
        }
        gone: list[Remark] = []
        for data in contents_of(self.commits.git, news).values():
            try:
                match TOMBSTONE.parse(data, FORGOTTEN):
                    case EntryTombstone(id, _, _):
                        what, target = id, ForgetTarget(id)
                    case SessionTombstone(session_id, harness, _):
                        what, target = f"session {session_id}", ForgetTarget(session=SessionKey(session_id, harness))
                    case _:  # a state value, which the merge leaves out
                        continue
                if self.forgetter.forget(target):
                    gone.append(
                        Remark(what, "was forgotten on another machine, and here now, with what was changed since")
                    )
            except (StateCorrupt, EntryNotFound):  # `memory doctor` reports a damaged one
                continue
        return tuple(gone)

    # -- there --------------------------------------------------------------------------------------------------------

    def _send(self, remote: Remote, branch: str, meeting: Meeting) -> bool:
        """Pushes everything that was recorded here when the push began. False if it did not land. Afterwards the remote
        is this store's, the two agree, and a purge is dealt with: nothing of the old history stays here."""
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
            with self.writes.locks.write():
                self.commits.forget_remote_history()
                self._purge_handled.write(purged_at_ms)
        return True

    @property
    def _purge_handled(self) -> JsonFile[int | None]:
        """Returns the purge that this machine has dealt with (epoch ms)."""
        return JsonFile(self.commits.git.root, "runs/synced.json", SYNCED)


# -- two histories that are to become one ------------------------------------------------------------------------------

_OURS = ("topics/", "archive/", "state/", "usage/")


@frozen
class Meeting:
    """The two sides of a sync. Ours is None in a store without a commit, theirs for an empty remote."""

    ours: str | None
    theirs: str | None
    our_tree: Tree
    their_tree: Tree
    base_tree: Tree | None
    """The tree of the commit that both come from: their best common ancestor, or what they had in common before a
    purge."""
    ancestor: str | None
    our_purge_is_news: bool
    """Whether we have purged, and the remote does not know."""
    their_purge_is_news: bool
    """Whether another machine has purged, and we do not know."""
    is_rewritten: bool
    """Whether the remote has lost what it had when we last met, and nobody has purged."""

    @property
    def purge_is_news(self) -> bool:
        return self.our_purge_is_news or self.their_purge_is_news


def meet(commits: Commits, ours: str | None, theirs: str | None, agreed: str | None, handled_ms: int | None) -> Meeting:
    """Returns all that is known of the two. `agreed` is what they last had in common, and `handled_ms` the purge that
    this machine has dealt with last."""

    def purge_in(tree: Tree) -> int | None:
        if (leaf := tree.get(PURGE_MARK)) is None:
            return None
        return PURGE.parse(contents_of(commits.git, (leaf.object_id,)).get(leaf.object_id, b""), PURGE_MARK)

    our_tree, their_tree = commits.tree(ours), commits.tree(theirs)
    our_purge, their_purge = purge_in(our_tree), purge_in(their_tree)
    base = ancestor = None if ours is None or theirs is None else commits.ancestor(ours, theirs)
    common = commits.tree(ancestor)
    # A purge in the commit which both come from is known to both, even if a crash kept us from recording it.
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
    """Raises SyncRefused if these two must not be merged."""
    if meeting.ours is None and meeting.theirs is None:
        hint = "`memory remember` or `memory consolidate` writes a first note."
        raise SyncRefused("there is nothing on either side yet", hint)
    if meeting.theirs is None:
        return
    paths = meeting.their_tree.keys() - {IGNORE_FILE}
    if paths and not any(path.startswith(_OURS) for path in paths):
        raise SyncRefused(
            f"{remote} holds files but no notes", "Use an empty repository, or one that memory has synced to."
        )
    if meeting.purge_is_news and not request.after_purge:
        where = "this machine" if meeting.our_purge_is_news else f"{remote} (another machine)"
        raise SyncRefused(
            f"the history was purged on {where}, and the other side still holds what was purged",
            "Run `memory sync --after-purge` here, then on each other machine.",
        )
    # A remote that a person has just named may be any.
    if meeting.is_rewritten and not meeting.purge_is_news and request.remote is None:
        raise SyncRefused(
            f"the history of {remote} was rewritten: it no longer holds what this machine last saw there",
            f"If that is intended, `memory sync --remote {remote}` merges the two as they are now.",
        )


def merge(commits: Commits, meeting: Meeting, at_ms: int, *, dry_run: bool) -> tuple[str, MergedTree]:
    """Returns the commit that both should become, and its contents; a dry run makes none, and returns None if it would
    be a new one. After a purge it leaves the unpurged history behind."""
    ours, theirs = meeting.ours, meeting.theirs
    if ours is not None and meeting.ancestor == theirs and not meeting.purge_is_news:
        return ours, MergedTree(meeting.our_tree)
    data = contents_of(commits.git, wanted_contents(meeting.base_tree, meeting.our_tree, meeting.their_tree))
    merged = merged_tree(meeting.base_tree, meeting.our_tree, meeting.their_tree, data)
    secrets: list[Remark] = []
    for path, held in merged.files.items():
        # Whoever wrote an incoming file that seems to hold a secret (P20) committed it by hand.
        if meeting.our_tree.get(path) == held or path in merged.outside or path.startswith(("state/", "usage/")):
            continue
        text = held if isinstance(held, bytes) else data.get(held.object_id, b"")
        if holds_secret(path, text.decode("utf-8", "replace")):
            secrets.append(Remark(path, "seems to hold a secret; `memory doctor --secrets` shows where"))
    merged = evolve(merged, remarks=(*merged.remarks, *secrets))
    # From a history that still holds what was purged only the files are taken; after two purges, from both.
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


AGREED = "refs/agent-memory/agreed"
"""What this machine and its remote last had in common: what was sent, or found there, and nothing recorded since."""

_AT_WORK = "runs/syncing.json"
_MADE = "refs/agent-memory/made"


@frozen
class Commits:
    git: GitProcess

    def named(self, name: str) -> str | None:
        """Returns the commit of a ref; None if there is no such ref."""
        output = self._asked("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        return output.text if output.ok else None

    def branch(self) -> str | None:
        """Returns the ref that HEAD is on; None if it is on none."""
        output = self.git.run("symbolic-ref", "--quiet", "HEAD")
        return output.text if output.ok else None

    def tree(self, commit: str | None) -> Tree:
        """Returns every file of a commit; without a commit, none."""
        if commit is None:
            return EMPTY
        tree: dict[str, Leaf] = {}
        for line in self.git.must("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, id, size = head.decode("ascii").split()
                tree[os.fsdecode(path)] = Leaf(mode, id, int(size) if size.isdigit() else 0)
        return tree

    def has(self, descendant: str, ancestor: str) -> bool:
        """Returns whether a commit is the other, or has it in its history."""
        return self._asked("merge-base", "--is-ancestor", ancestor, descendant).ok

    def ancestor(self, one: str, other: str) -> str | None:
        """Returns the best common ancestor of two; None if they have none."""
        return self._asked("merge-base", one, other).text.partition("\n")[0] or None

    def _asked(self, *words: str) -> GitOutput:
        output = self.git.run(*words)
        if output.status not in (0, 1):  # 1: the answer to a question is no
            raise failed(words, output)
        return output

    def make(self, files: Mapping[str, Held], parents: tuple[str, ...], first: Tree, message: str, at_ms: int) -> str:
        """Makes a commit that holds exactly these files; `first` is the tree of the first parent. No branch leads to it
        yet."""
        said = message.encode("utf-8", "replace")
        lines = [
            f"commit {_MADE}\nmark :1\ncommitter {OURSELVES[0]} <{OURSELVES[1]}> {at_ms // 1000} +0000\n".encode(),
            b"data %d\n%s\n" % (len(said), said),
            *(f"{word} {parent}\n".encode() for word, parent in zip(("from", "merge"), parents, strict=False)),
            *(b"D %s\n" % _quoted(path) for path in first if path not in files),
        ]
        for path, held in files.items():
            if isinstance(held, bytes):
                lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(held), held))
            elif first.get(path) != held:
                lines.append(b"M %s %s %s\n" % (held.mode.encode(), held.object_id.encode(), _quoted(path)))
        stream = b"".join([*lines, b"\nget-mark :1\ndone\n"])
        made = self.git.must("fast-import", "--quiet", "--force", "--done", "--date-format=raw", input=stream)
        self.drop(_MADE)
        return made.decode("ascii").strip()

    def drop(self, ref: str) -> None:
        """Removes a ref; a missing one counts as removed."""
        self.git.must("update-ref", "-d", ref)

    def forget_remote_history(self) -> None:
        """Removes everything known of what remotes had, so that nothing stays that no ref leads to (P28)."""
        # Below our own refs there may also be some of earlier versions.
        listed = self.git.must(
            "for-each-ref", "--format=%(refname)", "refs/remotes/", "refs/agent-memory/"
        ).splitlines()
        refs = [ref for ref in listed if ref != AGREED.encode()]
        self.git.must("update-ref", "--no-deref", "--stdin", input=b"".join(b"delete %s\n" % ref for ref in refs))
        self.git.must("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self.git.must("gc", "--quiet", "--prune=now")

    # -- a merge on disk; the caller holds the write lock ---------------------------------------------------------------

    def apply(self, work: SyncAtWork, before: Tree, now_ms: int) -> bool:
        """Returns True if the files of the merge are on disk, and git knows. False, and nothing changed, if somebody is
        changing the same files right now. SyncRefused if a file to be changed holds what git was never told."""
        real, after = real_root(self.git.root), self.tree(work.to_commit)
        touched = [
            path
            for path in sorted({*before, *after})
            if before.get(path) != after.get(path) and not (_is_outside(path, before) or _is_outside(path, after))
        ]
        data = contents_of(
            self.git, {tree[path].object_id for path in touched for tree in (before, after) if path in tree}
        )
        changes = [FileChange(_AT_WORK, None, FileState(SYNCING.render(work).encode()))]
        unrecorded: list[str] = []
        for path in touched:
            known, wanted = (data.get(tree[path].object_id) if path in tree else None for tree in (before, after))
            state = state_of(real, path)
            if (None if state is None else state.data) not in (known, wanted):
                unrecorded.append(path)
            changes.append(FileChange(path, state, None if wanted is None else FileState(wanted)))
        if unrecorded:
            raise SyncRefused(
                f"the other machine changed files that are not recorded here: {first_few(unrecorded, 5)}",
                "They seem to hold a secret or cannot be read (`memory doctor --secrets`); remove the secret, or commit them yourself.",
            )
        transactions = Transactions(real)
        transactions.recover()
        if not transactions.commit(changes):
            return False
        self._tell_git(work, now_ms)
        return True

    def finish(self, now_ms: int) -> None:
        """Finishes a merge that a crash left between disk and git, if there is one."""
        # An unfinished transaction is undone first, and its journal with it.
        Transactions(real_root(self.git.root)).recover()
        work = JsonFile(self.git.root, _AT_WORK, SYNCING).read()
        if work is not None:
            self._tell_git(work, now_ms)

    def _tell_git(self, work: SyncAtWork, now_ms: int) -> None:
        """Moves the branch to the merge, updates the index, removes the journal. Doing any of it twice is harmless."""
        make_ready(self.git)
        head, commit = self.named(work.branch), work.to_commit
        if head not in (work.from_commit, commit, None):
            commit = self._upon(work, head, now_ms)
        if head != commit:  # provided that the branch still leads there, or does not exist yet
            self.git.must("update-ref", "-m", "sync", work.branch, commit, head or "0" * len(commit))
        if not self.git.run("read-tree", "-m", "HEAD").ok:
            self.git.must("read-tree", "--reset", "HEAD")
        # Files that are never on disk are marked, so that git does not take them for removed.
        real, tree = real_root(self.git.root), self.tree("HEAD")
        outside = [path for path in tree if _is_outside(path, tree)]
        if absent := frozenset(outside) - frozenset(existing_paths(real, outside)):
            listed = b"".join(os.fsencode(path) + b"\0" for path in sorted(absent))
            self.git.must("update-index", "--skip-worktree", "-z", "--stdin", input=listed)
        remove_file(real, _AT_WORK)

    def _upon(self, work: SyncAtWork, head: str, now_ms: int) -> str:
        """Makes the commit of the merge with what somebody has recorded between a crash and now on top of it."""
        old, new, merge = (self.tree(each) for each in (work.from_commit, head, work.to_commit))
        changed = {path for path in {*old, *new} if old.get(path) != new.get(path)}
        files = {path: leaf for path, leaf in merge.items() if path not in changed}
        files |= {path: leaf for path, leaf in new.items() if path in changed}
        # After a purge the merge has left the old history behind, and it must not come back.
        is_kept = work.from_commit is None or self.has(work.to_commit, work.from_commit)
        parents = (work.to_commit, head) if is_kept else (work.to_commit,)
        return self.make(files, parents, merge, "sync: what was recorded meanwhile\n", now_ms)


def _is_outside(path: str, tree: Tree) -> bool:
    return path != IGNORE_FILE and path in tree and why_outside(path, tree[path]) is not None


def _quoted(path: str) -> bytes:
    plain = os.fsencode(path)
    return b'"%s"' % plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
