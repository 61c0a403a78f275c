"""Entries cut out of a JSON document again, no other byte changed.

What is cut takes with it the comma that it needed, and the lists and objects that were made for it. The result of each
cut is parsed anew: it must be the old value without that one entry.
"""

from __future__ import annotations

import copy
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.domain.installing.wanted import Member
from agent_memory.domain.results import sealed
from agent_memory.formats.entry_values import Spot, says
from agent_memory.formats.jsonc import BOM, Child, Node, parse_jsonc

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
