"""Backfill (finds past sessions and puts those that say something new into the inbox), upgrade (asks a command to look
again at what the built-in consolidated) and watch (captures transcripts as they come to rest).

A session's marks and the inbox tell what has been done; file offsets and times do not. So all of it may be run at any
time, as often as you like, and beside any other command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.capture.switches import was_paused
from agent_memory.config import BUILTIN
from agent_memory.errors import Error, HistoryUnavailable, InboxEntryInvalid, UsageInvalid
from agent_memory.note.note import Harness, Listing
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.session.found_session import Backfill, FoundSession, Rest, Sight, Sighted, short_number
from agent_memory.session.history import COPY, History, Role, SessionMark
from agent_memory.session.queue import (
    BACKFILL_EVENT,
    UPGRADE_EVENT,
    WATCH_EVENT,
    Context,
    InboxEntry,
    KnownSessions,
    queue_key,
    retrieval_of,
    session_key,
)
from agent_memory.session.windows import turn_chars
from agent_memory.text.ids import IdSet
from agent_memory.text.instants import iso_of
from agent_memory.text.plain_text import counted, first_few

if TYPE_CHECKING:
    from threading import Event

    from agent_memory.capture.inbox_files import Inbox
    from agent_memory.capture.switches import Switches
    from agent_memory.care.tombstones import Tombstones
    from agent_memory.ports import Clock, HistorySource, SessionFinder
    from agent_memory.store.bookkeeping import SessionMarks
    from agent_memory.store.store_files import Store

MAX_DIRECTORIES = 1_000

_UNIQUE_ID_CHARS = 16
"""A shorter record id may be a counter, which another session has too."""


@frozen
class BackfillIo:
    finders: Mapping[Harness, SessionFinder]
    histories: HistorySource
    """By retrieval method."""
    inbox: Inbox
    marks: SessionMarks
    clock: Clock
    calls_for: Callable[[History], int]
    """How many calls of the agent command a history takes."""
    repo_of: Callable[[str], str | None]
    """The scope key of a directory; None for `global`."""
    is_private: Callable[[str], bool]
    """Whether a directory is one in which our own agent commands run (P23)."""
    switches: Callable[[], Switches]
    tombstones: Tombstones | None = None
    progress: Callable[[str], object] = str
    loose: Callable[[Set[str], Set[str]], Iterable[FoundSession | str]] = lambda read, unread: ()
    """Returns the sessions in the files that were not read, and in those of a named directory but for those that were,
    whatever they are called; and the paths of files that hold none."""

    def chosen(self, harnesses: Sequence[Harness], wanted: str = "found", hint: str = ".") -> tuple[Harness, ...]:
        """Returns these harnesses, each once, or all; UsageInvalid for one whose sessions cannot be found."""
        if unknown := next((each for each in harnesses if each not in self.finders), None):
            known = f"There are {', '.join(sorted(self.finders))}{hint.format(unknown)}"
            raise UsageInvalid(f"Sessions of {unknown} cannot be {wanted}", known)
        return tuple(dict.fromkeys(harnesses)) or tuple(sorted(self.finders))

    def put(self, sighted: Sighted) -> None:
        """Puts a wanted session into the inbox; if it continues another one, its mark is put first."""
        if sighted.begins_at is not None:
            unwrap(self.marks.put(sighted.begins_at))
        if sighted.entry is not None:
            _put(self.inbox, sighted.entry)


def _put(inbox: Inbox, entry: InboxEntry) -> None:
    """Puts an entry into the inbox, without branch and directory if an entry may not hold them: the session is what
    counts."""
    try:
        unwrap(inbox.put(entry))
    except InboxEntryInvalid:
        unwrap(inbox.put(evolve(entry, context=Context(event=entry.context.event))))


# -- looking at sessions ----------------------------------------------------------------------------------------------


@define
class _Looking:
    """Looks at sessions one after the other, and knows what was in the earlier ones."""

    io: BackfillIo
    known: KnownSessions
    event: str
    """The event of the inbox entries that it makes."""
    ends: frozenset[tuple[Harness, str]]
    """The records at which consolidated sessions end, for harnesses whose copies of a session share record ids."""
    since_ms: int | None = None
    seen: IdSet = field(factory=IdSet)
    """Records of the sessions looked at so far."""
    first: dict[tuple[Harness, str], str | None] = field(factory=dict[tuple[Harness, str], "str | None"])
    """For each session, the transcript that was looked at first."""

    def at(self, found: FoundSession) -> Sighted:
        """Returns what there is to do about a session. Nothing is written, and its text is not kept."""
        io = self.io
        entry = InboxEntry(found.changed_at_ms, found.harness, found.retrieval, Context(event=self.event))
        self.first.setdefault(found.key, found.path)
        keys = (queue_key(entry, ""), session_key(entry, ""))  # the second is one that names no transcript
        if any(key in self.known.waiting for key in keys):
            return Sighted(found, "waiting")
        if max(self.known.given_up_at_ms.get(key, -1) for key in keys) >= found.changed_at_ms:
            return Sighted(found, "given-up")
        if io.switches().off(found.cwd) is not None:  # what takes place nowhere may be off, too
            return Sighted(found, "switched-off")
        try:
            # A person may have forgotten it (P28).
            if (
                io.tombstones is not None
                and unwrap(io.tombstones.of_session(found.harness, found.session_id)) is not None
            ):
                return Sighted(found, "forgotten")
            mark = unwrap(io.marks.get(found.harness, found.session_id))
            last_at_ms = None if mark is None else mark.last_at_ms
            if last_at_ms is not None and found.ended_at_ms is not None and found.ended_at_ms <= last_at_ms:
                return Sighted(found, "done")  # the harness itself says that nothing came after the mark
            history = unwrap(io.histories.fetch(entry, mark))
        except Error as error:
            return Sighted(found, "unreadable", problem=_why_not(error))
        cwd, repo = self._place_of(found.cwd or history.cwd, history.also_in)
        if history.own_call or (cwd is not None and io.is_private(cwd)):
            return Sighted(found, "own-call")
        if cwd != found.cwd and io.switches().off(cwd) is not None:
            return Sighted(found, "switched-off")
        if history.automated:
            return Sighted(found, "automated")
        begins_at = self._begins_at(found, history) if mark is None else None
        if found.shares_record_ids:
            for turn in history.turns:
                if len(turn.record_id) >= _UNIQUE_ID_CHARS:
                    self.seen.add(turn.record_id)
        turns = [turn for turn in history.turns if begins_at is None or turn.number > begins_at.turns_seen]
        if not turns:
            sight: Sight = "copy" if begins_at is not None else "empty" if mark is None else "done"
            return Sighted(found, sight, begins_at=begins_at)
        ended_at_ms = history.ended_at_ms if history.ended_at_ms is not None else found.changed_at_ms
        pauses = io.switches().pauses_of(cwd, repo or "")
        history = evolve(
            history, turns=tuple(each for each in turns if not was_paused(pauses, each.at_ms or ended_at_ms))
        )
        if not history.turns:  # a run would learn nothing of it
            return Sighted(found, "switched-off")
        if self.since_ms is not None and ended_at_ms < self.since_ms:
            return Sighted(found, "older")
        context = Context(cwd=cwd, repo=repo, branch=history.branch, event=self.event)
        return Sighted(
            found,
            "new" if mark is None else "grown",
            entry=evolve(entry, at_ms=min(ended_at_ms, io.clock.now_ms()), context=context),
            chars=sum(map(turn_chars, history.turns)),
            calls=io.calls_for(history),
            is_partial=history.remaining,
            begins_at=begins_at,
        )

    def _place_of(self, cwd: str | None, also_in: Iterable[str]) -> tuple[str | None, str | None]:
        """Returns the directory to which a session belongs, and its repository. One that began in none belongs to the only one
        in which the person spoke later."""
        repo = None if cwd is None else self.io.repo_of(cwd)
        later = {} if repo else {there: each for each in also_in if (there := self.io.repo_of(each))}
        return next(((each, there) for there, each in later.items() if len(later) == 1), (cwd, repo))

    def _begins_at(self, found: FoundSession, history: History) -> SessionMark | None:
        """Returns the mark from which a fork or a resumed copy says something new; None for a session of its own. The
        mark covers the first turns, which are in a session that was consolidated or looked at before."""
        # Another transcript of the same session is not a copy: its mark would be that of both.
        if not found.shares_record_ids or self.first[found.key] != found.path:
            return None
        turns = history.turns
        ends = (at for at, turn in enumerate(turns, 1) if (history.harness, turn.record_id) in self.ends)
        looked_at = next((at for at, turn in enumerate(turns) if turn.record_id not in self.seen), len(turns))
        covered = turns[: max(looked_at, *ends, 0)]
        if not covered:
            return None
        last, answered = covered[-1], any(turn.role is Role.TOOL for turn in covered)
        whose = (history.harness, history.session_id, last.record_id)
        return SessionMark(*whose, last.at_ms, last.number, answered, COPY, transcript=history.transcript)


def _ends(io: BackfillIo, found: Sequence[FoundSession], problems: list[str]) -> frozenset[tuple[Harness, str]]:
    sharing = frozenset(each.harness for each in found if each.shares_record_ids)
    ends: set[tuple[Harness, str]] = set()
    for each in io.marks.all() if sharing else ():
        if isinstance(each, Failure):
            problems += warning_of(each)
        elif (mark := each.unwrap()).harness in sharing and len(mark.last_record_id) >= _UNIQUE_ID_CHARS:
            ends.add((mark.harness, mark.last_record_id))
    return frozenset(ends)


def _why_not(error: Error) -> str:
    """Nothing waits in the inbox yet, so it is not reported as waiting."""
    return error.reason if isinstance(error, HistoryUnavailable) else str(error)


def _named(found: FoundSession) -> str:
    return f"{found.harness} {found.session_id}"


# -- backfill ---------------------------------------------------------------------------------------------------------


@as_result
def plan_backfill(io: BackfillIo, harnesses: Sequence[Harness] = (), since_ms: int | None = None) -> Backfill:
    """Returns what was found for these harnesses (for all, if none is named), oldest first. Nothing is written."""
    known, problems, found = unwrap(io.inbox.known()), list[str](), list[FoundSession]()
    for harness in io.chosen(harnesses):
        io.progress(f"looking for sessions of {harness}")
        for each in io.finders[harness].find(since_ms):
            if isinstance(each, Failure):
                problems.append(f"Past sessions of {harness} could not all be listed: {_why_not(each.failure())}")
            else:
                found.append(each.unwrap())
    looking = _Looking(io, known, BACKFILL_EVENT, _ends(io, found, problems), since_ms)
    sighted: list[Sighted] = []

    def look(found: Sequence[FoundSession]) -> None:
        # A copy comes after its original.
        for number, session in enumerate(sorted(found, key=lambda each: (each.changed_at_ms, each.session_id)), 1):
            io.progress(f"{number:,} of {len(found):,}: {_named(session)}")
            sighted.append(looking.at(session))

    look(found)
    named = {each.found.path: each.sight == "unreadable" for each in sighted if each.found.path is not None}
    loose = list(io.loose(named.keys(), {path for path, is_unread in named.items() if is_unread}))
    other = [each for each in loose if isinstance(each, FoundSession)]
    sighted = [each for each in sighted if each.found.path not in {session.path for session in other}]
    look([each for each in other if each.harness in io.chosen(harnesses)])
    unread = sorted(each for each in loose if isinstance(each, str) and each not in named)
    which = first_few(unread, 3)
    problems += [f"{counted(len(unread), 'file')} could not be read as a session: {which}."] if unread else []
    for harness in sorted({each.harness for each in other} - {*io.chosen(harnesses)}):
        paths = sorted(str(each.path) for each in other if each.harness is harness)
        looks = counted(len(paths), "file looks", "files look")
        problems.append(f"{looks} like sessions of {harness}; name that harness, or none: {first_few(paths, 1)}.")
    problems += [f"{_named(each.found)}: {each.problem}" for each in sighted if each.problem]
    return Backfill(tuple(sorted(sighted, key=lambda each: (each.at_ms, each.found.session_id))), tuple(problems))


@as_result
def put_backfill(io: BackfillIo, backfill: Backfill) -> Backfill:
    """Returns the plan once its wanted sessions wait in the inbox, oldest first, with those that could not be put
    there."""
    problems: list[str] = []
    for copy in backfill.sighted:
        if copy.sight == "copy":
            # The original may continue elsewhere: then nothing would tell any more that this is a copy.
            io.put(copy)
    for each in backfill.wanted:
        try:
            io.put(each)
        except InboxEntryInvalid as invalid:
            problems.append(f"{_named(each.found)}: {invalid!s}")
    return evolve(backfill, problems=(*backfill.problems, *problems))


# -- upgrade ----------------------------------------------------------------------------------------------------------


@frozen
class Upgrades:
    """The sessions that a command should look at again."""

    entries: tuple[InboxEntry, ...] = ()
    """Oldest first; not in the inbox yet."""
    waiting: int = 0
    """How many are in the inbox already."""
    warnings: tuple[str, ...] = ()


@as_result
def plan_upgrades(inbox: Inbox, marks: SessionMarks, store: Store, clock: Clock) -> Upgrades:
    """Returns the sessions that the built-in consolidated last. Those given up are left out: `--retry-failed` brings
    them back. Nothing is written."""
    known, now_ms = unwrap(inbox.known()), clock.now_ms()
    sources = (source for each in unwrap(store.list()).entries for source in each.meta.sources)
    places = {(source.harness, source.thread_id): source for source in sources if source.thread_id and source.cwd}
    entries: list[InboxEntry] = []
    warnings: list[str] = []
    waiting = 0
    # What was given up may name a transcript of the session at the end of its key.
    given_up = {key for each in known.given_up_at_ms for key in (each, each.rpartition(" ")[0])}
    for each in marks.all():
        if isinstance(each, Failure):
            warnings += warning_of(each)
            continue
        mark = each.unwrap()
        if mark.agent_name != BUILTIN:
            continue
        place = places.get((mark.harness, mark.session_id))
        cwd, repo = (None, None) if place is None else (place.cwd, place.repo)
        at_ms = now_ms if mark.last_at_ms is None else mark.last_at_ms
        how, context = retrieval_of(mark.harness, mark.session_id), Context(cwd=cwd, repo=repo, event=UPGRADE_EVENT)
        entry = InboxEntry(at_ms, mark.harness, how, context)
        key = queue_key(entry, "")
        waiting += key in known.asked_again
        if key not in known.asked_again and key not in given_up:
            entries.append(entry)
    return Upgrades(tuple(sorted(entries, key=lambda entry: entry.at_ms)), waiting, tuple(warnings))


@as_result
def ask_again(inbox: Inbox, upgrades: Upgrades) -> None:
    """Puts them into the inbox behind all others, spread over as many days as the allowed calls take."""
    for entry in upgrades.entries:
        _put(inbox, entry)


# -- watch ------------------------------------------------------------------------------------------------------------

_POLL_SECONDS = 2.0
_A_PERSONS: tuple[Sight, ...] = ("new", "grown", "waiting", "done")
_LEFT_OUT = {
    "own-call": "memory's own call",
    "automated": "automated, without a person",
    "forgotten": "forgotten",
    "switched-off": "memory stays out of its project, or is paused",
}


@define
class Watching:
    captured: int = 0
    handed_over: int = 0
    problems: tuple[str, ...] = ()
    """The first thousand problems."""


@define
class _Watched:
    found: FoundSession
    changed_at_ms: int
    """When the change was seen, by our own clock: the file's time may be another machine's."""
    is_captured: bool = False
    is_ended: bool = False
    """Whether it was handed over, or is not to be handed over."""


@frozen
class WatchIo:
    backfill: BackfillIo
    stop: Event
    """Set when the watch should end."""
    hand_over: Callable[[FoundSession], Result[str | None, Error]]
    """Writes the handoff of a session that seems to have ended. Returns the id of its note, None where there is nothing
    to hand over."""
    tell: Callable[[str], None]
    """Reports one line about what was done."""
    warn: Callable[[str], None]
    done: Watching = field(factory=Watching)

    def found(self, harnesses: Sequence[Harness], since_ms: int) -> tuple[list[FoundSession], str]:
        """Returns the sessions that changed since, and the reasons why some could not be listed."""
        listed = [each for harness in harnesses for each in self.backfill.finders[harness].find(since_ms)]
        troubles = (warning for each in listed for warning in warning_of(each))
        return [each.unwrap() for each in listed if not isinstance(each, Failure)], " ".join(troubles)

    def capture(self, watched: _Watched) -> None:
        """Captures a session, and reports it in one line. One that waits in the inbox already, or says nothing new, is
        not reported."""
        found, io = watched.found, self.backfill
        try:
            sighted = _Looking(io, unwrap(io.inbox.known()), WATCH_EVENT, _ends(io, [found], [])).at(found)
            if sighted.entry is not None:
                io.put(sighted)
        except Error as error:
            self.note_problem(f"{_named(found)}: {error!s}")
            return
        if sighted.entry is not None:
            self.tell_now(f"captured {_named(found)}: about {short_number(sighted.chars)} characters")
            self.done.captured += 1
        elif sighted.problem:
            self.note_problem(f"{_named(found)}: {sighted.problem}")
        elif sighted.sight in _LEFT_OUT:
            self.tell_now(f"left out {_named(found)}: {_LEFT_OUT[sighted.sight]}")
        watched.is_ended = watched.is_ended or sighted.sight not in _A_PERSONS

    def end(self, watched: _Watched) -> None:
        """Hands over a session that seems to have ended."""
        watched.is_ended = True
        try:
            id = unwrap(self.hand_over(watched.found))
        except Error as error:
            self.note_problem(f"{_named(watched.found)}: {error!s}")
            return
        if id is not None:
            self.tell_now(f"handed over {_named(watched.found)}: {id}")
            self.done.handed_over += 1

    def note_problem(self, problem: str) -> None:
        self.warn(problem)
        self.done.problems = (*self.done.problems, problem)[:1_000]

    def tell_now(self, said: str) -> None:
        self.tell(f"{iso_of(self.backfill.clock.now_ms())[:19]}Z {said}")


@as_result
def watch(io: WatchIo, harnesses: Sequence[Harness], rest: Rest) -> Watching:
    """Captures transcripts that changed and then rested, and hands them over once they seem to have ended; returns what
    was done until the watch was stopped. Earlier transcripts are left to backfill, except for changes just before the
    start.

    Trouble with a session or the disk is reported and the watch goes on: the session is due again at its next change,
    and backfill finds it in any case.
    """
    chosen = io.backfill.chosen(harnesses, "watched", "; `memory backfill {}` may find its past ones.")
    since_ms = io.backfill.clock.now_ms() - rest.debounce_ms
    # Even if the other time is set shorter, a session is captured before it counts as ended.
    idle_ms = None if rest.idle_ms is None else max(rest.idle_ms, rest.debounce_ms)
    sessions: dict[tuple[Harness, str], _Watched] = {}
    last_trouble = ""
    while not io.stop.is_set():
        found, trouble = io.found(chosen, since_ms)
        # A directory that cannot be listed is not tried again every two seconds.
        if trouble and trouble != last_trouble:
            io.note_problem(trouble)
        last_trouble = trouble
        now_ms = io.backfill.clock.now_ms()
        before, sessions = sessions, {}  # what is gone is no longer watched
        for each in found:
            watched = before.get(each.key)
            if watched is None or watched.found.looks != each.looks:  # it has changed just now
                watched = _Watched(each, now_ms)
            # If the clock was set back (P24), the rest begins anew.
            watched.changed_at_ms = min(watched.changed_at_ms, now_ms)
            sessions[each.key] = watched
        times: list[int] = []  # when something has to be done next
        for watched in sorted(sessions.values(), key=lambda each: (each.changed_at_ms, each.found.key)):
            rested_at_ms = watched.changed_at_ms + rest.debounce_ms
            if not watched.is_captured and rested_at_ms <= now_ms:
                watched.is_captured = True
                io.capture(watched)
            elif not watched.is_captured:
                times.append(rested_at_ms)
            ends_at_ms = None if idle_ms is None or watched.is_ended else watched.changed_at_ms + idle_ms
            if ends_at_ms is not None and ends_at_ms <= now_ms:
                io.end(watched)
            elif ends_at_ms is not None:
                times.append(ends_at_ms)
        seconds = (min(times) - now_ms) / 1000 if times else _POLL_SECONDS
        io.stop.wait(min(max(seconds, 0.0), _POLL_SECONDS))
    return io.done


def project_directories(
    of_sessions: Iterable[Result[str, Error]], listing: Result[Listing, Error]
) -> Iterator[Result[str, Error]]:
    """Yields the absolute directories where sessions are known to have been: those `of_sessions`, then those in the
    sources of notes, most recently changed notes first; each once, at most `MAX_DIRECTORIES`. Errors are yielded with
    them."""
    of_notes: Iterable[Result[str, Error]]
    if isinstance(listing, Failure):
        of_notes = [Failure(listing.failure())]
    else:
        newest_first = sorted(listing.unwrap().entries, key=lambda each: each.meta.updated_at_ms, reverse=True)
        of_notes = (Success(source.cwd or "") for each in newest_first for source in each.meta.sources)
    known: set[str] = set()
    for found in chain(of_sessions, of_notes):
        directory = found.value_or("")
        if isinstance(found, Failure):
            yield found
        elif directory.startswith("/") and directory not in known and len(known) < MAX_DIRECTORIES:
            known.add(directory)
            yield found
