"""The receipt of setup as text: one JSON object of version 1, its keys the camelCase of the attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from returns.result import Failure, Result, Success

from agent_memory.domain.installing.receipt import FileRecord, Placed, Receipt, SectionRecord
from agent_memory.domain.installing.wanted import Element, Entry, Member, Part, Whole
from agent_memory.domain.json_shape import is_list
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

VERSION = 1
_SYNTAXES = ("jsonc", "toml", "yaml", "whole")


def render_receipt(receipt: Receipt) -> bytes:
    """JSON with a line end."""
    document = {
        "version": VERSION,
        "files": [
            {
                "path": each.path,
                "syntax": each.syntax,
                "before": each.before,
                "after": each.after,
                "placed": [_placed_document(placed) for placed in each.placed],
            }
            for each in receipt.files
        ],
        "sections": [
            {
                "path": each.path,
                "before": each.before,
                "harnesses": list(each.harnesses),
            }
            for each in receipt.sections
        ],
        "madeDirectories": list(receipt.made_directories),
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def parse_receipt(data: bytes, path: str) -> Result[Receipt, StateCorrupt]:
    """What `render_receipt` wrote; anything else is StateCorrupt."""
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success(document):
            try:
                return Success(_receipt(document))
            except (KeyError, TypeError, ValueError) as error:
                problem = f"it is no receipt of version {VERSION} ({type(error).__name__}: {error})"
                return Failure(StateCorrupt(path, (problem,)))


def _placed_document(placed: Placed) -> dict[str, Any]:
    return {
        "part": None if placed.part is None else placed.part.value,
        "harnesses": list(placed.harnesses),
        **_entry_document(placed.entry),
    }


def _entry_document(entry: Entry) -> dict[str, Any]:
    match entry:
        case Element(keys, value, command, mark):
            return {"kind": "element", "keys": list(keys), "value": value, "command": command, "mark": mark}
        case Member(keys, value, command, optional, stays):
            return {
                "kind": "member",
                "keys": list(keys),
                "value": value,
                "command": command,
                "optional": optional,
                "stays": stays,
            }
        case Whole(text):
            return {"kind": "whole", "text": text}
        case _ as never:
            assert_never(never)


def _receipt(document: Any) -> Receipt:
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']!r}")
    return Receipt(
        files=tuple(map(_file, _list(document["files"]))),
        sections=tuple(map(_section, _list(document["sections"]))),
        made_directories=tuple(map(_path, _list(document["madeDirectories"]))),
    )


def _file(record: Mapping[str, Any]) -> FileRecord:
    if record["syntax"] not in _SYNTAXES:
        raise ValueError(f"syntax {record['syntax']!r}")
    return FileRecord(
        path=_path(record["path"]),
        syntax=record["syntax"],
        before=_hash_or_none(record["before"]),
        after=_hash(record["after"]),
        placed=tuple(map(_placed, _list(record["placed"]))),
    )


def _section(record: Mapping[str, Any]) -> SectionRecord:
    return SectionRecord(
        path=_path(record["path"]),
        before=_hash_or_none(record["before"]),
        harnesses=_texts(record["harnesses"]),
    )


def _placed(record: Mapping[str, Any]) -> Placed:
    part = None if record["part"] is None else Part(record["part"])
    return Placed(_entry(record), part, _texts(record["harnesses"]))


def _entry(record: Mapping[str, Any]) -> Entry:
    match record["kind"]:
        case "element":
            return Element(_texts(record["keys"]), record["value"], record["command"], _text(record["mark"]))
        case "member":
            optional, stays = record["optional"] is True, record["stays"] is True
            return Member(_texts(record["keys"]), record["value"], record["command"], optional, stays)
        case "whole":
            return Whole(_text(record["text"]))
        case kind:
            raise ValueError(f"kind {kind!r}")


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
    if len(digits) != 64 or not set(digits) <= set("0123456789abcdef"):
        raise ValueError(f"{digits!r} is no SHA-256")
    return digits


def _hash_or_none(value: Any) -> str | None:
    return None if value is None else _hash(value)
