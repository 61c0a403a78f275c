"""Memory in the harnesses of one person: what is installed, what would be, and the doing of it."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.setup.detection import detected
from agent_memory.adapters.setup.plan_execution import PlanExecution
from agent_memory.adapters.setup.repository_file import repository_targets, tracking_note
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_planning import SetupPlanning
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.adapters.surroundings.root import ROOT_VARIABLE
from agent_memory.domain.footprint import SectionChange
from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.plans import (
    FileOutcome,
    InstallPlan,
    PlannedFile,
    PlannedSection,
    Played,
    Refused,
    SettingsFile,
    Wish,
)
from agent_memory.domain.installing.receipt import FileRecord, Receipt, SectionRecord, sha256_of
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, Play
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, MarkersAmbiguous, SettingsRefused
from agent_memory.formats.rule_heads import with_section
from agent_memory.formats.section_splice import restore_section, section_in
from agent_memory.formats.settings_revision import without_placed
from agent_memory.results import sealed


@frozen
class Installation:
    """Setup and uninstall. Hold `locked()` from the plan to its end."""

    planning: SetupPlanning
    environ: Mapping[str, str]
    root: Path

    def locked(self) -> AbstractContextManager[Result[None, Error]]:
        """One at a time; Busy at once while another is at work."""
        return self.planning.state.locked()

    def detected(self) -> tuple[str, ...]:
        """The harnesses that are on this machine."""
        return detected(self.planning.ground, self.environ)

    def installed(self) -> Result[Receipt, Error]:
        """What setup has put where."""
        return self.planning.state.receipt()

    def plan(self, wish: Wish) -> Result[InstallPlan, Error]:
        """What setting up would do; nothing is written."""

        def told(plan: InstallPlan) -> InstallPlan:
            if wish.repository is None:
                return plan
            paths = repository_targets(wish.repository, wish.harnesses)
            notes = (tracking_note(wish.repository, path, self.environ) for path in paths)
            return evolve(plan, notes=(*notes, *plan.notes))

        return self.planning.plan(wish).map(told)

    def install(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """Carry out a plan of `plan`; what became of each file."""
        return self._execution.install(plan)

    def play(self, plan: InstallPlan) -> tuple[Played, ...]:
        """Call memory as each harness of the plan will, and see whether it arrives in the inbox."""
        playing = Playing(self._scheduled_environment(), self.planning.ground.home, self.root)
        return tuple(playing.play(harness, play) for harness, play in plan.plays)

    def plan_removal(self, harnesses: frozenset[str] | None) -> Result[InstallPlan, Error]:
        """What uninstalling would do, of these harnesses or of everything; nothing is written."""
        return RemovalPlanning(self.planning.files, self.planning.state).plan(harnesses)

    def uninstall(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """Carry out a plan of `plan_removal`; what became of each file."""
        return self._execution.uninstall(plan)

    @property
    def _execution(self) -> PlanExecution:
        return PlanExecution(self.planning.files, self.planning.state)

    def _scheduled_environment(self) -> dict[str, str]:
        """This environment without the shell's own word for the root, as a schedule or a desktop would have it, where the
        config alone leads to the same root by now."""
        bare = {name: value for name, value in self.environ.items() if name != ROOT_VARIABLE}
        there = load_config(bare, None).map(lambda effective: effective.config.storage.root or "")
        same = isinstance(there, Success) and os.path.realpath(there.unwrap()) == str(self.root)
        return bare if same else dict(self.environ)


LIMIT_SECONDS = 30.0

_NOTE_ID = "id__triaL1"
_NOTE_TITLE = "A note of the trial"
_NOTE = f"""---
id: {_NOTE_ID}
title: {_NOTE_TITLE}
kind: project
origin: user
scope: global
createdAt: 1767225600000
updatedAt: 1767225600000
---

