"""Setup and uninstall for the harnesses of one person: plans what is to be installed or removed, and does it."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import evolve, frozen

from agent_memory.agent.child_process import run_child
from agent_memory.capture.hook_files import mentions
from agent_memory.config import Config
from agent_memory.errors import Error, SettingsRefused, StoreIo
from agent_memory.files.durable import fsync_directory
from agent_memory.files.paths import lies_there, read_image, read_shipped, store_io
from agent_memory.files.root import ROOT_VARIABLE, config_path
from agent_memory.git.git_history import tracking_of
from agent_memory.harness import Surroundings, recorded_roots
from agent_memory.recall.moment import read_in_repository
from agent_memory.rules.change import SectionChange
from agent_memory.section.section_splice import restore_section, section_in, with_section
from agent_memory.section.targets import Targets, told_path
from agent_memory.setup.config_files import load_config, parse_config
from agent_memory.setup.harnesses import SETUPS, Context, context_of, tasks_of, trial_payload
from agent_memory.setup.plan import (
    Element,
    Entry,
    FileOutcome,
    FileRecord,
    HarnessSetup,
    InstallPlan,
    Member,
    Part,
    PlannedFile,
    Receipt,
    Record,
    SectionRecord,
    SelfTest,
    Setting,
    SettingsFiles,
    SetupState,
    Syntax,
    Whole,
    repository_name,
    without_empty,
)
from agent_memory.setup.settings_edit import EditRefused, parse_settings, value_at
from agent_memory.setup.settings_revision import text_of, with_placed, without_placed
from agent_memory.text.ids import content_hash
from agent_memory.text.plain_text import one_line

_ROOT_KEYS = ("storage", "root")
_IMPORTS = (b"@AGENTS.md", b"@./AGENTS.md", b"@../AGENTS.md")
_ANY_SECTION = "<!-- agent-memory:start -->\n<!-- agent-memory:end -->"
_PLUGINS = ("memory", "amp", "opencode", "pi")
_TRACKING = {
    "tracked": "Git tracks {}: whoever gets your commits gets the section, with this repository's notes.",
    "ignored": "Git ignores {}: the section stays on this machine, and shows what is global, too.",
    "new": "Git does not track {} yet: once it is added, whoever gets your commits gets the section.",
}


def shipped_context(home: str, program: str, environ: Mapping[str, str]) -> Context:
    """Returns the context of this environment, with the skill and the plugins that ship with the code."""
    skill = read_shipped("skills/agent-memory/SKILL.md")
    plugins = {name: read_shipped(f"plugins/{name}.ts") for name in _PLUGINS}
    return evolve(context_of(home, program, environ), exists=lies_there, skill=skill, plugins=plugins)


def root_without(environ: Mapping[str, str], *variables: str) -> str | None:
    """Returns the real root of a process with this environment except for these variables; None if no config names one."""
    bare = {name: value for name, value in environ.items() if name not in variables}
    found = load_config(bare, None).value_or(None)
    return None if found is None else os.path.realpath(found.config.storage.root or "")


@frozen
class Installation:
    """Setup and uninstall. Hold `state.locked()` from the plan to its end."""

    context: Context
    environ: Mapping[str, str]
    root: Path
    files: SettingsFiles
    state: SetupState
    config: Config
    section_of: Callable[[str, bool], str]
    """The section for a target at a path, in a repository or not."""

    def detected(self) -> tuple[str, ...]:
        path = self.environ.get("PATH", os.defpath)
        return tuple(
            name
            for name, setup in self._setups(SETUPS).items()
            if any(map(os.path.isdir, setup.directories))
            or any(shutil.which(each, path=path) for each in setup.programs)
        )

    # -- what setting up would do -------------------------------------------------------------------------------------

    def plan(self, harnesses: tuple[str, ...], parts: Collection[Part], top: str | None = None) -> InstallPlan:
        """Returns what setting up these harnesses with these parts would do; nothing is written. `top` is the top of a
        work tree whose own instruction file should become a target. A file that is refused does not stop the others; an
        error is about the receipt or a backup."""
        receipt = self.state.receipt()
        setups = self._setups(harnesses)
        in_repository = dict.fromkeys(() if top is None else (_read_by(top, each) for each in harnesses or ("",)))
        targets: defaultdict[str, list[str]] = defaultdict(list)
        wanted: defaultdict[tuple[str, Syntax], list[Entry]] = defaultdict(list)
        words: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for name, setup in setups.items():
            if Part.SECTION in parts and setup.target is not None:
                targets[setup.target].append(name)
            tasks = () if top is None else tasks_of(name, top)
            ours = [(name, each) for each in setup.files] + [(repository_name(top or ""), each) for each in tasks]
            for owner, each in ours:
                if each.part in parts:
                    placed = (evolve(entry, part=each.part, harnesses=(owner,)) for entry in each.entries)
                    wanted[each.path, each.syntax] += placed
                    said = words[each.path].get(name)
                    words[each.path][name] = f"{said} and {each.words}" if said else each.words
        for path in in_repository:
            repository = repository_name(top or "")
            if path == f"{top}/CLAUDE.md" and lies_there(f"{top}/AGENTS.md") and not lies_there(path):
                # By itself it would hide the repository's AGENTS.md from Claude Code.
                wanted[path, "whole"].append(
                    Whole(f"{_IMPORTS[0].decode()}\n", part=Part.SECTION, harnesses=(repository,))
                )
                words[path][repository] = "import of AGENTS.md"
                path = f"{top}/AGENTS.md"
            targets[path] = [repository]
        sections, refused_sections = list[PlannedFile](), list[FileOutcome]()
        for path, whose in targets.items():
            section = receipt.section(path)
            backup = self.state.backup(section)
            with _refusing(path, refused_sections):
                sections.append(self._section(path, whose, section, backup))
        settings = self._for_config(harnesses, sections)
        wanted[self._config_path, "jsonc"] += settings
        keys = dict.fromkeys(".".join(each.keys) for each in settings)
        words[self._config_path]["config"] = ", ".join(keys)
        files, refused = list[PlannedFile](), list[FileOutcome]()
        for (path, syntax), entries in wanted.items():
            record = receipt.file(path)
            backup = self.state.backup(record)
            with _refusing(path, refused):
                made = with_placed(self.files.read(path), syntax, record, backup, entries)
                if made.after is not None and made.record is not None:
                    if path == self._config_path:
                        parse_config(made.after, path)  # or we would break it
                    files.append(evolve(made, words=words[path]))
        hookless = {each.path for each in refused}
        hooked = [
            (name, setup)
            for name, setup in setups.items()
            if Part.HOOKS in parts and not any(each.path in hookless for each in setup.files if each.part is Part.HOOKS)
        ]
        tracking = (_TRACKING[tracking_of(top or "", path, self.environ)].format(path) for path in in_repository)
        hook_notes = self._hook_notes(setups, in_repository=top is not None) if Part.HOOKS in parts else ()
        return InstallPlan(
            (*files, *sections),
            (*refused, *refused_sections),
            tuple(SelfTest(name, self.context.hook(name, act), act) for name, setup in hooked for act in setup.acts),
            (*tracking, *hook_notes, *self._root_note(receipt)),
            tuple(each for setup in setups.values() for each in setup.settings if each.name and self._is_so(each)),
        )

    @property
    def _config_path(self) -> str:
        return config_path(self.context.home)

    def _setups(self, names: Iterable[str]) -> dict[str, HarnessSetup]:
        """Returns the setups of these harnesses. If existing files cannot be looked at, that is an error: otherwise
        another file than the person's own would be written (P6)."""
        try:
            return {name: SETUPS[name](self.context) for name in names}
        except OSError as error:
            raise store_io(error, "look at", error.filename or self.context.home) from None

    def _for_config(self, names: Iterable[str], sections: Iterable[PlannedFile]) -> list[Element | Member]:
        """Returns what our own config should say, so that a scheduled run sees what this shell saw."""
        home = self.context.home
        everyone = tuple(sorted(names))
        root = told_path(self.config.storage.root or "", home)
        placed: list[Element | Member] = [Member(_ROOT_KEYS, root, optional=True, harnesses=everyone)]
        known = self.config.capture.transcript_roots
        for path in recorded_roots(Surroundings(self.environ, home, self.root, known)):
            placed.append(Element(("capture", "transcriptRoots"), told_path(path, home), harnesses=everyone))
        for section in sections:
            if section.record is not None:
                whose = section.record.harnesses
                placed.append(Element(("agentsMd", "targets"), told_path(section.path, home), harnesses=whose))
        return placed

    def _section(
        self, path: str, harnesses: Iterable[str], record: SectionRecord | None, backup: bytes | None
    ) -> PlannedFile:
        file = self.files.read(path)
        words = {each.partition(":")[0]: "section" for each in harnesses}
        after = with_section(path, file.data, self.section_of(path, file.in_repository)).data
        if record is not None:
            kept = evolve(record, harnesses=tuple(sorted({*record.harnesses, *harnesses})))
            return PlannedFile(file, after, kept, backup, words=words)
        if path in self.config.agents_md.targets:
            return PlannedFile(file, after, words=words)  # the person made it a target
        before = None if file.data is None else content_hash(file.data)
        return PlannedFile(file, after, SectionRecord(path, before, tuple(sorted(harnesses))), file.data, words=words)

    def _hook_notes(self, setups: Mapping[str, HarnessSetup], *, in_repository: bool) -> tuple[str, ...]:
        """Returns what keeps hooks from running, as far as can be seen, and what the person has to do in the harnesses
        themselves."""
        thrown = (
            str(each) for setup in setups.values() for each in setup.settings if not each.name and self._is_so(each)
        )
        told = (setup.notes if in_repository else (*setup.notes, *setup.home_notes) for setup in setups.values())
        return (*thrown, *(note for notes in told for note in notes))

    def _is_so(self, setting: Setting) -> bool:
        """Returns whether a setting has its value, as far as the harness's settings and this environment tell."""
        document = self._document(setting.path, setting.syntax)
        off = self.environ.get(setting.variable) or value_at(document, ("env", setting.variable))
        found = value_at(document, setting.keys)
        return str(off).lower() not in ("1", "true") and (
            setting.by_default if found is None else found is setting.value
        )

    def _document(self, path: str, syntax: Syntax) -> Any:
        with suppress(Error, EditRefused):
            return parse_settings(text_of(self.files.read(path).data or b""), syntax)
        return None

    def _root_note(self, receipt: Receipt) -> tuple[str, ...]:
        """Warns where the shell and the config disagree on the root: a scheduled run would use another store."""
        here = self.config.storage.root
        record = receipt.file(self._config_path)
        ours = () if record is None else record.placed
        found = load_config({"HOME": self.context.home}, None).value_or(None)
        if found is None or "storage.root" not in found.sources or here is None:
            return ()
        there = found.config.storage.root or ""
        is_ours = any(isinstance(each, Member) and each.keys == _ROOT_KEYS for each in ours)
        if is_ours or os.path.realpath(there) == os.path.realpath(here):
            return ()
        without = "hooks and scheduled runs that do not have this shell's AGENT_MEMORY_ROOT use that one"
        says = f"storage.root of {self._config_path} says {there}"
        return (f"This shell keeps the memories in {here}, but {says}, and {without}: make them agree.",)

    def plan_removal(self, harnesses: frozenset[str] | None) -> InstallPlan:
        """Returns what uninstalling would do: remove what is there for these harnesses alone, or, with None, for all. A
        file that is refused does not stop the others; an error is about the receipt or a backup."""
        receipt = self.state.receipt()
        gone = receipt.harnesses if harnesses is None else harnesses
        files, refused = list[PlannedFile](), list[FileOutcome]()
        for record in receipt.records:
            if gone.isdisjoint(record.harnesses):
                continue
            backup = self.state.backup(record)
            with _refusing(record.path, refused):
                file = self.files.read(record.path)
                if isinstance(record, FileRecord):
                    planned = without_placed(file, record, backup, gone)
                elif left := tuple(each for each in record.harnesses if each not in gone):
                    planned = PlannedFile(file, file.data, evolve(record, harnesses=left), backup)
                else:
                    planned = PlannedFile(file, without_section(record.path, file.data, backup))
                whose = ("config",) if record.path == self._config_path else record.harnesses
                files.append(evolve(planned, words={each.partition(":")[0]: "" for each in whose}))
        return InstallPlan(tuple(files), tuple(refused))

    # -- carrying out -------------------------------------------------------------------------------------------------

    def install(self, plan: InstallPlan) -> tuple[FileOutcome, ...]:
        """Carries out a plan of `plan`; returns the outcome for each file. Backups first, then the receipt, then the
        files, so that a crash or a full disk at any point leaves files whole and a receipt that knows of them. An error
        is about the first two, and then no file was touched."""
        self._back_up(plan)
        earlier = self.state.receipt()
        new = _with_records(earlier, plan)
        self.state.put_receipt(new)
        outcomes = tuple(self._carry_out(each) for each in plan.files)
        errors = {each.path for each in outcomes if each.error is not None}
        failed = {each.path for each in plan.files if each.path in errors and not self._is_there(each)}
        if failed:  # what was not written is not ours: the receipt keeps what it said before
            left = _with_records(earlier, plan, failed)
            self.state.put_receipt(evolve(left, made_directories=without_empty(new.made_directories)))
        return outcomes

    def uninstall(self, plan: InstallPlan) -> tuple[FileOutcome, ...]:
        """Carries out a plan of `plan_removal`; returns the outcome for each file. The files first, then the receipt:
        what a crash leaves in the receipt is found to be gone the next time."""
        if not plan.files:
            if self.state.receipt() == Receipt():
                # Files of ours that an earlier uninstall could not remove are removed now.
                self.state.put_receipt(Receipt())
            return ()
        outcomes = tuple(self._carry_out(each) for each in plan.files)
        self._back_up(plan)
        left = _with_records(self.state.receipt(), plan, {each.path for each in outcomes if each.error is not None})
        standing = without_empty(left.made_directories)
        # Anything left in directories of ours when all of ours is gone belongs to the person.
        self.state.put_receipt(evolve(left, made_directories=standing if left.records else ()))
        return outcomes

    def self_test(self, plan: InstallPlan) -> tuple[tuple[SelfTest, str], ...]:
        """Calls memory as each harness of the plan will; returns each call with what was wrong with it, if anything. If
        the config leads to the same root, the shell's variable for it is left out, as for a schedule or a desktop."""
        environ = dict(self.environ)
        if root_without(environ, ROOT_VARIABLE) == str(self.root):
            environ.pop(ROOT_VARIABLE, None)
        tried_here = partial(tried, environ=environ, home=self.context.home, root=self.root)
        with ThreadPoolExecutor(4) as pool:  # it is most of what a person waits for
            return tuple(zip(plan.self_tests, pool.map(tried_here, plan.self_tests), strict=True))

    def _back_up(self, plan: InstallPlan) -> None:
        for each in plan.files:
            if each.backup is not None and each.record is not None:
                self.state.keep_backup(each.backup)

    def _carry_out(self, planned: PlannedFile) -> FileOutcome:
        if not planned.is_change:
            return FileOutcome(planned.path, "unchanged")
        try:
            kept = self.files.carry_out(planned, self.state)
        except Error as error:
            return FileOutcome(planned.path, "refused", error)
        return FileOutcome(planned.path, "removed" if planned.after is None else "written", None, planned.diff, kept)

    def _is_there(self, planned: PlannedFile) -> bool:
        """Returns whether a file that could not be written was written after all, as far as can be seen: its new bytes
        may be there if only making them durable failed."""
        try:
            return self.files.read(planned.path).data == planned.after
        except Error:
            return True


