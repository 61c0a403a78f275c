"""Reading the members of a JSON object strictly: every problem is noted under its path, and none stops the reading."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.queueing.inbox_rules import shown

Rule = Callable[[object], str | None]
"""What is wrong with a value, or None."""

Item = TypeVar("Item")


def any_text(value: object) -> str | None:
    """The rule for text of any length that UTF-8 can hold."""
    if not isinstance(value, str):
        return f"is {shown(value)}, expected text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    return None


class Fields:
    """One object's members. `problems` collects `path what is wrong`; a member with a problem reads as a placeholder,
    so values built from it must be thrown away when there are problems."""

    def __init__(self, document: object, where: str, problems: list[str]) -> None:
        self._members: dict[str, Any] = document if is_object(document) else {}
        self._where = where
        self._problems = problems
        self._asked: dict[str, bool] = {}
        self._is_object = is_object(document)
        if not self._is_object:
            problems.append(f"{where or 'the document'} is {shown(document)}, expected an object")

    def refuse(self, key: str, problem: str) -> None:
        """Note a problem with a member."""
        self._problems.append(f"{self._path(key)} {problem}")

    def has(self, key: str) -> bool:
        """Whether there is such a member. One that nobody asks for is unknown."""
        self._asked[key] = True
        return key in self._members

    def requires(self, key: str) -> bool:
        """Whether there is such a member; its absence is a problem."""
        if not self.has(key) and self._is_object:
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

    def choice(self, key: str, expected: Collection[str]) -> str:
        """A required member that is one of some words; "" when it is not."""
        if not self.requires(key):
            return ""
        value = self._members[key]
        if isinstance(value, str) and value in expected:
            return value
        self.refuse(key, f"is {shown(value)}, expected one of {', '.join(expected)}")
        return ""

    def optional_choice(self, key: str, expected: Collection[str]) -> str | None:
        """Like `choice`, or None when it is absent."""
        return self.choice(key, expected) if self.has(key) else None

    def integer(self, key: str) -> int:
        """A member that is a whole number of at least 0; 0 when it is absent."""
        value = self._members[key] if self.has(key) else 0
        if type(value) is int and value >= 0:
            return value
        self.refuse(key, f"is {shown(value)}, expected a whole number from 0")
        return 0

    def optional_integer(self, key: str) -> int | None:
        """Like `integer`, or None when it is absent."""
        return self.integer(key) if self.has(key) else None

    def version_one(self) -> None:
        """Require `version` to be 1."""
        if self.requires("version"):
            value = self._members["version"]
            if type(value) is not int or value != 1:
                self.refuse("version", f"is {shown(value)}, expected 1")

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

    def objects(self, key: str, read: Callable[[Fields], Item], least: int, most: int) -> tuple[Item, ...]:
        """A required member that is a list of `least` to `most` objects without unknown members."""
        if not self.requires(key):
            return ()
        value = self._members[key]
        if not is_list(value):
            self.refuse(key, f"is {shown(value)}, expected a list")
            return ()
        if not least <= len(value) <= most:
            self.refuse(key, f"has {len(value):,} items, expected {least} to {most}")
            return ()
        return tuple(self._object(f"{key}[{index}]", item, read) for index, item in enumerate(value))

    def let_pass(self) -> None:
        """Take no member for unknown: what the object should hold cannot be told."""
        self._asked.update(dict.fromkeys(self._members, True))

    def close(self) -> None:
        """Refuse every member that nobody asked for."""
        for key in self._members:
            if key not in self._asked:
                self.refuse(key, f"is unknown, expected {', '.join(self._asked)}")

    def _object(self, key: str, value: object, read: Callable[[Fields], Item]) -> Item:
        fields = Fields(value, self._path(key), self._problems)
        item = read(fields)
        fields.close()
        return item

    def _checked(self, key: str, value: object, rule: Rule) -> str:
        problem = rule(value)
        if problem is not None or not isinstance(value, str):
            self.refuse(key, problem or f"is {shown(value)}, expected text")
            return ""
        return value

    def _path(self, key: str) -> str:
        name = key if key.isprintable() and len(key) <= 60 else shown(key)
        return f"{self._where}.{name}" if self._where else name
