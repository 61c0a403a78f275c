"""`memory stats --use`: what came of the notes that sessions were told, as far as the transcripts show it.

Judged without a model, and with care: a use is only counted where the agent was the first in the whole session to write
a path, command or identifier that the note affirms, after it was told. It proves no cause. What is in doubt is unknown.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from attrs import frozen

from agent_memory.extraction.extract import Correction, corrections_in
from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.recall.delivery_log import Delivery
from agent_memory.rules.analyze import contradictions_among
from agent_memory.rules.features import QUESTIONS, claims_of
from agent_memory.rules.similarity import Subject, says_nothing_new, similar_among
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.own_marks import is_entry_path, is_memory_command, is_memory_tool
from agent_memory.session.tool_calls import entry_uses
from agent_memory.text.ids import is_id
from agent_memory.text.instants import DAY_MS, day_of
from agent_memory.text.plain_text import counted
from agent_memory.text.salience import content_terms, coverage, denying_words, is_negated, statements, words_of


class Outcome(StrEnum):
    """What came of a note in a session that was told it. Of several the first one here counts."""

    CONTRADICTED = "contradicted"
    """The person said afterwards that it is otherwise."""
    CORRECTED = "corrected-again"
    """The person said the same again, after the agent had gone on without heeding it."""
    ACTED_ON = "acted-on"
    """A path, command or identifier of it is in a tool call of the agent."""
    NAMED = "named"
    """One is in the agent's words."""
    READ = "read"
    """The agent looked it up."""
    UNUSED = "unused"
    """Nothing of it was seen."""
    UNKNOWN = "unknown"
    """It cannot be told: the transcript is gone, the note has changed since, has nothing to look for, or was in view."""


_USES = frozenset({Outcome.ACTED_ON, Outcome.NAMED, Outcome.READ})
_ORDER = tuple(Outcome)

# -- the traces of a note -----------------------------------------------------------------------------------------------

_CODE = re.compile(r"`([^`\n]{2,80})`")
_CLAUSE_END = re.compile(
    r"[,;:–—]\s|\s(?=(?:instead of|rather than|em vez d\w|ao invés d\w)\b)|\b(?:and|but|e|mas)\s", re.IGNORECASE
)
_ASKED = re.compile(r"^(?:The user had asked: .*|It was about “.*”\.|The agent's answer to “.*”:)$", re.MULTILINE)
"""The request around what a note says (`extraction.notes`): nothing that the note tells."""
_PLAIN = re.compile(r"[A-Za-z][a-z]*")
_STRUCTURED = re.compile(
    r"https?://[^\s)>\]`]+[\w/]"
    r"|(?<![\w./-])(?:~?/|\.{1,2}/)?(?:[\w@.+-]+/)+[\w@.+-]*\w"  # a path
    r"|(?<![\w./-])[a-z_][\w-]*\.[a-z]{1,5}(?![\w./])"  # a file
    r"|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z][a-z]\w*\b|(?<![\w-])--[a-z][\w-]{2,}|\$\{?[A-Za-z_]\w{2,}"
)
_ALTERNATIVE = re.compile(r"[A-Za-z]+/[A-Za-z]+")
"""Not a path outside code: `and/or`, `client/server`."""
_RECITED_WORDS = 6
"""So many words of a note in a row are a quotation of it; or all of a line, if it has no more."""
_FEWEST_RECITED = 4
_HALF = 0.5


@frozen
class Trace:
    """Something that may be typed or opened, as a note names it."""

    text: str
    words: re.Pattern[str]
    command: re.Pattern[str] | None = None
    """For a single plain word (`pnpm`): where it is a command. Elsewhere it is only a word."""

    def is_in(self, text: str) -> bool:
        return self.text in text and self.words.search(text) is not None

    def is_acted_on(self, call: ToolCall) -> bool:
        if self.command is not None:
            return self.text in call.brief and self.command.search(call.brief) is not None
        return self.is_in(call.path or "") or self.is_in(call.brief)


