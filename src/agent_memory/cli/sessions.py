"""`memory sessions`, and `memory search --sessions`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_memory.cli.arguments import add_choice, add_number, add_since, set_command
from agent_memory.cli.console import BOLD, DIM, Console, cut, marked_lines, table_lines, terminal_columns
from agent_memory.cli.dialogue import open_here, short_age
from agent_memory.documents import fields_of, rows_of
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import Harness
from agent_memory.recall.search_values import Mode, SearchRequest
from agent_memory.results import unwrap
from agent_memory.text.instants import day_of, instant
from agent_memory.text.plain_text import counted, one_line

if TYPE_CHECKING:
    from agent_memory.app import Memory
    from agent_memory.recall.said import SaidHit, SaidTurn

_CHARS, _SHORT_CHARS = 300, 40


def configure_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", help="only sessions of this scope: global, repo, or a repository's key")
    add_choice(parser, "--agent", Harness, "the harness")
    add_since(parser, "only sessions since: 30d (m h d w y) or a date such as 2026-02-13")
    add_number(parser, "--limit", "show at most N sessions", least=1)
    add_number(parser, "--offset", "skip the first N", least=0, default=0)
    epilog = (
        "In a pipe, each session is one line of tab-separated fields: id, harness, day, scope, branch, ids of the notes "
        "made of it, the person's first words, and the command that resumes it."
    )
    set_command(parser, _sessions, epilog, "memory sessions --scope repo --since 7d")


def _sessions(arguments: argparse.Namespace, console: Console) -> None:
    memory = open_here(console)
    scope = memory.scope_here() if arguments.scope == "repo" else arguments.scope
    found = [
        each
        for each in unwrap(memory.sessions(console.progress))
        if scope in (None, each.scope)
        and arguments.agent in (None, each.harness)
        and (arguments.since or each.last_at_ms) <= each.last_at_ms
    ]
    shown = found[arguments.offset :][: arguments.limit]
    if console.json:
        console.answer({"sessions": rows_of(shown)})
    elif not shown:
        console.warn("No such sessions. `memory backfill` finds those that no hook reported.")
    elif console.is_terminal:
        now_ms = memory.clock.now_ms()
        rows = [
            (
                *(one_line(each.session_id, _SHORT_CHARS), each.harness, short_age(each.last_at_ms, now_ms)),
                *(str(len(each.notes)), one_line(each.scope.removesuffix("/.git").rpartition("/")[2], _SHORT_CHARS)),
                one_line(each.branch or "", _SHORT_CHARS),
                one_line(f"{'' if each.verdict else '(not consolidated yet) '}{each.first_words}", _CHARS),
            )
            for each in shown
        ]
        headings = ("session", "harness", "last", "notes", "project", "branch", "first words")
        heading, *lines = table_lines(headings, rows, give_way=("branch", "project", "harness"))
        console.out(console.styled(BOLD, heading))
        for line, each in zip(lines, shown, strict=True):
            console.out(line, *([console.styled(DIM, f"  {each.reopen}")] if each.reopen else []))
        console.out(f"{len(shown):,} of {counted(len(found), 'session')}")
    else:
        for each in shown:
            about = (each.session_id, each.harness, day_of(each.last_at_ms), each.scope, each.branch or "")
            notes = " ".join(note.id for note in each.notes)
            fields = (*(one_line(one, _CHARS) for one in about), notes, each.first_words, each.reopen or "")
            console.out("\t".join(fields))


def search_sessions(memory: Memory, request: SearchRequest, console: Console) -> None:
    if request.kind or request.tags or request.archived or request.mode is Mode.SEMANTIC:
        raise UsageInvalid("--kind, --tag, --archived and --mode semantic are about notes, not sessions")
    answer = unwrap(memory.search_sessions(request, console.progress))
    console.warn(*answer.notices)
    console.answer(fields_of(answer), *(line for hit in answer.hits for line in _hit_lines(hit, console)))
    if not answer.hits and not console.json:
        console.warn("Nothing was found. `memory sessions` lists sessions; the words of consolidated ones are kept.")


def _hit_lines(hit: SaidHit, console: Console) -> Iterator[str]:
    when = "" if hit.turn.at_ms is None else instant(hit.turn.at_ms)
    about = (hit.session_id, hit.harness, f"{hit.score:.2f}", hit.scope, hit.branch or "", when)
    fields = [one_line(each, _CHARS) for each in about]
    speaker, before, after = f"turn {hit.turn.number}, {hit.turn.said_by}:", _beside(hit.before), _beside(hit.after)
    if not console.is_terminal:
        yield "\t".join((*fields, before, f"{speaker} {hit.snippet}", after, hit.reopen or ""))
        return
    yield console.styled(BOLD, " · ".join(filter(None, fields)))
    yield from [console.styled(DIM, cut(before, terminal_columns()))] if before else []
    yield speaker
    yield from marked_lines(hit.snippet, hit.marks, terminal_columns(), colour=console.colour)
    yield from [console.styled(DIM, cut(after, terminal_columns()))] if after else []
    yield from [hit.reopen, ""] if hit.reopen else [""]


def _beside(turn: SaidTurn | None) -> str:
    return "" if turn is None else one_line(f"{turn.said_by}: {turn.text}", _CHARS)
