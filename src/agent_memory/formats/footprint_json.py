"""A footprint as text, version 1: what a run changed, with what was there before.

    {"version": 1,
     "files": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "after": null}],
     "sections": [{"path": "/home/…/AGENTS.md", "before": null, "after": "<!-- …", "separator": "\\n", "created": false}]}

`before` and `after` are null where there was, or will be, no file or no section; `mtimeNs` is null for what was written then.
"""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.domain.footprint import Footprint, SectionChange
from agent_memory.domain.json_shape import Json
from agent_memory.domain.recording.file_change import FileChange
from agent_memory.errors import StateCorrupt
from agent_memory.formats.file_state_json import read_state, state_document

VERSION = 1


def render_footprint(footprint: Footprint) -> bytes:
    """ASCII JSON, one line a change, all in the order given."""
    files = [_line(_file_document(each)) for each in footprint.files]
    sections = [_line(_section_document(each)) for each in footprint.sections]
    return f'{{"version": {VERSION},\n "files": [{",".join(files)}],\n "sections": [{",".join(sections)}]}}\n'.encode(
        "ascii"
    )


def parse_footprint(data: bytes, path: str) -> Result[Footprint, StateCorrupt]:
    """The footprint that was rendered; anything else is StateCorrupt, since half of one must not be undone."""
    try:
        document: Json = json.loads(data)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    match document:
        case {"version": 1, "files": list(files), "sections": list(sections), **others} if not others:
            return _footprint(files, sections, path)
        case _:
            return Failure(StateCorrupt(path, (f"it is not a footprint of version {VERSION}",)))


def _line(document: dict[str, object]) -> str:
    return f"\n  {json.dumps(document)}"


def _file_document(change: FileChange) -> dict[str, object]:
    return {"path": change.path, "before": state_document(change.before), "after": state_document(change.after)}


def _section_document(change: SectionChange) -> dict[str, object]:
    return {
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "separator": change.separator,
        "created": change.created,
    }


def _footprint(files: list[Json], sections: list[Json], path: str) -> Result[Footprint, StateCorrupt]:
    changes = [_file(each) for each in files]
    section_changes = [_section(each) for each in sections]
    wrong = (
        *(f"files[{index}] is not a change of a file" for index, each in enumerate(changes) if each is None),
        *(f"sections[{index}] is not a change of a section" for index, each in enumerate(section_changes) if not each),
    )
    if wrong:
        return Failure(StateCorrupt(path, wrong))
    return Success(Footprint(tuple(filter(None, changes)), tuple(filter(None, section_changes))))


def _file(document: Json) -> FileChange | None:
    match document:
        case {"path": str(path), "before": before, "after": after, **others} if path and not others:
            states = read_state(before), read_state(after)
            if any(given is not None and state is None for given, state in zip((before, after), states, strict=True)):
                return None
            return FileChange(path, *states)
        case _:
            return None


def _section(document: Json) -> SectionChange | None:
    match document:
        case {
            "path": str(path),
            "before": (str() | None) as before,
            "after": (str() | None) as after,
            "separator": str(separator),
            "created": bool(created),
            **others,
        } if path and not others:
            return SectionChange(path, before, after, separator, created)
        case _:
            return None
