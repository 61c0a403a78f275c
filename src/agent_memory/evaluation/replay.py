"""Replays past sessions, in their order, against the code that delivers: would a note that existed by then have been told
before the person had to correct the agent?

Everything happens in a scratch store with a home of its own. Before each session it is given the notes that were learnt
from earlier ones; then the hooks' own code answers for its start and each prompt, as of that time. The notes are those of
today: what was archived or changed since, tiers, managed sections and the team's notes are not replayed.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import comb, sqrt
from pathlib import Path
from random import Random

from attrs import define, evolve, fields, frozen

from agent_memory.app import Memory, Progress, SystemClock, Warn, open_memory
from agent_memory.capture.hook import HookProblem
from agent_memory.capture.session_event import SessionEvent
from agent_memory.care.session_list import keys_of
from agent_memory.care.use import says_again
from agent_memory.errors import Error, UsageInvalid
from agent_memory.extraction.extract import corrections_in
from agent_memory.extraction.session import episodes_of, is_injected
from agent_memory.extraction.text import prose_sentences
from agent_memory.files.paths import as_store_io
from agent_memory.hook_injection import HookInjection
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Listed
from agent_memory.pipelines.backfill import plan_backfill
from agent_memory.recall.assembling import Injection, Passage
from agent_memory.recall.delivery_log import DeliveryLog
from agent_memory.recall.moment import ASKED, MAX_PROMPT_CHARS, START, Moment
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.similarity import Subject
from agent_memory.session.history import History, Role, Turn
from agent_memory.text.salience import content_terms

Key = tuple[str, str]
"""Harness and id of a session."""


@frozen
class PastSession:
    """A session whose history is kept."""

    started_ms: int
    harness: Harness
    session_id: str

    @property
    def key(self) -> Key:
        return self.harness.value, self.session_id


def past_sessions(memory: Memory) -> list[PastSession]:
    """Returns the sessions with a kept history, in the order in which they began. What cannot be read is warned of."""
    found: dict[Key, PastSession] = {}
    for name in memory.kept_histories.names():
        try:
            history = memory.kept_histories.part(name)
        except Error as error:
            memory.warn(str(error))
            continue
        if history is not None:
            times = (history.started_at_ms, *(turn.at_ms for turn in history.turns), history.ended_at_ms)
            began = next((each for each in times if each is not None), 0)
            each = PastSession(began, history.harness, history.session_id)
            found[each.key] = min(found.get(each.key, each), each, key=lambda one: one.started_ms)
    return sorted(found.values(), key=lambda each: (each.started_ms, each.key))


def histories_of(
    memory: Memory, sessions: Sequence[PastSession], progress: Progress
) -> Iterator[tuple[PastSession, History, str]]:
    """Yields these sessions with history and scope, where their notes say that they were: a transcript may name another
    place. None of projects that memory stays out of, nor one that cannot be read, which is warned of."""
    scope_of, places = memory.session_scopes(), dict[Key, tuple[str | None, str]]()
    for meta in (each.meta for each in unwrap(memory.store.list()).entries if each.meta.scope != GLOBAL_SCOPE):
        places |= {(each.harness.value, each.thread_id or ""): (each.cwd, meta.scope) for each in meta.sources}
    for number, each in enumerate(sessions, 1):
        progress(f"{number:,} of {len(sessions):,}: {each.harness} {each.session_id}")
        fetched = memory.kept_histories.fetch(each.harness, each.session_id, None)
        for warning in warning_of(fetched):
            memory.warn(warning)
        history = fetched.value_or(None)
        if history is None:
            continue
        cwd, told = places.get(each.key, (None, ""))
        history = evolve(history, cwd=cwd or history.cwd)
        scope = scope_of(tuple(filter(None, (history.cwd, *history.also_in))), told)
        if scope is not None:
            yield each, history, scope


def prompts_of(history: History) -> list[Turn]:
    """Returns the messages that the person wrote."""
    return [turn for turn in history.turns if turn.role is Role.USER and not is_injected(turn)]


# -- the memory of another time ---------------------------------------------------------------------------------------


@define
class _SetClock(SystemClock):
    at_ms: int | None = None

    def now_ms(self) -> int:
        return SystemClock.now_ms(self) if self.at_ms is None else self.at_ms


@define(slots=False, eq=False)
class PlacedMemory(Memory):
    """A store as seen from a session: in its place, without taking note of where that is."""

    scope: str = ""

    def scope_on_arrival(self) -> str:
        return self.scope


class PastMoment(HookInjection):
    """The hooks' answer to a session of another time or place."""

    def __init__(self, memory: PlacedMemory, harness: str, session: str, prompt: str = "") -> None:
        event = SessionEvent(harness, "", session, cwd=memory.cwd)
        moment = Moment(event, ASKED if prompt else START, prompt[:MAX_PROMPT_CHARS], False)
        super().__init__(harness, moment, memory.environ, memory.real_root)
        self.scope, self.now_ms, self._memory_then = memory.scope, memory.clock.now_ms(), memory

    def _memory(self) -> Memory:
        return self._memory_then

    def _recovery(self) -> tuple[Passage, ...]:
        return ()  # the transcripts of that time are not where they were


