"""JSON with comments and trailing commas, as harnesses accept it in their settings: an entry put in and cut out again, every
other byte as it was.

A library that parses and prints anew would lose what a person wrote between the values; ours only ever cuts and inserts. Every
result is read anew and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any, Literal, NoReturn

from attrs import frozen

from agent_memory.domain.installing.wanted import Element, Member
from agent_memory.formats.entry_values import BY_HAND, EditRefused, Spot, line_end_of, named, says, value_with

MAX_DEPTH = 64
BOM = "\ufeff"

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?[A-Za-z0-9+.\-]+")
_INDENT = re.compile(r"\n([ \t]+)\S")
_KINDS = {"object": "an object", "list": "a list", "scalar": "a single value"}

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
    reader = _Reader(text)
    reader.skip_blank()
    if reader.at == len(text):
        return None
    node = reader.value(0)
    reader.skip_blank()
    if reader.at != len(text):
        reader.refuse("more text follows the end of the document")
    return node


def is_bare_json(text: str) -> bool:
    """Whether a document holds nothing: no value and no comment."""
    try:
        root = parse_jsonc(text)
    except EditRefused:
        return False
    if root is None:
        return not text.removeprefix(BOM).strip()
    if root.kind != "object" or root.children:
        return False
    return not (text[: root.start].removeprefix(BOM) + text[root.start + 1 : root.end - 1] + text[root.end :]).strip()


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
    if _value_of(written) != value_with(root.value, entry):
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
            at = _end_of_line_comments(text, end)
            return text[:end] + "," + text[end:at] + rendered + text[at:]
        at = _end_of_line_comments(text, last.comma + 1)
        return text[:at] + rendered + "," + text[at:]
    outer = _line_indent(text, container.start)
    indent = outer + unit
    at = _end_of_comments(text, container.start + 1, container.end - 1) or container.start + 1
    closing = "" if "\n" in text[at : container.end - 1] else line_end + outer
    return text[:at] + line_end + indent + _rendered(key, value, unit, indent, line_end) + closing + text[at:]


def _rendered(key: str | None, value: Any, unit: str | None, indent: str, line_end: str) -> str:
    """A member or an element; on one line without a unit of indentation."""
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return "  " if found is None else "\t" if found[1].startswith("\t") else found[1] if len(found[1]) <= 8 else "  "


def _line_indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_at(text: str, at: int, container: int, unit: str) -> str:
    """The indentation of a child that begins its line; else one step deeper than its container's line."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
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
    container, _ = root.at(keys[:-1])
    number = container.number(keys[-1])
    expected = copy.deepcopy(root.value)
    inner = expected
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    for candidate in _cuts(text, container.children, number or 0):
        found = _parsed_or_none(candidate)
        if found is not None and found.value == expected:
            return candidate, found
    raise EditRefused("an entry could not be taken out without touching the rest")


def _cuts(text: str, children: tuple[Child, ...], number: int) -> tuple[str, ...]:
    """The text without a child: with the blanks before it gone, and, for the case that these end a comment, kept."""
    child = children[number]
    blank = len(text[: child.start].rstrip(" \t\r\n"))
    end = child.node.end if child.comma is None else child.comma + 1
    between = text[child.node.end : end].removesuffix(",") if child.comma is not None else ""
    before = children[number - 1].comma if child.comma is None and number else None

    def without(start: int) -> str:
        head = text[:start] if before is None else text[:before] + text[before + 1 : start]
        return head + between + text[end:]

    return without(blank), without(child.start)


def _unspaced(text: str) -> str:
    return "".join(text.split())


# -- reading ----------------------------------------------------------------------------------------------------------


def _parsed_or_none(text: str | None) -> Node | None:
    try:
        return None if text is None else parse_jsonc(text)
    except EditRefused:
        return None


def _value_of(text: str) -> Any:
    root = _parsed_or_none(text)
    return None if root is None else root.value


def _end_of_line_comments(text: str, at: int) -> int:
    """Behind the blanks and comments that follow `at` on the same line; `at` itself where there is no comment."""
    end = at
    while True:
        start = end
        while text[start : start + 1] in (" ", "\t"):
            start += 1
        found = _COMMENT.match(text, start)
        if found is None or "\n" in found[0]:
            return end
        end = found.end()


def _end_of_comments(text: str, start: int, end: int) -> int | None:
    """Behind the last comment between two places that hold nothing but blanks and comments; None without a comment."""
    found, at = None, start
    while at < end:
        at = _blank_end(text, at)
        comment = _COMMENT.match(text, at)
        if comment is None or comment.end() > end:
            break
        found = at = comment.end()
    return found


def _blank_end(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(BOM) if text.startswith(BOM) else 0

    def refuse(self, problem: str) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        raise EditRefused(f"line {line}, column {column}: {problem}")

    def skip_blank(self) -> None:
        while True:
            self.at = _blank_end(self.text, self.at)
            if not self.text.startswith("/", self.at):
                return
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                self.refuse("a comment that has no end")
            self.at = comment.end()

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.refuse("it is nested too deeply")
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._container("object", "}", depth)
            case "[":
                return self._container("list", "]", depth)
            case '"':
                start = self.at
                return Node("scalar", start, self._string_end(), self._literal(start))
            case _:
                return self._word()

    def _container(self, kind: Literal["object", "list"], closing: str, depth: int) -> Node:
        start, children = self.at, list[Child]()
        self.at += 1
        self.skip_blank()
        while not self.text.startswith(closing, self.at):
            if children and children[-1].comma is None:
                self.refuse(f"expected , or {closing}")
            children.append(self._child(kind, depth))
        self.at += 1
        if kind == "list":
            return Node(kind, start, self.at, [each.node.value for each in children], tuple(children))
        members = {each.key: each.node.value for each in children}
        if len(members) < len(children):
            self.refuse("a key occurs twice in the object that ends here")
        return Node(kind, start, self.at, members, tuple(children))

    def _child(self, kind: str, depth: int) -> Child:
        start, key = self.at, None
        if kind == "object":
            if not self.text.startswith('"', self.at):
                self.refuse("expected a key in double quotes")
            self._string_end()
            key = self._literal(start)
            self.skip_blank()
            if not self.text.startswith(":", self.at):
                self.refuse("expected a colon")
            self.at += 1
            self.skip_blank()
        node = self.value(depth + 1)
        self.skip_blank()
        comma = self.at if self.text.startswith(",", self.at) else None
        if comma is not None:
            self.at += 1
            self.skip_blank()
        return Child(key, start, node, comma)

    def _string_end(self) -> int:
        found = _STRING.match(self.text, self.at)
        if found is None:
            self.refuse("a string that has no end, or holds a control character")
        self.at = found.end()
        return self.at

    def _word(self) -> Node:
        start, found = self.at, _WORD.match(self.text, self.at)
        if found is None:
            self.refuse("expected a value")
        self.at = found.end()
        try:
            value = json.loads(found[0], parse_constant=self._no_constant)
        except ValueError:
            self.at = start
            self.refuse(f"{found[0][:40]!r} is no value")
        return Node("scalar", start, self.at, value)

    def _no_constant(self, name: str) -> NoReturn:
        raise ValueError(name)

    def _literal(self, start: int) -> Any:
        try:
            return json.loads(self.text[start : self.at])
        except ValueError:
            self.at = start
            self.refuse("a string with an escape that is none")
