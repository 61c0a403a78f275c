"""What setup and uninstall are asked for, what they are about to do, the outcome, and the receipt: everything that
setup has put into a person's files, which is all that uninstall needs besides the backups."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from attrs import field, frozen

from agent_memory.errors import Error
from agent_memory.redaction.redact import redact
from agent_memory.rules.published import TargetFile
from agent_memory.text.json_codec import matching

# -- what is wanted ---------------------------------------------------------------------------------------------------
# What setup wants to have in a person's files, as values.


Syntax = Literal["jsonc", "toml", "yaml", "whole"]
"""How a file is written; `whole`: the file is ours alone."""

Act = Literal["capture", "inject"]
"""A hook reports a session to memory, or asks what the session should know."""


class Part(StrEnum):
    """A part of a setup; each may be left out."""

    HOOKS = "hooks"
    """Hooks in the harness's settings, or a plugin file of ours, which report sessions to memory."""
    MCP = "mcp"
    """The entry by which the harness starts `memory mcp`."""
    SKILL = "skill"
    """A file that teaches the agent how to use `memory`."""
    SECTION = "section"
    """The managed section in the harness's instruction file."""


@frozen
class Element:
    """An element of the list at `keys`. Ours is recognised by its `command`, wherever it stands in the element; without
    one, by being equal to `value`."""

    keys: tuple[str, ...]
    value: Any
    command: str | None = None
    mark: str = ""
    """A text that identifies an element that does the same, whoever put it there; empty: only `value` itself does."""
    part: Part | None = None
    harnesses: tuple[str, ...] = ()


@frozen
class Member:
    """The value at `keys`. Ours holds the text `command` somewhere, or is equal to `value` if that is None."""

    keys: tuple[str, ...]
    value: Any
    command: str | None = None
    optional: bool = False
    """Whether whatever somebody else has put there will do."""
    stays: bool = False
    """Whether it is removed only if nothing else has come into the document that may need it."""
    part: Part | None = None
    harnesses: tuple[str, ...] = ()


@frozen
class Whole:
    """A file that is ours from its first byte to its last."""

    text: str
    part: Part | None = None
    harnesses: tuple[str, ...] = ()


Entry = Element | Member | Whole
"""An entry of ours in a file. Once placed, it names its part (None: it is in our own config) and its harness."""


@frozen
class Wanted:
    """Entries that one part of a setup wants in one file."""

    part: Part
    path: str
    """Absolute."""
    syntax: Syntax
    entries: tuple[Entry, ...]
    words: str
    """A short description: `hooks Stop, SessionEnd`."""


@frozen
class Setting:
    """A setting of a harness that a person should know of if it has this `value`, or is missing and has it
    `by_default`."""

    harness: str
    title: str
    """The name of the harness for people."""
    path: str
    syntax: Syntax
    keys: tuple[str, ...]
    value: Any
    name: str = ""
    """The name of a memory of the harness's own; empty for a setting that keeps hooks from running."""
    by_default: bool = False
    variable: str = ""
    """An environment variable, also in the `env` of that file, which switches the memory off."""

    @property
    def setting(self) -> str:
        """Returns its name, as a person writes it."""
        return ".".join(self.keys)

    def __str__(self) -> str:
        if not self.name:
            value = json.dumps(self.value)
            return f"{self.setting} is {value} in {self.path}, so {self.title} runs no hook: nothing is captured until you change that."
        is_on = f"{self.title} has a memory of its own ({self.name}) that is not switched off, and two memories can disagree"
        return f"{is_on}: set {self.setting} to false in {self.path}."


@frozen
class SelfTest:
    """How the harness calls us: a command for `sh -c`."""

    harness: str
    command: str
    act: Act = "capture"


@frozen
class HarnessSetup:
    """Everything that one harness wants."""

    files: tuple[Wanted, ...] = ()
    target: str | None = None
    """The instruction file that it reads in every session; None if it has none."""
    acts: tuple[Act, ...] = ("capture", "inject")
    """What its hooks do."""
    settings: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    """Whole sentences about what the person has to do in the harness itself."""
    directories: tuple[str, ...] = ()
    """The harness is on this machine if one of these exists,"""
    programs: tuple[str, ...] = ()
    """or one of these is on PATH."""


