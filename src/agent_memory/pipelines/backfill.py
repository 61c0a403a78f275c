"""The story of backfill: what past sessions there are, which of them say something new, and into the inbox with those.

A session's marks and the inbox say what was done; no offset and no time of a file does. So it may be run at any time, as
often as one likes, and beside any other command.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from returns.result import Failure

from agent_memory.domain.found_session import Backfill, FoundSession, Sighted
from agent_memory.domain.inbox_entry import BACKFILL_EVENT, Context
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, InboxEntryInvalid, UsageInvalid
from agent_memory.pipelines.sighting import BackfillIo, Looking, look_at
from agent_memory.results import as_result, unwrap
from agent_memory.wording import describe, warning_of


@as_result
def plan_backfill(io: BackfillIo, harnesses: Sequence[Harness] = (), since_ms: int | None = None) -> Backfill:
    """What was found of these harnesses (of all, if none is named), oldest first. Nothing is written."""
    unknown = [harness for harness in harnesses if harness not in io.finders]
    if unknown:
        known_names = ", ".join(sorted(io.finders))
        raise UsageInvalid(f"Past sessions of {unknown[0]} cannot be found", f"There are {known_names}.")
    chosen = tuple(dict.fromkeys(harnesses)) or tuple(sorted(io.finders))
    known = unwrap(io.inbox.known())
    problems: list[str] = []
    found: list[FoundSession] = []
    for harness in chosen:
        io.progress(f"looking for sessions of {harness}")
        for each in io.finders[harness].find(since_ms):
            if isinstance(each, Failure):
                problems.append(_why_not_listed(harness, each.failure()))
            else:
                found.append(each.unwrap())
    looking = Looking(known, BACKFILL_EVENT, since_ms, _ends(io, found, problems))
    sighted: list[Sighted] = []
    # A copy comes after what it was copied from.
    for number, session in enumerate(sorted(found, key=lambda each: (each.changed_at_ms, each.session_id)), 1):
        io.progress(f"{number:,} of {len(found):,}: {_named(session)}")
        sighted.append(look_at(io, session, looking))
    if io.seen is not None and since_ms is None:
        io.seen.save(frozenset(each.value for each in chosen))
    problems += [f"{_named(each.found)}: {each.problem}" for each in sighted if each.problem]
    return Backfill(tuple(sorted(sighted, key=_when)), tuple(problems))


@as_result
def put_backfill(io: BackfillIo, backfill: Backfill) -> Backfill:
    """The same, once its wanted sessions wait in the inbox, oldest first; those that could not be put there are told."""
    problems: list[str] = []
    for copy in backfill.sighted:
        if copy.sight == "copy" and copy.begins_at is not None:
            # What it was copied from may go on elsewhere: then nothing would tell any more that it is a copy.
            unwrap(io.marks.put(copy.begins_at))
    for each in backfill.wanted:
        try:
            put_sighted(io, each)
        except InboxEntryInvalid as invalid:
            problems.append(f"{_named(each.found)}: {describe(invalid)}")
    return evolve(backfill, problems=(*backfill.problems, *problems))


def put_sighted(io: BackfillIo, sighted: Sighted) -> None:
    """Put the session into the inbox; of one that goes on from another, its mark is put first."""
    entry = sighted.entry
    if entry is None:
        raise ValueError(f"{sighted.sight} is nothing to put into the inbox")
    if sighted.begins_at is not None:
        unwrap(io.marks.put(sighted.begins_at))
    try:
        unwrap(io.inbox.put(entry))
    except InboxEntryInvalid:
        # What a transcript says of branch and directory may be nothing that an entry may hold; the session is what counts.
        unwrap(io.inbox.put(evolve(entry, context=Context(event=entry.context.event))))


def looking_for(io: BackfillIo, found: Sequence[FoundSession], event: str) -> Looking:
    """What these sessions are to be compared with."""
    return Looking(unwrap(io.inbox.known()), event, ends=_ends(io, found, []))


def _why_not_listed(harness: Harness, error: Error) -> str:
    """Nothing waits in the inbox yet, so it is not told as what does."""
    reason = error.reason if isinstance(error, HistoryUnavailable) else describe(error)
    return f"Past sessions of {harness} could not all be listed: {reason}"


def _ends(io: BackfillIo, found: Sequence[FoundSession], problems: list[str]) -> frozenset[tuple[Harness, str]]:
    sharing = frozenset(each.harness for each in found if each.shares_record_ids)
    ends: set[tuple[Harness, str]] = set()
    for each in io.marks.all() if sharing else ():
        if isinstance(each, Failure):
            problems += warning_of(each)
        elif (mark := each.unwrap()).harness in sharing:
            ends.add((mark.harness, mark.last_record_id))
    return frozenset(ends)


def _when(sighted: Sighted) -> tuple[int, str]:
    at_ms = sighted.found.changed_at_ms if sighted.entry is None else sighted.entry.at_ms
    return at_ms, sighted.found.session_id


def _named(found: FoundSession) -> str:
    return f"{found.harness} {found.session_id}"
