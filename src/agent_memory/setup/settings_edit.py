"""Puts an entry into a settings document, or cuts it out again, with every other byte as it was: JSON with comments and
trailing commas, as harnesses accept it, TOML and YAML.

A library that parses and prints again would lose what a person wrote between the values; this only ever cuts and
inserts. Every result is parsed and must be the old value with that one change.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from json.decoder import JSONDecoder
from typing import Any

from attrs import evolve, frozen
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.tokens import AliasToken, AnchorToken

from agent_memory.note.yaml_block import line_end, node_end, pair_end
from agent_memory.setup.plan import Element, Member, Syntax
from agent_memory.text.json_codec import MAX_DEPTH, NotJson, load_json
from agent_memory.text.json_shape import is_list, is_object

BOM = "\ufeff"
Spot = Element | Member
NOTHING = object()
"""Stands for a value that does not exist."""

_BY_HAND = "it could not be edited without touching the rest"
_OBJECTS = {"jsonc": "an object", "toml": "a table", "yaml": "a mapping"}
_UNFORESEEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError, YAMLError)
"""What the libraries raise besides their own errors: in YAML for a list in a list as a key, an empty `!!int`, a
`!!bool` that is neither."""


class EditRefused(Exception):
    """A document that cannot be read or edited; the text says why, for the person."""


def parse_settings(text: str, syntax: Syntax) -> Any:
    """Returns the document's value, None for an empty one; EditRefused says what is wrong."""
    if syntax == "jsonc":
        root = parse_jsonc(text)
        return None if root is None else root.value
    return _parse_toml(text) if syntax == "toml" else _parse_yaml(text)


def put(text: str, entry: Spot, syntax: Syntax) -> str:
    """Returns the document with this entry added last; EditRefused if it cannot hold it."""
    value = parse_settings(text, syntax)
    document: Any = {} if value is None else copy.deepcopy(value)
    node = document
    for depth, key in enumerate(entry.keys):
        if not is_object(node):
            raise _unlike(entry.keys[:depth], node, _OBJECTS[syntax])
        last = depth == len(entry.keys) - 1
        # A key without a value, as a person may leave it.
        if syntax == "yaml" and not last and node.get(key, NOTHING) is None:
            node[key] = {}
        if not last:
            node = node.setdefault(key, {})
        elif isinstance(entry, Element):
            elements = node.setdefault(key, [])
            if not is_list(elements):
                raise _unlike(entry.keys, elements, "a list")
            elements.append(entry.value)
        elif key in node:
            raise EditRefused(f"{named(entry.keys)} is there already")
        else:
            node[key] = entry.value
    return _first_good(syntax, document, _PUT[syntax](text, entry))


def cut(text: str, entry: Spot, syntax: Syntax, baseline: str | None) -> str:
    """Returns the document without this entry, however often it occurs, and without anything above it that `baseline`
    (the document before it was put in; None: there was no file) did not have. Unchanged if the entry is not there, or
    is somebody else's."""
    if syntax == "jsonc":
        while (root := parse_jsonc(text)) is not None and (place := _keys_of(root, entry)) is not None:
            text = _cut_up(text, root, place, baseline)
        return text
    document = parse_settings(text, syntax)
    if isinstance(entry, Element) or not is_ours(document, entry):
        return text
    before: Any = None
    with suppress(EditRefused):
        before = parse_settings(baseline or "", syntax)
    document = copy.deepcopy(document)
    _delete(document, entry.keys, before)

    def candidates() -> Iterator[str | None]:
        inserted = _inserted(baseline or "", entry, syntax)
        for part in (inserted, inserted.lstrip("\r\n")):
            yield text.replace(part, "") if text.count(part) == 1 else None
        if syntax == "toml":
            yield _tables(entry.keys).sub("", text)
        else:
            yield _lines_removed(text, entry.keys)
            yield _lines_removed(text, entry.keys[:1])  # the whole mapping, where it is empty then

    return _first_good(syntax, document, candidates())


