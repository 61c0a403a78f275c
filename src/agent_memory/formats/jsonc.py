"""JSON with comments and trailing commas, as harnesses accept it in their settings: parsed into nodes that know their place
in the text, so that an edit can leave every other byte as it is.

A library that parses and prints anew would lose what a person wrote between the values; ours only ever cuts and inserts.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NoReturn

from attrs import frozen
from returns.result import Failure, Result, Success

MAX_DEPTH = 64
BOM = "\ufeff"

_BLANK = re.compile(r"[ \t\r\n]*")
_LINE_COMMENT = re.compile(r"//[^\r\n]*")
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?[A-Za-z0-9+.\-]+")


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

    def child(self, key: str) -> Child | None:
        """The member with this key."""
        return next((each for each in self.children if each.key == key), None)


class _RefusedError(ValueError):
    """Its text is the whole reason."""


def parse_jsonc(text: str) -> Result[Node | None, str]:
    """The document's node, None for a text without a value (blank, or comments alone); in words what is wrong."""
    reader = _Reader(text)
    try:
        reader.skip_blank()
        if reader.at == len(text):
            return Success(None)
        node = reader.value(0)
        reader.skip_blank()
        if reader.at != len(text):
            reader.refuse("more text follows the end of the document")
    except _RefusedError as error:
        return Failure(str(error))
    return Success(node)


def end_of_line_comments(text: str, at: int) -> int:
    """Behind the blanks and comments that follow `at` on the same line; `at` itself where there is no comment."""
    end = at
    while True:
        start = end
        while text[start : start + 1] in (" ", "\t"):
            start += 1
        found = _LINE_COMMENT.match(text, start) or _BLOCK_COMMENT.match(text, start)
        if found is None or "\n" in found[0]:
            return end
        end = found.end()


def end_of_comments(text: str, start: int, end: int) -> int | None:
    """Behind the last comment between two places that hold nothing but blanks and comments; None without a comment."""
    found, at = None, start
    while at < end:
        at = _blank_end(text, at)
        comment = _LINE_COMMENT.match(text, at) or _BLOCK_COMMENT.match(text, at)
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
        raise _RefusedError(f"line {line}, column {column}: {problem}")

    def skip_blank(self) -> None:
        while True:
            self.at = _blank_end(self.text, self.at)
            if not self.text.startswith("/", self.at):
                return
            comment = _LINE_COMMENT.match(self.text, self.at) or _BLOCK_COMMENT.match(self.text, self.at)
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
