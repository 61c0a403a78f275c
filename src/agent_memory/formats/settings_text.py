"""A settings file's bytes and the entries in it, whatever its syntax."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, assert_never

from returns.result import Failure, Result, Success

from agent_memory.domain.installing.wanted import Element, Member, Syntax
from agent_memory.formats.entry_values import Spot, named, says, value_with
from agent_memory.formats.jsonc import BOM, Child, Node, end_of_comments, end_of_line_comments, parse_jsonc
from agent_memory.formats.toml_edit import cut_toml, parse_toml, put_toml
from agent_memory.formats.yaml_edit import cut_yaml, parse_yaml, put_yaml
from agent_memory.results import sealed


def text_of(data: bytes) -> Result[str, str]:
    """The text of a settings file; in words why it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Failure(f"it is not UTF-8 text (byte {error.start})")
    return Failure("it holds the character \\0") if "\0" in text else Success(text)


def parse_settings(text: str, syntax: Syntax) -> Result[Any, str]:
    """The document's value; None for an empty one."""
    match syntax:
        case "jsonc":
            return parse_jsonc(text).map(lambda node: None if node is None else node.value)
        case "toml":
            return parse_toml(text)
        case "yaml":
            return parse_yaml(text)
        case "whole":
            return Success(text)
        case _ as never:
            assert_never(never)


def put(text: str, entry: Spot, syntax: Syntax) -> Result[str, str]:
    """The document with the entry in it; in words why it cannot hold it."""
    match syntax:
        case "jsonc":
            return put_json(text, entry)
        case "toml":
            return put_toml(text, _member(entry))
        case "yaml":
            return put_yaml(text, _member(entry))
        case _:
            raise TypeError(f"no entry can be put into a file that is {syntax}")


def cut(text: str, entry: Spot, syntax: Syntax, baseline: str | None) -> Result[str, str]:
    """The document without the entry; `baseline` is what it was before."""
    match syntax:
        case "jsonc":
            return cut_json(text, entry, baseline)
        case "toml":
            return cut_toml(text, _member(entry), baseline)
        case "yaml":
            return cut_yaml(text, _member(entry), baseline)
        case _:
            raise TypeError(f"no entry can be cut out of a file that is {syntax}")


def is_bare(text: str, syntax: Syntax) -> bool:
    """Whether a document holds nothing at all, not even a comment."""
    return is_bare_json(text) if syntax == "jsonc" else not text.strip()


def _member(entry: Spot) -> Member:
    if isinstance(entry, Element):
        raise TypeError("lists are edited in JSON only")
    return entry


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


Steps = tuple[int, ...]
"""A way through children, by their numbers."""


def cut_json(text: str, entry: Spot, baseline: str | None) -> Result[str, str]:
    """The document without this entry, however often it occurs, and without what `baseline` (the document before it was
    put in; None: there was no file) did not have above it. Unchanged where it is not there."""
    while True:
        match sealed(parse_jsonc(text)):
            case Failure(problem):
                return Failure(problem)
            case Success(root):
                if root is None:
                    return Success(text)
                path = _path_to(root, entry)
                if path is None:
                    return Success(text)
                cut = _cut_up(text, root, path, baseline)
                if isinstance(cut, Failure):
                    return cut
                text = cut.unwrap()


def is_bare_json(text: str) -> bool:
    """Whether a document holds nothing: no value and no comment."""
    match sealed(parse_jsonc(text)):
        case Success(None):
            return text.removeprefix(BOM).strip() == ""
        case Success(Node(children=(), kind="object") as root):
            around = text[: root.start].removeprefix(BOM) + text[root.start + 1 : root.end - 1] + text[root.end :]
            return around.strip() == ""
        case _:
            return False