def keep_before_section(state: SetupState, targets: Targets, paths: Iterable[str], who: str) -> None:
    """Keeps what these files were before they get their first section, for an uninstall. Files that cannot be edited
    are left out: they will be refused."""
    files = SettingsFiles(targets)
    with state.locked():
        receipt = state.receipt()
        new: list[SectionRecord] = []
        for path in paths:
            try:
                data = files.read(path).data
            except Error:
                continue
            if receipt.section(path) is None:
                new.append(SectionRecord(path, None if data is None else state.keep_backup(data), (who,)))
        if new:
            state.put_receipt(evolve(receipt, sections=(*receipt.sections, *new)))


def without_section(path: str, data: bytes | None, backup: bytes | None) -> bytes | None:
    """Returns the file with the section from its backup, or without any: then no file at all, if there was none and
    nobody has written anything else into it. MarkersAmbiguous if that cannot be told."""
    if data is None:
        return None
    before, now = (section_in(path, each) for each in (backup or b"", data))
    if now is None or now == before:
        return data
    separator = with_section(path, backup, _ANY_SECTION).separator
    change = SectionChange(path, before, now, separator if before is None else "", created=backup is None)
    left = restore_section(data, change)
    return left if left.strip() or backup is not None else None


@contextmanager
def _refusing(path: str, refused: list[FileOutcome]) -> Generator[None, None, None]:
    """Adds what keeps this file from being edited to `refused`; it does not stop the others."""
    try:
        yield
    except EditRefused as problem:
        refused.append(FileOutcome(path, "refused", SettingsRefused(path, str(problem))))
    except Error as error:
        refused.append(FileOutcome(path, "refused", error))


