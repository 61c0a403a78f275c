"""Words that a harness records several times."""

from __future__ import annotations

from collections import deque

from agent_memory.values import define

_RECENT = 60
_KEY_CHARS = 4_000


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
            if heard.key == key and carrier not in heard.carriers:
                heard.carriers.add(carrier)
                return False
        self._recent.append(_Heard(key, {carrier}))
        return True
