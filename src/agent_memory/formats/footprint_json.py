"""What was changed on disk, with what was there before: the footprint of a run and the journal of a transaction; version 1.

    {"version": 1,
     "files": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "after": null}],
     "sections": [{"path": "/home/…/AGENTS.md", "before": null, "after": "<!-- …", "separator": "\\n", "created": false}]}

    {"version": 1, "steps": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "afterHash": "…", "staged": "0.new"}]}

`before` and `after` are null where there was, or will be, no file or no section, and so are `afterHash` and `staged`; `mtimeNs`
is null for what was written then. The new bytes of a step lie beside the journal in the file named by `staged`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from attrs import frozen

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.recording.file_change import FileState
from agent_memory.domain.undo_run import Footprint
from agent_memory.formats.json_codec import Documents, Format, written
from agent_memory.formats.strict_json import InvalidValue, load_bytes

OVER = b"\n"
"""Added to a journal that cannot be removed: one byte, so that it is there or not. A journal that ends with it is over: nothing
is undone or finished by it any more, and it only waits to be removed."""

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_STAGED = re.compile(r"[0-9]{1,9}\.new", re.ASCII)


def _hash_problem(value: object) -> str | None:
    return None if isinstance(value, str) and _HASH.fullmatch(value) else "is no SHA-256"


def _staged_problem(value: object) -> str | None:
    return None if isinstance(value, str) and _STAGED.fullmatch(value) else "is no name of a staged file"


def _footprint_problems(footprint: Footprint) -> Iterator[str]:
    yield from (f"files[{index}].path is empty" for index, each in enumerate(footprint.files) if not each.path)
    yield from (f"sections[{index}].path is empty" for index, each in enumerate(footprint.sections) if not each.path)


def _footprint(document: object) -> Footprint:
    """Nothing may be absent: half of one must not be undone."""
    missing = [key for key in ("files", "sections") if is_object(document) and key not in document]
    if missing:
        raise InvalidValue(*(f"{key} is missing" for key in missing))
    return Format(Footprint, check=_footprint_problems).value_of(document)


FOOTPRINT = Documents(written, _footprint, load=load_bytes)


@frozen
class Step:
    """One file's way from `before` to the bytes with `after_hash`, which wait in `staged`."""

    path: str
    before: FileState | None
    after_hash: Annotated[str, _hash_problem] | None
    staged: Annotated[str, _staged_problem] | None


@frozen
class _Journal:
    steps: tuple[Step, ...]


def _journal_problems(journal: _Journal) -> Iterator[str]:
    for index, step in enumerate(journal.steps):
        if not step.path or (step.after_hash is None) != (step.staged is None):
            yield f"steps[{index}] is not a step"


_JOURNAL = Format(_Journal, indent=None, check=_journal_problems)


def render_journal(steps: tuple[Step, ...]) -> bytes:
    """The steps in the order in which they are taken."""
    return _JOURNAL.render(_Journal(steps)).rstrip("\n").encode("utf-8", "backslashreplace")


def is_over(data: bytes) -> bool:
    """Whether the transaction is done, or undone, for good."""
    return data.endswith(OVER)


def parse_journal(data: bytes, path: str) -> tuple[Step, ...]:
    """The steps that were rendered; StateCorrupt for anything else, since half a journal must not be acted on."""
    return _JOURNAL.parse(data, path).steps
