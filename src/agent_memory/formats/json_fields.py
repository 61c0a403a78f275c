"""The members of a JSON object, read strictly: every problem is noted, and none stops the reading."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from agent_memory.domain.json_shape import is_list
from agent_memory.domain.queueing.inbox_rules import shown

Rule = Callable[[object], str | None]
"""What is wrong with a value, or None."""


class Fields:
    """One object's members. `problems` collects `key what is wrong`; a member with a problem reads as a placeholder, so values
    built from it must be thrown away when there are problems."""

    def __init__(self, members: dict[str, Any], problems: list[str]) -> None:
        self._members = members
        self._problems = problems
        self._asked: dict[str, bool] = {}

    def refuse(self, key: str, problem: str) -> None:
        """Note a problem with a member."""
        name = key if key.isprintable() and len(key) <= 60 else shown(key)
        self._problems.append(f"{name} {problem}")

    def has(self, key: str) -> bool:
        """Whether there is such a member. One that nobody asks for is unknown."""
        self._asked[key] = True
        return key in self._members

    def requires(self, key: str) -> bool:
        """Whether there is such a member; its absence is a problem."""
        if not self.has(key):
            self.refuse(key, "is missing")
        return key in self._members

    def value(self, key: str) -> Any:
        """The value of a member that is there, of any type."""
        return self._members[key]

    def text(self, key: str, rule: Rule) -> str:
        """A required member that obeys the rule."""
        return self._checked(key, self._members[key], rule) if self.requires(key) else ""

    def optional_text(self, key: str, rule: Rule) -> str | None:
        """A member that obeys the rule, or None when it is absent."""
        return self.text(key, rule) if self.has(key) else None

    def optional_choice(self, key: str, expected: Collection[str]) -> str | None:
        """A member that is one of some words, or None when it is absent."""
        if not self.has(key):
            return None
        value = self._members[key]
        if isinstance(value, str) and value in expected:
            return value
        self.refuse(key, f"is {shown(value)}, expected one of {', '.join(expected)}")
        return None

    def texts(self, key: str, rule: Rule, max_items: int) -> tuple[str, ...]:
        """A member that is a list of texts that obey the rule; empty when it is absent."""
        value = self._members[key] if self.has(key) else list[Any]()
        if not is_list(value):
            self.refuse(key, f"is {shown(value)}, expected a list")
            return ()
        if len(value) > max_items:
            self.refuse(key, f"has {len(value):,} items, at most {max_items:,} are allowed")
            return ()
        return tuple(self._checked(f"{key}[{index}]", item, rule) for index, item in enumerate(value))

    def close(self) -> None:
        """Refuse every member that nobody asked for."""
        for key in self._members:
            if key not in self._asked:
                self.refuse(key, f"is unknown, expected {', '.join(self._asked)}")

    def _checked(self, key: str, value: object, rule: Rule) -> str:
        problem = rule(value)
        if problem is not None or not isinstance(value, str):
            self.refuse(key, problem or f"is {shown(value)}, expected text")
            return ""
        return value
