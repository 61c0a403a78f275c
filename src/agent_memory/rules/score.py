"""How strongly an entry competes for a place in front of agents, where no agent judges or two want the same place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import evolve, frozen

from agent_memory.note.note import Meta, StoredEntry, Usage
from agent_memory.note.vocabulary import Importance, Kind, Origin, Tier
from agent_memory.text.directives import is_directive
from agent_memory.text.instants import DAY_MS, has_passed
from agent_memory.text.markdown import find_code
from agent_memory.text.plain_text import counted
from agent_memory.text.salience import statements, typed_tokens

HEADING_CHARS = 100
"""What is written around an entry that is shown whole, besides its title: heading mark, origin, date, blank lines."""
CLEARLY_BETTER = 1.25
"""A challenger takes the place of another only with at least this many times its score."""

_STEP_DAYS = 30
_OF_IMPORTANCE: Mapping[Importance, float] = {
    Importance.LOW: 1.0,
    Importance.MEDIUM: 2.0,
    Importance.HIGH: 4.0,
    Importance.CRITICAL: 8.0,
}
_OF_ORIGIN: Mapping[Origin, float] = {Origin.USER: 1.0, Origin.AGENT: 0.8, Origin.EXTERNAL: 0.7}
_PINNED = 1_000.0
_A_DOUBLING = 0.2
_MOST_DOUBLINGS = 8
_A_STEP_OLDER = 0.85
_OLDEST_STEP = 8


@frozen
class TierFacts:
    """What tiering knows of one live entry."""

    meta: Meta
    body_chars: int
    best: Tier
    """The nearest tier that it may have."""
    score: float

    @property
    def whole_chars(self) -> int:
        """About as many characters as the entry takes where it is shown whole."""
        return len(self.meta.title) + HEADING_CHARS + self.body_chars


@frozen
class ScoreParts:
    """What a score is made of: the product of the four, and the pin added."""

    importance: float
    use: float
    recency: float
    origin: float
    pin: float = 0.0

    @property
    def total(self) -> float:
        return self.pin + self.importance * self.use * self.recency * self.origin

    @property
    def rounded(self) -> dict[str, float]:
        """The total and the parts, to four digits."""
        names = ("total", "importance", "use", "recency", "origin", "pin")
        return {name: round(getattr(self, name), 4) for name in names}


def score(meta: Meta, usage: Usage, now_ms: int) -> float:
    """Importance (1, 2, 4, 8) x use x recency x origin; a pin adds 1,000. Always above 0.

    Use: 1, and 0.2 more for each doubling of the reads, up to 8. Recency: 0.85 for each whole 30 days since the last read
    or change, down to 8 steps; always 1 for what a person prefers or has agreed on (`is_ageless`). Origin: the person 1, an
    agent 0.8, anything else 0.7. No single step of use or time makes one entry `CLEARLY_BETTER` than its equal, so that a score does not swing from run to run.
    """
    return score_parts(meta, usage, now_ms).total


def score_parts(meta: Meta, usage: Usage, now_ms: int) -> ScoreParts:
    """The factors of `score`."""
    doublings = min((max(usage.count, 0) + 1).bit_length() - 1, _MOST_DOUBLINGS)
    changed_at_ms = max(meta.updated_at_ms, usage.last_at_ms or 0)
    steps = min(max(now_ms - changed_at_ms, 0) // (_STEP_DAYS * DAY_MS), _OLDEST_STEP)
    return ScoreParts(
        importance=_OF_IMPORTANCE[meta.importance],
        use=1 + _A_DOUBLING * doublings,
        recency=1.0 if is_ageless(meta) else _A_STEP_OLDER**steps,
        origin=_OF_ORIGIN[meta.origin],
        pin=_PINNED if meta.pinned else 0.0,
    )


def is_ageless(meta: Meta) -> bool:
    """Whether the entry holds until it is replaced: what a person prefers, or has agreed on. Such an entry is in front of
    every session, where nobody has to open it, so that no read would ever show that it is of use."""
    return meta.kind in (Kind.PREFERENCE, Kind.CONVENTION) and (meta.origin is Origin.USER or meta.is_vouched_for)


def tier_facts(meta: Meta, body_chars: int, usage: Usage, now_ms: int) -> TierFacts:
    """The facts of one live entry."""
    return TierFacts(meta, body_chars, best_now(meta, now_ms), score(meta, usage, now_ms))


def best_now(meta: Meta, now_ms: int) -> Tier:
    """The nearest tier that a live entry may have. What has expired is cold, unless a person pinned it."""
    has_expired = has_passed(meta.expires_at_ms, now_ms)
    return Tier.COLD if has_expired and not meta.pinned else meta.best_tier


# -- eligibility ------------------------------------------------------------------------------------------------------
# How near to an agent an entry may come unasked, and how much of it (P19).


_SENTENCE = re.compile(r"\s*(?:[A-Z¿]|[^\x00-\x7f]).{12,}[\w`)][.!?。？！]\s*")
"""A line in a block of code that is none."""


def why_not_nearer(meta: Meta) -> str:
    """Why an entry may not be hot, in words; empty where it may."""
    if meta.best_tier is Tier.HOT:
        return ""
    if meta.is_secret:
        return "it is secret"
    if meta.origin is Origin.EXTERNAL:
        return "only a tool, a page or a file said it; `memory promote` vouches for it"
    return "an agent concluded it, and only what you said is shown whole; `memory promote` vouches for it"


def told_of(stored: StoredEntry) -> StoredEntry | None:
    """What of an entry may be told unasked; None for nothing.

    The person's word is told as it is. Of what an agent concluded, the sentences that tell somebody to do something are
    left out and counted: nobody can tell from the note alone that a person gave that order. Where no turn of a session
    is cited, there was nothing to compare the note with, so what somebody may type goes, too, in whatever language.
    """
    meta = stored.meta
    best = meta.best_tier
    if best is not Tier.WARM:
        return None if best is Tier.COLD else stored
    is_compared = meta.cites_a_turn
    code = [range(start, end) for start, end in find_code(stored.body).fences]
    lines, left_out, at = list[str](), 0, 0
    for line in stored.body.split("\n"):
        is_code = any(at in fence for fence in code) and is_compared and not _SENTENCE.fullmatch(line)
        told = line if is_code else _told_of_line(line, is_compared)
        left_out += told != line
        lines += [told] if told or not line else []
        at += len(line) + 1
    title = meta.title if _told_of_line(meta.title, is_compared) == meta.title else ""
    description = _told_of_line(meta.description, is_compared)
    if not title and lines and lines[0][:1].islower():  # the order goes on there
        lines, left_out = lines[1:], left_out + 1
    if not title and description[:1].islower():
        description = ""
    body = _without_empty_lists(lines)
    if (
        not any(line.strip() and not line.rstrip().endswith(":") for line in body)
        and (left_out or not title)
        and not description
    ):
        return None
    if left_out:
        note = f"({counted(left_out, 'line')} with what may be orders left out: `memory read {meta.id}`.)"
        body = [*body, "", note]
    shown = evolve(meta, title=title or meta.kind.value.capitalize(), description=description)
    return StoredEntry(evolve(stored.listed, meta=shown), "\n".join(body).strip("\n"))


def _told_of_line(line: str, is_compared: bool) -> str:
    """The line without the sentences that tell a reader what to do."""
    if not _is_untold(line, is_compared):
        return line
    said, before = list[str](), ""
    for each in statements(line):
        if not _is_untold(each, is_compared) and not (before.endswith(":") and _is_untold(before, is_compared)):
            said.append(each)
        before = each
    kept = " ".join(said)
    mark = line[: len(line) - len(line.lstrip(" \t-*+>"))]
    return f"{mark}{kept}" if kept else ""


def _is_untold(text: str, is_compared: bool) -> bool:
    return is_directive(text) or (not is_compared and bool(typed_tokens(text)))


def _without_empty_lists(lines: list[str]) -> list[str]:
    """Without names of lists of which no item is left."""
    kept: list[str] = []
    for at, line in enumerate(lines):
        following = next((each for each in lines[at + 1 :] if each.strip()), "")
        if line.rstrip().endswith(":") and not following.lstrip().startswith(("-", "*", "+", "`", ">")):
            continue
        kept.append(line)
    return kept
