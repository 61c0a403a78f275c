"""The notes of one history, and its handoff: what was asked, what was done, which files it touched, what it left open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve, frozen

from agent_memory.extraction.notes import Candidate, composed, headline, settled, tags_of
from agent_memory.extraction.said_by_agent import agent_candidates, is_next_step, left_open, outcome_of
from agent_memory.extraction.said_by_user import objects, request_of, stated_again, user_candidates
from agent_memory.extraction.session import TYPED_CHARS, Episode, episodes_of, is_question_tool, speaks_of_an_option
from agent_memory.extraction.text import (
    LONGEST_TITLE_CHARS,
    MAX_CHARS,
    MESSAGE_CHARS,
    Signal,
    Sort,
    agent_hits,
    blocks_of,
    capitalised,
    cut,
    holds_all_of,
    in_words,
    is_question,
    legible,
    names_in,
    overlap,
    prose_sentences,
    says_all_of,
    sentences_of,
    shows,
    wording,
)
from agent_memory.note.note import Harness, Importance, Kind, Origin, StoredEntry
from agent_memory.rules.origin import holds_quotation
from agent_memory.rules.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.own_marks import pasted_review, without_pasted_review
from agent_memory.session.windows import TODO_TOOL
from agent_memory.text.instants import DAY_MS
from agent_memory.text.salience import content_terms, is_directive, is_negated, lost_salience

HANDOFF_DAYS = 7
ASKED_CHARS = 220
"""Of the request that a note quotes for its context."""
_SHARED = 2
_SAME = 0.6
"""Of what is said to be done, or gone again, and what a candidate tells of."""
_HALF = 0.5
_COMES_BACK = 0.4
"""Of the words of a message that stand in an answer: it is about the same."""
_PASTED = "[pasted review]"
_LASTING = frozenset({Sort.REMEMBER, Sort.REPEATED, Sort.PREFERENCE, Sort.CONVENTION})
_LATER_MESSAGES = 2
"""In so many of the person's next messages a conclusion may turn out to have been wrong."""
_SENTENCE_WORDS = 6
"""A shorter sentence two may say alike by chance."""
_ASKS_FOR_OTHERS = wording("asks_for_others")
_ACCEPTS = wording("accepts")
_OFFERS = wording("offers")
_THANKS = wording("thanks")
_PROPOSES = wording("proposes")
_PUSHES_BACK = wording("pushes_back")
_NO = re.compile(r"\s*(?:no|nope|nah|n[ãa]o)\b", re.IGNORECASE)
"""It corrects something else: of what was chosen it would say that it does not help."""
_YES = re.compile(r"\s*(?:yes|yep|yeah|sure|sim)\b(?![^.\n]*\b(?:but|mas)\b)", re.IGNORECASE)
_ANOTHER = re.compile(
    r"\binstead\b|\b(?:changed my mind|on second thought|(?:continue|keep|go back to) using|(?:stick|continue) with|back to)\b"
    r"|^actually\b|\bem vez disso\b|\b(?:change|switch|move|rename)\b.{2,80}\bto\b|\breplace\b.{2,80}\b(?:with|by)\b",
    re.IGNORECASE,
)


def extracted(
    history: History,
    *,
    now_ms: int,
    shown: Sequence[StoredEntry] = (),
    handoff_id: str | None = None,
    final_window: bool = True,
) -> ChangeSet:
    """Returns what of a history is worth keeping: notes, and at its end a handoff if it is younger than seven days.

    A note that says what one of `shown` says already is left out. The earlier handoff, if it is among `shown`, is
    updated. Where nothing is recognised, `skipped` says so.
    """
    history, episodes, candidates = read_through(history, final_window=final_window)
    fresh = tuple(candidate for candidate in candidates if not _is_known(candidate, shown))
    # What one of the two has yet to do is of use to whoever takes the work up, and is in the handoff.
    lasting = (one for one in fresh if one.by is Role.USER or not is_next_step(one.claim))
    directory = f"{history.cwd.rstrip('/')}/" if history.cwd else ""
    notes = (composed(one, _asked_for(one, episodes), _files_around(one, episodes, directory)) for one in lasting)
    entries = tuple(note for note in notes if note)
    earlier = next((entry for entry in shown if entry.meta.id == handoff_id), None)
    ended = max((turn.at_ms for turn in history.turns if turn.at_ms is not None), default=history.ended_at_ms)
    recent = final_window and ended is not None and now_ms - ended < HANDOFF_DAYS * DAY_MS
    handoff = handoff_of(history, episodes, candidates, goes_on=earlier is not None) if recent else None
    if handoff and earlier:
        return ChangeSet(entries, (_updated(earlier, continued(earlier.body, handoff)),))
    if handoff:
        entries = (*entries, _new_handoff(handoff))
    return ChangeSet(entries, skipped=None if entries else _why_nothing(history, fresh, candidates))


