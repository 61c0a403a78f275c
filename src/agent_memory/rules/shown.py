"""Which notes a prompt lists first and shows in full: those that a session is about, and those in the findings of an
analysis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from agent_memory.note.note import GLOBAL_SCOPE, Listed, Meta, StoredEntry, TierList, newest_first, without_secret
from agent_memory.note.tagging import Standing, TagVocabulary, tag_counts
from agent_memory.rules.drafts import has_secret
from agent_memory.rules.findings import Analysis
from agent_memory.rules.similarity import about_terms
from agent_memory.session.history import History, Role
from agent_memory.text.salience import content_sequence

MOST_SHOWN = 12
"""More notes in full would bury the transcript."""

_SHARE_OF_BEST = 0.35
"""A note much less related than the best one is only listed in the catalog."""


_SAME_SESSION = 1_000.0
_WIDELY_USED, _FEW_ENTRIES = 0.5, 10
"""A word in more than this share of the notes tells nothing about any of them, unless there are few notes."""


def rank_related(
    window: History, live: Sequence[Listed], scope: str, session_id: str | None = None
) -> Mapping[str, float]:
    """Returns the ids of notes that have anything to do with the window, among those that `visible` lets through, each
    with a relatedness above 0: most related first, then newest.

    Notes from the same session come first of all: a session that has grown corrects them. Others count by the words
    they share with what was said and done, rare words more.
    """
    known = visible(live, scope)
    said = Counter(word for turn in window.turns if turn.role is not Role.TOOL for word in content_sequence(turn.text))
    calls = (f"{call.brief} {call.path or ''}" for turn in window.turns for call in turn.tool_calls)
    said.update(word for text in (*calls, window.title or "") for word in content_sequence(text))

    about = {each.meta.id: about_terms(each.meta) for each in known}
    spread = Counter(word for terms in about.values() for word in terms & said.keys())
    most = len(known) if len(known) < _FEW_ENTRIES else _WIDELY_USED * len(known)
    weights = {
        word: math.log(1 + len(known) / times) * (1 + math.log(said[word]))
        for word, times in spread.items()
        if times <= most
    }
    sums = {id: math.fsum(weights[word] for word in terms & weights.keys()) for id, terms in about.items()}
    scores = {id: total / math.sqrt(len(about[id])) for id, total in sums.items() if total}
    for each in known:
        if session_id is not None and session_id in each.meta.thread_ids:
            scores[each.meta.id] = scores.get(each.meta.id, 0.0) + _SAME_SESSION
    metas = (each.meta for each in known if each.meta.id in scores)
    best_first = sorted(metas, key=lambda meta: (-scores[meta.id], -meta.updated_at_ms, meta.id))
    return {meta.id: scores[meta.id] for meta in best_first}


def visible(live: Sequence[Listed], scope: str) -> Sequence[Listed]:
    """Returns the notes that an agent may know of: of the scope and of `global`, and not secret."""
    return without_secret([each for each in live if each.meta.scope in (scope, GLOBAL_SCOPE)])


def catalog_of(related: Iterable[str], live: Sequence[Listed], scope: str) -> Sequence[Listed]:
    """Returns all visible notes: the related ones in their order, then the newest."""
    known = visible(live, scope)
    by_id = {each.meta.id: each for each in known}
    ordered = dict.fromkeys((*related, *(each.meta.id for each in newest_first(known))))
    return tuple(by_id[id] for id in ordered)


def ids_to_show(related: Mapping[str, float]) -> tuple[str, ...]:
    """Returns the ids worth reading in full, best first: all notes of the same session, since what it repeats must not
    be stored again, and others that are not far behind the most related, up to `MOST_SHOWN`."""
    own = tuple(id for id, score in related.items() if score >= _SAME_SESSION)
    best = max((score for score in related.values() if score < _SAME_SESSION), default=0.0)
    near = tuple(id for id, score in related.items() if _SHARE_OF_BEST * best <= score < _SAME_SESSION)
    return (*own, *near[: max(MOST_SHOWN - len(own), 0)])


def choose_shown(stored: Iterable[StoredEntry], max_chars: int) -> tuple[StoredEntry, ...]:
    """Returns the notes, in their order, that fit the room whole; one that is too long is skipped, never cut (P11).

    A note that is secret or holds a secret is never shown: the agent would not see all of it.
    """
    chosen: list[StoredEntry] = []
    room = max_chars
    for each in stored:
        may_be_shown = not each.meta.is_secret and not each.listed.conflicted
        chars = note_chars(each.meta, len(each.body))
        if chars <= room and may_be_shown and not has_secret(each.body):
            chosen.append(each)
            room -= chars
    return tuple(chosen)


def note_chars(meta: Meta, body_chars: int) -> int:
    """Returns how many characters a note may take in a prompt that shows it in full."""
    texts = (meta.title, meta.description, meta.scope, *meta.tags)
    # A prompt puts at most 320 characters around a note that it shows in full: fences, dates, names of fields.
    return 320 + sum(map(len, texts)) + len(meta.tags) + body_chars


def tag_vocabulary(live: Sequence[Listed], vocabulary: TagVocabulary | None = None, most: int = 100) -> tuple[str, ...]:
    """Returns the tags to choose from: those that a person has accepted, then others in use; most used first, then by
    name."""
    known = vocabulary or TagVocabulary()
    counts = tag_counts((known.current(each.meta.tags) for each in live), known)
    best_first = sorted(counts, key=lambda tag: (known.standing(tag) is not Standing.ACCEPTED, -counts[tag], tag))
    return tuple(best_first[:most])


_PAIR = 2


def most_urgent_ids(analysis: Analysis, live: Sequence[Listed], max_chars: int, tiers: TierList) -> tuple[str, ...]:
    """Returns the ids to show in full within `max_chars` characters of prompt, most urgent first.

    All that may be shown, if they fit. Else the notes in findings, worst first, each group whole before any in part (a
    part has at least two notes, the winner among them: one side of a duplicate says nothing); then hot and warm ones
    while there is room. Never secret or conflicted ones, and none for a finding of which every note is pinned.
    """
    showable = [each.meta for each in live if not (each.conflicted or each.meta.is_secret)]
    sizes = {meta.id: note_chars(meta, analysis.body_chars.get(meta.id, 0)) for meta in showable}
    pinned = frozenset(meta.id for meta in showable if meta.pinned)
    tiered = [(id,) for id in (*tiers.hot, *tiers.warm) if id in sizes]
    # Only findings of which all notes may be shown, and one of them has changed.
    urgent = [
        each.ids for each in analysis.findings if sizes.keys() >= set(each.ids) and not pinned.issuperset(each.ids)
    ]
    if sum(sizes.values()) <= max_chars:
        return tuple(dict.fromkeys((*chain(*urgent, *tiered), *sorted(sizes))))
    taken: dict[str, None] = {}

    def take(group: Sequence[str]) -> bool:
        nonlocal max_chars
        missing = [id for id in group if id not in taken]
        needed = sum(sizes[id] for id in missing)
        if needed > max_chars:
            return False
        taken.update(dict.fromkeys(missing))
        max_chars -= needed
        return True

    for group in urgent:
        take(group)
    for group in urgent:
        any(take(group[:size]) for size in range(len(group) - 1, _PAIR - 1, -1))
    for group in tiered:
        take(group)
    return tuple(taken)
