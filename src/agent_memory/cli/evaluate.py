"""`memory eval`: whether memory helps, in numbers that may come out against it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from agent_memory.cli.console import Arguments, Console, Options, table_lines
from agent_memory.cli.dialogue import first_of, is_agreed, open_here
from agent_memory.documents import fields_of, rows_of
from agent_memory.errors import UsageInvalid
from agent_memory.evaluation.replay import MEASURES, Corrected, Replay, compare_arms, interval, learnt_from, replay
from agent_memory.results import unwrap
from agent_memory.text.plain_text import counted, one_line

_MOST_SHOWN = 10
_QUESTIONS, _MOST_QUESTIONS = 10, 100
_TEXT_CHARS = 120


def configure_eval(options: Options) -> None:
    ways = options.one_of()
    directory = "replay the transcripts in this directory; the built-in extractor learns from them in a temporary store"
    ways.add("--transcripts-dir", metavar="PATH", help=directory)
    ways.flag("--hold-out", "compare the sessions that were told nothing (eval.holdOut) with the others")
    asked = (
        "have your agent command write a question about each of the N newest sessions, answer it with notes and without, "
        f"and judge the answers (default {_QUESTIONS})"
    )
    ways.add("--ask", metavar="N", nargs="?", const=_QUESTIONS, type=_questions, help=asked)
    options.flag("--yes", "ask without confirmation")
    epilog = (
        "Goes through past sessions in their order and checks for each of your corrections whether a note from an earlier "
        "session said the same, and whether a hook would have told it before. Corrections are found by their wording, so "
        "some are missed; notes are those of today. The store is only read, no model is asked, and nothing leaves this "
        "machine. --ask sends four prompts for each question to your agent command, and says first how many in all. Who answers "
        "sees what a hook tells, and cannot look up more. Exit code 1 if the command failed before the end, or no reply could "
        "be used."
    )
    options.runs(_eval, epilog, "memory eval --transcripts-dir ~/.claude/projects")


def _eval(arguments: Arguments, console: Console) -> int:
    if arguments.yes and arguments.ask is None:
        raise UsageInvalid("--yes needs --ask", "See `memory eval --help`.")
    if arguments.hold_out:
        _compare(console)
        return 0
    if arguments.ask is not None:
        return _ask(arguments, console)
    memory = open_here(console)
    with TemporaryDirectory(prefix="agent-memory-eval-") as scratch:
        if arguments.transcripts_dir is not None:
            path = os.path.realpath(os.path.expanduser(arguments.transcripts_dir))
            if not (arguments.transcripts_dir and os.path.isdir(path)):
                raise UsageInvalid(f"{arguments.transcripts_dir!r} is not a directory", "See `memory eval --help`.")
            memory = learnt_from(path, os.environ, Path(scratch), console.warn, console.progress)
        found = unwrap(replay(memory, Path(scratch), console.progress))
    if not found.tokens:
        console.warn("No history of a session is kept yet. `memory backfill` and `memory consolidate` bring past ones.")
    low, high = interval(found.told, len(found.known))
    document = {
        "sessions": len(found.tokens),
        "notes": found.notes,
        "corrections": len(found.corrections),
        "nothingKnownYet": len(found.corrections) - len(found.known),
        "known": len(found.known),
        "told": found.told,
        "recall": found.told / len(found.known) if found.known else None,
        "recallFrom": low,
        "recallTo": high,
        "tokens": found.tokens,
        "found": rows_of(found.corrections),
    }
    console.answer(document, *(_table(found) if found.tokens else ()))
    return 0


def _table(found: Replay) -> Iterator[str]:
    unknown = len(found.corrections) - len(found.known)
    spent = f"{fmean(found.tokens):,.0f} on average, {max(found.tokens):,} at most"
    rows = [
        ("sessions", f"{len(found.tokens):7,}", f"in their order; {counted(found.notes, 'note')} in all"),
        ("corrections", f"{len(found.corrections):7,}", "what you told the agent after it had started"),
        ("nothing known yet", f"{unknown:7,}", "no note of an earlier session matched"),
        ("known", f"{len(found.known):7,}", "a note of an earlier session matched"),
        ("told", f"{found.told:7,}", "it was told before you had to say it again"),
        ("tokens", f"{median(found.tokens):7,.0f}", f"told a session (median); {spent}"),
    ]
    yield from table_lines(("what", f"{'number':>7}", "meaning"), rows, 200)
    yield ""
    yield _recall(found)
    yield from first_of([_line(each) for each in found.known], _MOST_SHOWN, "`memory eval --json` has all")


def _recall(found: Replay) -> str:
    of = len(found.known)
    if not of:
        return "Recall is not known: nothing that you corrected was known before."
    low, high = interval(found.told, of)
    sentence = (
        f"Recall: {found.told:,} of {of:,} known corrections told, {found.told / of:.0%}; anything from {low:.0%} to {high:.0%} "
        "is compatible with that."
    )
    return f"{sentence} This is a small number: it shows single cases, no tendency." if of < 30 else sentence


def _line(each: Corrected) -> str:
    text = one_line(each.text, _TEXT_CHARS)
    return (
        f"{'told' if each.told else 'NOT TOLD':8}  {each.matching[0]}  {text} (turn {each.turn} of {each.session_id})"
    )


def _compare(console: Console) -> None:
    arms = unwrap(compare_arms(open_here(console), console.progress))
    rows = [(name.replace("_", " "), *(f"{mean:8.2f}" for mean in arms.means(name))) for name in MEASURES]
    counts = ("sessions", f"{len(arms.told):8,}", f"{len(arms.held_out):8,}")
    console.answer(
        fields_of(arms) | {"verdicts": arms.verdicts},
        *((*table_lines(("a session", "    told", "held out"), [counts, *rows]), "") if arms.told else ()),
        *arms.verdicts,
    )


def _questions(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= _MOST_QUESTIONS):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_MOST_QUESTIONS}")
    return int(text)


def _ask(arguments: Arguments, console: Console) -> int:
    from agent_memory.evaluation.asking import CALLS, plan_asking

    memory = open_here(console)
    asking = unwrap(plan_asking(memory, arguments.ask, console.progress))
    console.out(
        f"{counted(len(asking.samples), 'question')}: {CALLS * len(asking.samples)} calls of your agent command, about "
        f"{asking.chars:,} characters. {asking.calls_left:,} of the {memory.config.llm.max_calls_per_day:,} calls that "
        "llm.maxCallsPerDay allows are left today."
    )
    if not arguments.yes and not is_agreed(console, "Send them?", "Nothing was sent"):
        console.out("Nothing was sent.")
        return 0
    exam = asking.exam(console.progress)
    rows = [(each.with_notes, each.without, one_line(each.question, _TEXT_CHARS)) for each in exam.judged]
    console.warn(*first_of(exam.refused, _MOST_SHOWN, "`memory eval --json` has all"))
    if exam.nothing_to_ask:
        console.warn(f"It found nothing to ask about {counted(exam.nothing_to_ask, 'session')}.")
    if exam.stopped:
        console.warn(f"The rest was not asked. {exam.stopped}")
    table = [*table_lines(("with notes", "without", "question"), rows), ""] if rows else []
    console.answer(fields_of(exam) | {"verdict": exam.verdict}, *table, exam.verdict)
    return 1 if exam.stopped or (exam.refused and not exam.judged) else 0
