"""What `memory status` shows to people."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from wcwidth import wcswidth

from agent_memory.care.health import HarnessDeliveries, Health
from agent_memory.cli.care import MOST_SHOWN, health_lines
from agent_memory.cli.search import hit_lines, plain_line
from agent_memory.note.note import Kind, Listed, Meta, Origin, StoredEntry, Tier
from agent_memory.recall.hits import ScorePart, SearchHit
from agent_memory.rules.plan import DaySpend
from agent_memory.rules.run_log import LoggedRun, LoggedSession
from agent_memory.session.queue import FailedEntry, Trouble
from agent_memory.text.instants import DAY_MS, HOUR_MS

NOW_MS = 1_771_000_205_123
WELL = Health(
    root="/home/ada/memories",
    entries=1_234,
    archived=56,
    unreadable=(),
    pending=3,
    oldest_pending_at_ms=NOW_MS - 2 * HOUR_MS,
    failed=(),
    troubles=(),
    last_runs=(LoggedRun("run-1", "consolidate", NOW_MS, NOW_MS - HOUR_MS, "completed", "2 notes written"),),
    hook_problems=(),
    spent_today=DaySpend(4, 12_345, 99),
    max_calls_per_day=48,
    agent="claude",
    unrecorded=0,
    last_captures=(("amp", NOW_MS - 3 * DAY_MS), ("codex", NOW_MS)),
    deliveries=(HarnessDeliveries("codex", 3, 900, NOW_MS - 5 * 60_000),),
    now_ms=NOW_MS,
)
ILL = evolve(
    WELL,
    unreadable=("topics/東京の倉庫 -- id__a1b2c3.md",),
    troubles=tuple(
        (
            f"amp {at}",
            Trouble(attempts=1, not_before_ms=NOW_MS, code="timed-out", message=f"it took\ntoo long {'x' * at}"),
        )
        for at in range(15)
    ),
    failed=(FailedEntry("x.json", "no \x1b[31mJSON", True),),
)


def page(health: Health, width: int | None, *, colour: bool) -> list[str]:
    return list(health_lines(health, width, colour=colour))


def test_all_that_people_ask_first_is_there_with_relative_times() -> None:
    assert page(WELL, None, colour=False) == [
        "ok        nothing needs attention",
        "store     1,234 notes, 56 archived, in /home/ada/memories",
        "inbox     3 waiting, the oldest from 2 h ago, 0 failed",
        "captured  amp 3 d ago, codex just now",
        "delivered 3 times this week, last to codex 5 min ago",
        "last run  consolidate completed 1 h ago: 2 notes written (runs/run-1)",
        "agent     claude, 4 of 48 calls today, 12,345 characters sent",
    ]


def test_a_run_that_could_learn_from_no_session_is_a_problem_and_one_bad_session_is_none() -> None:
    said = "The agent's reply was refused: it is empty."
    bad = LoggedSession("amp", "s", "refused", said)

    def problems(*sessions: LoggedSession) -> tuple[str, ...]:
        return evolve(WELL, last_runs=(evolve(WELL.last_runs[0], sessions=sessions),)).problems

    assert problems(bad, bad, bad) == (f"the last run failed for all of its 3 sessions; the last: {said}",)
    assert problems(bad, bad, bad, evolve(bad, verdict="written")) == ()
    assert problems(bad) == ()


def test_the_first_lines_are_what_needs_a_look() -> None:
    lines = page(ILL, None, colour=False)
    assert [line.split()[0] for line in lines[:3]] == ["problem", "problem", "store"]
    assert "ok" not in [line.split()[0] for line in lines]


def test_what_is_set_back_is_well_and_is_told() -> None:
    first, *rest = page(evolve(WELL, troubles=ILL.troubles), None, colour=False)
    assert first == "ok        nothing needs attention; will retry 15 sessions"
    set_back = [line for line in rest if line.startswith("retry")]
    assert len(set_back) == MOST_SHOWN + 1
    assert set_back[-1].endswith("… and 5 more (`memory status --json` has all)")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
@pytest.mark.parametrize("health", [WELL, ILL], ids=["well", "ill"])
def test_lines_are_broken_to_the_width_behind_their_words(health: Health, width: int) -> None:
    lines = page(health, width, colour=False)
    assert all(0 <= wcswidth(line) <= width for line in lines)
    whole = " ".join(" ".join(lines).split())
    assert "12,345" in whole
    assert all(line[10] != " " for line in lines)


# -- what a search found, in words -------------------------------------------------------------------------------------


META = Meta("id__a1b2c3", "Locks", NOW_MS, NOW_MS - 3 * DAY_MS, kind=Kind.LESSON, origin=Origin.EXTERNAL)
HIT = SearchHit(
    StoredEntry(Listed(META, "topics/Locks -- id__a1b2c3.md", "hash"), "the zebra lock"),
    0.934,
    {"zebra": 1.0},
    Tier.WARM,
    (ScorePart("words", 0.9, "zebra"), ScorePart("recency", -0.05)),
)


def shown(number: int, hit: SearchHit, **options: Any) -> list[str]:
    return list(hit_lines(number, hit, NOW_MS, **options))


def test_text_of_others_breaks_no_line_and_no_field() -> None:
    hostile = evolve(META, title="a\tb\nc\x1b[31m\u202ed")
    hit = evolve(
        HIT,
        stored=StoredEntry(evolve(HIT.listed, meta=hostile), HIT.stored.body),
        parts=(ScorePart("words", 1.0, "x\ny\tz"),),
    )
    line = plain_line(hit, explain=True)
    assert line.count("\t") == 10
    assert "\n" not in line
    assert line.split("\t")[6] == "a b cd"
    assert line.endswith("\t+1.000 words: x y z; +1.000 sum, by which hits are ordered")
    said = shown(1, hit, colour=False, explain=True)
    assert "\x1b" not in "".join(said)
    assert all("\n" not in each and "\t" not in each for each in said)


def test_a_hit_for_people() -> None:
    assert shown(2, HIT, colour=False) == [
        "2. Locks",
        "   id__a1b2c3 · warm · lesson · from external · 3 d ago · 0.93",
        "   the zebra lock",
        "",
    ]
    archived = evolve(
        HIT, stored=StoredEntry(evolve(HIT.listed, archived=True), HIT.stored.body), superseded_by="id__c3d4e5"
    )
    lines = shown(1, archived, colour=False, explain=True)
    assert lines[1:] == [
        "   id__a1b2c3 · archived · lesson · from external · 3 d ago · 0.93", "   superseded by id__c3d4e5",
        "   the zebra lock", "   +0.900  words: zebra", "   -0.050  recency",
        "   +0.850  sum, by which hits are ordered", "",
    ]  # fmt: skip
    coloured = "\n".join(shown(1, HIT, colour=True))
    assert "\x1b[1;33mzebra\x1b[0m" in coloured
