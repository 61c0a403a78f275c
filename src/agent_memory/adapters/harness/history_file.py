"""Snapshots of markdown or text files that were made at capture (`file`)."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.adapters.disk.paths import inside, read_file, real_root
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot, InboxEntry
from agent_memory.domain.transcripts.document_turns import document_turns, first_heading
from agent_memory.domain.transcripts.own_marks import is_own_prompt
from agent_memory.domain.transcripts.turns import as_many_as_fit, turns_after
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, PathRefused, StoreIo
from agent_memory.results import sealed

MAX_SNAPSHOT_BYTES = MAX_LINE_BYTES

_BINARY_SIGNS_WITHIN = 8_192


@frozen
class FileSnapshots:
    """Reads the snapshots of a root and nothing else in it (P27); no link inside it is followed (P21), and no file that has
    another name too.

    HistoryUnreadable: gone, empty, no text, no regular file, no snapshot, over 16 MiB. HistoryUnavailable: a failing
    read.
    """

    root: Path

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The document's sections as tool turns; its session id is made from its content."""
        if not isinstance(entry.retrieval, FileSnapshot):
            raise TypeError(f"{entry.retrieval.method} is no snapshot of a file")
        path = entry.retrieval.path
        if os.path.dirname(path) != SNAPSHOTS:
            return Failure(HistoryUnreadable(path, f"only copies in {SNAPSHOTS}/ are read"))
        image = inside(real_root(self.root), path).bind(lambda real: read_file(real, MAX_SNAPSHOT_BYTES))
        match sealed(image):
            case Success(found):
                if found is None:
                    return Failure(HistoryUnreadable(path, "the snapshot is gone"))
                if found.links > 1:
                    return Failure(HistoryUnreadable(path, "it is another file's hard link, and no copy of its own"))
                return _history(entry, path, found.data, mark)
            case Failure(PathRefused(_, reason)):
                return Failure(HistoryUnreadable(path, reason))
            case Failure(StoreIo(reason=reason)):
                return Failure(HistoryUnavailable(path, f"it cannot be read: {reason}"))
            case Failure(error):
                return Failure(error)


def _history(entry: InboxEntry, path: str, data: bytes, mark: SessionMark | None) -> Result[History, Error]:
    if b"\0" in data[:_BINARY_SIGNS_WITHIN]:
        return Failure(HistoryUnreadable(path, "it is not a text file"))
    text = data.decode("utf-8-sig", "replace")
    turns = document_turns(text, "file")
    if not turns:
        return Failure(HistoryUnreadable(path, "it is empty"))
    new = turns_after(turns, mark)
    kept = as_many_as_fit(new)
    history = History(
        harness=entry.harness,
        session_id=f"file-{sha256(data).hexdigest()[:20]}",
        turns=kept,
        title=first_heading(text),
        cwd=entry.context.cwd,
        branch=entry.context.branch,
        started_at_ms=entry.at_ms,
        ended_at_ms=entry.at_ms,
        tools_answered_before=len(new) < len(turns),
        remaining=len(kept) < len(new),
        own_call=is_own_prompt(text),
    )
    return Success(history)
