"""What waits for a person's decision, and the decisions: what `memory review` and the page show, and what they do.

A decision is a run: one transaction with a footprint, so that `memory undo` takes it back, its marks included.
`state/review/<key>.json` says that an item was decided; its key covers what the person saw, so that a note that changes is
shown again. `state/rejected/<id>.json` keeps hashes of what a rejected note said, so that no session teaches it again.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

from agent_memory.errors import EntryChanged, Error, UsageInvalid
from agent_memory.note.note import (
    GLOBAL_SCOPE,
    SKILL_TAG,
    Harness,
    Listed,
    MemoryEntry,
    Meta,
    Origin,
    Source,
    Status,
    StoredEntry,
    Tier,
    TierList,
    body_hash,
)
from agent_memory.recall.grounding import COMMAND_SECONDS, Grounding, Named, is_gone
from agent_memory.results import as_result, unwrap
from agent_memory.rules.analyze import analyze_features
from agent_memory.rules.change import Change, ChangeGroup, Dropped, Receipt
from agent_memory.rules.drafts import CHANGES_NOTHING, LEFT_OUT, promoted, superseding, taken_ids
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.findings import FindingKind
from agent_memory.rules.forgotten import REASON, REJECTED, EntryTombstone, statement_hashes
from agent_memory.rules.information import KEPT_SHARE, distinct_lines, lost_content, said_by
from agent_memory.rules.plan import DefragFacts, DefragProposal, Merge
from agent_memory.rules.plan_defrag import plan_defrag
from agent_memory.rules.plan_window import IS_NEWER, STORED_ALREADY
from agent_memory.rules.run_log import LoggedRun, short_id
from agent_memory.store.bookkeeping import REVIEW_MARK, TOMBSTONE, ReviewMark, rejected_path, review_mark, review_path
from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.instants import DAY_MS, day_of, has_passed
from agent_memory.text.markdown import without_see_also
from agent_memory.text.plain_text import counted, one_line
from agent_memory.text.salience import content_terms, coverage

if TYPE_CHECKING:
    from agent_memory.acts.service import MemoryService
    from agent_memory.care.doctor import Examination, Examined
    from agent_memory.store.recorded_writes import ActRuns

MANY_NOTES = 10
"""A session of which a run makes more notes than this has them looked at."""
_FAULTLESS = (CHANGES_NOTHING, LEFT_OUT, IS_NEWER, STORED_ALREADY, REASON, REJECTED)
"""Reasons other than `Cause.REFUSED`, for which there is nothing to decide: the log of a run has the words only."""


class ReviewKind(StrEnum):
    """Why an item waits, in the order in which they are shown."""

    HELD_BACK = "held-back"
    """It is new, and `review.before` keeps it from sessions until somebody approves it."""
    CONTRADICTION = "contradiction"
    EXTERNAL = "external"
    """A foreign source said it: no session is told unless a person vouches for it."""
    IMPORTED = "imported"
    MANY = "many"
    """One session made more notes than `MANY_NOTES`."""
    NEAR_DUPLICATE = "near-duplicate"
    EXPIRED = "expired"
    GONE = "gone"
    """The files that it names were removed from its repository."""
    REFUSED = "refused"
    """An agent proposed an action that the checks refused."""
    NEW = "new"
    """A run made it lately; only listed when it is asked for."""

    @property
    def words(self) -> str:
        """Returns the reason as a person would say it."""
        return {"many": "one of many", "gone": "its files are gone"}.get(self, self.replace("-", " "))


class ReviewAct(StrEnum):
    KEEP = "keep"
    """It is right as it is. For one note: a person vouches for what a foreign source said, and an end is taken away."""
    EDIT = "edit"
    REJECT = "reject"
    """To the archive, and not to be learnt again."""
    MERGE = "merge"
    SUPERSEDE = "supersede"
    """One takes the place of the others, which go to the archive."""
    LATER = "later"


_FOR_ONE = (ReviewAct.KEEP, ReviewAct.EDIT, ReviewAct.REJECT, ReviewAct.LATER)
_FOR_SEVERAL = tuple(ReviewAct)
_FOR_UNMERGEABLE = tuple(each for each in ReviewAct if each is not ReviewAct.MERGE)


@frozen
class ReviewItem:
    key: str
    """Covers the kind and what a person sees of the notes: it changes when they do."""
    kind: ReviewKind
    reason: str
    """A sentence for people; it may quote a note."""
    source: str
    """Who said it: a session, a run, an import."""
    notes: tuple[Listed, ...] = ()
    """The one that would stay comes first; none for an action about notes that are gone."""
    acts: tuple[ReviewAct, ...] = _FOR_ONE
    put_off_until_ms: int | None = None


@frozen
class Decided:
    """The outcome of a decision; `run_id` is empty where nothing was done."""

    run_id: str
    summary: str
    left: tuple[Dropped, ...] = ()
    """The items, by key, that stay as they are, and why."""


@frozen
class Reviewing:
    service: MemoryService
    runs: ActRuns
    root: str
    examination: Examination
    grounding_of: Callable[[str, Sequence[Named], float], tuple[tuple[Grounding, ...], ...]]
    """Says what became of the files that notes of a place name, as far as git answers in so many seconds."""

    # -- the queue ----------------------------------------------------------------------------------------------------

    @as_result
    def items(self, new_since: int | Literal["last"] | None = None, *, compares: bool = True) -> tuple[ReviewItem, ...]:
        """Returns what waits, each note once among the items about single notes; what was put off comes last. With
        `new_since`, an instant in ms or the last runs, only what is about notes that runs have made since, all of them.

        Secret notes are not in it. An agent does not see what is held back. Not `compares`: without what texts have to be
        compared or looked up for.
        """
        now_ms, store = self.runs.clock.now_ms(), self.service.writes.store
        is_agent = self.service.writes.caller.is_agent
        entries = unwrap(store.list()).entries
        live = {
            each.meta.id: each
            for each in entries
            if not (each.meta.is_secret or each.provisional_id or (is_agent and each.meta.withheld))
        }
        oldest_ms = min(new_since if isinstance(new_since, int) else now_ms, now_ms - 30 * DAY_MS)
        runs = [
            each
            for each in unwrap(self.runs.log.runs(500))
            if each.machine in ("consolidate", "defrag") and each.undone_by is None and each.started_at_ms >= oldest_ms
        ]
        new = _made_by(runs, new_since)
        by_path = self.examination.of(entries) if compares else {}
        examined = {id: by_path[each.path] for id, each in live.items() if each.path in by_path}
        found = [
            *_together(live, examined, now_ms),
            *_alone(live.values(), runs, new, self._gone(live.values(), examined, now_ms), now_ms),
            *_refused(runs, live),
        ]
        waiting: dict[str, ReviewItem] = {}
        for item in found:
            mark = review_mark(self.root, item.key)
            until_ms = None if mark is None or has_passed(mark.until_ms, now_ms) else mark.until_ms
            is_decided = mark is not None and mark.until_ms is None
            if not is_decided and (new_since is None or any(note.meta.id in new for note in item.notes)):
                waiting.setdefault(item.key, evolve(item, put_off_until_ms=until_ms))
        kinds = list(ReviewKind).index
        return tuple(sorted(waiting.values(), key=lambda each: (each.put_off_until_ms or 0, kinds(each.kind))))

    def _gone(self, live: Iterable[Listed], examined: Mapping[str, Examined], now_ms: int) -> dict[str, Grounding]:
        """Returns the notes of which nothing that they name is left for some days, by id, with the file that went last."""
        by_scope: dict[str, list[tuple[str, Named]]] = {}
        for each in live:
            named = examined[each.meta.id].named if each.meta.id in examined else Named()
            if named.names and each.meta.scope != GLOBAL_SCOPE:
                by_scope.setdefault(each.meta.scope, []).append((each.meta.id, named))
        gone: dict[str, Grounding] = {}
        until = time.monotonic() + COMMAND_SECONDS
        for scope, notes in by_scope.items():
            looked = self.grounding_of(scope, [named for _, named in notes], until - time.monotonic())
            for (id, _), found in zip(notes, looked, strict=True):
                if is_gone(found):
                    last = max(found, key=lambda each: each.removed_s)
                    # A week after its files were removed a note waits.
                    if has_passed(last.removed_s * 1000 + 7 * DAY_MS, now_ms):
                        gone[id] = last
        return gone

    # -- decisions ----------------------------------------------------------------------------------------------------

    @as_result
    def decide(
        self,
        items: Sequence[ReviewItem],
        act: ReviewAct,
        *,
        note_id: str | None = None,
        text: MemoryEntry | None = None,
    ) -> Decided:
        """Does this with all these items, as one run. Only for a person.

        `note_id` names the note that the act is about where an item has several: which is edited or rejected, or which
        stays when they are merged or superseded; else the first, and for rejecting the last. `text` is the note as the
        person edited it. What was changed or decided meanwhile is left as it is; for a single item that is EntryChanged.
        """
        writes = self.service.writes
        writes.caller.only_a_person("review")
        now_ms = self.runs.clock.now_ms()
        run_id = self.runs.new_id(now_ms)
        with writes.locks.write():
            groups: list[ChangeGroup] = []
            left: list[Dropped] = []
            for item in items:
                try:
                    groups.append(self._group(item, act, note_id, text, now_ms))
                except Error as error:
                    if len(items) == 1:
                        raise
                    left.append(Dropped(item.key, (str(error),)))
            self.runs.adopt_edits_of({change.id for group in groups for change in group.changes})
            tiers = writes.retiering(lambda tiers: _retiered(tiers, groups))
            receipt = unwrap(writes.store.apply(groups, tiers=tiers, run_id=run_id))
            left += receipt.dropped
            not_done = {each.subject for each in left}
            done = [each for each in items if each.key not in not_done]
            if not done:
                if len(items) == 1:
                    raise EntryChanged(items[0].notes[0].meta.id if items[0].notes else items[0].key)
                return Decided("", "nothing was done", tuple(left))
            summary = _summary(act, done, receipt)
            self.runs.report("review", run_id, now_ms, summary, receipt)
        self.runs.show(run_id)
        return Decided(run_id, summary, tuple(left))

    def _group(
        self, item: ReviewItem, act: ReviewAct, note_id: str | None, text: MemoryEntry | None, now_ms: int
    ) -> ChangeGroup:
        """Returns the changes and marks of one decision. EntryChanged where the item is not what the person saw."""
        if act not in item.acts:
            can = ", ".join(item.acts)
            raise UsageInvalid(f"{act} is not possible here", f"Possible are {can}.")
        decided = review_mark(self.root, item.key)
        if decided is not None and decided.until_ms is None:
            raise EntryChanged(item.notes[0].meta.id if item.notes else item.key)
        stored = [unwrap(self.service.writes.store.read(each.meta.id)) for each in item.notes]
        for before, now in zip(item.notes, stored, strict=True):
            if _seen(before) != _seen(now.listed) or now.meta.is_secret:
                raise EntryChanged(before.meta.id)
        until_ms = now_ms + 7 * DAY_MS if act is ReviewAct.LATER else None
        mark = REVIEW_MARK.render(ReviewMark(act.value, now_ms, until_ms))
        # Other decisions change what is seen of the notes, and with it the key.
        is_marked = act in (ReviewAct.KEEP, ReviewAct.LATER) or item.kind is ReviewKind.REFUSED
        marks = {review_path(item.key): mark} if is_marked else {}
        by_id = {each.meta.id: each for each in stored}
        if note_id is not None and note_id not in by_id:
            raise UsageInvalid(f"{note_id} is not among the notes", f"They are {', '.join(by_id)}.")
        chosen = by_id[note_id] if note_id else stored[-1 if act is ReviewAct.REJECT else 0] if stored else None
        changes: tuple[Change, ...] = ()
        match act:
            case ReviewAct.LATER:
                pass
            case ReviewAct.KEEP:
                approved = ((each, _approved(item, each.meta)) for each in stored)
                changes = tuple(
                    Change.of(MemoryEntry(meta, each.body), each.listed.content_hash)
                    for each, meta in approved
                    if meta != each.meta
                )
            case _ if chosen is None:
                raise EntryChanged(item.key)
            case ReviewAct.EDIT:
                if text is None or text.meta.id != chosen.meta.id:
                    raise UsageInvalid("The edited text is missing")
                edited = self.service.edited(chosen, text, chosen.listed.content_hash)
                edited = evolve(edited, meta=_approved(item, edited.meta))
                allowed = self.service.allowed(chosen.entry, edited, "edit")
                changes = (Change.of(allowed, chosen.listed.content_hash),)
                if len(stored) == 1:
                    seen = evolve(chosen.listed, meta=allowed.meta, body_hash=body_hash(allowed.body))
                    marks[review_path(_key(item.kind, (seen,)))] = mark
            case ReviewAct.REJECT:
                changes = (Change.retire(chosen.meta.id, chosen.listed.content_hash),)
                said = EntryTombstone(chosen.meta.id, now_ms, statement_hashes(chosen.meta.title, chosen.body))
                marks[rejected_path(chosen.meta.id)] = TOMBSTONE.render(said)
            case ReviewAct.MERGE:
                changes = self._merged([chosen, *(each for each in stored if each is not chosen)], now_ms)
            case ReviewAct.SUPERSEDE:
                others = [each for each in stored if each is not chosen]
                since_ms = chosen.meta.since_ms
                heir = superseding(chosen.entry, [each.meta.id for each in others], since_ms)
                changes = (
                    Change.of(self.service.allowed(chosen.entry, heir, "edit"), chosen.listed.content_hash),
                    *(Change.retire(each.meta.id, each.listed.content_hash, since_ms) for each in others),
                )
        return ChangeGroup(item.key, changes, marks={path: text.encode() for path, text in marks.items()})

    def _merged(self, notes: Sequence[StoredEntry], now_ms: int) -> tuple[Change, ...]:
        """Returns the merge of these notes into one that has the text of the first, and the lines of the others that it
        lacks. It has to pass the checks of defrag."""
        live, archive = unwrap(self.service.writes.store.listings())
        first = notes[0]
        facts = DefragFacts(
            live=live.entries,
            taken_ids=taken_ids(live, archive),
            shown={each.meta.id: each for each in notes},
            status=Status.CAPTURED,
            now_ms=now_ms,
            usage=unwrap(self.service.ledger.totals()),
            live_at_start=len(live.entries),
            force=True,
        )
        body = without_see_also(first.body.rstrip())  # the check puts the links back
        for line in distinct_lines(each.body for each in notes[1:]):
            if coverage(line.terms, content_terms(body)) < KEPT_SHARE:
                body = f"{body}\n\n{line.text}"
        drops = lost_content((said_by(each.entry) for each in notes), f"{first.meta.title}\n{body}")
        ids = tuple(each.meta.id for each in notes)
        plan = plan_defrag(DefragProposal((Merge(ids, first.meta.title, body, drops=drops),)), facts)
        if not plan.actions:
            why = "; ".join(reason for each in plan.dropped for reason in each.reasons)
            raise UsageInvalid(f"These notes cannot be merged: {why}", "Edit one, or let one supersede the other.")
        return plan.actions[0].changes


# -- items ------------------------------------------------------------------------------------------------------------


def _seen(listed: Listed) -> tuple[str, str, bool]:
    return listed.meta.title, listed.body_hash, listed.meta.withheld


def _key(kind: ReviewKind, notes: Iterable[Listed], *facts: str) -> str:
    lines = sorted("\0".join((each.meta.id, each.meta.title, each.body_hash)) for each in notes)
    text = "\n".join((kind.value, *lines, *facts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _source_of(meta: Meta) -> str:
    """Returns `codex session T-1, turns 3, 9`."""

    def told(source: Source) -> str:
        if source.imported:
            return source.imported.rpartition("#")[0]
        if source.thread_id is None:
            manual = "a person" if meta.origin is Origin.USER else "a document or another program"
            return source.agent or (manual if source.harness is Harness.MANUAL else source.harness.value)
        return f"{source.harness} session {source.thread_id}{source.cited}"

    return "; ".join(dict.fromkeys(map(told, meta.sources))) or "not known"


def _together(live: Mapping[str, Listed], examined: Mapping[str, Examined], now_ms: int) -> Iterator[ReviewItem]:
    """Yields contradictions and near duplicates."""
    kinds = {
        FindingKind.CONTRADICTION: ReviewKind.CONTRADICTION,
        FindingKind.DUPLICATE: ReviewKind.NEAR_DUPLICATE,
        FindingKind.NEAR_DUPLICATE: ReviewKind.NEAR_DUPLICATE,
    }
    features = (each.features for each in examined.values())
    for finding in analyze_features(features, AnalysisFacts(now_ms)).findings:
        if (kind := kinds.get(finding.kind)) is not None:
            notes = tuple(live[id] for id in finding.ids)
            source = "; ".join(dict.fromkeys(_source_of(each.meta) for each in notes))
            is_mergeable = kind is ReviewKind.NEAR_DUPLICATE and len({each.meta.scope for each in notes}) == 1
            acts = _FOR_SEVERAL if is_mergeable else _FOR_UNMERGEABLE
            yield ReviewItem(_key(kind, notes), kind, finding.reason, source, notes, acts)


def _alone(
    live: Iterable[Listed],
    runs: Iterable[LoggedRun],
    new: Mapping[str, LoggedRun],
    gone: Mapping[str, Grounding],
    now_ms: int,
) -> Iterator[ReviewItem]:
    """Yields the items about single notes, one a note."""
    many = {id: (run, len(ids)) for run in runs for ids in _made_of_each(run) if len(ids) > MANY_NOTES for id in ids}
    for each in live:
        meta = each.meta
        kind, reason, fact = None, "", ""
        if meta.withheld:
            kind, reason = ReviewKind.HELD_BACK, "It is new, and no session is told of it before you approve it"
        elif meta.is_foreign:
            is_import = not meta.sources or any(each.imported for each in meta.sources)
            kind = ReviewKind.IMPORTED if is_import else ReviewKind.EXTERNAL
            steps = "holds steps that several sessions took" if SKILL_TAG in meta.tags else "was imported"
            came = steps if is_import else "came from outside"
            reason = f"It {came}: no session is told of it unless you vouch for it"
        elif has_passed(meta.expires_at_ms, now_ms):
            kind, fact = ReviewKind.EXPIRED, str(meta.expires_at_ms)
            reason = f"It expired on {day_of(meta.expires_at_ms)}, and the next defrag archives it"
        elif meta.id in gone:
            kind, file = ReviewKind.GONE, gone[meta.id]
            fact, day = file.commit, day_of(file.removed_s * 1000)
            reason = f"Nothing that it names is left: commit {file.commit[:7]} removed {file.path} on {day}"
        elif meta.id in many:
            kind, (run, count) = ReviewKind.MANY, many[meta.id]
            of = "of one session" if run.sessions else "at once"
            reason = f"It is one of {count} notes that the {run.machine} run {short_id(run.run_id)} made {of}"
        elif meta.id in new:
            kind, run = ReviewKind.NEW, new[meta.id]
            reason = f"The {run.machine} run {short_id(run.run_id)} made it on {day_of(run.started_at_ms)}"
        if kind is not None:
            yield ReviewItem(_key(kind, (each,), fact), kind, reason, _source_of(meta), (each,))


def _made(run: LoggedRun) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for action in run.actions for id in action.new_ids))


def _made_of_each(run: LoggedRun) -> Iterable[tuple[str, ...]]:
    """Returns the notes that a run made of each session; all together where it had none."""
    made = dict.fromkeys(_made(run))
    of = dict[str | None, tuple[str, ...]]()
    for each in run.sessions:
        of[each.session_id] = (*of.get(each.session_id, ()), *filter(made.__contains__, each.entry_ids))
    return of.values() if run.sessions else (tuple(made),)


def _made_by(runs: Sequence[LoggedRun], since: int | Literal["last"] | None) -> dict[str, LoggedRun]:
    """Returns the notes that runs have made since this instant; for `last`, the last run of each machine that made any."""
    making = [each for each in runs if _made(each) and since is not None]
    if isinstance(since, int):
        making = [each for each in making if (each.ended_at_ms or each.started_at_ms) >= since]
    else:
        making = list({each.machine: each for each in reversed(making)}.values())
    return {id: run for run in making for id in _made(run)}


def _refused(runs: Iterable[LoggedRun], live: Mapping[str, Listed]) -> Iterator[ReviewItem]:
    """Yields what the checks refused to do, each sentence once, newest first; not for notes that are all gone by now."""
    for run in runs:
        for text in run.dropped:
            subject = re.findall(ID_PATTERN, text.partition(": ")[0])
            if any(reason in text for reason in _FAULTLESS) or (subject and not any(id in live for id in subject)):
                continue
            ids = dict.fromkeys(re.findall(ID_PATTERN, text))
            notes = tuple(live[id] for id in ids if id in live)
            acts = _FOR_SEVERAL if len(notes) > 1 else _FOR_ONE if notes else (ReviewAct.KEEP, ReviewAct.LATER)
            yield ReviewItem(
                _key(ReviewKind.REFUSED, (), text),
                ReviewKind.REFUSED,
                f"An agent proposed it, and the checks refused: {text}",
                f"{run.machine} run {short_id(run.run_id)}",
                notes,
                acts,
            )


# -- changes ----------------------------------------------------------------------------------------------------------


def _approved(item: ReviewItem, meta: Meta) -> Meta:
    """Returns the frontmatter of a note that a person looked at by itself and found right."""
    if len(item.notes) != 1 or item.kind is ReviewKind.REFUSED:
        return meta
    meta = evolve(meta, withheld=False)
    if item.kind is ReviewKind.EXPIRED:
        meta = evolve(meta, expires_at_ms=None)
    return promoted(meta) if meta.origin is Origin.EXTERNAL else meta


def _retiered(tiers: TierList, groups: Iterable[ChangeGroup]) -> TierList:
    """Returns the tier list without what goes; what comes, or is approved now, gets a line where it may have one."""
    for group in groups:
        tiers = tiers.without({each.id for each in group.changes if each.act == "retire"})
        for change in group.changes:
            if change.entry is not None and change.entry.meta.best_tier is not Tier.COLD:
                tiers = tiers.with_warm(change.id)
    return tiers


_DONE = dict(zip(ReviewAct, ("kept", "edited", "rejected", "merged", "superseded", "put off"), strict=True))


def _summary(act: ReviewAct, done: Sequence[ReviewItem], receipt: Receipt) -> str:
    """Returns `rejected xstate guard patterns`, or `kept 12 items`."""
    if len(done) > 1:
        return f"{_DONE[act]} {counted(len(done), 'item')}"
    gone = [each.title for each in receipt.applied if each.act == "retire"]
    titles = gone or [each.meta.title for each in done[0].notes] or ["a refused action"]
    return f"{_DONE[act]} {one_line(', '.join(titles), 60)}"
