"""What setup wants to find in a person's files, as values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from attrs import frozen

Syntax = Literal["jsonc", "toml", "yaml", "whole"]
"""How a file is written; `whole`: all of it is ours."""

Act = Literal["capture", "inject"]
"""A hook tells memory of a session, or is told what the session is to know."""


class Part(StrEnum):
    """What setup can install for a harness; each may be left out."""

    HOOKS = "hooks"
    """Hooks in the harness's settings, or a plugin file of ours: what tells memory of sessions."""
    MCP = "mcp"
    """The entry by which the harness starts `memory mcp`."""
    SKILL = "skill"
    """A file that teaches the agent how to use `memory`."""
    SECTION = "section"
    """The managed section in the harness's instruction file."""


@frozen
class Element:
    """An element of the list at `keys`. Ours is known by its `command`, wherever it stands in the element; without one
    the element is equal to `value`."""

    keys: tuple[str, ...]
    value: Any
    command: str | None = None
    mark: str = ""
    """Text by which an element that does the same, whoever put it there, is known; empty: only `value` itself is."""
    part: Part | None = None
    harnesses: tuple[str, ...] = ()
    kind: Literal["element"] = "element"


@frozen
class Member:
    """The value at `keys`. Ours holds the text `command` somewhere, or is equal to `value` where that is None."""

    keys: tuple[str, ...]
    value: Any
    command: str | None = None
    optional: bool = False
    """Whatever somebody else has put there will do."""
    stays: bool = False
    """It is taken out only where nothing else has come into the document that may need it."""
    part: Part | None = None
    harnesses: tuple[str, ...] = ()
    kind: Literal["member"] = "member"


@frozen
class Whole:
    """A file of ours from its first byte to its last."""

    text: str
    part: Part | None = None
    harnesses: tuple[str, ...] = ()
    kind: Literal["whole"] = "whole"


Entry = Element | Member | Whole
"""An entry of ours in a file. One that is placed there names its part (None: what is in our own config) and for whom it is."""


@frozen
class Wanted:
    """Entries that one part of a setup wants in one file."""

    part: Part
    path: str
    """Absolute."""
    syntax: Syntax
    entries: tuple[Entry, ...]


@frozen
class Switch:
    """A setting that would keep an installed part from working: where it has this value, `sentence` says so."""

    path: str
    syntax: Syntax
    keys: tuple[str, ...]
    value: Any
    sentence: str


SESSION = "agent-memory-session"
DIRECTORY = "agent-memory-directory"


@frozen
class SelfTest:
    """How the harness calls us: a command for `sh -c`, and what it gets on standard input. `SESSION` stands for the session's
    id in both, and `DIRECTORY` in the payload for where it takes place."""

    command: str
    payload: Mapping[str, Any]
    act: Act = "capture"


@frozen
class HarnessSetup:
    """Everything that one harness wants."""

    files: tuple[Wanted, ...] = ()
    target: str | None = None
    """The instruction file that it reads in every session; None where it has none."""
    self_tests: tuple[SelfTest, ...] = ()
    switches: tuple[Switch, ...] = ()
    notes: tuple[str, ...] = ()
    """Whole sentences: what the person has to do in the harness itself."""
    directories: tuple[str, ...] = ()
    """It is on this machine where one of these exists,"""
    programs: tuple[str, ...] = ()
    """or one of these is on PATH."""