def read_through(
    history: History, *, final_window: bool = True, by_agent: bool = True
) -> tuple[History, tuple[Episode, ...], tuple[Candidate, ...]]:
    """The history as far as it can be read, its episodes, and what was stated in it, if need be by the person alone."""
    turns = tuple(_legible_turn(turn) for turn in history.turns)
    readable = evolve(history, turns=turns, cwd=history.cwd and legible(history.cwd))
    episodes = episodes_of(readable)
    return readable, episodes, settled(_candidates(readable, episodes, final_window, by_agent))


def _legible_turn(turn: Turn) -> Turn:
    """The turn without what cannot be read: hidden and control characters, and the far end of an enormous message."""
    calls = tuple(evolve(call, path=call.path and legible(call.path)) for call in turn.tool_calls)
    text = "" if turn.role is Role.TOOL and not is_question_tool(turn.tool_name) else legible(turn.text[:MESSAGE_CHARS])
    if turn.role is Role.USER and pasted_review(text):
        text = without_pasted_review(text).strip() or _PASTED
    return evolve(turn, text=text, tool_calls=calls)


def _candidates(history: History, episodes: Sequence[Episode], final_window: bool, by_agent: bool) -> list[Candidate]:
    found: list[Candidate] = []
    last_work, worked = _last_work(episodes) if final_window else -1, False
    for index, episode in enumerate(episodes):
        before = episodes[index - 1] if index else None
        if before and episode.asked and shows(Signal.WITHDRAWN, episode.asked.text.strip()[:MAX_CHARS]):
            first = before.asked.number if before.asked else 0
            found = [one for one in found if one.turns[-1] < first]
        after = [each.asked for each in episodes[index + 1 :] if each.asked]
        later = after[:_LATER_MESSAGES]
        if not history.automated:
            chose_anew = any(
                speaks_of_an_option(each.text)
                or _ASKS_FOR_OTHERS.search(each.text)
                or (objects(each) and not _NO.match(each.text))
                for each in later
            )
            found.extend(
                one
                for one in user_candidates(episode, before)
                if not (one.is_option and chose_anew)
                and not _is_pasted_back(one, history)
                and not any(_takes_another(each, one, far=each not in later) for each in after)
            )
        worked = worked or episode.worked
        if by_agent and (worked or history.harness is Harness.AIDER) and not any(objects(each) for each in later):
            changed_later = any(each.acted for each in episodes[index + 1 :])
            found.extend(agent_candidates(episode, changed_later=changed_later, open_end=index >= last_work >= 0))
    return [
        one
        for one in found
        if not (_done if one.sort is Sort.TASK else _undone)(one, episodes)
        and not (one.is_agents_answer and _is_unsettled(one, episodes, found))
    ]


def _is_pasted_back(candidate: Candidate, history: History) -> bool:
    """Whether the agent had said it before in the same words: then they are not the person's, who chose none of them."""
    if candidate.is_option or candidate.sort is Sort.REMEMBER:
        return False
    words = in_words(candidate.claim)
    earlier = (turn for turn in history.turns if turn.role is Role.AGENT and turn.number < candidate.turns[-1])
    said = f" {' '.join(words)} "
    return len(words) >= _SENTENCE_WORDS and any(said in f" {' '.join(in_words(turn.text))} " for turn in earlier)


def _takes_another(later: Turn, decided: Candidate, *, far: bool) -> bool:
    """Whether the person decides the matter anew in a later message: the one that they named before holds no longer. A
    message `far` from it has to name more of it."""
    if decided.sort in _LASTING:
        return False
    terms, least = content_terms(decided.claim), _SHARED if far else 1
    sentences = (each for each in prose_sentences(later.text) if _ANOTHER.search(each))
    return any(len(terms & content_terms(each)) >= least for each in sentences)


