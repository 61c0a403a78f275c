"""What uninstall would do: exactly what the receipt says is ours is taken out; nothing written."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.domain.footprint import SectionChange
from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.plans import InstallPlan, PlannedFile, PlannedSection, Refused, SettingsFile
from agent_memory.domain.installing.receipt import FileRecord, Receipt, SectionRecord, sha256_of
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, MarkersAmbiguous, SettingsRefused
from agent_memory.formats.rule_heads import with_section
from agent_memory.formats.section_splice import restore_section, section_in
from agent_memory.formats.settings_revision import without_placed
from agent_memory.values import evolve, frozen

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
