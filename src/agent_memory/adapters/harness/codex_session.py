"""A Codex thread as turns, assembled line by line in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.adapters.harness.codex_fork import ForkedLines
from agent_memory.adapters.harness.codex_parts import (
    Called,
    Finished,
    LeftOut,
    Origin,
    Part,
    Patched,
    Record,
    Reported,
    Returned,
    Searched,
    Spoken,
)
from agent_memory.adapters.harness.codex_records import read_record
from agent_memory.adapters.harness.copies import Copies
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.turn_drafts import Asked, Draft, NewFrom, asked
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.vocabulary import Harness
from agent_memory.values import define, evolve


class CodexSession:
    """Takes the lines of one rollout in file order; `history` is what they say.

    A message that is logged several times is one turn. What a fork copied from its parent is left out, as are turns that
    were rolled back. A sub-agent's thread is automated, and its `root_id` names the session that it belongs to.
    """

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._ids = IdSet()
        self._said = {Role.USER: Copies(), Role.AGENT: Copies()}
        self._searched = Copies()
        self._called = IdSet()
        self._patched = IdSet()
        self._messages = 0
        self._prompts = 0
        self._rolled_back: set[int] = set()
        self._fork = ForkedLines()
        self._facts = _Facts()
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    @property
    def root_id(self) -> str | None:
        """Of a sub-agent's thread: the session it belongs to, empty where the rollout does not say; None for a root."""
        return self._facts.root_id

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object of the file."""
        record = read_record(value)
        if not record.known:
            self.turns.skip_unknown(record.kind)
            return
        self._facts.note(record)
        if record.origin is not None and self._fork.created_ms is None:
            self._fork.note(record.origin)
        prelude = self._fork.pass_on(record)
        if prelude is None:
            self.turns.count(known=True)
            self.turns.skip("forked-history")
            return
        for each in (*prelude, record):
            self._take(each)

    def history(self) -> History:
        """The new turns."""

        def left_out(draft: Draft) -> str | None:
            return "rolled-back" if draft.branch in self._rolled_back else None

        facts = self._facts
        told = SessionFacts(
            harness=Harness.CODEX,
            session_id=self.session_id,
            title=facts.title,
            cwd=facts.cwd,
            branch=facts.branch,
            agent=facts.model,
            started_at_ms=facts.started_at_ms,
            automated=facts.automated,
        )
        return history_of(told, self.turns, left_out, remaining=self._full)

    def _take(self, record: Record) -> None:
        if self.turns.has_enough and any(self._begins_turn(part) for part in record.parts):
            self._full = True
            return
        if not any(isinstance(part, LeftOut) and part.reason.startswith(UNKNOWN_TYPE) for part in record.parts):
            self.turns.count(known=True)
        if record.rolled_back:
            self._rolled_back.update(range(max(1, self._prompts - record.rolled_back + 1), self._prompts + 1))
        self.turns.enter(self._own_id(record.id) if record.parts else record.id, record.at_ms)
        for part in record.parts:
            self._take_part(part)
        self.turns.leave()

    def _own_id(self, id: str) -> str:
        """The id, with a number where another record has the same."""
        own, count = id, 1
        while not self._ids.add(own):
            count += 1
            own = f"{id}.{count}"
        return own

    def _begins_turn(self, part: Part) -> bool:
        if isinstance(part, LeftOut | Patched):
            return False
        return not (isinstance(part, Returned) and self.turns.awaits(part.call_id))

    # -- parts --------------------------------------------------------------------------------------------------------

    def _take_part(self, part: Part) -> None:
        match part:
            case Spoken():
                self._say(part)
            case Called(call):
                self._call(call)
            case Returned(call_id, output):
                self._answer(call_id, output.text, failed=output.failed)
            case Finished():
                self._finish(part)
            case Searched():
                self._search(part)
            case Patched(call_id, calls):
                if not call_id or self._patched.add(call_id):
                    self._speak("", calls)
            case Reported(source, text):
                self._answer(None, text, tool_name=source)
            case LeftOut(reason) if reason.startswith(UNKNOWN_TYPE):
                self.turns.skip_unknown(reason.removeprefix(UNKNOWN_TYPE))
            case LeftOut(reason):
                self.turns.skip(reason)

    def _say(self, spoken: Spoken) -> None:
        if not spoken.text.strip() or not self._said[spoken.role].is_new(spoken.text, spoken.carrier):
            return
        if spoken.role is Role.AGENT:
            self.turns.end_message()
            self._speak(spoken.text, ())
        elif not self.turns.begins_with_own_prompt(spoken.raw):
            self._prompts += 1
            self._facts.note_prompt()
            self.turns.say(Role.USER, spoken.text, branch=self._prompts)

    def _speak(self, text: str, calls: tuple[Asked, ...]) -> None:
        if self.turns.message_id is None:
            self._messages += 1
        self.turns.speak(f"{self._messages}", text, calls, branch=self._prompts)

    def _call(self, made: Asked) -> None:
        call_id = made.call_id
        if call_id:
            self._called.add(call_id)
            if made.call.name == "apply_patch":
                self._patched.add(call_id)
        self._speak("", (made,))

    def _answer(self, call_id: str | None, text: str, *, tool_name: str | None = None, failed: bool = False) -> None:
        self.turns.answer(call_id, text, tool_name=tool_name, failed=failed, branch=self._prompts)
        self.turns.end_message()

    def _finish(self, finished: Finished) -> None:
        call = finished.call
        if call.call_id and not self._called.add(call.call_id):
            return
        if finished.by_person:
            self._answer(None, f"$ {call.call.brief}\n{finished.output.text}", tool_name="shell")
        elif self.turns.awaits_any:
            # Made by a program that the agent wrote and that is still running: its output will tell what came of it.
            if call.of_memory:
                self.turns.asks_memory()
            self._speak("", (evolve(call, call_id=""),))
        else:
            self._speak("", (call,))
            self._answer(call.call_id or None, finished.output.text, failed=finished.output.failed)

    def _search(self, searched: Searched) -> None:
        if self._searched.is_new(searched.query, searched.carrier):
            from_web = searched.results or "[what was found is not recorded]"
            self._speak("", (asked("", "web_search", {"query": searched.query}),))
            self._answer(None, from_web, tool_name="web_search")
        elif searched.results:
            self._answer(None, searched.results, tool_name="web_search")


@define
class _Facts:
    """What the lines say about the thread as a whole."""

    origin: Origin | None = None
    scripted: bool = False
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    started_at_ms: int | None = None
    typed_prompts: int = 0
    scripted_prompts: int = 0

    def note(self, record: Record) -> None:
        if record.origin is not None and (self.origin is None or record.origin.id == self.origin.id):
            self.origin = self.origin or record.origin
            self.scripted = record.origin.scripted
            self.cwd = self.cwd or record.origin.cwd
            self.started_at_ms = self.started_at_ms or record.origin.started_at_ms
        self.cwd = self.cwd or record.cwd
        self.model = record.model or self.model
        self.title = record.title or self.title
        self.started_at_ms = self.started_at_ms or record.at_ms

    def note_prompt(self) -> None:
        self.scripted_prompts += self.scripted
        self.typed_prompts += not self.scripted

    @property
    def branch(self) -> str | None:
        return self.origin.branch if self.origin else None

    @property
    def root_id(self) -> str | None:
        return self.origin.root_id if self.origin else None

    @property
    def automated(self) -> bool:
        """A sub-agent's thread, or one in which every prompt came from a program."""
        return self.root_id is not None or (self.scripted_prompts > 0 and not self.typed_prompts)