def _inserted(baseline: str, entry: Spot, syntax: Syntax) -> str:
    """Returns what is inserted into the baseline when the entry is put in; empty if it cannot be."""
    with suppress(EditRefused):
        after = put(baseline, entry, syntax)
        differing = (at for at, (was, now) in enumerate(zip(baseline, after, strict=False)) if was != now)
        start = next(differing, len(baseline))
        return after[start : start + len(after) - len(baseline)]
    return ""


def _first_good(syntax: Syntax, expected: Any, candidates: Iterator[str | None]) -> str:
    """Returns the first of these texts with the expected value; None stands for a text that could not be made."""
    with suppress(*_UNFORESEEN):
        for text in candidates:
            with suppress(EditRefused):
                if text is not None and _comparable(parse_settings(text, syntax)) == _comparable(expected):
                    return text
    raise EditRefused(_BY_HAND)


def _comparable(value: Any) -> str:
    """Returns the value as text, since a NaN is not equal to itself. A key without a value and one with an empty
    mapping count as the same."""
    plain = {key: None if each == {} else each for key, each in value.items()} if is_object(value) else value
    return repr(_in_order(plain or None))


def _in_order(value: Any) -> Any:
    """Returns the value with the members of every mapping in one order, whatever its keys are: in YAML also null,
    numbers, and lists."""
    if is_object(value):
        return tuple(sorted((repr(key), repr(_in_order(each))) for key, each in value.items()))
    return [_in_order(each) for each in value] if is_list(value) else value


def _delete(document: Any, keys: tuple[str, ...], before: Any) -> None:
    """Removes what is at these keys, and what is then empty above it and was not there before."""
    while keys:
        node = document
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]
        keys = keys[:-1]
        if value_at(document, keys) or value_at(before, keys, NOTHING) is not NOTHING:
            return


def is_ours(value: Any, entry: Member) -> bool:
    """Returns whether the value at the place of this member is ours, edited or not."""
    node = value_at(value, entry.keys)
    return node is not None and (node == entry.value or (entry.command is not None and says(node, entry.command)))


def value_at(value: Any, keys: Keys, missing: Any = None) -> Any:
    """Returns the value at these keys; `missing` if there is none."""
    for key in keys:
        if not is_object(value) or key not in value:
            return missing
        value = value[key]
    return value


def says(value: Any, text: str) -> bool:
    """Returns whether some text in a value holds this text."""
    if isinstance(value, str):
        return text in value
    each = value.values() if is_object(value) else value if is_list(value) else ()
    return any(says(part, text) for part in each)


def named(keys: tuple[str, ...]) -> str:
    """Returns the keys in the form in which a person writes them."""
    return ".".join(keys) if keys else "the document"


def _unlike(keys: tuple[str, ...], value: Any, expected: str) -> EditRefused:
    kind = "an object" if is_object(value) else "a list" if is_list(value) else "a single value"
    return EditRefused(f"{named(keys)} is {kind}, expected {expected}")


def _line_end_of(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


# -- JSON with comments and trailing commas -----------------------------------------------------------------------------

_COMMENT = r"//[^\r\n]*|/\*.*?\*/"
_STRING_OR_COMMENT = re.compile(rf'("(?:[^"\\]|\\.)*")|{_COMMENT}', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_COMMENTS = re.compile(rf"(?:\s*(?:{_COMMENT}))*", re.DOTALL)
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/))*")
_INDENT = re.compile(r"\n(\t| {1,8}(?=\S))")

_PROBLEMS = {
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Expecting value": "expected a value",
    "Expecting ':' delimiter": "expected a colon",
    "Expecting ',' delimiter": "expected a comma or the end",
    "Extra data": "more text follows the end of the document",
}
"""Messages in place of those of the standard parser."""

Keys = tuple[str | int, ...]
"""A path through a document: keys of objects, and indexes of lists."""


