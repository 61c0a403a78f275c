"""What of a plan is still possible once the agent has answered (P6, P8)."""

from __future__ import annotations

from agent_memory.note.note import Listed, Listing, Meta, UnreadableFile
from agent_memory.pipelines.defrag import still_possible
from agent_memory.rules.change import Change, ChangeGroup
from agent_memory.rules.plan import DefragPlan
from agent_memory.rules.run import DefragRun

IDS = tuple(f"id__{letter * 6}" for letter in "abcd")
RUN = DefragRun(
    "2026-02-13T14-30-05.123Z_3dbfbe",
    1_770_993_005_123,
    plan=DefragPlan(tuple(ChangeGroup(id, (Change.retire(id, f"hash {id}"),)) for id in IDS)),
)


def listed(id: str, content_hash: str) -> Listed:
    return Listed(Meta(id, "Note", 1, 2), f"topics/Note {id}.md", content_hash)


def test_each_action_that_cannot_be_done_any_more_says_why() -> None:
    same, changed, unread, _ = IDS
    live = Listing(
        (listed(same, f"hash {same}"), listed(changed, "other")),
        (UnreadableFile(f"topics/Note {unread}.md", ("Input/output error",)),),
    )
    plan = still_possible(RUN, live).plan
    assert [each.subject for each in plan.actions] == [same]
    reasons = [each.reasons[0] for each in plan.dropped]
    assert reasons == [
        "it changed while the agent command was running",
        "it could not be read when the plan was to be applied: Input/output error",
        "it changed while the agent command was running",
    ]
    assert len({each.subject for each in plan.dropped}) == 3


def test_a_plan_of_which_nothing_is_stale_stays_as_it_is() -> None:
    assert still_possible(RUN, Listing(tuple(listed(id, f"hash {id}") for id in IDS))) == RUN
