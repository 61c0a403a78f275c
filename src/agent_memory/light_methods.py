"""The methods of classes of values (`light_classes`): the same ones for all classes at first; of a class's own once the first
value of it is made; compiled once many were.

Classes inherit them: to put them into each takes several times as long as to make the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

FIELDS = "__value_fields__"
"""Where a class keeps its fields by name."""
_CALLS_BEFORE_COMPILING = 200
"""A call without compiled methods takes a microsecond or two longer, and to compile those of a class two hundred: a command
makes one to a hundred values of most classes."""


class _Missing:
    pass


MISSING = _Missing()


class Field:
    """What is said of one field beside its type."""

    __slots__ = ("default", "factory", "is_shown", "metadata")

    def __init__(
        self, default: Any, factory: Callable[[], Any] | None, metadata: Mapping[str, Any] | None, *, is_shown: bool
    ) -> None:
        self.default = default
        self.factory = factory
        self.metadata = metadata
        self.is_shown = is_shown

    def has_default(self) -> bool:
        return self.factory is not None or self.default is not MISSING

    def new_default(self) -> Any:
        """The value of a field that is not given; only where there is one."""
        return self.default if self.factory is None else self.factory()


# -- of all classes, until they have their own ------------------------------------------------------------------------------


def _first_init(self: Any, *values: Any, **named: Any) -> None:
    cls = _class_of(self)
    cls.__init__ = _quick_init(cls)
    cls.__init__(self, *values, **named)


def _first_eq(self: Any, other: object) -> Any:
    cls = _class_of(self)
    if _pays(cls):
        _compile_methods(cls)
        return cls.__eq__(self, other)
    if other.__class__ is not self.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in cls.__value_fields__)


def _first_hash(self: Any) -> Any:
    cls = _class_of(self)
    if _pays(cls):
        _compile_methods(cls)
        return cls.__hash__(self)
    return hash((self.__class__, *(getattr(self, name) for name in cls.__value_fields__)))


def _repr(self: Any) -> str:
    cls = self.__class__
    shown = [f"{name}={getattr(self, name)!r}" for name, each in cls.__value_fields__.items() if each.is_shown]
    return f"{cls.__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


def _state(self: Any) -> dict[str, Any]:
    return {name: getattr(self, name) for name in self.__class__.__value_fields__}


def _restore(self: Any, state: Mapping[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


def _refuse(self: Any, *_: Any) -> None:
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError


def _class_of(value: Any) -> Any:
    """The class that gives the value its fields: its own, or one that it was derived from without any."""
    return next(each for each in type(value).__mro__ if FIELDS in each.__dict__)


def _pays(cls: Any) -> bool:
    """Whether it is time to compile the methods of a class; counts the calls."""
    _calls[cls] = calls = _calls.get(cls, 0) + 1
    return calls > _CALLS_BEFORE_COMPILING


_calls: dict[Any, int] = {}
_FIRST: Mapping[str, Any] = {"__init__": _first_init, "__eq__": _first_eq, "__hash__": _first_hash}
_METHODS: Mapping[str, Any] = {**_FIRST, "__repr__": _repr, "__getstate__": _state, "__setstate__": _restore}

FROZEN_METHODS: Mapping[str, Any] = {**_METHODS, "__setattr__": _refuse, "__delattr__": _refuse}
DEFINED_METHODS: Mapping[str, Any] = {**_METHODS, "__hash__": None}

Frozen: type = type("Frozen", (), {"__slots__": ("__weakref__",), **FROZEN_METHODS})
Defined: type = type("Defined", (), {"__slots__": ("__weakref__",), **DEFINED_METHODS})


# -- of one class -----------------------------------------------------------------------------------------------------------


def _quick_init(cls: Any) -> Callable[..., None]:
    """`__init__` of a class as nothing need be compiled for it. What does not fit is told by the compiled one."""
    fields: Mapping[str, Field] = cls.__value_fields__
    setters = [getattr(cls, name).__set__ for name in fields]
    by_name = [(name.lstrip("_"), setter, each) for (name, each), setter in zip(fields.items(), setters, strict=True)]
    count, calls = len(fields), 0

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807 - it becomes that method
        nonlocal calls
        calls += 1
        given, left = len(values), len(named)
        is_filled = given + left <= count and calls <= _CALLS_BEFORE_COMPILING
        if is_filled:
            for setter, value in zip(setters, values):  # noqa: B905 - the others come by name
                setter(self, value)
            for alias, setter, each in by_name[given:] if given < count else ():
                if left and alias in named:
                    setter(self, named[alias])
                    left -= 1
                elif each.factory is not None:
                    setter(self, each.factory())
                elif each.default is not MISSING:
                    setter(self, each.default)
                else:
                    is_filled = False
                    break
        if not is_filled or left:
            _compile_methods(cls)
            cls.__init__(self, *values, **named)

    _quick[cls] = __init__
    return __init__


_quick: dict[Any, Callable[..., None]] = {}


def _compile_methods(cls: Any) -> None:
    """Give a class methods of its own in place of those that led here."""
    known: dict[str, Any] = {"_missing": MISSING, "_not_implemented": NotImplemented}
    for name, each in cls.__value_fields__.items():
        known[f"_set_{name}"] = getattr(cls, name).__set__
        known[f"_default_{name}"] = each.default
        known[f"_new_{name}"] = each.factory
    source = "\n".join((*_init_lines(cls.__value_fields__), *_comparing_lines(tuple(cls.__value_fields__))))
    exec(compile(source, f"<methods of {cls.__module__}.{cls.__qualname__}>", "exec"), known)
    for name, first in _FIRST.items():
        current = getattr(cls, name)
        if current is first or (name == "__init__" and current is _quick.get(cls)):
            known[name].__module__, known[name].__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
            setattr(cls, name, known[name])


def _init_lines(fields: Mapping[str, Field]) -> Iterator[str]:
    aliases = {name: name.lstrip("_") for name in fields}
    parameters = ["self"]
    for name, each in fields.items():
        default = "_missing" if each.factory is not None else f"_default_{name}"
        parameters.append(f"{aliases[name]}={default}" if each.has_default() else aliases[name])
    yield f"def __init__({', '.join(parameters)}):"
    yield "    pass"
    for name, each in fields.items():
        alias = aliases[name]
        value = alias if each.factory is None else f"_new_{name}() if {alias} is _missing else {alias}"
        yield f"    _set_{name}(self, {value})"


def _comparing_lines(names: tuple[str, ...]) -> Iterator[str]:
    yield "def __eq__(self, other):"
    yield "    if other.__class__ is not self.__class__:"
    yield "        return _not_implemented"
    yield f"    return {' and '.join(f'self.{name} == other.{name}' for name in names) or 'True'}"
    yield "def __hash__(self):"
    yield f"    return hash((self.__class__, {' '.join(f'self.{name},' for name in names)}))"
