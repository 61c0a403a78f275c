"""A table put into a TOML document as its last, or a mapping into one of a YAML document, and cut out again, no other byte
changed.

tomlkit and ruamel find what cannot be done by appending or cutting text; every result is read anew and must be the old value with
that one change.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

import tomlkit
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.tokens import AliasToken, AnchorToken
from tomlkit.exceptions import TOMLKitError

from agent_memory.domain.installing.plan import (
    BY_HAND,
    NOTHING,
    EditRefused,
    Member,
    at_keys,
    is_ours,
    line_end_of,
    named,
    value_at,
    value_with,
)
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.formats.yaml_block import line_end, node_end, pair_end

BOM = "\ufeff"

_UNFORESEEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError, TOMLKitError, YAMLError)
"""What the libraries end in besides their own errors: in YAML a list in a list as a key, an empty `!!int`, a `!!bool` that is
neither."""

Parser = Callable[[str], Any]
Candidate = Callable[[], str | None]
"""Makes the edited text in one way; None where it cannot."""


def put_toml(text: str, entry: Member) -> str:
    """The document with this table at its end; EditRefused where it cannot hold it."""
    expected = _value_with(parse_toml(text), entry, "table")
    return _first_good(
        parse_toml, expected, (lambda: text + _appended(text, entry), lambda: _with_inline_table(text, entry))
    )


def put_yaml(text: str, entry: Member) -> str:
    """The document with this member last in its mapping (of two keys: `extensions`, the name); EditRefused says why it cannot."""
    expected = _value_with(parse_yaml(text), entry, "mapping")

    def inserted() -> str | None:
        place = _place(text, entry)
        return None if place is None else text[: place[0]] + place[1] + text[place[0] :]

    return _first_good(parse_yaml, expected, (inserted,))


def cut_toml(text: str, entry: Member, baseline: str | None) -> str:
    """The document without this table; unchanged where it is not there, or is somebody else's. `baseline` is the document
    from before it was put in, None where there was no file."""

    def edited(before: Any) -> str:
        document: Any = tomlkit.parse(text)
        _delete(document, entry.keys, before)
        return tomlkit.dumps(document)

    parts = (_appended(baseline or "", entry), _table(entry, line_end_of(baseline or "")))
    return _cut(parse_toml, text, entry, baseline, parts, (edited,))


def cut_yaml(text: str, entry: Member, baseline: str | None) -> str:
    """The document without this member; see `cut_toml`."""
    place = _place(baseline or "", entry)
    parts = () if place is None else (place[1], place[1].lstrip("\r\n"))

    ways = (entry.keys, entry.keys[:1])  # the member, or the whole mapping

    def removal(keys: tuple[str, ...]) -> Callable[[Any], str | None]:
        return lambda _: _lines_removed(text, keys)

    return _cut(parse_yaml, text, entry, baseline, parts, map(removal, ways))


def _value_with(value: Any, entry: Member, kind: str) -> Any:
    for depth in range(len(entry.keys)):
        above = value_at(value, entry.keys[:depth])
        if above is not None and not is_object(above):
            raise EditRefused(f"{named(entry.keys[:depth])} is no {kind}")
    if value_at(value, entry.keys) is not None:
        raise EditRefused(f"{named(entry.keys)} is there already")
    document = dict(value or {})
    if document.get(entry.keys[0], NOTHING) is None:  # a key without a value, as a person leaves it in YAML
        document[entry.keys[0]] = {}
    return value_with(document, entry)


def _cut(
    parse: Parser,
    text: str,
    entry: Member,
    baseline: str | None,
    parts: Iterable[str],
    edits: Iterable[Callable[[Any], str | None]],
) -> str:
    """The text without one of `parts`, which were inserted into the baseline, where one occurs once; else by one of `edits`."""
    value = parse(text)
    if not is_ours(value, entry):
        return text
    try:
        before = parse(baseline or "")
    except EditRefused:
        before = None
    expected = copy.deepcopy(value)
    _delete(expected, entry.keys, before)
    removed = [lambda part=part: text.replace(part, "") for part in parts if text.count(part) == 1]
    return _first_good(parse, expected, (*removed, *(lambda edit=edit: edit(before) for edit in edits)))


def _delete(document: Any, keys: tuple[str, ...], before: Any) -> None:
    """Take out what is at these keys, and what is empty above it then and was not there before."""
    while keys:
        node = document
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]
        keys = keys[:-1]
        if value_at(document, keys) or at_keys(before, keys) is not NOTHING:
            return


def _first_good(parse: Parser, expected: Any, candidates: Iterable[Candidate]) -> str:
    for candidate in candidates:
        try:
            text = candidate()
            if text is not None and _comparable(parse(text)) == _comparable(expected):
                return text
        except (EditRefused, *_UNFORESEEN):
            continue
    raise EditRefused(BY_HAND)


def _comparable(value: Any) -> str:
    """As text, since a NaN is not equal to itself. A key of the document without a value and one with an empty mapping mean the
    same."""
    plain = {key: None if each == {} else each for key, each in value.items()} if is_object(value) else value
    return repr(_in_order(plain or None))


def _in_order(value: Any) -> Any:
    """With the members of every mapping in one order, whatever its keys are: in YAML also nothing, numbers, and lists."""
    if is_object(value):
        return tuple(sorted((repr(key), repr(_in_order(each))) for key, each in value.items()))
    return [_in_order(each) for each in value] if is_list(value) else value


# -- TOML -------------------------------------------------------------------------------------------------------------


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


# -- YAML -------------------------------------------------------------------------------------------------------------


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


def _place(text: str, entry: Member) -> tuple[int, str] | None:
    """Where the member goes, and the text that goes there."""
    ending = line_end_of(text)
    root = _composed(text)
    if root is not None and (not isinstance(root, MappingNode) or root.flow_style):
        return None
    members = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    lines, indent = [f"{entry.keys[1]}:", *members], "  "
    mapping = _member(root, entry.keys[0])
    if mapping is None:
        at = len(text) if root is None else line_end(text, node_end(root))
    else:
        key, value = mapping
        if isinstance(value, MappingNode) and value.flow_style:
            comma = ", " if value.value else ""
            return value.start_mark.index + 1, f"{lines[0]} {json.dumps(entry.value, ensure_ascii=False)}{comma}"
        if isinstance(value, MappingNode):
            at, indent = line_end(text, node_end(value)), " " * value.value[0][0].start_mark.column
        elif isinstance(value, ScalarNode) and value.start_mark.index == value.end_mark.index:
            at, indent = line_end(text, key.end_mark.index), " " * (key.start_mark.column + 2)
        else:
            return None
    ended = "" if not text[:at] or text[:at].endswith("\n") else ending
    head = f"{entry.keys[0]}:{ending}" if mapping is None else ""
    return at, ended + head + "".join(indent + line + ending for line in lines)


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
    return text[:start] + text[line_end(text, pair_end(*found)) :]


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _composed(text: str) -> Node | None:
    return _yaml().compose(text)


def _member(node: Node | None, key: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return next(
        ((each, value) for each, value in node.value if isinstance(each, ScalarNode) and each.value == key), None
    )
