"""Time zones, summer time, and a clock that is set back, as processes (P24)."""

from __future__ import annotations

import atexit
import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import frozen

from claude_transcripts import Conversation
from forked_program import ForkingServer
from memory_process import LIMIT_SECONDS, NOTHING, Done, Memory
from preloaded import compiled
from two_machines import synced, two_machines

SOURCE = Path(__file__).parents[1] / "shifted_clock.c"


@frozen
class ClockedMemory(Memory):
    """`memory` in one home, by another clock."""

    def __call__(
        self, *words: str | bytes, data: bytes = b"", cwd: Path | None = None, environ: Mapping[str, str] = NOTHING
    ) -> Done:
        """One call to its end."""
        if not _servers:
            _servers.append(ForkingServer({"LD_PRELOAD": str(compiled(SOURCE))}))
            atexit.register(_servers[0].stop)
        decoded = [word.decode() if isinstance(word, bytes) else word for word in words]
        done = _servers[0].run(decoded, data, cwd or self.home, self.environment(environ), LIMIT_SECONDS)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def at(memory: Memory, instant_seconds: float, zone: str = "UTC") -> ClockedMemory:
    """The same home, where it is this instant now (seconds since 1970 in UTC), in this time zone."""
    offset_ns = round(instant_seconds * 1_000_000_000) - time.time_ns()
    return ClockedMemory(memory.home, {**memory.environ, "CLOCK_OFFSET_NS": str(offset_ns), "TZ": zone})


_servers: list[ForkingServer] = []


pytestmark = pytest.mark.sweep

HOUR, DAY = 3_600, 86_400
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC).timestamp()
"""In Berlin, 01:59:59 is followed by 03:00:00."""
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC).timestamp()
"""In Berlin, 02:59:59 is followed by 02:00:00."""
BERLIN, AUCKLAND, LOS_ANGELES = "Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles"


def succeed(memory: Memory, *words: str) -> str:
    done = memory(*words)
    assert done.code == 0, (words, done)
    return done.out


def whole(memory: Memory, words: list[str]) -> None:
    """Every one of these words is in exactly one live note, ids are unique, doctor and git are content."""
    notes = memory.notes()
    assert len({each["id"] for each in notes}) == len(notes)
    for word in words:
        assert sum(word in each["body"] for each in notes) == 1, word
    symptoms = memory("doctor", "--json").document["symptoms"]
    broken = [each for each in symptoms if each["severity"] == "problem"]
    assert {each["code"] for each in broken} <= {"duplicate", "near-duplicate"}, broken
    memory.log()


@pytest.mark.parametrize("turn", [SPRING, AUTUMN], ids=["spring", "autumn"])
def test_the_hour_that_is_missing_or_comes_twice_loses_nothing(memory: Memory, turn: float) -> None:
    words: list[str] = []
    for number in range(6):  # 20 minutes apart, on both sides of the turn
        there = at(memory, turn - HOUR + number * 1_200 + 30, BERLIN)
        there.captured("Tides", f"High tide is told by TIDE_{number}.")
        there.remembered(f"The quay has crane CRANE_{number}.")
        words += [f"TIDE_{number}.", f"CRANE_{number}."]
    names = memory.pending()
    assert len(names) == 6
    assert all(name.startswith(datetime.fromtimestamp(turn, UTC).strftime("%Y-%m-%dT0")) for name in names)
    entries = [json.loads((memory.root / "inbox" / name).read_text()) for name in names]
    assert [each["retrieval"]["body"] for each in entries] == [f"High tide is told by TIDE_{n}." for n in range(6)]
    later = at(memory, turn + 2 * HOUR, BERLIN)
    succeed(later, "consolidate")
    succeed(later, "defrag")
    whole(later, words)
    runs = later("log", "--json").document["runs"]
    assert [each["machine"] for each in runs] == ["defrag", "consolidate"]
    assert "last run  defrag completed just now" in later("status").out


@pytest.mark.parametrize("turn", [SPRING, AUTUMN], ids=["spring", "autumn"])
def test_a_schedule_counts_hours_that_pass_and_not_those_of_the_wall(memory: Memory, turn: float) -> None:
    every = str(2 * HOUR)
    ran = [
        at(memory, moment, BERLIN)("schedule", "run", "consolidate", "--every", every, "--json").document["ran"]
        for moment in (turn - HOUR, turn - 60, turn + 60, turn + HOUR + 5, turn + HOUR + 65)
    ]
    assert ran == [True, False, False, True, False]


