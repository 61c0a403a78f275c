"""`memory import`: records of another memory become notes, as one run that can be undone.

A note remembers in its source which record it is of, and a digest of the text that was made of it: importing again does
nothing where the record is as it was, changes the note where only the record changed, and leaves a note alone that was
changed here.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePath

from attrs import evolve, frozen

from agent_memory.care.tombstones import Tombstones
from agent_memory.errors import Error, UsageInvalid
from agent_memory.files.paths import exists
from agent_memory.imports.base import SOURCES_LINE, Found, LeftOut, Machine, Record, Value, sections
from agent_memory.imports.formats import NAMES, source_of
from agent_memory.note.note import GLOBAL_SCOPE, Listed, MemoryEntry, Meta, Origin, Source as NoteSource, body_hash
from agent_memory.note.note_format import render_note
from agent_memory.note.tagging import VOCABULARY_FILE, VOCABULARY_KEY
from agent_memory.redaction.redact import redact_path, stored_line
from agent_memory.results import as_result, unwrap
from agent_memory.rules.analyze import MOST_CHARS, MOST_LINES
from agent_memory.rules.change import Change, ChangeGroup, Dropped
from agent_memory.rules.drafts import (
    MAX_BODY_CHARS,
    edited_title,
    has_secret,
    stored_agent,
    stored_body,
    stored_description,
    stored_subject,
    stored_tags,
    taken_ids,
)
from agent_memory.rules.forgotten import REASON, EntryTombstone, forgotten_note
from agent_memory.store.bookkeeping import (
    STATE_VALUE,
    TAG_VOCABULARY,
    StateKeysFiles,
    TagVocabularyFile,
    path_of,
    state_value,
)
from agent_memory.store.recorded_writes import ActRuns
from agent_memory.text.ids import content_hash, is_id, mint_id, normal_tags
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.markdown import derive_description, derive_title, find_code, is_inside
from agent_memory.text.plain_text import counted, first_few

_OWN = {"bootstrap": "the project", "skills": "past sessions"}
_DATED = re.compile(r"\A\[?\d{4}[- ]\d\d[- ]\d\d[T\d: ]*\]?(?: · .*)?\Z")
"""A heading that only says when."""
_LINK = re.compile(r"\[\[(?!\s)([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")


@frozen
class Imported:
    source: str
    changes: tuple[Change | ChangeGroup, ...] = ()
    created: tuple[MemoryEntry, ...] = ()
    updated: tuple[MemoryEntry, ...] = ()
    values: tuple[str, ...] = ()
    """The keys of new values."""
    known: int = 0
    """Records that are notes already, as they are."""
    left: tuple[Dropped, ...] = ()
    """Records that do not become notes, and why."""
    run_id: str = ""

    @property
    def sentence(self) -> str:
        counts = (
            f"{counted(len(self.created), 'new note')}",
            f"{len(self.updated):,} updated",
            *([f"{counted(len(self.values), 'value')} for `memory state`"] if self.values else []),
            f"{self.known:,} known already",
            f"{len(self.left):,} left out",
        )
        records = sum(map(len, (self.created, self.updated, self.values, self.left)), self.known)
        of_own = _OWN.get(self.source)
        title = of_own or f"{source_of(self.source).title}, {counted(records, 'record')}"
        return f"From {title}: {', '.join(counts)}"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Returns a sentence for each reason for which records were left out."""
        subjects = dict[str, list[str]]()
        for each in self.left:
            subjects.setdefault("; ".join(each.reasons), []).append(each.subject)
        return tuple(f"{first_few(named, 5)}: {reason}" for reason, named in subjects.items())


@frozen
class _Draft:
    key: str
    record: Record
    id: str
    title: str
    body: str
    scope: str
    before: Listed | None
    digest: str
    """Of the note that was made of it the last time, if it was."""


