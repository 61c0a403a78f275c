"""Consolidating and tidying in turn, a hundred times, by an agent that mutates at random, with hand edits, pins, crashes and
undos in between: nothing is ever lost from live and archive together (P8, P12-P18)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from attrs import define, field
from returns.result import Failure, Success

from agent_memory.app import Memory
from agent_memory.care.checks import Severity
from agent_memory.errors import ReplyRefused
from agent_memory.note.note import Listed
from agent_memory.note.vocabulary import Harness
from agent_memory.ports import Agent
from agent_memory.rules.change import max_changes
from agent_memory.session.queue import InboxEntry, InlineNote
from agent_memory.setup.config_files import Effective, load_config
from claude_transcripts import Conversation
from conservation import State, broken, ill_formed, tokens_of, violations
from faults import Killed, killed_at, snapshot
from memory_process import Memory as Home
from mutating_agent import MutatingAgent
from tidying_homes import CLAUDE, CODEX, configure, kept

pytestmark = pytest.mark.faults

MINE = b"# Mine\r\n\r\nBe brief.\r\n"


class MutatedMemory(Memory):
    """The real adapters, and an agent of the test's own."""

    def __init__(self, environ: Mapping[str, str], effective: Effective, mutator: MutatingAgent) -> None:
        super().__init__(environ, None, effective, lambda _: None)
        self.mutator = mutator

    def agent(self) -> Success[Agent]:
        return Success(self.mutator)


@define
class Life:
    """One store in the hands of a person, their agents and chance."""

    home: Home
    random: random.Random
    agent: MutatingAgent = field(init=False)
    before: State = field(factory=dict)
    cycle: int = 0
    happened: set[str] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        self.agent = MutatingAgent(self.random, self.while_it_thinks)
        configure(self.home, None)
        (self.home.home / CODEX).write_bytes(MINE)

    @property
    def memory(self) -> MutatedMemory:
        """As a new process would have it."""
        environ = {"HOME": str(self.home.home), "AGENT_MEMORY_ROOT": str(self.home.root)}
        return MutatedMemory(environ, load_config(environ, None).unwrap(), self.agent)

    def now(self) -> dict[str, bytes]:
        return snapshot(self.home.root)

    # -- what happens -------------------------------------------------------------------------------------------------

    def live_through(self) -> None:
        self.cycle += 1
        self.capture()
        self.consolidate()
        self.perhaps_by_hand()
        self.defrag()
        if self.random.random() < 0.15:
            self.take_back()

    def capture(self) -> None:
        at_ms = time.time_ns() // 1_000_000
        if self.random.random() < 0.5:
            note = InlineNote(self.agent.title(), self.agent.body(), ("topic__lamp",))
            self.memory.inbox.put(InboxEntry(at_ms, Harness.MANUAL, note)).unwrap()
            return
        session_id = f"s{self.cycle}"
        talk = Conversation(session_id, started_ms=at_ms)
        for _ in range(3):
            talk.user(self.agent.sentence())
            talk.agent("Understood.")
        directory = self.home.home / ".claude" / "projects" / "lamp"
        directory.mkdir(parents=True, exist_ok=True)
        self.memory.inbox.put(Conversation.entry_at(talk.write(directory), session_id)).unwrap()

    def consolidate(self) -> None:
        before = self.now()
        self.perhaps_killed(lambda: self.memory.consolidate().unwrap())
        self.memory.consolidate().unwrap()
        assert violations(before, self.now()) == [], self.cycle

    def defrag(self) -> None:
        self.before = self.now()
        live = len(self.memory.store.list().unwrap().entries)
        kept_before = kept(self.home)
        if self.perhaps_killed(lambda: self.memory.defrag()):
            # The agent may have been asked, and the person have written meanwhile; the next run asks anew.
            assert violations(self.before, self.now()) == [] or (self.home.root / ".transaction").exists()
        match self.memory.defrag():
            case Success(_):
                self.happened.add("tidied" if kept(self.home) != kept_before else "left as it was")
            case Failure(ReplyRefused()):
                self.happened.add("refused")
            case Failure(error):
                raise AssertionError(error)
        # A run that was killed is finished by the next one, which then has a limit of its own.
        assert violations(self.before, self.now(), most_changed=2 * max_changes(live)) == [], self.cycle
        self.check_sections()

    def check_sections(self) -> None:
        codex, claude = self.home.home / CODEX, self.home.home / CLAUDE
        assert codex.read_bytes().startswith(MINE), self.cycle
        if claude.exists():
            assert ill_formed(claude.read_bytes()) == [], self.cycle
            assert ill_formed(codex.read_bytes()) == [], self.cycle

    def take_back(self) -> None:
        """Undo is the one act that takes away: nothing but what the run that it is about had written."""
        before = self.now()
        match self.memory.undo():
            case Success(undone):
                self.happened.add("undone")
                files = self.memory.log.footprint(undone.undid.run_id).unwrap().files
                written = {each.path: each.after.data for each in files if each.after is not None}
                assert tokens_of(before) - tokens_of(self.now()) <= tokens_of(written), self.cycle
            case Failure(error):
                assert error.code in ("undo-refused", "run-not-found"), error
        assert broken(self.now()) == [], self.cycle

    # -- the person ---------------------------------------------------------------------------------------------------

    def perhaps_by_hand(self) -> None:
        live = self.memory.store.list().unwrap().entries
        for listed in self.random.sample(live, min(2, len(live))):
            self.by_hand(listed)
        unpinned = [each for each in live if not each.meta.pinned]
        if unpinned and self.random.random() < 0.1:
            self.happened.add("pinned")
            self.memory.service.pin(self.random.choice(unpinned).meta.id).unwrap()

    def by_hand(self, listed: Listed) -> None:
        path = self.home.root / listed.path
        text = path.read_text()
        if self.random.random() < 0.5:
            path.write_text(f"{text.rstrip()}\n\n{self.agent.sentence()}\n")
        else:
            path.with_name(f"mine {self.agent.number()}.md").write_text(
                f"# {self.agent.title()}\n\n{self.agent.body()}\n"
            )
            self.memory.repair().unwrap()  # which gives it an id

    def while_it_thinks(self) -> None:
        live = self.memory.store.list().unwrap().entries
        if live and self.random.random() < 0.3:
            self.happened.add("meanwhile")
            path = self.home.root / self.random.choice(live).path
            path.write_text(f"{path.read_text().rstrip()}\n\n{self.agent.sentence()}\n")
        self.before = self.now()

    def perhaps_killed(self, act: Callable[[], object]) -> bool:
        if self.random.random() > 0.2:
            return False
        try:
            with killed_at(
                self.random.randint(1, 200),
            ):
                act()
        except Killed:
            self.happened.add("killed")
            return True
        return False


def live_through(home: Path, seed: int, cycles: int) -> Life:
    life = Life(Home(home), random.Random(seed))
    for _ in range(cycles):
        life.live_through()
    return life


@pytest.mark.parametrize("seed", [1, 2])
def test_a_few_cycles_lose_nothing(home: Path, seed: int) -> None:
    life = live_through(home, seed, 5)
    assert "tidied" in life.happened


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 14))
def test_a_hundred_cycles_lose_nothing(home: Path, seed: int) -> None:
    life = live_through(home, seed, 100)
    assert life.happened >= {"tidied", "refused", "undone", "killed", "pinned", "meanwhile"}
    # What is only worth a note, as a link to an archived note is, may be there.
    findings = [each for each in life.memory.doctor().examine().findings if each.severity is not Severity.NOTE]
    assert not [each for each in findings if "link" in each.code]
