"""The context of one defrag run: what flows through the machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.actions import (
    Archive,
    Deferred,
    DefragPlan,
    DefragProposal,
    Edit,
    Merge,
    PlannedAction,
    Rename,
    Retag,
    Split,
    ids_of,
    kind_of,
)
from agent_memory.domain.change import Receipt, Retire
from agent_memory.domain.entry import Listing, StoredEntry, Usage
from agent_memory.domain.findings import Analysis, Finding
from agent_memory.domain.run_log import LoggedAction, LoggedRun
from agent_memory.domain.section import Published
from agent_memory.domain.text.plain_text import counted
from agent_memory.domain.vocabulary import TierList
from agent_memory.errors import Error


@frozen
class TieringMemo:
    """What the last tiering was made from, so that nobody is asked the same again. This machine's own, in `runs/`."""

    fingerprint: str = ""
    """Of the live entries and their bytes."""
    agent: str = ""
    judged: frozenset[str] = frozenset()
    """Fingerprints of the findings that the agent has been shown."""
    omitted: Mapping[str, int] = field(factory=dict[str, int])
    """How many tierings in a row have left a hot entry out, by id."""

    def for_agent(self, name: str) -> TieringMemo:
        """The same for the agent that tiered; to another nothing has been shown."""
        return self if self.agent == name else TieringMemo(omitted=self.omitted)


@frozen
class Scan:
    """The store as a run found it."""

    live: Listing
    taken_ids: frozenset[str]
    """Every id that is not free, casefolded (`planning.taken_ids`)."""
    usage: Mapping[str, Usage]
    tiers: TierList
    memo: TieringMemo = TieringMemo()
    deferred: tuple[Deferred, ...] = ()
    left_alone: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()


@frozen
class DefragRun:
    """One run. What can be had again (scan, analysis, what was shown) is not part of a checkpoint."""

    id: str
    started_at_ms: int
    dry_run: bool = False
    force: bool = False
    scan: Scan | None = None
    analysis: Analysis | None = None
    live_at_start: int = 0
    asked: bool = False
    """An agent was asked, or a reply that was paid for earlier was found."""
    shown: tuple[StoredEntry, ...] = ()
    proposal: DefragProposal | None = None
    reply_key: str | None = None
    plan: DefragPlan = DefragPlan()
    left: tuple[Finding, ...] = ()
    """What the built-in found and left, since it takes judgement."""
    memo: TieringMemo = TieringMemo()
    tiers_before: TierList = TierList()
    tiers: TierList = TierList()
    receipt: Receipt | None = None
    published: Published | None = None
    warnings: tuple[str, ...] = ()
    trouble: Error | None = None
    """Why nobody answered: what needs no answer was done all the same."""


_KINDS = {
    "merge": "merged",
    "split": "split",
    "rename": "renamed",
    "retag": "retagged",
    "edit": "edited",
    "archive": "archived",
}
TARGETS_REFUSED_EXIT_CODE = 70


def retiered(run: DefragRun) -> tuple[str, ...]:
    """The ids of live notes whose tier differs, in the order of the new list, then of the old one."""
    before, after = run.tiers_before, run.tiers
    gone = {change.id for each in run.plan.actions for change in each.changes if isinstance(change, Retire)}
    ids = dict.fromkeys((*after.hot, *after.warm, *before.hot, *before.warm))
    return tuple(id for id in ids if id not in gone and before.of(id) is not after.of(id))


def sentence_of(run: DefragRun, *, brief: bool = False) -> str:
    """`2 merged, 1 split, 1 archived, 3 re-tiered; 2 actions refused: …; 4 actions left for the next run, …`. `brief`: without
    why actions were refused, for a list of runs."""
    written = [] if run.published is None else [each for each in run.published.targets if each.outcome == "written"]
    sections = f"{counted(len(written), 'managed section')} written" if written else "nothing to change"
    said = [_done(run) or sections]
    if run.plan.dropped:
        reasons = "; ".join(dict.fromkeys(f"{each.subject}: {', '.join(each.reasons)}" for each in run.plan.dropped))
        said.append(f"{counted(len(run.plan.dropped), 'action')} refused{'' if brief else f': {reasons}'}")
    if run.plan.deferred:
        said.append(f"{counted(len(run.plan.deferred), 'action')} left for the next run, over the limit of this one")
    if run.left:
        kinds = Counter(each.kind.value for each in run.left)
        said.append(f"{', '.join(counted(number, kind) for kind, number in kinds.items())} left to judge")
    return "; ".join(said)


def _done(run: DefragRun) -> str:
    """What was done (in a dry run planned) and re-tiered, counted; nothing for nothing."""
    kinds = Counter(kind_of(each.action) for each in run.plan.actions)
    parts = [f"{kinds[kind]} {word}" for kind, word in _KINDS.items() if kinds[kind]]
    moved = len(retiered(run))
    return ", ".join([*parts, f"{moved} re-tiered"] if moved else parts)


def commit_words(run: DefragRun) -> tuple[str, str]:
    """Subject and body of the run's commit, for people who read `git log`."""
    moved = (f"{id}: {run.tiers_before.of(id)} to {run.tiers.of(id)}" for id in retiered(run))
    return f"defrag: {_done(run) or 'managed sections'}", "\n".join((*map(words_of, run.plan.actions), *moved))


def words_of(planned: PlannedAction) -> str:
    """One action in words: `merge id__a, id__b into id__c (title)`."""
    new = ", ".join(planned.new_ids)
    match planned.action:
        case Merge(ids, title):
            return f"merge {', '.join(ids)} into {new} ({title})"
        case Split(id, _):
            return f"split {id} into {new}"
        case Rename(id, title, _):
            return f"rename {id} to {title}"
        case Retag(id, tags):
            return f"retag {id}: {' '.join(tags)}"
        case Edit(id):
            return f"edit {id}"
        case Archive(id, reason):
            return f"archive {id}: {reason}"


def exit_code_of(run: DefragRun) -> int:
    """70 where a target was refused; else 0: a refused action is the plan check doing its work."""
    refused = run.published is not None and run.published.refused
    return TARGETS_REFUSED_EXIT_CODE if refused else 0


HALF_DONE_STATES = frozenset({"apply_changes", "generate_agents_md", "commit_changes"})


def leaves_something_half_done(state: str, run: DefragRun) -> bool:
    """Whether a crash in this state could leave a plan partly carried out. Earlier states have no effect to finish."""
    return not run.dry_run and state in HALF_DONE_STATES


def is_worth_a_report(run: DefragRun, failed: bool) -> bool:
    """Whether the run did anything that somebody may ask about. One that found nothing new to do leaves no trace."""
    published = run.published is not None and any(each.outcome != "unchanged" for each in run.published.targets)
    changed = run.receipt is not None or run.tiers != run.tiers_before
    return not run.dry_run and bool(
        failed or run.asked or changed or published or run.warnings or run.plan.dropped or run.plan.deferred
    )


def logged(run: DefragRun, ended_at_ms: int, failed: bool) -> LoggedRun:
    return LoggedRun(
        run_id=run.id,
        machine="defrag",
        started_at_ms=run.started_at_ms,
        ended_at_ms=ended_at_ms,
        result="failed" if failed else "completed",
        summary="failed" if failed and run.trouble is None else sentence_of(run, brief=True),
        actions=tuple(
            LoggedAction(kind_of(each.action), ids_of(each.action), each.new_ids, words_of(each), each.fingerprint)
            for each in run.plan.actions
        ),
        dropped=tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in run.plan.dropped),
        warnings=run.warnings,
    )
