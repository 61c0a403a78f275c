"""JSON with comments and trailing commas, as harnesses accept it in their settings: an entry put in and cut out again, every
other byte as it was.

A library that parses and prints anew would lose what a person wrote between the values; ours only ever cuts and inserts. Every
result is read anew and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
import re
from json.decoder import JSONDecoder
from typing import Any, Literal

from attrs import frozen

from agent_memory.domain.installing.plan import (
    BY_HAND,
    EditRefused,
    Element,
    Member,
    Spot,
    line_end_of,
    named,
    says,
    value_with,
)
from agent_memory.formats.strict_json import MAX_DEPTH, NotJson, load_json

BOM = "\ufeff"

_COMMENT = r"//[^\r\n]*|/\*.*?\*/"
_STRING_OR_COMMENT = re.compile(rf'("(?:[^"\\]|\\.)*")|{_COMMENT}', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_COMMENTS = re.compile(rf"(?:\s*(?:{_COMMENT}))*", re.DOTALL)
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/))*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_KINDS = {"object": "an object", "list": "a list", "scalar": "a single value"}

_PROBLEMS = {
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Expecting value": "expected a value",
    "Expecting ':' delimiter": "expected a colon",
    "Expecting ',' delimiter": "expected a comma or the end",
    "Extra data": "more text follows the end of the document",
}
"""In place of the words of the standard parser."""

Keys = tuple[str | int, ...]
"""A way through a document: keys of objects, and places in lists."""


@frozen
class Child:
    """A member of an object or an element of a list."""

    key: str | None
    start: int
    """Of the key, or of the value in a list."""
    node: Node
    comma: int | None
    """Where the comma behind it is."""


@frozen
class Node:
    """A value and its place: `text[start:end]`."""

    kind: Literal["object", "list", "scalar"]
    start: int
    end: int
    value: Any
    children: tuple[Child, ...] = ()

    def number(self, key: str | int) -> int | None:
        """Which of the children has this key, or is at this place of a list."""
        if isinstance(key, int):
            return key if self.kind == "list" and key < len(self.children) else None
        return next((number for number, each in enumerate(self.children) if each.key == key), None)

    def at(self, keys: Keys) -> tuple[Node, Keys]:
        """The deepest node on this way, and the keys that are not there."""
        number = self.number(keys[0]) if keys else None
        return (self, keys) if number is None else self.children[number].node.at(keys[1:])


def parse_jsonc(text: str) -> Node | None:
    """The document's node, None for a text without a value (blank, or comments alone). EditRefused says what is wrong."""
    blanked = _STRING_OR_COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
    if blanked.startswith(BOM):
        blanked = " " + blanked[1:]
    if not blanked.strip():
        return None
    try:
        load_json(_STRING_OR_LAST_COMMA.sub(lambda found: found[1] or " ", blanked))
        return _node(blanked, _behind_blanks(blanked, 0), 0)
    except NotJson as error:
        cause = error.__cause__
        if not isinstance(cause, json.JSONDecodeError):
            raise EditRefused(str(error)) from None
        problem = _PROBLEMS.get(cause.msg, f"{cause.msg[:1].lower()}{cause.msg[1:]}")
        raise EditRefused(f"line {cause.lineno}, column {cause.colno}: {problem}") from None


def _node(text: str, start: int, depth: int) -> Node:
    """The node that begins here, in a document that is JSON but for trailing commas."""
    if depth > MAX_DEPTH:
        raise NotJson("not JSON: nested too deeply")
    if text[start] not in "{[":
        value, end = JSONDecoder().raw_decode(text, start)
        return Node("scalar", start, end, value)
    children: list[Child] = []
    at = _behind_blanks(text, start + 1)
    if text[at] == ",":
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise EditRefused(f"line {line}, column {column}: expected a value before the comma")
    while text[at] not in "}]":
        begin, key = at, None
        if text[start] == "{":
            key, at = JSONDecoder().raw_decode(text, at)
            at = _behind_blanks(text, _behind_blanks(text, at) + 1)
        node = _node(text, at, depth + 1)
        at = _behind_blanks(text, node.end)
        comma = at if text[at] == "," else None
        at = at if comma is None else _behind_blanks(text, at + 1)
        children.append(Child(key, begin, node, comma))
    if text[start] == "[":
        return Node("list", start, at + 1, [each.node.value for each in children], tuple(children))
    return Node("object", start, at + 1, {each.key: each.node.value for each in children}, tuple(children))


def _behind_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _parsed_or_none(text: str | None) -> Node | None:
    try:
        return None if text is None else parse_jsonc(text)
    except EditRefused:
        return None


# -- put in -----------------------------------------------------------------------------------------------------------


def put_json(text: str, entry: Spot) -> str:
    """The document with this entry in it, behind all others; EditRefused where it cannot hold it."""
    root = parse_jsonc(text)
    if root is None:
        return put_json(_with_object(text), entry)
    node, missing = root.at(entry.keys)
    there = entry.keys[: len(entry.keys) - len(missing)]
    if not missing and isinstance(entry, Member):
        raise EditRefused(f"{named(there)} is there already")
    expected = "object" if missing else "list"
    if node.kind != expected:
        raise EditRefused(f"{named(there)} is {_KINDS[node.kind]}, expected {_KINDS[expected]}")
    key, value = None, entry.value
    if missing:
        value = [entry.value] if isinstance(entry, Element) else entry.value
        for each in reversed(missing[1:]):
            value = {each: value}
        key = str(missing[0])
    written = _with_child(text, node, key, value)
    found = _parsed_or_none(written)
    if found is None or found.value != value_with(root.value, entry):
        raise EditRefused(BY_HAND)
    return written


