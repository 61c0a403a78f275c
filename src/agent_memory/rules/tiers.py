"""Tiers: how strongly a note competes, how near to an agent it may come, and what fits."""

from __future__ import annotations

import re
from _blake2 import blake2b
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from agent_memory.caller import Caller
from agent_memory.note.note import (
    GLOBAL_SCOPE,
    Importance,
    Kind,
    Listed,
    Meta,
    Origin,
    StoredEntry,
    Tier,
    TierList,
    Usage,
)
from agent_memory.rules.change import Dropped, SectionBudget
from agent_memory.text.instants import DAY_MS, has_passed
from agent_memory.text.markdown import MAX_TITLE_CHARS, find_code
from agent_memory.text.plain_text import one_line
from agent_memory.text.salience import ALLOWED, is_directive, typed_tokens, whole_statements

if TYPE_CHECKING:  # the prompt hook scores notes, but plans nothing
    from agent_memory.rules.plan import DefragPlan

HEADING_CHARS = 100
"""Characters written around a note that is shown whole, besides its title: heading mark, origin, date, blank lines."""

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
    """One live note as tiering knows it."""

    meta: Meta
    body_chars: int
    best: Tier
    """The nearest tier that it may have."""
    score: float

    @property
    def whole_chars(self) -> int:
        """Returns about how many characters the note takes where it is shown whole."""
        return len(self.meta.title) + HEADING_CHARS + self.body_chars


@frozen
class ScoreParts:
    """The four factors of a score, and the bonus of a pin."""

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
    """Returns importance (1, 2, 4, 8) x use x recency x origin, plus 1,000 for a pin; always above 0.

    Use: 1, and 0.2 more for each doubling of the reads, up to 8. Recency: 0.85 for each whole 30 days since the last
    read or change, down to 8 steps; always 1 for what a person prefers or has agreed on (`is_ageless`). Origin: the
    person 1, an agent 0.8, anything else 0.7. No single step of use or time adds a quarter, so that a score does not
    swing from run to run.
    """
    return score_parts(meta, usage, now_ms).total


def score_parts(meta: Meta, usage: Usage, now_ms: int) -> ScoreParts:
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
    """Returns whether the note holds until it is replaced: what a person prefers or has agreed on. Every session is
    shown such a note, so nobody opens it, and its reads would never show that it is of use."""
    return meta.kind in (Kind.PREFERENCE, Kind.CONVENTION) and (meta.origin is Origin.USER or meta.is_vouched_for)


def tier_facts(meta: Meta, body_chars: int, usage: Usage, now_ms: int) -> TierFacts:
    return TierFacts(meta, body_chars, best_now(meta, now_ms), score(meta, usage, now_ms))


def best_now(meta: Meta, now_ms: int) -> Tier:
    """Returns the nearest tier that a live note may have. An expired note is cold, unless a person pinned it."""
    has_expired = has_passed(meta.expires_at_ms, now_ms)
    return Tier.COLD if has_expired and not meta.pinned else meta.best_tier


# -- eligibility ------------------------------------------------------------------------------------------------------
# How near to an agent a note may come unasked, and how much of it (P19).


_SENTENCE = re.compile(r"\s*(?:[A-Z¿]|[^\x00-\x7f]).{12,}[\w`)][.!?。？！]\s*")
"""A line in a block of code that is prose."""
_GAP = "[…]"
_GOES_ON = ("…", "...", ")", "]", "'", '"', "’", "”")
"""After one of these, small letters belong to the sentence before."""


def why_not_nearer(meta: Meta) -> str:
    """Returns the reason why a note may not be hot, in words; empty where it may."""
    if meta.best_tier is Tier.HOT:
        return ""
    if meta.withheld:
        return "nobody has approved it yet (`memory review`)"
    if meta.is_secret:
        return "it is secret"
    if meta.origin is Origin.EXTERNAL:
        return "only a tool, a page or a file said it; `memory promote` vouches for it"
    return "an agent concluded it, and only what you said is shown whole; `memory promote` vouches for it"


