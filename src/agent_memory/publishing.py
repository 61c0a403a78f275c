"""Publishing: the managed section of every target, as the store is now (design §6, P17)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, Listing, StoredEntry
from agent_memory.domain.footprint import SectionChange
from agent_memory.domain.section import Published, PublishedTarget, RenderedSection, SectionBudget, SectionFacts, Target
from agent_memory.domain.target_file import TargetFile
from agent_memory.domain.tiering.standing import lifted, standing_tiers
from agent_memory.domain.tiers import TierList
from agent_memory.errors import EntryChanged, EntryNotFound, EntryUnreadable, Error, MarkersAmbiguous, TargetRefused
from agent_memory.formats.managed_section import render_section
from agent_memory.formats.rule_heads import rule_head, with_section
from agent_memory.formats.section_splice import Spliced
from agent_memory.ports import Store, Targets
from agent_memory.results import sealed

KeepSections = Callable[[Sequence[SectionChange]], Result[None, Error]]
"""What is told how sections are about to change, before any of them does."""

MOST_BYTES_READ = 32 << 10
"""What Codex reads of all its files together (`project_doc_max_bytes`)."""

_ATTEMPTS = 3


def kept_nowhere(_sections: Sequence[SectionChange]) -> Result[None, Error]:
    """For a publication that belongs to no run: the next one comes to the same."""
    return Success(None)


@frozen
class _Corpus:
    """Of the store what sections are made from."""

    tiers: TierList
    entries: Mapping[str, Listed]
    bodies: Mapping[str, StoredEntry]


@frozen
class _Planned:
    """What is to become of one target."""

    target: Target
    file: TargetFile
    rendered: RenderedSection
    spliced: Spliced

    @property
    def change(self) -> SectionChange:
        return SectionChange(
            path=self.file.real_path,
            before=self.spliced.before,
            after=self.spliced.after,
            separator=self.spliced.separator,
            created=self.file.data is None,
        )

    @property
    def is_unchanged(self) -> bool:
        if self.spliced.data == self.file.data:
            return True
        shows = self.rendered.hot or self.rendered.warm or self.rendered.cold
        return self.target.once_it_shows and self.spliced.before is None and not shows


@frozen
class Publisher:
    """Writes sections."""

    store: Store
    targets: Targets
    budget: SectionBudget = SectionBudget()

    def publish(
        self,
        targets: Sequence[Target],
        keep: KeepSections = kept_nowhere,
        *,
        dry_run: bool = False,
    ) -> Result[Published, Error]:
        """What became of each target. A target that is refused hinders no other; one that is up to date is not written.

        `keep` is told all changes before the first is made, and its failure stops them all. A Failure besides that is the
        store's: then no target was looked at.
        """
        # The files before the store: what is written to a file while the store is read is noticed, and read anew.
        files = [self.targets.read(target.path) for target in targets]

        def planned(corpus: _Corpus) -> Result[Published, Error]:
            plans = [self._plan(target, file, corpus) for target, file in zip(targets, files, strict=True)]
            return self._carried_out(_each_file_once(plans), keep, dry_run=dry_run)

        return self._corpus().bind(planned) if targets else Success(Published())

    def render(self, target: Target) -> Result[RenderedSection, Error]:
        """The section that this target would hold; nothing is read but the store."""
        return self._corpus().map(lambda corpus: self._rendered(target, corpus))

    # -- planning -----------------------------------------------------------------------------------------------------

    def _corpus(self) -> Result[_Corpus, Error]:
        def with_tiers(live: Listing, tiers: TierList) -> Result[_Corpus, Error]:
            entries = live.found.by_id
            standing = standing_tiers(tiers, (each.meta for each in lifted(live.entries)))
            ids = [id for id in (*standing.hot, *standing.warm) if id in entries]
            return self._bodies(ids).map(lambda bodies: _Corpus(standing, entries, bodies))

        listed = self.store.list()
        return listed.bind(lambda live: self.store.tiers().bind(lambda tiers: with_tiers(live, tiers)))

    def _bodies(self, ids: Iterable[str]) -> Result[Mapping[str, StoredEntry], Error]:
        bodies: dict[str, StoredEntry] = {}
        for id in ids:
            match sealed(self.store.read(id)):
                case Success(stored) if stored.meta.id == id:
                    bodies[id] = stored
                case Success(_) | Failure(EntryNotFound() | EntryChanged() | EntryUnreadable()):
                    continue  # it went away, or was merged, since the listing
                case Failure(error):
                    return Failure(error)
        return Success(bodies)

    def _rendered(self, target: Target, corpus: _Corpus) -> RenderedSection:
        return render_section(SectionFacts(corpus.tiers, corpus.entries, corpus.bodies, target, self.budget))

    def _plan(self, target: Target, read: Result[TargetFile, Error], corpus: _Corpus) -> _Planned | PublishedTarget:
        match sealed(read):
            case Failure(error):
                return PublishedTarget(target.path, "refused", error)
            case Success(file):
                whose = evolve(target, in_repository=target.in_repository or file.in_repository)
                rendered = self._rendered(whose, corpus)
                match sealed(with_section(file.real_path, file.data, rendered.text)):
                    case Failure(problem):
                        return PublishedTarget(target.path, "refused", MarkersAmbiguous(target.path, problem))
                    case Success(spliced):
                        return _Planned(whose, file, rendered, spliced)

    # -- writing ------------------------------------------------------------------------------------------------------

    def _carried_out(
        self, plans: Sequence[_Planned | PublishedTarget], keep: KeepSections, *, dry_run: bool
    ) -> Result[Published, Error]:
        due = [each.change for each in plans if isinstance(each, _Planned) and not each.is_unchanged]

        def written(_: None) -> Published:
            return Published(tuple(self._settled(each, keep, dry_run=dry_run) for each in plans))

        return (keep(due) if due and not dry_run else Success(None)).map(written)

    def _settled(self, plan: _Planned | PublishedTarget, keep: KeepSections, *, dry_run: bool) -> PublishedTarget:
        if isinstance(plan, PublishedTarget):
            return plan
        if plan.is_unchanged:
            return _told(plan, "unchanged")
        if dry_run:
            return evolve(_told(plan, "planned"), diff=_diff_of(plan))
        return self._written(plan, keep, _ATTEMPTS)

    def _written(self, plan: _Planned, keep: KeepSections, attempts: int) -> PublishedTarget:
        """Written; planned anew, from the store as it is then, where somebody else wrote to the file meanwhile."""
        match sealed(self.targets.write(plan.file, plan.spliced.data)):
            case Success(copy):
                return evolve(_told(plan, "written"), kept=copy)
            case Failure(TargetRefused() as error) if attempts > 1:
                match self._planned_anew(plan, keep):
                    case _Planned() as new if new.is_unchanged:
                        return _told(new, "unchanged")
                    case _Planned() as new if new.file != plan.file:
                        return self._written(new, keep, attempts - 1)
                    case _:
                        return PublishedTarget(plan.target.path, "refused", error)
            case Failure(error):
                return PublishedTarget(plan.target.path, "refused", error)

    def _planned_anew(self, plan: _Planned, keep: KeepSections) -> _Planned | None:
        file = self.targets.read(plan.target.path)
        new = self._corpus().map(lambda corpus: self._plan(plan.target, file, corpus)).value_or(None)
        if not isinstance(new, _Planned):
            return None
        return new if new.change == plan.change or isinstance(keep([new.change]), Success) else None


def _each_file_once(plans: Iterable[_Planned | PublishedTarget]) -> list[_Planned | PublishedTarget]:
    """The plans, where of several targets that are one file (a link to it) only the first is carried out."""
    first: dict[str, str] = {}
    kept: list[_Planned | PublishedTarget] = []
    for plan in plans:
        if isinstance(plan, _Planned) and plan.file.real_path in first:
            same = f"{plan.target.path} is the same file as {first[plan.file.real_path]}, and is written as that"
            kept.append(PublishedTarget(plan.target.path, "unchanged", warnings=(same,)))
            continue
        if isinstance(plan, _Planned):
            first[plan.file.real_path] = plan.target.path
        kept.append(plan)
    return kept


def _told(plan: _Planned, outcome: Literal["written", "unchanged", "planned"]) -> PublishedTarget:
    warnings = (*plan.rendered.warnings, *_reach_warnings(plan))
    return PublishedTarget(plan.target.path, outcome, rendered=plan.rendered, warnings=warnings)


def _reach_warnings(plan: _Planned) -> Iterable[str]:
    """Why the section may not reach who reads the file."""
    file = plan.file
    if rule_head(file.real_path) and not plan.spliced.data.startswith(b"---"):
        yield f"{plan.target.path} is ignored without a head like {rule_head(file.real_path).split(chr(10))[1]!r} between two lines of ---"
    if file.overridden_by is not None:
        yield f"Codex reads {file.overridden_by} in place of {plan.target.path}"
    if file.chain_bytes:
        total = file.chain_bytes - len(file.data or b"") + len(plan.spliced.data)
        if total > MOST_BYTES_READ:
            yield (
                f"{plan.target.path} and the files that Codex reads with it come to {total:,} bytes; "
                f"it reads {MOST_BYTES_READ:,} and drops the rest"
            )


def _diff_of(plan: _Planned) -> str:
    before = (plan.file.data or b"").decode("utf-8", "replace").splitlines()
    after = plan.spliced.data.decode("utf-8", "replace").splitlines()
    return "\n".join(difflib.unified_diff(before, after, plan.target.path, plan.target.path, lineterm=""))