@frozen
class JsonNode:
    """A value and its place: `text[start:end]`."""

    start: int
    end: int
    value: Any
    children: tuple[JsonNode, ...] = ()
    key: str | None = None
    """The key of a member of an object."""
    begin: int = 0
    """Where a member's key, or an element of a list, begins."""
    comma: int | None = None
    """Where the comma after a member or an element is."""

    def number(self, key: str | int) -> int | None:
        """Returns the index of the child with this key, or at this index of a list."""
        if isinstance(key, int):
            return key if is_list(self.value) and key < len(self.children) else None
        return next((number for number, each in enumerate(self.children) if each.key == key), None)

    def at(self, keys: Keys) -> tuple[JsonNode, Keys]:
        """Returns the deepest node on this path, and the keys that do not exist."""
        number = self.number(keys[0]) if keys else None
        return (self, keys) if number is None else self.children[number].at(keys[1:])


def parse_jsonc(text: str) -> JsonNode | None:
    """Returns the document's node, None for a text without a value (blank, or comments alone). EditRefused says what is
    wrong."""
    blanked = _STRING_OR_COMMENT.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)
    if blanked.startswith(BOM):
        blanked = " " + blanked[1:]
    if not blanked.strip():
        return None
    try:
        load_json(_STRING_OR_LAST_COMMA.sub(lambda found: found[1] or " ", blanked))
        return _json_node(blanked, _behind_blanks(blanked, 0), 0)
    except NotJson as error:
        cause = error.__cause__
        if not isinstance(cause, json.JSONDecodeError):
            raise EditRefused(str(error)) from None
        problem = _PROBLEMS.get(cause.msg, f"{cause.msg[:1].lower()}{cause.msg[1:]}")
        raise EditRefused(f"line {cause.lineno}, column {cause.colno}: {problem}") from None


def _json_node(text: str, start: int, depth: int) -> JsonNode:
    """Returns the node that begins here, in a document that is JSON except for trailing commas."""
    if depth > MAX_DEPTH:
        raise NotJson("not JSON: nested too deeply")
    if text[start] not in "{[":
        value, end = JSONDecoder().raw_decode(text, start)
        return JsonNode(start, end, value)
    children: list[JsonNode] = []
    at = _behind_blanks(text, start + 1)
    if text[at] == ",":
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise EditRefused(f"line {line}, column {column}: expected a value before the comma")
    while text[at] not in "}]":
        begin, key = at, None
        if text[start] == "{":
            key, at = JSONDecoder().raw_decode(text, at)
            at = _behind_blanks(text, _behind_blanks(text, at) + 1)
        node = _json_node(text, at, depth + 1)
        at = _behind_blanks(text, node.end)
        comma = at if text[at] == "," else None
        at = at if comma is None else _behind_blanks(text, at + 1)
        children.append(evolve(node, key=key, begin=begin, comma=comma))
    members = {each.key: each.value for each in children}
    value = members if text[start] == "{" else [each.value for each in children]
    return JsonNode(start, at + 1, value, tuple(children))