def _with_object(text: str) -> str:
    """A text without a value, with an empty object behind what it has."""
    line_end = line_end_of(text)
    if not text.removeprefix(BOM).strip():
        return (BOM if text.startswith(BOM) else "") + "{}" + line_end
    return text + ("" if text.endswith("\n") else line_end) + "{}" + line_end


def _with_child(text: str, container: Node, key: str | None, value: Any) -> str:
    unit, line_end = _unit(text), line_end_of(text)
    inside_end = container.end - 1
    if not container.children:
        outer = _line_indent(text, container.start)
        at = _COMMENTS.match(text, container.start + 1, inside_end).end()  # type: ignore[union-attr] # it matches anything
        closing = "" if "\n" in text[at:inside_end] else line_end + outer
        rendered = line_end + outer + unit + _rendered(key, value, unit, outer + unit, line_end)
        return text[:at] + rendered + closing + text[at:]
    last = container.children[-1]
    before, behind = (",", "") if last.comma is None else ("", ",")
    end = last.node.end if last.comma is None else last.comma + 1
    if "\n" not in text[container.start : inside_end]:
        return text[:end] + f"{before} {_rendered(key, value, None, '', '')}{behind}" + text[end:]
    indent = _indent_at(text, last.start, container.start, unit)
    at = _COMMENTS_ON_LINE.match(text, end).end()  # type: ignore[union-attr] # it matches anything
    rendered = line_end + indent + _rendered(key, value, unit, indent, line_end)
    return text[:end] + before + text[end:at] + rendered + behind + text[at:]


def _rendered(key: str | None, value: Any, unit: str | None, indent: str, line_end: str) -> str:
    """A member or an element; on one line without a unit of indentation."""
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return "  " if found is None else "\t" if found[1].startswith("\t") else found[1] if len(found[1]) <= 8 else "  "


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_at(text: str, at: int, container: int, unit: str) -> str:
    """The indentation of a child that begins its line; else one step deeper than its container's line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip(" \t") else _line_indent(text, container) + unit


# -- cut out ----------------------------------------------------------------------------------------------------------


def cut_json(text: str, entry: Spot, baseline: str | None) -> str:
    """The document without this entry, however often it occurs, and without what `baseline` (the document before it was
    put in; None: there was no file) did not have above it. Unchanged where it is not there."""
    while True:
        root = parse_jsonc(text)
        keys = None if root is None else _keys_of(root, entry)
        if root is None or keys is None:
            return text
        text = _cut_up(text, root, keys, baseline)


def _keys_of(root: Node, entry: Spot) -> Keys | None:
    """The way to what is to be cut: an entry of ours, or within an element that also holds others' the part of ours."""
    node, missing = root.at(entry.keys)
    if missing:
        return None
    if isinstance(entry, Member):
        ours = node.value == entry.value or (entry.command is not None and says(node.value, entry.command))
        return entry.keys if ours else None
    if node.kind != "list":
        return None
    for number, each in enumerate(node.children):
        if each.node.value == entry.value:
            return (*entry.keys, number)
        inner = None if entry.command is None else _within(each.node, entry.command)
        if inner is not None:
            return (*entry.keys, number, *inner)
    return None


def _within(element: Node, command: str) -> Keys | None:
    """The way, inside an element, to the smallest part that is ours: () for the whole of it."""
    if _has_command(element, command):
        return ()
    for number, member in enumerate(element.children):
        if member.node.kind != "list":
            continue
        for position, handler in enumerate(member.node.children):
            if _has_command(handler.node, command):
                key = number if member.key is None else member.key
                return () if len(member.node.children) == 1 else (key, position)
    return None


def _has_command(node: Node, command: str) -> bool:
    return node.kind == "object" and command in (each.node.value for each in node.children)


def _cut_up(text: str, root: Node, keys: Keys, baseline: str | None) -> str:
    """The text without what is at these keys, and then without what above it has become empty and was not there before."""
    before = _parsed_or_none(baseline)
    while True:
        text, root = _cut(text, root, keys)
        keys = keys[:-1]
        node, _ = root.at(keys)
        was = None
        if before is not None and all(isinstance(key, str) for key in keys):  # a place in a list means nothing there
            found, missing = before.at(keys)
            was = None if missing or found.kind == "scalar" else found
        if node.children or (was is not None and was.children):
            return text
        inside = text[node.start + 1 : node.end - 1]
        if was is not None and baseline is not None:
            restored = baseline[was.start + 1 : was.end - 1]
            same = _unspaced(inside) == _unspaced(restored)  # else somebody has put a comment into it
            return text[: node.start + 1] + restored + text[node.end - 1 :] if same else text
        if not keys:
            around = text[: node.start] + inside + text[node.end :]
            return baseline if baseline is not None and _unspaced(around) == _unspaced(baseline) else text
        if inside.strip():
            return text  # a comment of somebody's


def _cut(text: str, root: Node, keys: Keys) -> tuple[str, Node]:
    """The text without what is at these keys, with the blanks before it gone, or kept where these end a comment."""
    container, _ = root.at(keys[:-1])
    number = container.number(keys[-1]) or 0
    expected = inner = copy.deepcopy(root.value)
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    child = container.children[number]
    end = child.node.end if child.comma is None else child.comma + 1
    between = "" if child.comma is None else text[child.node.end : child.comma]
    before = container.children[number - 1].comma if child.comma is None and number else None
    for start in (len(text[: child.start].rstrip(" \t\r\n")), child.start):
        head = text[:start] if before is None else text[:before] + text[before + 1 : start]
        candidate = head + between + text[end:]
        found = _parsed_or_none(candidate)
        if found is not None and found.value == expected:
            return candidate, found
    raise EditRefused(BY_HAND)


def _unspaced(text: str) -> str:
    return "".join(text.split())