def _path_to(root: Node, entry: Spot) -> Steps | None:
    """The way to what is to be cut: an entry of ours, or within an element that also holds others' the part of ours."""
    steps: list[int] = []
    node = root
    for key in entry.keys:
        number = next((n for n, each in enumerate(node.children) if each.key == key), None)
        if number is None or node.kind != "object":
            return None
        steps.append(number)
        node = node.children[number].node
    if isinstance(entry, Member):
        ours = node.value == entry.value or (entry.command is not None and says(node.value, entry.command))
        return tuple(steps) if ours else None
    if node.kind != "list":
        return None
    for number, each in enumerate(node.children):
        if each.node.value == entry.value:
            return (*steps, number)
        inner = None if entry.command is None else _within(each.node, entry.command)
        if inner is not None:
            return (*steps, number, *inner)
    return None


def _within(element: Node, command: str) -> Steps | None:
    """The way, inside an element, to the smallest part that is ours: () for the whole of it."""
    if element.kind == "object" and command in (each.node.value for each in element.children):
        return ()
    for number, member in enumerate(element.children):
        if member.node.kind != "list":
            continue
        for position, handler in enumerate(member.node.children):
            if handler.node.kind == "object" and command in (each.node.value for each in handler.node.children):
                return () if len(member.node.children) == 1 else (number, position)
    return None


def _cut_up(text: str, root: Node, path: Steps, baseline: str | None) -> Result[str, str]:
    """The text without what is at `path`, and then without what above it has become empty and was not there before."""
    before = _node_of(baseline)
    while True:
        cut = _cut(text, root, path)
        if isinstance(cut, Failure):
            return cut
        text, root = cut.unwrap()
        path = path[:-1]
        node = _at(root, path)
        keys = _keys_of(root, path)
        was = None if before is None else _standing(before, keys)
        if node.children or (was is not None and was.children):
            return Success(text)
        if was is not None and baseline is not None:
            return Success(_with_inside(text, node, baseline[was.start + 1 : was.end - 1]))
        if not path:
            return Success(_without_object(text, node, baseline))
        if text[node.start + 1 : node.end - 1].strip():
            return Success(text)  # a comment of somebody's


def _cut(text: str, root: Node, path: Steps) -> Result[tuple[str, Node], str]:
    container, number = _at(root, path[:-1]), path[-1]
    expected = copy.deepcopy(root.value)
    _forget(expected, root, path)
    for candidate in _cuts(text, container.children, number):
        found = _node_of(candidate)
        if found is not None and found.value == expected:
            return Success((candidate, found))
    return Failure("an entry could not be taken out without touching the rest")


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


def _forget(value: Any, root: Node, path: Steps) -> None:
    node = root
    for number in path[:-1]:
        child = node.children[number]
        value, node = value[child.key if child.key is not None else number], child.node
    last = node.children[path[-1]]
    del value[last.key if last.key is not None else path[-1]]


def _at(root: Node, path: Steps) -> Node:
    node = root
    for number in path:
        node = node.children[number].node
    return node


def _keys_of(root: Node, path: Steps) -> tuple[str | int, ...]:
    keys: list[str | int] = []
    node = root
    for number in path:
        child = node.children[number]
        keys.append(number if child.key is None else child.key)
        node = child.node
    return tuple(keys)


def _standing(root: Node, keys: tuple[str | int, ...]) -> Node | None:
    """What stood at these keys; a place in a list means nothing in another version of it."""
    node = root
    for key in keys:
        child = node.child(key) if isinstance(key, str) else None
        if child is None:
            return None
        node = child.node
    return node if node.kind != "scalar" else None


def _with_inside(text: str, node: Node, inside: str) -> str:
    """An empty container as it was, unless somebody has put a comment into it."""
    now = text[node.start + 1 : node.end - 1]
    if "".join(now.split()) != "".join(inside.split()):
        return text
    return text[: node.start + 1] + inside + text[node.end - 1 :]


def _without_object(text: str, node: Node, baseline: str | None) -> str:
    """The whole document where it was blank before, and is again."""
    around = text[: node.start] + text[node.start + 1 : node.end - 1] + text[node.end :]
    if baseline is not None and "".join(around.split()) == "".join(baseline.split()):
        return baseline
    return text


def _node_of(text: str | None) -> Node | None:
    parsed = Success(None) if text is None else parse_jsonc(text)
    return None if isinstance(parsed, Failure) else parsed.unwrap()