@frozen
class Importing:
    runs: ActRuns
    tombstones: Tombstones
    keys: StateKeysFiles
    vocabulary: TagVocabularyFile
    scope_of: Callable[[str], str]

    @staticmethod
    def found(machine: Machine, names: Iterable[str] = NAMES) -> dict[str, list[str]]:
        """Returns the paths of the memories that lie where one usually does, by source."""
        return {name: list(dict.fromkeys(filter(exists, source_of(name).find(machine)))) for name in names}

    @staticmethod
    def below(source: str, path: str, machine: Machine) -> list[str]:
        """Returns the memories that lie in a directory as they usually do in a home or a project, of which it may be a
        part or a copy; the path itself where there are none."""
        homes = (path, *map(str, PurePath(path).parents)) if os.path.isdir(path) else ()
        places = (machine, *(Machine(each, {}, each) for each in homes))
        usual = (each for place in places for each in source_of(source).find(place) if each.startswith(f"{path}/"))
        return list(dict.fromkeys(filter(exists, usual))) or [path]

    @as_result
    def run(
        self, source: str, paths: Sequence[str], machine: Machine, *,
        scope: str | None = None, is_mine: bool = False, dry_run: bool = False,
    ) -> Imported:  # fmt: skip
        """Imports what lies at these paths, as one run. `scope` is that of all notes; without it each goes where its
        record says. With `is_mine` they are whose their record shows; else a foreign source's, so that no session is
        told of them before a person vouches for them. Only for a person."""
        found = [each for path in paths for each in source_of(source).read(path, machine)]
        return self.take(source, found, scope=scope, is_mine=is_mine, dry_run=dry_run)

    def take(
        self, source: str, found: Sequence[Found], *, scope: str | None = None, is_mine: bool = False, dry_run: bool
    ) -> Imported:
        if dry_run:
            return self._planned(source, found, scope, is_mine)
        self.runs.writes.caller.only_a_person("import")
        started_ms = self.runs.clock.now_ms()
        with self.runs.writes.locks.write():
            plan = self._planned(source, found, scope, is_mine)
            if not plan.changes:
                return plan
            run_id = self.runs.new_id(started_ms)
            self.runs.adopt_edits_of({each.meta.id for each in plan.updated})
            receipt = unwrap(self.runs.writes.store.apply(plan.changes, run_id=run_id))
            done = {each.id for each in receipt.applied}
            plan = evolve(
                plan,
                run_id=run_id,
                created=tuple(each for each in plan.created if each.meta.id in done),
                updated=tuple(each for each in plan.updated if each.meta.id in done),
                left=(*plan.left, *receipt.dropped),
            )
            self.runs.report("import", run_id, started_ms, plan.sentence, receipt, plan.reasons)
        self.runs.show(run_id)
        return plan

    # -- what becomes of the records --------------------------------------------------------------------------------------

    def _planned(self, source: str, found: Iterable[Found], scope: str | None, is_mine: bool) -> Imported:
        live, archive = unwrap(self.runs.writes.store.listings())
        made = {
            key: (each, digest) for each in (*archive.entries, *live.entries) for key, digest in _keys_of(each.meta)
        }
        bodies = {each.body_hash for each in live.entries}
        gone, rejected = unwrap(self.tombstones.of_entries()), unwrap(self.tombstones.rejected())
        taken = {*taken_ids(live, archive), *(each.id.casefold() for each in gone)}
        drafts: list[_Draft] = []
        left: list[Dropped] = []
        known, keys, values = 0, set[str](), list[ChangeGroup]()
        for each in _apart(found):
            if isinstance(each, LeftOut):
                left.append(_left(each.name, each.reason))
                continue
            if isinstance(each, Value):
                try:
                    values += (group := self._value(each))
                    known += not group
                except Error as error:
                    left.append(_left(f"state {each.key}", str(error)))
                continue
            draft = self._draft(source, each, scope, made, taken, gone, rejected)
            if isinstance(draft, LeftOut):
                left.append(_left(draft.name, draft.reason))
            elif draft.before.archived if draft.before else body_hash(draft.body) in bodies:
                known += 1
            elif draft.key in keys:
                left.append(_left(draft.title, f"{each.id} is the id of another record, too"))
            elif draft.before is None and each.id.casefold() in taken:
                left.append(_left(draft.title, f"{each.id} is a note here already, or was one"))
            else:
                taken.add(draft.id.casefold())
                keys.add(draft.key)
                drafts.append(draft)
                bodies.add(body_hash(draft.body))
        nearest_last = sorted(drafts, key=lambda each: each.record.id.count("/"), reverse=True)
        ids = {name: each.id for each in nearest_last for name in (each.record.id, *each.record.names) if name}
        changes: list[Change | ChangeGroup] = []
        created: list[MemoryEntry] = []
        updated: list[MemoryEntry] = []
        for draft in drafts:
            entry = self._entry(draft, ids, is_mine)
            if draft.before is None:
                created.append(entry)
                changes.append(_made(entry, draft.record.is_archived))
            elif _digest(entry) == draft.digest and not draft.before.meta.is_unheard(entry.meta.origin):
                known += 1
            else:
                stored = unwrap(self.runs.writes.store.read(draft.id))
                if _digest(stored.entry) != draft.digest:
                    left.append(_left(draft.title, f"{draft.id} was changed here since it was imported"))
                    continue
                entry = evolve(entry, meta=_updated(stored.meta, entry.meta))
                updated.append(entry)
                changes.append(Change.of(entry, stored.listed.content_hash))
        kept = tuple(each.subject for each in values)
        return Imported(source, (*changes, *values), tuple(created), tuple(updated), kept, known, tuple(left))

    def _value(self, each: Value) -> list[ChangeGroup]:
        """Returns the change that keeps the value; none where it is kept already. Raises an error where it may not be.
        The tags that another memory keeps to are accepted here, too."""
        tags = (each.value.get("vocabulary") if is_object(each.value) else None) if each.key == VOCABULARY_KEY else None
        if is_list(tags):
            own = unwrap(self.vocabulary.get())
            both = own.with_accepted(normal_tags(tag for tag in tags if isinstance(tag, str) and not has_secret(tag)))
            marks = {VOCABULARY_FILE: TAG_VOCABULARY.render(both).encode()}
            return [ChangeGroup(each.key, (), marks=marks)] if both != own else []
        new = unwrap(state_value(each.key, each.value, self.runs.clock.now_ms()))
        kept = unwrap(self.keys.get(each.key))
        if kept is not None and kept.json != new.json:
            raise UsageInvalid("it has another value here", f"`memory state get {each.key}` prints it.")
        marks = {path_of(each.key): STATE_VALUE.render(new).encode()}
        return [ChangeGroup(each.key, (), marks=marks)] if kept is None else []

    def _draft(
        self, source: str, record: Record, scope: str | None, made: Mapping[str, tuple[Listed, str]],
        taken: set[str], gone: Sequence[EntryTombstone], rejected: Sequence[EntryTombstone],
    ) -> _Draft | LeftOut:  # fmt: skip
        body = stored_body(record.body)
        said = record.title if is_id(record.id) else _DATED.sub("", record.title)
        title = edited_title(said or derive_title(body))
        if not any(map(str.isalnum, body)):
            return LeftOut(title if title != "untitled" else record.id, "it is empty")
        if len(body) > MAX_BODY_CHARS:
            return LeftOut(title, f"it has {len(body):,} characters, at most {MAX_BODY_CHARS:,} are allowed")
        if scope is None and record.place is None:
            where = f"its project {record.project}" if record.project else "its project"
            return LeftOut(title, f"{where} is not known on this machine; `--scope` says where it belongs")
        said_at_ms = record.updated_at_ms or record.created_at_ms or 0
        if forgotten_note(gone, title, body, said_at_ms) is not None:
            return LeftOut(title, REASON)
        if any(each.is_said_by(title, body) for each in rejected):
            return LeftOut(title, "you rejected it (`memory review`)")
        place = record.place or GLOBAL_SCOPE
        own_scope = record.own.scope if record.own else None
        there = scope or own_scope or (GLOBAL_SCOPE if place == GLOBAL_SCOPE else self.scope_of(place))
        key = _key(f"{source}:{record.id}")
        before, digest = made.get(key, (None, ""))
        created_ms = record.created_at_ms or record.updated_at_ms or self.runs.clock.now_ms()
        own_id = record.id if is_id(record.id) else mint_id(title, created_ms, taken)
        id = own_id if before is None else before.meta.id
        return _Draft(key, record, id, title, body, there, before, digest)

    def _entry(self, draft: _Draft, ids: Mapping[str, str], is_mine: bool) -> MemoryEntry:
        record, now_ms = draft.record, self.runs.clock.now_ms()
        body = _linked(draft.body, ids, draft)
        created_ms = min(record.created_at_ms or record.updated_at_ms or now_ms, now_ms)
        # A foreign source neither pins, nor vouches for, nor replaces a note.
        known = record.own if record.own and is_mine else Meta(draft.id, draft.title, 0, 0)
        meta = evolve(
            known,
            id=draft.id,
            title=draft.title,
            created_at_ms=created_ms,
            updated_at_ms=max(created_ms, min(record.updated_at_ms or created_ms, now_ms)),
            description=stored_description(record.description or derive_description(body)),
            kind=record.kind,
            tags=stored_tags(record.tags),
            origin=record.origin if is_mine else Origin.EXTERNAL,
            scope=draft.scope,
            importance=record.importance,
            confidence=record.confidence,
            sensitivity=record.sensitivity,
            expires_at_ms=record.expires_at_ms,
            valid_from_ms=record.own.valid_from_ms if record.own else None,
            valid_until_ms=record.valid_until_ms,
        )
        where = NoteSource(
            record.harness,
            record.session_id,
            draft.scope if draft.scope != GLOBAL_SCOPE else None,
            None if record.place in (None, GLOBAL_SCOPE) else redact_path(str(record.place)),
            record.agent and stored_agent(record.agent),
        )
        entry = MemoryEntry(meta, body)
        sources = (evolve(where, imported=f"{draft.key}#{_digest(entry)}"), *known.sources[1:])
        return evolve(entry, meta=evolve(meta, sources=sources))


