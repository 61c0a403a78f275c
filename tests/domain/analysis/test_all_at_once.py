"""What is seen of all entries at once is what a look at each would see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.domain.analysis.ages import expired, over_by, stale
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.analyze import analyze_compared
from agent_memory.domain.analysis.compared import Compared, comparison_key
from agent_memory.domain.analysis.connections import ORPHAN_DAYS
from agent_memory.domain.analysis.outline import Outline, Profile
from agent_memory.domain.analysis.outlines import NO_OUTLINES, OutlineColumns, Profiles
from agent_memory.domain.analysis.sizes import oversized
from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.entry_reads import reads_of
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS, iso_of
from analysed_notes import FACTS, NOON_MS
from packed_notes import packed

IDS = tuple(f"id__{letter * 6}" for letter in "aAbBcd")
STALE_MS = FACTS.stale_days * DAY_MS

outlines = st.builds(
    Outline,
    st.builds(Profile, st.integers(3_990, 4_020), st.integers(38, 44)),
    st.lists(st.sampled_from([*IDS, "id__gggggg"]), unique=True, max_size=2).map(tuple),
    st.integers(0, 3),
    st.integers(0, 30),
)
instants = st.sampled_from(
    [0, STALE_MS - 1, STALE_MS, STALE_MS + 1, ORPHAN_DAYS * DAY_MS, ORPHAN_DAYS * DAY_MS - 1]
) | (st.integers(0, 4 * STALE_MS))
metas = st.builds(
    Meta,
    st.sampled_from(IDS),
    st.just("t"),
    instants.map(lambda ms: NOON_MS - ms),
    instants.map(lambda ms: NOON_MS - ms),
    tags=st.lists(st.sampled_from(["topic__a", "topic__b", "topic__c"]), max_size=2).map(tuple),
    pinned=st.booleans(),
    used=st.integers(0, 1),
    expires_at_ms=st.sampled_from([None, 0, NOON_MS, NOON_MS + 1]),
    aliases=st.lists(st.sampled_from([*IDS, "id__gggggg"]), max_size=1).map(tuple),
)
stores = st.lists(metas, max_size=6, unique_by=lambda each: each.id).map(
    lambda live: [Listed(each, f"topics/{each.id}.md", f"hash of {each.id}") for each in live]
)
facts = st.builds(
    AnalysisFacts,
    st.just(NOON_MS),
    taken_ids=st.just(frozenset({"id__dddddd"})),
    usage=st.dictionaries(
        st.sampled_from(IDS), st.builds(Usage, st.integers(0, 1), st.none() | st.just(NOON_MS)), max_size=2
    ),
    hot_or_new=st.sets(st.sampled_from(IDS), max_size=1).map(frozenset),
)


def one_by_one(live: Sequence[Listed], known: dict[str, Outline], facts: AnalysisFacts) -> Iterator[Finding]:
    """What concerns one entry alone, its age and its links, by definition."""
    by_id = {each.meta.id: each for each in live if each.meta.id in known}
    metas = [by_id[id].meta for id in sorted(by_id)]
    bearers = {alias.casefold(): each.id for each in metas for alias in each.aliases}
    bearers |= {each.id.casefold(): each.id for each in metas}
    led = {(each.id, bearers.get(target.casefold())) for each in metas for target in known[each.id].links}
    linked = {target for id, target in led if target != id}
    tags = Counter(tag for each in metas for tag in {*each.tags})
    for each in metas:
        yield from filter(None, [expired(each, facts), oversized(each.id, known[each.id])])
        gone = [id for id in known[each.id].links if id.casefold() not in bearers and id.casefold() != "id__dddddd"]
        if gone:
            yield Finding(FindingKind.DANGLING_LINK, (each.id,), "")
        days = (facts.now_ms - each.created_at_ms) // DAY_MS
        is_alone = not known[each.id].links and each.id not in linked and all(tags[tag] == 1 for tag in each.tags)
        if each.id in facts.hot_or_new:
            continue
        if is_alone and days >= ORPHAN_DAYS and not each.pinned and not reads_of(each, facts.usage).count:
            yield Finding(FindingKind.ORPHAN, (each.id,), "")
        yield from stale([by_id[each.id]], facts)


@given(stores, st.dictionaries(st.sampled_from(IDS), outlines), facts)
def test_findings_of_one_entry_each(live: list[Listed], known: dict[str, Outline], facts: AnalysisFacts) -> None:
    compared = Compared(outlines=NO_OUTLINES.joined(known))
    expected = sorted((each.kind, each.ids) for each in one_by_one(live, known, facts))
    for entries in (live, packed(live)):
        found = analyze_compared(entries, compared, facts)
        assert sorted((each.kind, each.ids) for each in found.findings) == expected
        assert dict(found.profiles) == {
            each.meta.id: known[each.meta.id].profile for each in live if each.meta.id in known
        }


@given(stores, facts)
def test_what_nobody_has_read_or_changed_for_long_is_stale(live: list[Listed], facts: AnalysisFacts) -> None:
    expected: list[Finding] = []
    for meta in (each.meta for each in live):
        reads = reads_of(meta, facts.usage)
        read_ms = (reads.last_at_ms or 0) if reads.count else 0
        age_ms = facts.now_ms - max(meta.created_at_ms, meta.updated_at_ms, read_ms)
        if age_ms // DAY_MS >= facts.stale_days and not meta.pinned:
            read = f"last read {iso_of(read_ms)[:10]}" if reads.count else "never read"
            changed = f"not changed since {iso_of(meta.updated_at_ms)[:10]}"
            reason = f"{read} and {changed}: {age_ms // DAY_MS:,} days, stale from {facts.stale_days} on"
            score = round(age_ms / (age_ms + STALE_MS), 4)
            expected.append(Finding(FindingKind.STALE, (meta.id,), reason, score))
    expected.sort(key=lambda each: (-each.score, each.ids))
    for entries in (live, packed(live)):
        found = stale(entries, facts)
        assert found == tuple(expected)
        assert (len(found), found.kind, sorted(found.ids())) == (
            len(expected), FindingKind.STALE, sorted(id for each in expected for id in each.ids)
        )  # fmt: skip
        assert [*found.ids_worst_first()] == [id for each in expected for id in each.ids]
        for id in IDS:
            assert found.only(frozenset({id})) == tuple(each for each in expected if each.ids == (id,))
            assert found.without(frozenset({id})) == tuple(each for each in expected if each.ids != (id,))


@given(stores, st.integers(0, 2 * NOON_MS))
def test_what_is_over_by_an_instant(live: list[Listed], now_ms: int) -> None:
    expected = [each for each in live if each.meta.expires_at_ms is not None and each.meta.expires_at_ms <= now_ms]
    for entries in (live, packed(live)):
        assert list(over_by(entries, now_ms)) == expected


@given(stores)
def test_a_store_has_one_key_packed_or_not_and_another_one_has_another(live: list[Listed]) -> None:
    key = comparison_key(live, FACTS)
    assert comparison_key(packed(live), FACTS) == key
    for at, each in enumerate(live):
        later = evolve(each, meta=evolve(each.meta, created_at_ms=each.meta.created_at_ms + 1))
        over = evolve(each, meta=evolve(each.meta, expires_at_ms=NOON_MS + (each.meta.expires_at_ms in (0, NOON_MS))))
        others = (evolve(each, path="topics/x.md"), evolve(each, content_hash="other"), later, over)
        for other in others:
            assert comparison_key([*live[:at], other, *live[at + 1 :]], FACTS) != key
        assert comparison_key([*live[:at], *live[at + 1 :]], FACTS) != key
        assert comparison_key(live, evolve(FACTS, left_alone=frozenset({each.meta.id}))) != key


@given(
    st.dictionaries(st.sampled_from(IDS), outlines),
    st.dictionaries(st.sampled_from(IDS), outlines),
    st.sets(st.sampled_from(IDS)),
    st.tuples(st.integers(3_990, 4_020), st.integers(38, 44)),
)
def test_outlines_in_columns_are_those_that_were_put_there(
    first: dict[str, Outline], more: dict[str, Outline], some: set[str], limits: tuple[int, int]
) -> None:
    known = NO_OUTLINES.joined(first)
    assert (dict(known), list(known)) == (first, list(first))
    expected = first | more
    joined = known.joined(more)
    assert joined == expected
    assert joined.only(some) == {id: each for id, each in expected.items() if id in some}
    assert joined.links() == {id: each.links for id, each in expected.items() if each.links}
    chars, lines = limits
    assert set(joined.larger_than(chars, lines)) == {
        id for id, each in expected.items() if each.profile.body_chars > chars or each.profile.body_lines > lines
    }
    assert dict(Profiles(joined)) == {id: each.profile for id, each in expected.items()}
    assert [*map(joined.columns.of_slots(joined.slots.values()).__getitem__, range(len(joined)))] == [
        expected[id] for id in joined
    ]


@given(st.lists(outlines), st.sets(st.integers(0, 9)), st.dictionaries(st.integers(0, 12), outlines))
def test_slots_are_left_and_taken_again(first: list[Outline], gone: set[int], new: dict[int, Outline]) -> None:
    gone = {slot for slot in gone if slot < len(first)}
    nothing = Outline(Profile(0, 0))
    expected = [nothing] * max(len(first), max(new, default=-1) + 1)
    for slot, each in [*enumerate(first), *dict.fromkeys(gone, nothing).items(), *new.items()]:
        expected[slot] = each
    columns = OutlineColumns().changed((), dict(enumerate(first))).changed(gone, new)
    assert [columns[slot] for slot in range(len(columns))] == expected
