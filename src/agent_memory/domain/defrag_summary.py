"""What a defrag comes to: its counts, its sentence, the words of its commit, its exit code."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from attrs import frozen

from agent_memory.domain.actions import Archive, Edit, Merge, PlannedAction, Rename, Retag, Split, kind_of
from agent_memory.domain.change import Retire
from agent_memory.domain.defrag_run import DefragRun

_KINDS = {
    "merge": "merged",
    "split": "split",
    "rename": "renamed",
    "retag": "retagged",
    "edit": "edited",
    "archive": "archived",
}
TARGETS_REFUSED_EXIT_CODE = 70


@frozen
class DefragSummary:
    """The counts of a run."""

    actions: Counter[str]
    """Actions done (planned, in a dry run) by kind."""
    retiered: int
    """Entries that are in another tier than before."""
    refused: int
    deferred: int


def summary_of(run: DefragRun) -> DefragSummary:
    """What the run did."""
    return DefragSummary(
        Counter(kind_of(each.action) for each in run.plan.actions),
        len(retiered(run)),
        len(run.plan.dropped),
        len(run.plan.deferred),
    )


def retiered(run: DefragRun) -> tuple[str, ...]:
    """The ids of live notes whose tier differs, in the order of the new list, then of the old one."""
    before, after = run.tiers_before, run.tiers
    gone = {change.id for each in run.plan.actions for change in each.changes if isinstance(change, Retire)}
    ids = dict.fromkeys((*after.hot, *after.warm, *before.hot, *before.warm))
    return tuple(id for id in ids if id not in gone and before.of(id) is not after.of(id))


def sentence_of(run: DefragRun) -> str:
    """`2 merged, 1 split, 1 archived, 3 re-tiered; 2 actions refused: …; 4 actions left for the next run, …`."""
    reasons = "; ".join(dict.fromkeys(f"{each.subject}: {', '.join(each.reasons)}" for each in run.plan.dropped))
    return _sentence(run, f": {reasons}")


def brief_sentence_of(run: DefragRun) -> str:
    """The same without why actions were refused, for a list of runs."""
    return _sentence(run, "")


def _sentence(run: DefragRun, why_refused: str) -> str:
    summary = summary_of(run)
    parts = [f"{summary.actions[kind]} {word}" for kind, word in _KINDS.items() if summary.actions[kind]]
    if summary.retiered:
        parts.append(f"{summary.retiered} re-tiered")
    said = [", ".join(parts) or _sections(run) or "nothing to change"]
    if summary.refused:
        said.append(f"{_count(summary.refused, 'action')} refused{why_refused}")
    if summary.deferred:
        said.append(f"{_count(summary.deferred, 'action')} left for the next run, over the limit of this one")
    if run.left:
        kinds = Counter(each.kind.value for each in run.left)
        said.append(f"{', '.join(_count(number, kind) for kind, number in kinds.items())} left to judge")
    return "; ".join(said)


def _sections(run: DefragRun) -> str:
    """What was published where nothing else is to be told."""
    written = [] if run.published is None else [each for each in run.published.targets if each.outcome == "written"]
    return f"{_count(len(written), 'managed section')} written" if written else ""


def commit_words(run: DefragRun) -> tuple[str, str]:
    """Subject and body of the run's commit, for people who read `git log`."""
    summary = summary_of(run)
    parts = [f"{summary.actions[kind]} {word}" for kind, word in _KINDS.items() if summary.actions[kind]]
    if summary.retiered:
        parts.append(f"{summary.retiered} re-tiered")
    lines = [words_of(each) for each in run.plan.actions]
    for id in retiered(run):
        lines.append(f"{id}: {run.tiers_before.of(id)} to {run.tiers.of(id)}")
    return f"defrag: {', '.join(parts) or 'managed sections'}", "\n".join(lines)


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
        case _ as never:
            assert_never(never)


def exit_code_of(run: DefragRun) -> int:
    """70 where a target was refused; else 0: a refused action is the plan check doing its work."""
    refused = run.published is not None and run.published.refused
    return TARGETS_REFUSED_EXIT_CODE if refused else 0


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"