def _key(id: str) -> str:
    """Returns the id as a note may hold it. One that is too long, or holds a secret, stays apart from others by a digest."""
    key = stored_line(id, 200)
    if key != id:
        key = f"{stored_line(id, 187)} {sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    return key.replace("#", "_")


def _keys_of(meta: Meta) -> Iterator[tuple[str, str]]:
    for each in meta.sources:
        if each.imported:
            key, _, digest = each.imported.rpartition("#")
            yield key, digest


def _digest(entry: MemoryEntry) -> str:
    text = re.sub(rf"\n{SOURCES_LINE}[^\n]*\Z", "", entry.whole.strip())
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _apart(found: Iterable[Found]) -> Iterator[Found]:
    """Yields the parts, each with an id of its own: a text may have two sections of one name. An id of ours is one note's."""
    seen = Counter[str]()
    for each in _parts(found):
        if isinstance(each, Record) and not is_id(each.id):
            seen[each.id] += 1
            yield evolve(each, id=f"{each.id}/{seen[each.id]}") if seen[each.id] > 1 else each
        else:
            yield each


def _parts(found: Iterable[Found]) -> Iterator[Found]:
    """Yields the records; of one that is too large for a note each of its sections, and of a larger one its paragraphs,
    as many at a time as fit. A note of ours stays whole if it may."""
    for each in found:
        if not isinstance(each, Record) or (
            _size_of(each.body) <= MOST_CHARS or (is_id(each.id) and len(each.body) <= MAX_BODY_CHARS)
        ):
            yield each
            continue
        title = each.title or each.id
        for heading, text in sections(each.body):
            name, id = f"{title}: {heading}" if heading not in ("", title) else title, f"{each.id}/{heading}"
            for number, piece in enumerate(_pieces(text), 1):
                more = ("", "") if number == 1 else (f" ({number})", f"/{number}")
                yield evolve(each, id=id + more[1], title=name + more[0], body=piece, description="", names=())


