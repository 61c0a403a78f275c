"""The contexts of one run of consolidate and of defrag, which flow through the machines, and what a run comes to: its counts, its
sentence, its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from agent_memory.errors import Error, HistoryUnavailable
from agent_memory.note.note import Listing, StoredEntry, TierList, Usage
from agent_memory.rules.change import Applied, Published, Receipt
from agent_memory.rules.findings import Analysis, Finding
from agent_memory.rules.plan import Deferred, DefragPlan, DefragProposal, Plan, SessionRequest
from agent_memory.rules.run_log import LoggedAction, LoggedRun
from agent_memory.session.history import History, SessionMark, Turn
from agent_memory.session.queue import Outcome, Pending, Quarantined, Trouble
from agent_memory.text.plain_text import counted, one_line

DONE_VERDICTS = frozenset({"written", "skipped", "unchanged", "own-call", "planned"})
FAILED_VERDICTS = frozenset({"refused", "unavailable", "timed-out", "gave-up"})
PAUSED_EXIT_CODE = 40


@frozen
class KeptReply:
    text: str
    nonce: str
    prompt_hash: str
    shown: dict[str, str]
    """The content hash of each note shown in full, by id: if any of them has changed, the reply is not used again."""
    prompt_chars: int = 0
    """See `AgentReply`."""


@frozen
class Work:
    """The session in hand. What can be fetched again (history, windows, request, reply) is not part of a checkpoint."""

    pending: Pending
    scope: str = "global"
    history: History | None = None
    mark: SessionMark | None = None
    windows: tuple[History, ...] = ()
    window_index: int = 0
    """Index of the window that the agent sees next."""
    request: SessionRequest | None = None
    reply: KeptReply | None = None
    reply_keys: tuple[str, ...] = ()
    """Keys of the replies used so far, one for each window."""
    plan: Plan = Plan()
    """The plan of all windows so far."""
    fallback: Plan = Plan()
    """For an inline note: the plan that stores it whole, if its attempts are used up."""
    receipt: Receipt | None = None
    outcome: Outcome | None = None
    """Set as soon as the outcome of the session is known."""
    trouble: Trouble | None = None
    """To be recorded with the entry, which stays pending."""
    error: Error | None = None
    next_mark: SessionMark | None = None
    """How far the session will have been consolidated once this work is done."""
    remaining: bool = False
    """Whether the session holds more turns than were fetched: it is continued before the next one begins."""
    from_kept: bool = False
    """Whether the history is the kept one, which was redacted and kept before."""
    used: tuple[tuple[str, int | None], ...] = ()
    """Notes that the session's agent opened directly and that were not counted yet, with the time of the first read."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        return () if self.history is None else self.history.turns


@frozen
class Settled:
    pending: Pending
    outcome: Outcome
    plan: Plan = Plan()
    receipt: Receipt | None = None
    error: Error | None = None


@frozen
class RunSummary:
    """The counts of a run. `waiting` are sessions that stay in the inbox, with the reason of the last one."""

    processed: int
    written: int
    updated: int
    archived: int
    waiting: int
    gave_up: int
    reason: str


