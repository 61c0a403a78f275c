"""What setup and uninstall are asked for, what they are about to do, the outcome, and the receipt: everything that
setup has put into a person's files, which is all that uninstall needs besides the backups."""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Annotated, Any, Literal

from attrs import evolve, field, frozen
from returns.result import Result

from agent_memory.errors import Error, SettingsRefused, StateCorrupt, TargetRefused
from agent_memory.files.durable import fsync_directory, make_directories, replace_file, share_like_parent
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile, as_store_io, lies_there, read_image
from agent_memory.files.root import is_directory, local_state_directory
from agent_memory.redaction.redact import redact
from agent_memory.results import T, unwrap
from agent_memory.rules.change import TargetFile
from agent_memory.section.targets import Targets
from agent_memory.text.ids import content_hash
from agent_memory.text.json_codec import Format, matching, tagged_union

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
    home_notes: tuple[str, ...] = ()
    """The same, where no repository is set up."""
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
        return next((each for each in self.files if each.path == path), None)

    def section(self, path: str) -> SectionRecord | None:
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
        return tuple(each for each in self.files if each.is_change)


# -- the files that setup works on: a person's settings, its own receipt, and the backups -----------------------------
# Settings files are read with every doubt reported, replaced as a whole, and removed with the directories made for
# them. The rules for targets of managed sections hold here too. The records are in `~/.local/state/agent-
# memory/setup/` (0700): `receipt.json`, `backups/<sha-256>` while the receipt names it, and `set-aside/<hash>-<name>`,
# files of ours that somebody had edited. Backups are durable before the receipt, and the receipt before the file is
# touched.

_MANAGED = re.compile(
    rb"^[ \t]*(?:#|//|/\*|<!--|;|\*|\{\{).*?\b"
    rb"(chezmoi|home-manager|nix-darwin|nix|ansible|puppet|chef|salt|yadm|dotdrop|mackup)\b",
    re.IGNORECASE,
)
_HEADER_LINES = 10


@frozen
class SettingsFiles:
    """The files of a person; SettingsRefused for one that must not be edited."""

    targets: Targets

    def read(self, path: str) -> TargetFile:
        """Returns the file as it is, even a missing one, with the missing directories. SettingsRefused: not a regular
        file, a link out of the home, read-only, managed by another program."""
        with as_store_io("read", path):
            if os.path.realpath(path).startswith("/nix/store/"):
                reason = "Nix manages it (it is in the Nix store); put memory's part into your Nix config"
                raise SettingsRefused(path, reason)
            missing = _missing_directories(path)
            if missing:  # the last directory that exists must be writable
                above = os.path.dirname(missing[0])
                if not os.path.isdir(above):
                    raise SettingsRefused(path, f"{above} is not a directory")
                # Judged as a file in that directory would be: its links, and whether it lies in the home.
                _of_settings(self.targets.read(f"{above}/{os.path.basename(missing[0])}"))
                return TargetFile(path, path, None, missing_directories=missing)
            file = _of_settings(self.targets.read(path))
            _require_editable(file)
        return file

    def write(self, file: TargetFile, data: bytes) -> str | None:
        """Replaces its bytes, or creates it and its directories, outside repositories with 0700; see `Targets.write`.
        Refused if it is no longer what was read."""
        with as_store_io("make the directory of", file.path):
            make_directories(os.path.dirname(file.path))
        if made := file.missing_directories:
            file = evolve(_of_settings(self.targets.read(file.path)), data=None)
            for directory in made if file.in_repository else ():
                share_like_parent(directory)
        return _of_settings(self.targets.write(file, data))

    def carry_out(self, planned: PlannedFile, state: SetupState) -> str | None:
        """Writes or removes a file as planned; returns where somebody's edited version of it is kept, if there was one.
        Refused if it is no longer what was read."""
        aside = None
        if planned.set_aside and planned.before is not None:
            aside = state.set_aside(planned.path, planned.before)
        if planned.after is None:
            copy = _of_settings(self.targets.remove(planned.file))
        else:
            copy = self.write(planned.file, planned.after)
        return aside or copy