Digest = Annotated[str, matching("[0-9a-f]{64}", "is no SHA-256")]
FilePath = Annotated[str, matching("(?s)/.*", "is not an absolute path")]


@frozen
class FileRecord:
    """A file with entries of ours."""

    path: FilePath
    syntax: Syntax
    before: Digest | None
    """SHA-256 of the file without ours, the name of its backup; None if there was no file."""
    after: Digest
    """SHA-256 of the file as we left it: while it matches, nobody has touched it since."""
    placed: tuple[Entry, ...]

    @property
    def harnesses(self) -> tuple[str, ...]:
        return tuple(harness for each in self.placed for harness in each.harnesses)


@frozen
class SectionRecord:
    """An instruction file that became a target."""

    path: FilePath
    before: Digest | None
    """SHA-256 of the file before, the name of its backup; None if there was no file."""
    harnesses: tuple[str, ...]


Record = FileRecord | SectionRecord


@frozen
class Receipt:
    """Everything that setup has installed and uninstall has not removed."""

    files: tuple[FileRecord, ...] = ()
    sections: tuple[SectionRecord, ...] = ()
    made_directories: tuple[FilePath, ...] = ()
    """Directories that were made for them."""

    @property
    def records(self) -> tuple[Record, ...]:
        return (*self.files, *self.sections)

    def file(self, path: str) -> FileRecord | None:
        """Returns the record of this file."""
        return next((each for each in self.files if each.path == path), None)

    def section(self, path: str) -> SectionRecord | None:
        """Returns the record of this instruction file."""
        return next((each for each in self.sections if each.path == path), None)

    @property
    def harnesses(self) -> frozenset[str]:
        """Returns the harnesses for which something is installed."""
        return frozenset(harness for each in self.records for harness in each.harnesses)


def repository_name(top: str) -> str:
    """Returns the name that stands for a harness in records of the repository whose work tree begins at `top`."""
    return f"repository:{top}"


# -- plans, outcomes -------------------------------------------------------------------------------------------


@frozen
class PlannedFile:
    """One file (or the person's crontab), and its planned content."""

    file: TargetFile
    after: bytes | None
    """None: it will be removed."""
    record: Record | None = None
    """What is recorded of it from then on; None: nothing."""
    backup: bytes | None = None
    """The file without ours."""
    set_aside: bool = False
    """Whether it is a file of ours that somebody has edited: that version is kept."""
    words: Mapping[str, str] = field(factory=dict[str, str])
    """A short description of what is added or removed, by harness."""

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def before(self) -> bytes | None:
        return self.file.data

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """Returns a unified diff, without secrets: settings hold keys of other servers, and a screen is often shared."""
        old, new = (self.path if each is not None else "/dev/null" for each in (self.before, self.after))
        before, after = ((each or b"").decode("utf-8", "replace").splitlines() for each in (self.before, self.after))
        return redact("\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))).text


@frozen
class FileOutcome:
    """The outcome for one file."""

    path: str
    outcome: Literal["planned", "written", "removed", "unchanged", "refused"]
    error: Error | None = None
    diff: str = ""
    set_aside: str | None = None
    """Where the edited version of a file of ours is kept."""


@frozen
class InstallPlan:
    """Everything that is about to be done, in order; nothing is done yet."""

    files: tuple[PlannedFile, ...] = ()
    refused: tuple[FileOutcome, ...] = ()
    """Files that stay unchanged."""
    self_tests: tuple[SelfTest, ...] = ()
    """How the harnesses will call us."""
    notes: tuple[str, ...] = ()
    """Whole sentences for the person."""
    own_memories: tuple[Setting, ...] = ()
    """Memories of the harnesses themselves that are on."""

    @property
    def changed(self) -> tuple[PlannedFile, ...]:
        """Returns the files that change."""
        return tuple(each for each in self.files if each.is_change)
