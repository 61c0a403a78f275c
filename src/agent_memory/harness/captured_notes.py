"""What no harness keeps: notes in the inbox entry itself (`inline`), and files of which capture made a copy (`file`)."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from attrs import evolve, frozen

from agent_memory.errors import HistoryUnavailable, HistoryUnreadable, PathRefused, StoreIo
from agent_memory.files.lines import MAX_LINE_BYTES
from agent_memory.files.paths import path_in, read_image, real_root
from agent_memory.harness import any_json as get
from agent_memory.note.note import Harness
from agent_memory.results import as_result
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.session.own_marks import is_own_prompt
from agent_memory.session.queue import SNAPSHOTS, FileSnapshot, InboxEntry, InlineNote
from agent_memory.session.turns import USER_TEXT_CHARS, as_many_as_fit, document_turns, excerpt, turns_after
from agent_memory.text.markdown import first_heading
from agent_memory.text.plain_text import clean_text

_BINARY_SIGNS_WITHIN = 8_192


class InlineNotes:
    """The source of notes that are in the entry: there is nothing to fetch, so that nothing can fail."""

    @as_result
    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> History:
        """Returns one turn with the note: the person's if they wrote it at a terminal, else the agent's. Its session
        id is made from the note, since the thread that it names has a mark of its own."""
        note = entry.retrieval
        if not isinstance(note, InlineNote):
            raise TypeError(f"{note.method} is no inline note")
        text = excerpt(f"{note.title}\n\n{note.body}", USER_TEXT_CHARS)
        note_id = f"note-{get.digest(str(entry.at_ms), note.title, note.body)}"
        role = Role.USER if entry.harness is Harness.MANUAL else Role.AGENT
        turn = Turn(1, role, clean_text(text.text), note_id, entry.at_ms, clipped_chars=text.clipped_chars)
        return _history(entry, note_id, (turn,), note.title)


def _history(entry: InboxEntry, session_id: str, turns: tuple[Turn, ...], title: str | None) -> History:
    harness, cwd, branch, at_ms = entry.harness, entry.context.cwd, entry.context.branch, entry.at_ms
    return History(harness, session_id, turns, title, cwd, branch=branch, started_at_ms=at_ms, ended_at_ms=at_ms)


@frozen
class FileSnapshots:
    """Reads the snapshots of a root and nothing else in it (P21, P27). HistoryUnreadable: gone, empty, no text, no
    regular file, over 16 MiB. HistoryUnavailable: a failing read."""

    root: Path

    @as_result
    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> History:
        """Returns the document's sections as tool turns; its session id is made from its content."""
        if not isinstance(entry.retrieval, FileSnapshot):
            raise TypeError(f"{entry.retrieval.method} is no snapshot of a file")
        path = entry.retrieval.path
        if os.path.dirname(path) != SNAPSHOTS:
            raise HistoryUnreadable(path, f"only copies in {SNAPSHOTS}/ are read")
        try:
            image = read_image(path_in(real_root(self.root), path), MAX_LINE_BYTES)
        except PathRefused as error:
            raise HistoryUnreadable(path, error.reason) from None
        except StoreIo as error:
            raise HistoryUnavailable(path, f"it cannot be read: {error.reason}") from None
        if image is None:
            raise HistoryUnreadable(path, "the snapshot is gone")
        if image.links > 1:
            raise HistoryUnreadable(path, "it is another file's hard link, and no copy of its own")
        data = image.data
        if b"\0" in data[:_BINARY_SIGNS_WITHIN]:
            raise HistoryUnreadable(path, "it is not a text file")
        text = data.decode("utf-8-sig", "replace")
        turns = document_turns(text, "file")
        if not turns:
            raise HistoryUnreadable(path, "it is empty")
        new = turns_after(turns, mark)
        kept = as_many_as_fit(new)
        return evolve(
            _history(entry, f"file-{sha256(data).hexdigest()[:20]}", kept, first_heading(text)),
            tools_answered_before=len(new) < len(turns),
            remaining=len(kept) < len(new),
            own_call=is_own_prompt(text),
        )
