"""Batches of changes, each decided and committed as one transaction. The caller holds the write lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.disk.root_files import names_inside
from agent_memory.adapters.store.entry_files import RUNS, read_image, understand
from agent_memory.adapters.store.reverted_files import (
    GoingBack,
    entry_in,
    going_back,
    is_reversible,
    live_in,
    reverted_entries,
    without,
)
from agent_memory.adapters.store.shelves import Shelves
from agent_memory.adapters.store.store_acts import decide
from agent_memory.adapters.store.store_draft import Act, Draft
from agent_memory.adapters.store.tier_file import put_tiers, tiers_in
from agent_memory.adapters.store.transaction import Transactions
from agent_memory.domain.change import Applied, Change, Dropped, Receipt, Together, subject_of
from agent_memory.domain.entry import Listings
from agent_memory.domain.footprint import Footprint, fold_files
from agent_memory.domain.recording.file_change import FileChange, FileState, hash_of
from agent_memory.domain.text.links import find_links
from agent_memory.domain.tier_reversal import reverse_tiers
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import (
    EntryChanged,
    EntryExists,
    EntryNotFound,
    EntryUnreadable,
    Error,
    PathRefused,
    UndoRefused,
)
from agent_memory.formats.footprint_json import render_footprint
from agent_memory.results import sealed
from agent_memory.wording import describe

_ATTEMPTS = 5
"""How often a batch is decided anew because somebody edits the same files at this very moment."""


@frozen
class Decided:
    """What became of a batch; `refusals` says of each change or group that was dropped why, as a value."""

    draft: Draft
    receipt: Receipt
    refusals: tuple[Error, ...] = ()


class Batches:
    """Changes the files under a real root."""

    def __init__(self, root: str, shelves: Shelves) -> None:
        self._root = root
        self._shelves = shelves
        self._transactions = Transactions(root)

    def recover(self) -> Result[None, Error]:
        """Undo or finish what a crash left half done."""
        return self._transactions.recover()

    def apply(
        self,
        changes: Sequence[Change | Together],
        tiers: TierList | None,
        run_id: str | None,
        listed: Listings | None = None,
    ) -> Result[Decided, Error]:
        """All changes that are not refused, in order, each upon what the one before it left; on an error none. Decided upon
        `listed` first, where that is given."""
        subject = subject_of(changes[0]) if changes else TIERS_FILE

        def decided(draft: Draft) -> Result[Decided, Error]:
            return _decide(changes, draft).bind(lambda batch: _with_tiers(batch, tiers))

        return self._carry_out(decided, run_id, EntryChanged(subject), listed)

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool) -> Result[Decided, Error]:
        """Every file of the footprint as it was before it; a dry run only decides."""

        def decided(draft: Draft) -> Result[Decided, Error]:
            return decide_reversal(footprint, draft.fresh).map(lambda decided: Decided(*decided))

        if dry_run:
            return self.recover().bind(lambda _: self._draft()).bind(decided)
        return self._carry_out(decided, run_id, UndoRefused("", ("somebody is changing the same files right now",)))

    def _carry_out(
        self,
        decide_upon: Callable[[Draft], Result[Decided, Error]],
        run_id: str | None,
        given_up: Error,
        listed: Listings | None = None,
    ) -> Result[Decided, Error]:
        recovered = self.recover()
        if isinstance(recovered, Failure):
            return recovered
        for is_sure in (False, *(True,) * _ATTEMPTS):
            decided = (self._draft() if is_sure else self._likely_draft(listed)).bind(decide_upon)
            if not is_sure and (isinstance(decided, Failure) or decided.unwrap().refusals):
                continue  # only what is there now can refuse
            if isinstance(decided, Failure):
                return decided
            changes = with_footprint(self._root, decided.unwrap().draft.file_changes(), run_id)
            if isinstance(changes, Failure):
                return changes
            committed = self._transactions.commit(changes.unwrap())
            if isinstance(committed, Failure):
                return committed
            if committed.unwrap():
                return decided
        return Failure(given_up)

    def _draft(self) -> Result[Draft, Error]:
        """A draft upon what is there."""
        return self._shelves.live().map(lambda live: Draft(self._root, self._shelves, live))

    def _likely_draft(self, listed: Listings | None) -> Result[Draft, Error]:
        """A draft upon what was there when it was listed, or a moment ago: each file that is written is read and compared in
        any case."""
        if listed is not None:
            return Success(Draft(self._root, self._shelves, listed.live, listed.archive))
        return self._shelves.live().map(lambda live: Draft(self._root, self._shelves, live))


def _decide(changes: Sequence[Change | Together], draft: Draft) -> Result[Decided, Error]:
    applied: list[Applied] = []
    dropped: list[Dropped] = []
    refusals: list[Error] = []
    for each in changes:
        match sealed(_take_all(each.changes if isinstance(each, Together) else (each,), draft)):
            case Success(taken):
                applied += taken
            case Failure((EntryExists() | EntryChanged() | EntryNotFound() | EntryUnreadable()) as refusal):
                dropped.append(Dropped(subject_of(each), (describe(refusal),)))
                refusals.append(refusal)
            case Failure(error):
                return Failure(error)
    return Success(Decided(draft, Receipt(tuple(applied), tuple(dropped)), tuple(refusals)))


def _take_all(changes: Sequence[Change], draft: Draft) -> Result[tuple[Applied, ...], Error]:
    """All of them, or none and why.

    A replay finds all of them done. Where only some are, somebody did or undid a part meanwhile: the rest is not made upon
    that.
    """
    mark = draft.mark()
    acts: list[Act] = []
    for change in changes:
        decided = decide(change, draft)
        if isinstance(decided, Failure):
            draft.go_back(mark)
            return decided
        acts.append(decided.unwrap())
        draft.take(acts[-1])
    done_before = next((act.applied.id for act in acts if act.again), None)
    if done_before is not None and any(act.writes for act in acts):
        draft.go_back(mark)
        return Failure(EntryChanged(done_before))
    return Success(tuple(act.applied for act in acts))


def _with_tiers(decided: Decided, tiers: TierList | None) -> Result[Decided, Error]:
    if tiers is None:
        return Success(decided)
    return put_tiers(tiers, decided.draft).map(
        lambda is_new: evolve(decided, receipt=evolve(decided.receipt, tiers_changed=is_new))
    )


_NAME = re.compile(r"footprint-(\d{1,9})\.json", re.ASCII)


def with_footprint(
    root: str, changes: Sequence[FileChange], run_id: str | None
) -> Result[tuple[FileChange, ...], Error]:
    """The changes and, unless there are none or they are of no run, the file that holds them."""
    if run_id is None or not changes:
        return Success(tuple(changes))
    directory = f"{RUNS}/{run_id}"
    if not is_plain_name(run_id) or run_id.startswith("."):
        return Failure(PathRefused(directory, "it is not a plain name"))
    return _next_number(root, directory).map(
        lambda number: (
            *changes,
            FileChange(
                f"{directory}/footprint-{number}.json", None, FileState(render_footprint(Footprint(tuple(changes))))
            ),
        )
    )


def _next_number(root: str, directory: str) -> Result[int, Error]:
    return names_inside(root, directory).map(
        lambda names: max((int(found[1]) for found in map(_NAME.fullmatch, names) if found), default=0) + 1
    )


def decide_reversal(footprint: Footprint, new_draft: Callable[[], Draft]) -> Result[tuple[Draft, Receipt], Error]:
    """The receipt, and a draft as it was before the run. What cannot be taken back stays, with all that belongs with it: the
    notes that a merge, split or replacement made of one another, and what a note that stays links to.

    UndoRefused with all reasons, the run in it to be filled in by the caller, where nothing is left to take back.
    """
    foreign = next((each.path for each in footprint.files if not is_reversible(each.path)), None)
    if foreign is not None:
        return Failure(PathRefused(foreign, "it is no file of entries or tiers"))
    tiers = [each for each in footprint.files if each.path == TIERS_FILE]

    def attempt(files: Sequence[FileChange]) -> Result[tuple[Draft, Mapping[str, str]], Error]:
        draft = new_draft()
        for find in (_changed_since, _put_back, _left_dangling):
            reasons = find(files, draft)
            if isinstance(reasons, Failure) or reasons.unwrap():
                return reasons.map(lambda found: (draft, found))
        return Success((draft, {}))

    def receipt(back: GoingBack[Draft]) -> Result[tuple[Draft, Receipt], Error]:
        entries = tuple(reverted_entries(back.files))
        put = _put_tiers_back(tiers, back.staying, back.value)
        return put.map(lambda tiers_changed: (back.value, Receipt(entries, tiers_changed=tiers_changed)))

    return going_back([each for each in footprint.files if each.path != TIERS_FILE], attempt).bind(receipt)


def _changed_since(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Why each file that is not as the run left it cannot be put back, by path."""
    reasons: dict[str, str] = {}
    for change in notes:
        match sealed(draft.state(change.path)):
            case Failure(error):
                return Failure(error)
            case Success(state) if hash_of(state) != hash_of(change.after):
                reasons[change.path] = f"{change.path} {'is gone' if state is None else 'was changed since'}"
            case Success(_):
                pass
    return Success(reasons)


