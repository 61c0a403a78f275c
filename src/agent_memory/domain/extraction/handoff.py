"""The handoff: what a session was asked, what it did, which files it touched; and what a session left open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from agent_memory.domain.extraction.candidates import Candidate, Support
from agent_memory.domain.extraction.compose import headline
from agent_memory.domain.extraction.cue import Sort
from agent_memory.domain.extraction.dialogue import offers_in
from agent_memory.domain.extraction.episodes import Episode
from agent_memory.domain.extraction.prose import blocks_of, sentences_of
from agent_memory.domain.extraction.said_by_agent import leaves_open, outcome_of
from agent_memory.domain.extraction.said_by_user import request_of
from agent_memory.domain.extraction.statements import MAX_CHARS, capitalised, cut, overlap, without_politeness
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.text.terms import content_terms

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
