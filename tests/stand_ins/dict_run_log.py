"""The log of runs in memory."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, RunNotFound
from agent_memory.rules.run_log import (
    LoggedRun,
    Undoing,
    UndoneMark,
    churning,
    is_named,
    undone_by,
    undone_fingerprints,
)
from agent_memory.rules.undo_run import Footprint, SectionChange


@define
class DictRunLog:
    """`RunLog` in dicts. `footprints` may be those that a `TemporaryStore` leaves, by run."""

    footprints: Mapping[str, Footprint] = field(factory=dict[str, Footprint])
    reports: MutableMapping[str, LoggedRun] = field(factory=dict[str, LoggedRun])
    sections: MutableMapping[str, tuple[SectionChange, ...]] = field(factory=dict[str, tuple[SectionChange, ...]])
    marks: MutableMapping[str, UndoneMark] = field(factory=dict[str, UndoneMark])
    at_work: Undoing | None = None

    def runs(self, limit: int | None = None, named: str = "") -> Result[tuple[LoggedRun, ...], Error]:
        """See the port. Only runs that were reported."""
        undone = undone_by(self.marks)
        found = [self.reports[id] for id in sorted(self.reports, reverse=True) if is_named(id, named)]
        return Success(
            tuple(
                evolve(run, undone_by=undone.get(run.run_id), kept=self._is_kept(run.run_id)) for run in found[:limit]
            )
        )

    def footprint(self, run_id: str) -> Result[Footprint, Error]:
        if not self._is_kept(run_id):
            return Failure(RunNotFound(run_id))
        return Success(evolve(self.footprints.get(run_id, Footprint()), sections=self.sections.get(run_id, ())))

    def put_sections(self, run_id: str, sections: Sequence[SectionChange]) -> Result[None, Error]:
        known = self.sections.get(run_id, ())
        paths = {each.path for each in known}
        more = tuple(each for each in sections if each.path not in paths and each.before != each.after)
        if more:
            self.sections[run_id] = (*known, *more)
        return Success(None)

    def put_report(self, run: LoggedRun, error: Error | None = None) -> Result[None, Error]:
        self.reports[run.run_id] = run if error is None else evolve(run, error=str(error))
        return Success(None)

    def churning(self) -> Result[frozenset[str], Error]:
        return self.runs().map(churning)

    def undone(self) -> Result[frozenset[str], Error]:
        return Success(undone_fingerprints(self.marks))

    def mark_undone(self, run_id: str, by_run_id: str, fingerprints: frozenset[str]) -> Result[None, Error]:
        self.marks[run_id] = UndoneMark(by_run_id, fingerprints)
        return Success(None)

    def undoing(self) -> Result[Undoing | None, Error]:
        return Success(self.at_work)

    def put_undoing(self, undoing: Undoing | None) -> Result[None, Error]:
        self.at_work = undoing
        return Success(None)

    def _is_kept(self, run_id: str) -> bool:
        return run_id in self.footprints or run_id in self.sections
