"""A plan carried out, so that a crash or a full disk at any point leaves files whole and a receipt that knows of them."""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.settings_files import SettingsFiles, without_empty
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.domain.installing.plans import FileOutcome, InstallPlan, PlannedFile, PlannedSection, SettingsFile
from agent_memory.domain.installing.receipt import FileRecord, Receipt, SectionRecord
from agent_memory.errors import Error
from agent_memory.results import sealed

Planned = PlannedFile | PlannedSection


@frozen
class PlanExecution:
    """Where plans are carried out."""

    files: SettingsFiles
    state: SetupState

    def install(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """What became of each file. Backups first, then the receipt, then the files: a Failure is that of the first two, and
        then no file was touched."""

        def written(earlier: Receipt) -> Result[tuple[FileOutcome, ...], Error]:
            new = _with_records(earlier, plan)
            return self.state.put_receipt(new).bind(lambda _: self._written(plan, earlier, new))

        return self._backed_up(plan).bind(lambda _: self.state.receipt()).bind(written)

    def uninstall(self, plan: InstallPlan) -> Result[tuple[FileOutcome, ...], Error]:
        """What became of each file. The files first, then the receipt: what a crash leaves in the receipt is found to be gone
        the next time."""
        if not _planned(plan):
            return self._tidied_up()
        outcomes = [self._carried_out(each) for each in _planned(plan)]

        def settled(receipt: Receipt) -> Result[tuple[FileOutcome, ...], Error]:
            failed = frozenset(each.path for each in outcomes if each.error is not None)
            left = _with_records(receipt, plan, failed)
            standing = without_empty(left.made_directories)
            # What is left in directories of ours when nothing else of ours is, is the person's.
            made = standing if left.files or left.sections else ()
            return self.state.put_receipt(Receipt(left.files, left.sections, made)).map(lambda _: tuple(outcomes))

        return self._backed_up(plan).bind(lambda _: self.state.receipt()).bind(settled)

    def _tidied_up(self) -> Result[tuple[FileOutcome, ...], Error]:
        """Where nothing is installed, what an earlier uninstall could not remove of its own any more goes."""
        return (
            self.state.receipt()
            .bind(lambda left: self.state.put_receipt(left) if left == Receipt() else Success(None))
            .map(lambda _: ())
        )

    def _backed_up(self, plan: InstallPlan) -> Result[None, Error]:
        for each in _planned(plan):
            if each.backup is not None and each.record is not None:
                kept = self.state.keep_backup(each.backup)
                if isinstance(kept, Failure):
                    return kept
        return Success(None)

    def _written(self, plan: InstallPlan, earlier: Receipt, new: Receipt) -> Result[tuple[FileOutcome, ...], Error]:
        outcomes = tuple(self._carried_out(each) for each in _planned(plan))
        refused = {each.path for each in outcomes if each.error is not None}
        failed = {each.edit.path for each in _planned(plan) if each.edit.path in refused and not self._is_there(each)}
        if not failed:
            return Success(outcomes)
        # What was not written is not ours: the receipt says of it what it said before.
        restored = Receipt(
            files=(
                *(each for each in new.files if each.path not in failed),
                *(each for each in earlier.files if each.path in failed),
            ),
            sections=(
                *(each for each in new.sections if each.path not in failed),
                *(each for each in earlier.sections if each.path in failed),
            ),
            made_directories=without_empty(new.made_directories),
        )
        return self.state.put_receipt(restored).map(lambda _: outcomes)

    def _is_there(self, planned: Planned) -> bool:
        """Whether a file that could not be written was after all, as far as can be seen: its new bytes may be there when
        only making them durable failed."""
        now = self.files.read(planned.edit.path)
        return isinstance(now, Failure) or now.unwrap().file.data == planned.edit.after

    def _carried_out(self, planned: Planned) -> FileOutcome:
        edit = planned.edit
        if not edit.is_change:
            return FileOutcome(edit.path, "unchanged")
        aside: str | None = None
        if isinstance(planned, PlannedFile) and planned.set_aside is not None:
            match sealed(self.state.set_aside(edit.path, planned.set_aside)):
                case Failure(error):
                    return FileOutcome(edit.path, "refused", error)
                case Success(path):
                    aside = path
        match sealed(self._edited(planned.settings, edit.after)):
            case Failure(error):
                return FileOutcome(edit.path, "refused", error)
            case Success(copy):
                did: Literal["removed", "written"] = "removed" if edit.after is None else "written"
                return FileOutcome(edit.path, did, None, edit.diff, aside or copy)

    def _edited(self, settings: SettingsFile, after: bytes | None) -> Result[str | None, Error]:
        return self.files.remove(settings) if after is None else self.files.write(settings, after)


def _planned(plan: InstallPlan) -> tuple[Planned, ...]:
    return (*plan.files, *plan.sections)


def _with_records(receipt: Receipt, plan: InstallPlan, failed: frozenset[str] = frozenset()) -> Receipt:
    """The receipt once the plan is carried out, but for the files that failed."""
    files: dict[str, FileRecord | None] = {each.path: each for each in receipt.files}
    sections: dict[str, SectionRecord | None] = {each.path: each for each in receipt.sections}
    files |= {each.edit.path: each.record for each in plan.files if each.edit.path not in failed}
    for section in plan.sections:
        if section.edit.path not in failed:
            sections[section.edit.path] = section.record
    made = (each for planned in _planned(plan) for each in planned.settings.missing_directories)
    return Receipt(
        files=tuple(each for each in files.values() if each is not None),
        sections=tuple(each for each in sections.values() if each is not None),
        made_directories=tuple(dict.fromkeys((*receipt.made_directories, *made))),
    )
