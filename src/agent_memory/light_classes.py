"""Classes of values that behave as those of attrs do, and cost a tenth of it while modules are loaded.

A command loads some hundred and fifty of them, and makes values of a third. attrs writes and compiles the methods of each
when it is decorated (0.35 ms), and takes longest to be loaded itself; here they are compiled when so many values of a class
are made that it pays (0.03 ms, and 0.3 then). Whoever asks (`attrs.fields`, `attrs.evolve`, `attrs.asdict`, cattrs) is told what
attrs would tell.

Only what our values need: slots, fields with a default, a factory or metadata, left out of `repr` or not. Whatever else is
asked for is a TypeError when the class is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

FIELDS = "__value_fields__"
"""Where a class keeps its fields by name."""
_CALLS_BEFORE_COMPILING = 30
"""A call without compiled methods takes some microseconds longer: a command makes one to ten values of most classes."""


class _Missing:
    pass


_MISSING = _Missing()


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
        return self.factory is not None or self.default is not _MISSING

    def new_default(self) -> Any:
        """The value of a field that is not given; only where there is one."""
        return self.default if self.factory is None else self.factory()


def field(
    *,
    default: Any = _MISSING,
    factory: Callable[[], Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    repr: bool = True,
) -> Any:
    """See `attrs.field`."""
    return Field(default, factory, metadata, is_shown=repr)


def frozen(cls: Class) -> Class:
    """See `attrs.frozen`."""
    made: Class = _made(cls, {**_METHODS, "__setattr__": _refuse, "__delattr__": _refuse})
    return made


def define(cls: Class) -> Class:
    """See `attrs.define`."""
    made: Class = _made(cls, {**_METHODS, "__hash__": None})
    return made


def evolve(value: Any, /, **changes: Any) -> Any:
    """See `attrs.evolve`."""
    cls = value.__class__
    fields = getattr(cls, FIELDS, None)
    if fields is None:
        import attrs

        return attrs.evolve(value, **changes)
    for name in fields:
        alias = name.lstrip("_")
        if alias not in changes:
            changes[alias] = getattr(value, name)
    return cls(**changes)


def described_fields(cls: type) -> Mapping[str, Field]:
    """What is said of the fields of a class, by their names, in their order; TypeError for a class that is not ours."""
    fields: Mapping[str, Field] | None = getattr(cls, FIELDS, None)
    if fields is None:
        raise TypeError(f"{cls.__qualname__} is not a class of values")
    return fields


def field_names(cls: type) -> tuple[str, ...]:
    """The names of the fields of a class, in their order."""
    return tuple(described_fields(cls))


def is_value_class(type_: object) -> bool:
    """Whether it is a class that was made here."""
    return hasattr(type_, FIELDS)


# -- making a class -------------------------------------------------------------------------------------------------------


def _made(cls: Any, methods: Mapping[str, Any]) -> Any:
    """The class once more, with slots, and with those of the methods that it has not itself."""
    new = _new_fields(cls)
    own = {name: each for name, each in cls.__dict__.items() if name not in (*new, "__dict__", "__weakref__")}
    fields = {name: each for name, each in _inherited_fields(cls).items() if name not in new} | new
    namespace = {name: method for name, method in methods.items() if name not in own}
    if "__eq__" in own and "__hash__" not in own:
        namespace["__hash__"] = None
    namespace |= own
    namespace["__qualname__"] = cls.__qualname__
    namespace["__slots__"] = tuple(_slots(cls, new))
    namespace["__match_args__"] = tuple(fields)
    namespace[FIELDS] = fields
    namespace["__attrs_attrs__"] = _TOLD
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    for member in own.values():
        _bind_anew(member, cls, made)
    return made


def _new_fields(cls: Any) -> dict[str, Field]:
    own, fields = cls.__dict__, dict[str, Field]()
    has_default = False
    for name, annotation in cls.__annotations__.items():
        if str(annotation).removeprefix("typing.").startswith("ClassVar"):
            continue
        said = own.get(name, _MISSING)
        each = said if isinstance(said, Field) else Field(said, None, None, is_shown=True)
        if has_default and not each.has_default():
            raise TypeError(f"{cls.__qualname__}.{name} has no default, and one before it has")
        has_default = each.has_default()
        fields[name] = each
    for name, member in own.items():
        if isinstance(member, Field) and name not in fields:
            raise TypeError(f"{cls.__qualname__}.{name} has no type")
        if type(member).__name__ == "cached_property" or name == "__attrs_post_init__":
            raise TypeError(f"{cls.__qualname__}.{name}: only attrs itself can do that")
    return fields


def _inherited_fields(cls: Any) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        known = base.__dict__.get(FIELDS)
        if known is None and "__attrs_attrs__" in base.__dict__:
            raise TypeError(f"{cls.__qualname__} has a base made by attrs itself")
        fields.update(known or {})
    return fields


def _slots(cls: Any, new: Mapping[str, Field]) -> Iterator[str]:
    taken = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    yield from (name for name in new if name not in taken)
    if not any(base.__weakrefoffset__ for base in cls.__mro__[1:]):
        yield "__weakref__"


def _bind_anew(member: Any, cls: type, made: type) -> None:
    """Let `super()` and `__class__` in a method mean the new class: the compiler bound them to the one without slots."""
    for function in (member, getattr(member, "__func__", None), getattr(member, "fget", None)):
        for cell in (function.__closure__ or ()) if isinstance(function, FunctionType) else ():
            try:
                if cell.cell_contents is cls:
                    cell.cell_contents = made
            except ValueError:  # an empty cell
                continue


# -- the methods of a class -----------------------------------------------------------------------------------------------


def _compile_methods(cls: Any) -> None:
    """Give a class methods of its own in place of those that led here."""
    known: dict[str, Any] = {"_missing": _MISSING, "_not_implemented": NotImplemented}
    for name, each in cls.__value_fields__.items():
        known[f"_set_{name}"] = getattr(cls, name).__set__
        known[f"_default_{name}"] = each.default
        known[f"_new_{name}"] = each.factory
    source = "\n".join((*_init_lines(cls.__value_fields__), *_comparing_lines(tuple(cls.__value_fields__))))
    exec(compile(source, f"<methods of {cls.__module__}.{cls.__qualname__}>", "exec"), known)
    for name, first in _FIRST.items():
        if cls.__dict__.get(name) is first:
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


def _compiled(value: Any, name: str) -> Any:
    """The method of that name, once the class that the value has it from has its own."""
    cls = _owner(value, name)
    if cls.__dict__[name] is _FIRST[name]:
        _compile_methods(cls)
    return cls.__dict__[name]


def _owner(value: Any, name: str) -> Any:
    return next(each for each in type(value).__mro__ if name in each.__dict__)


def _pays(cls: Any) -> bool:
    """Whether it is time to compile the methods of a class; counts the calls."""
    _calls[cls] = calls = _calls.get(cls, 0) + 1
    return calls > _CALLS_BEFORE_COMPILING


def _first_init(self: Any, *values: Any, **named: Any) -> None:
    cls = _owner(self, "__init__")
    if _pays(cls) or not _set_fields(self, cls.__value_fields__, values, named):
        _compiled(self, "__init__")(self, *values, **named)


def _set_fields(self: Any, fields: Mapping[str, Field], values: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether the arguments fit; where they do not, the compiled method knows how to say so."""
    unset = iter(fields.items())
    for value, (name, _) in zip(values, unset):  # noqa: B905 - the values first: what is left over is not taken
        _set(self, name, value)
    left, filled = len(named), min(len(values), len(fields))
    for name, each in unset if filled == len(values) else ():
        alias = name.lstrip("_")
        if alias in named:
            _set(self, name, named[alias])
            left -= 1
        elif each.factory is not None:
            _set(self, name, each.factory())
        elif each.default is not _MISSING:
            _set(self, name, each.default)
        else:
            return False
    return filled == len(values) and left == 0


def _first_eq(self: Any, other: object) -> Any:
    cls = _owner(self, "__eq__")
    if _pays(cls):
        return _compiled(self, "__eq__")(self, other)
    if other.__class__ is not self.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in cls.__value_fields__)


def _first_hash(self: Any) -> Any:
    cls = _owner(self, "__hash__")
    if _pays(cls):
        return _compiled(self, "__hash__")(self)
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


_set = object.__setattr__
_calls: dict[Any, int] = {}
_FIRST: Mapping[str, Any] = {"__init__": _first_init, "__eq__": _first_eq, "__hash__": _first_hash}
_METHODS: Mapping[str, Any] = {**_FIRST, "__repr__": _repr, "__getstate__": _state, "__setstate__": _restore}


# -- for attrs ------------------------------------------------------------------------------------------------------------


class _Told:
    """The fields of a class as attrs describes them, made when somebody asks."""

    def __get__(self, value: object, cls: Any) -> Any:
        from agent_memory.told_to_attrs import told

        cls.__attrs_attrs__ = told(cls)
        return cls.__attrs_attrs__


_TOLD = _Told()