def told_of(stored: StoredEntry) -> StoredEntry | None:
    """Returns the part of a note that may be told unasked; None for nothing.

    A person's words are told as they are. Of what an agent concluded, sentences that tell somebody to do something are
    left out, except for those that were compared with the session and `cleared`: the note alone does not show whether a
    person gave that order. Where no turn of a session is cited, there was nothing to compare the note with, so anything that
    somebody might type is left out too, in whatever language, and what a person is said to have allowed or confirmed.
    """
    meta = stored.meta
    best = meta.best_tier
    if best is not Tier.WARM:
        return None if best is Tier.COLD else stored
    is_compared = meta.cites_a_turn
    code = [range(start, end) for start, end in find_code(stored.body).fences]
    lines, is_whole, at = list[str](), True, 0
    for line in stored.body.split("\n"):
        is_code = any(at in fence for fence in code) and is_compared and not _SENTENCE.fullmatch(line)
        told = line if is_code else _told_of_line(line, meta)
        is_whole = is_whole and told == line
        lines += [told] if told or not line else []
        at += len(line) + 1
    title = meta.title if _told_of_line(meta.title, meta) == meta.title else ""
    description = _told_of_line(meta.description, meta)
    if not title and lines and lines[0][:1].islower():  # the order continues there
        lines, is_whole = lines[1:], False
    if not title and description[:1].islower():
        description = ""
    body = _without_empty_lists(lines)
    if (
        not any(line.strip() and not line.rstrip().endswith(":") for line in body)
        and not (is_whole and title)
        and not description
    ):
        return None
    if not is_whole:
        body = [*body, "", f"(What may be an order is left out: `memory read {meta.id}`.)"]
    shown = evolve(meta, title=title or meta.kind.value.capitalize(), description=description)
    text = "\n".join(body).strip("\n")
    return StoredEntry(evolve(stored.listed, meta=shown), text if is_whole else re.sub(r"\n{3,}", "\n\n", text))


def sentence_digest(sentence: str) -> str:
    """Returns what stands for a sentence in `Meta.cleared`: the same wherever its links lead."""
    words = " ".join(re.sub(r"\[\[[\w.:-]+", "[[", sentence).split())
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def title_for(caller: Caller, listed: Listed) -> str:
    """Returns the title of a note that the caller did not ask for, on one line: an agent is told neither an order nor what
    a stranger said (P19)."""
    stored = StoredEntry(listed, "")
    told = told_of(stored) if caller.is_agent else stored
    return f"({listed.meta.origin})" if told is None else one_line(told.meta.title, MAX_TITLE_CHARS)


def _told_of_line(line: str, meta: Meta) -> str:
    """Returns the line with `[…]` in place of the sentences that tell a reader what to do; empty if nothing else is in
    it."""
    if not _is_untold(line, meta):
        return line
    said, before = list[str](), ""
    for each in whole_statements(line):
        goes_on = before.endswith(_GOES_ON) and each[:1].islower() and said[-1:] == [_GAP]
        if goes_on or _is_untold(each, meta) or (before.endswith((":", "?")) and _is_untold(before, meta)):
            said += [] if said[-1:] == [_GAP] else [_GAP]
        else:
            said.append(each)
        before = each
    if _GAP not in said:
        return line
    mark = line[: len(line) - len(line.lstrip(" \t-*+>"))]
    return f"{mark}{' '.join(said)}" if said != [_GAP] else ""


def _is_untold(text: str, meta: Meta) -> bool:
    if not meta.cites_a_turn:
        return is_directive(text) or bool(typed_tokens(text) or ALLOWED.search(text))
    return is_directive(text) and sentence_digest(text) not in meta.cleared


def _without_empty_lists(lines: list[str]) -> list[str]:
    """Returns the text without headings of lists that have no items left."""
    kept: list[str] = []
    for at, line in enumerate(lines):
        following = next((each for each in lines[at + 1 :] if each.strip()), "")
        if line.rstrip().endswith(":") and not following.lstrip().startswith(("-", "*", "+", "`", ">")):
            continue
        kept.append(line)
    return kept


# -- from the tiers that somebody proposes to the tiers that hold -----------------------------------------------------


@define
class SectionRoom:
    """How much of a budget is taken, in each scope's section.

    Pins are always in. A scope whose pins alone are over the budget takes nothing else, and does not keep global notes
    out of the other sections.
    """

    limit: int
    _taken: Counter[str] = field(factory=Counter[str])
    _pinned: Counter[str] = field(factory=Counter[str])

    def takes(self, scope: str, size: int, *, pinned: bool = False) -> bool:
        """Adds a note of this scope and size if it is pinned or fits. Returns whether it is in."""
        taken = self._taken + Counter({scope: size})
        sections = {scope}
        if scope == GLOBAL_SCOPE:  # in every section, except those that their own pins have filled
            sections.update(each for each in taken if not self._is_over(self._pinned, each))
        is_in = pinned or not any(self._is_over(taken, each) for each in sections)
        if is_in:
            self._taken[scope] += size
            self._pinned[scope] += size if pinned else 0
        return is_in

    def overfull_by_pins(self) -> list[str]:
        """Returns the scopes whose pins, with the global ones, are over the budget."""
        return sorted(each for each, size in self._pinned.items() if size and self._is_over(self._pinned, each))

    def _is_over(self, sizes: Counter[str], scope: str) -> bool:
        own = 0 if scope == GLOBAL_SCOPE else sizes[scope]
        return sizes[GLOBAL_SCOPE] + own > self.limit


@frozen
class Resolved:
    """The resulting tiers, and the outcome of the proposal."""

    tiers: TierList
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()


