"""What is flagged and left to a person or a model."""

from __future__ import annotations

from agent_memory.domain.actions import Archive, Merge
from agent_memory.domain.findings import Analysis, Finding, FindingKind, left_to_judge

NEAR = Finding(FindingKind.NEAR_DUPLICATE, ("id__aaaaaa", "id__bbbbbb"), "91 % of their words are the same")
CONTRARY = Finding(FindingKind.CONTRADICTION, ("id__cccccc", "id__dddddd"), "port 8080 and port 9090")
STALE = Finding(FindingKind.STALE, ("id__eeeeee",), "not used for 130 days")


def test_near_duplicates_and_contradictions_are_flagged_worst_first() -> None:
    assert left_to_judge(Analysis((STALE, NEAR, CONTRARY)), ()) == (CONTRARY, NEAR)


def test_what_an_action_has_dealt_with_is_flagged_no_more() -> None:
    merge = Merge(NEAR.ids, "One", "One.")
    assert left_to_judge(Analysis((NEAR, CONTRARY)), (merge, Archive("id__dddddd", "it is wrong"))) == ()


def test_of_many_duplicates_some_wait_for_the_next_run() -> None:
    twins = Finding(FindingKind.DUPLICATE, ("id__aaaaaa", "id__bbbbbb", "id__cccccc", "id__dddddd"), "they are equal")
    assert left_to_judge(Analysis((twins,)), (Merge(twins.ids[:2], "One", "One."),)) == ()
    assert left_to_judge(Analysis((twins,)), ()) == (twins,)
