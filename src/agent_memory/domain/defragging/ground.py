"""What the actions of one run are planned upon, and which entries they may touch (P8, P11, P13)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import cached_property

from attrs import define, field

from agent_memory.domain.actions import Action, DefragFacts, Rename, Retag, ids_of, kind_of
from agent_memory.domain.change import Change, Create, Replace, Restore, Retire
from agent_memory.domain.defragging.fresh_text import Untrusted, untrusted_entries
from agent_memory.domain.entry import Listed, Meta, StoredEntry, Usage, reads_of
from agent_memory.domain.planning.drafts import stored_subject
from agent_memory.domain.planning.linking import Targets
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.file_name import folded_name
from agent_memory.domain.vocabulary import Sensitivity


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
    def taken_ids(self) -> set[str]:
        """Every id that is not free, casefolded; to be added to for one action."""
        return {*self._taken, *map(str.casefold, self.minted)}

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


Reasons = tuple[str, ...]


def seen_hashes(action: Action, facts: DefragFacts) -> Mapping[str, str]:
    """Content hashes of the action's entries as the agent saw them: in full, or for a title and tags in the catalog.

    An entry that it did not see so is not among them.
    """
    if isinstance(action, Rename | Retag):
        return {id: facts.hashes[id] for id in ids_of(action) if id in facts.hashes}
    shown = (facts.shown[id] for id in ids_of(action) if id in facts.shown)
    return {each.meta.id: each.listed.content_hash for each in shown}


def protection(action: Action, seen: Mapping[str, str], ground: Ground) -> Reasons:
    """Why this action may not touch its entries, in words; nothing if it may. `seen` as `seen_hashes` gives it."""
    ids = tuple(dict.fromkeys(ids_of(action)))
    named = ((id, reason) for id in ids for reason in _reasons(id, seen.get(id), ground))
    return tuple(f"{stored_subject(id)}: {reason}" if len(ids) > 1 else reason for id, reason in named)


def text_of(id: str, ground: Ground) -> StoredEntry:
    """The entry, whole, that `protection` let pass: its text is that of the live file."""
    found = _at_hand(id, ground.live[id].content_hash, ground.facts)
    if found is None:
        raise LookupError(f"nobody has looked whether {id} may be touched")
    return found


def _reasons(id: str, seen: str | None, ground: Ground) -> Reasons:
    listed = ground.live.get(id)
    if listed is None:
        return ("it is not live any more",) if id.casefold() in ground.taken_ids else ("there is no such entry",)
    if refused := _forbidden(listed, ground.facts):
        return refused
    if seen is None:
        return ("it was not shown in full",) if id in ground.facts.hashes else ("it was not shown",)
    if listed.content_hash != seen or ground.facts.hashes.get(id, seen) != seen:
        return ("it was changed since it was shown",)
    stored = _at_hand(id, seen, ground.facts)
    if stored is None:
        return ("its text is not at hand",)
    text = stored.entry.whole
    return ("it holds a secret that the agent was not shown",) if redact(text).text != text else ()


def _forbidden(listed: Listed, facts: DefragFacts) -> Reasons:
    rules = (
        (listed.meta.pinned, "it is pinned"),
        (listed.conflicted, "it holds an unresolved conflict"),
        (listed.meta.sensitivity is Sensitivity.SECRET, "it is secret"),
        (listed.provisional_id, "it has no id of its own yet (`memory doctor --fix` gives it one)"),
        (listed.meta.id in facts.left_alone, "it changed in 3 of the last 10 runs and is left alone"),
    )
    return tuple(words for holds, words in rules if holds)


def _at_hand(id: str, content_hash: str, facts: DefragFacts) -> StoredEntry | None:
    held = (facts.shown.get(id), facts.at_hand.get(id))
    return next((each for each in held if each is not None and each.listed.content_hash == content_hash), None)


_MOST_IDS = 4


def subject_of(action: Action) -> str:
    """The kind and the ids, cleaned: they are an agent's words until they are checked."""
    ids = tuple(dict.fromkeys(ids_of(action)))
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return f"{kind_of(action)} of {', '.join(map(stored_subject, ids[:_MOST_IDS]))}{more}"
