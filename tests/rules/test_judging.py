"""What is to be judged, what was, and what is left to a person or a model."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.rules.findings import Analysis, Finding, FindingKind, candidates_of, left_to_judge

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
    analysis = Analysis(whole, dict.fromkeys(IDS, 1))
    assert analysis.without(ids).findings == tuple(each for each in whole if ids.isdisjoint(each.ids))
    assert analysis.without(ids).body_chars.keys() == set(IDS) - ids
    for kind in FindingKind:
        assert analysis.of_kind(kind) == tuple(each for each in whole if each.kind is kind)
    places = list(FindingKind)
    together = sorted((*found, *aged, *more), key=lambda each: places.index(each.kind))
    assert analysis.with_findings(more).findings == tuple(together)


@given(others, aged, some_ids, some_ids, st.data())
def test_nobody_is_asked_about_what_was_judged(
    found: list[Finding], aged: list[Finding], seen: frozenset[str], hidden: frozenset[str], data: st.DataObject
) -> None:
    by_key = dict(candidates_of((*found, *aged), HASHES).findings)
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


NEAR = Finding(FindingKind.NEAR_DUPLICATE, ("id__aaaaaa", "id__bbbbbb"), "91 % of their words are the same")
CONTRARY = Finding(FindingKind.CONTRADICTION, ("id__cccccc", "id__dddddd"), "port 8080 and port 9090")
STALE = Finding(FindingKind.STALE, ("id__eeeeee",), "not used for 130 days")


def test_near_duplicates_and_contradictions_are_flagged_worst_first() -> None:
    assert left_to_judge(Analysis((STALE, NEAR, CONTRARY)), frozenset()) == (CONTRARY, NEAR)


def test_what_an_action_has_dealt_with_is_flagged_no_more() -> None:
    assert left_to_judge(Analysis((NEAR, CONTRARY)), {*NEAR.ids, "id__dddddd"}) == ()


def test_of_many_duplicates_some_wait_for_the_next_run() -> None:
    twins = Finding(FindingKind.DUPLICATE, ("id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd"), "they are equal")
    assert left_to_judge(Analysis((twins,)), set(twins.ids[:2])) == ()
    assert left_to_judge(Analysis((twins,)), frozenset()) == (twins,)