def test_a_clock_that_is_set_back_keeps_no_job_from_running_and_loses_nothing(memory: Memory) -> None:
    now, before = at(memory, AUTUMN), at(memory, AUTUMN - DAY)
    job = ("schedule", "run", "consolidate", "--every", str(2 * HOUR), "--json")
    words = []
    for name, there in (("NOW", now), ("BEFORE", before)):
        there.captured("Tides", f"High tide is told by TIDE_{name}.")
        there.remembered(f"The quay has crane CRANE_{name}.", "--title", "Cranes")
        words += [f"TIDE_{name}.", f"CRANE_{name}."]
        assert there(*job).document == {"job": "consolidate", "ran": True, "exitCode": 0}
        succeed(there, "defrag")
    whole(before, words)
    assert before.pending() == []
    assert len(before("log", "--json").document["runs"]) == 4
    (id,) = (each["id"] for each in before.notes() if "CRANE_NOW" in each["body"])
    succeed(before, "edit", id, "--body", "The quay has crane CRANE_NOW. It is green.")
    for words_ in (("status",), ("stats",), ("why", id), ("read", id), ("search", "crane"), ("list",), ("log",)):
        done = before(*words_)
        assert done.code in (0, 1), done
        assert "Traceback" not in done.err
        assert not re.search(r"(?<![\w-])-\d", done.out), done.out  # no age is below nothing
    whole(before, ["CRANE_NOW.", "CRANE_BEFORE."])


def test_a_session_that_grows_while_the_clock_is_set_back_is_read_on(memory: Memory) -> None:
    session = "aaaaaaaa-1111-4222-8333-444444444444"
    talk = Conversation(session, started_ms=int(AUTUMN * 1_000))
    talk.exchange("Remember that the weir opens at WEIR_3 metres.")
    path = at(memory, AUTUMN).session(session, talk.data)
    succeed(at(memory, AUTUMN + 10), "consolidate")
    talk.exchange("Remember that the lock keeper is called KEEPER_4.")
    path.write_bytes(talk.data)
    at(memory, AUTUMN - DAY).capture_session(session, path)
    succeed(at(memory, AUTUMN - DAY + 10), "consolidate")
    bodies = " ".join(each["body"] for each in memory.notes() if each["kind"] != "handoff")
    assert bodies.count("WEIR_3") == 1
    assert bodies.count("KEEPER_4") == 1


def test_what_expires_expires_at_the_same_instant_everywhere(memory: Memory) -> None:
    midnight = datetime(2026, 3, 29, tzinfo=UTC).timestamp()
    memory.remembered("The quay stays.")
    id = at(memory, midnight - HOUR, AUCKLAND).remembered("The fair is on.", "--expires", "2026-03-29")
    for zone in (AUCKLAND, LOS_ANGELES, BERLIN):
        for moment, is_expired in ((midnight + DAY - 2 * HOUR, False), (midnight + DAY + 5, True)):
            listed = at(memory, moment, zone)("list", "--expired", "--json").document["entries"]
            assert [each["id"] for each in listed] == ([id] if is_expired else []), (zone, moment)
    succeed(at(memory, midnight + DAY + 60, LOS_ANGELES), "defrag")
    assert memory("read", id, "--archived").code == 0


def test_since_means_the_same_sessions_in_every_zone(memory: Memory) -> None:
    told = {}
    for day, digit in ((1, "a"), (2, "b"), (3, "c")):
        started = datetime(2026, 3, 27 + day, 23, 30, tzinfo=UTC).timestamp()
        talk = Conversation(f"{digit * 8}-1111-4222-8333-444444444444", started_ms=int(started * 1_000))
        talk.exchange(f"Remember that the pier has PIER_{day} lamps.")
        path = memory.home / ".claude/projects/lamp" / f"{digit * 8}-1111-4222-8333-444444444444.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(talk.data)
    for zone in (AUCKLAND, LOS_ANGELES, BERLIN):
        there = at(memory, SPRING + 5 * DAY, zone)
        told[zone] = there("backfill", "--since", "2026-03-29", "--dry-run", "--json").document
    assert told[AUCKLAND] == told[LOS_ANGELES] == told[BERLIN]


def test_two_machines_in_two_zones_with_clocks_apart_hold_the_same(tmp_path: Path) -> None:
    machines = two_machines(tmp_path)
    noon = datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp()
    shared = at(machines.one, noon, AUCKLAND).remembered("The weir opens at 3 m.", "--title", "Weir")
    machines.joined()
    words = ["3 m."]
    for hours in range(0, 36, 6):
        here = at(machines.one, noon + hours * HOUR, AUCKLAND)
        there = at(machines.other, noon + hours * HOUR - 900, LOS_ANGELES)  # a quarter of an hour behind
        for place, name in ((here, "EAST"), (there, "WEST")):
            place.remembered(f"At {name}_{hours}. the tide turns.", "--title", "The tide")
            words.append(f"{name}_{hours}.")
        succeed(there, "edit", shared, "--description", f"As of {hours}")
        for place in (here, there, here):
            assert synced(place)["conflicts"] == []
    assert machines.settled()
    for machine in (machines.one, machines.other):
        whole(machine, words)
        (weir,) = (each for each in machine.notes() if each["id"] == shared)
        assert weir["description"] == "As of 30"
    ids = [
        [each["id"] for each in at(place, noon + 2 * DAY, zone).notes()]
        for place, zone in zip((machines.one, machines.other), (AUCKLAND, LOS_ANGELES), strict=True)
    ]
    assert ids[0] == ids[1]
    one = at(machines.one, noon + 2 * DAY, LOS_ANGELES)
    updated = [each["updatedAt"] for each in one.notes()]
    assert all(newer >= older for newer, older in pairwise(updated))