def _behind_blanks(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _parsed_or_none(text: str) -> JsonNode | None:
    with suppress(EditRefused):
        return parse_jsonc(text)
    return None


def _put_into_json(text: str, entry: Spot) -> Iterator[str]:
    root = parse_jsonc(text)
    if root is None:  # an empty object after what is there
        ended = "" if not text or text.endswith(("\n", BOM)) else _line_end_of(text)
        text = f"{text}{ended}{{}}{_line_end_of(text)}"
        root = parse_jsonc(text)
    assert root is not None
    node, missing = root.at(entry.keys)
    key, value = None, entry.value
    if missing:
        value = [entry.value] if isinstance(entry, Element) else entry.value
        for each in reversed(missing[1:]):
            value = {each: value}
        key = str(missing[0])
    yield _with_child(text, node, key, value)


def _with_child(text: str, container: JsonNode, key: str | None, value: Any) -> str:
    found, ending = _INDENT.search(text), _line_end_of(text)
    unit = found[1] if found else "  "
    inside_end = container.end - 1
    if not container.children:
        outer = _line_indent(text, container.start)
        at = _COMMENTS.match(text, container.start + 1, inside_end).end()  # type: ignore[union-attr] # it matches anything
        closing = "" if "\n" in text[at:inside_end] else ending + outer
        rendered = ending + outer + unit + _rendered(key, value, unit, outer + unit, ending)
        return text[:at] + rendered + closing + text[at:]
    last = container.children[-1]
    before, behind = (",", "") if last.comma is None else ("", ",")
    end = last.end if last.comma is None else last.comma + 1
    if "\n" not in text[container.start : inside_end]:
        return text[:end] + f"{before} {_rendered(key, value, None, '', '')}{behind}" + text[end:]
    indent = text[text.rfind("\n", 0, last.begin) + 1 : last.begin]
    if indent.strip(" \t"):  # it does not begin its line
        indent = _line_indent(text, container.start) + unit
    at = _COMMENTS_ON_LINE.match(text, end).end()  # type: ignore[union-attr] # it matches anything
    rendered = ending + indent + _rendered(key, value, unit, indent, ending)
    return text[:end] + before + text[end:at] + rendered + behind + text[at:]


def _rendered(key: str | None, value: Any, unit: str | None, indent: str, ending: str) -> str:
    """Returns a member or an element; on one line if there is no unit of indentation."""
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", ending + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _keys_of(root: JsonNode, entry: Spot) -> Keys | None:
    """Returns the path of what is to be cut: an entry of ours, or the part of ours within an element that also holds
    others'."""
    if isinstance(entry, Member):
        return entry.keys if is_ours(root.value, entry) else None
    node, missing = root.at(entry.keys)
    if missing or not is_list(node.value):
        return None
    for number, each in enumerate(node.children):
        if each.value == entry.value:
            return (*entry.keys, number)
        inner = None if entry.command is None else _within(each, entry.command)
        if inner is not None:
            return (*entry.keys, number, *inner)
    return None


def _within(element: JsonNode, command: str) -> Keys | None:
    """Returns the path, inside an element, of the smallest part that is ours: () for the whole of it."""
    if _has_command(element, command):
        return ()
    for number, member in enumerate(element.children):
        for position, handler in enumerate(member.children if is_list(member.value) else ()):
            if _has_command(handler, command):
                key = number if member.key is None else member.key
                return () if len(member.children) == 1 else (key, position)
    return None


def _has_command(node: JsonNode, command: str) -> bool:
    return is_object(node.value) and command in node.value.values()


def _cut_up(text: str, root: JsonNode, keys: Keys, baseline: str | None) -> str:
    """Returns the text without what is at these keys, and then without what is empty above it and was not there before."""
    before = _parsed_or_none(baseline or "")
    while True:
        text, root = _cut_node(text, root, keys)
        keys = keys[:-1]
        node, _ = root.at(keys)
        head, inside, tail = text[: node.start], text[node.start + 1 : node.end - 1], text[node.end :]
        was, missing = (None, keys) if before is None else before.at(keys)
        if node.children:
            return text
        if was is not None and not missing:  # with the blanks that were in it, unless somebody has put a comment there
            held = (baseline or "")[was.start : was.end]
            return head + held + tail if _unspaced(text[node.start : node.end]) == _unspaced(held) else text
        if not keys:
            return baseline if baseline is not None and _unspaced(head + inside + tail) == _unspaced(baseline) else text
        if inside.strip():
            return text  # somebody's comment


def _cut_node(text: str, root: JsonNode, keys: Keys) -> tuple[str, JsonNode]:
    """Returns the text without what is at these keys, with the blanks before it gone, or kept if they end a comment."""
    container, _ = root.at(keys[:-1])
    number = container.number(keys[-1]) or 0
    expected = inner = copy.deepcopy(root.value)
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    child = container.children[number]
    end = child.end if child.comma is None else child.comma + 1
    between = "" if child.comma is None else text[child.end : child.comma]
    before = container.children[number - 1].comma if child.comma is None and number else None
    for start in (len(text[: child.begin].rstrip(" \t\r\n")), child.begin):
        head = text[:start] if before is None else text[:before] + text[before + 1 : start]
        candidate = head + between + text[end:]
        found = _parsed_or_none(candidate)
        if found is not None and found.value == expected:
            return candidate, found
    raise EditRefused(_BY_HAND)


def _unspaced(text: str) -> str:
    return "".join(text.split())


# -- TOML, YAML ---------------------------------------------------------------------------------------------------------


def _parse_toml(text: str) -> dict[str, Any]:
    if text.startswith(BOM):
        raise EditRefused("it begins with a byte order mark, which TOML does not know")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
        raise EditRefused(f"{problem[:1].lower()}{problem[1:]}") from None
    except RecursionError:
        raise EditRefused("it is nested too deeply") from None


def _put_into_toml(text: str, entry: Spot) -> Iterator[str]:
    """Adds a table of its own at the end, or an inline one if the table above it is inline."""
    ending = _line_end_of(text)
    start = "" if not text or text.endswith("\n") else ending
    blank = ending if text.strip() else ""
    members = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    yield text + start + blank + "".join(line + ending for line in (f"[{'.'.join(entry.keys)}]", *members))
    for above in re.finditer(rf"^[ \t]*{re.escape(entry.keys[0])}[ \t]*=[ \t]*\{{", text, re.MULTILINE):
        inline = f" {entry.keys[1]} = {{ {', '.join(members)} }}"
        yield from (text[: above.end()] + inline + comma + text[above.end() :] for comma in (",", ""))


def _tables(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the table at these keys and those below it, without blank lines and comments after them."""
    header = rf"[ \t]*\[{re.escape('.'.join(keys))}(?:\.[^\]\n]*)?\][^\n]*\n"
    return re.compile(
        rf"^{header}(?:(?![ \t]*\[).*(?:\n|\Z))*?(?=(?:[ \t]*(?:#.*)?\r?\n)*(?:[ \t]*\[|\Z))", re.MULTILINE
    )


def _parse_yaml(text: str) -> Any:
    """Refuses a document with anchors: a few lines of them can stand for more than fits in memory."""
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


def _put_into_yaml(text: str, entry: Spot) -> Iterator[str]:
    """Adds it last in its mapping (of two keys: `extensions`, the name), if that is in block style."""
    ending = _line_end_of(text)
    root: Node | None = _yaml().compose(text)
    if root is not None and (not isinstance(root, MappingNode) or root.flow_style):
        return
    members = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    lines, indent = [f"{entry.keys[1]}:", *members], "  "
    mapping = _member(root, entry.keys[0])
    if mapping is None:
        at = len(text) if root is None else line_end(text, node_end(root))
    else:
        key, value = mapping
        if isinstance(value, MappingNode) and value.flow_style:
            at, comma = value.start_mark.index + 1, ", " if value.value else ""
            yield f"{text[:at]}{lines[0]} {json.dumps(entry.value, ensure_ascii=False)}{comma}{text[at:]}"
            return
        if isinstance(value, MappingNode):
            at, indent = line_end(text, node_end(value)), " " * value.value[0][0].start_mark.column
        else:
            at, indent = line_end(text, key.end_mark.index), " " * (key.start_mark.column + 2)
    ended = "" if not text[:at] or text[:at].endswith("\n") else ending
    above = f"{entry.keys[0]}:{ending}" if mapping is None else ""
    yield text[:at] + ended + above + "".join(indent + line + ending for line in lines) + text[at:]


def _lines_removed(text: str, keys: tuple[str, ...]) -> str | None:
    """Returns the text without the lines of a member in block style."""
    node: Node | None = _yaml().compose(text)
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


def _member(node: Node | None, key: str) -> tuple[Node, Node] | None:
    members = node.value if isinstance(node, MappingNode) else ()
    return next(((each, value) for each, value in members if isinstance(each, ScalarNode) and each.value == key), None)


_PUT: Mapping[Syntax, Callable[[str, Spot], Iterator[str]]] = {
    "jsonc": _put_into_json,
    "toml": _put_into_toml,
    "yaml": _put_into_yaml,
}
"""Returns the document with an entry in it, trying one way after the other."""
