"""Cues: wording that shows what a sentence is for. The wording is data (`cue_words`); this reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import frozen

from agent_memory.domain.extraction.cue_words import (
    EN_BY_AGENT,
    EN_BY_USER,
    EN_LEADS,
    EN_SECTIONS,
    EN_SIGNALS,
    EN_VOID,
    OTHER_BY_USER,
    PT_BY_AGENT,
    PT_BY_USER,
    PT_LEADS,
    PT_SECTIONS,
    PT_SIGNALS,
    PT_VOID,
)


class Sort(StrEnum):
    """What a sentence with the cue is. Declared from the strongest to the weakest: among equals the stronger one stays."""

    REMEMBER = "remember"  # the person asks that it be remembered
    CORRECTION = "correction"  # the person corrects what the agent said or did
    PREFERENCE = "preference"  # the person says how they want work to be done
    CONVENTION = "convention"  # the person says how it is done here
    ROUTINE = "routine"  # the person names a step of their routine as part of a request: `…, then run make lint`
    DECISION = "decision"  # somebody decided
    WANT = "want"  # the person says how the thing itself should behave
    LESSON = "lesson"  # what was wrong, and what mended it
    REASONED = "reasoned"  # the agent did something, or left it, for a reason that it gives
    FINDING = "finding"  # the agent says what is so here: a contrast, a measurement, a check that does not prove enough
    TASK = "task"  # something is left to be done


class Signal(StrEnum):
    """What a cue shows without making a note by itself."""

    ANNOUNCES = "announces"  # the finding comes in what follows, or in the same sentence: `Found it!`, `The issue is …`
    REMEDY = "remedy"  # how it was mended
    HEDGE = "hedge"  # a guess, or a thing to be tried
    NARRATION = "narration"  # the agent tells what it does next
    MOMENTARY = "momentary"  # a state that holds now and says nothing later: tests pass
    OBJECTION = "objection"  # the person rejects what the agent just said or did
    WITHDRAWN = "withdrawn"  # the person takes back what they said, or has what was done undone
    WRAPS_UP = "wraps-up"  # the person has what was done committed or thanks for it: what was open stays so
    REPORTED = "reported"  # what follows are the words of somebody else, or of a machine
    ABOUT_TEXT = "about-text"  # what follows is to be read, judged or reworded: it is not what the person wants
    CONCEDES = "concedes"  # the agent says that the person is right
    CHANGELOG = "changelog"  # the agent lists what it changed
    UNSURE = "unsure"  # the person guesses, wonders or asks to be told
    REVERTS = "reverts"  # what was there before is there again, or what was added is gone
    REQUEST = "request"  # the person names work to be done in this session
    PASSING = "passing"  # it holds for now, or for this once


@frozen
class Hit:
    """A cue found in a sentence, and what the sentence says without it."""

    shows: Sort
    said: str


Patterns = tuple[re.Pattern[str], ...]


def _compiled(*tables: Mapping[str, Iterable[str]]) -> dict[str, Patterns]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: tuple(_pattern(each) for table in tables for each in table.get(name, ())) for name in names}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(_LEAD.sub(lambda lead: _LEADS[lead[1]], text), re.IGNORECASE)


_LEAD = re.compile(r"(?<!\?P)<([a-z]+)>")
_LEADS = EN_LEADS | PT_LEADS
"""What several patterns begin with, by the name that stands for it in them."""
_BY_USER = _compiled(EN_BY_USER, PT_BY_USER, OTHER_BY_USER)
_BY_AGENT = _compiled(EN_BY_AGENT, PT_BY_AGENT)
_VOID = _compiled(EN_VOID, PT_VOID)
_SIGNALS = _compiled(EN_SIGNALS, PT_SIGNALS)
_SECTIONS = _compiled(EN_SECTIONS, PT_SECTIONS)


def user_hits(sentence: str) -> tuple[Hit, ...]:
    """What a sentence of the person's may be, the strongest first."""
    return _hits(_BY_USER, sentence)


def agent_hits(sentence: str) -> tuple[Hit, ...]:
    """The same of the agent's."""
    return _hits(_BY_AGENT, sentence)


def shows(signal: Signal, sentence: str) -> bool:
    """Whether the signal is in the sentence."""
    return any(pattern.search(sentence) for pattern in _SIGNALS.get(signal, ()))


def is_quiet(sentence: str) -> bool:
    """Whether a sentence of the agent's is a guess, a question, or about this very moment."""
    return sentence.endswith(("?", ":")) or any(
        shows(signal, sentence) for signal in (Signal.HEDGE, Signal.NARRATION, Signal.MOMENTARY)
    )


def is_void(sort: Sort, sentence: str) -> bool:
    """Whether a sentence is nothing of the sort, whatever cue or label it has."""
    return any(pattern.search(sentence) for pattern in _VOID.get(sort, ()))


def without(signal: Signal, sentence: str) -> str:
    """The sentence without the wording of the signal at its beginning."""
    found = next((found for pattern in _SIGNALS[signal] if (found := pattern.match(sentence))), None)
    return sentence[found.end() :].lstrip(" ,.;:!–—-") if found else sentence


def sort_of_section(heading: str) -> Sort | None:
    """What the items under a heading of the person's are (`Requirements`, `Findings`), if the heading says it."""
    return next((Sort(name) for name, patterns in _SECTIONS.items() if any(p.match(heading) for p in patterns)), None)


def _hits(cues: Mapping[str, Patterns], sentence: str) -> tuple[Hit, ...]:
    return tuple(hit for sort in Sort if (hit := _hit(sort, cues.get(sort, ()), sentence)))


def _hit(sort: Sort, patterns: Patterns, sentence: str) -> Hit | None:
    found = next((found for pattern in patterns if (found := pattern.search(sentence))), None)
    if found is None or is_void(sort, sentence):
        return None
    return Hit(sort, (found.groupdict().get("said") or sentence).strip())
