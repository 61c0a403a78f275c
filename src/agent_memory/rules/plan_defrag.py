"""Turns an agent's defrag proposal into exactly what one defrag will write.

Pure and deterministic: the same proposal and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from attrs import define, evolve, field

from agent_memory.note.file_name import file_name_of, folded_name
from agent_memory.note.note import (
    Listed,
    MemoryEntry,
    Meta,
    Origin,
    Source,
    StoredEntry,
    Tier,
    furthest,
    highest,
    least_trusted,
    reads_of,
    strictest,
)
from agent_memory.redaction.redact import stored_line
from agent_memory.rules.change import Cause, Change, ChangeGroup, Dropped, max_changes
from agent_memory.rules.drafts import (
    CHANGES_NOTHING,
    MAX_BODY_CHARS,
    Refused,
    Targets,
    Unknown,
    body_problems,
    has_secret,
    kept_description,
    kept_title,
    link_body,
    stored_body,
    stored_description,
    stored_refusal,
    stored_subject,
    stored_tags,
    stored_title,
    title_problems,
    unlinked,
    why_untouchable,
    with_links,
)
from agent_memory.rules.information import (
    Untrusted,
    information_problems,
    invented_words,
    loss_problems,
    origin_of_fresh_text,
    said_by,
    swapped_words,
    untrusted_entries,
)
from agent_memory.rules.origin import with_source
from agent_memory.rules.plan import (
    Action,
    Archive,
    Deferred,
    DefragFacts,
    DefragPlan,
    DefragProposal,
    Due,
    Edit,
    Merge,
    Rename,
    Retag,
    Split,
    SplitPart,
    fingerprint_of,
    ids_of,
    kind_of,
)
from agent_memory.text.ids import mint_id
from agent_memory.text.instants import latest, latest_end
from agent_memory.text.markdown import append_see_also, derive_description, find_links, without_see_also_of
from agent_memory.text.plain_text import clean_text, first_few
from agent_memory.text.salience import salient_tokens, statements

Reasons = tuple[str, ...]
_Outcome = tuple[tuple[Change, ...], Unknown]

_UNDONE = "a person has undone it, and nothing it is made from has changed since"
_WAITS = "another change of it waits for the next run"
_ONCE = "another action of this run changes it already"
_EARLIER = "put off by an earlier run, and not possible any more"
_NAME_TAKEN = "another file has the name that it would get"


def plan_defrag(
    proposal: DefragProposal, facts: DefragFacts, deferred: tuple[Deferred, ...] = (), due: Due | None = None
) -> DefragPlan:
    """Returns everything in the proposal that may be done, after what earlier runs deferred; the rest is dropped with
    its reasons, or deferred if only the run's limit stands against it.

    Notes that are due to be archived go too: first what the proposal says of an expired note, then the expired ones,
    then as many surplus ones as the proposal leaves over.

    Guarantees of the result: only notes whose bytes are those that the agent saw are touched, each by one destructive
    action, and none that is pinned, conflicted, secret or without an id of its own; every salient token of what is
    replaced is in what replaces it or was named as dropped; ids and file names are unique; every link in what is
    written leads to a note; no more notes change than a run may change (unless `force`), and at least one stays live.
    """
    run, due = _Planning(facts), due or Due()
    spoken_for = {id for action in proposal.actions for id in ids_of(action)}
    for archive in due.expired:
        if archive.id not in spoken_for:
            run.take_due(archive)
    for waiting in deferred:
        run.take(waiting.action, waiting.hashes, f"{_EARLIER}: ")
    for action in proposal.actions:
        run.take(action, run.seen_by_agent(action))
    for archive in due.expired:
        run.take_due(archive)
    for archive in due.surplus:
        if run.gone < len(due.surplus):
            run.take_due(archive)
    told = tuple(map(stored_refusal, proposal.dropped))
    return DefragPlan(tuple(run.actions), told + tuple(run.dropped), tuple(run.deferred), tuple(run.refused))


def ids_to_read(
    proposal: DefragProposal, deferred: Iterable[Deferred], shown: Mapping[str, StoredEntry], due: Due | None = None
) -> tuple[str, ...]:
    """Returns the notes that checking needs in full beside those that were shown, for `DefragFacts.at_hand`."""
    earlier = {id: None for each in deferred for id in ids_of(each.action)}
    named = (*(due.ids if due else ()), *earlier, *(id for action in proposal.actions for id in ids_of(action)))
    return tuple(dict.fromkeys(id for id in named if id not in shown or id in earlier))


def subject_of(action: Action) -> str:
    """Returns the kind and the ids, cleaned: until they are checked they are an agent's words."""
    ids = tuple(map(stored_subject, dict.fromkeys(ids_of(action))))
    return f"{kind_of(action)} of {first_few(ids, 4)}"


