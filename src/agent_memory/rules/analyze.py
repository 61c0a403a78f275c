"""Analyses all notes of a store in one pass: first the features of each note, then the findings about single notes and
about groups of notes (contradictions, duplicates, near duplicates, overlaps)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations

from attrs import frozen

from agent_memory.note.note import GLOBAL_SCOPE, Kind, Origin, StoredEntry, last_read
from agent_memory.redaction.redact import stored_line
from agent_memory.rules.features import (
    QUESTIONS,
    AnalysisFacts,
    Assertion,
    Claim,
    Features,
    across_scopes,
    features_of,
    has_digits,
    in_precedence,
    slices,
    stars,
)
from agent_memory.rules.findings import WORST_FIRST, Analysis, Finding, FindingKind
from agent_memory.text.instants import DAY_MS, day_of, has_passed
from agent_memory.text.plain_text import counted, first_few


def analyze(entries: Iterable[StoredEntry], facts: AnalysisFacts) -> Analysis:
    """Returns every finding about the live notes, worst first, and the characters of each body.

    Takes the notes one at a time and keeps no body, so a generator will do. Their order makes no difference. Of two
    files with one id the first counts. Time and memory grow with the number and length of the notes, about 10 kB each.
    Reasons hold no secret and quote nothing of a secret note; secret notes are analysed like all others.
    """
    return analyze_features(map(features_of, entries), facts)


def analyze_features(features: Iterable[Features], facts: AnalysisFacts) -> Analysis:
    """Returns the findings of `analyze` from features that have been computed already."""
    by_id: dict[str, Features] = {}
    for each in features:
        by_id.setdefault(each.id, each)
    live = [by_id[id] for id in sorted(by_id)]
    lasting = [each for each in live if not has_passed(each.meta.expires_at_ms, facts.now_ms)]
    conflicts = [*_value_conflicts(lasting), *_denial_conflicts(lasting)]
    found = chain(
        contradictions(conflicts),
        dangling_links(live, facts.taken_ids),
        duplicates(live),
        likenesses(live, {frozenset((each.one.id, each.other.id)) for each in conflicts}),
        orphans(live, facts),
        *(found_alone(each, facts) for each in live),
    )
    worst_first = sorted(found, key=lambda each: (WORST_FIRST[each.kind], -each.score, each.ids))
    return Analysis(tuple(worst_first), {each.id: each.body_chars for each in live})


def contradicted_in(notes: Sequence[StoredEntry]) -> dict[str, str]:
    """Returns, for each of these notes that another one contradicts and outranks, the id of that other note."""
    return {id: each.ids[0] for each in reversed(contradictions_among(notes)) for id in each.ids[1:]}


def contradictions_among(notes: Sequence[StoredEntry]) -> tuple[Finding, ...]:
    """Returns the contradictions among these notes, none of which has expired."""
    return analyze(notes, AnalysisFacts(0)).of_kind(FindingKind.CONTRADICTION) if len(notes) > 1 else ()


ORPHAN_DAYS = 30
"""Days a new note has to be read, tagged or linked."""
MOST_LINES = 40
"""Lines of a note that are not blank; a line of fenced code counts half."""
MOST_CHARS = 4_000
"""Characters of a note; those in fenced code count half."""


# -- of one entry -----------------------------------------------------------------------------------------------------


def found_alone(entry: Features, facts: AnalysisFacts) -> Iterator[Finding]:
    """Yields the findings about one note by itself: it has expired, it is much longer than one subject needs, or it was
    neither read nor changed for `stale_days` (never said of a pinned note)."""
    meta = entry.meta
    if has_passed(meta.expires_at_ms, facts.now_ms):
        score = _aged(facts.now_ms - meta.expires_at_ms, 30)
        yield Finding(FindingKind.EXPIRED, (meta.id,), f"expired {day_of(meta.expires_at_ms)}", score)
    lines = entry.body_lines - entry.code_lines / 2
    chars = entry.body_chars - entry.code_chars / 2
    if lines > MOST_LINES or chars > MOST_CHARS:
        of_code = f" ({entry.code_lines} of the lines are code, which counts half)" if entry.code_lines else ""
        excess = max(lines / MOST_LINES, chars / MOST_CHARS)
        reason = (
            f"{counted(entry.body_lines, 'line')} and {entry.body_chars:,} characters{of_code}; "
            f"about {MOST_LINES} lines and {MOST_CHARS:,} characters are enough for one subject"
        )
        yield Finding(FindingKind.OVERSIZED, (meta.id,), reason, round(1 - 1 / excess, 4))
    read_ms = last_read(meta, facts.usage)
    age_ms = facts.now_ms - max(meta.updated_at_ms, meta.created_at_ms, read_ms or 0)
    if age_ms >= facts.stale_days * DAY_MS and not meta.pinned and meta.id not in facts.hot_or_new:
        how = "never read" if read_ms is None else f"last read {day_of(read_ms)}"
        days = f"{age_ms // DAY_MS:,} days, stale from {facts.stale_days} on"
        reason = f"{how} and not changed since {day_of(meta.updated_at_ms)}: {days}"
        yield Finding(FindingKind.STALE, (meta.id,), reason, _aged(age_ms, facts.stale_days))


def _aged(age_ms: int, half_days: int) -> float:
    """Returns a number that rises with age from 0 towards 1, and is one half at `half_days`."""
    return round(age_ms / (age_ms + half_days * DAY_MS), 4) if age_ms > 0 else 0.0


# -- links ------------------------------------------------------------------------------------------------------------


def dangling_links(live: Sequence[Features], taken_ids: Container[object]) -> Iterator[Finding]:
    """Returns findings for links to ids that no live or archived note has, not even as an alias. `taken_ids` are
    casefolded."""
    bearers = _bearers(live)
    for each in live:
        gone = [id for id in each.links if id.casefold() not in bearers and id.casefold() not in taken_ids]
        if gone:
            leads = counted(len(gone), "link leads", "links lead")
            reason = f"{leads} to no note: {first_few(gone, 5)}"
            yield Finding(FindingKind.DANGLING_LINK, (each.id,), reason, round(1 - 1 / (1 + len(gone)), 4))


def orphans(live: Sequence[Features], facts: AnalysisFacts) -> Iterator[Finding]:
    """Yields a finding for each note to which nothing leads: see `FindingKind.ORPHAN`."""
    bearers = _bearers(live)
    reached = {target for each in live for id in each.links if (target := bearers.get(id.casefold())) != each.id}
    times = Counter(tag for each in live for tag in set(each.meta.tags))
    for each in live:
        meta, days = each.meta, (facts.now_ms - each.meta.created_at_ms) // DAY_MS
        is_old = meta.created_at_ms <= facts.now_ms - ORPHAN_DAYS * DAY_MS
        if not is_old or meta.pinned or each.links or meta.id in reached or meta.id in facts.hot_or_new:
            continue
        if all(times[tag] == 1 for tag in meta.tags) and last_read(meta, facts.usage) is None:
            reason = f"no link, no tag in common with another note, and never read in {days:,} days"
            yield Finding(FindingKind.ORPHAN, (meta.id,), reason, round(1 - ORPHAN_DAYS / (ORPHAN_DAYS + days), 4))


def _bearers(live: Sequence[Features]) -> Mapping[str, str]:
    """Returns the ids of notes by their ids and aliases, casefolded. An id wins over an alias; of several, the last
    wins."""
    aliases = {alias.casefold(): each.id for each in live for alias in each.meta.aliases}
    return aliases | {each.id.casefold(): each.id for each in live}


# -- contradictions -------------------------------------------------------------------------------------------------


_FEW_TERMS = 3
"""A statement with fewer content words does not say enough about its subject: then the titles must."""
_SAME_TITLE = 0.6
"""The share of the words of titles and statements that both notes must have in that case."""
_MOST_VALUES = 3
"""A thing with more values than this in a store has more than one value at a time."""
_MOST_OF_ONE_FRAME = 40
"""A sentence that occurs in more notes than this says nothing about any of them."""
_NOTHING = ""
"""Stands for the words of a statement that consists of its value alone."""
_MOST_CHARS = 80


@frozen
class Conflict:
    """Two notes, and the statements in which they contradict each other."""

    one: Features
    other: Features
    slot: str
    """The kind of value (`features.Claim`), or `denial`."""
    said_by_one: str
    said_by_other: str


_Said = tuple[Features, Claim]


def _value_conflicts(entries: Sequence[Features]) -> Iterator[Conflict]:
    """Returns pairs that give different values for what is, by its words, the same thing."""
    by_slot: dict[tuple[str, int], list[_Said]] = defaultdict(list)
    for each in entries:
        for claim in each.claims:
            by_slot[claim.slot, len(claim.values)].append((each, claim))
    for (slot, _), said in by_slot.items():
        values: dict[tuple[str, frozenset[str]], set[tuple[str, ...]]] = defaultdict(set)
        for by, claim in said:
            values[by.scope, claim.frame].add(claim.values)
        yield from _in_slot(slot, [each for each in said if len(values[each[0].scope, each[1].frame]) <= _MOST_VALUES])


def _denial_conflicts(entries: Sequence[Features]) -> Iterator[Conflict]:
    """Returns pairs of which one affirms what the other denies, word for word."""
    affirming: dict[tuple[str, ...], list[Features]] = defaultdict(list)
    denying: dict[tuple[str, ...], list[tuple[Features, Assertion]]] = defaultdict(list)
    for each in entries:
        for said in each.assertions:
            if said.denied:
                denying[said.frame].append((each, said))
            else:
                affirming[said.frame].append(each)
    for words, deniers in denying.items():
        frame, affirmers = frozenset(words), affirming.get(words, ())
        same_title = 0.0 if len(frame) >= _FEW_TERMS else _SAME_TITLE
        for one in affirmers if len(affirmers) + len(deniers) <= _MOST_OF_ONE_FRAME else ():
            for other, said in deniers:
                if _comparable(one, other) and _one_subject(one, other, frame, frame, same_title):
                    yield Conflict(one, other, "denial", "", said.snippet)


def _in_slot(slot: str, said: Sequence[_Said]) -> Iterator[Conflict]:
    """Compares claims whose statements share the rarest word of the shorter one; a claim without words is compared with
    all others."""
    spread = Counter(term for _, claim in said for term in claim.frame)
    question = QUESTIONS.get(slot)
    repeated = question.about if question and question.exclusive else frozenset[str]()
    ordered = sorted(said, key=lambda each: (len(each[1].frame), each[0].id, each[1].values))
    holders: dict[str, list[_Said]] = defaultdict(list)
    found: list[list[Conflict]] = []
    for by, claim in reversed(ordered):  # so that the index holds those with as many words or more
        rarest = min(claim.frame, key=lambda term: (spread[term], term), default=_NOTHING)
        others = reversed(holders[rarest][-300:])
        conflicting = (each for each in others if _conflict((by, claim), each, repeated))
        found.append([Conflict(by, other, slot, claim.snippet, its.snippet) for other, its in conflicting])
        for term in (*claim.frame, _NOTHING):
            holders[term].append((by, claim))
    yield from chain.from_iterable(reversed(found))


def _conflict(one: _Said, other: _Said, repeated: frozenset[str]) -> bool:
    """Returns whether two claims of one slot conflict. `repeated` are words that only restate the slot."""
    (by, claim), (by_other, its) = one, other
    # If more than half of several values differ, the statements are about different occasions.
    differing = sum(mine != theirs for mine, theirs in zip(claim.values, its.values, strict=True))
    if claim.dates != its.dates or not 0 < differing <= max(1, len(claim.values) // 2):
        return False
    if not _comparable(by, by_other):
        return False
    shorter, longer = claim.frame, its.frame
    if not shorter <= longer or not longer - shorter <= by.about:
        return False
    if shorter != longer and (claim.conditional or its.conditional):
        return False
    same_title = 0.0 if len(shorter) >= _FEW_TERMS or claim.exclusive else _SAME_TITLE
    return _one_subject(by, by_other, shorter | repeated, longer | repeated, same_title)


def _comparable(one: Features, other: Features) -> bool:
    """Returns whether both are meant to hold at the same place and time."""
    if one.id == other.id or not one.meta.shares_a_place_with(other.meta):
        return False
    metas = (one.meta, other.meta)
    if any(not set(new.supersedes).isdisjoint(old.all_ids) for new, old in permutations(metas)):
        return False
    if any(each.valid_until_ms is not None for each in metas):
        return False
    # A repository's own rule is an exception to a global one, not its contradiction.
    is_rule = any(each.kind in (Kind.PREFERENCE, Kind.CONVENTION) for each in metas)
    return one.scope == other.scope or not is_rule


def _one_subject(
    one: Features, other: Features, of_one: frozenset[str], of_other: frozenset[str], same_title: float
) -> bool:
    """Returns whether the titles allow that both are about one thing: not each of them has a word of its own, and
    `same_title` is the share of words that titles and statements have in common."""
    own = one.title - of_one - of_other - other.about
    foreign = other.title - of_one - of_other - one.about
    together = one.title | other.title | of_one | of_other
    common = (one.title | of_one) & (other.title | of_other)
    return not (own and foreign) and len(common) >= same_title * len(together)


# -- what is told of it -----------------------------------------------------------------------------------------------


def contradictions(conflicts: Iterable[Conflict]) -> Iterator[Finding]:
    """Yields the conflicts as groups around the note that should win, each with the statements of both sides."""
    by_pair: dict[frozenset[str], list[Conflict]] = defaultdict(list)
    for each in conflicts:
        by_pair[frozenset((each.one.id, each.other.id))].append(each)
    for group in stars((same[0].one, same[0].other) for same in by_pair.values()):
        winner = group[0]
        told = [_told(winner, by_pair[frozenset((winner.id, other.id))]) for other in group[1:]]
        across = across_scopes(winner, group[1])
        reason = f"{first_few(told, 3, '; ')}; {_why_first(winner, group[1])}{across}"
        yield Finding(FindingKind.CONTRADICTION, _ids(group), reason, 0.6 if across else 1.0)


def _told(winner: Features, conflicts: Sequence[Conflict]) -> str:
    conflict = min(conflicts, key=lambda each: (each.slot, each.said_by_one, each.said_by_other))
    is_first = conflict.one is winner
    other = conflict.other if is_first else conflict.one
    said, answered = conflict.said_by_one, conflict.said_by_other
    if conflict.slot == "denial":
        return f"{conflict.one.id} affirms what {conflict.other.id} denies{_quoted(conflict.other, answered, ': ')}"
    mine, theirs = (said, answered) if is_first else (answered, said)
    question = "different places" if conflict.slot == "place" else "different values"
    if conflict.slot in QUESTIONS:
        question = f"different answers to the question of the {conflict.slot}"
    return f"{question}{_quoted(winner, mine, f': {winner.id} says ')}{_quoted(other, theirs, f', {other.id} says ')}"


def _quoted(by: Features, snippet: str, lead: str) -> str:
    """Returns the statement, cut and without secrets; empty for a secret note."""
    return "" if by.meta.is_secret or not snippet else f"{lead}“{stored_line(snippet, _MOST_CHARS)}”"


def _why_first(first: Features, second: Features) -> str:
    if first.meta.is_vouched_for != second.meta.is_vouched_for:
        return f"{first.id} was pinned or promoted"
    if second.meta.origin is Origin.EXTERNAL and first.meta.origin is not Origin.EXTERNAL:
        return f"{second.id} comes from outside"
    if first.meta.since_ms != second.meta.since_ms:
        return f"{first.id} is newer"
    return f"{first.id} is better sourced" if first.meta.origin is not second.meta.origin else "neither is newer"


# -- duplicates, near duplicates, overlaps --------------------------------------------------------------------------


NEAR = 0.75
"""The share of all their words that near duplicates have in common (Jaccard)."""
NEAR_SHORT = 0.85
"""The same for pairs with fewer than `_SHORT_TERMS` words together: there, one more word may change the meaning."""
CONTAINED = 0.8
"""The share of the smaller note's words that the larger one holds, for an overlap."""
CONTAINED_FAR = 0.9
"""The same where the larger note is `_FAR` times as large: it holds many words by chance."""

