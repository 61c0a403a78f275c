"""Every JSON file of ours as a class of values: nothing guessed, no unknown key, every problem with its path.

The keys are the camelCase of the attributes, where `_at_ms` becomes `At`; an attribute's metadata may name another `key`, and
say that it is `sparse`: left out where it is null, empty or its default. A type tells what is asked of a value:

    at_ms: Instant                           # ISO 8601 in the file
    session_id: Annotated[str, id_problem]   # a rule: what is wrong with the value in words, or None

A class with `has_other_keys = True` lets unknown keys pass.

Importing cattrs takes as long as starting Python twice: whoever only lists or reads notes must not import this.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

from attrs import NOTHING, fields, fields_dict, has, resolve_types
from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError, transform_error
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory  # pyright: ignore[reportUnknownVariableType]
from cattrs.errors import AttributeValidationNote, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from agent_memory.domain.inbox_rules import shown
from agent_memory.domain.instants import Instant, iso_of, ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import InvalidValue, load_bytes, load_document

T = TypeVar("T")

_LAST_INSTANT_MS = 253_402_300_799_999  # the last one that four digits can say the year of
_EMPTY: tuple[object, ...] = (None, "", [], {})
_EXPECTED: Mapping[type, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


class ProblemAt(ValueError):
    """A problem of one member of the object that is being read."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


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
        except BaseValidationError as invalid:
            raise StateCorrupt(path, tuple(transform_error(invalid))) from invalid
        except KeyError as damaged:
            raise StateCorrupt(path, (f"{damaged.args[0]} is missing",)) from damaged
        except (ValueError, TypeError, AttributeError) as damaged:
            raise StateCorrupt(path, (str(damaged) or type(damaged).__name__,)) from damaged


class Format(Documents[T]):
    """The same of a class of values, which declares it. `check` tells what is wrong with a value of the right types."""

    def __init__(
        self, cls: type[T], *, indent: int | None = 1, check: Callable[[T], Iterable[str]] = lambda value: ()
    ) -> None:
        super().__init__(written, self.value_of, load=load_bytes, indent=indent)
        self._cls = cls
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
            value: T = value_of(document, self._cls)
        except InvalidValue as error:
            raise InvalidValue(*problems, *error.problems) from error
        if problems := [*problems, *self._check(value)]:
            raise InvalidValue(*problems)
        return value


def value_of(document: object, cls: Any, where: str = "") -> Any:
    """The value of a class of values (or another type), or InvalidValue."""
    try:
        return _CONVERTER.structure(document, cls)
    except (BaseValidationError, ValueError) as error:
        raise InvalidValue(*_problems(error, where)) from error


def written(value: Any) -> Any:
    """The JSON values that `value_of` reads back as this value."""
    return _CONVERTER.unstructure(value)


def key_of(cls: type, name: str) -> str:
    """The JSON key of an attribute."""
    stated: str | None = fields_dict(cls)[name].metadata.get("key")
    head, *rest = name.removesuffix("_ms").split("_") if name.endswith("at_ms") else name.split("_")
    return stated or head + "".join(part.capitalize() for part in rest)


# -- the converter ----------------------------------------------------------------------------------------------------


def _structured(cls: Any) -> Callable[[Any, Any], Any]:
    resolve_types(cls)
    keys: dict[str, Any] = {each.name: override(rename=key_of(cls, each.name)) for each in fields(cls)}
    is_closed = not getattr(cls, "has_other_keys", False)
    structure = make_dict_structure_fn(cls, _CONVERTER, _cattrs_forbid_extra_keys=is_closed, **keys)
    optional = dict.fromkeys(
        key_of(cls, each.name) for each in fields(cls) if each.default is NOTHING and each.metadata.get("sparse")
    )

    def checked(document: Any, type_: Any) -> Any:
        if not is_object(document):
            raise ValueError(f"is {shown(document)}, expected an object")
        return structure({**optional, **document}, type_)

    return checked


def _unstructured(cls: Any) -> Callable[[Any], dict[str, Any]]:
    resolve_types(cls)
    keys: dict[str, Any] = {each.name: override(rename=key_of(cls, each.name)) for each in fields(cls)}
    unstructure = make_dict_unstructure_fn(cls, _CONVERTER, **keys)
    sparse = {key_of(cls, each.name): each.default for each in fields(cls) if each.metadata.get("sparse")}

    def without_empty(value: Any) -> dict[str, Any]:
        document = unstructure(value).items()
        return {key: each for key, each in document if key not in sparse or each not in (*_EMPTY, sparse[key])}

    return without_empty if sparse else unstructure


def _scalar(value: Any, type_: type) -> Any:
    if type(value) is type_ or (type_ is float and type(value) is int):
        return value
    raise ValueError(f"is {shown(value)}, expected {_EXPECTED[type_]}")


def _choice(value: Any, type_: Any) -> Any:
    choices = get_args(type_) or tuple(type_)
    if isinstance(value, str) and value in choices:
        return value if get_args(type_) else type_(value)
    raise ValueError(f"is {shown(value)}, expected one of {', '.join(choices)}")


def _bytes(value: Any, _: Any) -> bytes:
    try:
        return b64decode(_scalar(value, str), validate=True)
    except ValueError as error:
        raise ValueError("is not base64") from error


def _instant(value: Any, _: Any) -> int:
    at_ms = ms_of(value) if isinstance(value, str) else None
    if at_ms is None or not 0 <= at_ms <= _LAST_INSTANT_MS:
        raise ValueError(f"is {shown(value)}, expected an instant like 2026-02-13T14:30:05.123Z")
    return at_ms


