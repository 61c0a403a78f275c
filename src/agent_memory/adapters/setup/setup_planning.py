"""What setup would do: every file read, every edit made in memory, nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.repository_file import repository_targets
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.adapters.targets.chosen_targets import told_path
from agent_memory.config import Config
from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.ground import Ground, recorded_transcript_roots
from agent_memory.domain.installing.harnesses import SETUPS
from agent_memory.domain.installing.plans import (
    InstallPlan,
    PlannedFile,
    PlannedSection,
    Refused,
    SettingsFile,
    Wish,
)
from agent_memory.domain.installing.receipt import (
    FileRecord,
    Placed,
    Receipt,
    SectionRecord,
    repository_name,
    sha256_of,
)
from agent_memory.domain.installing.wanted import Element, HarnessSetup, Member, Part, Switch, Syntax
from agent_memory.errors import Error, MarkersAmbiguous, SettingsRefused
from agent_memory.formats import entry_values
from agent_memory.formats.rule_heads import with_section
from agent_memory.formats.settings_revision import Revision, with_placed
from agent_memory.formats.settings_text import parse_settings, text_of
from agent_memory.results import sealed

_ROOT_KEYS = ("storage", "root")

SectionOf = Callable[[str, bool], Result[str, Error]]
"""The section for a target at a path, in a repository or not."""

CheckConfig = Callable[[bytes], Result[object, Error]]


@frozen
class SetupPlanning:
    """What a plan is made from."""

    ground: Ground
    environ: Mapping[str, str]
    files: SettingsFiles
    state: SetupState
    config: Config
    config_path: str
    config_root: str | None
    """`storage.root` as the person's config has it."""
    section_of: SectionOf
    check_config: CheckConfig

    def plan(self, wish: Wish) -> Result[InstallPlan, Error]:
        """The whole plan. A file that is refused hinders no other; a Failure is that of the receipt or of a backup."""
        return self.state.receipt().bind(lambda receipt: self._planned(wish, receipt))

    def _planned(self, wish: Wish, receipt: Receipt) -> Result[InstallPlan, Error]:
        setups = {name: SETUPS[name](self.ground) for name in wish.harnesses}
        sections = self._sections(wish, setups, receipt)
        if isinstance(sections, Failure):
            return sections
        planned_sections = tuple(each for each in sections.unwrap() if isinstance(each, PlannedSection))
        kept = [(each.edit.path, each.record.harnesses) for each in planned_sections if each.record is not None]
        wanted = self._wanted(wish, setups)
        wanted[(self.config_path, "jsonc")] = self._for_config(wish, kept)
        found: list[PlannedFile | Refused] = []
        for (path, syntax), placed in wanted.items():
            match sealed(self._file(path, syntax, placed, receipt)):
                case Failure(error):
                    return Failure(error)
                case Success(planned):
                    found += [] if planned is None else [planned]
        refused = tuple(each for each in (*found, *sections.unwrap()) if isinstance(each, Refused))
        refused_paths = {each.path for each in refused}
        return Success(
            InstallPlan(
                files=tuple(each for each in found if isinstance(each, PlannedFile)),
                sections=planned_sections,
                refused=refused,
                plays=tuple(
                    (name, play)
                    for name, setup in setups.items()
                    if Part.HOOKS in wish.parts
                    and not any(each.path in refused_paths for each in setup.files if each.part is Part.HOOKS)
                    for play in setup.plays
                ),
                notes=(*self._notes(wish, setups), *self._root_note(receipt)),
            )
        )

    # -- files --------------------------------------------------------------------------------------------------------

    def _wanted(self, wish: Wish, setups: Mapping[str, HarnessSetup]) -> dict[tuple[str, Syntax], tuple[Placed, ...]]:
        """Everything that is wanted, by file."""
        wanted: dict[tuple[str, Syntax], tuple[Placed, ...]] = {}
        for name, setup in setups.items():
            for each in setup.files:
                if each.part in wish.parts:
                    placed = tuple(Placed(entry, each.part, (name,)) for entry in each.entries)
                    wanted[(each.path, each.syntax)] = (*wanted.get((each.path, each.syntax), ()), *placed)
        return wanted

    def _for_config(self, wish: Wish, sections: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[Placed, ...]:
        """What our own config is to say, so that a scheduled run sees what this shell saw."""
        home = self.ground.home
        root = told_path(self.config.storage.root or "", home)
        everyone = tuple(sorted(wish.harnesses))
        placed = [Placed(Member(_ROOT_KEYS, root, optional=True), None, everyone)]
        for path in recorded_transcript_roots(home, self.environ):
            if path not in self.config.capture.transcript_roots:
                entry = Element(("capture", "transcriptRoots"), told_path(path, home))
                placed.append(Placed(entry, None, everyone))
        for path, harnesses in sections:
            placed.append(Placed(Element(("agentsMd", "targets"), told_path(path, home)), None, harnesses))
        return tuple(placed)

    def _file(
        self, path: str, syntax: Syntax, wanted: tuple[Placed, ...], receipt: Receipt
    ) -> Result[PlannedFile | Refused | None, Error]:
        record = receipt.file(path)
        match sealed(self.state.backup(None if record is None else record.before)):
            case Failure(error):
                return Failure(error)
            case Success(backup):
                read = self.files.read(path)
        if isinstance(read, Failure):
            return Success(Refused(path, read.failure()))
        settings = read.unwrap()
        match sealed(with_placed(settings.file.data, syntax, record, backup, wanted)):
            case Failure(problem):
                return Success(Refused(path, SettingsRefused(path, problem)))
            case Success(revision):
                return Success(self._checked(path, syntax, settings, revision))

    def _checked(
        self, path: str, syntax: Syntax, settings: SettingsFile, revision: Revision
    ) -> PlannedFile | Refused | None:
        after = revision.after
        if after is None or not revision.placed:
            return None
        if path == self.config_path:
            checked = self.check_config(after)
            if isinstance(checked, Failure):
                return Refused(path, checked.failure())
        before = None if revision.baseline is None else sha256_of(revision.baseline)
        record = FileRecord(path, syntax, before, sha256_of(after), revision.placed)
        edit = FileEdit(path, settings.file.data, after)
        set_aside = settings.file.data if revision.set_aside else None
        return PlannedFile(settings, edit, record, revision.baseline, set_aside)

    # -- sections -----------------------------------------------------------------------------------------------------

    def _sections(
        self, wish: Wish, setups: Mapping[str, HarnessSetup], receipt: Receipt
    ) -> Result[list[PlannedSection | Refused], Error]:
        targets: dict[str, tuple[str, ...]] = {}
        for name, setup in setups.items():
            if Part.SECTION in wish.parts and setup.target is not None:
                targets[setup.target] = (*targets.get(setup.target, ()), name)
        if wish.repository is not None:
            for path in repository_targets(wish.repository, wish.harnesses):
                targets[path] = (repository_name(wish.repository),)
        planned: list[PlannedSection | Refused] = []
        for path, harnesses in targets.items():
            match sealed(self._section(path, harnesses, receipt.section(path))):
                case Failure(error):
                    return Failure(error)
                case Success(section):
                    planned.append(section)
        return Success(planned)

    def _section(
        self, path: str, harnesses: tuple[str, ...], record: SectionRecord | None
    ) -> Result[PlannedSection | Refused, Error]:
        read = self.files.read(path)
        if isinstance(read, Failure):
            return Success(Refused(path, read.failure()))
        settings = read.unwrap()
        data = settings.file.data
        rendered = self.section_of(path, settings.file.in_repository)
        if isinstance(rendered, Failure):
            return rendered
        spliced = with_section(path, data, rendered.unwrap())
        if isinstance(spliced, Failure):
            return Success(Refused(path, MarkersAmbiguous(path, spliced.failure())))
        edit = FileEdit(path, data, spliced.unwrap().data)
        if record is None and path in self.config.agents_md.targets:
            return Success(PlannedSection(settings, edit, None))  # the person made it a target
        if record is not None:
            backup = self.state.backup(record.before)
            if isinstance(backup, Failure):
                return backup
            all_harnesses = tuple(sorted({*record.harnesses, *harnesses}))
            kept = SectionRecord(path, record.before, all_harnesses)
            return Success(PlannedSection(settings, edit, kept, backup.unwrap()))
        before = None if data is None else sha256_of(data)
        return Success(PlannedSection(settings, edit, SectionRecord(path, before, tuple(sorted(harnesses))), data))

    # -- what the person should know ----------------------------------------------------------------------------------

    def _notes(self, wish: Wish, setups: Mapping[str, HarnessSetup]) -> tuple[str, ...]:
        if Part.HOOKS not in wish.parts:
            return ()
        notes = [note for setup in setups.values() for note in setup.notes]
        thrown = [switch.sentence for setup in setups.values() for switch in setup.switches if self._is_thrown(switch)]
        return (*(f"{sentence}: nothing is captured until you change that." for sentence in thrown), *notes)

    def _is_thrown(self, switch: Switch) -> bool:
        if not os.path.isfile(switch.path):
            return False
        match sealed(self.files.read(switch.path)):
            case Failure(_):
                return False
            case Success(settings):
                value = text_of(settings.file.data or b"").bind(lambda text: parse_settings(text, switch.syntax))
                found = value.map(lambda document: entry_values.at_keys(document, switch.keys))
                return isinstance(found, Success) and found.unwrap() is switch.value

    def _root_note(self, receipt: Receipt) -> tuple[str, ...]:
        """Where the shell and the person's config disagree on the root, a scheduled run would use another store."""
        here = self.config.storage.root
        record = receipt.file(self.config_path)
        ours = () if record is None else record.placed
        if any(isinstance(each.entry, Member) and each.entry.keys == _ROOT_KEYS for each in ours):
            return ()
        if self.config_root is None or here is None or os.path.realpath(self.config_root) == os.path.realpath(here):
            return ()
        without = "hooks and scheduled runs that do not have this shell's AGENT_MEMORY_ROOT use that one"
        says = f"storage.root of {self.config_path} says {self.config_root}"
        return (f"This shell keeps the memories in {here}, but {says}, and {without}: make them agree.",)