def _scratch_environ(environ: Mapping[str, str], scratch: Path, name: str) -> dict[str, str]:
    home = scratch / name
    home.mkdir(mode=0o700)
    return {"PATH": environ.get("PATH", os.defpath), "HOME": str(home), "AGENT_MEMORY_ROOT": str(home / "store")}


def learnt_from(directory: str, environ: Mapping[str, str], scratch: Path, warn: Warn, progress: Progress) -> Memory:
    """Returns a store in `scratch` that the built-in extractor filled from all transcripts in a directory, session by
    session in their order, each at the time at which it ended."""
    memory = unwrap(open_memory(_scratch_environ(environ, scratch, "learnt"), str(scratch), warn))
    config = memory.config
    memory.effective = evolve(
        memory.effective, config=evolve(config, storage=evolve(config.storage, auto_commit=False))
    )
    memory.clock = clock = _SetClock()
    memory.add_transcripts(directory)
    found = unwrap(plan_backfill(evolve(memory.backfill_io(directory=directory), progress=progress)))
    for problem in found.problems:
        warn(problem)
    entries = [each.entry for each in found.wanted if each.entry is not None]
    if not entries:
        raise UsageInvalid(f"There are no sessions in {directory}", "Name a directory of transcripts.")
    for number, each in enumerate(sorted(entries, key=lambda each: each.at_ms), 1):
        clock.at_ms = each.at_ms
        progress(f"learning from {number:,} of {len(entries):,}")
        for failed in warning_of(memory.inbox.put(each)) or warning_of(memory.consolidate()):
            warn(failed)
    clock.at_ms = None
    return memory


# -- the replay -------------------------------------------------------------------------------------------------------


@frozen
class Corrected:
    """A correction of the person, and what memory would have done about it."""

    harness: str
    session_id: str
    turn: int
    text: str
    matching: tuple[str, ...]
    """The notes that existed by then and say the same, or are as similar as duplicates; the most similar first."""
    told: tuple[str, ...]
    """Those of them that were told before: at the start, or with an earlier prompt."""


@frozen
class Replay:
    tokens: tuple[int, ...]
    """Of all that each session would have been told, in the order of the sessions."""
    corrections: tuple[Corrected, ...]
    notes: int

    @property
    def known(self) -> tuple[Corrected, ...]:
        """Returns the corrections for which a matching note existed."""
        return tuple(each for each in self.corrections if each.matching)

    @property
    def told(self) -> int:
        return sum(bool(each.told) for each in self.corrections)


@as_result
def replay(memory: Memory, scratch: Path, progress: Progress) -> Replay:
    """Returns what the sessions of a store would have been told; the store itself is only read."""
    sessions = past_sessions(memory)
    places = {each.key: at for at, each in enumerate(sessions)}
    notes = unwrap(memory.store.list()).entries
    then, waiting = _Then(memory, scratch), [each for each in notes if not each.meta.is_secret]
    tokens, corrected = list[int](), list[Corrected]()
    for session, history, scope in histories_of(memory, sessions, progress):
        later = {key for key, at in places.items() if at >= places[session.key]}
        still: list[Listed] = []
        for each in waiting:
            if each.meta.created_at_ms < session.started_ms and later.isdisjoint(keys_of(each.meta)):
                then.give(each)
            else:
                still.append(each)
        waiting = still
        spent, of_session = then.session(session, history, scope)
        tokens.append(spent)
        corrected += of_session
    return Replay(tuple(tokens), tuple(corrected), len(notes))


