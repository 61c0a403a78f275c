"""The story of backfill: what past sessions there are, which of them say something new, and into the inbox with those.

A session's marks and the inbox say what was done; no offset and no time of a file does. So it may be run at any time, as
often as one likes, and beside any other command.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.backfill import Backfill, Sighted
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import BACKFILL_EVENT, Context, InboxEntry
from agent_memory.domain.queue import KnownSessions
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnavailable, InboxEntryInvalid, UsageInvalid
from agent_memory.pipelines.backfill_io import BackfillIo, Looking
from agent_memory.pipelines.sighting import look_at
from agent_memory.results import sealed
from agent_memory.wording import describe


def plan_backfill(
    io: BackfillIo, harnesses: Sequence[Harness] = (), since_ms: int | None = None
) -> Result[Backfill, Error]:
    """What was found of these harnesses (of all, if none is named), oldest first. Nothing is written."""
    unknown = [harness for harness in harnesses if harness not in io.finders]
    if unknown:
        known = ", ".join(sorted(io.finders))
        return Failure(UsageInvalid(f"Past sessions of {unknown[0]} cannot be found", f"There are {known}."))
    chosen = tuple(dict.fromkeys(harnesses)) or tuple(sorted(io.finders))
    return io.inbox.known().map(lambda known: _looked(io, chosen, since_ms, known))


def put_backfill(io: BackfillIo, backfill: Backfill) -> Result[Backfill, Error]:
    """The same, once its wanted sessions wait in the inbox, oldest first; those that could not be put there are told."""
    problems: list[str] = []
    for copy in backfill.sighted:
        if copy.sight == "copy" and copy.begins_at is not None:
            # What it was copied from may go on elsewhere: then nothing would tell any more that it is a copy.
            marked = io.marks.put(copy.begins_at)
            if isinstance(marked, Failure):
                return marked
    for each in backfill.wanted:
        match sealed(put_sighted(io, each)):
            case Failure(InboxEntryInvalid() as invalid):
                problems.append(f"{_named(each.found)}: {describe(invalid)}")
            case Failure(error):
                return Failure(error)
            case Success(_):
                continue
    return Success(evolve(backfill, problems=(*backfill.problems, *problems)))


def put_sighted(io: BackfillIo, sighted: Sighted) -> Result[str, Error]:
    """The name of the session's new inbox entry; of one that goes on from another, its mark is put first."""
    entry = sighted.entry
    if entry is None:
        raise ValueError(f"{sighted.sight} is nothing to put into the inbox")
    begun: Result[None, Error] = Success(None) if sighted.begins_at is None else io.marks.put(sighted.begins_at)
    return begun.bind(lambda _: io.inbox.put(entry)).lash(lambda error: _with_less(io, entry, error))


def _with_less(io: BackfillIo, entry: InboxEntry, error: Error) -> Result[str, Error]:
    """What a transcript says of branch and directory may be nothing that an entry may hold; the session is what counts."""
    if not isinstance(error, InboxEntryInvalid):
        return Failure(error)
    return io.inbox.put(evolve(entry, context=Context(event=entry.context.event)))


def looking_for(io: BackfillIo, found: Sequence[FoundSession], event: str) -> Result[Looking, Error]:
    """What these sessions are to be compared with."""
    return io.inbox.known().map(lambda known: Looking(known, event, ends=_ends(io, found, [])))


def _looked(io: BackfillIo, harnesses: Sequence[Harness], since_ms: int | None, known: KnownSessions) -> Backfill:
    problems: list[str] = []
    found: list[FoundSession] = []
    for harness in harnesses:
        io.progress(f"looking for sessions of {harness}")
        for each in io.finders[harness].find(since_ms):
            match sealed(each):
                case Failure(error):
                    problems.append(_why_not_listed(harness, error))
                case Success(session):
                    found.append(session)
    ends = _ends(io, found, problems)
    looking = Looking(known, BACKFILL_EVENT, since_ms, ends)
    sighted: list[Sighted] = []
    # A copy comes after what it was copied from.
    for number, session in enumerate(sorted(found, key=lambda each: (each.changed_at_ms, each.session_id)), 1):
        io.progress(f"{number:,} of {len(found):,}: {_named(session)}")
        sighted.append(look_at(io, session, looking))
    if io.seen is not None and since_ms is None:
        io.seen.save(frozenset(each.value for each in harnesses))
    problems += [f"{_named(each.found)}: {each.problem}" for each in sighted if each.problem]
    return Backfill(tuple(sorted(sighted, key=_when)), tuple(problems))


def _why_not_listed(harness: Harness, error: Error) -> str:
    """Nothing waits in the inbox yet, so it is not told as what does."""
    reason = error.reason if isinstance(error, HistoryUnavailable) else describe(error)
    return f"Past sessions of {harness} could not all be listed: {reason}"


def _ends(io: BackfillIo, found: Sequence[FoundSession], problems: list[str]) -> frozenset[tuple[Harness, str]]:
    sharing = frozenset(each.harness for each in found if each.shares_record_ids)
    ends: set[tuple[Harness, str]] = set()
    for each in io.marks.all() if sharing else ():
        match sealed(each):
            case Failure(error):
                problems.append(describe(error))
            case Success(mark):
                ends.update([(mark.harness, mark.last_record_id)] if mark.harness in sharing else [])
    return frozenset(ends)


def _when(sighted: Sighted) -> tuple[int, str]:
    at_ms = sighted.found.changed_at_ms if sighted.entry is None else sighted.entry.at_ms
    return at_ms, sighted.found.session_id


def _named(found: FoundSession) -> str:
    return f"{found.harness} {found.session_id}"
