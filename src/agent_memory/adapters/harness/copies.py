"""Words that a harness records several times."""

from __future__ import annotations

from collections import deque

from agent_memory.values import define

_RECENT = 60
_KEY_CHARS = 4_000
_WHOLE_CHARS = 60
"""Of a text so long, its beginning is a copy of it: citations and directives at the end are in some carriers only."""


@define
class _Heard:
    key: str
    carriers: set[str]


class Copies:
    """Tells the first record of some words from the copies of it in records of other kinds (`carrier`): within one kind
    the same words, said again, are said again. Only the last sixty different words are compared."""

    def __init__(self) -> None:
        self._recent: deque[_Heard] = deque(maxlen=_RECENT)

    def is_new(self, text: str, carrier: str) -> bool:
        """Whether these words were not heard from a carrier of another kind that still waits for its copy in this one."""
        key = " ".join(text[:_KEY_CHARS].split())
        for heard in self._recent:
            if carrier not in heard.carriers and _is_copy(heard.key, key):
                heard.carriers.add(carrier)
                return False
        self._recent.append(_Heard(key, {carrier}))
        return True


def _is_copy(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return shorter == longer or (len(shorter) >= _WHOLE_CHARS and longer.startswith(shorter))
