"""A cue: wording that shows what a sentence is for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from agent_memory.values import frozen


class Sort(StrEnum):
    """What a sentence with the cue is. Declared from the strongest to the weakest: among equals the stronger one stays."""

    REMEMBER = "remember"
    """The person asks that it be remembered."""
    CORRECTION = "correction"
    """The person corrects what the agent said or did."""
    PREFERENCE = "preference"
    """The person says how they want work to be done."""
    CONVENTION = "convention"
    """The person says how it is done here."""
    DECISION = "decision"
    """Somebody decided."""
    WANT = "want"
    """The person says how the thing itself should behave."""
    COMPLAINT = "complaint"
    """The person finds fault with the shape of the work (repetition, clutter)."""
    LESSON = "lesson"
    """What was wrong, and what mended it."""
    REASONED = "reasoned"
    """The agent did something for a reason that it gives."""
    MEASURE = "measure"
    """The agent compared two measurements."""
    TASK = "task"
    """Something is left to be done."""


class Signal(StrEnum):
    """What a cue shows without making a note by itself."""

    ANNOUNCES = "announces"
    """The finding comes in what follows: `Found it!`"""
    REMEDY = "remedy"
    """How it was mended."""
    HEDGE = "hedge"
    """A guess."""
    NARRATION = "narration"
    """The agent tells what it does next."""
    MOMENTARY = "momentary"
    """A state that holds now and says nothing later: tests pass."""
    OBJECTION = "objection"
    """The person rejects what the agent just said or did."""
    WITHDRAWN = "withdrawn"
    """The person takes back what they said."""
    REPORTED = "reported"
    """What follows are the words of somebody else, or of a machine."""
    REASON = "reason"
    """A reason is given."""


@frozen
class Cue:
    """A pattern and what it shows. Where the pattern has a group `said`, that is the statement proper."""

    shows: Sort | Signal
    pattern: re.Pattern[str]


@frozen
class Hit:
    """A cue found in a sentence, and what the sentence says without it."""

    shows: Sort | Signal
    said: str
    rest: str
    """What follows the cue's own words."""


def cue(shows: Sort | Signal, *patterns: str) -> tuple[Cue, ...]:
    """Cues that show the same thing. Upper and lower case are the same."""
    return tuple(Cue(shows, re.compile(pattern, re.IGNORECASE)) for pattern in patterns)


def first_hit(cues: Iterable[Cue], sentence: str) -> Hit | None:
    """The first cue of some that is in the sentence."""
    for candidate in cues:
        found = candidate.pattern.search(sentence)
        if found:
            said = found.groupdict().get("said")
            return Hit(candidate.shows, (said or sentence).strip(), sentence[found.end() :].strip(" :,–—-"))
    return None


def shows(cues: Iterable[Cue], sentence: str) -> bool:
    """Whether any of some cues is in the sentence."""
    return any(candidate.pattern.search(sentence) for candidate in cues)
