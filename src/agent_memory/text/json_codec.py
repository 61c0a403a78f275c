"""Reads strict JSON (RFC 8259), and maps every JSON file of ours, the configuration included, to a class of values: nothing is
guessed, unknown keys are refused, and every problem is reported with its path.

Refused beyond syntax errors: a key twice in one object, NaN and Infinity, numbers with absurdly many digits, and nesting too
deep to read. One byte order mark at the start is accepted.

The keys are the camelCase of the attributes, where `_at_ms` becomes `At`. An attribute's metadata may name another `key`, mark
it as `sparse` (left out if it is null, empty or its default) or `stated` (required although it has a default), and bound its
value (`agent_memory.config` says how). The type says what is asked of a value:

    at_ms: Instant                           # ISO 8601 in the file
    session_id: Annotated[str, id_problem]   # a rule: returns what is wrong with the value, or None

A class with `has_other_keys = True` accepts unknown keys.

cattrs does the conversion; this module adds the rules, and the words for what is wrong.
"""

from __future__ import annotations

import json
import math
import re
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from operator import ge, gt, le
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import cattrs
from attrs import NOTHING, field, fields, frozen, has, make_class
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory  # pyright: ignore[reportUnknownVariableType]
from cattrs.errors import AttributeValidationNote, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, override

from agent_memory.errors import StateCorrupt
from agent_memory.text.instants import LAST_MS, Instant, iso_of, ms_of
from agent_memory.text.json_shape import is_list, is_object, is_row
from agent_memory.text.value_rules import shown

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
Facts = Mapping[str, Any]
"""The metadata of an attribute."""

_ABSENT = object()
_EMPTY: tuple[object, ...] = (None, "", [], {})
_EXPECTED: Mapping[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
}


# -- text -------------------------------------------------------------------------------------------------------------

MAX_DEPTH = 64


class InvalidValue(ValueError):
    """A document that is not the value it should be; lists every problem as `path.to.key what is wrong`."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class NotJson(InvalidValue):
    """The text is not JSON that we accept; the one problem says why."""


def load_json(text: str) -> Any:
    """Returns the value of a JSON text; raises NotJson."""
    try:
        return json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise NotJson("not JSON: nested too deeply") from error


def load_bytes(data: bytes) -> Any:
    """Returns the value of a UTF-8 file; raises NotJson."""
    try:
        return load_json(data.decode())
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 at byte {error.start:,}") from error


def load_document(data: bytes) -> Any:
    """Returns the value of a file that others may have written; raises NotJson if it is nested deeper than `MAX_DEPTH`,
    or holds characters that cannot be written again, or U+0000."""
    if not data.strip():
        raise NotJson("it is empty; an empty object is {}")
    value = load_bytes(data)
    _look_through(value, 0)
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise NotJson(f"not JSON: the key {twice[:80]!a} stands twice in one object")
    return document


def _integer(digits: str) -> int:
    if len(digits) > 30:
        raise NotJson(f"not JSON: a number has {len(digits):,} digits")
    return int(digits)


def _constant(name: str) -> Any:
    raise NotJson(f"not JSON: {name} is not a number")


def _look_through(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotJson("not JSON: nested too deeply")
    if isinstance(value, str):
        _look_at_text(value)
    elif is_list(value):
        for each in value:
            _look_through(each, depth + 1)
    elif is_object(value):
        for key, each in value.items():
            _look_at_text(key)
            _look_through(each, depth + 1)


def _look_at_text(text: str) -> None:
    if "\0" in text:
        raise NotJson("it holds the character \\u0000")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotJson("it holds half of a surrogate pair, which is not a character")


# -- files ------------------------------------------------------------------------------------------------------------


class Documents(Generic[T]):
    """The format of one kind of file: a JSON object whose first key is `version`, which is 1. `document` turns a value
    into JSON values, `value` back; if it raises ValueError, KeyError, TypeError or AttributeError, the file is damaged.
    """

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
        """Returns the text of the file, with a final newline."""
        return json.dumps({"version": 1, **self._document(value)}, ensure_ascii=False, indent=self._indent) + "\n"

    def parse(self, data: bytes, path: str) -> T:
        """Returns the value in a file; raises StateCorrupt, with every problem, for what `render` did not write (P6)."""
        try:
            return self._value(self._load(data))
        except InvalidValue as invalid:
            raise StateCorrupt(path, invalid.problems) from invalid
        except KeyError as damaged:
            raise StateCorrupt(path, (f"{damaged.args[0]} is missing",)) from damaged
        except (ValueError, TypeError, AttributeError) as damaged:
            raise StateCorrupt(path, (str(damaged) or type(damaged).__name__,)) from damaged


class Format(Documents[T]):
    """The format of a class of values, derived from its declaration; or of any other type, as the one `member` of the
    object. `check` returns what is wrong with a value whose types are right."""

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
        """Returns the value of a whole document; raises InvalidValue."""
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
    """Its type, with all names resolved."""
    facts: Facts
    is_instant: bool
    is_required: bool
    default: Any
    """The value when the key is absent; None for a required key."""


@cache
def attributes_of(cls: type, by_name: bool = False) -> Mapping[str, Attribute]:
    """Returns the attributes of a class of values, keyed by their JSON keys."""
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
    """Returns a rule for texts that match the pattern from start to end."""
    return lambda text: None if re.fullmatch(pattern, text, re.ASCII) else problem


def options_of(type_: Any) -> tuple[Any, ...]:
    """Returns the members of a union, `NoneType` included; any other type is its own only member."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


