"""Notes follow their place of work: `memory scope`, and what happens when a repository is known again under another key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from agent_memory.adapters.surroundings.places import UNKNOWN, KnownPlace, KnownPlaces, redacted_scope, root_commit_of
from agent_memory.adapters.surroundings.repository import Repository, scope_there
from agent_memory.domain.change import Dropped
from agent_memory.domain.entry import Listing
from agent_memory.domain.health import ScopeUse
from agent_memory.domain.run_log import LoggedRun, logged_actions, short_id
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import Error, UsageInvalid
from agent_memory.ports import Clock, RunLog
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    from agent_memory.publishing import KeepSections


@frozen
class Moved:
    """The notes that have the scope `new` since the run; none where none had to be changed."""

    new: str
    notes: tuple[str, ...] = ()
    left: tuple[Dropped, ...] = ()
    run_id: str = ""


@frozen
class ScopeKeeping:
    """Scopes on behalf of a caller. `publish` writes the managed sections; `known` is None where no home is known."""

    writes: RecordedWrites
    log: RunLog
    clock: Clock
    environ: Mapping[str, str]
    known: KnownPlaces | None
    new_run_id: Callable[[int], str]
    publish: Callable[[KeepSections], object]

    @as_result
    def list(self) -> tuple[ScopeUse, ...]:
        """The scopes of live notes, those with most notes first."""
        counts = Counter([each.meta.scope for each in unwrap(self.writes.store.list()).entries])
        known = tuple(self.known.all()) if self.known else ()
        return tuple(self._use(scope, count, known) for scope, count in counts.most_common())

    @as_result
    def rename(self, old: str, new: str, *, merge: bool = False) -> Moved:
        """Give the live notes of one scope another, as one run. UsageInvalid where there are none, and, unless they are to be
        merged, where the other has notes already."""
        with self.writes.locked():
            live = unwrap(self.writes.store.list())
            scopes = Counter([each.meta.scope for each in live.entries])
            if old == new or not scopes[old]:
                raise UsageInvalid(f"No note has the scope {old}", "`memory scope list` shows those in use.")
            if scopes[new] and not merge:
                hint = f"`memory scope merge` takes {scopes[old]} and {scopes[new]} notes together."
                raise UsageInvalid(f"{new} has notes of its own", hint)
            moved = self._moved(live, (old,), new)
        self.publish(lambda sections: self.log.put_sections(moved.run_id, sections))
        return moved

    def arrive(self, repository: Repository) -> None:
        """Remember where a repository is; notes that it had under an earlier key follow it, which the caller is told. A
        trouble is told, too: the next command there does it then."""
        common = repository.common
        before = None if self.known is None or common is None else self.known.at(common)
        scope = redacted_scope(repository.scope)
        if self.known is None or common is None or self.known.has(repository):
            return
        here = KnownPlace(common, repository.scope, root_commit_of(common, repository.commit))
        places = tuple(self.known.all())
        try:
            with self.writes.locked():
                live = unwrap(self.writes.store.list())
                used = {*[each.meta.scope for each in live.entries], *(redacted_scope(each.scope) for each in places)}
                others = sorted(used - {scope, GLOBAL_SCOPE})
                olds = [old for old in others if self._is_same(old, here, repository.top, before, places)]
                moved = self._moved(live, olds, scope)
        except Error as error:
            self.writes.warn(str(error))
            return
        if count := len(moved.notes):
            self.writes.warn(
                f"This place was known as {', '.join(olds)}: {count} {'note' if count == 1 else 'notes'} followed. "
                f"`memory undo {short_id(moved.run_id)}` takes that back."
            )
        self.known.put(here)

    # -- the same place? ----------------------------------------------------------------------------------------------

    def _is_same(
        self, old: str, here: KnownPlace, top: str, before: KnownPlace | None, places: Sequence[KnownPlace]
    ) -> bool:
        """Whether a scope was that of the repository that is here. One that is still elsewhere is another (forks, templates);
        one that had a remote is followed only by the very directory that had it."""
        is_other = before is not None and not _may_share_root(before, here)
        if old in (redacted_scope(f"path:{here.common}"), redacted_scope(f"path:{top}")):
            return not is_other
        had = [each for each in places if redacted_scope(each.scope) == old]
        if any(each.common != here.common and self._is_there(each) for each in had):
            return False
        if old.startswith("path:"):
            return any(each.root_commit == here.root_commit for each in had) and _is_known(here)
        return before is not None and redacted_scope(before.scope) == old and not is_other

    def _is_there(self, place: KnownPlace) -> bool:
        """Whether the repository is where it was, as it was; also where that cannot be told (P6)."""
        return scope_there(place.common, self.environ) in (None, place.scope)

    def _use(self, scope: str, count: int, places: Sequence[KnownPlace]) -> ScopeUse:
        had = [each for each in places if redacted_scope(each.scope) == scope]
        if scope.startswith("path:"):
            there = scope_there(scope.removeprefix("path:"), self.environ)
            is_gone = there is not None and redacted_scope(there) != scope and "[redacted" not in scope
        else:
            is_gone = bool(had) and not any(map(self._is_there, had))
        roots = {each.root_commit for each in had if _is_known(each)}
        same = (each.scope for each in places if each.root_commit in roots and each not in had and self._is_there(each))
        now = next(same, None) if is_gone else None
        # Of a repository with a remote nothing is missing because it is not on this disk just now.
        return ScopeUse(scope, count, is_gone and (scope.startswith("path:") or now is not None), now)

    # -- moving -------------------------------------------------------------------------------------------------------

    def _moved(self, live: Listing, olds: Sequence[str], new: str) -> Moved:
        self._forward(olds, new)
        concerned = [each for each in live.entries if each.meta.scope in olds]
        if not concerned:
            return Moved(new)
        left = [
            Dropped(each.meta.id, ("it holds unresolved merge conflicts",)) for each in concerned if each.conflicted
        ]
        writes = self.writes
        writes.tolerate(writes.recorder.adopt_hand_edits(tuple(each.path for each in concerned)))
        now_ms = self.clock.now_ms()
        run_id = self.new_run_id(now_ms)
        moving = (each for each in concerned if not each.conflicted)
        receipt = writes.rewrite(moving, lambda meta: evolve(meta, scope=new), run_id)
        notes = tuple(each.id for each in receipt.applied)
        count = f"{len(notes)} {'note' if len(notes) == 1 else 'notes'}"
        summary = f"{', '.join(olds)} is {new} now ({count})"
        writes.tolerate(writes.recorder.record(receipt.touched, f"scope: {summary}", f"Run {run_id}"))
        actions = logged_actions(receipt.applied)
        report = LoggedRun(run_id, "scope", now_ms, self.clock.now_ms(), "completed", summary, actions)
        unwrap(self.log.put_report(report))
        return Moved(new, notes, (*receipt.dropped, *left), run_id)

    def _forward(self, olds: Iterable[str], new: str) -> None:
        """A session that took place there, and is read only now, belongs to the new one as well."""
        for each in tuple(self.known.all()) if self.known else ():
            if self.known and redacted_scope(each.scope) in olds and not self._is_there(each):
                self.known.put(KnownPlace(each.common, new, each.root_commit))


def _may_share_root(one: KnownPlace, other: KnownPlace) -> bool:
    return one.root_commit == other.root_commit or not (_is_known(one) and _is_known(other))


def _is_known(place: KnownPlace) -> bool:
    return place.root_commit not in ("", UNKNOWN)
