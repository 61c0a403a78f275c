"""From what an agent proposes to exactly what one defrag will write.

Pure and deterministic: the same proposal and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain

from attrs import define, evolve, field, frozen

from agent_memory.domain.actions import (
    Action,
    Archive,
    Deferred,
    DefragFacts,
    DefragPlan,
    DefragProposal,
    Due,
    Edit,
    Merge,
    PlannedAction,
    Rename,
    Retag,
    Split,
    SplitPart,
    fingerprint_of,
    ids_of,
    kind_of,
)
from agent_memory.domain.change import Change, Create, Dropped, Replace, Restore, Retire
from agent_memory.domain.defragging.changed_claims import (
    Untrusted,
    invented_words,
    origin_of_fresh_text,
    swapped_words,
    untrusted_entries,
)
from agent_memory.domain.defragging.information import information_problems, loss_problems, said_by
from agent_memory.domain.editing import kept_description
from agent_memory.domain.entry import Listed, MemoryEntry, Meta, Source, StoredEntry, Usage, reads_of
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.drafts import (
    MAX_BODY_CHARS,
    Refused,
    Targets,
    body_problems,
    link_body,
    stored_body,
    stored_description,
    stored_line,
    stored_refusal,
    stored_subject,
    stored_tags,
    stored_title,
    title_problems,
    unlinked,
    with_links,
)
from agent_memory.domain.planning.origin import with_source
from agent_memory.domain.planning.salience import salient_tokens, statements
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.file_name import file_name_of, folded_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, Sensitivity, furthest, highest, least_trusted, strictest

_UNDONE = "a person has undone it, and nothing it is made from has changed since"
_WAITS = "another change of it waits for the next run"
_ONCE = "another action of this run changes it already"
_LAST = "it would leave no entry"
_EARLIER = "put off by an earlier run, and not possible any more"


def plan_defrag(
    proposal: DefragProposal, facts: DefragFacts, deferred: tuple[Deferred, ...] = (), due: Due | None = None
) -> DefragPlan:
    """All that may be done of the proposal, after what earlier runs deferred; the rest is dropped with its reasons, or
    deferred where only the run's limit stands against it.

    What is due to be archived goes too. What the proposal says of an entry that has expired comes first, then the clock;
    and so many entries as the proposal leaves too many.

    Guarantees of the result: only entries whose bytes are those that the agent saw are touched, each by one destructive
    action, and none that is pinned, conflicted, secret or without an id of its own; every salient token of what is
    replaced is in what takes its place or was named as dropped; ids and file names are unique; every link of what is
    written leads to an entry; no more entries change than a run may change (unless `force`), and at least one stays live.
    """
    run, due = _Planning(Ground(facts)), due or Due()
    spoken_for = {id for action in proposal.actions for id in ids_of(action)}
    for archive in due.expired:
        if archive.id not in spoken_for:
            run.take_due(archive)
    for waiting in deferred:
        run.take(waiting.action, waiting.hashes, f"{_EARLIER}: ")
    for action in proposal.actions:
        run.take(action, seen_hashes(action, facts))
    for archive in due.expired:
        run.take_due(archive)
    for archive in due.surplus:
        if run.gone < len(due.surplus):
            run.take_due(archive)
    told = tuple(map(stored_refusal, proposal.dropped))
    return DefragPlan(tuple(run.actions), told + tuple(run.dropped), tuple(run.deferred))


def ids_to_read(
    proposal: DefragProposal, deferred: Iterable[Deferred], shown: Mapping[str, StoredEntry], due: Due | None = None
) -> tuple[str, ...]:
    """The entries that checking needs whole beside those that were shown: to be given as `DefragFacts.at_hand`."""
    deferred, due = tuple(deferred), due or Due()
    actions = (*(each.action for each in deferred), *proposal.actions)
    named = (*due.ids, *(id for action in actions for id in ids_of(action)))
    earlier = {id for each in deferred for id in ids_of(each.action)}
    return tuple(dict.fromkeys(id for id in named if id not in shown or id in earlier))


@define
class _Planning:
    """One run, action by action."""

    ground: Ground
    actions: list[PlannedAction] = field(factory=list[PlannedAction])
    dropped: list[Dropped] = field(factory=list[Dropped])
    deferred: list[Deferred] = field(factory=list[Deferred])
    _taken: dict[str, list[Action]] = field(factory=dict[str, list[Action]])
    """What is done or put off for each entry."""
    _waiting: set[str] = field(factory=set[str])
    _changed: set[str] = field(factory=set[str])
    gone: int = 0
    """How many live entries fewer there will be than before; negative for more."""
    _versions: dict[str, MemoryEntry] = field(factory=dict[str, MemoryEntry])
    """The new versions so far, by id."""

    def take(self, action: Action, seen: Mapping[str, str], prefix: str = "") -> None:
        """Plan the action, put it off, or say why not."""
        ids = frozenset(ids_of(action))
        try:
            outcome = self._permitted(action, seen)
        except Refused as refused:
            self.dropped.append(Dropped(subject_of(action), tuple(f"{prefix}{each}" for each in refused.reasons)))
            return
        if self._must_wait(ids):
            self.deferred.append(Deferred(action, {id: seen[id] for id in sorted(ids)}))
            self._waiting |= ids
        else:
            self._accept(action, outcome, seen)
        for id in ids:
            self._taken.setdefault(id, []).append(action)

    def take_due(self, archive: Archive) -> None:
        """Plan it unless anything stands against it: every run looks anew at what is due, so nothing is told or put off."""
        listed = self.ground.live.get(archive.id)
        if listed is None or archive.id in self._taken or self._must_wait(frozenset((archive.id,))):
            return
        seen = {archive.id: listed.content_hash}
        try:
            outcome = self._permitted(archive, seen)
        except Refused:
            return
        self._accept(archive, outcome, seen)
        self._taken[archive.id] = [archive]

    def _permitted(self, action: Action, seen: Mapping[str, str]) -> Outcome:
        """What the action comes to, where nothing but the run's limit stands against it."""
        problems = protection(action, seen, self.ground) or self._clashes(action)
        if not problems and fingerprint_of(action, seen) in self._facts.undone:
            problems = (_UNDONE,)
        if not problems and not self._facts.force:
            problems = self._excess(action)
        if problems:
            raise Refused(problems)
        outcome = self._carried_out(action)
        if self._left(outcome) < 1:
            raise Refused((_LAST,))
        return outcome

    def _clashes(self, action: Action) -> Reasons:
        clashing = (id for id in dict.fromkeys(ids_of(action)) if not _go_together(action, self._taken.get(id, ())))
        return tuple(dict.fromkeys(_WAITS if id in self._waiting else _ONCE for id in clashing))

    def _excess(self, action: Action) -> Reasons:
        """Why no run may ever take it, and waiting would not help."""
        count, limit = len(set(ids_of(action))), max_changes(self._facts.live_at_start)
        words = f"it changes {count} entries, and one run may change {limit} (`--force` lifts that)"
        return (words,) if count > limit else ()

    def _carried_out(self, action: Action) -> Outcome:
        sources = tuple(text_of(id, self.ground) for id in dict.fromkeys(ids_of(action)))
        if isinstance(action, Merge):
            return merged(action, sources, self.ground)
        stored = sources[0]
        content_hash = stored.listed.content_hash
        match action:
            case Split():
                return split(action, stored, self.ground)
            case Archive(_, reason):
                if not stored_line(reason):
                    raise Refused(("it gives no reason",))
                return Outcome((Retire(stored.meta.id, content_hash),))
            case Rename() | Retag() | Edit():
                new, unlinked_targets = rewritten(action, self._versions.get(stored.meta.id, stored.entry), self.ground)
                return Outcome((Replace(new, content_hash),), (), unlinked_targets)

    def _accept(self, action: Action, outcome: Outcome, seen: Mapping[str, str]) -> None:
        for change in outcome.changes:
            if isinstance(change, Replace):
                self._supersede(change)
        self.actions.append(PlannedAction(action, outcome.changes, fingerprint_of(action, seen), outcome.new_ids))
        self.dropped += unlinked(subject_of(action), outcome.unlinked)
        self.ground.accept(outcome.changes)
        self.gone = len(self._facts.live) - self._left(outcome)
        self._changed.update(ids_of(action))

    def _supersede(self, change: Replace) -> None:
        """Let the earlier actions on the entry write this version too: one write carries out all of them, and each of
        them finds it written."""
        id = change.entry.meta.id
        if id in self._versions:
            self.actions = [
                evolve(each, changes=(change,)) if ids_of(each.action) == (id,) else each for each in self.actions
            ]
        self._versions[id] = change.entry

    def _must_wait(self, ids: frozenset[str]) -> bool:
        if ids & self._waiting:
            return True
        return not self._facts.force and len(self._changed | ids) > max_changes(self._facts.live_at_start)

    def _left(self, outcome: Outcome) -> int:
        """How many entries are live once this is done."""
        retired = sum(isinstance(change, Retire) for change in outcome.changes)
        created = sum(isinstance(change, Create) for change in outcome.changes)
        return len(self._facts.live) - self.gone - retired + created

    @property
    def _facts(self) -> DefragFacts:
        return self.ground.facts