# -- from JSON to values and back -------------------------------------------------------------------------------------


class Converter:
    """Converts JSON values to values and back. With `by_name`, for files that only this program reads, keys are
    attribute names, instants are numbers, and unknown keys are ignored. `expected` overrides the words for what a type
    expects. With `null_is_absent` a null member counts as missing."""

    def __init__(
        self, *, by_name: bool = False, null_is_absent: bool = False, expected: Mapping[Any, str] = MappingProxyType({})
    ) -> None:
        self.by_name = by_name
        self.null_is_absent = null_is_absent
        self.expected = {**_EXPECTED, **expected}
        self._tags: dict[type, Mapping[str, str]] = {}
        self._spelled: dict[type, Callable[[Any], Any]] = {}
        self._cattrs = cattrs.Converter()
        for type_ in (str, bool, int, float):
            self._cattrs.register_structure_hook(type_, self._scalar)
        self._cattrs.register_structure_hook(bytes, _bytes)
        self._cattrs.register_structure_hook(StrEnum, _choice)
        self._cattrs.register_structure_hook_func(_has_origin(Literal), _choice)
        factories: tuple[tuple[Callable[[Any], bool], Callable[[Any], Hook]], ...] = (
            (has, self._object),
            (_has_origin(tuple, frozenset), self._row),
            (_has_origin(dict, Mapping), self._mapping),
            (_has_origin(Annotated), self._ruled),
            (lambda type_: len(_others(type_)) == 2 and str in _others(type_), self._text_or),
        )
        for applies, factory in factories:
            self._cattrs.register_structure_hook_factory(applies, factory)

    def tagged_union(self, union: Any, tag: str, classes: Mapping[str, type]) -> None:
        """Tells the members of a union apart by the word that `tag` has in JSON. The tag may be an attribute of theirs."""

        def structure(value: Any, type_: Any) -> Any:
            if not is_object(value):
                raise _refused(value, "an object")
            if tag not in value:
                raise _Below((tag, "is missing"))
            word = value[tag]
            if not isinstance(word, str) or word not in classes:
                raise _Below((tag, str(_refused(word, f"one of {', '.join(classes)}"))))
            if tag not in attributes_of(classes[word], self.by_name):
                value = {key: each for key, each in value.items() if key != tag}
            member: Any = classes[word]
            return self._cattrs.structure(value, member)

        members = _others(union)
        self._cattrs.register_structure_hook_func(lambda type_: _others(type_) == members, structure)
        self._tags |= {cls: {tag: word} for word, cls in classes.items()}

    def spell(self, cls: type[T], document: Callable[[T], Any], value: Callable[[Any], T]) -> None:
        """Reads and writes a class with these functions, wherever its values occur."""
        self._spelled[cls] = document
        self._cattrs.register_structure_hook(cls, lambda each, _: value(each))

    def value_of(self, document: object, type_: Any, where: str = "") -> Any:
        """Returns a value of this type; raises InvalidValue."""
        try:
            return self._cattrs.structure(document, type_)
        except (cattrs.BaseValidationError, ValueError) as error:
            raise InvalidValue(*self._problems(error, where)) from error

    def written(self, value: Any) -> Any:
        """Returns the JSON values from which `value_of` restores this value."""
        if value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, bytes):
            return b2a_base64(value, newline=False).decode("ascii")
        members: Any = value
        if isinstance(value, frozenset):
            return sorted(map(self.written, members))
        if is_row(value):
            return [self.written(each) for each in value]
        if isinstance(value, Mapping):
            return {key: self.written(each) for key, each in members.items()}
        cls = value.__class__
        if cls in self._spelled:
            return self._spelled[cls](value)
        document: dict[str, Any] = {**self._tags.get(cls, {})}
        for key, attribute in attributes_of(cls, self.by_name).items():
            member = self.written(getattr(value, attribute.name))
            if attribute.is_instant and member is not None and not self.by_name:
                member = iso_of(member)
            if not (attribute.facts.get("sparse") and member in (*_EMPTY, attribute.default)):
                document[key] = member
        return document

    def _object(self, cls: Any) -> Hook:
        known = attributes_of(cls, self.by_name)
        members: dict[str, Any] = {
            each.name: override(rename=key, struct_hook=self._member(each)) for key, each in known.items()
        }
        is_closed = not (self.by_name or getattr(cls, "has_other_keys", False))
        structure = make_dict_structure_fn(cls, self._cattrs, _cattrs_forbid_extra_keys=is_closed, **members)
        absent = {key: _ABSENT for key, each in known.items() if each.is_required or each.facts.get("sparse")}

        def checked(value: Any, type_: Any) -> Any:
            if not is_object(value):
                raise _refused(value, "an object")
            if self.null_is_absent:
                value = {key: each for key, each in value.items() if each is not None}
            return structure({**absent, **value}, type_)

        return checked

    def _member(self, attribute: Attribute) -> Hook:
        def checked(value: Any, _: Any) -> Any:
            if value is _ABSENT:
                if attribute.is_required:
                    raise ValueError("is missing")
                return attribute.default
            found = self._cattrs.structure(value, attribute.type)  # its hook is made only when the key is present
            if problems := tuple(_out_of_bounds(found, attribute.facts)):
                raise _Below(*problems)
            return found

        return checked

    def _text_or(self, type_: Any) -> Hook:
        (other,) = _others(type_) - {str}

        def chosen(value: Any, _: Any) -> Any:
            if value is None and NoneType in options_of(type_):
                return None
            return self._cattrs.structure(value, str if isinstance(value, str) else other)

        return chosen

    def _ruled(self, type_: Any) -> Hook:
        base, *rules = get_args(type_)
        if base is int and "ISO 8601" in rules and not self.by_name:
            return _instant

        def checked(value: Any, _: Any) -> Any:
            found = self._cattrs.structure(value, base)
            for rule in rules:
                if callable(rule) and (problem := rule(found)):
                    raise ValueError(problem)
            return found

        return checked

    def _row(self, type_: Any) -> Hook:
        """Makes the hook for lists; other iterables, such as text, are refused."""
        is_tuple, types = get_origin(type_) is tuple, get_args(type_)
        is_pair = is_tuple and Ellipsis not in types
        whole: Any = tuple.__class_getitem__((types[0], ...))
        each_of: Hook = homogenous_tuple_structure_factory(whole, self._cattrs)

        def checked(value: Any, _: Any) -> Any:
            if not is_list(value):
                raise _refused(value, self.expected[list])
            if not is_pair:
                return each_of(value, whole) if is_tuple else frozenset(each_of(value, whole))
            if len(value) != 2:
                raise _refused(value, "a list of two")
            structure: Hook = self._cattrs.structure
            return (structure(value[0], types[0]), structure(value[1], types[1]))

        return checked

    def _mapping(self, type_: Any) -> Hook:
        whole: Any = dict[get_args(type_)]  # type: ignore[misc] # made at run time
        plain: Hook = mapping_structure_factory(whole, self._cattrs)

        def checked(value: Any, _: Any) -> Any:
            if not is_object(value):
                raise _refused(value, "an object")
            return plain(value, whole)

        return checked

    def _scalar(self, value: Any, type_: type) -> Any:
        fits = type(value) is type_ or (type_ is float and type(value) is int)
        if not fits or (type(value) is float and not math.isfinite(value)):
            raise _refused(value, self.expected[type_])
        return value

    def _problems(self, error: Exception, where: str) -> Iterator[str]:
        match error:
            case cattrs.BaseValidationError():
                for each in error.exceptions:
                    yield from self._problems(each, self._path_to(each, error.cl, where))
            case cattrs.ForbiddenExtraKeysError():
                known = attributes_of(error.cl, self.by_name)
                yield from (
                    f"{_joined(where, key)} {_unknown(key, known, where)}" for key in sorted(error.extra_fields)
                )
            case _Below():
                yield from (f"{_joined(where, path) or 'the document'} {words}" for path, words in error.problems)
            case _:
                yield f"{where or 'the document'} {error}"

    def _path_to(self, error: Exception, cls: type, where: str) -> str:
        for note in getattr(error, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                keys = {each.name: key for key, each in attributes_of(cls, self.by_name).items()}
                return _joined(where, keys[note.name])
            if isinstance(note, IterableValidationNote):
                return _joined(where, f"[{note.index}]" if isinstance(note.index, int) else str(note.index))
        return where


class _Below(ValueError):
    """Problems in parts of the value that is being read: pairs of the path below it and what is wrong there."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__()
        self.problems = problems


def _refused(value: object, expected: str) -> ValueError:
    return ValueError(f"is {shown(value)}, expected {expected}")


def _has_origin(*origins: Any) -> Callable[[Any], bool]:
    return lambda type_: get_origin(type_) in origins


def _others(type_: Any) -> frozenset[Any]:
    return frozenset(options_of(type_)) - {NoneType}


def _choice(value: Any, type_: Any) -> Any:
    choices = {str(each): each for each in get_args(type_) or type_}
    if isinstance(value, str) and value in choices:
        return choices[value]
    raise _refused(value, f"one of {', '.join(choices)}")


def _bytes(value: Any, _: Any) -> bytes:
    try:
        return a2b_base64(value, strict_mode=True)
    except (TypeError, ValueError) as error:
        raise ValueError("is not base64") from error


def _instant(value: Any, _: Any) -> int:
    at_ms = ms_of(value) if isinstance(value, str) else None
    if at_ms is None or not 0 <= at_ms <= LAST_MS:
        raise _refused(value, "an instant like 2026-02-13T14:30:05.123Z")
    return at_ms


def _out_of_bounds(value: Any, facts: Facts) -> Iterator[tuple[str, str]]:
    """Yields what the attribute's metadata forbids: paths below it, and what is wrong there."""
    if isinstance(value, tuple):
        row: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - of any values
        if len(row) < facts.get("least_items", 0):
            yield "", "must not be empty"
        for index, each in enumerate(row):
            yield from ((f"[{index}]{path}", words) for path, words in _out_of_bounds(each, facts))
    elif is_object(value):
        check, inner = facts.get("check_name"), {**facts, "check_name": facts.get("check_inner_name")}
        for name, each in value.items():
            if check and (problem := check(name)):
                yield name, f"as a name {problem}"
            yield from ((_joined(name, path), words) for path, words in _out_of_bounds(each, inner))
    elif isinstance(value, str | int | float):
        for bound, is_kept, words in _BOUNDS:
            if bound in facts and not is_kept(value, facts[bound]):
                yield "", str(_refused(value, f"{words} {facts[bound]:,}"))
        if "check" in facts and (problem := facts["check"](value)):
            yield "", problem


_BOUNDS = (("least", ge, "at least"), ("above", gt, "more than"), ("most", le, "at most"))


def _joined(path: str, key: str) -> str:
    if not key or (key.startswith("[") and key.isprintable()):
        return f"{path}{key}"
    name = key if key.isprintable() and len(key) <= 60 else shown(key)
    return f"{path}.{name}" if path else name


def _unknown(key: str, known: Iterable[str], path: str) -> str:
    from difflib import get_close_matches

    spelled = {each.lower(): each for each in known}
    close = get_close_matches(key.replace("_", "").lower(), spelled, 1, 0.7)
    meant = f" (did you mean {_joined(path, spelled[close[0]])}?)" if close else f", expected {', '.join(known)}"
    return f"is unknown{meant}"


JSON = Converter()
"""The converter with the rules above."""
value_of, written, tagged_union = JSON.value_of, JSON.written, JSON.tagged_union
