"""What the actions of one run are planned upon: the live entries, the ids that are taken, what links may point at."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import cached_property

from attrs import define, field

from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.defrag_plan import DefragFacts
from agent_memory.domain.defragging.fresh_text import Untrusted, untrusted_entries
from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.entry_reads import reads_of
from agent_memory.domain.planning.linking import Targets
from agent_memory.domain.planning.taken_ids import TakenBesides
from agent_memory.domain.text.folded_name import folded_name


@define(slots=False)
class Ground:
    """Looked up for each action, so each part is made once. It grows with the ids that the run mints."""

    facts: DefragFacts
    minted: set[str] = field(factory=set[str])
    """Ids of the entries that accepted actions write."""

    @cached_property
    def live(self) -> Mapping[str, Listed]:
        """The live entries by id."""
        return {each.meta.id: each for each in self.facts.live}

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return {id.casefold(): id for each in self.facts.live for id in (*each.meta.aliases, each.meta.id)}

    @cached_property
    def _taken(self) -> frozenset[str]:
        return self.facts.taken_ids | self._spelled.keys()

    @property
    def taken_ids(self) -> TakenBesides:
        """Every id that is not free, casefolded; to be added to for one action."""
        return TakenBesides(self._taken, self.minted)

    @cached_property
    def untrusted(self) -> tuple[Untrusted, ...]:
        """What of the prompt no person said and no agent concluded."""
        return untrusted_entries(self.facts.live, self.facts.shown.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """The file names of the live entries, folded."""
        return frozenset(folded_name(each.path.rpartition("/")[2]) for each in self.facts.live)

    @cached_property
    def _titles(self) -> dict[tuple[str, str], str]:
        return {(each.meta.scope, folded_name(each.meta.title)): each.meta.id for each in self.facts.live}

    def titled(self, title: str, scope: str) -> str | None:
        """The live or planned entry of a scope with this title, compared without case."""
        return self._titles.get((scope, folded_name(title)))

    def targets(self, now_called: Mapping[str, str]) -> Targets:
        """What links may point at; `now_called` says what ids become by the action itself."""
        renamed = {old.casefold(): new for old, new in now_called.items()}
        minted = {id.casefold(): id for id in self.minted}
        return Targets({}, ChainMap(renamed, minted, self._spelled), self._taken)

    def used(self, meta: Meta) -> Usage:
        """The reads of an entry: those of the ledgers, else what its frontmatter says."""
        return reads_of(meta, self.facts.usage)

    def accept(self, changes: Iterable[Change]) -> None:
        """Go on from what these changes leave."""
        for change in changes:
            match change:
                case Create(entry) | Replace(entry, _):
                    self.minted.add(entry.meta.id)
                    self._titles[entry.meta.scope, folded_name(entry.meta.title)] = entry.meta.id
                case Retire(id, _, _):
                    meta = self.live[id].meta
                    self._titles.pop((meta.scope, folded_name(meta.title)), None)
                case Restore():
                    raise TypeError("a defrag restores nothing")
