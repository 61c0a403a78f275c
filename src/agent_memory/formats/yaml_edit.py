"""A member put into a mapping of a YAML document, and cut out again, no other byte changed.

ruamel says where in the text a mapping ends; every result is read anew and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.tokens import AliasToken, AnchorToken

from agent_memory.domain.installing.wanted import Member
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.formats.entry_values import BY_HAND, EditRefused, is_ours, line_end_of, named, value_at, value_with

_UNFORESEEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What ruamel ends in besides its own errors: a list in a list as a key, an empty `!!int`, a `!!bool` that is neither."""


def parse_yaml(text: str) -> Any:
    """The document's value, None for an empty one; EditRefused says what is wrong. A document with anchors is refused: a few
    lines of them can stand for more than fits in memory."""
    try:
        for token in _yaml().scan(text):
            if isinstance(token, AnchorToken | AliasToken):
                raise EditRefused("it uses anchors (& or *), with which we do not edit it")
        return _yaml().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise EditRefused(where + str(getattr(error, "problem", None) or "it is no YAML")) from None
    except _UNFORESEEN:
        raise EditRefused("it is no YAML that can be read") from None


def put_yaml(text: str, entry: Member) -> str:
    """The document with this member last in its mapping (of two keys: `extensions`, the name); EditRefused says why it cannot."""
    value = parse_yaml(text)
    if value is not None and not is_object(value):
        raise EditRefused("the document is no mapping")
    mapping = entry.keys[0]
    above = value_at(value, (mapping,))
    if above is not None and not is_object(above):
        raise EditRefused(f"{mapping} is no mapping")
    if value_at(value, entry.keys) is not None:
        raise EditRefused(f"{named(entry.keys)} is there already")
    start = value or {}
    place = _place(text, entry)
    inserted = None if place is None else text[: place[0]] + place[1] + text[place[0] :]
    return _first_good((inserted,), value_with({**start, mapping: above or {}} if mapping in start else start, entry))


def cut_yaml(text: str, entry: Member, baseline: str | None) -> str:
    """The document without this member; unchanged where it is not there, or is somebody else's. `baseline` is the document
    from before it was put in, None where there was no file."""
    value = parse_yaml(text)
    if not is_ours(value, entry):
        return text
    try:
        before = parse_yaml(baseline or "")
    except EditRefused:
        before = None
    mapping = entry.keys[0]
    expected = copy.deepcopy(value)
    del expected[mapping][entry.keys[1]]
    goes_too = not expected[mapping] and not (is_object(before) and mapping in before)
    if goes_too:
        del expected[mapping]
    candidates = [*_texts_removed(text, entry, baseline or ""), _lines_removed(text, entry.keys)]
    if goes_too:
        candidates.append(_lines_removed(text, (mapping,)))
    return _first_good(candidates, expected)


# -- texts ------------------------------------------------------------------------------------------------------------


def _texts_removed(text: str, entry: Member, baseline: str) -> tuple[str, ...]:
    """The text without exactly what was inserted into the baseline, where that occurs once."""
    place = _place(baseline, entry)
    if place is None:
        return ()
    parts = dict.fromkeys((place[1], place[1].lstrip("\r\n")))
    return tuple(text.replace(part, "") for part in parts if text.count(part) == 1)


def _place(text: str, entry: Member) -> tuple[int, str] | None:
    """Where the member goes, and the text that goes there."""
    line_end = line_end_of(text)
    root = _composed(text)
    if root is not None and (not isinstance(root, MappingNode) or root.flow_style):
        return None
    mapping = _member(root, entry.keys[0])
    if mapping is None:
        lines = (f"{entry.keys[0]}:", *_lines(entry, "  "))
        at = len(text) if root is None else _line_after(text, root)
        ended = "" if not text[:at] or text[:at].endswith("\n") else line_end
        return at, ended + "".join(line + line_end for line in lines)
    key, value = mapping
    if isinstance(value, MappingNode) and value.flow_style:
        comma = ", " if value.value else ""
        flow = f"{entry.keys[1]}: {json.dumps(entry.value, ensure_ascii=False)}{comma}"
        return value.start_mark.index + 1, flow
    if isinstance(value, MappingNode):
        indent = " " * value.value[0][0].start_mark.column
    elif isinstance(value, ScalarNode) and value.start_mark.index == value.end_mark.index:
        indent = " " * (key.start_mark.column + 2)
    else:
        return None
    at = _line_after(text, value) if isinstance(value, MappingNode) else _next_line(text, key.end_mark.index)
    ended = "" if text[:at].endswith("\n") else line_end
    return at, ended + "".join(line + line_end for line in _lines(entry, indent))


def _lines(entry: Member, indent: str) -> tuple[str, ...]:
    members = (f"{indent}  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items())
    return (f"{indent}{entry.keys[1]}:", *members)


def _lines_removed(text: str, keys: tuple[str, ...]) -> str | None:
    """The text without the lines of a member in block style."""
    node: Node | None = _composed(text)
    found: tuple[Node, Node] | None = None
    for key in keys:
        found = _member(node, key)
        if found is None:
            return None
        node = found[1]
    if found is None:
        return None
    start = text.rfind("\n", 0, found[0].start_mark.index) + 1
    if text[start : found[0].start_mark.index].strip(" "):
        return None
    return text[:start] + text[_line_after(text, found[1]) :]


def _line_after(text: str, node: Node) -> int:
    """The beginning of the line behind the last that a node has content on."""
    end = node.end_mark.index
    content = len(_without_comments(text[:end]))
    return _next_line(text, max(content, node.start_mark.index))


def _without_comments(text: str) -> str:
    """Without the blank lines and comment lines at the end, which a block mapping's end takes in."""
    lines = text.splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip("\r\n")


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


# -- nodes ------------------------------------------------------------------------------------------------------------


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _composed(text: str) -> Node | None:
    return _yaml().compose(StringIO(text))


def _member(node: Node | None, key: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return next(
        ((each, value) for each, value in node.value if isinstance(each, ScalarNode) and each.value == key), None
    )


def _first_good(candidates: Iterable[str | None], expected: Any) -> str:
    for candidate in candidates:
        try:
            if candidate is not None and _comparable(parse_yaml(candidate)) == _comparable(expected or None):
                return candidate
        except EditRefused:
            continue
    raise EditRefused(BY_HAND)


def _comparable(value: Any) -> str:
    """As text. A key without a value and one with an empty mapping mean the same."""
    plain = {key: None if each == {} else each for key, each in value.items()} if is_object(value) else value
    return repr(_in_order(plain or None))


def _in_order(value: Any) -> Any:
    """With the members of every mapping in one order, whatever its keys are: in YAML also nothing, numbers, and lists."""
    if is_object(value):
        return tuple(sorted((repr(key), repr(_in_order(each))) for key, each in value.items()))
    return [_in_order(each) for each in value] if is_list(value) else value
