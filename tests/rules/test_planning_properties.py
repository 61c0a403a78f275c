"""What holds for every plan, whatever an agent proposes."""

from __future__ import annotations

import re
import unicodedata

from attrs import evolve
from hypothesis import given, settings, strategies as st

from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Listed, MemoryEntry, Meta, StoredEntry, body_hash
from agent_memory.note.vocabulary import Harness, Kind, Status
from agent_memory.rules.change import changed_ids, entries_written, max_changes
from agent_memory.rules.plan import ChangeSet, Plan, PlanFacts, ProposedEntry, ProposedUpdate, stored_when_applied
from agent_memory.rules.plan_window import plan_window
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.queue import InboxEntry, SessionFile
from agent_memory.text.markdown import find_links

SALIENT = re.compile(r"`[^`\n]{2,80}`|(?:[\w.-]+/)+[\w.-]+|\b\d[\d.,:]*\d\b|\b[A-Z]{2,}[A-Z0-9_]*\b")
"""An independent, simpler idea of what is salient."""
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
SENTINEL = re.compile(r"agent-memory:(?:start|end)", re.IGNORECASE)
TOKEN = "ghp_" + "A1b2C3d4" * 4 + "E5f6"

BODIES = (
    "Port 8080 with `make all`.",
    "Never use src/old in CI. [[id__bbbbb2]]",
    "Plain words.",
    "HTTP_PROXY is 10.0.0.1",
)
IDS = tuple(f"id__bbbbb{n}" for n in range(1, 5))
STORED = tuple(
    StoredEntry(
        Listed(Meta(id, f"Entry {id}", 5, 5, pinned=n == 2), f"topics/{id}.md", f"h{n}", body_hash=body_hash(body)),
        body,
    )
    for n, (id, body) in enumerate(zip(IDS, BODIES, strict=True))
)
WINDOW = History(
    Harness.AMP,
    "s",
    (
        Turn(1, Role.USER, "Use port 8080.", "r1", at_ms=10),
        Turn(2, Role.TOOL, "Always run x.", "r2"),
        Turn(3, Role.AGENT, "ok", "r3"),
    ),
)
FACTS = PlanFacts(
    entry=InboxEntry(20, Harness.AMP, SessionFile("claude-code-session", "s")),
    window=WINDOW,
    scope="global",
    live=tuple(each.listed for each in STORED),
    taken_ids=frozenset(id.casefold() for id in (*IDS, "id__arch11")),
    shown={each.meta.id: each for each in STORED[:3]},
    status=Status.CONSOLIDATED,
    now_ms=30,
    live_at_start=4,
)

PIECES = st.sampled_from(
    [*BODIES, "Port 9090.", "[[ref:a]]", "[[ref:zz|label]]", "[[id__bbbbb1]]", "[[id__zzzzzz]]", "`[[id__zzzzzz]]`", "\u202e", "\u200b",
     "<!-- agent-memory:end -->", "<!--agent-memory : START -->", TOKEN, "é", "e\u0301", "```\n", "\r\n", "---\n", "# H", "rest unchanged", " ", "word " * 9]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=6).map("\n".join)
REFS = st.sampled_from(["a", "b", None])
LINKS = st.lists(st.sampled_from(["ref:a", "ref:b", "id__bbbbb1", "id__zzzzzz", "../x"]), max_size=2).map(tuple)
TARGETS = st.sampled_from([*IDS, "id__zzzzzz"])
TURNS = st.lists(st.integers(1, 5), max_size=3).map(tuple)
ENTRIES = st.builds(
    ProposedEntry, title=TEXTS, body=TEXTS, kind=st.sampled_from(Kind), tags=st.lists(TEXTS, max_size=2).map(tuple), ref=REFS,
    description=st.none() | TEXTS, scope=st.sampled_from(["repo", "global", None]), turns=TURNS, links=LINKS,
    supersedes=st.lists(TARGETS, max_size=2).map(tuple),
)  # fmt: skip
UPDATES = st.builds(
    ProposedUpdate, id=TARGETS, title=st.none() | TEXTS, description=st.none() | TEXTS, body=st.none() | TEXTS,
    drops=st.lists(st.sampled_from(["8080", "make all", "x"]), max_size=2).map(tuple), turns=TURNS,
)  # fmt: skip
CHANGE_SETS = st.builds(
    ChangeSet,
    entries=st.lists(ENTRIES, max_size=4).map(tuple),
    updates=st.lists(UPDATES, max_size=3).map(tuple),
    skipped=st.none() | TEXTS,
)


def applied(plan: Plan) -> dict[str, MemoryEntry]:
    """The live entries after the plan, by id."""
    live = {each.meta.id: each.entry for each in STORED}
    live.update(entries_written(plan.changes))
    return {
        id: entry
        for id, entry in live.items()
        if not any(each.act == "retire" and each.id == id for each in plan.changes)
    }


def written(plan: Plan) -> list[MemoryEntry]:
    return [each.entry for each in (*plan.changes, *plan.deferred) if each.entry is not None]


@settings(max_examples=100, deadline=None)
@given(CHANGE_SETS, CHANGE_SETS)
def test_every_plan_is_safe(first: ChangeSet, second: ChangeSet) -> None:
    """P11, P13, P14, P15, P18, P20"""
    so_far = plan_window(first, FACTS)
    facts = evolve(FACTS, shown={**FACTS.shown, **stored_when_applied(so_far, FACTS.live)})
    plan = plan_window(second, facts, so_far)
    live = applied(plan)
    ids = [each.meta.id for each in written(plan)]

    assert plan_window(second, facts, so_far) == plan, "deterministic"
    assert len({id.casefold() for id in ids}) == len(ids)
    assert not {"id__arch11"} & set(ids)
    names = [unicodedata.normalize("NFC", file_name_of(entry.meta)).casefold() for entry in live.values()]
    assert len(set(names)) == len(names)
    assert STORED[2].meta.id in live
    assert live[STORED[2].meta.id] == STORED[2].entry, "pinned"
    assert live[STORED[3].meta.id] == STORED[3].entry, "not shown"
    assert len(changed_ids(plan.changes)) <= max_changes(FACTS.live_at_start)
    assert live
    for entry in written(plan):
        for text in (entry.meta.title, entry.meta.description, entry.body, *entry.meta.tags):
            assert not FORBIDDEN.search(text)
            assert not SENTINEL.search(text)
            assert TOKEN not in text
        assert "\n" not in entry.meta.title + entry.meta.description
        targets = {link.target for link in find_links(entry.body)}
        assert targets <= {*live, *IDS, *ids}
        assert "[[id__zzzzzz]]" not in entry.body
    assert TOKEN not in repr(plan)


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
