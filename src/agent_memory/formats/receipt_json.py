"""The receipt of setup as text: one JSON object of version 1, its keys the camelCase of the attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from attrs import asdict
from returns.result import Failure

from agent_memory.domain.installing.receipt import FileRecord, Placed, Receipt, SectionRecord
from agent_memory.domain.installing.wanted import Element, Entry, Member, Part, Syntax, Whole
from agent_memory.domain.json_shape import is_list
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import parse_strict_document

VERSION = 1
_KINDS: Mapping[str, type[Entry]] = {"element": Element, "member": Member, "whole": Whole}
_DIGITS = frozenset("0123456789abcdef")


def render_receipt(receipt: Receipt) -> bytes:
    """JSON with a line end."""
    files = [{**asdict(each), "placed": [_placed_document(placed) for placed in each.placed]} for each in receipt.files]
    document = {
        "version": VERSION,
        "files": files,
        "sections": [asdict(each) for each in receipt.sections],
        "madeDirectories": receipt.made_directories,
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def parse_receipt(data: bytes, path: str) -> Receipt:
    """What `render_receipt` wrote; anything else is StateCorrupt."""
    parsed = parse_strict_document(data)
    if isinstance(parsed, Failure):
        raise StateCorrupt(path, (parsed.failure(),))
    try:
        return _receipt(parsed.unwrap())
    except (KeyError, TypeError, ValueError) as error:
        problem = f"it is no receipt of version {VERSION} ({type(error).__name__}: {error})"
        raise StateCorrupt(path, (problem,)) from None


def _placed_document(placed: Placed) -> dict[str, Any]:
    kind = next(name for name, cls in _KINDS.items() if isinstance(placed.entry, cls))
    return {"part": placed.part, "harnesses": placed.harnesses, "kind": kind, **asdict(placed.entry)}


def _receipt(document: Any) -> Receipt:
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']!r}")
    return Receipt(
        files=tuple(map(_file, _list(document["files"]))),
        sections=tuple(map(_section, _list(document["sections"]))),
        made_directories=tuple(map(_path, _list(document["madeDirectories"]))),
    )


def _file(record: Mapping[str, Any]) -> FileRecord:
    if record["syntax"] not in get_args(Syntax):
        raise ValueError(f"syntax {record['syntax']!r}")
    before = None if record["before"] is None else _hash(record["before"])
    placed = tuple(map(_placed, _list(record["placed"])))
    return FileRecord(_path(record["path"]), record["syntax"], before, _hash(record["after"]), placed)


def _section(record: Mapping[str, Any]) -> SectionRecord:
    before = None if record["before"] is None else _hash(record["before"])
    return SectionRecord(_path(record["path"]), before, _texts(record["harnesses"]))


def _placed(record: Mapping[str, Any]) -> Placed:
    part = None if record["part"] is None else Part(record["part"])
    attributes = {key: value for key, value in record.items() if key not in ("part", "harnesses", "kind")}
    for key in {"mark", "text"} & attributes.keys():
        _text(attributes[key])
    if "keys" in attributes:
        attributes["keys"] = _texts(attributes["keys"])
    return Placed(_KINDS[record["kind"]](**attributes), part, _texts(record["harnesses"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _list(values: Any) -> list[Any]:
    if not is_list(values):
        raise TypeError(f"{values!r} is no list")
    return values


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(values)))


def _path(value: Any) -> str:
    path = _text(value)
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is no absolute path")
    return path


def _hash(value: Any) -> str:
    digits = _text(value)
    if len(digits) != 64 or not set(digits) <= _DIGITS:
        raise ValueError(f"{digits!r} is no SHA-256")
    return digits
