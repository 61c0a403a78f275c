"""What became of a session, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.domain.explaining.session_trace import Capture, SessionTrace
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import Outcome, Trouble
from agent_memory.domain.queueing.fold import MAX_ATTEMPTS
from agent_memory.domain.run_log import short_id

_MOST_OUTCOMES = 10
_VERDICTS: Mapping[str, str] = {
    "written": "notes were made of it",
    "skipped": "nothing of it was kept",
    "unchanged": "it held nothing new since the time before",
    "refused": "the agent's answer was refused",
    "unavailable": "its transcript was not there",
    "timed-out": "the agent gave no answer in time",
    "gave-up": "it was given up",
    "own-call": "it is one of memory's own calls to an agent, and nothing is learnt from those",
    "paused": "the run had to stop before it",
    "planned": "it was only looked at, in a dry run",
}


def state_in_words(trace: SessionTrace) -> str:
    """One sentence: where the session stands."""
    match trace.state:
        case "pending":
            before = " It was read before, and has grown since." if trace.mark is not None else ""
            return f"It waits in the inbox; `memory consolidate` reads it.{before}"
        case "failed":
            return "It was given up; `memory consolidate --retry-failed` tries it again."
        case "processed":
            return "It has been read."
        case "never-captured":
            return "No capture of it has arrived, though notes name it." if trace.entries else NEVER_CAPTURED


NEVER_CAPTURED = (
    "Nothing is known of it: no capture of it has arrived. `memory status` shows captures that did not arrive; "
    "`memory capture --harness NAME --session ID --transcript PATH` captures it now."
)


def facts_in_words(trace: SessionTrace) -> tuple[str, ...]:
    """What is known besides, one sentence each, in the order in which it happened."""
    return (*_captured(trace), *_outcomes(trace), *_read_up_to(trace), *_trouble(trace), *_held_back(trace))


def outcome_in_words(at_ms: int, verdict: str, reason: str, run_id: str) -> str:
    """`2026-02-13 14:30 UTC: nothing of it was kept: … (run 4dbfbe)`."""
    why = f": {reason.rstrip('.')}" if reason else ""
    return f"{instant(at_ms)}: {_VERDICTS.get(verdict, verdict)}{why} (run {short_id(run_id)})"


def instant(at_ms: int) -> str:
    """`2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def dropped_of(trace: SessionTrace) -> tuple[str, ...]:
    """What of the agent's answers was not applied and why, each once, newest first."""
    by_captures = (words for each in trace.retired if each.outcome for words in each.outcome.dropped)
    by_runs = (words for each in trace.runs for words in each.seen.dropped)
    return tuple(dict.fromkeys((*by_captures, *by_runs)))


def _captured(trace: SessionTrace) -> tuple[str, ...]:
    captures = trace.captures
    if not captures:
        return ()
    first, last = instant(captures[-1].at_ms), instant(captures[0].at_ms)
    if len(captures) == 1:
        return (f"It was captured on {last}.",)
    return (f"It was captured {len(captures)} times, first on {first}, last on {last}.",)


def _outcomes(trace: SessionTrace) -> tuple[str, ...]:
    """The newest ones, the newest last; what the inbox no longer tells, the runs do."""
    by_captures = [_outcome_in_words(each.outcome) for each in trace.retired if each.outcome is not None]
    by_runs = [outcome_in_words(each.at_ms, each.seen.verdict, each.seen.reason, each.run_id) for each in trace.runs]
    told = tuple(dict.fromkeys(by_captures or by_runs))
    return tuple(reversed(told[:_MOST_OUTCOMES]))


def _outcome_in_words(outcome: Outcome) -> str:
    return outcome_in_words(outcome.at_ms, outcome.verdict, outcome.reason, outcome.run_id)


def _read_up_to(trace: SessionTrace) -> tuple[str, ...]:
    mark = trace.mark
    if mark is None:
        return ()
    when = f", of {instant(mark.last_at_ms)}" if mark.last_at_ms is not None else ""
    return (f"It has been read up to turn {mark.turns_seen}{when}, by {mark.agent_name}.",)


def _trouble(trace: SessionTrace) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_trouble_in_words(each) for each in trace.waiting if each.trouble is not None))


def _trouble_in_words(capture: Capture) -> str:
    trouble = capture.trouble or Trouble()
    counts: list[str] = []
    if trouble.attempts:
        counts.append(f"{trouble.attempts} of {MAX_ATTEMPTS} attempts used up")
    if trouble.timeouts:
        counts.append(f"{trouble.timeouts} time-out{'' if trouble.timeouts == 1 else 's'} in a row")
    if trouble.unavailable_since_ms is not None:
        counts.append(f"its transcript was not there since {instant(trouble.unavailable_since_ms)}")
    if trouble.not_before_ms:
        counts.append(f"not tried again before {instant(trouble.not_before_ms)}")
    why = f": {trouble.message.rstrip('.')}" if trouble.message else ""
    return f"It was set back ({', '.join(counts)}){why}." if counts else f"It was set back{why}."


def _held_back(trace: SessionTrace) -> tuple[str, ...]:
    if not trace.deferred:
        return ()
    return (f"What it changes of {', '.join(trace.deferred)} waits for the next run: one run changes only so much.",)