@lru_cache(maxsize=4_096)
def traces_of(title: str, body: str) -> frozenset[Trace]:
    """Returns what a note affirms that can be recognised in a transcript: code, paths, files, flags and identifiers, and
    the one of several alternatives that it chooses (pnpm). Nothing of a clause that denies something."""
    found: set[str] = set()
    for clause in _affirmed(f"{title}\n{_ASKED.sub('', body)}"):
        found |= {" ".join(code.split()) for code in _CODE.findall(clause)}
        found |= {each for each in _STRUCTURED.findall(_CODE.sub(" ", clause)) if not _ALTERNATIVE.fullmatch(each)}
        found |= {value for claim in claims_of((clause,)) if claim.slot in QUESTIONS for value in claim.values}
    return frozenset(map(_trace, found - {""}))


def _affirmed(text: str) -> Iterator[str]:
    """Yields the clauses that deny nothing; code is never divided."""
    for statement in statements(text.replace("\0", "")):
        codes = iter(_CODE.findall(statement))
        for clause in _CLAUSE_END.split(_CODE.sub("\0", statement)):
            whole = _with(codes, clause)
            if not (is_negated(clause) or denying_words(clause)):
                yield whole


def _with(codes: Iterator[str], clause: str) -> str:
    return re.sub("\0", lambda _: f"`{next(codes)}`", clause)


def _trace(text: str) -> Trace:
    bounded = rf"(?<![\w-]){re.escape(text)}(?![\w-])"
    command = rf"(?:^|[;&|(]\s*|\b(?:sudo|exec|env|time)\s+){re.escape(text)}(?![\w-])"
    return Trace(text, re.compile(bounded), re.compile(command) if _PLAIN.fullmatch(text) else None)


# -- what came of one note in one session -------------------------------------------------------------------------------


def outcome_of(note: StoredEntry, told_at_ms: int, turns: Sequence[Turn], corrections: Sequence[Correction]) -> Outcome:
    """Returns what came of a note in a session that was told it then for the first time. `turns` are all of the session's
    that are known, with what was said before; `corrections` are those in them (`corrections_in`)."""
    known = [at for at, turn in enumerate(turns, 1) if turn.at_ms is not None and turn.at_ms <= told_at_ms]
    begin = max(known, default=0)
    first = next((turn.number for turn in turns[begin:] if turn.role is Role.AGENT), None)
    is_dated = begin < len(turns) and turns[begin].at_ms is not None
    if first is None or not is_dated or note.meta.updated_at_ms > told_at_ms:
        return Outcome.UNKNOWN
    answers = [answer for each in corrections if each.turn > first if (answer := _answer(note, each)) is not None]
    return min(answers or [_use(note, turns, begin)], key=_ORDER.index)


def _answer(note: StoredEntry, correction: Correction) -> Outcome | None:
    """Returns what a correction says of a note; None if it is about something else."""
    text, meta = correction.text, note.meta
    affirmed = "\n".join(_affirmed(text))  # "it is 9090, not 8081" says that it is 9090
    said = Meta("correction", affirmed, meta.updated_at_ms + 1, meta.updated_at_ms + 1, scope=meta.scope)
    if contradictions_among((note, StoredEntry(Listed(said, "", ""), affirmed))):
        return Outcome.CONTRADICTED
    if says_again(text, note):
        return Outcome.CORRECTED
    if similar_among(Subject(text, text), (note,), (None,)):
        said_of_it = content_terms(text) & content_terms(meta.title)
        denies = is_negated(text) and not said_of_it <= content_terms(affirmed)  # or it denies something else
        return Outcome.CORRECTED if is_negated(meta.title) in (denies, is_negated(text)) else Outcome.UNKNOWN
    return None


def says_again(text: str, note: StoredEntry) -> bool:
    """Returns whether a correction says no more than a note does, and half of what its title does: it may have too few
    words to be similar."""
    is_half = coverage(content_terms(note.meta.title), content_terms(text)) >= _HALF
    return is_half and says_nothing_new(Subject(text, text), note)