def _put_back(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Why some of it cannot come back, by path."""
    for change in notes:
        if (there := live_in(change, change.after)) is not None:
            draft.put_live(there.meta.id, None)
        if change.before is None:
            draft.put(change.path, None)
    back = [(change.path, listed) for change in notes if (listed := live_in(change, change.before)) is not None]
    reasons = {
        path: f"{id} leads to {bearer.path} by now"
        for path, each in back
        for id in (each.meta.id, *each.meta.aliases)
        for bearer in draft.bearers(id)
    }
    for change in notes:
        if change.before is not None:
            shelf, _, name = change.path.rpartition("/")
            free = Success(True) if change.after is not None else draft.is_free(shelf, name)
            if isinstance(free, Failure):
                return free
            if not free.unwrap():
                reasons[change.path] = f"another file has the name of {change.path}"
            draft.put(change.path, change.before)
    for _, each in back:
        draft.put_live(each.meta.id, each)
    return Success(reasons)


def _left_dangling(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Links of other live entries to what only the run had made, by the path of what it made."""
    leaving = {
        id: change.path
        for change in notes
        if (left := entry_in(change.path, change.after)) is not None
        for id in (left.meta.id, *left.meta.aliases)
    }
    gone: dict[str, str] = {}
    for id, path in leaving.items():
        leads = _leads_somewhere(id, draft)
        if isinstance(leads, Failure):
            return leads
        if not leads.unwrap():
            gone[id] = path
    return _links_to(gone, {change.path for change in notes}, draft) if gone else Success({})


def _leads_somewhere(id: str, draft: Draft) -> Result[bool, Error]:
    if draft.bearers(id):
        return Success(True)
    newest = draft.archived(id)
    if isinstance(newest, Failure):
        return newest
    if (archived := newest.unwrap()) is not None:
        there = draft.state(archived.path)
        if isinstance(there, Failure) or there.unwrap() is not None:
            return there.map(lambda _: True)
    return draft.versions(id).map(bool)


def _links_to(gone: Mapping[str, str], put_back: set[str], draft: Draft) -> Result[dict[str, str], Error]:
    reasons: dict[str, str] = {}
    mentioned = re.compile("|".join(re.escape(f"[[{id}") for id in sorted(gone)).encode())
    for listed in draft.all_live():
        if listed.path in put_back:
            continue
        read = read_image(draft.root, listed.path)  # not through the draft, which would keep the whole store in memory
        if isinstance(read, Failure):
            return read
        image = read.unwrap()
        if image is not None and mentioned.search(image.data):
            body = understand(listed.path, image.data, image.mtime_ns).map(lambda stored: stored.body).value_or("")
            targets = dict.fromkeys(link.target for link in find_links(body) if link.target in gone)
            reasons |= {gone[id]: f"{listed.path} links to {id}, which only this run has made" for id in targets}
    return Success(reasons)


def _put_tiers_back(changes: Sequence[FileChange], staying: Set[str], draft: Draft) -> Result[bool, Error]:
    """The file as it was; where it was changed since, only what the run had moved and nobody has moved again (a pin set
    after a run must not keep that run from being undone)."""
    if not changes:
        return Success(False)
    folded = fold_files(changes)
    read = draft.state(TIERS_FILE)
    if isinstance(read, Failure):
        return read
    now = read.unwrap()
    if not staying and not folded.interrupted and hash_of(now) == hash_of(changes[-1].after):
        draft.put(TIERS_FILE, changes[0].before)
        return Success(bool(folded.files))
    tiers = _tiers_in(now, draft)
    for change in reversed(changes):
        before, after = _tiers_in(change.before, draft), _tiers_in(change.after, draft)
        for each in (tiers, before, after):
            if isinstance(each, Failure):
                return each
        was, became = without(before.unwrap(), staying), without(after.unwrap(), staying)
        tiers = Success(reverse_tiers(tiers.unwrap(), was, became))
    return tiers.bind(lambda reversed_: put_tiers(reversed_, draft))


def _tiers_in(state: FileState | None, draft: Draft) -> Result[TierList, Error]:
    return tiers_in(draft.root, None if state is None else state.data)