class _Then:
    """The scratch store, at the time of one session after the other."""

    def __init__(self, memory: Memory, scratch: Path) -> None:
        environ = _scratch_environ(memory.environ, scratch, "replayed")
        self.source, self.scratch, self.root = memory, str(scratch), environ["AGENT_MEMORY_ROOT"]
        self.clock = _SetClock()
        config = memory.config
        config = evolve(config, storage=evolve(config.storage, root=self.root), eval=evolve(config.eval, hold_out=0))
        self.memory = PlacedMemory(environ, self.scratch, evolve(memory.effective, config=config), memory.warn)
        self.memory.clock = self.clock
        self.known = evolve(self.memory.known, embedder=memory.known.embedder)
        (Path(self.root) / "topics").mkdir(parents=True)

    def give(self, note: Listed) -> None:
        path = Path(self.root) / note.path
        with as_store_io("write", str(path)), suppress(FileNotFoundError):  # it may be gone since it was listed
            path.write_bytes((self.source.root / note.path).read_bytes())

    def session(self, session: PastSession, history: History, scope: str) -> tuple[int, list[Corrected]]:
        """Returns the tokens that a session is told, and its corrections."""
        self.memory.scope, self.memory.cwd = scope, history.cwd or self.scratch
        self.clock.at_ms = session.started_ms
        corrections, corrected = corrections_in(history), list[Corrected]()
        first = self._told(*session.key)
        told, tokens = set(first.ids), first.tokens
        for prompt in prompts_of(history):
            self.clock.at_ms = prompt.at_ms or self.clock.at_ms
            here = [each for each in corrections if each.turn == prompt.number]
            near = unwrap(self.known.near_each((Subject(each.text, each.text), scope) for each in here)) if here else ()
            for correction, found in zip(here, near, strict=True):
                again = (each for each in found.compared if says_again(correction.text, each))
                ids = tuple(dict.fromkeys(each.meta.id for each in (*found.similar, *again)))
                of_them = tuple(each for each in ids if each in told)
                corrected.append(Corrected(*session.key, correction.turn, correction.text, ids, of_them))
            said = self._told(*session.key, prompt.text)
            told.update(said.ids)
            tokens += said.tokens
        return tokens, corrected

    def _told(self, harness: str, session: str, prompt: str = "") -> Injection:
        try:
            return PastMoment(self.memory, harness, session, prompt).injection()
        except HookProblem as problem:
            self.source.warn(str(problem.args[-1]))
            return Injection()


# -- the sessions that were told nothing on purpose (`eval.holdOut`), beside the others of the same time --------------

NEEDED = 20
"""Sessions in each group. With fewer, next to any difference may be chance."""
_MOST_BY_CHANCE = 0.05
_LEAST_TERMS = 3


@frozen
class Measured:
    """What happened in one session."""

    corrections: int
    repeated_questions: int
    """Questions, of the person or in closing words of the agent, that were asked in an earlier session of the place."""
    turns: int
    """Messages of the person."""


@frozen
class Arms:
    held_out: tuple[Measured, ...]
    told: tuple[Measured, ...]

    def means(self, of: str) -> tuple[float, float]:
        """Returns the mean of a figure for those told and for those held out."""
        told, held_out = self._values(of)
        return sum(told) / max(len(told), 1), sum(held_out) / max(len(held_out), 1)

    def chance(self, of: str) -> float:
        return by_chance(*self._values(of))

    def _values(self, of: str) -> tuple[list[int], list[int]]:
        return [getattr(each, of) for each in self.told], [getattr(each, of) for each in self.held_out]

    @property
    def verdicts(self) -> tuple[str, ...]:
        counts = (f"{len(self.held_out):,} held out", f"{len(self.told):,} told")
        if not self.held_out:
            return (
                "No session with a kept history was held out. `memory config set eval.holdOut 5` holds out one in 5.",
            )
        if min(len(self.held_out), len(self.told)) < NEEDED:
            return (f"Too few sessions to tell: {counts[0]}, {counts[1]}, {NEEDED} of each needed.",)
        return tuple(map(self._verdict, MEASURES))

    def _verdict(self, of: str) -> str:
        told, held_out = self.means(of)
        chance, name = self.chance(of), of.replace("_", " ")
        often = f"Chance alone makes so large a difference in {max(1, round(100 * chance))} of 100 draws"
        if chance > _MOST_BY_CHANCE:
            return f"{often}: no difference in {name} is shown."
        return f"{often}: {'fewer' if told < held_out else 'MORE'} {name} where notes were told."