def without_empty(made: Iterable[str]) -> tuple[str, ...]:
    """Removes those of our directories that are empty; returns the ones that remain."""
    standing: list[str] = []
    for directory in sorted(set(made), key=len, reverse=True):
        try:
            os.rmdir(directory)
            fsync_directory(os.path.dirname(directory))
        except FileNotFoundError:
            continue
        except OSError:  # somebody uses it
            standing.append(directory)
    return tuple(reversed(standing))


def _missing_directories(path: str) -> tuple[str, ...]:
    """Returns the missing directories. Raises OSError if that cannot be told of one: what is in it would count as
    missing (P6)."""
    missing: list[str] = []
    directory = os.path.dirname(os.path.normpath(path))
    while not lies_there(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    return tuple(reversed(missing))


def _require_editable(file: TargetFile) -> None:
    if file.data is None:
        return
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    if not os.stat(file.real_path).st_mode & writable or not os.access(file.real_path, os.W_OK):
        raise SettingsRefused(file.path, "it is read-only")
    for line in file.data.split(b"\n", _HEADER_LINES)[:_HEADER_LINES]:
        found = _MANAGED.match(line)
        if found:
            who = found[1].decode()
            reason = f"its header says that {who} manages it; put memory's part where {who} takes it from"
            raise SettingsRefused(file.path, reason)


def _of_settings(result: Result[T, Error]) -> T:
    """Returns the value of an answer by the targets, whose refusals become those of settings here."""
    try:
        return unwrap(result)
    except TargetRefused as error:
        raise SettingsRefused(error.path, error.reason) from None


tagged_union(Entry, "kind", {"element": Element, "member": Member, "whole": Whole})
RECEIPT = Format(Receipt)


class SetupState:
    """The records of setup for the person with this home."""

    def __init__(self, home: str) -> None:
        self.directory = f"{local_state_directory(home)}/setup"
        self._receipt = JsonFile(self.directory, "receipt.json", RECEIPT, 16 << 20)
        self._backups = f"{self.directory}/backups"

    def locked(self) -> AbstractContextManager[None]:
        """Lets one setup or uninstall work at a time; Busy at once while another is at work. The lock dies with its holder."""
        return file_lock(f"{self.directory}.lock", 0)

    def receipt(self) -> Receipt:
        """Returns what is installed; empty if nothing is. A damaged receipt is an error, never empty (P6)."""
        return self._receipt.read() or Receipt()

    def put_receipt(self, receipt: Receipt) -> None:
        """Replaces the receipt, durably; an empty one is no file. Backups that it does not name are removed after it."""
        if receipt == Receipt():
            self._receipt.remove()
        else:
            self._receipt.write(receipt)
        needed = {each.before for each in receipt.records} - {None}
        with as_store_io("tidy up", self._backups):
            if is_directory(self._backups):
                for name in set(os.listdir(self._backups)) - needed:
                    os.unlink(f"{self._backups}/{name}")
                if not needed:
                    os.rmdir(self._backups)
                    fsync_directory(self.directory)

    def keep_backup(self, data: bytes) -> str:
        """Makes a backup durable; returns its name."""
        name = content_hash(data)
        self._keep(self._backups, name, data)
        return name

    def backup(self, record: Record | None) -> bytes | None:
        """Returns the file without ours, as its record names it; None if there was none. A missing or damaged backup is
        an error."""
        if record is None or record.before is None:
            return None
        path = f"{self._backups}/{record.before}"
        image = read_image(path, 8 << 20)
        if image is None or content_hash(image.data) != record.before:
            raise StateCorrupt(path, ("the backup is missing, or is not what was put there",))
        return image.data

    def set_aside(self, path: str, data: bytes) -> str:
        """Keeps somebody's version of a file of ours; returns where."""
        return self._keep(f"{self.directory}/set-aside", f"{content_hash(data)[:12]}-{os.path.basename(path)}", data)

    def _keep(self, directory: str, name: str, data: bytes) -> str:
        path = f"{directory}/{name}"
        with as_store_io("write", path):
            make_directories(directory)
            replace_file(path, data)
        return path
