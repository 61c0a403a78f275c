"""Asks the agent command questions about past sessions, with what the hooks would tell of the store and without, and has
the answers judged by it, which does not learn which is which. Nothing is written but the calls that were made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Literal, TypeVar

from attrs import field, frozen

from agent_memory.app import Memory, Progress
from agent_memory.capture.hook import HookProblem
from agent_memory.errors import Error, ReplyRefused, UsageInvalid
from agent_memory.evaluation.replay import PastMoment, PlacedMemory, by_coin, histories_of, past_sessions, prompts_of
from agent_memory.files.paths import read_shipped
from agent_memory.note.note import Harness
from agent_memory.ports import Agent
from agent_memory.prompt.prompt import Frame, plain, turn_lines
from agent_memory.prompt.reply import parse_members
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result, unwrap
from agent_memory.rules.plan import SessionRequest
from agent_memory.session.history import History
from agent_memory.session.queue import FileSnapshot, InboxEntry
from agent_memory.session.turns import MIN_WINDOW_CHARS, cut_windows, turn_chars

CALLS = 4
"""Calls for each question: to make it, to answer it twice, and to judge."""
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

    @property
    def verdict(self) -> str:
        if not self.judged:
            return "No question was answered and judged: this shows nothing."
        worth = [(_WORTH[each.with_notes], _WORTH[each.without]) for each in self.judged]
        better, worse = sum(one > other for one, other in worth), sum(one < other for one, other in worth)
        right = [sum(mark == 3 for mark in marks) for marks in zip(*worth, strict=True)]
        chance = by_coin(better, worse)
        said = "this shows nothing" if chance > 0.05 else "notes help" if better > worse else "notes do HARM"
        return (
            f"Right: {right[0]} of {len(worth)} with notes, {right[1]} without. Better with notes {better}, worse {worse}, alike "
            f"{len(worth) - better - worse}. A coin would be as uneven in {max(1, round(100 * chance))} of 100 tries: {said}."
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

    @property
    def calls(self) -> int:
        return CALLS * len(self.samples)

    def exam(self, progress: Progress) -> Exam:
        """Returns the outcome. What one reply spoils costs its question alone; what stops the command ends the exam."""
        judged, refused, nothing, stopped = list[Judged](), list[str](), 0, ""
        for number, (history, scope) in enumerate(self.samples, 1):
            progress(f"asking question {number} of {len(self.samples)}")
            try:
                found = self._judged(history, scope)
            except ReplyRefused as spoilt:
                refused.append(str(spoilt))
                continue
            except Error as error:
                stopped = str(error)
                break
            judged += [found] if found else []
            nothing += not found
        return Exam(tuple(judged), nothing, tuple(refused), stopped)

    def _judged(self, history: History, scope: str) -> Judged | None:
        window = cut_windows(history, self.window_chars)[0]
        made = self._reply("question", _Question, transcript="\n".join(turn_lines(window.turns)))
        if not (made.question.strip() and made.answer.strip()):
            return None
        told = self._told(history, scope, made.question)
        answers = [
            self._reply("answer", _Answer, notes=each, question=made.question).answer for each in (told, "(none)")
        ]
        swapped = os.urandom(1)[0] & 1  # the judge must not learn from their order which is which
        first, second = answers[::-1] if swapped else answers
        verdict = self._reply(
            "judge", _Verdict, question=made.question, expected=made.answer, first=first, second=second
        )
        marks = (verdict.second, verdict.first) if swapped else (verdict.first, verdict.second)
        return Judged(history.session_id, made.question, *marks)

    def _told(self, history: History, scope: str, question: str) -> str:
        """Returns what the hooks would tell a new session of the place at its start and with the question; records
        nothing."""
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
        return "\n\n".join(filter(None, texts)) or "(none)"

    def _reply(self, name: str, of: type[T], **parts: str) -> T:
        frame = Frame(os.urandom(16).hex(), os.urandom(16).hex())
        fenced = {each: frame.fenced(plain(text)) for each, text in parts.items()}
        prompt = frame.filled(_template(name), fenced | {"fence": frame.fence})
        entry = InboxEntry(self.memory.clock.now_ms(), Harness.MANUAL, FileSnapshot(""))
        request = SessionRequest(prompt, frame.nonce, entry, History(Harness.MANUAL, "", ()))
        return parse_members(redact(unwrap(self.agent.answer(request)).text).text, frame.nonce, of)


def _template(name: str) -> str:
    return read_shipped(f"prompts/eval-{name}.md")


@as_result
def plan_asking(memory: Memory, most: int, progress: Progress) -> Asking:
    """Returns what is to be asked about the newest sessions. UsageInvalid without an agent command or without sessions."""
    memory.caller.only_a_person("eval --ask")
    agent = unwrap(memory.agent())
    if agent.max_prompt_chars is None:
        raise UsageInvalid("The built-in extractor answers no questions", "Set `llm.command` or `llm.preset` first.")
    newest_first = histories_of(memory, past_sessions(memory)[::-1], progress)
    samples = tuple(islice(((history, scope) for _, history, scope in newest_first if prompts_of(history)), most))
    if not samples:
        raise UsageInvalid("No history of a session is kept yet", "`memory backfill` brings past ones.")
    window = max(MIN_WINDOW_CHARS, agent.max_prompt_chars - len(_template("question")) - _SPARE_CHARS)
    transcripts = sum(min(window, sum(map(turn_chars, history.turns))) for history, _ in samples)
    beside = sum(len(_template(name)) + _SPARE_CHARS for name in ("question", "answer", "answer", "judge"))
    beside += 4 * memory.config.inject.token_budget
    return Asking(memory, agent, samples, window, chars=transcripts + len(samples) * beside)