def _size_of(text: str) -> int:
    """Returns the characters of a text, or of as many full lines if it has more: a note is too large by either."""
    return max(len(text), MOST_CHARS // MOST_LINES * sum(not line.isspace() for line in text.splitlines(keepends=True)))


def _pieces(text: str) -> list[str]:
    """Returns the paragraphs and items of a markdown text, as many at a time as a note should have; code is one."""
    fences = find_code(text).fences
    found = re.finditer(r"\n\s*\n|\n(?=[-*+] |\d+[.)] )", text)
    starts = [each.end() for each in found if not is_inside(each.start(), fences)]
    cuts, size = [0], 0
    for start, until in pairwise((0, *starts, len(text))):
        if size and size + _size_of(text[start:until]) > MOST_CHARS:
            cuts.append(start)
            size = 0
        size += _size_of(text[start:until])
    return [text[cut:until].strip() for cut, until in pairwise((*cuts, len(text)))]


def _left(name: str, reason: str) -> Dropped:
    return Dropped(stored_subject(name), (stored_line(reason),))


def _linked(body: str, ids: Mapping[str, str], draft: _Draft) -> str:
    """Returns the body with links to notes of this import; other links are the words that they show, but in code and in
    a note of ours, where double brackets are no link."""
    code = find_code(body).ranges

    def link(found: re.Match[str]) -> str:
        target, label = found[1].strip(), found[2]
        id = ids.get(target) or ids.get(target.partition("#")[0])
        if is_inside(found.start(), code):
            return found[0]
        if id in (None, draft.id, target):
            return found[0] if is_id(target) or is_id(draft.record.id) else label or target
        return f"[[{id}|{label or target}]]" if label or not is_id(target) else f"[[{id}]]"

    return _LINK.sub(link, body)


def _made(entry: MemoryEntry, is_archived: bool) -> Change | ChangeGroup:
    made = Change.of(entry)
    if not is_archived:
        return made
    return ChangeGroup(entry.meta.id, (made, Change.retire(entry.meta.id, content_hash(render_note(entry).encode()))))


def _updated(old: Meta, new: Meta) -> Meta:
    """Returns the frontmatter of a note whose record changed. Whoever vouched for it saw another text."""
    return evolve(
        old,
        title=new.title,
        description=new.description,
        updated_at_ms=max(old.updated_at_ms, new.updated_at_ms),
        status=new.status if new.origin is Origin.EXTERNAL else old.status,
        promoted_by=None if new.origin is Origin.EXTERNAL else old.promoted_by,
        pinned=old.pinned and new.origin is not Origin.EXTERNAL,
        origin=new.origin,
        sources=new.sources,
    )