def _with_records(receipt: Receipt, plan: InstallPlan, failed: Iterable[str] = ()) -> Receipt:
    """Returns the receipt after the plan is carried out, without the files that failed."""
    records: dict[str, Record | None] = {each.path: each for each in receipt.records}
    records |= {each.path: each.record for each in plan.files if each.path not in failed}
    made = (each for planned in plan.files for each in planned.file.missing_directories)
    return Receipt(
        files=tuple(each for each in records.values() if isinstance(each, FileRecord)),
        sections=tuple(each for each in records.values() if isinstance(each, SectionRecord)),
        made_directories=tuple(dict.fromkeys((*receipt.made_directories, *made))),
    )


def _read_by(top: str, harness: str) -> str:
    """Returns the file that this harness reads; for those that do not know AGENTS.md, the first existing one of their
    own, else the first."""
    shared, names = f"{top}/AGENTS.md", read_in_repository(harness)
    own = [] if "AGENTS.md" in names else [f"{top}/{name}" for name in names]
    for path in own:
        try:
            found = read_image(os.path.realpath(path), 4 << 20)
        except Error:
            continue
        if found is not None:
            imports = any(line.strip() in _IMPORTS for line in found.data.split(b"\n"))
            return shared if imports or os.path.realpath(path) == os.path.realpath(shared) else path
    return own[0] if own else shared


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


