"""A table put into a TOML document as its last, and cut out again, no other byte changed.

tomlkit finds and edits what cannot be done by appending or cutting text; every result is read by the strict parser of the
standard library and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from agent_memory.domain.installing.wanted import Member
from agent_memory.domain.json_shape import is_object
from agent_memory.formats.entry_values import BY_HAND, EditRefused, is_ours, line_end_of, named, value_at, value_with

BOM = "\ufeff"


def parse_toml(text: str) -> dict[str, Any]:
    """The document's value; EditRefused says what is wrong."""
    if text.startswith(BOM):
        raise EditRefused("it begins with a byte order mark, which TOML does not know")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
        raise EditRefused(f"{problem[:1].lower()}{problem[1:]}") from None
    except RecursionError:
        raise EditRefused("it is nested too deeply") from None


def put_toml(text: str, entry: Member) -> str:
    """The document with this table at its end; EditRefused where it cannot hold it."""
    value = parse_toml(text)
    for depth in range(1, len(entry.keys)):
        above = value_at(value, entry.keys[:depth])
        if above is not None and not is_object(above):
            raise EditRefused(f"{named(entry.keys[:depth])} is no table")
    if value_at(value, entry.keys) is not None:
        raise EditRefused(f"{named(entry.keys)} is there already")
    return _first_good(
        value_with(value, entry),
        lambda: text + _appended(text, entry),
        lambda: _with_inline_table(text, entry),
    )


def cut_toml(text: str, entry: Member, baseline: str | None) -> str:
    """The document without this table; unchanged where it is not there, or is somebody else's. `baseline` is the document
    from before it was put in, None where there was no file."""
    value = parse_toml(text)
    if not is_ours(value, entry):
        return text
    try:
        before = parse_toml(baseline or "")
    except EditRefused:
        before = {}
    expected = copy.deepcopy(value)
    _delete(expected, entry.keys, before)

    def edited() -> str:
        document: Any = tomlkit.parse(text)
        _delete(document, entry.keys, before)
        return tomlkit.dumps(document)

    whole, table = _appended(baseline or "", entry), _table(entry, line_end_of(baseline or ""))
    parts = [part for part in (whole, table) if text.count(part) == 1]
    return _first_good(expected, *(lambda part=part: text.replace(part, "") for part in parts), edited)


def _appended(text: str, entry: Member) -> str:
    """What is put behind a document: ends its last line, a blank line, the table."""
    line_end = line_end_of(text)
    start = "" if not text or text.endswith("\n") else line_end
    return start + (line_end if text.strip() else "") + _table(entry, line_end)


def _table(entry: Member, line_end: str) -> str:
    header = ".".join(each if _is_bare(each) else json.dumps(each) for each in entry.keys)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    return "".join(line + line_end for line in (f"[{header}]", *lines))


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("-", "").replace("_", "").isalnum()


def _with_inline_table(text: str, entry: Member) -> str:
    """For a document in which the table above is written in braces."""
    document: Any = tomlkit.parse(text)
    node = document
    for key in entry.keys[:-1]:
        node = node[key]
    table: Any = tomlkit.inline_table()
    table.update(entry.value)
    node[entry.keys[-1]] = table
    return tomlkit.dumps(document)


def _delete(document: Any, keys: tuple[str, ...], before: dict[str, Any]) -> None:
    """Take out what is at these keys, and the tables above that are empty then and were not there before."""
    while keys:
        node = document
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]
        keys = keys[:-1]
        if value_at(document, keys) or value_at(before, keys) is not None:
            return


def _first_good(expected: dict[str, Any], *candidates: Callable[[], str]) -> str:
    for candidate in candidates:
        try:
            text = candidate()
            if _comparable(parse_toml(text)) == _comparable(expected):
                return text
        except (EditRefused, TOMLKitError, KeyError, TypeError, ValueError, RecursionError):
            continue
    raise EditRefused(BY_HAND)


def _comparable(value: dict[str, Any]) -> str:
    """As text, since a NaN is not equal to itself."""
    return json.dumps(value, sort_keys=True, default=repr)
