"""The inbox entry as JSON and the troubles of pending entries, version 1 (docs/contributing/formats.md)."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.capture.session_event import method_of
from agent_memory.errors import InboxEntryInvalid
from agent_memory.results import as_result
from agent_memory.session.queue import (
    SESSION_METHODS,
    AmpThread,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    Trouble,
)
from agent_memory.text.json_codec import Format, InvalidValue, load_json, tagged_union

MAX_ENTRY_BYTES = 256 * 1024

tagged_union(
    Retrieval,
    "method",
    {
        "amp-thread": AmpThread,
        **dict.fromkeys(SESSION_METHODS, SessionFile),
        "file": FileSnapshot,
        "inline": InlineNote,
    },
)


def _harness_problem(entry: InboxEntry) -> Iterator[str]:
    method = entry.retrieval.method
    if isinstance(entry.retrieval, SessionFile | AmpThread) and method != method_of(entry.harness):
        yield f"harness is {entry.harness.value!r}, but {method} belongs to {method.rpartition('-')[0]}"


_ENTRY = Format(InboxEntry, indent=None, check=_harness_problem)


def entry_of(text: str) -> InboxEntry:
    """Returns the entry in a JSON text; raises InboxEntryInvalid with every problem as `key what is wrong`."""
    try:
        return _ENTRY.value_of(load_json(text))
    except InvalidValue as error:
        raise InboxEntryInvalid(error.problems) from error


parse_inbox_entry = as_result(entry_of)


render_inbox_entry = _ENTRY.render
"""Returns one line of JSON; `entry_of` returns the same entry if it is valid."""


TROUBLES = Format(dict[str, Trouble], member="troubles")