def tried(test: SelfTest, environ: Mapping[str, str], home: str, root: Path) -> str:
    """Runs the command with a made-up session, and removes it again; returns why the session did not arrive in the inbox of
    this root, or a note not in the answer. Empty if it did."""
    session = str(uuid.uuid4())
    payload = json.dumps(trial_payload(test.harness, test.act, session, home)).encode()
    if test.act == "inject":
        with TemporaryDirectory(prefix="agent-memory-trial-") as store:
            topics = Path(store) / "topics"
            topics.mkdir()
            (topics / f"{_NOTE_TITLE} -- {_NOTE_ID}.md").write_text(_NOTE, "utf-8")
            problem, answer = _called(test.command, payload, {**environ, ROOT_VARIABLE: store}, home)
        if _NOTE_ID.encode() in answer:
            return ""
        return problem or "it succeeded, but printed nothing; see `memory status`"
    problem, _ = _called(test.command, payload, environ, home)
    try:
        if _taken_back(f"{root}/inbox", session):
            return ""
    except OSError as error:
        place = error.filename or root
        return problem or f"what arrived cannot be looked at and removed: {place} ({error.strerror})"
    return problem or "it succeeded, but nothing arrived; see `memory status`"


def _called(command: str, data: bytes, environ: Mapping[str, str], home: str) -> tuple[str, bytes]:
    """Returns what was wrong, if anything, and what was printed."""
    try:
        finished = run_child(
            ("/bin/sh", "-c", command), stdin=data, env=environ, cwd=home, timeout_seconds=LIMIT_SECONDS
        )
    except StoreIo as error:
        return f"/bin/sh cannot be run: {error.reason}", b""
    if finished.timed_out:
        return f"it did not end within {LIMIT_SECONDS:g} s", b""
    if finished.exit_status == 0:
        return "", finished.stdout
    said = one_line(finished.stderr_tail.decode("utf-8", "replace"), 300)
    return f"it exited with status {finished.exit_status}{f': {said}' if said else ''}", b""


def _taken_back(inbox: str, session: str) -> bool:
    """Removes what arrived of the session; returns whether it did. Raises OSError if that cannot be done: what lies in the
    inbox unseen is not taken for nothing (P6)."""
    try:
        names = os.listdir(inbox)
    except FileNotFoundError:
        return False
    paths = (f"{inbox}/{name}" for name in names if name.endswith(".json") and not name.startswith("."))
    ours = [path for path in paths if mentions(path, session)]
    for path in ours:
        os.unlink(path)
    if ours:
        fsync_directory(inbox)
    return bool(ours)
