"""Every JSON file of ours as a class of values, the configuration among them: nothing guessed, no unknown key, every problem with its
path.

The keys are the camelCase of the attributes, where `_at_ms` becomes `At`. An attribute's metadata may name another `key`; it may say
that it is `sparse` (left out where it is null, empty or its default) or `stated` (to be there though it has a default), and bound its
value (`agent_memory.config` says how). A type tells what is asked of a value:

    at_ms: Instant                           # ISO 8601 in the file
    session_id: Annotated[str, id_problem]   # a rule: what is wrong with the value in words, or None

A class with `has_other_keys = True` lets unknown keys pass.

Every command reads the configuration, so nothing that takes long to load is imported here.
"""

from __future__ import annotations

import json
import math
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from operator import ge, gt, le
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, field, fields, frozen, has, make_class

from agent_memory.domain.inbox_rules import shown
from agent_memory.domain.instants import Instant, iso_of, ms_of
from agent_memory.domain.json_shape import is_list, is_object, is_row
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import InvalidValue, load_bytes, load_document

T = TypeVar("T")
Facts = Mapping[str, Any]
"""The metadata of an attribute."""

_LAST_INSTANT_MS = 253_402_300_799_999  # the last one that four digits can say the year of
_EMPTY: tuple[object, ...] = (None, "", [], {})
_EXPECTED: Mapping[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
}


# -- files ------------------------------------------------------------------------------------------------------------


class Documents(Generic[T]):
    """One kind of file: a JSON object with `version`, which is 1, as its first key. `document` makes JSON values of a value, and
    `value` the value of such a document; a ValueError (InvalidValue among them), KeyError, TypeError or AttributeError of it
    is damage."""

    def __init__(
        self,
        document: Callable[[T], Mapping[str, Any]],
        value: Callable[[Any], T],
        *,
        load: Callable[[bytes], Any] = load_document,
        indent: int | None = 1,
    ) -> None:
        self._document = document
        self._value = value
        self._load = load
        self._indent = indent

    def render(self, value: T) -> str:
        """The text, with a final newline."""
        return json.dumps({"version": 1, **self._document(value)}, ensure_ascii=False, indent=self._indent) + "\n"

    def parse(self, data: bytes, path: str) -> T:
        """What was rendered. StateCorrupt for anything else, with every problem: never an empty value (P6)."""
        try:
            return self._value(self._load(data))
        except InvalidValue as invalid:
            raise StateCorrupt(path, invalid.problems) from invalid
        except KeyError as damaged:
            raise StateCorrupt(path, (f"{damaged.args[0]} is missing",)) from damaged
        except (ValueError, TypeError, AttributeError) as damaged:
            raise StateCorrupt(path, (str(damaged) or type(damaged).__name__,)) from damaged


class Format(Documents[T]):
    """The same of a class of values, which declares it; or of any type, whose value is the one `member` of the object. `check` tells
    what is wrong with a value of the right types."""

    def __init__(
        self,
        cls: type[T],
        *,
        member: str = "",
        indent: int | None = 1,
        check: Callable[[T], Iterable[str]] = lambda value: (),
    ) -> None:
        super().__init__(self._written, self.value_of, load=load_bytes, indent=indent)
        self._around: Any = member and make_class(
            "Around", {"it": field(type=cls, metadata={"key": member})}, frozen=True
        )
        self._cls: Any = self._around or cls
        self._check = check

    def value_of(self, document: object) -> T:
        """The value of a whole document, or InvalidValue."""
        problems: list[str] = []
        if is_object(document):
            document = dict(document)
            if "version" not in document:
                problems.append("version is missing")
            elif type(version := document.pop("version")) is not int or version != 1:
                problems.append(f"version is {shown(version)}, expected 1")
        try:
            found = value_of(document, self._cls)
        except InvalidValue as error:
            raise InvalidValue(*problems, *error.problems) from error
        value: T = found.it if self._around else found
        if problems := [*problems, *self._check(value)]:
            raise InvalidValue(*problems)
        return value

    def _written(self, value: T) -> Mapping[str, Any]:
        document: Mapping[str, Any] = written(self._around(value) if self._around else value)
        return document


# -- classes of values ------------------------------------------------------------------------------------------------


@frozen
class Attribute:
    """One attribute of a class."""

    name: str
    type: Any
    """With the names in it resolved."""
    facts: Facts
    is_instant: bool
    is_required: bool
    default: Any
    """What an absent key stands for; None for a key that must be there."""


@cache
def attributes_of(cls: type, by_name: bool = False) -> Mapping[str, Attribute]:
    """The attributes of a class of values by their JSON keys."""
    types = get_type_hints(cls, include_extras=True)
    attributes: dict[str, Attribute] = {}
    for each in fields(cls):
        facts: Facts = each.metadata
        default: Any = None if each.default is NOTHING else each.default
        head, *rest = each.name.removesuffix("_ms" if each.name.endswith("at_ms") else "").split("_")
        key = facts.get("key", head + "".join(part.capitalize() for part in rest))
        attributes[each.name if by_name else key] = Attribute(
            each.name,
            types[each.name],
            facts,
            is_instant=Instant in options_of(types[each.name]),
            is_required=facts.get("stated", each.default is NOTHING and not facts.get("sparse")),
            default=default.factory() if hasattr(default, "factory") else default,
        )
    return attributes


