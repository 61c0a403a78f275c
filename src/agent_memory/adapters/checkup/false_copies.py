"""Sessions that backfill took for copies of others, although no other session says what they say."""

from __future__ import annotations

import mmap
from collections.abc import Iterable

from returns.result import Result

from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import COPY, SessionMark
from agent_memory.errors import Error


def false_copies(
    marks: Iterable[Result[SessionMark, Error]], sessions: Iterable[Result[FoundSession, Error]]
) -> tuple[SessionMark, ...]:
    """The marks of copies whose transcript is there while their last record is in none of a session that is no copy. A session
    that cannot be read is one that may hold it."""
    copies = {mark.session_id: mark for each in marks if (mark := each.value_or(None)) and mark.agent_name == COPY}
    if not copies:
        return ()
    found = [session for each in sessions if (session := each.value_or(None)) is not None]
    doubtful = {session.session_id: copies[session.session_id] for session in found if session.session_id in copies}
    for session in found:
        if session.session_id in copies or session.path is None:
            continue
        try:
            with open(session.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                held = [id for id, mark in doubtful.items() if text.find(mark.last_record_id.encode()) >= 0]
        except ValueError:  # it is empty
            continue
        except OSError:
            return ()
        for id in held:
            del doubtful[id]
    return tuple(doubtful.values())
