"""`returns.result` without two modules that it takes nothing from but names for its annotations.

It takes `FrameInfo` from `inspect` to annotate one attribute, and from `typing_extensions` what `typing` has as well in every
Python that we run on. To load the two takes as long as to start the interpreter. So stand-ins take their places while
`returns.result` is loaded, and no longer: whoever imports them afterwards gets the real ones.
"""

from __future__ import annotations

import sys
import typing
from types import ModuleType


class _TypingAlone(ModuleType):
    """In the place of `typing_extensions`."""

    def __getattr__(self, name: str) -> object:
        return getattr(typing, name)


class _FramesAlone(ModuleType):
    """In the place of `inspect`."""

    FrameInfo = tuple


def load_returns() -> None:
    """Have `returns.result` loaded, with the real modules where they are loaded anyway or the stand-ins are not enough."""
    if "returns.result" in sys.modules:
        return
    stand_ins = (_TypingAlone("typing_extensions"), _FramesAlone("inspect"))
    put = [each for each in stand_ins if sys.modules.setdefault(each.__name__, each) is each]
    before = set(sys.modules)
    try:
        __import__("returns.result")  # whoever needs it imports it again
    except (ImportError, AttributeError):
        # Another version of it wants more: what was loaded halfway is loaded anew when somebody imports it.
        for name in [each for each in sys.modules if each not in before and each.partition(".")[0] == "returns"]:
            del sys.modules[name]
    finally:
        for each in put:
            if sys.modules.get(each.__name__) is each:
                del sys.modules[each.__name__]
