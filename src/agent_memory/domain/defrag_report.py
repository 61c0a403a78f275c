"""A defrag run as the run log knows it."""

from __future__ import annotations

from agent_memory.domain.actions import ids_of, kind_of
from agent_memory.domain.defrag_run import DefragRun
from agent_memory.domain.defrag_summary import brief_sentence_of, words_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun

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
    """What the report of the run says."""
    return LoggedRun(
        run_id=run.id,
        machine="defrag",
        started_at_ms=run.started_at_ms,
        ended_at_ms=ended_at_ms,
        result="failed" if failed else "completed",
        summary="failed" if failed and run.trouble is None else brief_sentence_of(run),
        actions=tuple(
            LoggedAction(kind_of(each.action), ids_of(each.action), each.new_ids, words_of(each), each.fingerprint)
            for each in run.plan.actions
        ),
        dropped=tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in run.plan.dropped),
        warnings=run.warnings,
    )