def resolve_tiers(
    proposed: TierList | None, current: TierList, facts: Mapping[str, TierFacts], budget: SectionBudget
) -> Resolved:
    """Returns the tier list to be kept. `facts`, by id, are those of the live notes that either list names, that are
    pinned, or that a person vouches for; others make no difference.

    Pinned notes that may be hot are hot, and always fit. Then come those proposed as hot, as they are proposed. A hot
    note that the proposal does not name stays while there is room, so that one odd reply moves nothing out. A promoted
    note that has been in no list is hot if there is room, and stays at least warm while there is. Proposing the result
    changes nothing.
    """
    known, gone = _allowed(current, facts, named=False)
    wish, refused = (known, gone) if proposed is None else _allowed(proposed, facts, named=True)
    vouched = {id for id, each in facts.items() if each.meta.is_vouched_for}
    new = vouched.difference(current.hot, current.warm, wish.warm)
    promoted = [id for id in new if facts[id].best is Tier.HOT]
    promoted.sort(key=lambda id: (-facts[id].score, id))
    staying = [id for id in known.hot if id not in wish.warm]
    staying.sort(key=lambda id: (facts[id].meta.is_vouched_for, facts[id].score, id), reverse=True)
    wanted = dict.fromkeys((*(() if proposed is None else wish.hot), *staying, *promoted))

    room = SectionRoom(budget.hot_chars)
    pins = [id for id, each in facts.items() if each.meta.pinned and each.best is Tier.HOT]
    pins.sort(key=lambda id: ([*wish.hot, id].index(id), facts[id].meta.created_at_ms, id))
    members = dict.fromkeys(pins)
    for id in pins:
        room.takes(facts[id].meta.scope, facts[id].whole_chars, pinned=True)
    for id in wanted:
        if id not in members and room.takes(facts[id].meta.scope, facts[id].whole_chars):
            members[id] = None
    leaving = [id for id in dict.fromkeys((*wanted, *known.hot)) if id not in members]
    waiting = [id for id in known.warm if id in wish.warm or id in leaving or id in vouched]
    lines = dict.fromkeys((*(id for id in leaving if id not in waiting), *waiting, *wish.warm))
    warm = [id for id in lines if id not in members]
    warm_room = SectionRoom(budget.warm_lines)
    # Promoted notes find a line first, and of these the newcomers last.
    by_rank = sorted(warm, key=lambda id: (id not in vouched, id in promoted))
    with_line = {id for id in by_rank if warm_room.takes(facts[id].meta.scope, 1)}
    for id in by_rank:  # a promoted note without a line is hot if there is room
        is_left = id in vouched and id not in with_line and facts[id].best is Tier.HOT
        if is_left and room.takes(facts[id].meta.scope, facts[id].whole_chars):
            members[id] = None
    # Who stays keeps its place; then new pins and those proposed.
    hot = dict.fromkeys(id for id in (*known.hot, *pins, *wanted, *by_rank) if id in members)

    told = {each.subject for each in refused}
    return Resolved(
        TierList(tuple(hot), tuple(id for id in warm if id in with_line)),
        (*refused, *(each for each in gone if each.subject not in told)),
        tuple(
            f"The pinned notes of {'all places' if scope == GLOBAL_SCOPE else scope} take more than {room.limit:,} characters; "
            "they are all shown, and no other note is shown whole"
            for scope in room.overfull_by_pins()
        ),
    )


def _allowed(tiers: TierList, facts: Mapping[str, TierFacts], *, named: bool) -> tuple[TierList, tuple[Dropped, ...]]:
    """Returns the notes in a list that are live and may be there. Reasons are given for what was named in this
    proposal, and for what may not be shown any more; a note that is simply gone needs none."""
    hot, warm, dropped = list[str](), list[str](), list[Dropped]()
    for id in dict.fromkeys((*tiers.hot, *tiers.warm)):
        if id not in facts:
            dropped += [Dropped(id, ("it is not a live note",))] if named else []
        elif facts[id].best is Tier.COLD:
            meta = facts[id].meta
            dropped.append(Dropped(id, (why_not_nearer(meta) if meta.best_tier is Tier.COLD else "it has expired",)))
        elif id in tiers.hot and facts[id].best is Tier.HOT:
            hot.append(id)
        else:
            warm.append(id)
            why = f"it may be warm but not hot: {why_not_nearer(facts[id].meta)}"
            dropped += [Dropped(id, (why,))] if id in tiers.hot else []
    return TierList(tuple(hot), tuple(warm)), tuple(dropped)


def tiers_after(tiers: TierList, plan: DefragPlan) -> TierList:
    """Returns the list in which the new notes of a merge or split stand in the place of the first of their sources, in
    the best tier of any of them; archived notes are gone. No id occurs twice."""
    heirs = {change.id: group.new_ids for group in plan.actions for change in group.changes if change.act == "retire"}
    hot, warm = (dict.fromkeys(heir for id in ids for heir in heirs.get(id, (id,))) for ids in (tiers.hot, tiers.warm))
    return TierList(tuple(hot), tuple(id for id in warm if id not in hot))
