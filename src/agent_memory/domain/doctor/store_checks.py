"""What can be wrong with the store as a whole: links, caps, an analysis, tiers and targets, its files, its runs, its repository."""

from __future__ import annotations

import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Check, Finding, Severity
from agent_memory.domain.doctor.note_checks import is_sync_conflict
from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, Finding as AnalysisFinding, FindingKind
from agent_memory.domain.health import FailedEntry, HookProblem
from agent_memory.domain.instants import DAY_MS, HOUR_MS, iso_of
from agent_memory.domain.plan import max_changes
from agent_memory.domain.queue import Trouble
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.section import Published
from agent_memory.domain.spend import Spend, day_of
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.wording import describe

# -- links ------------------------------------------------------------------------------------------------------------


def examine_links(
    path: str, targets: Iterable[str], known: frozenset[str], archived: frozenset[str]
) -> Iterator[Finding]:
    """Links of one note to entries that only the archive has. `known`: live ids and aliases."""
    for target in targets:
        if target in archived and target not in known:
            yield of.ARCHIVED_LINK.found(
                path,
                f"It links to {target}, which is archived; `memory read {target} --archived` shows it",
            )


def examine_aliases(live: Sequence[Listed]) -> Iterator[Finding]:
    """Aliases that lead to two places."""
    claims: dict[str, list[str]] = defaultdict(list)
    for each in live:
        for alias in each.meta.aliases:
            claims[alias].append(each.path)
    path_of = {each.meta.id: each.path for each in live}
    clashes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for alias, claiming in claims.items():
        first = path_of.get(alias, claiming[0])
        for path in claiming:
            if path != first:
                clashes[path, first].append(alias)
    for (path, first), shared in clashes.items():
        more = f" and {len(shared) - 1:,} more belong" if len(shared) > 1 else " belongs"
        yield of.ALIAS_CLASH.found(path, f"Its alias {shared[0]}{more} to {first} too; take it out of one of them")


# -- the analysis -----------------------------------------------------------------------------------------------------

_CHECKS: Mapping[FindingKind, Check] = {
    FindingKind.CONTRADICTION: of.CONTRADICTION,
    FindingKind.DUPLICATE: of.DUPLICATE,
    FindingKind.NEAR_DUPLICATE: of.NEAR_DUPLICATE,
    FindingKind.OVERLAP: of.OVERLAP,
    FindingKind.SURPLUS: of.SURPLUS,
    FindingKind.OVERSIZED: of.OVERSIZED,
    FindingKind.FRAGMENTED: of.FRAGMENTED,
    FindingKind.DANGLING_LINK: of.UNRESOLVED_LINK,
    FindingKind.ORPHAN: of.ORPHAN,
    FindingKind.STALE: of.STALE,
}
"""Expired entries are not among them: how bad that is depends on how long a defrag is overdue (`note_checks`)."""


def examine_analysis(analysis: Analysis, paths: Mapping[str, str]) -> Iterator[Finding]:
    """One finding a finding, worst first. `paths` are those of the live entries, by id."""
    for finding in analysis.findings:
        check = _CHECKS.get(finding.kind)
        if check is not None:
            yield check.found(_subject(finding, paths), _sentence(finding))


def _subject(finding: AnalysisFinding, paths: Mapping[str, str]) -> str:
    first = paths.get(finding.ids[0]) if finding.ids else None
    return first if first is not None else " ".join(finding.ids)


def _sentence(finding: AnalysisFinding) -> str:
    reason = finding.reason.rstrip(".")
    others = [id for id in finding.ids[1:] if id not in reason]
    with_whom = f" (with {', '.join(others)})" if others else ""
    begins_with_id = reason.startswith("id__")
    return f"{reason if begins_with_id else reason[:1].upper() + reason[1:]}{with_whom}"


# -- caps -------------------------------------------------------------------------------------------------------------


def examine_caps(entries: int, chars: int, *, max_entries: int | None, max_chars: int | None) -> Iterator[Finding]:
    """A finding for each cap that this many live entries, and characters of their bodies, are over."""
    how = f"`memory defrag` archives those that matter least, at most {max_changes(entries):,} a run"
    if max_entries is not None and entries > max_entries:
        yield of.SURPLUS.found("limits.maxEntries", f"There are {entries:,} live notes, {max_entries:,} at most; {how}")
    if max_chars is not None and chars > max_chars:
        yield of.SURPLUS.found(
            "limits.maxChars", f"The live notes have {chars:,} characters, {max_chars:,} at most; {how}"
        )