_SHORT_TERMS = 12
_FEWEST_TERMS = 4
_FEWEST_CONTAINED = 8
_FAR = 8
_MANY_PROBED = 5
"""A partner must share two of this many probed words: four in five of its words are the same."""
_MOST_ALIKE = 8
_ACROSS = 0.5
"""The score of a pair that cannot be merged is multiplied by this."""
_LIKENESS = "of the content words of title and body"


def duplicates(entries: Sequence[Features]) -> Iterator[Finding]:
    """Returns groups of notes whose bodies are equal but for white space and links, in one scope, or one global and one
    not."""
    for same in _by_body(entries):
        for scope, members in same.items():
            for group in slices(in_precedence(members)):
                reason = f"the bodies of {len(group)} notes are equal but for white space and links"
                yield Finding(FindingKind.DUPLICATE, _ids(group), reason, 1.0)
            if scope != GLOBAL_SCOPE and GLOBAL_SCOPE in same:
                pair = in_precedence((in_precedence(same[GLOBAL_SCOPE])[0], in_precedence(members)[0]))
                reason = f"the bodies are equal but for white space and links{across_scopes(*pair)}"
                yield Finding(FindingKind.DUPLICATE, _ids(pair), reason, _ACROSS)


def likenesses(entries: Sequence[Features], conflicting: Collection[frozenset[str]]) -> Iterator[Finding]:
    """Returns near duplicates and overlaps. `conflicting` are pairs of ids known to contradict each other; these are
    reported as contradictions instead. Of notes with one body in one scope only the first is compared with others."""
    later = {each for same in _by_body(entries) for members in same.values() for each in in_precedence(members)[1:]}
    found = [
        each
        for each in _alike([each for each in entries if each not in later])
        if each.one.digest != each.other.digest and frozenset((each.one.id, each.other.id)) not in conflicting
    ]
    near = {frozenset((each.one.id, each.other.id)): each for each in found if each.is_near}
    pairs = [(each.one, each.other) for each in near.values()]
    # Apart, so that a group that can be merged is not spoilt by a member that cannot.
    mergeable = [pair for pair in pairs if pair[0].scope == pair[1].scope]
    across = [pair for pair in pairs if pair[0].scope != pair[1].scope]
    for group in (*stars(mergeable), *stars(across)):
        first, others = group[0], group[1:]
        shares = [near[frozenset((first.id, other.id))].share for other in others]
        least, most = f"{min(shares):.0%}", f"{max(shares):.0%}"
        spread = most if least == most else f"{least} to {most}"
        apart = across_scopes(first, others[0])
        reason = f"{spread} {_LIKENESS} are in both{apart}"
        score = round(max(shares) * (_ACROSS if apart else 1.0), 4)
        yield Finding(FindingKind.NEAR_DUPLICATE, _ids(group), reason, score)
    for each in found:
        if not each.is_near:
            apart = across_scopes(each.one, each.other)
            reason = f"{each.share:.0%} {_LIKENESS} of {each.one.id} are in {each.other.id} too{apart}"
            ids = _ids(in_precedence((each.one, each.other)))
            yield Finding(FindingKind.OVERLAP, ids, reason, round(each.share * (_ACROSS if apart else 1.0), 4))


