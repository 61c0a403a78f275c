"""The first look of a forgetting: all that would go, all that would change, and what states the same. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_there, real_root, those_there
from agent_memory.adapters.forgetting.forgetting_files import ForgettingFiles
from agent_memory.adapters.forgetting.inbox_traces import InboxTraces, inbox_of_entries, inbox_of_session
from agent_memory.adapters.forgetting.note_traces import (
    NoteFile,
    NoteTraces,
    note_files,
    traces_of_entry,
    traces_of_session,
)
from agent_memory.adapters.forgetting.run_traces import RunTraces
from agent_memory.adapters.forgetting.tombstone_files import FORGOTTEN
from agent_memory.domain.entry import Meta, Source, StoredEntry
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting, GoneNote, Mention, SharedNote
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.forgetting.statements import MENTION_SHARE, share_held, statements_of
from agent_memory.domain.forgetting.trace_words import TraceWords
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.text.slug import slug_of
from agent_memory.domain.vocabulary import Harness, Sensitivity
from agent_memory.errors import EntryNotFound, Error
from agent_memory.formats.forgetting_json import ForgettingAtWork
from agent_memory.ports import Clock, KeptHistories

_MARKS = "state/sessions"


@frozen
class Found:
    """A forgetting with all that carrying it out needs."""

    told: Forgetting
    traces: NoteTraces
    work: ForgettingAtWork
    keys: frozenset[str]
    """Of the inbox's troubles."""


@frozen
class ForgettingLook:
    """Looks through one root."""

    root: Path
    histories: KeptHistories
    clock: Clock

    def look(self, target: ForgetTarget) -> Result[Found, Error]:
        """All that would go. EntryNotFound for an id of which there is nothing."""
        if target.session is not None:
            return self._look_at_session(target, target.session)
        return self._look_at_entry(target, target.id or "")

    def _look_at_entry(self, target: ForgetTarget, id: str) -> Result[Found, Error]:
        def found(traces: NoteTraces, inbox: InboxTraces) -> Result[Found, Error]:
            sessions = _sessions_of(traces.removed) if target.purge else ()
            left = Success(True) if traces.removed or traces.linked else self._may_be_left(target, id)
            return left.bind(
                lambda is_left: (
                    self._found(target, traces, inbox, frozenset((id,)), sessions, ())
                    if is_left
                    else Failure(EntryNotFound(id))
                )
            )

        return traces_of_entry(self._real, id).bind(
            lambda traces: inbox_of_entries(self._real, frozenset((id,))).bind(lambda inbox: found(traces, inbox))
        )

    def _may_be_left(self, target: ForgetTarget, id: str) -> Result[bool, Error]:
        """Whether the note went before, and the history still holds it, or what knew of it."""

        def is_at_work() -> Result[bool, Error]:
            work = ForgettingFiles(self.root).at_work()
            return work.map(lambda begun: begun is not None and id in begun.words.ids)

        return was_forgotten(self._real, id).bind(
            lambda is_gone: is_at_work() if is_gone and not target.purge else Success(is_gone)
        )

    def _look_at_session(self, target: ForgetTarget, session: SessionKey) -> Result[Found, Error]:
        def with_notes(inbox: InboxTraces) -> Result[Found, Error]:
            return traces_of_session(self._real, session, inbox.entry_ids).bind(
                lambda traces: with_their_inbox(inbox, traces)
            )

        def with_their_inbox(inbox: InboxTraces, traces: NoteTraces) -> Result[Found, Error]:
            gone = _ids_of(traces.removed) - traces.kept_ids
            sessions = [(each, session.session_id) for each in _harnesses(session)]
            return inbox_of_entries(self._real, gone).bind(
                lambda notes: self._marks_of(session).bind(
                    lambda marks: self._found(target, traces, _both(inbox, notes), gone, sessions, marks)
                )
            )

        return inbox_of_session(self._real, session).bind(with_notes)

    def _found(
        self,
        target: ForgetTarget,
        traces: NoteTraces,
        inbox: InboxTraces,
        gone: frozenset[str],
        sessions: Sequence[tuple[Harness, str]],
        marks: tuple[str, ...],
    ) -> Result[Found, Error]:
        session = target.session
        words = _words(traces, gone, session)
        touched = _ids_of(traces.removed) | _ids_of(traces.shared)

        def told(
            runs: tuple[str, ...], kept: frozenset[str], has_history: bool, mentions: tuple[Mention, ...]
        ) -> Found:
            histories = tuple((harness, id) for harness, id in sessions if _kept_name(harness, id) in kept)
            forgetting = Forgetting(
                target=target,
                at_ms=self.clock.now_ms(),
                notes=_notes_in(traces),
                shared=_shared_in(traces, session),
                linked=traces.linked,
                mentions=mentions,
                inbox=inbox.paths,
                runs=runs,
                histories=histories,
                marks=marks,
                has_history=has_history,
            )
            work = ForgettingAtWork(
                at_ms=forgetting.at_ms,
                purge=target.purge,
                words=words,
                session=session,
                touched_ids=touched,
                paths=tuple(change.path for change in traces.changes),
                runs=runs,
                inbox=inbox.paths,
                marks=marks,
                histories=histories,
            )
            return Found(forgetting, traces, work, inbox.keys)

        return Result.do(
            told(runs, frozenset(each.name for each in kept), has_history, mentions)
            for runs in RunTraces(self.root, words, touched, session).runs()
            for kept in self.histories.sessions()
            for has_history in is_there(f"{self._real}/.git")
            for mentions in self._mentions(traces)
        )

    def _marks_of(self, session: SessionKey) -> Result[tuple[str, ...], Error]:
        paths = (f"{_MARKS}/{harness}_{slug_of(session.session_id)}.json" for harness in _harnesses(session))
        return those_there(self._real, paths)

    def _mentions(self, traces: NoteTraces) -> Result[tuple[Mention, ...], Error]:
        """Notes that stay and hold most of what a forgotten one states: the likest first. An error where one cannot be looked
        at that may be among them (P6)."""
        gone = {file.path for file in traces.removed}
        forgotten = [statements_of(each.meta.title, each.body) for each in newest_of_each(traces.removed).values()]
        mentions: dict[str, Mention] = {}
        for found in note_files(self._real) if forgotten else ():
            if isinstance(found, Failure):
                return found.map(lambda _: ())
            file = found.unwrap()
            if file.stored is None or file.path in gone:
                continue
            meta = file.stored.meta
            text = f"{meta.title}\n{meta.description}\n{file.stored.body}"
            share = max(share_held(statements, text) for statements in forgotten)
            known = mentions.get(meta.id)
            if share >= MENTION_SHARE and (known is None or known.percent < 100 * share):
                mentions[meta.id] = Mention(meta.id, _title_of(meta), not file.live, round(100 * share))
        return Success(tuple(sorted(mentions.values(), key=lambda each: (-each.percent, each.archived, each.id))))

    @property
    def _real(self) -> str:
        return real_root(self.root)


