"""Entries put into a JSON document, no other byte changed.

What is put in stands last in its list or object, in the document's own indentation and line ends. The result is parsed
anew: it must be the old value with that one change.
"""

from __future__ import annotations

import json
import re
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.domain.installing.wanted import Element, Member
from agent_memory.domain.results import sealed
from agent_memory.formats.entry_values import Spot, named, value_with
from agent_memory.formats.jsonc import BOM, Node, end_of_comments, end_of_line_comments, parse_jsonc

_KINDS = {"object": "an object", "list": "a list", "scalar": "a single value"}
_INDENT = re.compile(r"\n([ \t]+)\S")


def put_json(text: str, entry: Spot) -> Result[str, str]:
    """The document with this entry in it, behind all others; in words why it cannot hold it."""
    match sealed(parse_jsonc(text)):
        case Failure(problem):
            return Failure(problem)
        case Success(root):
            return put_json(_with_object(text), entry) if root is None else _put(text, root, entry)


def _put(text: str, root: Node, entry: Spot) -> Result[str, str]:
    node, missing = _deepest(root, entry.keys)
    there = entry.keys[: len(entry.keys) - len(missing)]
    if not missing and isinstance(entry, Member):
        return Failure(f"{named(there)} is there already")
    expected = "object" if missing else "list"
    if node.kind != expected:
        return Failure(f"{named(there)} is {_KINDS[node.kind]}, expected {_KINDS[expected]}")
    if not missing:
        return _checked(_with_child(text, node, None, entry.value), value_with(root.value, entry))
    value: Any = [entry.value] if isinstance(entry, Element) else entry.value
    for key in reversed(missing[1:]):
        value = {key: value}
    return _checked(_with_child(text, node, missing[0], value), value_with(root.value, entry))


def _checked(text: str, expected: Any) -> Result[str, str]:
    found = parse_jsonc(text).map(lambda node: None if node is None else node.value)
    return Success(text) if found == Success(expected) else Failure("it could not be edited without touching the rest")


def _with_object(text: str) -> str:
    """A text without a value, with an empty object behind what it has."""
    if text.removeprefix(BOM).strip() == "":
        return (BOM if text.startswith(BOM) else "") + "{}" + _line_end(text)
    return text + ("" if text.endswith("\n") else _line_end(text)) + "{}" + _line_end(text)


def _deepest(root: Node, keys: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
    """The node that is there of a path, and the keys that are not."""
    node = root
    for depth, key in enumerate(keys):
        child = node.child(key)
        if child is None:
            return node, keys[depth:]
        node = child.node
    return node, ()


def _with_child(text: str, container: Node, key: str | None, value: Any) -> str:
    unit, line_end = _unit(text), _line_end(text)
    inside = text[container.start + 1 : container.end - 1]
    if container.children:
        last = container.children[-1]
        if "\n" not in inside:
            inserted = ("" if last.comma is not None else ",") + f" {_rendered(key, value, None, '', '')}"
            at = last.node.end if last.comma is None else last.comma + 1
            return text[:at] + inserted + ("," if last.comma is not None else "") + text[at:]
        indent = _indent_at(text, last.start, container.start, unit)
        rendered = line_end + indent + _rendered(key, value, unit, indent, line_end)
        if last.comma is None:
            end = last.node.end
            at = end_of_line_comments(text, end)
            return text[:end] + "," + text[end:at] + rendered + text[at:]
        at = end_of_line_comments(text, last.comma + 1)
        return text[:at] + rendered + "," + text[at:]
    outer = _line_indent(text, container.start)
    indent = outer + unit
    at = end_of_comments(text, container.start + 1, container.end - 1) or container.start + 1
    closing = "" if "\n" in text[at : container.end - 1] else line_end + outer
    return text[:at] + line_end + indent + _rendered(key, value, unit, indent, line_end) + closing + text[at:]


def _rendered(key: str | None, value: Any, unit: str | None, indent: str, line_end: str) -> str:
    """A member or an element; on one line without a unit of indentation."""
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return "  " if found is None else "\t" if found[1].startswith("\t") else found[1] if len(found[1]) <= 8 else "  "


def _line_end(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _line_indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_at(text: str, at: int, container: int, unit: str) -> str:
    """The indentation of a child that begins its line; else one step deeper than its container's line."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
    return before if not before.strip(" \t") else _line_indent(text, container) + unit
