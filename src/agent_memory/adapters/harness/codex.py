"""Histories of Codex threads, from the rollouts that it keeps (`codex-session`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial

from attrs import define, evolve, frozen
from returns.result import Result

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
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session, read_transcript
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    is_session_id,
    transcripts_below,
)
from agent_memory.adapters.harness.turn_drafts import Asked, Draft, NewFrom, asked
from agent_memory.domain.history import UNKNOWN_TYPE, History, Role, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

_MAX_DEPTH = 4
"""Rollouts are in `sessions/<year>/<month>/<day>/`; a root may be the directory around `sessions`."""


@frozen
class CodexSessions:
    """Reads rollouts inside `roots`, one line at a time (P25, P27).

    A sub-agent's rollout that an entry of its root session names is passed over for the root's own, which has the
    sub-agent's answer. Errors: see `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "codex-session", find_rollout, partial(self._read, mark))

    def _read(self, mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
        session = read_session(file, mark, partial(CodexSession, session_id))
        if session.root_id == session_id:
            path = find_rollout(self.roots, session_id)
            if path is not None and path != file.path:
                return read_transcript(self.roots, path, session_id, partial(_read_root, mark))
        return history_in(session, file, "Codex")


def find_rollout(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest `rollout-…-<session id>.jsonl`; None where there is none."""
    if not is_session_id(session_id):
        return None
    end = f"-{session_id}.jsonl"
    found = transcripts_below(roots, lambda name: name.startswith("rollout-") and name.endswith(end), _MAX_DEPTH)
    return found[0] if found else None


def _read_root(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    return history_in(read_session(file, mark, partial(CodexSession, session_id)), file, "Codex")


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


_RECENT = 60
_KEY_CHARS = 4_000
_WHOLE_CHARS = 60
"""Of a text so long, its beginning is a copy of it: citations and directives at the end are in some carriers only."""


@define
class _Heard:
    key: str
    carriers: set[str]


class Copies:
    """Tells the first record of some words from the copies of it in records of other kinds (`carrier`): within one kind
    the same words, said again, are said again. Only the last sixty different words are compared."""

    def __init__(self) -> None:
        self._recent: deque[_Heard] = deque(maxlen=_RECENT)

    def is_new(self, text: str, carrier: str) -> bool:
        """Whether these words were not heard from a carrier of another kind that still waits for its copy in this one."""
        key = " ".join(text[:_KEY_CHARS].split())
        for heard in self._recent:
            if carrier not in heard.carriers and _is_copy(heard.key, key):
                heard.carriers.add(carrier)
                return False
        self._recent.append(_Heard(key, {carrier}))
        return True


def _is_copy(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return shorter == longer or (len(shorter) >= _WHOLE_CHARS and longer.startswith(shorter))


_MAX_PRELUDE = 20
_UUID_DIGITS = 32


@define
class ForkedLines:
    """Which lines of a forked rollout are copies of its parent's.

    A fork begins with the lines of its parent, under new time stamps. What tells them apart are the ids of the model's
    turns, which hold the time when each was begun (UUIDv7): the first one that is not older than the fork is its own, with
    the prompt right before it. Ids of another form tell nothing, and everything from there on is taken.
    """

    created_ms: int | None = None
    open: bool = True
    prelude: list[Record] | None = None

    def note(self, origin: Origin) -> None:
        """The first `session_meta`."""
        self.created_ms = _time_in(origin.id) or origin.started_at_ms or 0
        if origin.forked_from_id and self.created_ms:
            self.open = False
            self.prelude = []

    def pass_on(self, record: Record) -> tuple[Record, ...] | None:
        """What is to be taken before this record, held back until now; None where this one is not to be taken (yet)."""
        if self.open or record.origin is not None:
            return ()
        if record.turn_id is not None:
            time_ms = _time_in(record.turn_id)
            if record.turn_id and (time_ms is None or time_ms >= (self.created_ms or 0)):
                self.open = True
                return tuple(self.prelude or ())
            self.prelude = []
        elif all(isinstance(part, LeftOut) or _is_prompt(part) for part in record.parts):
            self.prelude = [*(self.prelude or []), *([record] if record.parts else [])][-_MAX_PRELUDE:]
        else:
            self.prelude = []
        return None


def _is_prompt(part: Part) -> bool:
    return isinstance(part, Spoken) and part.role is Role.USER


def _time_in(id: str) -> int | None:
    """The time in a UUIDv7, in ms since 1970; None for any other id."""
    digits = id.replace("-", "")
    if len(digits) != _UUID_DIGITS or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16)
    except ValueError:
        return None
