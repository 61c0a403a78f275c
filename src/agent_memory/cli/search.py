"""`memory search`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from agent_memory.cli.arguments import add_choice, add_flag, add_number, add_since, set_command, text_of
from agent_memory.cli.console import BOLD, DIM, Console, broken_lines, marked_lines, styled, terminal_columns
from agent_memory.cli.dialogue import open_here, short_age
from agent_memory.documents import search_document
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Kind, Usage
from agent_memory.recall.grounding import CHANGED, GONE, ground_lines
from agent_memory.recall.search_values import MAX_HITS, Mode, ScorePart, SearchAnswer, SearchHit, SearchRequest
from agent_memory.results import unwrap, warning_of
from agent_memory.text.ids import normal_tag, split_tags
from agent_memory.text.instants import day_of
from agent_memory.text.plain_text import counted, one_line

DEFAULT_HITS = 10
_QUERY_CHARS = 60


def configure_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+", help="what to look for; `-` reads it from standard input")
    add_choice(parser, "--kind", Kind, "only notes of this kind")
    tag = "only notes with this tag, with or without its prefix; may be repeated"
    parser.add_argument("--tag", action="append", default=[], help=tag)
    parser.add_argument("--scope", help="only notes of this scope: global, repo, or a repository's key")
    add_since(parser, "only notes changed since: 30d, 12h, or 2026-02-13")
    parser.add_argument("--session", metavar="ID", help="only notes that come from this session")
    parser.add_argument("--agent", help="only notes of this agent: a harness, a model, or the name that a writer gave")
    add_choice(parser, "--mode", Mode, "by words, by meaning, or by both", Mode.HYBRID)
    limit = f"show at most N notes (default {DEFAULT_HITS})"
    add_number(parser, "--limit", limit, least=1, most=MAX_HITS, default=DEFAULT_HITS)
    add_number(parser, "--min-score", "leave out notes that score less, 0 to 1", "X", least=0, most=1, read=float)
    add_flag(parser, "--archived", "also search the archive; its notes come last")
    add_flag(parser, "--explain", "show each part of the scores")
    add_flag(parser, "--sessions", "search what was said in past sessions instead")
    epilog = (
        "Any text is a query: words, a symbol, a path, a pasted error message. The best note comes first; of equally "
        "good ones, those of the current repository. In a pipe, each note is one line of tab-separated fields: id, "
        "score, tier, kind, origin, day, title, best passage, id of the note that supersedes it. A search does not "
        "count as a read. Exit code 0, even if nothing is found.\n\n"
        "--sessions shows the best turn of each session whose history is kept, or with --session all turns of one that "
        "match; in a pipe: session, harness, score, scope, branch, time, turn before, turn, turn after, and the command "
        "that resumes the session."
    )
    set_command(parser, _run, epilog, "memory search 'zebra lock migration' --kind decision")


def _run(arguments: argparse.Namespace, console: Console) -> None:
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
        scope=memory.scope_here() if arguments.scope == "repo" else arguments.scope,
        since_ms=arguments.since,
        session=arguments.session,
        agent=arguments.agent,
        min_score=arguments.min_score,
        archived=arguments.archived,
        here=memory.scope_here(),
    )
    if arguments.sessions:
        from agent_memory.cli.sessions import search_sessions  # what finds notes does without

        search_sessions(memory, request, console)
        return
    answer = unwrap(memory.search(request))
    console.warn(*answer.notices)
    ground = memory.grounding(*(each.stored for each in answer.hits if arguments.explain))

    def mark(hit: SearchHit) -> str:
        files = (each for each in ground.get(hit.listed.meta.id, ()) if each.state in (CHANGED, GONE))
        return ", ".join(filter(None, (memory.mark_of(hit.listed), *ground_lines(files))))

    if console.json:
        totals = memory.ledger.totals()  # if they cannot be read, the frontmatter's counts are shown
        console.warn(*warning_of(totals))
        counts = totals.value_or(dict[str, Usage]())
        console.answer(search_document(request.query, answer, counts, memory.branch_mark, ground))
    elif not answer.hits:
        query = one_line(request.query, _QUERY_CHARS)
        advice = "Try fewer or other words, another --mode, --archived, or `memory list`."
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
_MOST_CELLS = 100
_LEAST_CELLS = 12
_TITLE_CHARS = 160
_DETAIL_CHARS = 120
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
        one_line(meta.title, _TITLE_CHARS) + (f" ({mark})" if mark else ""),
        one_line(hit.snippet.text, len(hit.snippet.text)),
        hit.superseded_by or "",
    ]
    if explain:
        cells.append("; ".join(f"{each.value:+.3f} {_named(each)}" for each in hit.parts))
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
        yield from (f"{_INDENT}{each.value:+.3f}  {_named(each)}" for each in hit.parts)
    yield ""


def closing_line(answer: SearchAnswer) -> str:
    """Returns how many notes are shown, and which mode answered."""
    count = len(answer.hits)
    of = f" of {answer.matched:,} that match" if answer.matched > count else ""
    return f"{counted(count, 'note')}{of}, found {_HOW[answer.mode]} ({answer.mode.value})."


def _room(indent: int) -> int:
    return max(min(terminal_columns(), _MOST_CELLS) - indent, _LEAST_CELLS)


def _place(hit: SearchHit) -> str:
    return "archived" if hit.listed.archived else "withheld" if hit.listed.meta.withheld else hit.tier.value


def _named(part: ScorePart) -> str:
    detail = one_line(part.detail, _DETAIL_CHARS)
    return f"{part.name}: {detail}" if detail else part.name
