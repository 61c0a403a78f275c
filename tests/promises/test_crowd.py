"""P7, P8: many processes capture, read, note, consolidate, defrag and edit by hand at once; in the end the counts are exact."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from attrs import define, field, frozen
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from claude_transcripts import Conversation
from fault_sweep import LITTER
from memory_process import Memory
from two_machines import TwoMachines, two_machines

DONE, LATE, RESTLESS, BUSY = 0, 20, 60, 75
NOTES = 12
ACTS = (
    "captures_a_session", "captures_a_note", "reads_a_note", "remembers", "edits_by_hand", "writes_by_hand", "searches",
    "consolidates", "tidies", "sets_state", "pins", "syncs", "writes_elsewhere",
)  # fmt: skip
_WORD = re.compile(r"\b(?:SESSION|INLINE|REMEMBERED|HAND|FIXED)_\w+")
OFTEN = ("captures_a_session", "reads_a_note")
"""What is done twice as often, where chance decides."""


@frozen
class Step:
    """What one worker does next."""

    act: str
    after_seconds: float
    chance: int
    """Decides all that the act leaves open."""


Schedule = Sequence[Sequence[Step]]
"""Of each worker, what it does, in turn."""


@define
class Crowd:
    """One store, and all that was acknowledged to anybody. Each act is one step of one worker."""

    memory: Memory
    told: list[str] = field(factory=list)
    """A word for each thing that must be found in the end."""
    reads: Counter[str] = field(factory=Counter)
    acts: Counter[str] = field(factory=Counter)
    complaints: list[str] = field(factory=list)
    captured: int = 0
    """Acknowledged captures, each of another session or note."""
    machines: TwoMachines = field(init=False)
    """This one, and another that only remembers and syncs."""
    _ids: list[str] = field(factory=list)
    _lock: threading.Lock = field(factory=threading.Lock)

    def gather(self, workers: int, seconds: float, seed: int) -> None:
        """Let so many work for so long, each by a schedule of its own that the seed decides; then let the queue run dry."""
        chances = [random.Random(f"{seed} {number}") for number in range(workers)]
        self._let_work([_endless(chance, seconds) for chance in chances])

    def follow(self, schedule: Schedule) -> None:
        """Let each worker do what the schedule says, all at once; then let the queue run dry."""
        self._let_work([iter(steps) for steps in schedule])

    def _let_work(self, workers: Sequence[Iterator[Step]]) -> None:
        self.machines = two_machines(self.memory.home, self.memory)
        self._ids = [self.memory.remembered(f"Fixed note {number} holds FIXED_{number}.") for number in range(NOTES)]
        self.machines.joined()
        threads = [
            threading.Thread(target=self._work, args=(f"w{number}", steps)) for number, steps in enumerate(workers)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        while self.memory.pending() and not self.complaints:
            self._call("consolidate", "consolidate", "--limit", "10", "--json")
        if not self.complaints:
            self.machines.settled()

    def _work(self, name: str, steps: Iterator[Step]) -> None:
        for number, step in enumerate(steps, 1):
            if self.complaints:
                return
            time.sleep(step.after_seconds)
            act: Callable[[str, random.Random], None] = getattr(self, step.act)
            act(f"{name}n{number}", random.Random(f"{name}n{number} {step.chance}"))  # no two have the same session

    def _call(self, act: str, *words: str, data: bytes = b"", machine: Memory | None = None) -> bool:
        """Whether it was done; the other answers are that somebody else is at it, or was faster."""
        done = (machine or self.memory)(*words, data=data)
        was_late = (done.code == LATE and "changed by someone else in the meantime" in done.err) or (
            done.code == RESTLESS and "others kept writing at the same time" in done.err
        )
        with self._lock:
            self.acts[f"{act}, busy" if done.code == BUSY or was_late else act] += 1
            if done.code not in (DONE, BUSY) and not was_late:
                self.complaints.append(f"{words}: {done}")
        return done.code == DONE

    def _is_captured(self, word: str) -> None:
        with self._lock:
            self.told.append(word)
            self.captured += 1

    def _must_be_found(self, word: str) -> None:
        with self._lock:
            self.told.append(word)

    # -- the acts -----------------------------------------------------------------------------------------------------

    def captures_a_session(self, name: str, chance: random.Random) -> None:
        session = f"{chance.getrandbits(32):08x}-1111-4222-8333-444444444444"
        conversation = Conversation(session)
        conversation.exchange(f"Remember that the pier SESSION_{name} has {chance.randrange(9)} lamps.")
        path = self.memory.home / ".claude/projects/lamp" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(conversation.data)
        known = {"session_id": session, "transcript_path": str(path), "cwd": str(self.memory.home)}
        data = json.dumps({**known, "hook_event_name": "SessionEnd", "reason": "other"}).encode()
        if self._call("capture by a hook", "capture", "--harness", "claude-code", "--hook", data=data):
            self._is_captured(f"SESSION_{name}")

    def captures_a_note(self, name: str, chance: random.Random) -> None:
        if self._call("capture", "capture", "--title", f"Note {name}", "--body", f"It holds INLINE_{name}."):
            self._is_captured(f"INLINE_{name}")

    def reads_a_note(self, name: str, chance: random.Random) -> None:
        id = chance.choice(self._ids)
        if self._call("read", "read", id):
            with self._lock:
                self.reads[id] += 1

    def remembers(self, name: str, chance: random.Random) -> None:
        if self._call("remember", "remember", f"The quay {name} holds REMEMBERED_{name}."):
            self._must_be_found(f"REMEMBERED_{name}")

    def edits_by_hand(self, name: str, chance: random.Random) -> None:
        """As an editor does that replaces the file; nobody else has a reason to change this note."""
        id = chance.choice(self._ids)
        with self._lock:  # one person
            for path in (self.memory.root / "topics").glob(f"*{id}.md"):
                written = path.with_name(f".edited-{name}")
                written.write_text(f"{path.read_text()}\nEDITED_{name}.\n")
                os.replace(written, path)
                self.told.append(f"EDITED_{name}")
                self.acts["edit by hand"] += 1

    def writes_by_hand(self, name: str, chance: random.Random) -> None:
        """A note without frontmatter and without an id."""
        (self.memory.root / "topics" / f"by hand {name}.md").write_text(f"# Hand {name}\n\nIt holds HAND_{name}.\n")
        self._must_be_found(f"HAND_{name}")
        with self._lock:
            self.acts["write by hand"] += 1

    def searches(self, name: str, chance: random.Random) -> None:
        self._call("search", "search", f"pier {chance.randrange(9)}", "--json")

    def consolidates(self, name: str, chance: random.Random) -> None:
        self._call("consolidate", "consolidate", "--limit", "10", "--json")

    def tidies(self, name: str, chance: random.Random) -> None:
        self._call("defrag", "defrag", "--json")

    def sets_state(self, name: str, chance: random.Random) -> None:
        self._call("state set", "state", "set", f"key{chance.randrange(4)}", json.dumps(name))

    def pins(self, name: str, chance: random.Random) -> None:
        self._call("pin", chance.choice(("pin", "unpin")), chance.choice(self._ids))

    def syncs(self, name: str, chance: random.Random) -> None:
        self._call("sync", "sync", "--json")

    def writes_elsewhere(self, name: str, chance: random.Random) -> None:
        words = ("remember", f"The mole {name} holds REMEMBERED_{name}.")
        if self._call("remember elsewhere", *words, machine=self.machines.other):
            self._must_be_found(f"REMEMBERED_{name}")
        self._call("sync elsewhere", "sync", "--json", machine=self.machines.other)

    # -- what came of it ----------------------------------------------------------------------------------------------

    def lost(self) -> list[str]:
        """Words that were acknowledged, and are in no live or archived note."""
        trees = ("topics", "archive")
        texts = [path.read_text() for tree in trees for path in (self.memory.root / tree).rglob("*.md")]
        there = "\n".join(texts)
        return [word for word in self.told if f"{word} " not in there and f"{word}." not in there]

    def doubled(self) -> list[str]:
        """Words that more than one live note states; a handoff repeats what was asked."""
        bodies = [each["body"] for each in self.memory.notes() if each["kind"] != "handoff"]
        counts = Counter(word for body in bodies for word in {*_WORD.findall(body)})
        return sorted(word for word, count in counts.items() if count > 1)

    def misplaced(self) -> list[str]:
        """What is wrong with the records of captures: each is once in the inbox, among those done, or those given up."""
        inbox = self.memory.root / "inbox"
        names = [path.name for place in (".", ".processed", ".failed") for path in (inbox / place).glob("[!.]*.json")]
        twice = [f"{name} is there {count} times" for name, count in Counter(names).items() if count > 1]
        return twice + ([] if len(names) == self.captured else [f"{len(names)} records of {self.captured} captures"])

    def miscounted(self) -> list[str]:
        """Notes whose uses are not the reads that were acknowledged."""
        used = {each["id"]: each["used"] for each in self.memory.notes()}
        return [f"{id}: {used.get(id)}, not {self.reads[id]}" for id in self._ids if used.get(id) != self.reads[id]]


def _endless(chance: random.Random, seconds: float) -> Iterator[Step]:
    """What chance decides, for so long from the first step on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield Step(chance.choice((*ACTS, *OFTEN)), 0, chance.getrandbits(32))


