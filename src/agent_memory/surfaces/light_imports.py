"""Libraries without those of their modules that they take nothing from but names.

`returns.result` takes `FrameInfo` from `inspect` to annotate one attribute, from `typing_extensions` what `typing` has as well
in every Python that we run on, and from `returns.interfaces` base classes without a method of their own, which are for type
checkers and for the tests of laws. `argparse` takes from `gettext` what looks for translations of its messages; there are none
of ours. To load all these takes longer than to start the interpreter. So stand-ins take their places while the library is
loaded, and no longer: whoever imports them afterwards gets the real ones.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterable
from types import ModuleType

_OF_RESULTS = ("alt", "bind", "failure", "lash", "map", "unwrap", "value_or")
"""What we ask of a result: its own, whatever it inherits."""


class _TypingAlone(ModuleType):
    """In the place of `typing_extensions`."""

    def __getattr__(self, name: str) -> object:
        return getattr(typing, name)


class _FramesAlone(ModuleType):
    """In the place of `inspect`."""

    FrameInfo = tuple


class _Interface:
    """In the place of an interface of any number of types."""

    __slots__ = ()

    def __class_getitem__(cls, _types: object) -> type[_Interface]:
        return cls


class _ResultInterface:
    ResultBased2 = _Interface


class _InterfacesAlone(ModuleType):
    """In the place of `returns.interfaces.specific` and `returns.interfaces.equable`."""

    result = _ResultInterface
    Equable = _Interface


class _NoTranslations(ModuleType):
    """In the place of `gettext`."""

    @staticmethod
    def gettext(message: str) -> str:
        return message

    @staticmethod
    def ngettext(singular: str, plural: str, n: int) -> str:
        return singular if n == 1 else plural


class _NoDates(ModuleType):
    """In the place of `datetime`."""

    date = type("date", (), {})
    time = type("time", (), {})
    datetime = type("datetime", (), {})


def load_argparse() -> None:
    """Have `argparse` loaded."""
    _load("argparse", (_NoTranslations("gettext"),))


def load_returns() -> None:
    """Have `returns.result` loaded."""
    interfaces = (_InterfacesAlone(f"returns.interfaces.{name}") for name in ("specific", "equable"))
    _load(
        "returns.result",
        (_TypingAlone("typing_extensions"), _FramesAlone("inspect"), *interfaces),
        has={"Result": _OF_RESULTS},
    )


def load_sqlite3() -> None:
    """Have `sqlite3` loaded."""
    _load("sqlite3", (_NoDates("datetime"),))


def _load(name: str, stand_ins: Iterable[ModuleType], has: typing.Mapping[str, Iterable[str]] | None = None) -> None:
    """With the real modules where they are loaded anyway, or where the stand-ins are not enough: then the library is loaded
    anew when somebody imports it. `has`: what must be found in its classes."""
    if name in sys.modules:
        return
    put = [each for each in stand_ins if sys.modules.setdefault(each.__name__, each) is each]
    before = set(sys.modules)
    try:
        __import__(name)  # whoever needs it imports it again
        for of, members in (has or {}).items():
            for member in members:
                getattr(getattr(sys.modules[name], of), member)
    except (ImportError, AttributeError):
        package = name.partition(".")[0]
        for loaded in [each for each in sys.modules if each not in before and each.partition(".")[0] == package]:
            del sys.modules[loaded]
    finally:
        for each in put:
            if sys.modules.get(each.__name__) is each:
                del sys.modules[each.__name__]
