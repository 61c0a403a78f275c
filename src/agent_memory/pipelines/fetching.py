"""Where the turns of a session come from: its transcript, or what was kept of it; and what was forgotten of it."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.command import BUILTIN
from agent_memory.domain.forgetting import forgotten_note, without_forgotten
from agent_memory.domain.history import History, Role, SessionMark, TranscriptEnd, Turn
from agent_memory.domain.inbox_entry import UPGRADE_EVENT, FileSnapshot, InboxEntry, InlineNote, session_id_of
from agent_memory.domain.plan import ChangeSet
from agent_memory.domain.transcripts.turns import redact_history
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error, HistoryUnavailable, StoreIo
from agent_memory.results import unwrap

if TYPE_CHECKING:
    from agent_memory.pipelines.asking import ConsolidateIo


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


def fetch(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Fetched:
    """The turns after the mark, from the transcript, else, where that is not there or cannot be read now, from what was kept
    of it; in the second case `remaining`, since nobody knows what came after that.

    Of a session that is to be looked at again, all turns: from what was kept where its beginning is, since the transcript
    may be gone or rewritten by now, else from the transcript.
    """
    if mark is not None and is_looked_at_again(io, entry, mark):
        kept = _from_kept(io, entry, None)
        if kept is None:
            return _from_source(io, entry, None)
        # What came since the mark was looked at by nobody yet: it is taken up right after this.
        remaining = kept.history.remaining or _has_more(io, entry, mark)
        return evolve(kept, history=evolve(kept.history, remaining=remaining))
    try:
        return _from_source(io, entry, mark)
    except HistoryUnavailable as absent:
        kept = _from_kept(io, entry, mark)
        if kept is None or not (absent.is_missing or kept.history.turns):
            raise
        return kept if absent.is_missing else evolve(kept, history=evolve(kept.history, remaining=True))


def is_looked_at_again(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark) -> bool:
    """Whether this is for a command to look at what the built-in consolidated."""
    is_asked_for = entry.context.event == UPGRADE_EVENT
    return is_asked_for and mark.agent_name == BUILTIN and io.agent.status is Status.CONSOLIDATED


def _has_more(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark) -> bool:
    """Whether something came since the mark; nothing where the transcript is gone. Where it cannot be read, that is an error:
    what is in it would wait for the next capture."""
    try:
        return bool(_from_source(io, entry, mark).history.turns)
    except StoreIo:
        raise
    except HistoryUnavailable as absent:
        if not absent.is_missing:
            raise
        return False
    except Error:
        return False


def _from_source(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Fetched:
    source = io.histories.get(entry.retrieval.method)
    if source is None:
        reason = f"this version has no way to read {entry.retrieval.method} yet"
        raise HistoryUnavailable(session_id_of(entry) or entry.retrieval.method, reason)
    history = unwrap(source.fetch(entry, mark))
    if mark is not None and mark.within(history.transcript) is None:
        return _without_shared(io, entry, mark, history)
    return Fetched(history, None if mark is None else mark.last_record_id)


def _without_shared(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark, history: History) -> Fetched:
    """What a transcript of a known session holds that was never read: the session moved with its project, was resumed in
    another directory or copied. What it has in common with what was consolidated is left out, by what was kept of that,
    else by the records at which it ends."""
    kept = _from_kept(io, entry, None)
    if kept is not None:
        said = frozenset(map(_said, kept.history.turns))
        is_new = [_said(turn) not in said for turn in redact_history(history).turns]
    else:
        ends = {end.last_record_id for end in mark.ends}
        last = max((at for at, turn in enumerate(history.turns) if turn.record_id in ends), default=-1)
        is_new = [at > last for at in range(len(history.turns))]
    answered = history.tools_answered_before or any(turn.role is Role.TOOL for turn in history.turns)
    own = evolve(history, turns=tuple(compress(history.turns, is_new)), tools_answered_before=answered)
    if own.turns or not history.turns:
        return Fetched(own, mark.last_record_id)
    end = history.turns[-1]
    here = TranscriptEnd(history.transcript, end.record_id, end.at_ms, end.number)
    known = evolve(mark, elsewhere=(*mark.elsewhere, here))
    if history.remaining:
        return _from_source(io, entry, known)
    return Fetched(own, mark.last_record_id, next_mark=known)


def _said(turn: Turn) -> tuple[str, Role, str]:
    return turn.record_id, turn.role, turn.text


def _from_kept(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark | None) -> Fetched | None:
    """What was kept of the session. That it cannot be read now is an error (P6); that it is damaged is as if there were none."""
    session_id = session_id_of(entry)
    if io.kept is None or session_id is None or isinstance(entry.retrieval, InlineNote | FileSnapshot):
        return None
    try:
        history = unwrap(io.kept.fetch(entry.harness, session_id, mark))
    except StoreIo:
        raise
    except Error:
        return None
    after = None if mark is None else mark.last_record_id
    return None if history is None else Fetched(history, after, from_kept=True)


# -- what a person had forgotten is left out (P28) ------------------------------------------------------------------------


def why_forgotten(io: ConsolidateIo, entry: InboxEntry) -> str | None:
    """Why the entry is not to be looked at, if so: its session was forgotten, or its note, which was put down before."""
    if io.tombstones is None:
        return None
    note = entry.retrieval
    if isinstance(note, InlineNote):
        known = unwrap(io.tombstones.of_entries())
        is_known = forgotten_note(known, note.title, note.body, entry.at_ms) is not None
        return "the note was forgotten" if is_known else None
    session_id = session_id_of(entry)
    if session_id is None or isinstance(note, FileSnapshot):
        return None
    tombstone = unwrap(io.tombstones.of_session(entry.harness, session_id))
    return None if tombstone is None else "the session was forgotten"


def unforgotten(io: ConsolidateIo, change_set: ChangeSet, request: SessionRequest) -> ChangeSet:
    """The change set without what says again what was forgotten. A person's inline note is not among it: what of it was
    forgotten was never asked about (`why_forgotten`), and what came later is meant."""
    if io.tombstones is None or isinstance(request.entry.retrieval, InlineNote):
        return change_set
    shown = {each.meta.id: each for each in request.shown}
    known = unwrap(io.tombstones.of_entries())
    return without_forgotten(change_set, known, request.window, request.entry.at_ms, shown)