def _use(note: StoredEntry, turns: Sequence[Turn], begin: int) -> Outcome:
    """Returns how the agent used a note in the turns from `begin`: the first to show a trace of it must be the agent, not
    the person or a tool, and not while it quoted the note or called memory."""
    traces = traces_of(note.meta.title, note.body)
    whole = f"{note.meta.title}\n{note.body}"
    said, written = _stretches(whole), _stretches(_CODE.sub("\n", whole))  # a command may be the whole of a call
    waiting, outcome, is_clear = traces, Outcome.UNKNOWN, True
    for at, turn in enumerate(turns):
        calls = [each for each in turn.tool_calls if not _is_of_memory(each)]
        if at < begin or turn.role is not Role.AGENT:
            shown = "\n".join((turn.text, *(f"{each.path or ''}\n{each.brief}" for each in calls)))
            waiting = frozenset(each for each in waiting if not each.is_in(shown))
            is_clear = is_clear and (at < begin or not turn.clipped_chars)  # what was cut off may have shown the rest
        elif any(each.is_acted_on(call) for each in waiting for call in calls if not _quotes(call.brief, written)):
            return Outcome.ACTED_ON
        elif any(each.command is None and each.is_in(turn.text) for each in waiting) and not _quotes(turn.text, said):
            outcome = Outcome.NAMED
        if not (waiting and is_clear):
            break
    if outcome is Outcome.UNKNOWN:
        bare = note.meta.id.removeprefix("id__")
        named = (each for each in turns[begin:] if any(bare in f"{call.path} {call.brief}" for call in each.tool_calls))
        read, opened = entry_uses(named)
        if note.meta.id in read | opened.keys():
            return Outcome.READ
        if traces and is_clear and waiting == traces:
            return Outcome.UNUSED
    return outcome


@lru_cache(maxsize=1 << 16)
def _is_of_memory(call: ToolCall) -> bool:
    return is_memory_tool(call.name) or is_memory_command(call.brief) or is_entry_path(call.path or "")


@lru_cache(maxsize=4_096)
def _stretches(text: str) -> frozenset[str]:
    """Returns every stretch of words by which a quotation of a note is recognised."""
    lines = map(words_of, text.split("\n"))
    return frozenset(
        f" {' '.join(words[at : at + _RECITED_WORDS])} "
        for words in lines
        for at in range(max(len(words) - _RECITED_WORDS, 0) + 1)
        if len(words) >= _FEWEST_RECITED
    )


def _quotes(text: str, stretches: frozenset[str]) -> bool:
    words = f" {' '.join(words_of(text))} "
    return any(each in words for each in stretches)


# -- over all sessions --------------------------------------------------------------------------------------------------


@frozen
class ToldSession:
    """A session that was told a note."""

    harness: str
    session_id: str
    scope: str
    first_at_ms: int
    events: tuple[str, ...]
    """By what it was told, each time: `start`, `prompt`, `compact`, or `command`."""
    outcome: Outcome


@frozen
class NoteUse:
    """What came of one note."""

    id: str
    title: str
    outcome: Outcome
    """The first by order of those in its sessions."""
    told: int
    """How often it was told."""
    tokens: int
    """Its part of the tokens that were told: the notes of one delivery share them equally."""
    tokens_used: int
    """Those told to sessions that used it."""
    sessions: tuple[ToldSession, ...]

    @property
    def used_in(self) -> int:
        return sum(each.outcome in _USES for each in self.sessions)

    @property
    def unknown_in(self) -> int:
        return sum(each.outcome is Outcome.UNKNOWN for each in self.sessions)


