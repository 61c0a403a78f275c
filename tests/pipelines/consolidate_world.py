"""A whole consolidate in memory: every adapter is a `Dict…`, and the agent says what the test wants it to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from returns.result import Result

from agent_memory.capture.switches import Switches
from agent_memory.care.tombstones import Tombstones
from agent_memory.errors import Error
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Listed
from agent_memory.pipelines.consolidate import ConsolidateIo, consolidate
from agent_memory.recall.known_notes import KnownNotes
from agent_memory.recall.note_index import NoteIndex
from agent_memory.rules.plan import SessionRequest
from agent_memory.rules.run import Run
from agent_memory.session.history import History, Role, Turn
from agent_memory.session.queue import Context, InboxEntry, InlineNote, SessionFile
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.run_files import ConsolidateRecords
from agent_memory.store.usage_ledger import UsageLedger
from stand_ins.dict_clock import DictClock
from stand_ins.dict_histories import DictHistories
from stand_ins.dict_recorder import DictRecorder
from stand_ins.scripted_agent import ScriptedAgent
from stand_ins.temporary import TemporaryInbox, TemporaryStore

TEMPLATE = (Path(__file__).parents[2] / "prompts" / "consolidate.md").read_text("utf-8")
REPO = "github.com/dana/parcels"
CWD = "/home/dana/parcels"
NOON_MS = 1_772_409_600_000
PLENTY = 512 << 20


def envelope(request: SessionRequest, **members: Any) -> str:
    return json.dumps({"version": 1, "nonce": request.nonce, **members})


def entries(*items: Mapping[str, Any]) -> Callable[[SessionRequest], str]:
    """An answer with these entries."""
    return lambda request: envelope(request, entries=list(items))


def skipped(why: str = "nothing worth keeping") -> Callable[[SessionRequest], str]:
    return lambda request: envelope(request, entries=[], skipped=why)


def note(title: str, body: str = "", **members: Any) -> dict[str, Any]:
    return {"title": title, "body": body or f"{title}, as was seen.", "kind": "lesson", "tags": ["topic__x"], **members}


def turns(*texts: str, first: int = 1, role: Role = Role.USER) -> tuple[Turn, ...]:
    return tuple(
        Turn(number, role, text, f"record-{number}", NOON_MS + number * 1000)
        for number, text in enumerate(texts, first)
    )


def history(session_id: str, *texts: str) -> History:
    said = turns(*texts)
    return History(Harness.CLAUDE_CODE, session_id, said, cwd=CWD, started_at_ms=NOON_MS, ended_at_ms=said[-1].at_ms)


@define(slots=False)
class World:
    """The adapters of one store, and runs over them."""

    agent: ScriptedAgent[SessionRequest]
    clock: DictClock = field(factory=DictClock)
    histories: DictHistories = field(factory=DictHistories)
    store: TemporaryStore = field(factory=TemporaryStore)
    recorder: DictRecorder = field(factory=DictRecorder)
    words: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.root = self.store.root
        self.inbox = TemporaryInbox(self.root)
        self.marks = SessionMarks(self.root)
        self.runs = ConsolidateRecords(self.root, self.clock)
        self.kept = KeptHistories(self.root, PLENTY)
        self.ledger = UsageLedger(self.root)
        self.tombstones = Tombstones(self.root)

    def capture(self, session_id: str, *texts: str) -> str:
        """A session in the inbox, with its history."""
        self.histories.put(session_id, history(session_id, *texts))
        return self.capture_entry(SessionFile("claude-code-session", session_id))

    def capture_note(self, title: str, body: str) -> str:
        entry = InboxEntry(self.clock.at_ms, Harness.MANUAL, InlineNote(title, body), Context(cwd=CWD))
        return self.inbox.put(entry).unwrap()

    def capture_entry(self, retrieval: SessionFile, harness: Harness = Harness.CLAUDE_CODE) -> str:
        self.clock.at_ms += 1000
        entry = InboxEntry(self.clock.at_ms, harness, retrieval, Context(cwd=CWD))
        return self.inbox.put(entry).unwrap()

    def io(self) -> ConsolidateIo:
        return ConsolidateIo(
            inbox=self.inbox,
            switches=lambda: Switches({"HOME": "/dev/null/none"}),
            histories=self.histories,
            scope_of=lambda cwd: REPO if cwd == CWD else GLOBAL_SCOPE,
            store=self.store,
            agent=self.agent,
            marks=self.marks,
            recorder=self.recorder,
            runs=self.runs,
            clock=self.clock,
            prompt_template=TEMPLATE,
            random_word=self._word,
            kept=self.kept,
            ledger=self.ledger,
            tombstones=self.tombstones,
            known=KnownNotes(self.store, NoteIndex(self.store.files)),
        )

    def run(self, *, limit: int | None = None, dry_run: bool = False) -> Run:
        return self.result(limit=limit, dry_run=dry_run).unwrap()

    def result(self, *, limit: int | None = None, dry_run: bool = False) -> Result[Run, Error]:
        self.clock.at_ms += 1000
        return consolidate(self.io(), Run(f"run-{self.clock.at_ms}", self.clock.at_ms, limit, dry_run))

    def listed(self) -> Sequence[Listed]:
        return self.store.list().unwrap().entries

    def titles(self) -> list[str]:
        return sorted(each.meta.title for each in self.listed())

    def verdicts(self, run: Run) -> Sequence[str]:
        return [each.outcome.verdict for each in run.settled]

    def _word(self) -> str:
        self.words.append(f"{len(self.words):032x}")
        return self.words[-1]