MEASURES: Sequence[str] = tuple(each.name for each in fields(Measured))


@as_result
def compare_arms(memory: Memory, progress: Progress) -> Arms:
    """Returns the groups since the first session was held out, as far as their histories are kept."""
    deliveries = [each for each in DeliveryLog(memory.real_root).deliveries() if each.session]
    held_out = {(each.harness, each.session) for each in deliveries if each.held_out}
    since_ms = min((each.at_ms for each in deliveries if each.held_out), default=None)
    if since_ms is None:
        return Arms((), ())
    before = {(each.harness, each.session) for each in deliveries if each.at_ms < since_ms}
    told = {(each.harness, each.session) for each in deliveries} - held_out - before
    asked = defaultdict[str, list[frozenset[str]]](list)
    groups = list[Measured](), list[Measured]()
    for session, history, scope in histories_of(memory, past_sessions(memory), progress):
        repeated = _repeated(history, asked[scope])
        group = groups[0] if session.key in held_out else groups[1] if session.key in told else None
        if group is not None:
            group.append(Measured(len(corrections_in(history)), repeated, len(prompts_of(history))))
    return Arms(tuple(groups[0]), tuple(groups[1]))


def _repeated(history: History, earlier: list[frozenset[str]]) -> int:
    """Returns how many questions of a session are among the earlier ones of its place, and adds all to them."""
    turns = (turn for each in episodes_of(history) for turn in (each.asked, each.closing) if turn)
    asked = {content_terms(each) for turn in turns for each in prose_sentences(turn.text) if each.endswith("?")}
    fit = [each for each in asked if len(each) >= _LEAST_TERMS]
    # Two are the same if they have most of the longer one's words in common.
    known = [any(len(one & other) >= 0.8 * max(len(one), len(other)) for other in earlier) for one in fit]
    earlier += fit
    return sum(known)


# -- how sure a small number is: an interval, and two tests against chance --------------------------------------------

_Z = 1.96
_SHUFFLES = 5_000


def interval(hits: int, of: int) -> tuple[float, float]:
    """Returns the shares, from 0 to 1, that are compatible with so many hits: Wilson's interval of 95 %."""
    if not of:
        return 0.0, 1.0
    share, z2 = hits / of, _Z * _Z
    middle, half = share + z2 / (2 * of), _Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    low, high = (middle - half) / (1 + z2 / of), (middle + half) / (1 + z2 / of)
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def by_chance(one: Sequence[int], other: Sequence[int]) -> float:
    """Returns how often two groups that were drawn at random from these values differ in their means at least as much
    as these two: a permutation test, from 0 (excluded) to 1, with shuffles that are always the same."""
    if not one or not other:
        return 1.0
    smaller, all_values = min(one, other, key=len), sorted((*one, *other))
    drawn, rest, total = len(smaller), len(all_values) - len(smaller), sum(all_values)

    def apart(of_drawn: int) -> int:
        """Returns the difference of the means, in whole numbers so that equal ones are equal."""
        return abs(of_drawn * rest - (total - of_drawn) * drawn)

    seen = apart(sum(smaller))
    random = Random(0)
    as_far = sum(apart(sum(random.sample(all_values, drawn))) >= seen for _ in range(_SHUFFLES))
    return (as_far + 1) / (_SHUFFLES + 1)


def by_coin(wins: int, losses: int) -> float:
    """Returns how often so many tosses of a coin come out at least as uneven: the exact sign test."""
    tosses, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(tosses, each) for each in range(fewer + 1))
    return min(1.0, tail / 2.0 ** (tosses - 1))