def _ruled(type_: Any) -> Callable[[Any, Any], Any]:
    base, *rules = get_args(type_)

    def checked(value: Any, _: Any) -> Any:
        if base is not str:
            value = _CONVERTER.structure(value, base)
        for rule in rules:
            if problem := rule(value):
                raise ValueError(problem)
        return value

    return checked


def _list(type_: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """A hook that takes lists only, and not what iterates like one, such as a text."""
    collect: Any = get_origin(type_)
    whole: Any = tuple[(get_args(type_)[0], ...)]  # type: ignore[misc] # made at run time, of a type that is a value here
    structure: Callable[[Any, Any], Any] = homogenous_tuple_structure_factory(whole, converter)

    def checked(value: Any, _: Any) -> Any:
        if not is_list(value):
            raise ValueError(f"is {shown(value)}, expected a list")
        return collect(structure(value, type_))

    return checked


def _pair(type_: Any) -> Callable[[Any, Any], Any]:
    first, second = get_args(type_)

    def checked(value: Any, _: Any) -> Any:
        if not is_list(value) or len(value) != 2:
            raise ValueError(f"is {shown(value)}, expected a list of two")
        return (_CONVERTER.structure(value[0], first), _CONVERTER.structure(value[1], second))

    return checked


def _mapping(type_: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    whole: Any = dict[get_args(type_)]  # type: ignore[misc] # as in `_list`
    structure: Callable[[Any, Any], Any] = mapping_structure_factory(whole, converter)

    def checked(value: Any, _: Any) -> Any:
        if not is_object(value):
            raise ValueError(f"is {shown(value)}, expected an object")
        return structure(value, type_)

    return checked


def _origin_in(*origins: Any) -> Callable[[Any], bool]:
    return lambda type_: get_origin(type_) in origins


def _is_pair(type_: Any) -> bool:
    return get_origin(type_) is tuple and Ellipsis not in get_args(type_)


def tagged_union(union: Any, tag: str, classes: Mapping[str, type]) -> None:
    """Read the members of a union by the value that the member `tag` has, which is an attribute of each of them."""

    def structure(value: Any, _: Any) -> Any:
        if not is_object(value):
            raise ValueError(f"is {shown(value)}, expected an object")
        if tag not in value:
            raise ProblemAt(tag, "is missing")
        named = value[tag]
        if not isinstance(named, str) or named not in classes:
            raise ProblemAt(tag, f"is {shown(named)}, expected one of {', '.join(classes)}")
        member: Any = classes[named]
        return _CONVERTER.structure(value, member)

    def unstructure(value: Any) -> dict[str, Any]:
        document = _CONVERTER.unstructure(value, value.__class__)
        return {tag: document[tag], **document}

    _CONVERTER.register_structure_hook_func(lambda type_: type_ == union, structure)
    _CONVERTER.register_unstructure_hook_func(lambda type_: type_ == union, unstructure)


def _sorted(_: Any) -> Callable[[Any], Any]:
    return sorted


def _new_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    converter.register_structure_hook_factory(has, _structured)
    converter.register_unstructure_hook_factory(has, _unstructured)
    converter.register_structure_hook_factory(_origin_in(tuple, frozenset), _list)
    converter.register_structure_hook_factory(_is_pair, _pair)
    converter.register_structure_hook_factory(_origin_in(dict, Mapping), _mapping)
    for type_ in _EXPECTED:
        converter.register_structure_hook(type_, _scalar)
    converter.register_structure_hook(bytes, _bytes)
    converter.register_unstructure_hook(bytes, lambda data: b64encode(data).decode("ascii"))
    converter.register_structure_hook(StrEnum, _choice)
    converter.register_structure_hook_func(_origin_in(Literal), _choice)
    converter.register_structure_hook_factory(_origin_in(Annotated), _ruled)
    converter.register_unstructure_hook_factory(_origin_in(frozenset), _sorted)
    converter.register_structure_hook_func(lambda type_: type_ == Instant, _instant)
    converter.register_unstructure_hook_func(lambda type_: type_ == Instant, iso_of)
    return converter


_CONVERTER = _new_converter()


# -- problems ---------------------------------------------------------------------------------------------------------


def _problems(error: Exception, where: str) -> Iterator[str]:
    """Every problem in what cattrs raised, each with its path."""
    match error:
        case InvalidValue():
            yield from (_at(where, each) for each in error.problems)
        case BaseValidationError():
            for each in error.exceptions:
                yield from _problems(each, _path_to(each, error.cl, where))
        case ForbiddenExtraKeysError():
            expected = ", ".join(key_of(error.cl, each.name) for each in fields(error.cl))
            yield from (f"{_joined(where, key)} is unknown, expected {expected}" for key in sorted(error.extra_fields))
        case ProblemAt():
            yield f"{_joined(where, error.key)} {error}"
        case KeyError():
            yield _at(where, "is missing")
        case _:
            yield _at(where, str(error))


def _path_to(error: Exception, cls: type, where: str) -> str:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return _joined(where, key_of(cls, note.name))
        if isinstance(note, IterableValidationNote):
            return f"{where}[{note.index}]" if isinstance(note.index, int) else _joined(where, str(note.index))
    return where


def _joined(where: str, key: str) -> str:
    name = key if key.isprintable() and len(key) <= 60 else shown(key)
    return f"{where}.{name}" if where else name


def _at(where: str, problem: str) -> str:
    return f"{where or 'the document'} {problem}"
