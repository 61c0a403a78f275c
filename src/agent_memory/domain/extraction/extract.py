"""The notes of one history, and its handoff: what was asked, what was done, which files it touched, what it left open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from attrs import evolve, frozen

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.extraction.cues import Signal, Sort, shows
from agent_memory.domain.extraction.notes import Candidate, Support, composed, headline, settled, tags_of, with_files
from agent_memory.domain.extraction.said_by_agent import agent_candidates, leaves_open, outcome_of
from agent_memory.domain.extraction.said_by_user import objects, request_of, user_candidates, withdraws
from agent_memory.domain.extraction.session import Episode, episodes_of, offers_in
from agent_memory.domain.extraction.text import (
    MAX_CHARS,
    MESSAGE_CHARS,
    SENTENCE_CHARS,
    blocks_of,
    capitalised,
    cut,
    holds_all_of,
    in_words,
    legible,
    names_in,
    overlap,
    says_all_of,
    sentences_of,
    without_politeness,
)
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.planning.origin import holds_quotation
from agent_memory.domain.text.salience import is_negated, lost_salience
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.transcripts.pasted_reviews import pasted_review, without_pasted_review
from agent_memory.domain.vocabulary import Importance, Kind

_DONE = 0.6
_CHOOSES = re.compile(
    r"\b(?:which|prefer|options?|choose|pick|approach|direction|qual|quais|prefere|preferes|opção|opções)\b",
    re.IGNORECASE,
)
MAX_LINES = 6
MAX_FILES = 12
_LINE_CHARS = 200
_COMMIT = re.compile(r"\bgit\b[^|;&]{0,40}\bcommit\b|\bjj (?:commit|describe)\b")
_SECTIONS = ("Asked", "Done", "Files", "Open")
_UNCOMMITTED = "Nothing was committed in the session"


@frozen
class Handoff:
    """Its lines, by section."""

    asked: tuple[str, ...]
    done: tuple[str, ...]
    files: tuple[str, ...]
    open: tuple[str, ...]
    turns: tuple[int, ...]

    @property
    def title(self) -> str:
        subject = (self.asked or self.done or ("session",))[0]
        return f"Handoff: {headline(subject)}"

    @property
    def description(self) -> str:
        state = f"open: {self.open[0]}" if self.open else f"done: {self.done[0]}" if self.done else "nothing is open"
        return cut(f"Where the last session stopped; {state}", _LINE_CHARS)

    @property
    def body(self) -> str:
        sections = zip(_SECTIONS, (self.asked, self.done, self.files, self.open), strict=True)
        return "\n\n".join(f"{name}:\n" + "\n".join(f"- {line}" for line in lines) for name, lines in sections if lines)


def handoff_of(
    history: History, episodes: Sequence[Episode], notes: Sequence[Candidate], *, goes_on: bool = False
) -> Handoff | None:
    """The handoff; None where there is nothing to take up: no work, or one request that was simply met.

    With `goes_on` the session has a handoff already, and whatever was asked since belongs into it.
    """
    asked = _spread([line for episode in episodes if episode.asked and (line := _line(request_of(episode.asked)))])
    done = _spread([line for episode in episodes if (line := _line(outcome_of(episode)))])
    files = tuple(dict.fromkeys(_shown(path, history.cwd) for episode in episodes for path in episode.written))
    open_lines = _open(episodes, notes)
    if not asked or not (goes_on or any(episode.worked for episode in episodes)):
        return None
    if not goes_on and len(asked) == 1 and not open_lines and len(files) <= 1:
        return None
    if files and not any(_commits(call) for turn in history.turns for call in turn.tool_calls):
        open_lines = (*open_lines, _UNCOMMITTED)
    turns = tuple(turn.number for episode in episodes if (turn := episode.closing or episode.asked))
    return Handoff(asked, done, _some(files), open_lines, turns[-MAX_LINES:])


def brief_handoff_of(history: History, episodes: Sequence[Episode]) -> Handoff | None:
    """The handoff of a session whose requests say too little by themselves to be worth a note ("go on"): in the person's
    own words, for whoever asks for it. None where nobody asked for anything."""
    asked = _spread([line for episode in episodes if episode.asked and (line := _line(episode.asked.text))])
    files = tuple(dict.fromkeys(_shown(path, history.cwd) for episode in episodes for path in episode.written))
    done = _spread([line for episode in episodes if (line := _line(outcome_of(episode)))])
    turns = tuple(episode.asked.number for episode in episodes if episode.asked)
    return Handoff(asked, done, _some(files), _open(episodes, ()), turns[-MAX_LINES:]) if asked else None


def _commits(call: ToolCall) -> bool:
    return not call.writes and bool(_COMMIT.search(call.brief))


def continued(earlier_body: str, newer: Handoff) -> Handoff:
    """The handoff of a session that grew: what was asked and done before stays, what is open is what is open now."""
    before = _parsed(earlier_body)
    return evolve(
        newer,
        asked=_spread([*before["Asked"], *newer.asked]),
        done=_spread([*before["Done"], *newer.done]),
        files=_some(tuple(dict.fromkeys((*_files(before["Files"]), *_files(newer.files))))),
    )


def _parsed(body: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {name: [] for name in _SECTIONS}
    section = ""
    for line in body.split("\n"):
        if line.rstrip(":") in lines and line.endswith(":"):
            section = line.rstrip(":")
        elif section and line.startswith("- "):
            lines[section].append(line[2:])
    return lines


def _open(episodes: Sequence[Episode], notes: Sequence[Candidate]) -> tuple[str, ...]:
    tasks = [_line(note.claim) for note in notes if note.sort is Sort.TASK]
    last = episodes[-1] if episodes else None
    if last is None:
        return tuple(tasks[-MAX_LINES:])
    if last.asked and last.closing is None:
        tasks.append(
            _line(f"The last request was not finished: {request_of(last.asked) or cut(last.asked.text.strip(), 80)}")
        )
    question = final_question(last)
    if question and not tasks:
        tasks.append(_line(f"The agent's last question is unanswered: {question}"))
    return tuple(tasks[-MAX_LINES:])


def _line(text: str) -> str:
    return capitalised(cut(" ".join(text.split()), _LINE_CHARS))


def _spread(lines: Sequence[str]) -> tuple[str, ...]:
    """The first line and the latest ones, each once."""
    distinct = list(dict.fromkeys(lines))
    return tuple(distinct if len(distinct) <= MAX_LINES else [distinct[0], *distinct[1 - MAX_LINES :]])


def _some(files: Sequence[str]) -> tuple[str, ...]:
    if len(files) <= MAX_FILES:
        return tuple(files)
    return (*files[:MAX_FILES], f"and {len(files) - MAX_FILES} more")


def _files(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if not re.fullmatch(r"and \d+ more", line))


def _shown(path: str, cwd: str | None) -> str:
    return f"`{path.removeprefix(cwd.rstrip('/') + '/') if cwd else path}`"


def unanswered_choice(episodes: Sequence[Episode]) -> Candidate | None:
    """The choice that the agent put before the person at the very end, if it did."""
    last = episodes[-1] if episodes else None
    closing = last.closing if last else None
    question = final_question(last) if last else ""
    if last is None or closing is None or last.asked is None or not _CHOOSES.search(question):
        return None
    offers = offers_in(closing)
    request = request_of(last.asked)
    if not offers or not request:
        return None
    return Candidate(
        Sort.TASK,
        Role.AGENT,
        cut(f"The user has not chosen yet: {without_politeness(request)}"),
        (closing.number,),
        quote=request,
        supports=(Support("Options offered", cut("; ".join(offer.name for offer in offers))),),
    )


def final_question(episode: Episode) -> str:
    """The question with which the agent ended, empty if it did not end with one."""
    if episode.closing is None:
        return ""
    blocks = [block for block in blocks_of(episode.closing.text) if block.text]
    sentences = [sentence for block in blocks[-2:] for sentence in sentences_of(block.text)]
    return next((cut(sentence) for sentence in reversed(sentences[-2:]) if sentence.endswith("?")), "")


def still_open(tasks: Sequence[Candidate], episodes: Sequence[Episode]) -> tuple[Candidate, ...]:
    """The tasks that no later closing words say to be done."""
    done = [(each.closing.number, content_terms(_without_open_ends(each.closing))) for each in episodes if each.closing]
    return tuple(
        task
        for task in tasks
        if not any(
            overlap(content_terms(task.claim), terms) >= _DONE
            for number, terms in done
            if task.by is Role.USER and number > task.turns[-1]
        )
    )


def _without_open_ends(closing: Turn) -> str:
    """What the agent said without the sentences that say what is left to do. What is too long for one is none."""
    sentences = (sentence for block in blocks_of(closing.text) for sentence in sentences_of(block.text))
    return "\n".join(each for each in sentences if len(each) > 2 * MAX_CHARS or not leaves_open(each))


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
    return cut(nearest, ASKED_CHARS) if score > 1 else ""


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
