"""From what an agent proposes to exactly what one defrag will write.

Pure and deterministic: the same proposal and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import define, evolve, field

from agent_memory.domain.actions import (
    Action,
    Archive,
    Deferred,
    DefragFacts,
    DefragPlan,
    DefragProposal,
    Due,
    Edit,
    Merge,
    PlannedAction,
    Rename,
    Retag,
    Split,
    fingerprint_of,
    ids_of,
    kind_of,
)
from agent_memory.domain.change import Create, Dropped, Replace, Retire
from agent_memory.domain.defragging.ground import Ground, protection, seen_hashes, subject_of, text_of
from agent_memory.domain.defragging.outcomes import Outcome, Reasons, merged, rewritten, split
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.drafts import Refused, stored_line, stored_refusal
from agent_memory.domain.planning.linking import unlinked

_UNDONE = "a person has undone it, and nothing it is made from has changed since"
_WAITS = "another change of it waits for the next run"
_ONCE = "another action of this run changes it already"
_LAST = "it would leave no entry"
_EARLIER = "put off by an earlier run, and not possible any more"


def plan_defrag(
    proposal: DefragProposal, facts: DefragFacts, deferred: tuple[Deferred, ...] = (), due: Due | None = None
) -> DefragPlan:
    """All that may be done of the proposal, after what earlier runs deferred; the rest is dropped with its reasons, or
    deferred where only the run's limit stands against it.

    What is due to be archived goes too. What the proposal says of an entry that has expired comes first, then the clock;
    and so many entries as the proposal leaves too many.

    Guarantees of the result: only entries whose bytes are those that the agent saw are touched, each by one destructive
    action, and none that is pinned, conflicted, secret or without an id of its own; every salient token of what is
    replaced is in what takes its place or was named as dropped; ids and file names are unique; every link of what is
    written leads to an entry; no more entries change than a run may change (unless `force`), and at least one stays live.
    """
    run, due = _Planning(Ground(facts)), due or Due()
    spoken_for = {id for action in proposal.actions for id in ids_of(action)}
    for archive in due.expired:
        if archive.id not in spoken_for:
            run.take_due(archive)
    for waiting in deferred:
        run.take(waiting.action, waiting.hashes, f"{_EARLIER}: ")
    for action in proposal.actions:
        run.take(action, seen_hashes(action, facts))
    for archive in due.expired:
        run.take_due(archive)
    for archive in due.surplus:
        if run.gone < len(due.surplus):
            run.take_due(archive)
    told = tuple(map(stored_refusal, proposal.dropped))
    return DefragPlan(tuple(run.actions), told + tuple(run.dropped), tuple(run.deferred))


def ids_to_read(
    proposal: DefragProposal, deferred: Iterable[Deferred], shown: Mapping[str, StoredEntry], due: Due | None = None
) -> tuple[str, ...]:
    """The entries that checking needs whole beside those that were shown: to be given as `DefragFacts.at_hand`."""
    deferred, due = tuple(deferred), due or Due()
    actions = (*(each.action for each in deferred), *proposal.actions)
    named = (*due.ids, *(id for action in actions for id in ids_of(action)))
    earlier = {id for each in deferred for id in ids_of(each.action)}
    return tuple(dict.fromkeys(id for id in named if id not in shown or id in earlier))


@define
class _Planning:
    """One run, action by action."""

    ground: Ground
    actions: list[PlannedAction] = field(factory=list[PlannedAction])
    dropped: list[Dropped] = field(factory=list[Dropped])
    deferred: list[Deferred] = field(factory=list[Deferred])
    _taken: dict[str, list[Action]] = field(factory=dict[str, list[Action]])
    """What is done or put off for each entry."""
    _waiting: set[str] = field(factory=set[str])
    _changed: set[str] = field(factory=set[str])
    gone: int = 0
    """How many live entries fewer there will be than before; negative for more."""
    _versions: dict[str, MemoryEntry] = field(factory=dict[str, MemoryEntry])
    """The new versions so far, by id."""

    def take(self, action: Action, seen: Mapping[str, str], prefix: str = "") -> None:
        """Plan the action, put it off, or say why not."""
        ids = frozenset(ids_of(action))
        try:
            outcome = self._permitted(action, seen)
        except Refused as refused:
            self.dropped.append(Dropped(subject_of(action), tuple(f"{prefix}{each}" for each in refused.reasons)))
            return
        if self._must_wait(ids):
            self.deferred.append(Deferred(action, {id: seen[id] for id in sorted(ids)}))
            self._waiting |= ids
        else:
            self._accept(action, outcome, seen)
        for id in ids:
            self._taken.setdefault(id, []).append(action)

    def take_due(self, archive: Archive) -> None:
        """Plan it unless anything stands against it: every run looks anew at what is due, so nothing is told or put off."""
        listed = self.ground.live.get(archive.id)
        if listed is None or archive.id in self._taken or self._must_wait(frozenset((archive.id,))):
            return
        seen = {archive.id: listed.content_hash}
        try:
            outcome = self._permitted(archive, seen)
        except Refused:
            return
        self._accept(archive, outcome, seen)
        self._taken[archive.id] = [archive]

    def _permitted(self, action: Action, seen: Mapping[str, str]) -> Outcome:
        """What the action comes to, where nothing but the run's limit stands against it."""
        problems = protection(action, seen, self.ground) or self._clashes(action)
        if not problems and fingerprint_of(action, seen) in self._facts.undone:
            problems = (_UNDONE,)
        if not problems and not self._facts.force:
            problems = self._excess(action)
        if problems:
            raise Refused(problems)
        outcome = self._carried_out(action)
        if self._left(outcome) < 1:
            raise Refused((_LAST,))
        return outcome

    def _clashes(self, action: Action) -> Reasons:
        clashing = (id for id in dict.fromkeys(ids_of(action)) if not _go_together(action, self._taken.get(id, ())))
        return tuple(dict.fromkeys(_WAITS if id in self._waiting else _ONCE for id in clashing))

    def _excess(self, action: Action) -> Reasons:
        """Why no run may ever take it, and waiting would not help."""
        count, limit = len(set(ids_of(action))), max_changes(self._facts.live_at_start)
        words = f"it changes {count} entries, and one run may change {limit} (`--force` lifts that)"
        return (words,) if count > limit else ()

    def _carried_out(self, action: Action) -> Outcome:
        sources = tuple(text_of(id, self.ground) for id in dict.fromkeys(ids_of(action)))
        if isinstance(action, Merge):
            return merged(action, sources, self.ground)
        stored = sources[0]
        content_hash = stored.listed.content_hash
        match action:
            case Split():
                return split(action, stored, self.ground)
            case Archive(_, reason):
                if not stored_line(reason):
                    raise Refused(("it gives no reason",))
                return Outcome((Retire(stored.meta.id, content_hash),))
            case Rename() | Retag() | Edit():
                new, unlinked_targets = rewritten(action, self._versions.get(stored.meta.id, stored.entry), self.ground)
                return Outcome((Replace(new, content_hash),), (), unlinked_targets)

    def _accept(self, action: Action, outcome: Outcome, seen: Mapping[str, str]) -> None:
        for change in outcome.changes:
            if isinstance(change, Replace):
                self._supersede(change)
        self.actions.append(PlannedAction(action, outcome.changes, fingerprint_of(action, seen), outcome.new_ids))
        self.dropped += unlinked(subject_of(action), outcome.unlinked)
        self.ground.accept(outcome.changes)
        self.gone = len(self._facts.live) - self._left(outcome)
        self._changed.update(ids_of(action))

    def _supersede(self, change: Replace) -> None:
        """Let the earlier actions on the entry write this version too: one write carries out all of them, and each of
        them finds it written."""
        id = change.entry.meta.id
        if id in self._versions:
            self.actions = [
                evolve(each, changes=(change,)) if ids_of(each.action) == (id,) else each for each in self.actions
            ]
        self._versions[id] = change.entry

    def _must_wait(self, ids: frozenset[str]) -> bool:
        if ids & self._waiting:
            return True
        return not self._facts.force and len(self._changed | ids) > max_changes(self._facts.live_at_start)

    def _left(self, outcome: Outcome) -> int:
        """How many entries are live once this is done."""
        retired = sum(isinstance(change, Retire) for change in outcome.changes)
        created = sum(isinstance(change, Create) for change in outcome.changes)
        return len(self._facts.live) - self.gone - retired + created

    @property
    def _facts(self) -> DefragFacts:
        return self.ground.facts


def _go_together(action: Action, earlier: Iterable[Action]) -> bool:
    """Whether an entry may undergo all of them in one run: one edit, one title, one set of tags."""
    actions = (action, *earlier)
    kinds = [kind_of(each) for each in actions]
    return len(actions) == 1 or (
        len(set(kinds)) == len(kinds) and all(isinstance(each, Rename | Retag | Edit) for each in actions)
    )
