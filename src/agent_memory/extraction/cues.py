"""Cues: wording that shows what a sentence is for. The wording itself is data, in `cues.txt`, which says how it is written."""

from __future__ import annotations

import re
from enum import StrEnum

from attrs import frozen

from agent_memory.text.tables import read_table


class Sort(StrEnum):
    """The sort of a sentence with the cue. Declared from the strongest to the weakest: among equals the stronger one stays."""

    REMEMBER = "remember"  # the person asks that it be remembered
    CORRECTION = "correction"  # the person corrects what the agent said or did
    PREFERENCE = "preference"  # the person says how they want work to be done
    CONVENTION = "convention"  # the person says how it is done here
    ROUTINE = "routine"  # the person names a step of their routine as part of a request: `…, then run make lint`
    DECISION = "decision"  # somebody decided
    WANT = "want"  # the person says how the thing itself has to behave
    LESSON = "lesson"  # what was wrong, and what mended it
    TASK = "task"  # something is left to be done


class Signal(StrEnum):
    """A hint that makes no note by itself."""

    ANNOUNCES = "announces"  # the finding comes in what follows, or in the same sentence: `Found it!`, `The issue is …`
    REMEDY = "remedy"  # how it was mended
    HEDGE = "hedge"  # a guess, or a thing to be tried
    NARRATION = "narration"  # the agent tells what it does next
    MOMENTARY = "momentary"  # a state that holds now and says nothing later: tests pass
    HEEDED = "heeded"  # what has to be done or left from now on, and what happens otherwise
    OBJECTION = "objection"  # the person rejects what the agent just said or did
    WITHDRAWN = "withdrawn"  # the person takes back what they said, or has what was done undone
    WRAPS_UP = "wraps_up"  # the person has what was done committed or thanks for it: what was open stays so
    REPORTED = "reported"  # what follows are the words of somebody else, or of a machine
    ABOUT_TEXT = "about_text"  # what follows is to be read, judged or reworded: it is not what the person wants
    CONCEDES = "concedes"  # the agent says that the person is right
    CHANGELOG = "changelog"  # the agent lists what it changed
    UNSURE = "unsure"  # the person guesses, wonders or asks to be told
    REVERTS = "reverts"  # what was there before is there again, or what was added is gone
    REQUEST = "request"  # the person names work to be done in this session
    PASSING = "passing"  # it holds for now, or for this once
    SESSION = "session"  # it tells what one of the two did in this session
    POINTS = "points"  # at what stands in another message, or before the eyes


@frozen
class Hit:
    """A cue found in a sentence, and what the sentence says without it."""

    shows: Sort
    said: str


Patterns = tuple[re.Pattern[str], ...]
_TABLE = read_table("agent_memory.extraction", "cues.txt")
_CUES: dict[str, Patterns] = {
    header: tuple(re.compile(line.replace("n't", "n'?t"), re.IGNORECASE) for line in lines)
    for header, lines in _TABLE.lines.items()
    if not header.startswith(("wording ", "words ", "subject "))
}


def wording(name: str) -> re.Pattern[str]:
    return _TABLE.expression(f"wording {name}")


def words(name: str) -> frozenset[str]:
    return _TABLE.words(f"words {name}")


def lines(name: str) -> tuple[str, ...]:
    return _TABLE.lines[f"words {name}"]


SUBJECTS = {
    header.removeprefix("subject "): _TABLE.expression(header)
    for header in _TABLE.lines
    if header.startswith("subject ")
}
"""The wording of each subject, by its tag."""


def user_hits(sentence: str) -> tuple[Hit, ...]:
    """Returns the sorts that a sentence of the person's may be of, the strongest first."""
    return _hits("user", sentence)


def agent_hits(sentence: str) -> tuple[Hit, ...]:
    """Returns the sorts that a sentence of the agent's may be of, the strongest first."""
    return _hits("agent", sentence)


def shows(signal: Signal, sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in _CUES[f"signal {signal}"])


def is_quiet(sentence: str) -> bool:
    """Returns whether a sentence of the agent's is a guess, a question, or about this very moment."""
    return sentence.endswith(("?", ":")) or any(
        shows(signal, sentence) for signal in (Signal.HEDGE, Signal.NARRATION, Signal.MOMENTARY)
    )


def is_void(sort: Sort, sentence: str) -> bool:
    """Returns whether a sentence is nothing of the sort, whatever cue or label it has."""
    return any(pattern.search(sentence) for pattern in _CUES.get(f"void {sort}", ()))


def sort_of_section(heading: str) -> Sort | None:
    """Returns the sort of the items under a heading of the person's (`Requirements`, `Findings`), if the heading says it."""
    return next((sort for sort in Sort if any(each.match(heading) for each in _CUES.get(f"heading {sort}", ()))), None)


def _hits(speaker: str, sentence: str) -> tuple[Hit, ...]:
    return tuple(hit for sort in Sort if (hit := _hit(sort, _CUES.get(f"{speaker} {sort}", ()), sentence)))


def _hit(sort: Sort, patterns: Patterns, sentence: str) -> Hit | None:
    found = next((found for pattern in patterns if (found := pattern.search(sentence))), None)
    if found is None or is_void(sort, sentence):
        return None
    return Hit(sort, (found.groupdict().get("said") or sentence).strip())
