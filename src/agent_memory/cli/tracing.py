"""`memory why` and `memory links`: where a note comes from, what became of a session, and what is tied to what."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import evolve

from agent_memory.care.explained import (
    NEVER_CAPTURED,
    Capture,
    FoundSessions,
    NoteStory,
    SessionTrace,
    chapter_in_words,
    facts_in_words,
    instant,
    said_by,
    score_in_words,
    source_in_words,
    state_in_words,
    tier_reason,
)
from agent_memory.cli.arguments import ENTRY, add_flag, add_id, set_command
from agent_memory.cli.console import Console, fields_of, iso_or_none, rows_of, unreadable_documents
from agent_memory.cli.dialogue import first_of, open_here, warn_unreadable
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import Listed, StoredEntry
from agent_memory.note.vocabulary import Relation, resume_command
from agent_memory.recall.links import Link, LinkGraph, LinkSheet, Whereabouts
from agent_memory.results import unwrap
from agent_memory.text.plain_text import counted, one_line

MOST_SHOWN = 20
"""Of each list; `--json` has all."""

_LINE_CHARS = 400

# -- why --------------------------------------------------------------------------------------------------------------


def configure_why(parser: argparse.ArgumentParser) -> None:
    add_id(parser, f"{ENTRY}; it may be archived", optional=True)
    parser.add_argument(
        "--session", metavar="S", help="show what happened to a session: its id, or the beginning of it"
    )
    set_command(parser, _why, "Does not count as a read, and never shows the text.", "memory why id__a1b2c3")


def _why(arguments: argparse.Namespace, console: Console) -> None:
    if (arguments.id is None) == (arguments.session is None):
        raise UsageInvalid("Give either a note's id or --session", "See `memory why --help`.")
    if arguments.session is None:
        from agent_memory.inject import told_where  # which links and sessions do without

        memory = open_here(console)
        story = unwrap(memory.why_entry(arguments.id))
        story = evolve(story, told=told_where(memory, story.stored.listed))
        console.answer(_story_document(story), *_story_lines(story))
        console.warn(*story.unread)
        return
    session_id: str = arguments.session.strip()
    if not session_id:
        raise UsageInvalid("--session needs the id of a session", "`memory why --help` has an example.")
    found = unwrap(open_here(console).why_session(session_id))
    document = {
        "asked": session_id,
        "sessions": list(map(_session_document, found.traces)),
        "unopenedInboxFiles": found.unopened,
        "unread": list(found.unread),
    }
    console.answer(document, *_found_lines(session_id, found))
    console.warn(*found.unread)


# a note


def _story_lines(story: NoteStory) -> Iterator[str]:
    meta, standing = story.stored.meta, story.standing
    where = "archived" if standing.archived else standing.tier.value
    yield f"# {_line(meta.title)}"
    yield ""
    yield f"{meta.id} · {meta.kind} · {meta.status} · {where} · {_line(meta.scope)}"
    if story.asked != meta.id:
        yield f"{story.asked} leads here: it was merged into this note."
    score = [] if standing.archived else [score_in_words(standing)]
    commits = [f"{each.at[:10]} {each.commit} {each.author}: {each.subject}" for each in story.revisions]
    history = [f"{instant(each[0].started_at_ms)}: {_line(chapter_in_words(each))}" for each in story.chapters]
    sources: list[str] = []
    for source in meta.sources:
        sources.append(source_in_words(source))
        if resumed := resume_command(source.harness, source.thread_id, source.cwd):
            sources.append(f"  open it again: {resumed}")
    usage = standing.usage
    last = f", last on {instant(usage.last_at_ms)}" if usage.last_at_ms is not None else ""
    used = f"Read {counted(usage.count, 'time')}{last}." if usage.count else "Not read yet."
    changed = f"created {instant(meta.created_at_ms)}, last changed {instant(meta.updated_at_ms)}"
    yield from _section("Said by", [said_by(meta)])
    yield from _section("Comes from", sources or ["No session."])
    yield from _section("Merged from", list(map(_entry, story.merged)))
    yield from _section("Supersedes", list(map(_entry, story.supersedes)))
    yield from _section("Superseded by", list(map(_entry, story.superseded_by)))
    yield from _section("Shown to agents", story.told)
    yield from _section("Why it is in its tier", [*tier_reason(standing), *score])
    yield from _section("Used", [used])
    yield from _section("What changed it", history or [f"No run; {changed}."])
    yield from _section("Commits", commits)


def _entry(listed: Listed) -> str:
    return f"{listed.meta.id}  {_line(listed.meta.title)}{'  (archived)' if listed.archived else ''}"


def _story_document(story: NoteStory) -> dict[str, Any]:
    """Instants are ISO 8601, those of commits as git has them. Without the body."""
    meta, listed, standing = story.stored.meta, story.stored.listed, story.standing
    parts = ("total", "importance", "use", "recency", "origin", "pin")
    score = {name: round(getattr(standing.parts, name), 4) for name in parts}
    history = [
        {
            "at": iso_or_none(run.started_at_ms),
            **fields_of(run, "run_id", "machine"),
            **fields_of(action, "kind", "ids", "new_ids", "words"),
            **fields_of(run, "undone_by"),
        }
        for run, action in story.chapters
    ]
    return {
        "id": meta.id,
        "asked": story.asked,
        **fields_of(meta, "title", "kind", "status", "scope"),
        **fields_of(listed, "path", "archived"),
        **fields_of(meta, "origin", "promoted_by"),
        "saidBy": said_by(meta),
        **fields_of(meta, "created_at_ms", "updated_at_ms"),
        "sources": [
            fields_of(each) | {"reopen": resume_command(each.harness, each.thread_id, each.cwd)}
            for each in meta.sources
        ],
        "history": history,
        "commits": rows_of(story.revisions),
        **fields_of(meta, "aliases"),
        "merged": _named(story.merged),
        "supersedes": _named(story.supersedes),
        "supersededBy": _named(story.superseded_by),
        "tier": {
            **fields_of(standing, "tier"),
            "best": meta.best_tier.value,
            "pinned": meta.pinned,
            "reasons": list(tier_reason(standing)),
            "score": score,
        },
        "usage": fields_of(standing.usage, "count", "last_at_ms"),
        **fields_of(story, "told", "unread"),
    }


def _named(entries: Iterable[Listed]) -> list[dict[str, Any]]:
    return [{"id": each.meta.id, "title": each.meta.title, "archived": each.archived} for each in entries]


# a session


def _found_lines(session_id: str, found: FoundSessions) -> Iterator[str]:
    if not found.traces:
        yield from (f"# {_line(session_id)}", "", NEVER_CAPTURED)
    for at, trace in enumerate(found.traces):
        yield from ("",) if at else ()
        yield from (f"# {_line(trace.harness)} session {_line(trace.session_id)}", "", state_in_words(trace))
        yield from map(_line, facts_in_words(trace))
        if resumed := resume_command(trace.harness, trace.session_id, trace.cwd):
            yield f"Open it again: {resumed}"
        yield from _section("Notes", list(map(_entry, trace.entries)) or ["None."])
        yield from _section("Not applied from the agent's reply", list(map(_line, trace.dropped)))
    if found.unopened:
        yield from ("", f"{found.unopened:,} older inbox files were not searched.")


def _session_document(trace: SessionTrace) -> dict[str, Any]:
    mark = trace.mark
    read_up_to = mark and {
        "turn": mark.turns_seen,
        "at": iso_or_none(mark.last_at_ms),
        "agent": mark.agent_name,
    }
    return {
        **fields_of(trace, "harness", "session_id", "state"),
        "words": [state_in_words(trace), *facts_in_words(trace)],
        "cwd": trace.cwd,
        "reopen": resume_command(trace.harness, trace.session_id, trace.cwd),
        "captures": list(map(_capture_document, trace.captures)),
        "readUpTo": read_up_to,
        "runs": rows_of(trace.runs, "run_id", "at_ms", "machine", "verdict", "reason"),
        "entries": _named(trace.entries),
        **fields_of(trace, "dropped", "deferred"),
    }


def _capture_document(capture: Capture) -> dict[str, Any]:
    trouble, outcome = capture.trouble, capture.entry.outcome
    return {
        **fields_of(capture, "name", "place"),
        "at": iso_or_none(capture.entry.at_ms),
        **fields_of(capture.entry.context, "cwd", "repo"),
        "trouble": trouble
        and {
            **fields_of(trouble, "attempts", "timeouts"),
            "notBefore": iso_or_none(trouble.not_before_ms or None),
            **fields_of(trouble, "code", "message"),
        },
        "outcome": outcome
        and {
            "verdict": outcome.verdict,
            "run": outcome.run_id,
            "entries": list(outcome.entry_ids),
            **fields_of(outcome, "at_ms", "reason", "dropped"),
        },
    }


# lines


def _section(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"{heading}:")
        yield from (f"  {item}" for item in first_of(items, MOST_SHOWN, "--json has all"))


def _line(text: str) -> str:
    return one_line(text, _LINE_CHARS)


# -- links ------------------------------------------------------------------------------------------------------------

_SAID = {Whereabouts.ARCHIVED: "  (archived)", Whereabouts.UNRESOLVED: "  (there is no such note)"}


def configure_links(parser: argparse.ArgumentParser) -> None:
    add_id(parser, f"{ENTRY} (default: the links of all notes)", optional=True)
    add_flag(parser, "--dot", "print all links as a graph for Graphviz")
    add_flag(parser, "--private", "include private notes when showing all links")
    epilog = (
        "Shows live and archived notes. Links inside code do not count, and showing links is not a read. Without an ID, "
        "links of secret notes are left out. In a pipe, each link is one line of tab-separated fields: id, target, "
        "`links` or `supersedes`, `live`, `alias`, `archived` or `unresolved`, label, both titles.\n\n"
        "Examples:\n  memory links id__a1b2c3\n  memory links --dot | dot -Tsvg > links.svg"
    )
    set_command(parser, _links, epilog)


def _links(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.id is None:
        graph = unwrap(open_here(console).reading.link_graph(private=arguments.private))
        entries = [
            fields_of(each.meta, "id", "title", "kind", "scope", "origin", "tags") | fields_of(each, "archived", "path")
            for each in graph.entries
        ]
        links = rows_of(graph.edges, "source", "target", "relation", "label", "where")
        shown = {"entries": entries, "links": links, "unreadable": unreadable_documents(graph.unreadable)}
        console.answer(shown, *_graph_lines(graph, console, dot=arguments.dot))
        warn_unreadable(console, graph.unreadable)
        return
    if arguments.dot or arguments.private:
        raise UsageInvalid("--dot and --private are for all links; leave out the ID")
    stored, sheet = unwrap(open_here(console).reading.links(arguments.id))
    document = {
        **fields_of(stored.meta, "id", "title"),
        "archived": stored.listed.archived,
        "outgoing": rows_of(sheet.outgoing, "target", "label", "where", "id", "title"),
        "incoming": rows_of(sheet.incoming, "id", "title", "target", "label"),
        "supersedes": list(map(_reference_document, sheet.supersedes)),
        "supersededBy": list(map(_reference_document, sheet.superseded_by)),
        **fields_of(sheet, "aliases"),
        "unreadable": unreadable_documents(sheet.unreadable),
    }
    console.answer(document, *_sheet_lines(stored, sheet))
    warn_unreadable(console, sheet.unreadable)


def _sheet_lines(stored: StoredEntry, sheet: LinkSheet) -> Iterator[str]:
    yield _entry(stored.listed)
    incoming: list[str] = []
    for each in sheet.incoming:
        through = f"  (by its earlier id {each.target})" if each.target != stored.meta.id else ""
        incoming.append(f"{each.id}  {_line(each.title or '')}{through}")
    parts = (
        ("links to", list(map(_leading, sheet.outgoing))),
        ("linked from", incoming),
        ("supersedes", list(map(_leading, sheet.supersedes))),
        ("superseded by", list(map(_leading, sheet.superseded_by))),
        ("merged from", list(sheet.aliases)),
    )
    if not any(items for _, items in parts):
        yield "No links in either direction."
    for heading, items in parts:
        if items:
            yield f"{heading}:"
            yield from (f"  {item}" for item in items)


def _leading(link: Link) -> str:
    said = f"  (now {link.id})" if link.where is Whereabouts.ALIAS else _SAID.get(link.where, "")
    return f"{link.target}  {_line(link.title)}{said}" if link.title else f"{link.target}{said}"


def _reference_document(link: Link) -> dict[str, object]:
    return {"id": link.target, **fields_of(link, "where", "title")}


def _graph_lines(graph: LinkGraph, console: Console, *, dot: bool) -> Iterator[str]:
    titles = {each.meta.id: _line(each.meta.title) for each in graph.entries}
    if dot:
        yield render_link_dot(graph)
    elif not console.is_terminal:
        for edge in graph.edges:
            sides = (titles.get(edge.source, ""), titles.get(edge.target, ""))
            yield "\t".join((edge.source, edge.target, edge.relation, edge.where, _line(edge.label or ""), *sides))
    elif graph.edges:
        for edge in graph.edges:
            arrow = "supersedes" if edge.relation is Relation.SUPERSEDES else "->"
            source, target = (f"{id}  {titles[id]}" if id in titles else id for id in (edge.source, edge.target))
            yield f"{source} {arrow} {target}{_SAID.get(edge.where, '')}"
    else:
        yield "No note links to another."


_DOT_TITLE_CHARS = 80


def render_link_dot(graph: LinkGraph) -> str:
    """One `digraph`, as Graphviz draws it: a node for each note, dashed where it is archived, dotted where there is none; an
    edge for each link. The same links give the same text."""
    missing = dict.fromkeys(edge.target for edge in graph.edges if edge.where is Whereabouts.UNRESOLVED)
    lines: list[str] = []
    for each in graph.entries:
        title = one_line(each.meta.title, _DOT_TITLE_CHARS)
        style = ", style=dashed" if each.archived else ""
        lines.append(f"  {_quoted(each.meta.id)} [label={_quoted(title or each.meta.id)}{style}]")
    lines += (f"  {_quoted(id)} [style=dotted]" for id in missing)
    for edge in graph.edges:
        words = "supersedes" if edge.relation is Relation.SUPERSEDES else one_line(edge.label or "", _DOT_TITLE_CHARS)
        label = f" [label={_quoted(words)}]" if words else ""
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{label}")
    return "\n".join(("digraph memory {", "  node [shape=box]", *lines, "}"))


def _quoted(text: str) -> str:
    """A quoted string, in which Graphviz takes a backslash for the beginning of an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
