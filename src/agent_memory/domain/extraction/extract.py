"""The notes of one history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from attrs import evolve

from agent_memory.domain.change_set import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.extraction.candidates import Candidate, settled, with_files
from agent_memory.domain.extraction.compose import composed
from agent_memory.domain.extraction.cue import Signal, Sort, shows
from agent_memory.domain.extraction.episodes import Episode, episodes_of
from agent_memory.domain.extraction.handoff import Handoff, continued, handoff_of, still_open, unanswered_choice
from agent_memory.domain.extraction.prose import MESSAGE_CHARS, blocks_of, legible, sentences_of
from agent_memory.domain.extraction.said_by_agent import agent_candidates
from agent_memory.domain.extraction.said_by_user import objects, request_of, user_candidates, withdraws
from agent_memory.domain.extraction.statements import (
    MAX_CHARS,
    SENTENCE_CHARS,
    cut,
    holds_all_of,
    in_words,
    names_in,
    overlap,
    says_all_of,
)
from agent_memory.domain.extraction.topics import tags_of
from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.planning.origin import holds_quotation
from agent_memory.domain.planning.salience import is_negated, lost_salience
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.transcripts.pasted_reviews import pasted_review, without_pasted_review
from agent_memory.domain.vocabulary import Importance, Kind

HANDOFF_DAYS = 7
ASKED_CHARS = 220
"""Of the request that a note quotes for its context."""
_UNDONE = 0.6
_PASTED = "[pasted review]"


def extracted(
    history: History,
    *,
    now_ms: int,
    shown: Sequence[StoredEntry] = (),
    handoff_id: str | None = None,
    final_window: bool = True,
) -> ChangeSet:
    """What of a history is worth keeping: notes, and at its end a handoff if it is younger than seven days.

    A note that says what one of `shown` says already is left out. The earlier handoff, if it is among `shown`, is
    updated. Where nothing is recognised, `skipped` says so.
    """
    history, episodes, candidates = read_through(history, final_window=final_window)
    fresh = tuple(candidate for candidate in candidates if not _is_known(candidate, shown))
    files = tuple(path for episode in episodes for path in episode.written)
    notes = (composed(one, _asked_for(one, episodes), one.files or files) for one in fresh)
    entries = tuple(note for note in notes if note)
    earlier = next((entry for entry in shown if entry.meta.id == handoff_id), None)
    recent = final_window and _is_recent(history, now_ms)
    handoff = handoff_of(history, episodes, candidates, goes_on=earlier is not None) if recent else None
    if handoff and earlier:
        return ChangeSet(entries, (_updated(earlier, continued(earlier.body, handoff)),))
    if handoff:
        entries = (*entries, _new_handoff(handoff))
    return ChangeSet(entries, skipped=None if entries else _why_nothing(history, fresh, candidates))


def read_through(
    history: History, *, final_window: bool = True
) -> tuple[History, tuple[Episode, ...], tuple[Candidate, ...]]:
    """The history as far as it can be read, its episodes, and what was stated in it."""
    readable = _legible(history)
    episodes = episodes_of(readable)
    return readable, episodes, settled(_candidates(readable, episodes, final_window))


def _legible(history: History) -> History:
    """The history without what cannot be read: hidden and control characters, and the far end of enormous messages."""
    return evolve(
        history, turns=tuple(_legible_turn(turn) for turn in history.turns), cwd=history.cwd and legible(history.cwd)
    )


def _legible_turn(turn: Turn) -> Turn:
    calls = tuple(evolve(call, path=call.path and legible(call.path)) for call in turn.tool_calls)
    text = "" if turn.role is Role.TOOL else legible(turn.text[:MESSAGE_CHARS])
    if turn.role is Role.USER and pasted_review(text):
        text = without_pasted_review(text).strip() or _PASTED
    return evolve(turn, text=text, tool_calls=calls)


def _candidates(history: History, episodes: Sequence[Episode], final_window: bool) -> Iterator[Candidate]:
    found: list[Candidate] = []
    last_work = _last_work(episodes) if final_window else -1
    for index, episode in enumerate(episodes):
        before = episodes[index - 1] if index else None
        following = episodes[index + 1].asked if index + 1 < len(episodes) else None
        if before and episode.asked and withdraws(episode.asked):
            first = before.asked.number if before.asked else 0
            found = [one for one in found if one.turns[-1] < first]
        if not history.automated:
            found.extend(with_files(user_candidates(episode, before), episode.written))
        if following is None or not objects(following):
            found.extend(with_files(agent_candidates(episode, open_end=index >= last_work >= 0), episode.written))
    if final_window and (choice := unanswered_choice(episodes)):
        found.append(choice)
    found = [one for one in found if not _undone(one, episodes)]
    tasks = still_open([one for one in found if one.sort is Sort.TASK], episodes)
    yield from (one for one in found if one.sort is not Sort.TASK or one in tasks)


def _last_work(episodes: Sequence[Episode]) -> int:
    """The episode after which nothing more was worked on: what follows it only commits or thanks."""
    last = len(episodes) - 1
    while last > 0 and (asked := episodes[last].asked) and shows(Signal.WRAPS_UP, asked.text.strip()[:MAX_CHARS]):
        last -= 1
    return last


def _undone(candidate: Candidate, episodes: Sequence[Episode]) -> bool:
    """Whether the agent says later that what the candidate tells of is gone again: not of what only the person can take back."""
    if candidate.sort in (Sort.REMEMBER, Sort.PREFERENCE, Sort.CONVENTION, Sort.TASK):
        return False
    said, names = content_terms(candidate.claim), names_in(candidate.claim)
    return any(
        shows(Signal.REVERTS, sentence)
        and names & names_in(sentence)
        and overlap(content_terms(sentence), said) >= _UNDONE
        for episode in episodes
        if episode.closing and episode.closing.number > candidate.turns[-1]
        for block in blocks_of(episode.closing.text)
        for sentence in sentences_of(block.text)
        if len(sentence) <= SENTENCE_CHARS
    )


def _is_known(candidate: Candidate, shown: Sequence[StoredEntry]) -> bool:
    """Whether a stored note says it already; a handoff does not count, since it will expire.

    Every word counts: the same sentence about another service is another fact. What the person said, one sentence must say.
    """
    lasting = [f"{entry.meta.title}\n{entry.body}" for entry in shown if entry.meta.kind is not Kind.HANDOFF]
    if candidate.by is Role.USER:
        lines = chain.from_iterable(text.split("\n") for text in lasting)
        sentences = chain.from_iterable(sentences_of(line.lstrip("> ")) for line in lines)
        return any(_is_said_in(sentence, candidate) for sentence in sentences)
    return any(holds_all_of(text, candidate.claim) for text in lasting)


def _is_said_in(sentence: str, candidate: Candidate) -> bool:
    """Whether the sentence says what the person said: in the same words, after the cue that led into them, where they
    asked to remember it."""
    said, claim = in_words(sentence), in_words(candidate.claim)
    if said[-len(claim) :] == claim:
        return not is_negated(" ".join(said[: -len(claim)]))
    return candidate.sort is not Sort.REMEMBER and says_all_of(sentence, candidate.claim)


def _asked_for(candidate: Candidate, episodes: Sequence[Episode]) -> str:
    """The request that a candidate belongs to: its own episode's, or the one before where that says clearly more of it.

    One that quotes somebody is left out: their words would become part of what the person said (P19).
    """
    words = content_terms(candidate.text)
    quoted = " ".join(candidate.text.split())
    requests = [
        request
        for episode in episodes
        if episode.asked and episode.asked.number <= candidate.turns[-1] and (request := request_of(episode.asked))
        if request[:40] not in quoted and not holds_quotation(request)
    ]
    shared = [
        (len(content_terms(request) & words) - age, request) for age, request in enumerate(reversed(requests[-2:]))
    ]
    score, nearest = max(shared, key=lambda scored: scored[0], default=(0, ""))
    return cut(nearest, ASKED_CHARS) if score > 0 else ""


def _is_recent(history: History, now_ms: int) -> bool:
    ended = max((turn.at_ms for turn in history.turns if turn.at_ms is not None), default=history.ended_at_ms)
    return ended is not None and now_ms - ended < HANDOFF_DAYS * DAY_MS


def _new_handoff(handoff: Handoff) -> ProposedEntry:
    return ProposedEntry(
        title=handoff.title,
        description=handoff.description,
        body=handoff.body,
        kind=Kind.HANDOFF,
        tags=tags_of(handoff.body, (name.strip("`") for name in handoff.files)),
        importance=Importance.MEDIUM,
        turns=handoff.turns,
    )


def _updated(earlier: StoredEntry, handoff: Handoff) -> ProposedUpdate:
    before = f"{earlier.meta.title}\n{earlier.meta.description}\n{earlier.body}"
    after = f"{handoff.title}\n{handoff.description}\n{handoff.body}"
    return ProposedUpdate(
        id=earlier.meta.id,
        title=handoff.title,
        description=handoff.description,
        body=handoff.body,
        drops=lost_salience(before, after),
        turns=handoff.turns,
        why="the session went on",
    )


def _why_nothing(history: History, fresh: Sequence[Candidate], candidates: Sequence[Candidate]) -> str:
    """It speaks for the cues, not for the session: a reader may well find something in it."""
    if not history.turns:
        return "the session holds nothing new"
    if len(fresh) < len(candidates):
        return "what the session says is stored already"
    return (
        "the built-in extractor, which goes by a few hundred phrases, recognised nothing in it; an agent command "
        "(llm.preset) may: `memory consolidate --upgrade` then hands it over"
    )
