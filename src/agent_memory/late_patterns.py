"""Regular expressions that are compiled when they are first used: a command loads some eighty, and needs a third of them."""

from __future__ import annotations

import re
from typing import Any, cast


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile` gives it, but that a mistake in it shows at the first use. For the names of a module."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


class _LatePattern:
    """Has each attribute of the pattern from the moment on that somebody asks for it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._said = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._said), name)  # kept by `re`
        setattr(self, name, attribute)
        return attribute