The hook works.
"""


@frozen
class Playing:
    """Trials with this environment, whose sessions are to arrive in this root."""

    environ: Mapping[str, str]
    home: str
    root: Path

    def play(self, harness: str, play: Play) -> Played:
        """Run the command with a made-up session; nothing of it stays."""
        session = str(uuid.uuid4())
        command = play.command.replace(SESSION, session)
        payload = _filled(play.payload, {SESSION: session, DIRECTORY: self.home})
        data = b"" if payload is None else json.dumps(payload).encode()
        if play.act == "inject":
            return self._asked(harness, command, data)
        problem, _ = self._run(command, data, self.environ)
        try:
            arrived = self._taken_back(session)
        except OSError as error:
            unseen = f"what arrived cannot be looked at and removed: {error.filename or self.root} ({error.strerror})"
            return Played(harness, play.command, False, problem or unseen)
        if arrived:
            return Played(harness, play.command, True)
        return Played(
            harness, play.command, False, problem or "it ended well, but nothing arrived; see `memory status`"
        )

    def _asked(self, harness: str, command: str, data: bytes) -> Played:
        with TemporaryDirectory(prefix="agent-memory-trial-") as root:
            topics = Path(root) / "topics"
            topics.mkdir()
            (topics / f"{_NOTE_TITLE} -- {_NOTE_ID}.md").write_text(_NOTE, "utf-8")
            problem, answer = self._run(command, data, {**self.environ, ROOT_VARIABLE: root})
        if _NOTE_ID.encode() in answer:
            return Played(harness, command, True, act="inject")
        return Played(
            harness, command, False, problem or "it ended well, but said nothing; see `memory status`", "inject"
        )

    def _run(self, command: str, data: bytes, environ: Mapping[str, str]) -> tuple[str, bytes]:
        """What went wrong, as far as the call itself tells; and what it printed."""
        try:
            finished = subprocess.run(
                ["/bin/sh", "-c", command],
                input=data,
                capture_output=True,
                timeout=LIMIT_SECONDS,
                cwd=self.home,
                env=dict(environ),
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {LIMIT_SECONDS:g} s", b""
        except OSError as error:
            return f"/bin/sh cannot be run: {error.strerror}", b""
        if finished.returncode == 0:
            return "", finished.stdout
        said = one_line(finished.stderr.decode("utf-8", "replace"), 300)
        return f"it ended with status {finished.returncode}{f': {said}' if said else ''}", b""

    def _taken_back(self, session: str) -> bool:
        """Whether the session arrived; its entries are removed. Raises OSError where that cannot be done: what lies in the
        inbox unseen is not taken for nothing (P6)."""
        inbox = f"{self.root}/inbox"
        try:
            names = os.listdir(inbox)
        except FileNotFoundError:
            return False
        ours = [
            f"{inbox}/{name}"
            for name in names
            if name.endswith(".json") and not name.startswith(".") and _mentions(f"{inbox}/{name}", session)
        ]
        for path in ours:
            os.unlink(path)
        if ours:
            fsync_directory(inbox)
        return bool(ours)


def _mentions(path: str, session: str) -> bool:
    try:
        with open(path, "rb") as file:
            return session.encode() in file.read(1 << 18)
    except FileNotFoundError:
        return False


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    """The payload with our placeholders filled in."""
    if isinstance(value, str):
        for word, meant in words.items():
            value = value.replace(word, meant)
        return value
    if is_object(value):
        return {key: _filled(each, words) for key, each in value.items()}
    if is_list(value):
        return [_filled(each, words) for each in value]
    return value


_ANY_SECTION = "<!-- agent-memory:start -->\n<!-- agent-memory:end -->"


@frozen
class RemovalPlanning:
    """What a plan is made from."""

    files: SettingsFiles
    state: SetupState

    def plan(self, harnesses: frozenset[str] | None) -> Result[InstallPlan, Error]:
        """Take out what is there for these harnesses alone, or, with None, for all. A file that is refused hinders no other;
        a Failure is that of the receipt or of a backup."""
        return self.state.receipt().bind(
            lambda receipt: self._planned(receipt.harnesses if harnesses is None else harnesses, receipt)
        )

    def _planned(self, harnesses: frozenset[str], receipt: Receipt) -> Result[InstallPlan, Error]:
        planned: list[PlannedFile | PlannedSection | Refused] = []
        for each in _concerned(receipt, harnesses):
            one = self._one(each, harnesses)
            if isinstance(one, Failure):
                return one
            planned.append(one.unwrap())
        return Success(
            InstallPlan(
                files=tuple(each for each in planned if isinstance(each, PlannedFile)),
                sections=tuple(each for each in planned if isinstance(each, PlannedSection)),
                refused=tuple(each for each in planned if isinstance(each, Refused)),
            )
        )

    def _one(
        self, record: FileRecord | SectionRecord, harnesses: frozenset[str]
    ) -> Result[PlannedFile | PlannedSection | Refused, Error]:
        def planned(backup: bytes | None) -> PlannedFile | PlannedSection | Refused:
            match sealed(self.files.read(record.path)):
                case Failure(error):
                    return Refused(record.path, error)
                case Success(settings):
                    if isinstance(record, SectionRecord):
                        return _without_section(record, settings, backup, harnesses)
                    return _without_placed(record, settings, backup, harnesses)

        return self.state.backup(record.before).map(planned)


def _without_placed(
    record: FileRecord, settings: SettingsFile, backup: bytes | None, harnesses: frozenset[str]
) -> PlannedFile | Refused:
    match sealed(without_placed(settings.file.data, record, backup, harnesses)):
        case Failure(problem):
            return Refused(record.path, SettingsRefused(record.path, problem))
        case Success(revision):
            kept = None
            if revision.placed:
                before = None if revision.baseline is None else sha256_of(revision.baseline)
                after = revision.after if revision.after is not None else b""
                kept = evolve(record, before=before, after=sha256_of(after), placed=revision.placed)
            edit = FileEdit(record.path, settings.file.data, revision.after)
            set_aside = settings.file.data if revision.set_aside else None
            return PlannedFile(settings, edit, kept, revision.baseline, set_aside)


def _without_section(
    record: SectionRecord, settings: SettingsFile, backup: bytes | None, harnesses: frozenset[str]
) -> PlannedSection | Refused:
    data = settings.file.data
    left = tuple(each for each in record.harnesses if each not in harnesses)
    if left:
        kept = evolve(record, harnesses=left)
        return PlannedSection(settings, FileEdit(record.path, data, data), kept, backup)
    match sealed(without_section(record.path, data, backup)):
        case Failure(problem):
            return Refused(record.path, MarkersAmbiguous(record.path, problem))
        case Success(after):
            return PlannedSection(settings, FileEdit(record.path, data, after), None)


def _concerned(receipt: Receipt, harnesses: frozenset[str]) -> tuple[SectionRecord | FileRecord, ...]:
    """The records that name one of these harnesses."""
    sections = (each for each in receipt.sections if harnesses & set(each.harnesses))
    files = (each for each in receipt.files if any(harnesses & set(placed.harnesses) for placed in each.placed))
    return (*sections, *files)


def without_section(path: str, data: bytes | None, backup: bytes | None) -> Result[bytes | None, str]:
    """The file with the section that it had in its backup, or without any: then without the file too, where there was none
    and nobody has written anything else into it."""
    if data is None:
        return Success(None)

    def restored(before: str | None, now: str | None) -> Result[bytes | None, str]:
        if now is None or now == before:
            return Success(data)
        separator = with_section(path, backup, _ANY_SECTION).map(lambda spliced: spliced.separator).value_or("")
        change = SectionChange("", before, now, separator if before is None else "", created=backup is None)
        return restore_section(data, change).map(lambda left: left if left.strip() or backup is not None else None)

    return section_in(backup or b"").bind(lambda before: section_in(data).bind(lambda now: restored(before, now)))
