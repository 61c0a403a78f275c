"""What an explanation could not look at, in words (P6)."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.entry import Listing
from agent_memory.domain.run_log import LoggedRun, short_id
from agent_memory.errors import EntryUnreadable
from agent_memory.wording import describe


def unread_notes(*listings: Listing) -> tuple[str, ...]:
    """One sentence for each file that is no entry, or could not be read."""
    files = (each for listing in listings for each in listing.unreadable)
    return tuple(describe(EntryUnreadable(each.path, each.problems)) for each in files)


def unread_runs(runs: Iterable[LoggedRun]) -> tuple[str, ...]:
    """One sentence for each run of which it is not known what it did."""
    return tuple(
        f"What the run {short_id(run.run_id)} did is not known: {'; '.join(run.problems)}"
        for run in runs
        if run.problems
    )