@frozen
class Run:
    """One run of consolidate. `queue` holds the sessions still to come, without the one in hand."""

    id: str
    started_at_ms: int
    limit: int | None = None
    dry_run: bool = False
    queue: tuple[Pending, ...] = ()
    work: Work | None = None
    settled: tuple[Settled, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    waiting: int = 0
    """Sessions that were not loaded: postponed, or unreadable."""
    waiting_reason: str = ""
    paused: Error | None = None
    """Why the run stops early; everything not settled stays pending, and none of it counts as an attempt."""
    timeouts_in_a_row: int = 0
    live_at_start: int = 0
    changed: frozenset[str] = frozenset()
    """Ids changed or archived so far."""
    taken_up: tuple[Applied, ...] = ()
    """The outcome of changes that earlier runs had to leave."""
    resumed: bool = False
    """Whether it resumes from a checkpoint: sessions settled before that are not in `settled`."""
    warnings: tuple[str, ...] = ()

    @property
    def is_drained(self) -> bool:
        """Returns whether no session is left to take in hand. One whose history is not there takes no place of the
        limit, and one that has more to come is finished."""
        if self.limit is None or not self.queue or self.paused is not None:
            return not self.queue or self.paused is not None
        read = {each.pending.name for each in self.settled if not isinstance(each.error, HistoryUnavailable)}
        return len(read) >= self.limit and self.queue[0].name not in read

    @property
    def summary(self) -> RunSummary:
        verdicts = Counter(each.outcome.verdict for each in self.settled)
        acts = Counter(
            applied.act for each in self.settled if each.receipt is not None for applied in each.receipt.applied
        )
        held = [each for each in self.settled if each.outcome.verdict not in DONE_VERDICTS | {"gave-up"}]
        # A session that was processed in several parts settles several times.
        processed = len({each.pending.name for each in self.settled if each.outcome.verdict in DONE_VERDICTS})
        return RunSummary(
            processed=processed,
            written=acts["create"],
            updated=acts["replace"],
            archived=acts["retire"],
            waiting=len(held) + len(self.queue) + self.waiting,
            gave_up=verdicts["gave-up"],
            reason=held[-1].outcome.reason if held else self.waiting_reason,
        )

    @property
    def sentence(self) -> str:
        """`3 sessions processed, 7 notes written, 1 waiting (history unavailable: …)`."""
        summary = self.summary
        parts = [
            f"{counted(summary.processed, 'session')} {'planned' if self.dry_run else 'processed'}",
            f"{counted(summary.written, 'note')} written",
        ]
        if summary.updated:
            parts.append(f"{summary.updated} updated")
        if summary.archived:
            parts.append(f"{summary.archived} archived")
        if summary.waiting:
            parts.append(
                f"{summary.waiting} waiting"
                + (f" ({one_line(summary.reason, 240).rstrip('.')})" if summary.reason else "")
            )
        if summary.gave_up:
            given_up = "would be given up" if self.dry_run else "given up (see `memory status`)"
            parts.append(f"{summary.gave_up} {given_up}")
        if self.quarantined:
            parts.append(f"{len(self.quarantined)} malformed moved to inbox/.failed")
        return ", ".join(parts)

    @property
    def exit_code(self) -> int:
        """40 when the run paused; the code of the last error when every attempted session failed; else 0."""
        if self.paused is not None:
            return PAUSED_EXIT_CODE
        attempted = [each for each in self.settled if each.outcome.verdict != "paused"]
        failed = [each for each in attempted if each.outcome.verdict in FAILED_VERDICTS]
        error = next((each.error for each in reversed(failed) if each.error is not None), None)
        return error.exit_code if error is not None and len(failed) == len(attempted) else 0

    def leaves_something_half_done(self, state: str) -> bool:
        """Returns whether a crash in this state could leave a plan partly carried out. Earlier states have no effect to
        finish."""
        work = self.work
        return (
            not self.dry_run
            and state in ("write_entries", "mark_processed", "commit_changes")
            and work is not None
            and bool(work.plan.changes or work.receipt is not None)
        )


# -- defrag ------------------------------------------------------------------------------------------------------------

ACTION_WORDS = {
    "merge": "merged",
    "split": "split",
    "rename": "renamed",
    "retag": "retagged",
    "edit": "edited",
    "archive": "archived",
}
TARGETS_REFUSED_EXIT_CODE = 70


@frozen
class TieringMemo:
    """The input of the last tiering, so that nobody is asked the same again. It belongs to this machine, in `runs/`."""

    fingerprint: str = ""
    """Covers the live notes and their bytes."""
    agent: str = ""
    judged: frozenset[str] = frozenset()
    """Fingerprints of the findings that the agent has been shown."""

    def for_agent(self, name: str) -> TieringMemo:
        """Returns the memo for the agent that tiered; for another agent, one in which nothing has been shown."""
        return self if self.agent == name else TieringMemo()


@frozen
class Scan:
    live: Listing
    taken_ids: frozenset[str]
    """Every id in use, casefolded (`drafts.taken_ids`)."""
    usage: Mapping[str, Usage]
    tiers: TierList
    memo: TieringMemo = TieringMemo()
    deferred: tuple[Deferred, ...] = ()
    undone: frozenset[str] = frozenset()


@frozen
class DefragRun:
    """One run of defrag. What can be computed again (scan, analysis, what was shown) is not part of a checkpoint."""

    id: str
    started_at_ms: int
    dry_run: bool = False
    force: bool = False
    scan: Scan | None = None
    analysis: Analysis | None = None
    asked: bool = False
    """Whether an agent was asked, or a reply that was paid for earlier was found."""
    shown: tuple[StoredEntry, ...] = ()
    proposal: DefragProposal | None = None
    reply_keys: tuple[str, ...] = ()
    plan: DefragPlan = DefragPlan()
    left: tuple[Finding, ...] = ()
    """Findings that the built-in left, since they take judgement."""
    memo: TieringMemo = TieringMemo()
    tiers_before: TierList = TierList()
    tiers: TierList = TierList()
    receipt: Receipt | None = None
    published: Published | None = None
    warnings: tuple[str, ...] = ()
    trouble: Error | None = None
    """Why nobody answered; what needs no answer was done anyway."""

    @property
    def retiered(self) -> tuple[str, ...]:
        """Returns the ids of live notes whose tier changed, in the order of the new list, then of the old one."""
        before, after = self.tiers_before, self.tiers
        gone = {change.id for each in self.plan.actions for change in each.changes if change.act == "retire"}
        ids = dict.fromkeys((*after.hot, *after.warm, *before.hot, *before.warm))
        return tuple(id for id in ids if id not in gone and before.of(id) is not after.of(id))

    def sentence(self, *, brief: bool = False) -> str:
        """`2 merged, 1 split, 1 archived, 3 notes changed tier; 2 actions refused: …; 4 actions left for the next run,
        …`. With `brief` the reasons of refusals are left out, for a list of runs."""
        written = (
            [] if self.published is None else [each for each in self.published.targets if each.outcome == "written"]
        )
        sections = f"{counted(len(written), 'managed section')} written" if written else "nothing to change"
        said = [self._done or sections]
        if self.plan.dropped:
            reasons = "; ".join(
                dict.fromkeys(f"{each.subject}: {', '.join(each.reasons)}" for each in self.plan.dropped)
            )
            said.append(f"{counted(len(self.plan.dropped), 'action')} refused{'' if brief else f': {reasons}'}")
        if self.plan.deferred:
            said.append(f"{counted(len(self.plan.deferred), 'action')} left for the next run, over the limit of a run")
        if self.left:
            kinds = Counter(each.kind.value for each in self.left)
            said.append(f"{', '.join(counted(number, kind) for kind, number in kinds.items())} left to judge")
        return "; ".join(said)

    @property
    def _done(self) -> str:
        """Returns what was done (in a dry run: planned) and how many notes changed tier; empty if nothing was."""
        kinds = Counter(each.kind for each in self.plan.actions)
        parts = [f"{kinds[kind]} {word}" for kind, word in ACTION_WORDS.items() if kinds[kind]]
        moved = len(self.retiered)
        return ", ".join([*parts, f"{counted(moved, 'note')} changed tier"] if moved else parts)

    @property
    def commit_words(self) -> tuple[str, str]:
        """Subject and body of the run's commit, for people who read `git log`."""
        moved = (f"{id}: {self.tiers_before.of(id)} to {self.tiers.of(id)}" for id in self.retiered)
        return f"defrag: {self._done or 'managed sections'}", "\n".join(
            (*(each.words for each in self.plan.actions), *moved)
        )

    @property
    def exit_code(self) -> int:
        """Returns 70 where a target was refused, else 0: a refused action is the plan check doing its work."""
        refused = self.published is not None and self.published.refused
        return TARGETS_REFUSED_EXIT_CODE if refused else 0

    def leaves_something_half_done(self, state: str) -> bool:
        """Returns whether a crash in this state could leave a plan partly carried out. Earlier states have no effect to
        finish."""
        return not self.dry_run and state in ("apply_changes", "generate_agents_md", "commit_changes")

    def is_worth_a_report(self, *, failed: bool) -> bool:
        """Returns whether the run did anything that somebody may ask about. A run that found nothing new to do leaves
        no trace."""
        published = self.published is not None and any(each.outcome != "unchanged" for each in self.published.targets)
        changed = self.receipt is not None or self.tiers != self.tiers_before
        return not self.dry_run and bool(
            failed or self.asked or changed or published or self.warnings or self.plan.dropped or self.plan.deferred
        )

    def logged(self, ended_at_ms: int, *, failed: bool) -> LoggedRun:
        return LoggedRun(
            run_id=self.id,
            machine="defrag",
            started_at_ms=self.started_at_ms,
            ended_at_ms=ended_at_ms,
            result="failed" if failed else "completed",
            summary="failed" if failed and self.trouble is None else self.sentence(brief=True),
            actions=tuple(
                LoggedAction(each.kind, each.ids, each.new_ids, each.words, each.fingerprint)
                for each in self.plan.actions
            ),
            dropped=tuple(each.words for each in self.plan.dropped),
            warnings=self.warnings,
        )
