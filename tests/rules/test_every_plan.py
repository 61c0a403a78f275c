"""What holds for every plan, whatever an agent proposes."""

from __future__ import annotations

import re

from attrs import evolve
from fuzz.replies import DEFRAG_FACTS, FACTS, STORED, check_changes
from hypothesis import given, settings, strategies as st

from agent_memory.note.note import Kind
from agent_memory.rules.change import Dropped, entries_written
from agent_memory.rules.plan import (
    Archive,
    ChangeSet,
    DefragPlan,
    DefragProposal,
    Edit,
    Merge,
    Plan,
    ProposedEntry,
    ProposedUpdate,
    Rename,
    Retag,
    Split,
    SplitPart,
    stored_when_applied,
)
from agent_memory.rules.plan_defrag import plan_defrag
from agent_memory.rules.plan_window import plan_window

SALIENT = re.compile(r"`[^`\n]{2,80}`|(?:[\w.-]+/)+[\w.-]+|\b\d[\d.,:]*\d\b|\b[A-Z]{2,}[A-Z0-9_]*\b")
"""An independent, simpler idea of what is salient."""
TOKEN = "ghp_" + "A1b2C3d4" * 4 + "E5f6"

PIECES = st.sampled_from(
    [*(each.body for each in STORED), "Port 9090.", "[[ref:a]]", "[[ref:zz|label]]", "[[id__bbbbb1]]", "[[id__zzzzzz]]", "`[[id__zzzzzz]]`",
     "\u202e", "\u200b", "<!-- agent-memory:end -->", "<!--agent-memory : START -->", TOKEN, "é", "e\u0301", "```\n", "\r\n", "---\n", "# H",
     "rest unchanged", " ", "word " * 9, "8080"]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=6).map("\n".join)
LISTS = st.lists(TEXTS, max_size=2).map(tuple)
KNOWN = st.sampled_from([*(each.meta.id for each in STORED), "id__zzzzzz"])
IDS = KNOWN | st.sampled_from(["../x", TOKEN])
DROPS = st.lists(st.sampled_from(["8080", "bun test", "Never push to main", TOKEN]), max_size=3).map(tuple)
TURNS = st.lists(st.integers(1, 5), max_size=3).map(tuple)

ENTRIES = st.builds(
    ProposedEntry, title=TEXTS, body=TEXTS, kind=st.sampled_from(Kind), tags=LISTS, ref=st.sampled_from(["a", "b", None]),
    description=st.none() | TEXTS, scope=st.sampled_from(["repo", "global", None]), turns=TURNS,
    links=st.lists(KNOWN | st.sampled_from(["ref:a", "ref:b", "../x"]), max_size=2).map(tuple), supersedes=st.lists(KNOWN, max_size=2).map(tuple),
)  # fmt: skip
UPDATES = st.builds(
    ProposedUpdate, id=KNOWN, title=st.none() | TEXTS, description=st.none() | TEXTS, body=st.none() | TEXTS, drops=DROPS, turns=TURNS
)  # fmt: skip
CHANGE_SETS = st.builds(
    ChangeSet,
    entries=st.lists(ENTRIES, max_size=4).map(tuple),
    updates=st.lists(UPDATES, max_size=3).map(tuple),
    skipped=st.none() | TEXTS,
)

PARTS = st.lists(st.builds(SplitPart, TEXTS, TEXTS, st.none() | TEXTS, LISTS), max_size=3).map(tuple)
ACTIONS = st.one_of(
    st.builds(Merge, st.lists(IDS, max_size=4).map(tuple), TEXTS, TEXTS, st.none() | TEXTS, LISTS, DROPS),
    st.builds(Split, IDS, PARTS),
    st.builds(Rename, IDS, TEXTS),
    st.builds(Retag, IDS, LISTS),
    st.builds(Edit, IDS, st.sampled_from(["8080", "Port", "Never push ", "e", "the"]), TEXTS, DROPS),
    st.builds(Archive, IDS, TEXTS),
)
PROPOSALS = st.builds(
    DefragProposal,
    st.lists(ACTIONS, max_size=6).map(tuple),
    dropped=st.lists(st.builds(Dropped, TEXTS, LISTS), max_size=1).map(tuple),
)


def check(plan: Plan | DefragPlan) -> None:
    """P11, P13, P14, P15, P18, P20"""
    changes = (
        plan.changes if isinstance(plan, Plan) else dict.fromkeys(c for each in plan.actions for c in each.changes)
    )
    check_changes(changes)
    retired = [each.id for each in changes if each.act == "retire"]
    assert len(retired) == len(set(retired))
    assert all("[[id__zzzzzz]]" not in each.body for each in entries_written(changes).values())
    assert TOKEN not in repr(plan.dropped)


@settings(max_examples=100, deadline=None)
@given(CHANGE_SETS, CHANGE_SETS)
def test_every_plan_of_a_session_is_safe(first: ChangeSet, second: ChangeSet) -> None:
    so_far = plan_window(first, FACTS)
    facts = evolve(FACTS, shown={**FACTS.shown, **stored_when_applied(so_far, FACTS.live)})
    plan = plan_window(second, facts, so_far)
    assert plan_window(second, facts, so_far) == plan, "deterministic"
    check(plan)
    assert TOKEN not in repr(plan)


@settings(max_examples=150, deadline=None)
@given(PROPOSALS)
def test_every_plan_of_a_defrag_is_safe(proposal: DefragProposal) -> None:
    plan = plan_defrag(proposal, DEFRAG_FACTS)
    assert plan_defrag(proposal, DEFRAG_FACTS) == plan, "deterministic"
    check(plan)
    assert len(plan.actions) + len(plan.deferred) <= len(proposal.actions)
    for group in plan.actions:
        if group.kind in ("merge", "split"):
            aliases = {id for each in entries_written(group.changes).values() for id in each.meta.aliases}
            assert set(group.ids) <= aliases


@settings(max_examples=100, deadline=None)
@given(CHANGE_SETS)
def test_no_salient_token_is_lost_from_what_is_kept_unless_it_was_named(change_set: ChangeSet) -> None:
    """P12: what is replaced or superseded also goes to the archive, whole."""
    plan = plan_window(change_set, FACTS)
    drops = "\n".join(drop for update in change_set.updates for drop in update.drops)
    for id, entry in entries_written(plan.changes).items():
        if (before := FACTS.shown.get(id)) is not None:
            after = f"{entry.whole}\n{drops}".lower()
            assert [token for token in SALIENT.findall(before.body) if token.strip("`").lower() not in after] == []
