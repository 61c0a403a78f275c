"""The inbox entry as JSON, version 1, and what pending entries have been through.

    {"version": 1, "timestamp": "2026-02-13T14:30:05.123Z", "harness": "amp",
     "retrieval": {"method": "amp-thread", "threadId": "T-…"},
     "context": {"cwd": "/path", "repo": "github.com/owner/repo", "branch": "…", "commit": "…"}}

`retrieval` is a union tagged by `method`. `context` and its keys may be absent. An entry that was taken out of the inbox has
`outcome` besides.

Trouble is in one file, `{"version": 1, "troubles": {key: {…}}}` with the keys of `queue_key`; what changed since is one line each,
`{key: {…}, …}`, null for what is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent_memory.domain.queue import (
    SESSION_METHODS,
    AmpThread,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    Trouble,
)
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import InboxEntryInvalid
from agent_memory.formats.json_codec import Format, tagged_union, value_of, written
from agent_memory.formats.strict_json import InvalidValue, load_json
from agent_memory.results import as_result

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

_HARNESS_OF_METHOD: Mapping[str, Harness] = {
    "amp-thread": Harness.AMP,
    **{method: Harness(method.removesuffix("-session")) for method in SESSION_METHODS},
}


def _harness_problem(entry: InboxEntry) -> Iterator[str]:
    method = entry.retrieval.method
    owner = _HARNESS_OF_METHOD.get(method, entry.harness)
    if owner != entry.harness:
        yield f"harness is {entry.harness.value!r}, but {method} belongs to {owner}"


_ENTRY = Format(InboxEntry, indent=None, check=_harness_problem)


def entry_of(text: str) -> InboxEntry:
    """The entry in a JSON text; InboxEntryInvalid with every problem as `key what is wrong`."""
    try:
        return _ENTRY.value_of(load_json(text))
    except InvalidValue as error:
        raise InboxEntryInvalid(error.problems) from error


parse_inbox_entry = as_result(entry_of)


def render_inbox_entry(entry: InboxEntry) -> str:
    """One line of JSON; `entry_of` gives the same entry back if it is a valid one."""
    return _ENTRY.render(entry)


# -- trouble ----------------------------------------------------------------------------------------------------------


TROUBLES = Format(dict[str, Trouble], member="troubles")
"""The trouble of all entries that are in some."""


def render_changes(changes: Mapping[str, Trouble | None]) -> str:
    """One line, with its end."""
    return json.dumps(written(changes), ensure_ascii=False) + "\n"


def with_changes(troubles: Mapping[str, Trouble], text: str) -> dict[str, Trouble]:
    """The troubles after these lines. One that is no whole change is what a crash left of it, and counts as not written."""
    known = dict(troubles)
    for line in text.split("\n"):
        for key, trouble in _changes_in(line).items():
            known.pop(key, None)
            if trouble is not None:
                known[key] = trouble
    return known


def _changes_in(line: str) -> dict[str, Trouble | None]:
    try:
        document: Any = load_json(line)
        changes: dict[str, Trouble | None] = value_of(document, dict[str, Trouble | None])
    except InvalidValue:
        return {}
    return changes