# -- values -----------------------------------------------------------------------------------------------------------


def _ids_of(files: Iterable[NoteFile]) -> frozenset[str]:
    return frozenset(file.id for file in files if file.id is not None)


def _sessions_of(files: Iterable[NoteFile]) -> tuple[tuple[Harness, str], ...]:
    sources: Iterable[Source] = (each for file in files if file.stored is not None for each in file.stored.meta.sources)
    return tuple(dict.fromkeys((each.harness, each.thread_id) for each in sources if each.thread_id))


def _harnesses(session: SessionKey) -> tuple[Harness, ...]:
    return tuple(Harness) if session.harness is None else (session.harness,)


def was_forgotten(root: str, id: str) -> Result[bool, Error]:
    """Whether an entry of a real root was forgotten before."""
    return is_there(f"{root}/{FORGOTTEN}/{id}.json") if is_id(id) else Success(False)


def _kept_name(harness: Harness, session_id: str) -> str:
    # As `kept_histories_files` names what it keeps of a session.
    return f"{harness}_{slug_of(session_id).replace('.', '~')}"


def _both(one: InboxTraces, other: InboxTraces) -> InboxTraces:
    paths = tuple(dict.fromkeys((*one.paths, *other.paths)))
    return evolve(one, paths=paths, keys=one.keys | other.keys)


def _words(traces: NoteTraces, gone: frozenset[str], session: SessionKey | None) -> TraceWords:
    stored = [file.stored for file in traces.removed if file.stored is not None]
    lines = {line.text: line for each in stored for line in statements_of(each.meta.title, each.body)}
    titles = frozenset(each.meta.title for each in stored)
    return TraceWords(gone, None if session is None else session.session_id, titles, tuple(lines.values()))


def newest_of_each(files: Iterable[NoteFile]) -> dict[str, StoredEntry]:
    """Of several files of one entry the live one, else the one that was changed last; by id."""
    newest: dict[str, NoteFile] = {}
    for file in files:
        if file.stored is None:
            continue
        known = newest.get(file.stored.meta.id)
        if known is None or _age_key(file) > _age_key(known):
            newest[file.stored.meta.id] = file
    return {id: file.stored for id, file in newest.items() if file.stored is not None}


def _age_key(file: NoteFile) -> tuple[bool, int]:
    return (file.live, 0 if file.stored is None else file.stored.meta.updated_at_ms)


def _notes_in(traces: NoteTraces) -> tuple[GoneNote, ...]:
    newest = newest_of_each(traces.removed)
    paths: dict[str, list[str]] = {}
    for file in traces.removed:
        paths.setdefault(file.id or "", []).append(file.path)
    return tuple(
        GoneNote(
            id=id,
            title=_title_of(newest[id].meta) if id in newest else "(not a readable note)",
            paths=tuple(found),
            stays=id in traces.kept_ids,
            secret=id in newest and newest[id].meta.sensitivity is Sensitivity.SECRET,
        )
        for id, found in paths.items()
    )


def _shared_in(traces: NoteTraces, session: SessionKey | None) -> tuple[SharedNote, ...]:
    if session is None:
        return ()
    return tuple(
        SharedNote(id, _title_of(stored.meta), _others(stored.meta, session))
        for id, stored in newest_of_each(traces.shared).items()
    )


def _others(meta: Meta, session: SessionKey) -> tuple[str, ...]:
    others = (each for each in meta.sources if not session.is_of(each))
    return tuple(dict.fromkeys(f"{each.harness} {each.thread_id or 'without a session'}" for each in others))


def _title_of(meta: Meta) -> str:
    return "(secret)" if meta.sensitivity is Sensitivity.SECRET else meta.title
