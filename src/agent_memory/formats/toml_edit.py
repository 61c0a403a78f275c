"""A table put into a TOML document as its last, and cut out again, no other byte changed.

tomlkit finds and edits what cannot be done by appending or cutting text; every result is read by the strict parser of the
standard library and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
import tomllib
from typing import Any

import tomlkit
from returns.result import Failure, Result, Success
from tomlkit.exceptions import TOMLKitError

from agent_memory.domain.installing.wanted import Member
from agent_memory.domain.json_shape import is_object
from agent_memory.formats.entry_values import named, says, value_at, value_with

BOM = "\ufeff"


def parse_toml(text: str) -> Result[dict[str, Any], str]:
    """The document's value, or in words what is wrong."""
    if text.startswith(BOM):
        return Failure("it begins with a byte order mark, which TOML does not know")
    try:
        return Success(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
        return Failure(f"{problem[:1].lower()}{problem[1:]}")
    except RecursionError:
        return Failure("it is nested too deeply")


def put_toml(text: str, entry: Member) -> Result[str, str]:
    """The document with this table at its end; in words why it cannot hold it."""

    def put(value: dict[str, Any]) -> Result[str, str]:
        for depth in range(1, len(entry.keys)):
            above = value_at(value, entry.keys[:depth])
            if above is not None and not is_object(above):
                return Failure(f"{named(entry.keys[:depth])} is no table")
        if value_at(value, entry.keys) is not None:
            return Failure(f"{named(entry.keys)} is there already")
        return _first_good((text + _appended(text, entry), _set(text, entry)), value_with(value, entry))

    return parse_toml(text).bind(put)


def cut_toml(text: str, entry: Member, baseline: str | None) -> Result[str, str]:
    """The document without this table; unchanged where it is not there, or is somebody else's. `baseline` is the document
    from before it was put in, None where there was no file."""

    def cut(value: dict[str, Any]) -> Result[str, str]:
        ours = value_at(value, entry.keys)
        if ours is None or (ours != entry.value and not (entry.command is not None and says(ours, entry.command))):
            return Success(text)
        before = parse_toml(baseline or "").value_or(dict[str, Any]())
        expected = _without(value, entry.keys, before)
        whole, table = _appended(baseline or "", entry), _table(entry).replace("\n", _line_end(baseline or ""))
        candidates = [text.replace(part, "") for part in (whole, table) if text.count(part) == 1]
        return _first_good((*candidates, _deleted(text, entry, before)), expected)

    return parse_toml(text).bind(cut)


def _appended(text: str, entry: Member) -> str:
    """What is put behind a document: ends its last line, a blank line, the table."""
    line_end = _line_end(text)
    start = "" if not text or text.endswith("\n") else line_end
    blank = line_end if text.strip() else ""
    return start + blank + _table(entry).replace("\n", line_end)


def _table(entry: Member) -> str:
    header = ".".join(each if _is_bare(each) else json.dumps(each) for each in entry.keys)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    return f"[{header}]\n" + "".join(f"{line}\n" for line in lines)


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("-", "").replace("_", "").isalnum()


def _set(text: str, entry: Member) -> str | None:
    """For a document in which the table above is written in braces."""
    try:
        document: Any = tomlkit.parse(text)
        node = document
        for key in entry.keys[:-1]:
            node = node[key]
        table: Any = tomlkit.inline_table()
        table.update(entry.value)
        node[entry.keys[-1]] = table
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _deleted(text: str, entry: Member, before: dict[str, Any]) -> str | None:
    """For a table that somebody has edited or moved."""
    try:
        document: Any = tomlkit.parse(text)
        keys = entry.keys
        while keys:
            node = document
            for key in keys[:-1]:
                node = node[key]
            del node[keys[-1]]
            keys = keys[:-1]
            if not keys or value_at(document.unwrap(), keys) or value_at(before, keys) is not None:
                break
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _without(value: dict[str, Any], keys: tuple[str, ...], before: dict[str, Any]) -> dict[str, Any]:
    """The value without these keys, and without the tables above that are empty then and were not there before."""
    result = copy.deepcopy(value)
    while keys:
        node = result
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]
        keys = keys[:-1]
        if value_at(result, keys) or value_at(before, keys) is not None:
            break
    return result


def _first_good(candidates: tuple[str | None, ...], expected: dict[str, Any]) -> Result[str, str]:
    for candidate in candidates:
        if candidate is not None and parse_toml(candidate).map(_comparable) == Success(_comparable(expected)):
            return Success(candidate)
    return Failure("it could not be edited without touching the rest")


def _comparable(value: dict[str, Any]) -> str:
    """As text, since a NaN is not equal to itself."""
    return json.dumps(value, sort_keys=True, default=repr)


def _line_end(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
