"""`memory why` and `memory links`: where a note comes from, what became of a session, and how notes are linked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from agent_memory.caller import Caller
from agent_memory.care.session_list import NamedNote
from agent_memory.care.why_note import NoteHistory, source_in_words
from agent_memory.care.why_session import NEVER_CAPTURED, FoundSessions
from agent_memory.cli.console import ENTRY, Arguments, Console, Options
from agent_memory.cli.dialogue import first_of, open_here, warn_unreadable
from agent_memory.documents import fields_of
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import Origin, Relation
from agent_memory.recall.grounding import ground_lines
from agent_memory.recall.linking import Link, LinkGraph, LinkSheet, Succession, Whereabouts, link_graph, link_sheet
from agent_memory.results import unwrap
from agent_memory.rules.tiers import title_for
from agent_memory.text.instants import instant
from agent_memory.text.plain_text import counted, one_line

MOST_SHOWN = 20
"""The limit of each list; `--json` has all."""


# -- why --------------------------------------------------------------------------------------------------------------


def configure_why(options: Options) -> None:
    options.id(f"{ENTRY}; it may be archived", optional=True)
    options.add("--session", metavar="S", help="show what happened to a session: its id, or the beginning of it")
    options.runs(_why, "Does not count as a read, and never shows the text.", "memory why id__a1b2c3")


def _why(arguments: Arguments, console: Console) -> None:
    if (arguments.id is None) == (arguments.session is None):
        raise UsageInvalid("Give either a note's id or --session", "See `memory why --help`.")
    memory = open_here(console)
    if arguments.session is None:
        from agent_memory.inject import told_where  # links and sessions do without

        here = memory.reading_here
        note = unwrap(memory.why_entry(arguments.id, here, partial(told_where, memory, here.store)))
        console.answer(fields_of(note), *_note_lines(note))
        console.warn(*note.unread)
        return
    session_id: str = arguments.session.strip()
    if not session_id:
        raise UsageInvalid("--session needs the id of a session", "Give its id, or the beginning of it.")
    found = unwrap(memory.why_session(session_id))
    console.answer(fields_of(found), *_session_lines(found))
    console.warn(*found.unread)


def _note_lines(note: NoteHistory) -> Iterator[str]:
    where = "archived" if note.archived else note.tier.tier.value
    yield f"# {_line(note.title)}"
    yield ""
    yield f"{note.id} · {note.kind} · {note.status} · {where} · {_line(note.scope)}"
    if note.asked != note.id:
        yield f"{note.asked} leads here: it was merged into this note."
    sources: list[str] = []
    for source in note.sources:
        sources += [source_in_words(source), *([f"  open it again: {source.reopen}"] if source.reopen else [])]
    last = f", last on {instant(note.usage.last_at_ms)}" if note.usage.last_at_ms is not None else ""
    used = f"Read {counted(note.usage.count, 'time')}{last}." if note.usage.count else "Not read yet."
    changed = f"created {instant(note.created_at_ms)}, last changed {instant(note.updated_at_ms)}"
    history = [f"{instant(each.at_ms)}: {_line(each.sentence)}" for each in note.history]
    yield from _section("Said by", [note.said_by, *([f"Not merged: {note.unmerged}."] if note.unmerged else [])])
    yield from _section("Comes from", sources or ["No session."])
    yield from _section("Files that it names", list(map(_line, ground_lines(note.grounding))))
    yield from _section("Merged from", list(map(_named, note.merged)))
    yield from _section("Supersedes", list(map(_named, note.supersedes)))
    yield from _section("Superseded by", list(map(_named, note.superseded_by)))
    yield from _section("Shown to agents", note.told)
    factors = (f"{name} {note.tier.score[name]:.3g}" for name in ("importance", "use", "recency", "origin"))
    total = note.tier.score["total"] - note.tier.score["pin"]
    score = [] if note.archived else [f"Its score is {total:.2f}: {' × '.join(factors)}."]
    yield from _section("Why it is in its tier", [*note.tier.reasons, *score])
    yield from _section("Used", [used])
    yield from _section("What changed it", history or [f"No run; {changed}."])
    commits = [f"{each.at[:10]} {each.commit} {each.author}: {each.subject}" for each in note.commits]
    yield from _section("Commits", commits)


def _session_lines(found: FoundSessions) -> Iterator[str]:
    if not found.sessions:
        yield from (f"# {_line(found.asked)}", "", NEVER_CAPTURED)
    for at, session in enumerate(found.sessions):
        yield from ("",) if at else ()
        yield from (f"# {_line(session.harness)} session {_line(session.session_id)}", "")
        yield from map(_line, session.words)
        if session.reopen:
            yield f"Open it again: {session.reopen}"
        yield from _section("Notes", list(map(_named, session.entries)) or ["None."])
        yield from _section("Not applied from the agent's reply", list(map(_line, session.dropped)))
    if found.unopened_inbox_files:
        yield from ("", f"{found.unopened_inbox_files:,} older inbox files were not searched.")


# lines


def _section(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"{heading}:")
        yield from (f"  {item}" for item in first_of(items, MOST_SHOWN, "--json has all"))


def _named(note: NamedNote | LinkSheet) -> str:
    by = "  (external)" if isinstance(note, NamedNote) and note.origin is Origin.EXTERNAL else ""
    return f"{note.id}  {_line(note.title)}{by}{'  (archived)' if note.archived else ''}"


def _line(text: str) -> str:
    return one_line(text, 400)


# -- links ------------------------------------------------------------------------------------------------------------

_SAID = {
    Whereabouts.ALIAS: "  (merged into another note)",
    Whereabouts.ARCHIVED: "  (archived)",
    Whereabouts.UNRESOLVED: "  (there is no such note)",
}


def configure_links(options: Options) -> None:
    options.id(f"{ENTRY} (default: the links of all notes)", optional=True)
    options.flag("--private", "include private notes when showing all links")
    epilog = (
        "Shows live and archived notes. Links inside code do not count, and showing links is not a read. Without an ID, "
        "links of secret notes are left out. In a pipe, each link is one line of tab-separated fields: id, target, "
        "`links` or `supersedes`, `live`, `alias`, `archived` or `unresolved`, label, both titles; --json prints the whole "
        "graph."
    )
    options.runs(_links, epilog, "memory links id__a1b2c3")


def _links(arguments: Arguments, console: Console) -> None:
    reading = open_here(console).reading_here
    if arguments.id is None:
        graph = link_graph(reading, private=arguments.private)
        entries = [
            fields_of(each.meta, "id", "title", "kind", "scope", "origin", "tags") | fields_of(each, "archived", "path")
            for each in graph.notes
        ]
        document = {"entries": entries, **fields_of(graph, "links", "unreadable")}
        console.answer(document, *_graph_lines(graph, console, reading.caller))
        if not graph.links:
            console.warn("No note links to another.")
        warn_unreadable(console, graph.unreadable)
        return
    if arguments.private:
        raise UsageInvalid("--private is for all links; leave out the ID")
    sheet = link_sheet(reading, arguments.id)
    console.answer(fields_of(sheet), *_sheet_lines(sheet))
    warn_unreadable(console, sheet.unreadable)


def _sheet_lines(sheet: LinkSheet) -> Iterator[str]:
    yield _named(sheet)
    incoming: list[str] = []
    for each in sheet.incoming:
        through = f"  (by its earlier id {each.target})" if each.target != sheet.id else ""
        incoming.append(f"{each.id}  {_line(each.title)}{through}")
    parts = (
        ("links to", [_leading(each.target, each.id, each) for each in sheet.outgoing]),
        ("linked from", incoming),
        ("supersedes", [_leading(each.id, each.now, each) for each in sheet.supersedes]),
        ("superseded by", [_leading(each.id, each.now, each) for each in sheet.superseded_by]),
        ("merged from", list(sheet.aliases)),
    )
    if not any(items for _, items in parts):
        yield "No links in either direction."
    for heading, items in parts:
        if items:
            yield f"{heading}:"
            yield from (f"  {item}" for item in items)


def _leading(target: str, id: str | None, link: Link | Succession) -> str:
    said = f"  (now {id})" if link.where is Whereabouts.ALIAS and id else _SAID.get(link.where, "")
    return f"{target}  {_line(link.title)}{said}" if link.title else f"{target}{said}"


def _graph_lines(graph: LinkGraph, console: Console, caller: Caller) -> Iterator[str]:
    titles = {each.meta.id: title_for(caller, each) for each in graph.notes}
    if not console.is_terminal:
        for edge in graph.links:
            sides = (titles.get(edge.source, ""), titles.get(edge.target, ""))
            yield "\t".join((edge.source, edge.target, edge.relation, edge.where, _line(edge.label or ""), *sides))
    else:
        for edge in graph.links:
            arrow = "supersedes" if edge.relation is Relation.SUPERSEDES else "->"
            source, target = (f"{id}  {titles[id]}" if id in titles else id for id in (edge.source, edge.target))
            yield f"{source} {arrow} {target}{_SAID.get(edge.where, '')}"