# -- tiers and targets ------------------------------------------------------------------------------------------------


TIERS_FILE = "state/tiers.json"


def examine_tiers(tiers: TierList, live: Sequence[Listed]) -> Iterator[Finding]:
    """Pins that are not hot. An empty list is one that no defrag has made yet."""
    if not (tiers.hot or tiers.warm):
        return
    for each in pinned_outside(tiers, live):
        yield of.PINNED_NOT_HOT.found(each.path, "It is pinned and not hot; the next defrag makes it so")


def pinned_outside(tiers: TierList, live: Sequence[Listed]) -> tuple[Listed, ...]:
    """Pinned entries that may be hot and are not, in the order of the listing."""
    return tuple(
        each
        for each in live
        if each.meta.pinned and each.meta.sensitivity is not Sensitivity.SECRET and each.meta.id not in tiers.hot
    )


def with_pins(tiers: TierList, pinned: Sequence[str]) -> TierList:
    """The tier list with these ids at the end of what is hot."""
    added = tuple(id for id in pinned if id not in tiers.hot)
    return TierList((*tiers.hot, *added), tuple(id for id in tiers.warm if id not in added))


def examine_targets(published: Published) -> Iterator[Finding]:
    """What a dry run of publishing says of each target."""
    for target in published.targets:
        if target.outcome == "planned":
            yield of.TARGET_OUT_OF_DATE.found(
                target.path, "Its section is not what it would be now; `memory generate-agents-md` writes it"
            )
        elif target.error is not None:
            yield of.TARGET_REFUSED.found(target.path, describe(target.error).rstrip("."))
        rendered = target.rendered.warnings if target.rendered is not None else ()
        for warning in dict.fromkeys((*target.warnings, *rendered)):
            yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))


# -- files ------------------------------------------------------------------------------------------------------------


_LITTER = re.compile(r"\.tmp-[0-9a-f]{16}", re.ASCII)
"""Names of our own temporary files, and nobody else's."""
_STAGED = re.compile(r"\.transaction/\d+\.new", re.ASCII)
_CACHE = ".cache/store.db"
_TOPICS = "topics"
_OF_OTHERS = 0o077
"""The rights of all who are not the owner."""


@frozen
class Found:
    """One file, directory or other thing below the root, as `lstat` sees it."""

    path: str
    """Relative to the root, printable; the root itself is empty."""
    mode: int
    """`st_mode`."""
    owner: int
    """User id."""
    mtime_ms: int


def is_temporary(found: Found) -> bool:
    """Whether it is a temporary file of ours: litter, unless a living process writes it."""
    name = found.path.rpartition("/")[2]
    ours = _LITTER.fullmatch(name) or _STAGED.fullmatch(found.path)
    return bool(ours) and stat.S_ISREG(found.mode)


def is_odd_cache(found: Found) -> bool:
    """Whether something that is no file has the place of the database, which then can never be written."""
    return found.path == _CACHE and not stat.S_ISREG(found.mode)


def is_loose(found: Found) -> bool:
    """Whether others than the owner have any right to it."""
    return (stat.S_ISREG(found.mode) or stat.S_ISDIR(found.mode)) and bool(found.mode & _OF_OTHERS)


def tight_mode(found: Found) -> int:
    """What the mode should be: 0700 for a directory, 0600 for a file."""
    return 0o700 if stat.S_ISDIR(found.mode) else 0o600


def examine_files(found: Iterable[Found], user: int, is_written: Callable[[Found], bool]) -> Iterator[Finding]:
    """All that lies below the root; `is_written` tells of a temporary file whether a process writes it. Behind a closed root nobody gets at a file that is open: that is worth a note."""
    things = tuple(found)
    root = next((each for each in things if not each.path), None)
    open_to_others = root is None or is_loose(root)
    for each in things:
        yield from _examine(each, user, is_written, open_to_others)


