"""Classes of values that behave as those of attrs do, and cost a twentieth of it while modules are loaded.

A command loads some hundred and fifty of them, and makes values of a half. attrs writes and compiles the methods of each
when it is decorated (0.35 ms), and takes longest to be loaded itself; here they are compiled when so many values of a class
are made that it pays (see `light_methods`). Whoever asks (`attrs.fields`, `attrs.evolve`, `attrs.asdict`, cattrs) is told what
attrs would tell.

Only what our values need: slots, fields with a default, a factory or metadata, left out of `repr` or not. Whatever else is
asked for is a TypeError when the class is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeVar

from agent_memory.light_methods import DEFINED_METHODS, FIELDS, FROZEN_METHODS, MISSING, Defined, Field, Frozen

Class = TypeVar("Class", bound=type)

_OF_NO_SLOTS = frozenset(("__dict__", "__weakref__"))
"""What a class has where it names no slots."""


def field(
    *,
    default: Any = MISSING,
    factory: Callable[[], Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    repr: bool = True,
) -> Any:
    """See `attrs.field`."""
    return Field(default, factory, metadata, is_shown=repr)


def frozen(cls: Class) -> Class:
    """See `attrs.frozen`."""
    made: Class = _made(cls, Frozen, FROZEN_METHODS)
    return made


def define(cls: Class) -> Class:
    """See `attrs.define`."""
    made: Class = _made(cls, Defined, DEFINED_METHODS)
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


def _made(cls: Any, base: type, methods: Mapping[str, Any]) -> Any:
    """The class once more, with slots, and with those of the methods that it has not itself: from the base where it has no
    other."""
    new = _new_fields(cls)
    namespace = {name: each for name, each in cls.__dict__.items() if name not in new and name not in _OF_NO_SLOTS}
    own = tuple(namespace.values())
    if cls.__bases__ == (object,):
        bases, fields, slots = (base,), new, tuple(new)
    else:
        bases, fields = (
            cls.__bases__,
            {name: each for name, each in _inherited_fields(cls).items() if name not in new} | new,
        )
        slots = tuple(_slots(cls, new))
        if "__eq__" in namespace:
            namespace.setdefault("__hash__", None)
        namespace = {**methods, **namespace}
    namespace["__qualname__"] = cls.__qualname__
    namespace["__slots__"] = slots
    namespace["__match_args__"] = tuple(fields)
    namespace[FIELDS] = fields
    namespace["__attrs_attrs__"] = _TOLD
    made = type(cls)(cls.__name__, bases, namespace)
    for member in own:
        _bind_anew(member, cls, made)
    return made


def _new_fields(cls: Any) -> dict[str, Field]:
    own, fields = cls.__dict__, dict[str, Field]()
    has_default = False
    for name, annotation in cls.__annotations__.items():
        if str(annotation).removeprefix("typing.").startswith("ClassVar"):
            continue
        said = own.get(name, MISSING)
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


# -- for attrs ------------------------------------------------------------------------------------------------------------


class _Told:
    """The fields of a class as attrs describes them, made when somebody asks."""

    def __get__(self, value: object, cls: Any) -> Any:
        from agent_memory.told_to_attrs import told

        cls.__attrs_attrs__ = told(cls)
        return cls.__attrs_attrs__


_TOLD = _Told()