pytestmark = pytest.mark.faults

SEED = 7
MINUTES_SECONDS = float(os.environ.get("PROMISES_SECONDS", "120"))


STEPS = st.builds(
    Step, st.sampled_from((*ACTS, *OFTEN)), st.sampled_from((0.0, 0.0, 0.01, 0.1, 0.5)), st.integers(0, 2**32 - 1)
)
SCHEDULES = st.lists(st.lists(STEPS, min_size=2, max_size=8), min_size=20, max_size=20)


class Enough(BaseException):
    """The time has come: no schedule has gone wrong."""


@pytest.mark.sweep
def test_a_crowd_for_minutes(home: Path, record_property: Callable[[str, object], None]) -> None:
    crowd = gathered(home, workers=20, seconds=MINUTES_SECONDS)
    acts = ", ".join(f"{count} {act}" for act, count in sorted(crowd.acts.items()))
    record_property("figure", f"P7 20 workers, {MINUTES_SECONDS:g} s: {acts}; {len(crowd.lost())} lost")
    assert {"capture", "read", "consolidate"} <= {*crowd.acts}
    check(crowd)


@pytest.mark.sweep
def test_a_crowd_of_twenty_by_drawn_schedules(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Who does what when is drawn by Hypothesis; the seed is printed, and PROMISES_SEED gives the same schedules again."""
    seed = int(os.environ.get("PROMISES_SEED", str(random.SystemRandom().getrandbits(32))))
    end = time.monotonic() + MINUTES_SECONDS
    totals: Counter[str] = Counter()

    @hypothesis.seed(seed)
    @settings(
        max_examples=10_000, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(SCHEDULES)
    def crowds(schedule: list[list[Step]]) -> None:
        if time.monotonic() > end:
            raise Enough
        home = tmp_path / f"home{totals['schedules']}"
        home.mkdir()
        totals["schedules"] += 1
        crowd = Crowd(Memory(home))
        crowd.follow(schedule)
        totals["acts"] += crowd.acts.total()
        totals["captures"] += crowd.captured
        check(crowd)
        shutil.rmtree(home)

    print(f"PROMISES_SEED={seed}")
    with suppress(Enough):
        crowds()
    record_property(
        "figure",
        f"P7 20 workers by {totals['schedules']} drawn schedules (PROMISES_SEED={seed}): {totals['acts']} acts, "
        f"{totals['captures']} captures, 0 lost, 0 twice",
    )


def test_a_crowd_that_lost_something_is_noticed(home: Path) -> None:
    crowd = gathered(home, workers=0, seconds=0)
    assert len(list((home / "memories/topics").glob("*.md"))) == NOTES
    crowd.told.append("NOWHERE")
    crowd.reads.update(crowd.miscounted() or [crowd.memory.notes()[0]["id"]])
    assert crowd.lost() == ["NOWHERE"]
    assert len(crowd.miscounted()) == 1
    crowd.memory.remembered("Again it holds FIXED_3, and this is another note.")
    assert crowd.doubled() == ["FIXED_3"]
    assert crowd.misplaced() == []
    crowd.captured += 1
    assert crowd.misplaced() == ["0 records of 1 captures"]


def gathered(home: Path, workers: int, seconds: float) -> Crowd:
    crowd = Crowd(Memory(home))
    crowd.gather(workers, seconds, SEED)
    return crowd


def check(crowd: Crowd) -> None:
    memory = crowd.memory
    assert crowd.complaints == []
    assert crowd.lost() == []
    assert crowd.doubled() == []
    assert crowd.miscounted() == []
    assert memory.pending() == []
    assert crowd.misplaced() == []
    assert memory("doctor", "--fix").code in (0, 1)
    assert [path for glob in LITTER for path in memory.root.glob(glob)] == []
    broken = [each for each in memory("doctor", "--json").document["symptoms"] if each["severity"] == "problem"]
    # Of what is said alike there is much, and who edits a note by hand for minutes makes it long.
    assert {each["code"] for each in broken} <= {"duplicate", "near-duplicate", "oversized"}, broken
    assert memory.git("fsck", "--no-progress", "--no-dangling") == ""