def _examine(each: Found, user: int, is_written: Callable[[Found], bool], open_to_others: bool) -> Iterator[Finding]:
    subject = each.path or "."
    if each.owner != user:
        yield of.FOREIGN_OWNER.found(subject, f"It belongs to the user with the id {each.owner}; `chown` gives it back")
    elif is_loose(each):
        mode = f"{stat.S_IMODE(each.mode):04o}"
        yield of.LOOSE_PERMISSIONS.found(
            subject,
            f"Its mode is {mode}, it should be {tight_mode(each):04o}",
            None if open_to_others else Severity.NOTE,
        )
    if is_temporary(each) and not is_written(each):
        yield of.LITTER.found(subject, "A write that was cut short left this temporary file")
    elif is_odd_cache(each):
        yield of.DAMAGED_CACHE.found(subject, "It should be a file, and keeps searches and listings slow")
    elif not (stat.S_ISREG(each.mode) or stat.S_ISDIR(each.mode)):
        if not _is_to_be_note(each.path):  # those are among the unreadable notes
            yield of.ODD_FILE.found(subject, "It is neither file nor directory, and nothing in the store follows it")
    elif not _is_to_be_note(each.path) and is_sync_conflict(subject.rpartition("/")[2]):
        yield of.SYNC_CONFLICT_FILE.found(
            subject, "Two machines wrote the same file at once; keep one of both, and remove this name"
        )


def _is_to_be_note(path: str) -> bool:
    directory, _, name = path.rpartition("/")
    return directory == _TOPICS and is_note_name(name)


# -- inbox and runs ---------------------------------------------------------------------------------------------------


INTERVALS_BEFORE_LATE = 3
"""How many intervals of its schedule a run may be late."""
_DAYS_IN_A_ROW = 2


def examine_failed(failed: Sequence[FailedEntry]) -> Iterator[Finding]:
    """What is in `inbox/.failed/`."""
    for each in failed:
        reason = f": {each.reason.rstrip('.')}" if each.reason else ""
        if each.malformed:
            yield of.MALFORMED_ENTRY.found(
                f"inbox/.failed/{each.name}", f"It is no inbox entry{reason}; correct it and move it back, or remove it"
            )
        else:
            yield of.GIVEN_UP.found(
                f"inbox/.failed/{each.name}", f"Given up{reason}; `memory consolidate --retry-failed` tries again"
            )


def examine_troubles(troubles: Sequence[tuple[str, Trouble]]) -> Iterator[Finding]:
    """Sessions that were set back and are tried again."""
    for key, trouble in troubles:
        yield of.SET_BACK.found(key, f"It was set back and is tried again: {trouble.message.rstrip('.')}")


def examine_hook_problems(problems: Sequence[HookProblem]) -> Iterator[Finding]:
    """Captures and injections that did not arrive."""
    for each in problems:
        check, what = (of.INJECTION_LOST, "An injection") if each.act == "inject" else (of.CAPTURE_LOST, "A capture")
        yield check.found(each.harness or "a hook", f"{what} at {each.at} did not arrive: {each.message.rstrip('.')}")


def examine_last_run(last: LoggedRun | None) -> Iterator[Finding]:
    """Whether the newest run came to its end."""
    if last is None:
        return
    subject = f"runs/{last.run_id}"
    if last.problems:
        yield of.DAMAGED_STATE.found(f"{subject}/report.json", f"It cannot be understood: {'; '.join(last.problems)}")
    elif last.result != "completed":
        why = (last.error or last.summary).rstrip(".")
        yield of.LAST_RUN.found(subject, f"The last run {last.result}: {why}" if why else f"The last run {last.result}")


@frozen
class ScheduleFacts:
    """What tells whether runs are made as often as they should be."""

    now_ms: int
    consolidate_interval_ms: float
    defrag_interval_ms: float
    oldest_pending_at_ms: int | None
    runs: tuple[LoggedRun, ...]
    """Newest first; at least all since the last defrag."""


def examine_schedule(facts: ScheduleFacts) -> Iterator[Finding]:
    """Work that has waited for three intervals, and no run in that time. A run that finds nothing to do leaves no trace,
    so it is the waiting that tells, not the silence."""
    waiting = facts.oldest_pending_at_ms
    last = next((_end_of(run) for run in facts.runs if run.machine == "consolidate"), None)
    if waiting is not None and _is_late(max(waiting, last or 0), facts.now_ms, facts.consolidate_interval_ms):
        yield of.NOT_CONSOLIDATED.found(
            "inbox",
            f"A capture has waited since {iso_of(waiting)}, and no run has looked {f'since {iso_of(last)}' if last else 'yet'}; "
            "is the schedule running? `memory consolidate` does it now",
        )
    yield from _examine_defrag(facts)