def _words_of(action: Action, new_ids: str) -> str:
    """Returns an action in words: `merge id__a, id__b into id__c (title)`."""
    match action:
        case Merge(ids, title):
            return f"merge {', '.join(ids)} into {new_ids} ({title})"
        case Split(id):
            return f"split {id} into {new_ids}"
        case Rename(id, title, _):
            return f"rename {id} to {title}"
        case Retag(id, tags):
            return f"retag {id}: {' '.join(tags)}"
        case Edit(id):
            return f"edit {id}"
        case Archive(id, reason):
            return f"archive {id}: {reason}"


@define(slots=False)
class _Planning:
    facts: DefragFacts
    actions: list[ChangeGroup] = field(factory=list[ChangeGroup])
    dropped: list[Dropped] = field(factory=list[Dropped])
    deferred: list[Deferred] = field(factory=list[Deferred])
    refused: list[Action] = field(factory=list[Action])
    gone: int = 0
    """How many fewer live notes there will be; negative for more."""
    _taken: dict[str, list[Action]] = field(factory=dict[str, list[Action]])
    """The actions done or deferred for each note."""
    _waiting: set[str] = field(factory=set[str])
    _changed: set[str] = field(factory=set[str])
    _versions: dict[str, MemoryEntry] = field(factory=dict[str, MemoryEntry])
    """The new versions so far, by id."""
    _minted: set[str] = field(factory=set[str])
    """Ids of the notes that accepted actions write."""

    @cached_property
    def live(self) -> Mapping[str, Listed]:
        return {each.meta.id: each for each in self.facts.live}

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return {id.casefold(): id for each in self.facts.live for id in reversed(each.meta.all_ids)}

    @cached_property
    def _known_ids(self) -> frozenset[str]:
        return self.facts.taken_ids | self._spelled.keys()

    @cached_property
    def untrusted(self) -> tuple[Untrusted, ...]:
        """Returns the texts in the prompt that no person said and no agent concluded."""
        return untrusted_entries(self.facts.live, self.facts.shown.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """Returns the file names of the live notes, folded."""
        return frozenset(folded_name(each.path.rpartition("/")[2]) for each in self.facts.live)

    @cached_property
    def titles(self) -> dict[tuple[str, str], str]:
        """Returns the titles of live and planned notes, by scope and folded title."""
        return {(each.meta.scope, folded_name(each.meta.title)): each.meta.id for each in self.facts.live}

    # -- one action after the other ----------------------------------------------------------------------------------

    def seen_by_agent(self, action: Action) -> Mapping[str, str]:
        """Returns content hashes of the action's notes as the agent saw them: in full, or for a title and tags in the
        catalog.

        A note that it did not see that way is missing.
        """
        if isinstance(action, Rename | Retag):
            return {id: self.live[id].content_hash for id in ids_of(action) if id in self.live}
        shown = self.facts.shown
        return {id: shown[id].listed.content_hash for id in ids_of(action) if id in shown}

    def take(self, action: Action, seen: Mapping[str, str], prefix: str = "") -> None:
        """Plans the action, defers it, or records why it is dropped. `seen` are content hashes (`seen_by_agent`)."""
        ids = frozenset(ids_of(action))
        try:
            changes, unknown = self._permitted(action, seen)
        except Refused as refused:
            self.dropped.append(Dropped(subject_of(action), tuple(f"{prefix}{each}" for each in refused.reasons)))
            if refused.cause is Cause.REFUSED and not prefix:
                self.refused.append(action)
            return
        if self._must_wait(ids):
            self.deferred.append(Deferred(action, {id: seen[id] for id in sorted(ids)}))
            self._waiting |= ids
        else:
            self._accept(action, changes, seen)
            self.dropped += unlinked(subject_of(action), unknown)
        for id in ids:
            self._taken.setdefault(id, []).append(action)

    def take_due(self, archive: Archive) -> None:
        """Plans the action unless anything stands against it: every run looks again at what is due, so nothing is
        reported or deferred."""
        if archive.id not in self.live or archive.id in self._taken or self._must_wait(frozenset((archive.id,))):
            return
        seen = {archive.id: self.live[archive.id].content_hash}
        try:
            changes, _ = self._permitted(archive, seen)
        except Refused:
            return
        self._accept(archive, changes, seen)
        self._taken[archive.id] = [archive]

    def _permitted(self, action: Action, seen: Mapping[str, str]) -> _Outcome:
        """Returns the changes of the action, if nothing but the run's limit stands against it, and its links that lead
        nowhere."""
        ids = tuple(dict.fromkeys(ids_of(action)))
        named = ((id, reason) for id in ids for reason in self._protection(id, seen.get(id)))
        problems = tuple(f"{stored_subject(id)}: {reason}" if len(ids) > 1 else reason for id, reason in named)
        problems = problems or self._clashes(action, ids)
        if not problems and fingerprint_of(action, seen) in self.facts.undone:
            problems = (_UNDONE,)
        limit = max_changes(self.facts.live_at_start)
        if not problems and not self.facts.force and len(ids) > limit:  # waiting would not help
            problems = (f"it changes {len(ids)} notes, and one run may change {limit} (`--force` lifts that)",)
        if problems:
            raise Refused(problems, Cause.PROTECTED)
        changes, unknown = self._carried_out(action, tuple(self._at_hand(id, seen[id]) for id in ids))
        if len(self.facts.live) - self.gone - _gone_by(changes) < 1:
            raise Refused(("it would leave no note",), Cause.PROTECTED)
        return changes, unknown

    def _protection(self, id: str, seen: str | None) -> Reasons:
        """Returns the reasons why no action may touch this note, in words (P8, P11, P13); empty if one may."""
        listed = self.live.get(id)
        if listed is None:
            return ("it is not live any more",) if id.casefold() in self.taken_ids else ("there is no such note",)
        unfinished = ("it has no id of its own yet (`memory doctor --fix` gives it one)",) * listed.provisional_id
        if forbidden := (*why_untouchable(listed), *unfinished):
            return forbidden
        if seen is None:
            return ("it was not shown in full",)
        if listed.content_hash != seen:
            return ("it was changed since it was shown",)
        stored = self._at_hand(id, seen)
        if stored is None:
            return ("its text is not at hand",)
        return ("it holds a secret that the agent was not shown",) if has_secret(stored.entry.whole) else ()

    def _at_hand(self, id: str, content_hash: str) -> StoredEntry | None:
        held = (self.facts.shown.get(id), self.facts.at_hand.get(id))
        return next((each for each in held if each is not None and each.listed.content_hash == content_hash), None)

    def _clashes(self, action: Action, ids: Iterable[str]) -> Reasons:
        """Returns the reasons why the action conflicts with earlier ones: in one run a note gets at most one edit, one
        title and one set of tags."""
        clashing: list[str] = []
        for id in ids:
            kinds = [kind_of(each) for each in (action, *self._taken.get(id, ()))]
            if len(kinds) > 1 and not (len(set(kinds)) == len(kinds) and {"edit", "rename", "retag"}.issuperset(kinds)):
                clashing.append(_WAITS if id in self._waiting else _ONCE)
        return tuple(dict.fromkeys(clashing))

    def _carried_out(self, action: Action, found: tuple[StoredEntry | None, ...]) -> _Outcome:
        sources = tuple(each for each in found if each is not None)
        match action:
            case Merge():
                return _merged(action, sources, self)
            case Split():
                return _split(action, sources[0], self)
            case Archive(id, reason):
                if not stored_line(reason):
                    raise Refused(("it gives no reason",))
                return (Change.retire(id, sources[0].listed.content_hash),), ()
            case Rename() | Retag() | Edit():
                old = self._versions.get(action.id, sources[0].entry)
                unknown: Unknown = ()
                if isinstance(action, Rename):
                    new = _renamed(stored_title(action.title), action.drops, old, self)
                elif isinstance(action, Retag):
                    new = evolve(old, meta=evolve(old.meta, tags=stored_tags(action.tags)))
                    if not new.meta.tags:
                        raise Refused(("it leaves the note without a tag",))
                else:
                    new, unknown = _edited(action, old, self)
                if new == old:
                    raise Refused((CHANGES_NOTHING,), Cause.KNOWN)
                # Kind, scope, status and trust never rise in an update.
                new = self.judged(evolve(new, meta=self.told_now(new.meta)), said_by(old))
                return (Change.of(new, sources[0].listed.content_hash),), unknown

    def _accept(self, action: Action, changes: tuple[Change, ...], seen: Mapping[str, str]) -> None:
        for change in changes:
            if change.entry is None:
                meta = self.live[change.id].meta
                self.titles.pop((meta.scope, folded_name(meta.title)), None)
                continue
            self._minted.add(change.id)
            meta = change.entry.meta
            self.titles[meta.scope, folded_name(meta.title)] = change.id
            if change.act == "replace":
                # Earlier actions on the note write this version too: one write carries out all of them, and each finds it written.
                self.actions = [
                    evolve(each, changes=(change,)) if each.ids == (change.id,) else each for each in self.actions
                ]
                self._versions[change.id] = change.entry
        new_ids = ", ".join(each.id for each in changes if each.act == "create")
        words, fingerprint = _words_of(action, new_ids), fingerprint_of(action, seen)
        self.actions.append(ChangeGroup(subject_of(action), changes, kind_of(action), words, fingerprint))
        self.gone += _gone_by(changes)
        self._changed.update(ids_of(action))

    def _must_wait(self, ids: frozenset[str]) -> bool:
        is_over = not self.facts.force and len(self._changed | ids) > max_changes(self.facts.live_at_start)
        return is_over or not ids.isdisjoint(self._waiting)

    # -- what an action is planned upon ------------------------------------------------------------------------------

    @property
    def taken_ids(self) -> set[str]:
        """Returns every id in use, casefolded, as a set that one action may add to."""
        return {*self._known_ids, *map(str.casefold, self._minted)}

    def targets(self, now_called: Mapping[str, str]) -> Targets:
        """Returns the notes to which links may point; `now_called` maps ids to what they become by the action itself."""
        renamed = {old.casefold(): new for old, new in now_called.items()}
        minted = {id.casefold(): id for id in self._minted}
        return Targets({}, ChainMap(renamed, minted, self._spelled), self._known_ids)

    def told_now(self, meta: Meta) -> Meta:
        """Returns the frontmatter as this run writes it: updated now, with the reads known so far."""
        used = reads_of(meta, self.facts.usage)
        at_ms = max(self.facts.now_ms, meta.updated_at_ms)
        return evolve(meta, updated_at_ms=at_ms, used=used.count, last_used_at_ms=used.last_at_ms)

    def judged(self, entry: MemoryEntry, before: str) -> MemoryEntry:
        """Returns the note with the origin that its text has beside the earlier text (P19): if it comes out external, or
        says in the place of something what that did not say, it loses a person's promotion."""
        fresh = self.origin_of(entry, before)
        origin = least_trusted((entry.meta.origin, fresh))
        is_else = fresh is not Origin.USER and not set(statements(before)) <= {*statements(said_by(entry))}
        promoted_by = None if is_else or origin is Origin.EXTERNAL else entry.meta.promoted_by
        return evolve(entry, meta=evolve(entry.meta, origin=origin, promoted_by=promoted_by))

    def origin_of(self, entry: MemoryEntry, before: str) -> Origin:
        return origin_of_fresh_text(before, said_by(entry), self.untrusted)


def _gone_by(changes: Iterable[Change]) -> int:
    return sum((each.act == "retire") - (each.act == "create") for each in changes)


# -- merge and split (P12) ------------------------------------------------------------------------------------------


def _merged(action: Merge, sources: tuple[StoredEntry, ...], run: _Planning) -> _Outcome:
    """Returns the merge of these notes, which may be touched. Raises `Refused` with every reason against it."""
    if len(sources) < 2:
        raise Refused(("a merge takes two or more different notes",))
    if len({each.meta.scope for each in sources}) > 1:
        raise Refused(("its notes belong to different repositories, or to one and to all",))
    part = _part(action)
    _refuse_texts((part,), sources)
    metas = tuple(run.told_now(each.meta) for each in sources)
    united = united_meta(metas)
    meta = evolve(
        united,
        id=mint_id(part.title, united.created_at_ms, run.taken_ids),
        title=part.title,
        tags=stored_tags((*united.tags, *part.tags)),
        status=furthest((united.status, run.facts.status)),
        promoted_by=_vouched_by(sources),
    )
    return _new_entries(((meta, part),), sources, action.drops, run)


def _split(action: Split, source: StoredEntry, run: _Planning) -> _Outcome:
    """Returns the parts of this note, which may be touched. Raises `Refused` with every reason against it."""
    parts = tuple(map(_part, action.into))
    if len(parts) < 2:
        raise Refused(("a split makes two or more notes",))
    if len({folded_name(part.title) for part in parts}) < len(parts):
        raise Refused(("two of its parts have the same title",))
    _refuse_texts(parts, (source,))
    copied = evolve(run.told_now(source.meta), status=furthest((source.meta.status, run.facts.status)), pinned=False)
    taken, metas = run.taken_ids, list[Meta]()
    for part in parts:
        id = mint_id(part.title, source.meta.created_at_ms, taken)
        taken.add(id.casefold())
        tags = stored_tags(part.tags) or source.meta.tags
        metas.append(evolve(copied, id=id, title=part.title, tags=tags, aliases=() if metas else source.meta.all_ids))
    return _new_entries(tuple(zip(metas, parts, strict=True)), (source,), action.drops, run)


def _new_entries(
    drafts: tuple[tuple[Meta, SplitPart], ...], sources: tuple[StoredEntry, ...], drops: tuple[str, ...], run: _Planning
) -> _Outcome:
    entries = tuple(each.entry for each in sources)
    texts = {meta.id: part.body for meta, part in drafts}
    bodies, unknown = _linked_bodies(texts, entries, drafts[0][0].id, drops, run)
    results = tuple(
        MemoryEntry(evolve(meta, description=part.description or derive_description(bodies[meta.id])), bodies[meta.id])
        for meta, part in drafts
    )
    problems = information_problems(entries, results, drops)
    if any(folded_name(file_name_of(each.meta)) in run.names for each in results):
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    before = "\n".join(map(said_by, entries))
    retired = tuple(Change.retire(each.meta.id, each.listed.content_hash) for each in sources)
    created = tuple(Change.of(run.judged(_best_described(each, before, run), before)) for each in results)
    return (*retired, *created), unknown


def _best_described(entry: MemoryEntry, before: str, run: _Planning) -> MemoryEntry:
    """Returns the note without a description that would make it less trusted: the body can do without."""
    plain = evolve(entry, meta=evolve(entry.meta, description=derive_description(entry.body)))
    fresh = run.origin_of(entry, before)
    return plain if fresh is not Origin.USER and run.origin_of(plain, before) is not fresh else entry


def _part(proposed: Merge | SplitPart) -> SplitPart:
    description = stored_description(proposed.description or "")
    return SplitPart(stored_title(proposed.title), stored_body(proposed.body), description, proposed.tags)


def _refuse_texts(parts: tuple[SplitPart, ...], sources: tuple[StoredEntry, ...]) -> None:
    before = "\n".join(each.body for each in sources)
    problems = tuple(
        f"{stored_line(part.title, 40)!r}: {reason}" if len(parts) > 1 else reason
        for part in parts
        for reason in title_problems(part.title) + body_problems(part.body, before)
    )
    if problems:
        raise Refused(problems)


def _linked_bodies(
    bodies: dict[str, str], sources: tuple[MemoryEntry, ...], heir: str, drops: tuple[str, ...], run: _Planning
) -> tuple[dict[str, str], Unknown]:
    """Returns the bodies by new id with their links resolved, and the targets that lead nowhere.

    From now on the ids of the sources mean `heir`. A link that a source held and no body holds any more is appended to
    the heir's body, unless `drops` names it or there is no room.
    """
    own = {id: heir for each in sources for id in each.meta.all_ids}
    targets = run.targets({**own, **{id: id for id in bodies}})
    # If the heir's last line of links names its sources, a bare id would be left behind.
    drafts = {**bodies, heir: without_see_also_of(bodies[heir], own)}
    linked = {id: link_body(body, (), targets, id) for id, body in drafts.items()}
    texts = {id: text for id, (text, _) in linked.items()}
    held = {targets.id_of(link.target) for text in texts.values() for link in find_links(text)}
    wanted = {targets.id_of(link.target): link.target for each in sources for link in find_links(each.body)}
    lost = {id: target for id, target in wanted.items() if id is not None and id not in {*held, *own, heir}}
    missing = [id for id, target in lost.items() if not any(id in drop or target in drop for drop in drops)]
    extended = append_see_also(texts[heir], missing)
    if len(extended) <= MAX_BODY_CHARS:
        texts[heir] = extended
    return texts, tuple(dict.fromkeys(chain.from_iterable(unknown for _, unknown in linked.values())))


# -- frontmatter of a merge (design §3.2) ----------------------------------------------------------------------------


def united_meta(metas: Sequence[Meta]) -> Meta:
    """Returns the first of these notes after the others are merged into it, except for what follows from its own text.

    Strictest sensitivity, least trusted origin, highest importance, lowest confidence, kind of the first, newest
    creation and validity, reads added up, tags and sources united, an end only where all have one. Never pinned; an
    external result loses a person's promotion.
    """
    origin = least_trusted(meta.origin for meta in metas)
    sources: tuple[Source, ...] = ()
    for source in dict.fromkeys(source for meta in metas for source in meta.sources):
        sources = with_source(sources, source)
    aliases = tuple(dict.fromkeys(id for meta in metas for id in meta.all_ids))
    return evolve(
        metas[0],
        created_at_ms=max(meta.created_at_ms for meta in metas),
        updated_at_ms=max(meta.updated_at_ms for meta in metas),
        tags=tuple(dict.fromkeys(tag for meta in metas for tag in meta.tags)),
        status=furthest(meta.status for meta in metas),
        origin=origin,
        importance=highest(meta.importance for meta in metas),
        confidence=min((meta.confidence for meta in metas if meta.confidence is not None), default=None),
        sensitivity=strictest(meta.sensitivity for meta in metas),
        pinned=False,
        promoted_by=None if origin is Origin.EXTERNAL else metas[0].promoted_by,
        withheld=any(meta.withheld for meta in metas),
        cleared=tuple(dict.fromkeys(each for meta in metas for each in meta.cleared)),
        used=sum(meta.used for meta in metas),
        last_used_at_ms=latest(*(meta.last_used_at_ms for meta in metas)),
        expires_at_ms=latest_end(*(meta.expires_at_ms for meta in metas)),
        valid_from_ms=latest(*(meta.valid_from_ms for meta in metas)),
        valid_until_ms=latest_end(*(meta.valid_until_ms for meta in metas)),
        aliases=aliases,
        supersedes=tuple(dict.fromkeys(id for meta in metas for id in meta.supersedes if id not in aliases)),
        sources=sources,
    )


def _vouched_by(sources: tuple[StoredEntry, ...]) -> str | None:
    """Returns whose promotion holds for the whole: what is merged into a promoted note must not need a promotion, or
    must add nothing."""
    vouched = [each for each in sources if each.meta.is_vouched_for]
    if not vouched:
        return None
    known = {sentence for each in vouched for sentence in statements(said_by(each.entry))}
    others = (each for each in sources if not each.meta.is_vouched_for)
    is_for_all = all(
        each.meta.best_tier is Tier.HOT or known.issuperset(statements(said_by(each.entry))) for each in others
    )
    return vouched[0].meta.promoted_by if is_for_all else None


# -- rename, retag, edit --------------------------------------------------------------------------------------------


def _renamed(title: str, drops: tuple[str, ...], old: MemoryEntry, run: _Planning) -> MemoryEntry:
    new = evolve(old, meta=evolve(old.meta, title=title))
    if new == old:
        return new
    problems = title_problems(title) or loss_problems((old.meta.title,), said_by(new), drops)
    # A title is shown without the body, so it must not say anything that the body contradicts.
    if (swapped := swapped_words(said_by(old), title, drops)) and not problems:
        problems += (f"its title would not say {', '.join(map(repr, swapped))}, and its drops do not name that",)
    problems += invented_words(said_by(old), title)
    twin = run.titles.get((old.meta.scope, folded_name(title)))
    if twin not in (None, old.meta.id):
        problems += (f"{twin} has that title",)
    if folded_name(file_name_of(new.meta)) in run.names - {folded_name(file_name_of(old.meta))}:
        problems += (_NAME_TAKEN,)
    if problems:
        raise Refused(problems)
    return new


def _edited(action: Edit, old: MemoryEntry, run: _Planning) -> tuple[MemoryEntry, Unknown]:
    shown, find = clean_text(old.body), clean_text(action.find)
    at = shown.find(find)
    if not find.strip() or at < 0:
        raise Refused(("the passage to be replaced does not occur in it",))
    if shown.rfind(find) != at:
        raise Refused(("the passage to be replaced occurs more than once in it",))
    body = stored_body(shown[:at] + clean_text(action.replace) + shown[at + len(find) :])
    if body == old.body:
        raise Refused((CHANGES_NOTHING,), Cause.KNOWN)
    # Derived anew if it was derived before, or if it names something that the body does not name any more.
    is_stale = bool(salient_tokens(old.meta.description) & (salient_tokens(old.body) - salient_tokens(body)))
    description = derive_description(body) if is_stale else kept_description(old, body)
    status = furthest((old.meta.status, run.facts.status))
    draft = MemoryEntry(evolve(old.meta, title=kept_title(old, body), description=description, status=status), body)
    new, unknown = with_links(draft, old, run.targets({}))
    problems = body_problems(new.body, old.body) or loss_problems((said_by(old),), new.whole, action.drops)
    problems += invented_words(said_by(old), new.whole)
    if problems:
        raise Refused(problems)
    return new, unknown