def matching(pattern: str, problem: str) -> Callable[[str], str | None]:
    """A rule for texts of which the whole is so."""
    return lambda text: None if re.fullmatch(pattern, text, re.ASCII) else problem


def options_of(type_: Any) -> tuple[Any, ...]:
    """The members of a union, `NoneType` among them; of any other type that type alone."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


# -- from JSON to values and back -------------------------------------------------------------------------------------


class Converter:
    """From JSON values to values, and back. With `by_name`, for what nobody but this program reads, keys are the names of the
    attributes, instants are numbers, and unknown keys are ignored. `expected` has other words for what a value of a type should be;
    `null_is_absent` says that of a member that is null."""

    def __init__(
        self, *, by_name: bool = False, null_is_absent: bool = False, expected: Mapping[Any, str] = MappingProxyType({})
    ) -> None:
        self.by_name = by_name
        self.null_is_absent = null_is_absent
        self.expected = {**_EXPECTED, **expected}
        self.unions: dict[frozenset[Any], tuple[str, Mapping[str, type]]] = {}
        self._tags: dict[type, Mapping[str, str]] = {}

    def tagged_union(self, union: Any, tag: str, classes: Mapping[str, type]) -> None:
        """Tell the members of a union apart by the word that `tag` has in JSON. It may be an attribute of theirs."""
        self.unions[frozenset(get_args(union))] = tag, classes
        self._tags |= {cls: {tag: word} for word, cls in classes.items()}

    def value_of(self, document: object, type_: Any, where: str = "") -> Any:
        """The value of a class of values (or another type), or InvalidValue."""
        reading = _Reading(self)
        value = reading.read(document, type_, where)
        if reading.problems:
            raise InvalidValue(*reading.problems)
        return value

    def written(self, value: Any) -> Any:
        """The JSON values that `value_of` reads back as this value."""
        if value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, bytes):
            return b2a_base64(value, newline=False).decode("ascii")
        if isinstance(value, frozenset):
            return sorted(map(self.written, value))
        if is_row(value):
            return [self.written(each) for each in value]
        if isinstance(value, Mapping):
            return {key: self.written(each) for key, each in value.items()}
        cls = value.__class__
        document: dict[str, Any] = {**self._tags.get(cls, {})}
        for key, attribute in attributes_of(cls, self.by_name).items():
            member = self.written(getattr(value, attribute.name))
            if attribute.is_instant and member is not None and not self.by_name:
                member = iso_of(member)
            if not (attribute.facts.get("sparse") and member in (*_EMPTY, attribute.default)):
                document[key] = member
        return document


@frozen
class _Reading:
    """One document on its way to a value. It goes on after a problem: what it returns is a value only where there was none."""

    converter: Converter
    problems: list[str] = field(factory=list[str])

    def read(self, value: Any, type_: Any, path: str, facts: Facts = MappingProxyType({})) -> Any:
        """The value of this type at this path, which its attribute says more about."""
        origin, arguments = get_origin(type_), get_args(type_)
        if origin in (Union, UnionType):
            return self._option(value, frozenset(arguments), path, facts)
        if origin is Annotated:
            return self._ruled(value, arguments[0], arguments[1:], path, facts)
        if origin is Literal or issubclass(origin or type_, StrEnum):
            choices = {str(each): each for each in arguments or type_}
            if isinstance(value, str) and value in choices:
                return choices[value]
            return self._refuse(value, f"one of {', '.join(choices)}", path)
        if origin in (tuple, frozenset):
            return self._row(value, origin, arguments, path, facts)
        if origin in (dict, Mapping):
            return self._mapping(value, arguments[1], path, facts)
        if type_ is Any:
            return value
        if has(type_):
            return self._object(value, type_, path)
        return self._bytes(value, path) if type_ is bytes else self._scalar(value, type_, path, facts)

    def _say(self, path: str, words: str) -> Any:
        """None, once the problem is told."""
        self.problems.append(f"{path or 'the document'} {words}")

    def _refuse(self, value: object, expected: str, path: str) -> Any:
        return self._say(path, f"is {shown(value)}, expected {expected}")

    def _object(self, value: Any, cls: type, path: str) -> Any:
        if not is_object(value):
            return self._refuse(value, "an object", path)
        known, before, members = attributes_of(cls, self.converter.by_name), len(self.problems), dict[str, Any]()
        if self.converter.null_is_absent:
            value = {key: each for key, each in value.items() if each is not None}
        for key, each in value.items():
            if key in known:
                members[known[key].name] = self.read(each, known[key].type, _joined(path, key), known[key].facts)
            elif not (self.converter.by_name or getattr(cls, "has_other_keys", False)):
                self._say(_joined(path, key), _unknown(key, known, path))
        for key, attribute in known.items():
            if key not in value and attribute.is_required:
                self._say(_joined(path, key), "is missing")
            elif attribute.facts.get("sparse"):
                members.setdefault(attribute.name, attribute.default)
        return cls(**members) if len(self.problems) == before else None

    def _option(self, value: Any, options: frozenset[Any], path: str, facts: Facts) -> Any:
        others = options - {NoneType}
        if value is None and others < options:
            return None
        if others in self.converter.unions:
            return self._tagged(value, *self.converter.unions[others], path)
        is_text = isinstance(value, str)
        meant = next(each for each in others if len(others) == 1 or (each is str) == is_text)
        return self.read(value, meant, path, facts)

    def _tagged(self, value: Any, tag: str, classes: Mapping[str, type], path: str) -> Any:
        if not is_object(value):
            return self._refuse(value, "an object", path)
        if tag not in value:
            return self._say(_joined(path, tag), "is missing")
        word = value[tag]
        if not isinstance(word, str) or word not in classes:
            return self._refuse(word, f"one of {', '.join(classes)}", _joined(path, tag))
        if tag not in attributes_of(classes[word], self.converter.by_name):
            value = {key: each for key, each in value.items() if key != tag}
        return self._object(value, classes[word], path)

    def _ruled(self, value: Any, base: Any, rules: Iterable[Any], path: str, facts: Facts) -> Any:
        if base is int and "ISO 8601" in rules and not self.converter.by_name:
            return self._instant(value, path)
        before, value = len(self.problems), self.read(value, base, path, facts)
        if len(self.problems) == before:
            problem = next(filter(None, (rule(value) for rule in rules if callable(rule))), None)
            return value if problem is None else self._say(path, problem)
        return None

    def _row(self, value: Any, origin: Any, types: tuple[Any, ...], path: str, facts: Facts) -> Any:
        if not is_list(value):
            return self._refuse(value, self.converter.expected[list], path)
        is_pair = origin is tuple and Ellipsis not in types
        if is_pair and len(value) != 2:
            return self._refuse(value, "a list of two", path)
        if len(value) < facts.get("least_items", 0):
            self._say(path, "must not be empty")
        members = (
            self.read(each, types[index if is_pair else 0], f"{path}[{index}]", facts)
            for index, each in enumerate(value)
        )
        return origin(members)

    def _mapping(self, value: Any, element: Any, path: str, facts: Facts) -> Any:
        if not is_object(value):
            return self._refuse(value, "an object", path)
        check = facts.get("check_name") or (lambda name: None)
        facts = {**facts, "check_name": facts.get("check_inner_name")}
        for name in value:
            if problem := check(name):
                self._say(_joined(path, name), f"as a name {problem}")
        return {name: self.read(each, element, _joined(path, name), facts) for name, each in value.items()}

    def _bytes(self, value: Any, path: str) -> Any:
        try:
            return a2b_base64(value, strict_mode=True)
        except (TypeError, ValueError):
            return self._say(path, "is not base64")

    def _instant(self, value: Any, path: str) -> Any:
        at_ms = ms_of(value) if isinstance(value, str) else None
        if at_ms is None or not 0 <= at_ms <= _LAST_INSTANT_MS:
            return self._refuse(value, "an instant like 2026-02-13T14:30:05.123Z", path)
        return at_ms

    def _scalar(self, value: Any, type_: type, path: str, facts: Facts) -> Any:
        fits = type(value) is type_ or (type_ is float and type(value) is int)
        if not fits or (type(value) is float and not math.isfinite(value)):
            return self._refuse(value, self.converter.expected.get(type_, "null"), path)
        for bound, is_kept, words in _BOUNDS:
            if bound in facts and not is_kept(value, facts[bound]):
                self._refuse(value, f"{words} {facts[bound]:,}", path)
        if problem := facts["check"](value) if "check" in facts else None:
            self._say(path, problem)
        return value


_BOUNDS = (("least", ge, "at least"), ("above", gt, "more than"), ("most", le, "at most"))


def _joined(path: str, key: str) -> str:
    name = key if key.isprintable() and len(key) <= 60 else shown(key)
    return f"{path}.{name}" if path else name


def _unknown(key: str, known: Iterable[str], path: str) -> str:
    from difflib import get_close_matches

    spelled = {each.lower(): each for each in known}
    close = get_close_matches(key.replace("_", "").lower(), spelled, 1, 0.7)
    meant = f"did you mean {_joined(path, spelled[close[0]])}?" if close else f"expected {', '.join(known)}"
    return f"is unknown, {meant}"


JSON = Converter()
"""As it is described above."""
value_of, written, tagged_union = JSON.value_of, JSON.written, JSON.tagged_union
