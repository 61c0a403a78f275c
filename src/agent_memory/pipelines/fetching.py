"""Where the turns of a session come from: its transcript, or what was kept of it."""

from __future__ import annotations

from itertools import compress

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.command.presets import BUILTIN
from agent_memory.domain.history import History, Role, SessionMark, TranscriptEnd, Turn
from agent_memory.domain.inbox_entry import UPGRADE_EVENT, FileSnapshot, InboxEntry, InlineNote, session_id_of
from agent_memory.domain.transcripts.redacted_history import redact_history
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error, HistoryUnavailable, StoreIo
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.results import sealed


@frozen
class Fetched:
    """A history, and what part of the session it is."""

    history: History
    after_record_id: str | None = None
    """The record after which it begins; None for the beginning of the session."""
    from_kept: bool = False
    """It was redacted and kept by an earlier run."""
    next_mark: SessionMark | None = None
    """Of a transcript read for the first time in which nothing is new: the mark that knows it."""


def fetch(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Result[Fetched, Error]:
    """The turns after the mark, from the transcript, else, where that is not there or cannot be read now, from what was kept
    of it; in the second case `remaining`, since nobody knows what came after that.

    Of a session that is to be looked at again, all turns: from what was kept where its beginning is, since the transcript
    may be gone or rewritten by now, else from the transcript.
    """
    if mark is None or not is_looked_at_again(io, entry, mark):
        return _from_source(io, entry, mark).lash(lambda error: _instead_of_source(io, entry, mark, error))
    match sealed(_from_kept(io, entry, None)):
        case Success(kept) if kept is not None:
            # What came since the mark was looked at by nobody yet: it is taken up right after this.
            return _has_more(io, entry, mark).map(
                lambda more: evolve(kept, history=evolve(kept.history, remaining=kept.history.remaining or more))
            )
        case Failure(StoreIo() as unread):
            return Failure(unread)  # the transcript may hold less by now (P6)
        case _:
            return _from_source(io, entry, None)


def _has_more(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark) -> Result[bool, Error]:
    """Whether something came since the mark; nothing where the transcript is gone. Where it cannot be read, that is an error:
    what is in it would wait for the next capture."""
    match sealed(_from_source(io, entry, mark)):
        case Success(new):
            return Success(bool(new.history.turns))
        case Failure((StoreIo() | HistoryUnavailable(is_missing=False)) as unread):
            return Failure(unread)
        case Failure(_):
            return Success(False)


def is_looked_at_again(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark) -> bool:
    """Whether this is for a command to look at what the built-in consolidated."""
    is_asked_for = entry.context.event == UPGRADE_EVENT
    return is_asked_for and mark.agent_name == BUILTIN and io.agent.status is Status.CONSOLIDATED


def _from_source(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Result[Fetched, Error]:
    source = io.histories.get(entry.retrieval.method)
    if source is None:
        reason = f"this version has no way to read {entry.retrieval.method} yet"
        return Failure(HistoryUnavailable(session_id_of(entry) or entry.retrieval.method, reason))
    match sealed(source.fetch(entry, mark)):
        case Success(history) if mark is not None and mark.within(history.transcript) is None:
            return _without_shared(io, entry, mark, history)
        case Success(history):
            return Success(Fetched(history, None if mark is None else mark.last_record_id))
        case Failure(error):
            return Failure(error)


def _without_shared(
    io: ConsolidateIo, entry: InboxEntry, mark: SessionMark, history: History
) -> Result[Fetched, Error]:
    """What a transcript of a known session holds that was never read: the session moved with its project, was resumed in
    another directory or copied. What it has in common with what was consolidated is left out, by what was kept of that,
    else by the records at which it ends."""
    match sealed(_from_kept(io, entry, None)):
        case Success(kept) if kept is not None:
            said = frozenset(map(_said, kept.history.turns))
            is_new = [_said(turn) not in said for turn in redact_history(history).turns]
        case Failure(StoreIo() as unread):
            return Failure(unread)
        case _:
            ends = {end.last_record_id for end in mark.ends}
            last = max((at for at, turn in enumerate(history.turns) if turn.record_id in ends), default=-1)
            is_new = [at > last for at in range(len(history.turns))]
    answered = history.tools_answered_before or any(turn.role is Role.TOOL for turn in history.turns)
    own = evolve(history, turns=tuple(compress(history.turns, is_new)), tools_answered_before=answered)
    if own.turns or not history.turns:
        return Success(Fetched(own, mark.last_record_id))
    end = history.turns[-1]
    here = TranscriptEnd(history.transcript, end.record_id, end.at_ms, end.number)
    known = evolve(mark, elsewhere=(*mark.elsewhere, here))
    if history.remaining:
        return _from_source(io, entry, known)
    return Success(Fetched(own, mark.last_record_id, next_mark=known))


def _said(turn: Turn) -> tuple[str, Role, str]:
    return turn.record_id, turn.role, turn.text


def _instead_of_source(
    io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None, error: Error
) -> Result[Fetched, Error]:
    if not isinstance(error, HistoryUnavailable):
        return Failure(error)
    match sealed(_from_kept(io, entry, mark)):
        case Success(kept) if kept is not None and error.is_missing:
            return Success(kept)
        case Success(kept) if kept is not None and kept.history.turns:
            return Success(evolve(kept, history=evolve(kept.history, remaining=True)))
        case Failure(StoreIo() as unread):
            return Failure(unread)  # it may be there, and is looked for again later (P6)
        case _:
            return Failure(error)


def _from_kept(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Result[Fetched | None, Error]:
    session_id = session_id_of(entry)
    if io.kept is None or session_id is None or isinstance(entry.retrieval, InlineNote | FileSnapshot):
        return Success(None)
    after = None if mark is None else mark.last_record_id
    return io.kept.fetch(entry.harness, session_id, mark).map(
        lambda history: None if history is None else Fetched(history, after, from_kept=True)
    )