def _is_unsettled(answer: Candidate, episodes: Sequence[Episode], found: Sequence[Candidate]) -> bool:
    """Whether the person had still to decide on an answer, did not accept it or came back to its matter: later words know better.
    What they state of the matter makes a note of its own, beside it."""
    number, stated = answer.turns[-1], {one.turns[-1] for one in found if one.by is Role.USER}
    later = [(each, each.asked) for each in episodes if each.asked and each.asked.number > number]
    if not later:
        return False
    # A question that was only answered leaves what was said before as it is.
    changing = [said for each, said in later if each.acted or not is_question(said.text.rstrip())]
    first = later[0][1].text
    asks = next(_final_question(each) for each in episodes if each.closing and each.closing.number == number)
    accepted = _ACCEPTS.search(first) or _YES.match(first)
    proposes = any(_PROPOSES.match(each) for each in prose_sentences(answer.quote))
    waits = proposes or (asks and not _OFFERS.match(asks))
    if _PUSHES_BACK.match(first) or (waits and not accepted):
        return True
    terms = content_terms(answer.quote)
    return any(
        len(terms & asked) >= max(_SHARED, len(asked) * _COMES_BACK)
        for each in changing
        if each.number not in stated and not _ACCEPTS.search(each.text)
        if not shows(Signal.WRAPS_UP, each.text.strip()[:MAX_CHARS])
        and (asked := content_terms(each.text[:TYPED_CHARS]))
    )


def _last_work(episodes: Sequence[Episode]) -> int:
    """The episode after which nothing more was worked on: what follows it only commits or thanks."""
    last = len(episodes) - 1
    while last > 0 and (asked := episodes[last].asked) and shows(Signal.WRAPS_UP, asked.text.strip()[:MAX_CHARS]):
        last -= 1
    return last


def _later_words(candidate: Candidate, episodes: Sequence[Episode]) -> Iterator[tuple[str, ...]]:
    closings = (episode.closing for episode in episodes)
    return (prose_sentences(each.text) for each in closings if each and each.number > candidate.turns[-1])


def _done(task: Candidate, episodes: Sequence[Episode]) -> bool:
    """Whether later closing words say that a task of the person's is done. What they say is left to do is not."""
    terms = content_terms(task.claim)
    later = (
        [each for each in said if not any(hit.shows is Sort.TASK for hit in agent_hits(each))]
        for said in _later_words(task, episodes)
    )
    return task.by is Role.USER and any(overlap(terms, content_terms("\n".join(done))) >= _SAME for done in later)


def _undone(candidate: Candidate, episodes: Sequence[Episode]) -> bool:
    """Whether the agent says later that what the candidate tells of is gone again: not of what only the person can take back."""
    if candidate.sort in _LASTING:
        return False
    is_answer = candidate.is_answer  # of few words, which name nothing
    said, names = content_terms(candidate.quote if is_answer else candidate.claim), names_in(candidate.claim)
    return any(
        shows(Signal.REVERTS, sentence)
        and (is_answer or names & names_in(sentence))
        and overlap(content_terms(sentence), said) >= (_HALF if is_answer else _SAME)
        for sentences in _later_words(candidate, episodes)
        for sentence in sentences
    )


def _is_known(candidate: Candidate, shown: Sequence[StoredEntry]) -> bool:
    """Whether a stored note says it already; a handoff does not count, since it will expire.

    Every word counts: the same sentence about another service is another fact. What the person said, one sentence must say.
    """
    by = Origin.USER if candidate.by is Role.USER else Origin.AGENT
    counting = (each for each in shown if each.meta.kind is not Kind.HANDOFF and not each.meta.is_unheard(by))
    lasting = [f"{each.meta.title}\n{each.body}" for each in counting]
    if candidate.by is Role.USER:
        lines = (line.lstrip("> ") for text in lasting for line in text.split("\n"))
        return any(_is_said_in(sentence, candidate) for line in lines for sentence in sentences_of(line))
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

    One that quotes somebody is left out: their words would become part of what the person said (P19). So is an order, which no
    session would be told, and an objection, which asks for nothing by itself. A choice has its question.
    """
    if candidate.is_answer:
        return ""
    asked = [each.asked for each in episodes if each.asked and each.asked.number <= candidate.turns[-1]]
    if candidate.is_agents_answer:
        own = request_of(asked[-1]) if asked else ""
        return cut(own, ASKED_CHARS) if _is_told(own) else ""
    quoted = " ".join(candidate.text.split())
    requests = [request for each in asked if not objects(each) and (request := request_of(each))[:40] not in quoted]
    words = content_terms(candidate.text)
    told = [each for each in requests[-2:] if _is_told(each)]
    shared = [(len(content_terms(each) & words) - age, each) for age, each in enumerate(reversed(told))]
    score, nearest = max(shared, key=lambda scored: scored[0], default=(0, ""))
    return cut(nearest, ASKED_CHARS) if score >= _SHARED else ""


def _is_told(request: str) -> bool:
    return not holds_quotation(request) and not is_directive(request)


def _files_around(candidate: Candidate, episodes: Sequence[Episode], directory: str) -> tuple[str, ...]:
    """The files changed in the candidate's episode; where none were, those of the session."""
    number = candidate.turns[-1]
    own = [each.written for each in episodes if not each.asked or each.asked.number <= number]
    files = own[-1] or tuple(path for each in episodes for path in each.written)
    return tuple(path.removeprefix(directory) for path in files)


