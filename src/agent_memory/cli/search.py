"""`memory search`: notes, and what was said in sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_memory.cli.console import (
    BOLD,
    DIM,
    Arguments,
    Console,
    Options,
    broken_lines,
    cut,
    marked_lines,
    styled,
    terminal_columns,
    text_of,
)
from agent_memory.cli.dialogue import open_here, short_age
from agent_memory.documents import fields_of, search_document
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Kind, Usage
from agent_memory.recall.grounding import CHANGED, GONE, ground_lines, grounding_mark
from agent_memory.recall.hits import MAX_HITS, Mode, SearchAnswer, SearchHit, SearchRequest
from agent_memory.results import unwrap, warning_of
from agent_memory.text.ids import normal_tag, split_tags
from agent_memory.text.instants import day_of, instant
from agent_memory.text.plain_text import counted, one_line

if TYPE_CHECKING:
    from agent_memory.app import Memory
    from agent_memory.recall.session_search import SaidHit, SaidTurn

DEFAULT_HITS = 10


def configure_search(options: Options) -> None:
    options.add("query", metavar="QUERY", nargs="+", help="what to look for; `-` reads it from standard input")
    options.choice("--kind", Kind, "only notes of this kind")
    tag = "only notes with this tag, with or without its prefix; may be repeated"
    options.add("--tag", action="append", default=[], help=tag)
    options.add("--scope", help="only notes of this scope: global, repo, or a repository's key")
    options.since("only notes changed since: 30d, 12h, or 2026-02-13")
    options.add("--session", metavar="ID", help="only notes that come from this session")
    options.add("--agent", help="only notes of this agent: a harness, a model, or the name that a writer gave")
    options.choice("--mode", Mode, "by words, by meaning, or by both", Mode.HYBRID)
    limit = f"show at most N notes (default {DEFAULT_HITS})"
    options.number("--limit", limit, least=1, most=MAX_HITS, default=DEFAULT_HITS)
    options.number("--min-score", "leave out notes that score less, 0 to 1", "X", least=0, most=1, read=float)
    options.flag("--archived", "also search the archive; its notes come last")
    options.flag("--explain", "show each part of the scores")
    options.flag("--sessions", "search what was said in past sessions instead")
    epilog = (
        "Any text is a query: words, a symbol, a path, a pasted error message. The best note comes first; of equally "
        "good ones, those of the current repository. In a pipe, each note is one line of tab-separated fields: id, "
        "score, tier, kind, origin, day, title, best passage, id of the note that supersedes it, and remarks on "
        "its branch and the files that it names. A search does not count as a read. Exit code 0, even if nothing is found.\n\n"
        "--sessions shows the best turn of each session whose history is kept, or with --session all turns of one that "
        "match; in a pipe: session, harness, score, scope, branch, time, turn before, turn, turn after, and the command "
        "that resumes the session."
    )
    options.runs(_run, epilog, "memory search 'zebra lock migration' --kind decision")


def _run(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    tags = tuple(dict.fromkeys(word for each in arguments.tag for word in split_tags(each)))
    if wrong := [tag for tag in tags if normal_tag(tag) is None]:
        raise UsageInvalid(f"{wrong[0]!r} in --tag cannot be a tag")
    request = SearchRequest(
        query=text_of(" ".join(arguments.query)),
        limit=arguments.limit,
        mode=arguments.mode,
        kind=arguments.kind,
        tags=tags,
        scope=memory.scope_on_arrival() if arguments.scope == "repo" else arguments.scope,
        since_ms=arguments.since,
        session=arguments.session,
        agent=arguments.agent,
        min_score=arguments.min_score,
        archived=arguments.archived,
        here=memory.scope_on_arrival(),
    )
    if arguments.sessions:
        _search_sessions(memory, request, console)
        return
    answer = unwrap(memory.search(request))
    console.warn(*answer.notices, *memory.team_at(memory.cwd).untold)
    ground = memory.grounding(*(each.stored for each in answer.hits))

    def mark(hit: SearchHit) -> str:
        files = [each for each in ground.get(hit.listed.meta.id, ()) if each.state in (CHANGED, GONE)]
        said = ground_lines(files) if arguments.explain else (grounding_mark(files),)
        return ", ".join(filter(None, (memory.mark_of(hit.listed), *said)))

    if console.json:
        totals = memory.ledger.totals()  # if they cannot be read, the frontmatter's counts are shown
        console.warn(*warning_of(totals))
        counts = totals.value_or(dict[str, Usage]())
        console.answer(search_document(request.query, answer, counts, memory.branch_mark, ground))
    elif not answer.hits:
        query = one_line(request.query, 60)
        advice = "Try fewer or other words, in the language of the notes, another --mode, --archived, or `memory list`."
        console.warn(f"Nothing was found for {query!r}. {advice}")
    elif console.is_terminal:
        now_ms = memory.clock.now_ms()
        for number, hit in enumerate(answer.hits, 1):
            console.out(
                *hit_lines(number, hit, now_ms, colour=console.colour, explain=arguments.explain, mark=mark(hit))
            )
        console.out(*broken_lines(closing_line(answer), _room(0)))
    else:
        console.out(*(plain_line(hit, explain=arguments.explain, mark=mark(hit)) for hit in answer.hits))
        console.warn(closing_line(answer))


# -- for people -------------------------------------------------------------------------------------------------------

_INDENT = "   "
_LEAST_CELLS = 12
_TITLE_CHARS = 160
_HOW = {Mode.HYBRID: "by words and by meaning", Mode.BM25: "by words", Mode.SEMANTIC: "by meaning"}


def plain_line(hit: SearchHit, *, explain: bool = False, mark: str = "") -> str:
    """Returns one line of fields separated by tabs; with `explain` one more, the parts of the score."""
    meta = hit.listed.meta
    cells = [
        meta.id,
        f"{hit.score:.2f}",
        _place(hit),
        meta.kind.value,
        meta.origin.value,
        day_of(meta.updated_at_ms),
        one_line(meta.title, _TITLE_CHARS),
        one_line(hit.snippet.text, len(hit.snippet.text)),
        hit.superseded_by or "",
        mark,
    ]
    if explain:
        cells.append("; ".join(f"{value} {reason}" for value, reason in _explained(hit)))
    return "\t".join(cells)


def hit_lines(
    number: int, hit: SearchHit, now_ms: int, *, colour: bool, explain: bool = False, mark: str = ""
) -> Iterator[str]:
    """Yields the lines of one hit: its title, the facts, the passage with the matches in it, and a blank one."""
    meta = hit.listed.meta
    facts = [_place(hit), meta.kind.value, f"from {meta.origin.value}", short_age(meta.updated_at_ms, now_ms)]
    if meta.scope != GLOBAL_SCOPE:
        facts.append(one_line(meta.scope, _TITLE_CHARS))
    if mark:
        facts.append(mark)
    about = f"{meta.id} · {' · '.join(facts)} · {hit.score:.2f}"
    lead = f"{number}. "
    room = _room(len(lead))
    for line in broken_lines(one_line(meta.title, _TITLE_CHARS), room):
        yield f"{lead}{styled(BOLD, line, colour=colour)}"
        lead = _INDENT
    for line in broken_lines(about, room):
        yield f"{_INDENT}{styled(DIM, line, colour=colour)}"
    if hit.superseded_by is not None:
        yield f"{_INDENT}superseded by {hit.superseded_by}"
    for line in marked_lines(hit.snippet.text, hit.snippet.marks, room, colour=colour):
        yield f"{_INDENT}{line}"
    if explain:
        yield from (f"{_INDENT}{value}  {reason}" for value, reason in _explained(hit))
    yield ""


def closing_line(answer: SearchAnswer) -> str:
    count = len(answer.hits)
    of = f" of {answer.matched:,} that match" if answer.matched > count else ""
    return f"{counted(count, 'note')}{of}, found {_HOW[answer.mode]} ({answer.mode.value})."


def _room(indent: int) -> int:
    return max(min(terminal_columns(), 100) - indent, _LEAST_CELLS)


def _place(hit: SearchHit) -> str:
    return "archived" if hit.listed.archived else "withheld" if hit.listed.meta.withheld else hit.tier.value


def _explained(hit: SearchHit) -> Iterator[tuple[str, str]]:
    """Yields the parts and their sum, which is not the score: by it the hits are ordered."""
    for part in hit.parts:
        detail = one_line(part.detail, 120)
        yield f"{part.value:+.3f}", f"{part.name}: {detail}" if detail else part.name
    yield f"{sum(part.value for part in hit.parts):+.3f}", "sum, by which hits are ordered"


# -- what was said in sessions ----------------------------------------------------------------------------------------

_CHARS = 300


def _search_sessions(memory: Memory, request: SearchRequest, console: Console) -> None:
    if request.kind or request.tags or request.archived or request.mode is Mode.SEMANTIC:
        raise UsageInvalid("--kind, --tag, --archived and --mode semantic are about notes, not sessions")
    answer = unwrap(memory.search_sessions(request))
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
