"""Asks the agent command questions about past sessions, with what the hooks would tell of the store and without, and has
the answers judged by it, which does not learn which is which. Nothing is written but the calls that were made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Literal, TypeVar

from attrs import field, frozen
from returns.result import Success

from agent_memory.app import Memory, Progress
from agent_memory.capture.hook import HookProblem
from agent_memory.errors import AgentMissing, Error, ReplyRefused, SpendExhausted, UsageInvalid
from agent_memory.evaluation.replay import PastMoment, PlacedMemory, by_coin, histories_of, past_sessions, prompts_of
from agent_memory.files.paths import read_shipped
from agent_memory.note.note import Harness
from agent_memory.ports import Agent
from agent_memory.prompt.prompt import Frame, plain, turn_lines
from agent_memory.prompt.reply import parse_members
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result, unwrap
from agent_memory.rules.plan import DaySpend, SessionRequest
from agent_memory.session.history import History
from agent_memory.session.queue import FileSnapshot, InboxEntry
from agent_memory.session.windows import MIN_WINDOW_CHARS, cut_windows, turn_chars
from agent_memory.text.instants import day_of

CALLS = 4
"""Calls for each question: to make it, to answer it twice, and to judge."""
_LEAST_UNEVEN = 6
"""Fewer come out all the same way by chance alone, more than 5 times in 100."""
_SPARE_CHARS, _ANSWER_CHARS = 1_500, 2_000

Mark = Literal["right", "partly", "unknown", "wrong"]
_WORTH: Mapping[str, int] = {"right": 3, "partly": 2, "unknown": 1, "wrong": 0}
T = TypeVar("T")


def _too_long(text: str) -> str | None:
    return (
        None if len(text) <= _ANSWER_CHARS else f"has {len(text):,} characters, at most {_ANSWER_CHARS:,} are allowed"
    )


Short = Annotated[str, _too_long]


@frozen
class _Question:
    question: Short
    answer: Short


@frozen
class _Answer:
    answer: Short


@frozen
class _Verdict:
    first: Mark
    second: Mark


@frozen
class Judged:
    """A question and how it was answered."""

    session_id: str
    question: str
    expected: str
    told: tuple[str, ...]
    """The notes that the hooks tell."""
    answer_with_notes: str
    answer_without: str
    with_notes: Mark
    without: Mark


@frozen
class Exam:
    judged: tuple[Judged, ...]
    nothing_to_ask: int = 0
    refused: tuple[str, ...] = ()
    """Why questions came to nothing, one sentence each."""
    stopped: str = ""
    """Why the rest was not asked."""
    calls: int = 0
    chars: int = 0
    """What was sent."""

    @property
    def verdict(self) -> str:
        if not self.judged:
            return "No question was answered and judged: this shows nothing."
        worth = [(_WORTH[each.with_notes], _WORTH[each.without]) for each in self.judged]
        better, worse = sum(one > other for one, other in worth), sum(one < other for one, other in worth)
        right, partly = ([sum(pair[of] == mark for pair in worth) for of in (0, 1)] for mark in (3, 2))
        chance = by_coin(better, worse)
        said = "this shows nothing" if chance > 0.05 else "notes help" if better > worse else "notes do HARM"
        by_chance = f"By chance alone this would come out as uneven in about {max(1, round(100 * chance))} of 100 tries: {said}."
        return (
            f"Right: {right[0]} of {len(worth)} with notes, {right[1]} without; partly right: {partly[0]} and {partly[1]}. Better "
            f"with notes {better}, worse {worse}, alike {len(worth) - better - worse}. "
            f"{by_chance if better + worse >= _LEAST_UNEVEN else 'Too few differ to show anything.'} The questions come from "
            "these same sessions: this tells whether notes keep and tell what was said in them, not whether agents work better."
        )


@frozen
class Asking:
    memory: Memory
    agent: Agent
    samples: tuple[tuple[History, str], ...]
    """The newest sessions, each with its scope."""
    window_chars: int
    chars: int = field(kw_only=True)
    """About how many characters are going to be sent."""
    calls_left: int = field(kw_only=True)
    """Before `llm.maxCallsPerDay` is reached."""
    sent: list[int] = field(factory=list[int], init=False)
    """The characters of each prompt that was sent."""

    def exam(self, progress: Progress) -> Exam:
        """Returns the outcome. What one reply spoils costs its question alone; what stops the command ends the exam."""
        judged, refused, nothing, stopped = list[Judged](), list[str](), 0, ""
        for number, (history, scope) in enumerate(self.samples, 1):
            progress(f"asking question {number} of {len(self.samples)}")
            try:
                found = self._judged(history, scope)
            except ReplyRefused as spoilt:
                refused.append(f"Question {number} ({history.harness} {history.session_id}): {spoilt}")
                continue
            except Error as error:
                stopped = str(error)
                break
            judged += [found] if found else []
            nothing += not found
        return Exam(tuple(judged), nothing, tuple(refused), stopped, len(self.sent), sum(self.sent))

    def _judged(self, history: History, scope: str) -> Judged | None:
        window = cut_windows(history, self.window_chars)[0]
        made = self._reply("question", _Question, place=scope, transcript="\n".join(turn_lines(window.turns)))
        if not (made.question.strip() and made.answer.strip()):
            return None
        told, ids = self._told(history, scope, made.question)
        knowing, without = (
            self._reply("answer", _Answer, notes=each, question=made.question).answer for each in (told, "(none)")
        )
        swapped = os.urandom(1)[0] & 1  # the judge must not learn from their order which is which
        first, second = (without, knowing) if swapped else (knowing, without)
        verdict = self._reply(
            "judge", _Verdict, question=made.question, expected=made.answer, first=first, second=second
        )
        marks = (verdict.second, verdict.first) if swapped else (verdict.first, verdict.second)
        return Judged(history.session_id, made.question, made.answer, ids, knowing, without, *marks)

    def _told(self, history: History, scope: str, question: str) -> tuple[str, tuple[str, ...]]:
        """Returns what the hooks would tell a new session of the place at its start and with the question, and the notes
        in it; records nothing."""
        memory = self.memory
        there = PlacedMemory(memory.environ, history.cwd or "/", memory.effective, memory.warn, scope=scope)
        texts, known = list[str](), dict[str, bool]()
        try:
            for prompt in ("", question):
                moment = PastMoment(there, history.harness.value, "", prompt)
                said = moment.assembled(moment.offer(), known)
                known |= {id: id in said.whole for id in said.ids}
                texts.append(said.text)
        except HookProblem as problem:
            memory.warn(str(problem.args[-1]))
        return "\n\n".join(filter(None, texts)) or "(none)", tuple(known)

    def _reply(self, name: str, of: type[T], **parts: str) -> T:
        frame = Frame(os.urandom(16).hex(), os.urandom(16).hex())
        fenced = {each: frame.fenced(plain(text)) for each, text in parts.items()}
        prompt = frame.filled(_template(name), fenced | {"fence": frame.fence})
        entry = InboxEntry(self.memory.clock.now_ms(), Harness.MANUAL, FileSnapshot(""))
        request = SessionRequest(prompt, frame.nonce, entry, History(Harness.MANUAL, "", ()))
        answered = self.agent.answer(request)
        if isinstance(answered, Success) or not isinstance(answered.failure(), SpendExhausted | AgentMissing):
            self.sent.append(len(prompt))
        return parse_members(redact(unwrap(answered).text).text, frame.nonce, of)


def _template(name: str) -> str:
    return read_shipped(f"prompts/eval-{name}.md")


@as_result
def plan_asking(memory: Memory, most: int, progress: Progress) -> Asking:
    """Returns what is to be asked about the newest sessions. UsageInvalid without an agent command or without sessions;
    SpendExhausted where too few calls are left today for one question."""
    memory.caller.only_a_person("eval --ask")
    agent = unwrap(memory.agent())
    if agent.max_prompt_chars is None:
        raise UsageInvalid("The built-in extractor answers no questions", "Set `llm.command` or `llm.preset` first.")
    at_most = memory.config.llm.max_calls_per_day
    today = unwrap(memory.spend.days()).get(day_of(memory.clock.now_ms()), DaySpend()).calls
    if at_most - today < CALLS:
        raise SpendExhausted(today, at_most)
    newest_first = histories_of(memory, past_sessions(memory)[::-1], progress)
    fit = ((history, scope) for _, history, scope in newest_first if prompts_of(history))
    samples = tuple(islice(fit, min(most, (at_most - today) // CALLS)))
    if not samples:
        raise UsageInvalid("No history of a session is kept yet", "`memory backfill` brings past ones.")
    window = max(MIN_WINDOW_CHARS, agent.max_prompt_chars - len(_template("question")) - _SPARE_CHARS)
    transcripts = sum(min(window, sum(map(turn_chars, history.turns))) for history, _ in samples)
    beside = sum(len(_template(name)) + _SPARE_CHARS for name in ("question", "answer", "answer", "judge"))
    beside += 4 * memory.config.inject.token_budget
    chars = transcripts + len(samples) * beside
    return Asking(memory, agent, samples, window, chars=chars, calls_left=at_most - today)