@frozen
class _Alike:
    """Two notes that say nearly the same thing, or one of which contains the other."""

    one: Features
    """The smaller note."""
    other: Features
    is_near: bool
    """True for near duplicates, false for an overlap."""
    share: float
    """For near duplicates, the share of all their words that both have (Jaccard); for an overlap, the share of the
    smaller note's words that the other has."""


def _by_body(entries: Sequence[Features]) -> list[dict[str, list[Features]]]:
    """Returns the notes by body and then by scope, for each body that several notes have."""
    by_body: dict[bytes, dict[str, list[Features]]] = defaultdict(lambda: defaultdict(list))
    for each in entries:
        if each.digest:
            by_body[each.digest][each.scope].append(each)
    return [same for same in by_body.values() if sum(map(len, same.values())) > 1]


def _ids(group: Sequence[Features]) -> tuple[str, ...]:
    return tuple(each.id for each in group)


# -- likeness ---------------------------------------------------------------------------------------------------------


def _alike(entries: Sequence[Features]) -> Iterator[_Alike]:
    """Yields every pair of near duplicates or overlapping notes; in a large cluster, each note with some of the others."""
    spread = Counter(chain.from_iterable(each.terms for each in entries))
    long_enough = (each for each in entries if len(each.terms) >= _FEWEST_TERMS)
    holders: dict[str, list[Features]] = defaultdict(list)
    # The longest first: each is compared with those that have as many words or more.
    for each in sorted(long_enough, key=lambda each: (len(each.terms), each.id), reverse=True):
        # The words of which a partner must have one, rarest first; ties are broken alphabetically.
        rarest_first = sorted(each.terms, key=lambda term: (spread[term], term))
        needed = rarest_first[: len(each.terms) - math.ceil(CONTAINED * len(each.terms)) + 1]
        probed = [term for term in needed if spread[term] > 1][:6]
        shared = Counter(other for term in probed for other in holders[term][-1_000:])
        fewest = 2 if len(probed) >= _MANY_PROBED else 1
        # Those that share most of the words first, then the nearest in length.
        likely = [
            other for other, times in shared.items() if times >= fewest and each.meta.shares_a_place_with(other.meta)
        ]
        likely.sort(key=lambda other: (-shared[other], len(other.terms), other.id))
        found = (_compared(each, other) for other in likely[:64])
        yield from islice((alike for alike in found if alike is not None), _MOST_ALIKE)
        for term in each.terms:
            if spread[term] > 1:
                holders[term].append(each)


def _compared(one: Features, other: Features) -> _Alike | None:
    mine, theirs = one.terms, other.terms
    common = len(mine & theirs)
    containment, together = common / len(mine), len(mine) + len(theirs) - common
    if containment < CONTAINED:
        return None
    jaccard = common / together
    if jaccard >= (NEAR if together >= _SHORT_TERMS else NEAR_SHORT):
        # Two notes that each name a number or code the other lacks are parallel statements about different things.
        differ_in_names = all(
            any(term.startswith("`") or has_digits(term) for term in own) for own in (mine - theirs, theirs - mine)
        )
        return None if differ_in_names else _Alike(one, other, True, jaccard)
    if len(mine) < _FEWEST_CONTAINED or len(one.about & other.about) < 2:  # a different subject
        return None
    kinds = one.meta.kind, other.meta.kind
    if Kind.HANDOFF in kinds and kinds[0] is not kinds[1]:
        return None  # a handoff repeats what the notes of its session say, and is gone in days
    is_held = len(theirs) < _FAR * len(mine) or containment >= CONTAINED_FAR
    return _Alike(one, other, False, containment) if is_held else None