def _go_together(action: Action, earlier: Iterable[Action]) -> bool:
    """Whether an entry may undergo all of them in one run: one edit, one title, one set of tags."""
    actions = (action, *earlier)
    kinds = [kind_of(each) for each in actions]
    return len(actions) == 1 or (
        len(set(kinds)) == len(kinds) and all(isinstance(each, Rename | Retag | Edit) for each in actions)
    )


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


_NAME_TAKEN = "another file has the name that it would get"


@frozen
class Outcome:
    """The changes that carry an action out, and the ids that it creates, in order."""

    changes: tuple[Change, ...]
    new_ids: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    """Targets of links that lead nowhere and are plain text now."""


def linked_bodies(
    bodies: dict[str, str], sources: Iterable[MemoryEntry], heir: str, drops: tuple[str, ...], ground: Ground
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The bodies by new id with their links resolved, and the targets that lead nowhere.

    The ids of the sources mean `heir` from now on. A link that a source held and no body holds any more is appended to
    the heir's, unless `drops` names it or there is no room.
    """
    sources = tuple(sources)
    own = {id: heir for each in sources for id in (each.meta.id, *each.meta.aliases)}
    targets = ground.targets({**own, **{id: id for id in bodies}})
    linked = {id: link_body(_without_own(body, own, id == heir), (), targets, id) for id, body in bodies.items()}
    texts = {id: each.body for id, each in linked.items()}
    held = {targets.id_of(link.target) for text in texts.values() for link in find_links(text)}
    wanted = {targets.id_of(link.target): link.target for each in sources for link in find_links(each.body)}
    lost = {id: target for id, target in wanted.items() if id is not None and id not in {*held, *own, heir}}
    missing = [id for id, target in lost.items() if not any(id in drop or target in drop for drop in drops)]
    extended = append_see_also(texts[heir], missing)
    if len(extended) <= MAX_BODY_CHARS:
        texts[heir] = extended
    return texts, tuple(dict.fromkeys(chain.from_iterable(each.unknown for each in linked.values())))


def _without_own(body: str, own: dict[str, str], is_heir: bool) -> str:
    """The heir's body without links to itself in its last line of links, where they would leave a bare id behind."""
    core = without_see_also(body)
    last = [link for link in find_links(body) if link.start >= len(core)]
    if not is_heir or not any(link.target in own for link in last):
        return body
    rest = body[len(core) :]
    for link in last:
        rest = rest.replace(body[link.start : link.end], "")
    if any(character.isalnum() for character in rest.replace("See also:", "")):
        return body
    return append_see_also(core, [link.target for link in last if link.target not in own])


# -- frontmatter (design §3.2) --------------------------------------------------------------------------------------


def united_meta(id: str, title: str, sources: tuple[MemoryEntry, ...], tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of a merge, but for description and what its own text does to its origin.

    Strictest sensitivity, least trusted origin, highest importance, lowest confidence, kind of the first, newest creation
    and validity, tags and sources united, an end only where all have one. Never pinned.
    """
    metas = tuple(each.meta for each in sources)
    origin = least_trusted(meta.origin for meta in metas)
    used = tuple(map(ground.used, metas))
    return Meta(
        id=id,
        title=title,
        created_at_ms=max(meta.created_at_ms for meta in metas),
        updated_at_ms=max(ground.facts.now_ms, *(meta.updated_at_ms for meta in metas)),
        kind=metas[0].kind,
        tags=stored_tags((*(tag for meta in metas for tag in meta.tags), *tags)),
        status=furthest((*(meta.status for meta in metas), ground.facts.status)),
        origin=origin,
        scope=metas[0].scope,
        importance=highest(meta.importance for meta in metas),
        confidence=min((meta.confidence for meta in metas if meta.confidence is not None), default=None),
        sensitivity=strictest(meta.sensitivity for meta in metas),
        promoted_by=_vouched_by(sources),
        used=sum(each.count for each in used),
        last_used_at_ms=max((each.last_at_ms for each in used if each.last_at_ms is not None), default=None),
        expires_at_ms=_latest_of_all(meta.expires_at_ms for meta in metas),
        valid_from_ms=max((meta.valid_from_ms for meta in metas if meta.valid_from_ms is not None), default=None),
        valid_until_ms=_latest_of_all(meta.valid_until_ms for meta in metas),
        aliases=(aliases := ids_and_aliases(metas)),
        supersedes=tuple(dict.fromkeys(id for meta in metas for id in meta.supersedes if id not in aliases)),
        sources=_united_sources(source for meta in metas for source in meta.sources),
    )


def part_meta(id: str, title: str, source: MemoryEntry, tags: tuple[str, ...], ground: Ground) -> Meta:
    """The frontmatter of one part of a split: its source's, without aliases."""
    used = ground.used(source.meta)
    return evolve(
        source.meta,
        id=id,
        title=title,
        tags=stored_tags(tags) or source.meta.tags,
        status=furthest((source.meta.status, ground.facts.status)),
        updated_at_ms=max(ground.facts.now_ms, source.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
        aliases=(),
        pinned=False,
    )


def with_origin(meta: Meta, fresh: Origin) -> Meta:
    """The frontmatter once the text has been judged: what comes out external has lost a person's promotion."""
    origin = least_trusted((meta.origin, fresh))
    return evolve(meta, origin=origin, promoted_by=None if origin is Origin.EXTERNAL else meta.promoted_by)


def ids_and_aliases(metas: Iterable[Meta]) -> tuple[str, ...]:
    """Every id by which these entries are found."""
    return tuple(dict.fromkeys(id for meta in metas for id in (meta.id, *meta.aliases)))


def _vouched_by(sources: tuple[MemoryEntry, ...]) -> str | None:
    """Whose promotion holds for all of it: what comes in beside a promoted entry must need none, or say nothing more."""
    vouched = [each for each in sources if is_vouched_for(each.meta)]
    if not vouched:
        return None
    known = {sentence for each in vouched for sentence in statements(said_by(each))}
    others = (each for each in sources if not is_vouched_for(each.meta))
    is_for_all = all(best_tier(each.meta) is Tier.HOT or known.issuperset(statements(said_by(each))) for each in others)
    return vouched[0].meta.promoted_by if is_for_all else None


def _united_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    united: tuple[Source, ...] = ()
    for source in sources:
        if source not in united:
            united = with_source(united, source)
    return united


def _latest_of_all(instants: Iterable[int | None]) -> int | None:
    known = tuple(instants)
    ends = [each for each in known if each is not None]
    return max(ends) if len(ends) == len(known) else None


# -- merge and split (P12) ------------------------------------------------------------------------------------------


def merged(action: Merge, sources: tuple[StoredEntry, ...], ground: Ground) -> Outcome:
    """The merge of these entries, which may be touched. Raises `Refused` with every reason why there is none."""
    if len(sources) < 2:
        raise Refused(("a merge takes two or more different entries",))
    if len({each.meta.scope for each in sources}) > 1:
        raise Refused(("its entries belong to different repositories, or to one and to all",))
    part = _part(action)
    if problems := _text_problems((part,), sources):
        raise Refused(problems)
    entries = tuple(each.entry for each in sources)
    at_ms = max(each.meta.created_at_ms for each in sources)
    meta = united_meta(mint_id(part.title, at_ms, ground.taken_ids), part.title, entries, part.tags, ground)
    return _new_entries(((meta, part),), sources, action.drops, ground)


def split(action: Split, source: StoredEntry, ground: Ground) -> Outcome:
    """The parts of this entry, which may be touched. Raises `Refused` with every reason why there are none."""
    parts = tuple(map(_part, action.into))
    if len(parts) < 2:
        raise Refused(("a split makes two or more entries",))
    if len({folded_name(part.title) for part in parts}) < len(parts):
        raise Refused(("two of its parts have the same title",))
    if problems := _text_problems(parts, (source,)):
        raise Refused(problems)
    metas: list[Meta] = []
    taken = ground.taken_ids
    for part in parts:
        id = mint_id(part.title, source.meta.created_at_ms, taken)
        taken.add(id.casefold())
        metas.append(part_meta(id, part.title, source.entry, part.tags, ground))
    metas[0] = evolve(metas[0], aliases=ids_and_aliases((source.meta,)))
    return _new_entries(tuple(zip(metas, parts, strict=True)), (source,), (), ground)


def _new_entries(
    drafts: tuple[tuple[Meta, SplitPart], ...], sources: tuple[StoredEntry, ...], drops: tuple[str, ...], ground: Ground
) -> Outcome:
    entries = tuple(each.entry for each in sources)
    bodies, unlinked = linked_bodies(
        {meta.id: part.body for meta, part in drafts}, entries, drafts[0][0].id, drops, ground
    )
    results = tuple(
        MemoryEntry(evolve(meta, description=part.description or derive_description(bodies[meta.id])), bodies[meta.id])
        for meta, part in drafts
    )
    problems = information_problems(entries, results, drops)
    if any(folded_name(file_name_of(each.meta)) in ground.names for each in results):
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    before = "\n".join(map(said_by, entries))
    judged = tuple(_judged(each, before, ground) for each in results)
    retired = tuple(Retire(each.meta.id, each.listed.content_hash) for each in sources)
    return Outcome((*retired, *map(Create, judged)), tuple(each.meta.id for each in judged), unlinked)


def _judged(entry: MemoryEntry, before: str, ground: Ground) -> MemoryEntry:
    """The entry with its origin. A description that would make it less trusted is not worth that: the body has its own."""
    fresh = origin_of_fresh_text(before, said_by(entry), ground.untrusted)
    plain = evolve(entry, meta=evolve(entry.meta, description=derive_description(entry.body)))
    if (
        fresh is not Origin.USER
        and (of_plain := origin_of_fresh_text(before, said_by(plain), ground.untrusted)) != fresh
    ):
        entry, fresh = plain, of_plain
    return evolve(entry, meta=with_origin(entry.meta, fresh))


def _part(proposed: Merge | SplitPart) -> SplitPart:
    """The text of one new entry, fit to be stored."""
    description = stored_description(proposed.description or "")
    return SplitPart(stored_title(proposed.title), stored_body(proposed.body), description, proposed.tags)


def _text_problems(parts: tuple[SplitPart, ...], sources: tuple[StoredEntry, ...]) -> Reasons:
    before = "\n".join(each.body for each in sources)
    problems = ((part, title_problems(part.title) + body_problems(part.body, before)) for part in parts)
    return tuple(
        f"{stored_line(part.title, 40)!r}: {reason}" if len(parts) > 1 else reason
        for part, reasons in problems
        for reason in reasons
    )


# -- rename, retag, edit --------------------------------------------------------------------------------------------


def rewritten(action: Rename | Retag | Edit, old: MemoryEntry, ground: Ground) -> tuple[MemoryEntry, tuple[str, ...]]:
    """The entry as the action leaves it, and the targets of links that lead nowhere and are plain text now.

    Kind, scope, status and trust never rise by it. Raises `Refused` with every reason why there is no such entry.
    """
    match action:
        case Rename(_, title, drops):
            return _renamed(stored_title(title), drops, old, ground), ()
        case Retag(_, tags):
            return _retagged(stored_tags(tags), old, ground), ()
        case Edit():
            return _edited(action, old, ground)


def _renamed(title: str, drops: tuple[str, ...], old: MemoryEntry, ground: Ground) -> MemoryEntry:
    if title == old.meta.title:
        raise Refused(("it changes nothing",))
    new = evolve(old, meta=evolve(old.meta, title=title))
    problems = title_problems(title) or loss_problems((old.meta.title,), said_by(new), drops)
    problems += _changed_by_title(title, drops, old)
    twin = ground.titled(title, old.meta.scope)
    if twin not in (None, old.meta.id):
        problems += (f"{twin} has that title",)
    if folded_name(file_name_of(new.meta)) in ground.names - {folded_name(file_name_of(old.meta))}:
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    return _judged_version(new, old, ground)


def _changed_by_title(title: str, drops: tuple[str, ...], old: MemoryEntry) -> Reasons:
    """The title of a note is told without its body: it says nothing that the body says otherwise."""
    swapped = swapped_words(said_by(old), title, drops)
    told = (
        (f"its title would not say {', '.join(map(repr, swapped))}, and its drops do not name that",) if swapped else ()
    )
    return told + invented_words(said_by(old), title)


def _retagged(tags: tuple[str, ...], old: MemoryEntry, ground: Ground) -> MemoryEntry:
    if not tags:
        raise Refused(("it leaves the entry without a tag",))
    if tags == old.meta.tags:
        raise Refused(("it changes nothing",))
    return _judged_version(evolve(old, meta=evolve(old.meta, tags=tags)), old, ground)


def _edited(action: Edit, old: MemoryEntry, ground: Ground) -> tuple[MemoryEntry, tuple[str, ...]]:
    shown, find = clean_text(old.body).text, clean_text(action.find).text
    at = shown.find(find)
    if not find.strip() or at < 0:
        raise Refused(("the passage to be replaced does not occur in it",))
    if shown.rfind(find) != at:
        raise Refused(("the passage to be replaced occurs more than once in it",))
    body = stored_body(shown[:at] + clean_text(action.replace).text + shown[at + len(find) :])
    if body == old.body:
        raise Refused(("it changes nothing",))
    draft = MemoryEntry(evolve(old.meta, description=_description(old, body)), body)
    new, linked = with_links(draft, old, ground.targets({}))
    problems = body_problems(new.body, old.body) or loss_problems((said_by(old),), new.whole, action.drops)
    problems += invented_words(said_by(old), new.whole)
    if problems:
        raise Refused(problems)
    status = furthest((old.meta.status, ground.facts.status))
    judged = _judged_version(evolve(new, meta=evolve(new.meta, status=status)), old, ground)
    return judged, linked.unknown


def _judged_version(new: MemoryEntry, old: MemoryEntry, ground: Ground) -> MemoryEntry:
    fresh = origin_of_fresh_text(said_by(old), said_by(new), ground.untrusted)
    used = ground.used(old.meta)
    meta = evolve(
        with_origin(new.meta, fresh),
        updated_at_ms=max(ground.facts.now_ms, old.meta.updated_at_ms),
        used=used.count,
        last_used_at_ms=used.last_at_ms,
    )
    return evolve(new, meta=meta)


def _description(old: MemoryEntry, body: str) -> str:
    """Derived anew where it was derived, or where it names what the body does not name any more."""
    gone = salient_tokens(old.body) - salient_tokens(body)
    is_stale = bool(salient_tokens(old.meta.description) & gone)
    return derive_description(body) if is_stale else kept_description(old, body)