def _examine_defrag(facts: ScheduleFacts) -> Iterator[Finding]:
    newer: list[LoggedRun] = []
    defragged = False
    for run in facts.runs:
        if run.machine == "defrag":
            defragged = True
            break
        if run.changed_ids:
            newer.append(run)
    if newer and _is_late(_end_of(newer[-1]), facts.now_ms, facts.defrag_interval_ms):
        since = iso_of(_end_of(newer[-1]))[:10]
        before = "no defrag has run since" if defragged else "no defrag has ever run"
        yield of.NOT_DEFRAGGED.found(
            "topics",
            f"Notes have come since {since}, and {before}; is the schedule running? `memory defrag` does it now",
            Severity.PROBLEM if defragged else Severity.NOTE,
        )


def _end_of(run: LoggedRun) -> int:
    return run.ended_at_ms if run.ended_at_ms is not None else run.started_at_ms


def _is_late(since_ms: int, now_ms: int, interval_ms: float) -> bool:
    return now_ms - since_ms > INTERVALS_BEFORE_LATE * max(interval_ms, HOUR_MS / 6)


def examine_spend(spend: Spend, max_calls_per_day: int, now_ms: int) -> Iterator[Finding]:
    """Whether the day's cap was reached on several days in a row, up to today or yesterday."""
    calls = {each.day: each.calls for each in spend}
    if max_calls_per_day < 1:
        return
    start = now_ms if calls.get(day_of(now_ms), 0) >= max_calls_per_day else now_ms - DAY_MS
    days = 0
    while calls.get(day_of(start - days * DAY_MS), 0) >= max_calls_per_day:
        days += 1
    if days >= _DAYS_IN_A_ROW:
        yield of.SPEND_CAP.found(
            "llm.maxCallsPerDay",
            f"All {max_calls_per_day} calls a day were used on {days} days in a row, so sessions wait; raise it",
        )


# -- the repository ---------------------------------------------------------------------------------------------------


GIT_DIRECTORY = ".git"


@frozen
class GitFacts:
    """The repository as it lies there; where `trouble` is set, nothing else is known but locks and debts."""

    present: bool
    trouble: str = ""
    """Why git could not be asked, or what it said."""
    stale_locks: tuple[str, ...] = ()
    """Lock files that no git works behind, relative to the root."""
    branch: str | None = "main"
    """None where HEAD is on no branch."""
    unfinished: str = ""
    """The operation that somebody began and did not finish: `merge`, `rebase`, `cherry-pick`, `revert`."""
    conflicted: tuple[str, ...] = ()
    """Paths with unresolved conflicts."""
    owed: int = 0
    """Writes that were not recorded."""


def examine_git(facts: GitFacts, *, has_notes: bool) -> Iterator[Finding]:
    """What keeps the history from being written. No remote is no trouble; nor is no repository where there is nothing yet."""
    for path in facts.stale_locks:
        yield of.GIT_LOCKED.found(path, "A git that no longer runs left this lock behind")
    if facts.owed:
        count = f"{facts.owed} write{'' if facts.owed == 1 else 's'}"
        yield of.GIT_OWED.found("runs/owed.json", f"{count} not recorded by git yet; the next run records them")
    if facts.trouble:
        yield of.GIT_UNUSABLE.found(GIT_DIRECTORY, facts.trouble.rstrip("."))
    elif not facts.present:
        if has_notes:
            yield of.GIT_ABSENT.found(
                GIT_DIRECTORY, "There is no history, although storage.autoCommit is on; the next write begins one"
            )
    else:
        yield from _examine_state(facts)


def _examine_state(facts: GitFacts) -> Iterator[Finding]:
    if facts.unfinished:
        yield of.GIT_CONFLICTED.found(
            GIT_DIRECTORY, f"A {facts.unfinished} was begun and not finished; finish or abort it with git"
        )
    for path in facts.conflicted:
        yield of.GIT_CONFLICTED.found(path, "It is in conflict, and is not recorded until that is resolved with git")
    if facts.branch is None and not facts.unfinished:
        yield of.GIT_DETACHED.found(
            GIT_DIRECTORY, "HEAD is on no branch, so what is recorded may be lost; `git switch main`, or another branch"
        )
