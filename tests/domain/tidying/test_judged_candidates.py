"""What is to be judged, and what was."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.findings import Analysis, Finding, FindingKind, Profile, candidates_of, finding_fingerprint
from agent_memory.domain.planning.shown import most_urgent_ids, note_chars
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity

IDS = tuple(f"id__{letter * 6}" for letter in "abcdefgh")
HASHES = {id: f"{place:064x}"[::-1] for place, id in enumerate(IDS)}
NEED_NO_JUDGEMENT = (FindingKind.EXPIRED, FindingKind.SURPLUS)

some_ids = st.frozensets(st.sampled_from(IDS))
others = st.lists(
    st.builds(
        Finding,
        st.sampled_from([each for each in FindingKind if each is not FindingKind.STALE]),
        st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True).map(tuple),
        st.sampled_from(["why", "because"]),
    )
).map(lambda found: sorted(found, key=lambda each: list(FindingKind).index(each.kind)))
aged = st.lists(st.sampled_from(IDS), unique=True).map(
    lambda ids: [Finding(FindingKind.STALE, (id,), "old") for id in ids]
)


@given(others, aged, some_ids, others)
def test_findings_are_told_apart_by_entries_and_kinds(
    found: list[Finding], aged: list[Finding], ids: frozenset[str], more: list[Finding]
) -> None:
    whole = (*found, *aged)
    analysis = Analysis(whole, {id: Profile(1, 1) for id in IDS})
    assert analysis.without(ids).findings == tuple(each for each in whole if ids.isdisjoint(each.ids))
    assert analysis.without(ids).profiles.keys() == set(IDS) - ids
    for kind in FindingKind:
        assert analysis.of_kind(kind) == tuple(each for each in whole if each.kind is kind)
    places = list(FindingKind)
    together = sorted((*found, *aged, *more), key=lambda each: places.index(each.kind))
    assert analysis.with_findings(more).findings == tuple(together)


@given(others, aged, some_ids, some_ids, st.data())
def test_nobody_is_asked_about_what_was_judged(
    found: list[Finding], aged: list[Finding], seen: frozenset[str], hidden: frozenset[str], data: st.DataObject
) -> None:
    by_key = {finding_fingerprint(each, HASHES): each for each in (*found, *aged)}
    judged = frozenset(key for key in by_key if data.draw(st.booleans())) | {"of another time"}
    candidates = candidates_of((*found, *aged), HASHES)
    new = {key: each for key, each in by_key.items() if key not in judged}
    assert candidates.any_new(judged) == any(each.kind not in NEED_NO_JUDGEMENT for each in new.values())
    old = [each for key, each in by_key.items() if key in judged]
    assert candidates.new_first(judged) == (*new.values(), *old)

    told = {key for key, each in by_key.items() if hidden.isdisjoint(each.ids)}
    whole = {key for key in told if seen.issuperset(by_key[key].ids)}
    after = whole | (judged & told) if whole - judged else told
    assert candidates.without(hidden).judged(seen, judged) == after


def test_a_finding_is_another_one_once_its_entry_is() -> None:
    finding = Finding(FindingKind.STALE, IDS[:1], "old")
    judged = frozenset({finding_fingerprint(finding, HASHES)})
    assert not candidates_of((finding,), HASHES).any_new(judged)
    assert candidates_of((finding,), {**HASHES, IDS[0]: "f" * 64}).any_new(judged)


metas = st.builds(
    Meta,
    st.just(""),
    st.text("ab", max_size=20),
    st.just(0),
    st.just(0),
    pinned=st.booleans(),
    tags=st.lists(st.sampled_from(["topic__a", "topic__bcd"]), max_size=2, unique=True).map(tuple),
    sensitivity=st.sampled_from([Sensitivity.NORMAL, Sensitivity.NORMAL, Sensitivity.SECRET]),
)


@given(
    others,
    aged,
    some_ids,
    st.lists(st.tuples(metas, st.integers(0, 900), st.sampled_from([False, False, True])), min_size=8, max_size=8),
    st.integers(0, 6_000),
    st.lists(st.sampled_from(IDS), unique=True, max_size=3).map(tuple),
)
def test_what_is_shown_is_what_has_room_worst_first(
    found: list[Finding],
    aged: list[Finding],
    judged: frozenset[str],
    notes: list[tuple[Meta, int, bool]],
    max_chars: int,
    hot: tuple[str, ...],
) -> None:
    live = [
        Listed(Meta(id, meta.title, 0, 0, tags=meta.tags, pinned=meta.pinned, sensitivity=meta.sensitivity), id, HASHES[id], conflicted=conflicted)
        for id, (meta, _, conflicted) in zip(IDS, notes, strict=True)
    ]  # fmt: skip
    profiles = {id: Profile(chars, 1) for id, (_, chars, _) in zip(IDS, notes, strict=True)}
    known = frozenset(finding_fingerprint(each, HASHES) for each in aged if judged.issuperset(each.ids))
    in_order = candidates_of((*found, *aged), HASHES).new_first(known)
    sizes = {each.meta.id: note_chars(StoredEntry(each, "b" * profiles[each.meta.id].body_chars)) for each in live}
    shown = most_urgent_ids(Analysis(in_order, profiles), live, max_chars, TierList(hot))
    assert shown == plainly_shown(list(in_order), live, sizes, max_chars, hot)


def plainly_shown(
    found: list[Finding], live: list[Listed], sizes: dict[str, int], max_chars: int, hot: tuple[str, ...]
) -> tuple[str, ...]:
    """What is shown, by definition."""
    free = {
        each.meta.id: each.meta.pinned
        for each in live
        if each.meta.sensitivity is not Sensitivity.SECRET and not each.conflicted
    }
    groups = [each.ids for each in found if all(id in free for id in each.ids) and not all(free[id] for id in each.ids)]
    parts = [[group[:size] for size in range(len(group) - 1, 1, -1)] for group in groups]
    marked: list[tuple[str, ...]] = [(id,) for id in hot if id in free]
    if sum(sizes[id] for id in free) <= max_chars:
        return tuple(dict.fromkeys((*(id for group in (*groups, *marked) for id in group), *sorted(free))))
    taken: list[str] = []
    in_turn: list[list[tuple[str, ...]]] = [*([each] for each in groups), *parts, *([each] for each in marked)]
    for choices in in_turn:
        for choice in choices:
            more = [id for id in choice if id not in taken]
            if sum(sizes[id] for id in (*taken, *more)) <= max_chars:
                taken += more
                break
    return tuple(taken)
