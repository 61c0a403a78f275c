"""`memory search`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from agent_memory.app import Memory
from agent_memory.domain.entry import Usage
from agent_memory.domain.instants import iso_of
from agent_memory.domain.searching.search import MAX_HITS, Mode, ScorePart, SearchAnswer, SearchHit, SearchRequest
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.text.tags import normal_tag, split_tags
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind
from agent_memory.errors import UsageInvalid
from agent_memory.formats.entry_json import search_document
from agent_memory.results import unwrap
from agent_memory.surfaces.cells import terminal_columns
from agent_memory.surfaces.cli.opening import add_choice, open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.marked_text import marked_lines
from agent_memory.surfaces.periods import age_of, since_ms_of
from agent_memory.surfaces.texts import text_of
from agent_memory.wording import warning_of

DEFAULT_HITS = 10
_QUERY_CHARS = 60


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+", help="what to look for; `-` reads it from standard input")
    add_choice(parser, "--kind", Kind, "only notes of this kind")
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        help="only notes with this tag, with or without its prefix; may be repeated",
    )
    parser.add_argument("--scope", help="only notes of this scope: global, repo, or a repository's key")
    parser.add_argument("--since", metavar="WHEN", help="only notes changed since: 30d, 12h, or 2026-02-13")
    parser.add_argument("--session", metavar="ID", help="only notes that come from this session")
    add_choice(parser, "--mode", Mode, "by words, by meaning, or by both")
    parser.add_argument("--limit", type=int, metavar="N", help=f"show no more than N notes (default {DEFAULT_HITS})")
    parser.add_argument("--min-score", type=float, metavar="X", help="leave out what scores less, 0 to 1")
    parser.add_argument("--archived", action="store_true", help="search the archive too, below the live notes")
    parser.add_argument("--explain", action="store_true", help="show each part of the scores")
    parser.set_defaults(mode=Mode.HYBRID.value, limit=DEFAULT_HITS)
    parser.epilog = (
        "Any text is a query: words, a symbol, a path, a pasted error message. The best note comes first, of the scope of "
        "the working directory before others that are as good. Piped, one note a line, its fields separated by tabs: id, "
        "score, tier, kind, origin, day, title, the best passage, the note that supersedes it. Searching counts no read. "
        "Exit code 0, also where nothing is found. Example: memory search 'zebra lock migration' --kind decision"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    if console.is_terminal:  # a person rather waits than searches half of the notes
        memory.index_all(console.progress, by_meaning=arguments.mode != Mode.BM25)
    request = _request(arguments, memory)
    _print(memory, console, request, unwrap(memory.search(request)), explain=arguments.explain)
    return 0


def _request(arguments: argparse.Namespace, memory: Memory) -> SearchRequest:
    if problem := _problem(arguments):
        raise UsageInvalid(problem)
    tags = tuple(dict.fromkeys(word for each in arguments.tag for word in split_tags(each)))
    if wrong := [tag for tag in tags if normal_tag(tag) is None]:
        raise UsageInvalid(f"Nothing of {wrong[0]!r} in --tag can be a tag")
    return SearchRequest(
        query=text_of(" ".join(arguments.query)),
        limit=arguments.limit,
        mode=Mode(arguments.mode),
        kind=Kind(arguments.kind) if arguments.kind else None,
        tags=tags,
        scope=memory.scope_here() if arguments.scope == "repo" else arguments.scope,
        since_ms=None if arguments.since is None else since_ms_of(arguments.since, memory.clock.now_ms()),
        session=arguments.session,
        min_score=arguments.min_score,
        archived=arguments.archived,
        here=memory.scope_here(),
    )


def _problem(arguments: argparse.Namespace) -> str | None:
    if not 1 <= arguments.limit <= MAX_HITS:
        return f"--limit is {arguments.limit}, expected a number from 1 to {MAX_HITS:,}"
    if arguments.min_score is not None and not 0 <= arguments.min_score <= 1:
        return f"--min-score is {arguments.min_score:g}, expected a number from 0 to 1"
    return None


def _print(memory: Memory, console: Console, request: SearchRequest, answer: SearchAnswer, *, explain: bool) -> None:
    for notice in answer.notices:
        console.err(f"memory: {notice}")
    if console.json:
        console.document(search_document(request, answer, _usage(memory, console)))
        return
    if not answer.hits:
        query = one_line(request.query, _QUERY_CHARS)
        console.err(
            f"memory: Nothing was found for {query!r}. Try fewer or other words, another --mode, --archived, or "
            "`memory list`."
        )
        return
    now_ms = memory.clock.now_ms()
    for number, hit in enumerate(answer.hits, 1):
        if console.is_terminal:
            console.out("\n".join(shown_hit(number, hit, now_ms, colour=console.colour, explain=explain)))
        else:
            console.out(plain_line(hit, explain=explain))
    closing = closing_line(answer)
    if console.is_terminal:
        console.out("\n".join(lines_of(closing)))
    else:
        console.err(f"memory: {closing}")


def _usage(memory: Memory, console: Console) -> dict[str, Usage]:
    """Reads of every note by the ledgers; without them the frontmatter's copies count."""
    totals = memory.ledger.totals()
    for warning in warning_of(totals):
        console.err(f"memory: {warning}")
    return dict(totals.value_or({}))


