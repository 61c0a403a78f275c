"""How managed sections come to be written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.git.committed import may_be_committed
from agent_memory.adapters.surroundings.repository import may_be_in_work_tree
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.adapters.targets.chosen_targets import chosen_targets, expanded
from agent_memory.domain.footprint import SectionChange
from agent_memory.domain.section import Published, RenderedSection, SectionBudget, Target
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import Error
from agent_memory.publishing import KeepSections, Publisher, kept_nowhere

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory

BY_HAND = "generate-agents-md"
"""What stands in a harness's place for files that a person named."""


def publisher_of(memory: Memory) -> Publisher:
    """What writes the managed sections of this store."""
    return Publisher(memory.store, memory.targets, section_budget(memory))


def section_budget(memory: Memory) -> SectionBudget:
    """How much of the store a section may hold."""
    return SectionBudget(memory.config.agents_md.hot_chars, memory.config.agents_md.warm_lines)


def publish(
    memory: Memory,
    paths: Sequence[str] | None,
    *,
    dry_run: bool,
    keep: KeepSections | None = None,
) -> Result[Published, Error]:
    """As `Memory.publish` has it."""
    home = home_of(memory.environ)
    named = memory.config.agents_md.targets if paths is None else paths
    full = [expanded(path, home, None if paths is None else memory.cwd) for path in named]
    chosen = chosen_targets(full, home, memory.places, lambda path: may_be_committed(path, memory.environ))
    by_hand = kept_nowhere if paths is None else partial(_kept_for_uninstall, memory)
    published = memory.publisher.publish(chosen, keep or by_hand, dry_run=dry_run)
    if keep is None and isinstance(published, Success):  # a run says it in its report
        for notice in filter(None, (each.notice for each in published.unwrap().targets)):
            memory.warn(notice)
    return published


def _kept_for_uninstall(memory: Memory, sections: Sequence[SectionChange]) -> Result[None, Error]:
    """Files that a person names get their first section: what they were before is kept, as setup keeps it."""
    from agent_memory.adapters.setup.settings_files import SettingsFiles
    from agent_memory.adapters.setup.setup_state import SetupState
    from agent_memory.domain.installing.receipt import Receipt, SectionRecord

    home = home_of(memory.environ)
    first = [each for each in sections if each.before is None]
    if home is None or not first:
        return Success(None)
    state = SetupState(home)

    def recorded(receipt: Receipt) -> Result[None, Error]:
        new = list[SectionRecord]()
        for each in first:
            found = SettingsFiles(memory.targets).read(each.path)
            if isinstance(found, Failure) or receipt.section(each.path) is not None:
                continue  # what cannot be edited will be refused
            data = found.unwrap().file.data
            kept: Result[str | None, Error] = Success(None) if data is None else state.keep_backup(data).map(_or_none)
            if isinstance(kept, Failure):
                return kept
            new.append(SectionRecord(each.path, kept.unwrap(), (BY_HAND,)))
        return state.put_receipt(evolve(receipt, sections=(*receipt.sections, *new))) if new else Success(None)

    with state.locked() as held:
        return held.bind(lambda _: state.receipt()).bind(recorded)


def _or_none(name: str) -> str | None:
    return name


def section_here(memory: Memory) -> Result[RenderedSection, Error]:
    """As `Memory.section_here` has it."""
    in_repository = memory.cwd is not None and may_be_in_work_tree(memory.cwd)
    return memory.publisher.render(Target("-", frozenset({GLOBAL_SCOPE, memory.scope_here()}), in_repository))