def _why_nothing(history: History, fresh: Sequence[Candidate], candidates: Sequence[Candidate]) -> str:
    """It speaks for the cues, not for the session: a reader may well find something in it."""
    if not history.turns:
        return "the session holds nothing new"
    if len(fresh) < len(candidates):
        return "what the session says is stored already"
    return (
        "the built-in extractor, which knows a few hundred phrases, recognised nothing in it; an agent command "
        "(llm.preset) may: `memory consolidate --upgrade` gives it the session"
    )


# -- the handoff ------------------------------------------------------------------------------------------------------

MAX_LINES = 6
MAX_FILES = 12
_LINE_CHARS = 200
_COMMIT = re.compile(r"\bgit\b[^|;&]{0,40}\bcommit\b|\bjj (?:commit|describe)\b")
_TODO = re.compile(r"\[(\w+)\] (.+?)(?=; \[\w+\] |$)")
"""As `ToolCall.brief` gives an item of a to-do list."""
_SECTIONS = ("Asked", "Done", "Files", "Open")
UNCOMMITTED = "Nothing was committed in the session"


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
        lead, whole = "Handoff: ", headline(subject)
        fits = 0 < len(whole) <= LONGEST_TITLE_CHARS - len(lead)
        return lead + (whole if fits else cut(subject, _LINE_CHARS // 2))

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
    handoff = _handoff(history, episodes, notes, [request_of(each.asked) if each.asked else "" for each in episodes])
    if not handoff.asked or not (goes_on or any(episode.worked for episode in episodes)):
        return None
    if not goes_on and len(handoff.asked) == 1 and not handoff.open and len(handoff.files) <= 1:
        return None
    calls = (call for turn in history.turns for call in turn.tool_calls)
    if handoff.files and not any(_COMMIT.search(call.brief) for call in calls if not call.writes):
        return evolve(handoff, open=(*handoff.open, UNCOMMITTED))
    return handoff


def brief_handoff_of(history: History, episodes: Sequence[Episode]) -> Handoff | None:
    """The handoff of a session whose requests say too little by themselves to be worth a note ("go on"): in the person's
    own words, for whoever asks for it. None where nobody asked for anything."""
    handoff = _handoff(history, episodes, (), [each.asked.text if each.asked else "" for each in episodes])
    return handoff if handoff.asked else None


def _handoff(
    history: History, episodes: Sequence[Episode], notes: Sequence[Candidate], asked: Sequence[str]
) -> Handoff:
    directory = f"{history.cwd.rstrip('/')}/" if history.cwd else ""
    files = dict.fromkeys(f"`{path.removeprefix(directory)}`" for each in episodes for path in each.written)
    turns = tuple(turn.number for each in episodes if (turn := each.closing or each.asked))
    done = [outcome_of(episode) for episode in episodes]
    return Handoff(_spread(asked), _spread(done), _some(tuple(files)), _open(episodes, notes), turns[-MAX_LINES:])


def continued(earlier_body: str, newer: Handoff) -> Handoff:
    """The handoff of a session that grew: what was asked and done before stays, what is open is what is open now."""
    before: dict[str, list[str]] = {name: [] for name in _SECTIONS}
    section = ""
    for line in earlier_body.split("\n"):
        if line.rstrip(":") in before and line.endswith(":"):
            section = line.rstrip(":")
        elif section and line.startswith("- "):
            before[section].append(line[2:])
    files = [line for line in (*before["Files"], *newer.files) if not re.fullmatch(r"and \d+ more", line)]
    return evolve(
        newer,
        asked=_spread([*before["Asked"], *newer.asked]),
        done=_spread([*before["Done"], *newer.done]),
        files=_some(tuple(dict.fromkeys(files))),
    )


def _open(episodes: Sequence[Episode], notes: Sequence[Candidate]) -> tuple[str, ...]:
    last = episodes[-1] if episodes else None
    tasks = [_line(note.claim) for note in notes if note.sort is Sort.TASK and note.by is Role.USER]
    tasks += [_line(said) for each in episodes[max(_last_work(episodes), 0) :] for said in left_open(each)]
    if last and last.asked and last.closing is None and not _THANKS.fullmatch(last.asked.text):
        tasks.append(
            _line(f"The last request was not finished: {request_of(last.asked) or cut(last.asked.text.strip(), 80)}")
        )
    todos = _todos(episodes)
    question = _final_question(last) if last else ""
    if question and not (tasks or todos or _OFFERS.match(question)):
        tasks.append(_line(f"The agent's last question is unanswered: {question}"))
    return (*_some(todos), *dict.fromkeys(tasks[-MAX_LINES:]))


def _todos(episodes: Sequence[Episode]) -> list[str]:
    """Returns what is open of the agent's last to-do list."""
    calls = (call for each in episodes for turn in each.work for call in turn.tool_calls if TODO_TOOL.match(call.name))
    found = [items for call in calls if (items := _TODO.findall(call.brief))]
    return [_line(item) for status, item in (found[-1] if found else ()) if status not in ("completed", "cancelled")]


def _final_question(episode: Episode) -> str:
    blocks = [block for block in blocks_of(episode.closing.text if episode.closing else "") if block.text]
    sentences = [sentence for block in blocks[-2:] for sentence in sentences_of(block.text)]
    return next((cut(sentence) for sentence in reversed(sentences[-2:]) if sentence.endswith("?")), "")


def _line(text: str) -> str:
    return capitalised(cut(" ".join(text.split()), _LINE_CHARS))


def _spread(lines: Sequence[str]) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(line for each in lines if (line := _line(each))))
    return tuple(distinct if len(distinct) <= MAX_LINES else [distinct[0], *distinct[1 - MAX_LINES :]])


def _some(files: Sequence[str]) -> tuple[str, ...]:
    if len(files) <= MAX_FILES:
        return tuple(files)
    return (*files[:MAX_FILES], f"and {len(files) - MAX_FILES} more")


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


# -- the corrections of the person: what memory exists to make unnecessary --------------------------------------------

_CORRECTING = frozenset({Sort.REMEMBER, Sort.REPEATED, Sort.CORRECTION, Sort.PREFERENCE, Sort.CONVENTION})


@frozen
class Correction:
    """A statement by which the person told the agent, after it had begun to work, how things are or are to be done."""

    turn: int
    """The number of the person's message (`Turn.number`); one message may hold several corrections."""
    text: str
    """The statement on one line in the person's words, at most 300 characters: `use pnpm here, not npm.`"""
    rejected: str = ""
    """The thing that it turns down: `npm`; empty if it names none."""


def corrections_in(history: History) -> tuple[Correction, ...]:
    """Returns what the person corrected in a redacted history, in the order of their messages, each statement once.

    Found by wording alone, so some are missed. Only statements count that hold beyond the task, or stand behind an
    objection: neither a request, nor a question, nor "no, try again", nor what the person took back later; and nothing
    said before the agent's first turn, to which nobody had given cause.
    """
    first = next((turn.number for turn in history.turns if turn.role is Role.AGENT), None)
    history, episodes, candidates = read_through(history, by_agent=False)
    found = [
        Correction(each.turns[-1], each.claim, each.rejected)
        for each in candidates
        if each.by is Role.USER and each.sort in _CORRECTING and first is not None and each.turns[-1] > first
    ]
    for before, episode in () if history.automated else pairwise(episodes):
        for said, _ in stated_again(episode, before):
            if episode.asked and not any(said in each.text or each.text in said for each in found):
                found.append(Correction(episode.asked.number, cut(said)))
    return tuple(sorted(found, key=lambda each: each.turn))