@frozen
class Use:
    """What came of the notes told in a period. Notes that never were of use come last, the dearest at the very end."""

    since: str
    until: str
    sessions: int
    """Sessions that were told notes."""
    unread: int
    """Those whose transcripts are gone or cannot be read."""
    gone: int
    """Notes that were told and are so no longer: archived, forgotten, withheld, secret, or of another checkout."""
    notes: tuple[NoteUse, ...]

    @property
    def outcomes(self) -> dict[str, int]:
        found = Counter(each.outcome for each in self.notes)
        return {each.value: found[each] for each in Outcome}

    @property
    def sentences(self) -> tuple[str, ...]:
        """Returns the numbers in words, and how far to trust them."""
        if not self.sessions:
            return (f"No session was told a note from {self.since} to {self.until}.",)
        found = [f"{self.outcomes[each]} {words}" for each, words in _IN_WORDS.items() if self.outcomes[each]]
        told, tokens = counted(len(self.notes), "note"), sum(each.tokens for each in self.notes)
        sentences = [f"Of {told} told in {counted(self.sessions, 'session')}: {', '.join(found) or 'none is left'}."]
        used = sum(each.tokens_used for each in self.notes)
        sentences.append(f"{counted(tokens, 'token')} told, {used:,} of them to sessions that used the note.")
        if self.unread:
            sentences.append(f"{self.unread:,} of these sessions cannot be read any more.")
        if self.gone:
            sentences.append(f"{counted(self.gone, 'note')} told then cannot be told any more.")
        if self.sessions - self.unread < _FEW_SESSIONS:
            sentences.append("These numbers are small: they show single cases, no tendency.")
        return tuple(sentences)


_IN_WORDS = {
    Outcome.CONTRADICTED: "contradicted",
    Outcome.CORRECTED: "corrected again although told",
    Outcome.ACTED_ON: "acted on",
    Outcome.NAMED: "named",
    Outcome.READ: "looked up",
    Outcome.UNUSED: "not used",
    Outcome.UNKNOWN: "unknown",
}
_FEW_SESSIONS = 20


def use_of(
    period: range,
    deliveries: Iterable[Delivery],
    notes: Mapping[str, StoredEntry],
    history_of: Callable[[Delivery], History | None],
    progress: Callable[[str], None],
) -> Use:
    """Returns what came of the deliveries in a period of days. `history_of` returns the whole history of a session as far
    as it can be had, given its newest delivery."""
    by_session: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for each in deliveries:
        if each.ids and each.session and each.at_ms // DAY_MS in period:  # else a person looked
            by_session[each.harness, each.session].append(each)
    told: dict[str, list[ToldSession]] = defaultdict(list)
    tokens, tokens_used = defaultdict[str, float](float), defaultdict[str, float](float)
    unread = 0
    for number, ((harness, session_id), received) in enumerate(by_session.items(), 1):
        progress(f"{number:,} of {len(by_session):,}: {harness} {session_id}")
        history = history_of(received[-1])
        unread += history is None
        turns = () if history is None else history.turns
        corrections = () if history is None else corrections_in(history)
        for id in dict.fromkeys(id for each in received for id in each.ids if id in notes):
            own = [each for each in received if id in each.ids]
            outcome = outcome_of(notes[id], own[0].at_ms, turns, corrections)
            events = tuple(each.event for each in own)
            told[id].append(ToldSession(harness, session_id, own[0].scope, own[0].at_ms, events, outcome))
            share = sum(each.tokens / len(each.ids) for each in own)
            tokens[id] += share
            tokens_used[id] += share if outcome in _USES else 0
    found = [
        NoteUse(
            id,
            notes[id].meta.title,
            min((each.outcome for each in sessions), key=_ORDER.index),
            sum(len(each.events) for each in sessions),
            round(tokens[id]),
            round(tokens_used[id]),
            tuple(sessions),
        )
        for id, sessions in told.items()
    ]
    ids = {id for received in by_session.values() for each in received for id in each.ids if is_id(id)}
    since, until = day_of(period[0] * DAY_MS), day_of(period[-1] * DAY_MS)
    found.sort(key=lambda each: (-each.used_in, each.tokens, each.id))
    return Use(since, until, len(by_session), unread, len(ids - notes.keys()), tuple(found))