_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_INDENT = "   "
_MOST_CELLS = 100
_LEAST_CELLS = 12
_TITLE_CHARS = 160
_DETAIL_CHARS = 120
_HOW = {Mode.HYBRID: "by words and by meaning", Mode.BM25: "by words", Mode.SEMANTIC: "by meaning"}


def plain_line(hit: SearchHit, *, explain: bool = False) -> str:
    """One line of fields separated by tabs; with `explain` one more, the parts of the score."""
    meta = hit.listed.meta
    cells = [
        meta.id,
        f"{hit.score:.2f}",
        _place(hit),
        meta.kind.value,
        meta.origin.value,
        iso_of(meta.updated_at_ms)[:10],
        one_line(meta.title, _TITLE_CHARS),
        one_line(hit.snippet.text, len(hit.snippet.text)),
        hit.superseded_by or "",
    ]
    if explain:
        cells.append("; ".join(_part(each) for each in hit.parts))
    return "\t".join(cells)


def shown_hit(
    number: int, hit: SearchHit, now_ms: int, *, colour: bool, explain: bool = False, width_cells: int | None = None
) -> list[str]:
    """The lines of one hit: its title, the facts, the passage with what was found in it, and a blank one."""
    meta = hit.listed.meta
    title = one_line(meta.title, _TITLE_CHARS)
    facts = [_place(hit), meta.kind.value, f"from {meta.origin.value}", age_of(meta.updated_at_ms, now_ms)]
    if meta.scope != GLOBAL_SCOPE:
        facts.append(one_line(meta.scope, _TITLE_CHARS))
    about = f"{meta.id} · {' · '.join(facts)} · {hit.score:.2f}"
    first = f"{number}. "
    room = _room(width_cells, len(first))
    lines = [
        f"{first if at == 0 else _INDENT}{_in(_BOLD, line, colour=colour)}"
        for at, line in enumerate(marked_lines(title, (), room, colour=False))
    ]
    lines += [f"{_INDENT}{_in(_DIM, line, colour=colour)}" for line in marked_lines(about, (), room, colour=False)]
    if hit.superseded_by is not None:
        lines.append(f"{_INDENT}superseded by {hit.superseded_by}")
    passage = marked_lines(hit.snippet.text, hit.snippet.marks, room, colour=colour)
    lines += [f"{_INDENT}{line}" for line in passage]
    if explain:
        lines += _explained(hit.parts)
    return [*lines, ""]


def lines_of(text: str, width_cells: int | None = None) -> list[str]:
    """A sentence in lines that fit."""
    return marked_lines(text, (), _room(width_cells, 0), colour=False)


def _room(width_cells: int | None, indent: int) -> int:
    line_cells = width_cells if width_cells is not None else terminal_columns()
    return max(min(line_cells, _MOST_CELLS) - indent, _LEAST_CELLS)


def _in(style: str, text: str, *, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour else text


def closing_line(answer: SearchAnswer) -> str:
    """How many notes are shown, and what answered."""
    count = len(answer.hits)
    of = f" of {answer.matched:,} that match" if answer.matched > count else ""
    return f"{count:,} note{'' if count == 1 else 's'}{of}, found {_HOW[answer.mode]} ({answer.mode.value})."


def _place(hit: SearchHit) -> str:
    return "archived" if hit.listed.archived else hit.tier.value


def _explained(parts: Iterable[ScorePart]) -> list[str]:
    return [f"{_INDENT}{each.value:+.3f}  {_named(each)}" for each in parts]


def _part(part: ScorePart) -> str:
    return f"{part.value:+.3f} {_named(part)}"


def _named(part: ScorePart) -> str:
    detail = one_line(part.detail, _DETAIL_CHARS)
    return f"{part.name}: {detail}" if detail else part.name
