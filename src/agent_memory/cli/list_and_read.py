"""`memory list`, `read`, `show` and `sessions`. They run all day long, and load nothing that only writing needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from agent_memory.app import Memory
from agent_memory.cli.console import BOLD, DIM, Arguments, Console, Options, table_lines
from agent_memory.cli.dialogue import open_here, short_age, warn_unreadable
from agent_memory.documents import entry_document, fields_of, json_of, rows_of
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import WITHHELD, Harness, Kind, Origin, Sensitivity, Source, Status, Tier
from agent_memory.recall.grounding import CHANGED, GONE, ground_lines
from agent_memory.recall.reading import ListFilter, ReadEntry, ShownEntry, status_shown
from agent_memory.results import unwrap
from agent_memory.text.instants import day_of
from agent_memory.text.plain_text import counted, one_line, with_hidden_shown

if TYPE_CHECKING:
    from agent_memory.care.session_list import SessionLine

# -- list -------------------------------------------------------------------------------------------------------------

NO_MATCH = "No note matches. `memory list` shows all notes."


def add_filters(options: Options) -> None:
    """The options that say which notes are meant; `filter_of` reads them."""
    options.choice("--status", Status, "its status")
    options.choice("--kind", Kind, "its kind")
    options.choice("--origin", Origin, "who said it; `external` waits for `memory promote`")
    options.choice("--sensitivity", Sensitivity, "who may see it")
    options.choice("--tier", Tier, "how close to agents it is")
    options.add("--tag", help="only notes with this tag (`x` means topic__x)")
    options.add("--scope", help="only notes of this scope: global, repo, or a repository's key")
    options.add("--session", metavar="ID", help="only notes that come from this session")
    options.add("--agent", help="only notes of this agent: a harness, a model, or the name that a writer gave")
    options.since("only notes changed since: 30d (m h d w y) or a date such as 2026-02-13")
    options.add("--query", help="words that must all occur in title, description or tags")
    options.flag("--open", "only notes with open check-boxes, which are shown, and tasks without check-boxes")
    options.flag("--expired", "only expired notes, which wait for `memory defrag`")


def filter_of(arguments: Arguments, memory: Memory) -> ListFilter:
    return ListFilter(
        status=arguments.status,
        kind=arguments.kind,
        origin=arguments.origin,
        sensitivity=arguments.sensitivity,
        tier=arguments.tier,
        tag=arguments.tag,
        scope=memory.scope_on_arrival() if arguments.scope == "repo" else arguments.scope,
        query=arguments.query,
        session=arguments.session,
        agent=arguments.agent,
        since_ms=arguments.since,
        is_open=arguments.open,
        expired_by_ms=memory.clock.now_ms() if arguments.expired else None,
    )


def configure_list(options: Options) -> None:
    add_filters(options)
    options.flag("--archived", "list the archive instead")
    options.number("--limit", "show at most N notes", least=1)
    options.number("--offset", "skip the first N", least=0, default=0)
    options.runs(_list, example="memory list --kind decision --query 'lock migration'")


def _list(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    wanted = filter_of(arguments, memory)
    found = unwrap(memory.reading_here.list(wanted, archived=arguments.archived))
    shown = found.entries[arguments.offset :][: arguments.limit]
    marks = [memory.mark_of(each.listed) for each in shown]
    if console.json:
        entries = [
            entry_document(
                each.listed, each.usage, tier=each.tier, unmerged=memory.branch_mark(each.listed.meta.sources)
            )
            | ({"open": list(each.open_boxes)} if wanted.is_open else {})
            for each in shown
        ]
        console.answer({"entries": entries, "unreadable": json_of(found.unreadable)})
    elif not shown:
        nothing = "No notes yet. `memory remember TEXT` stores one; `memory consolidate` reads the inbox."
        if arguments.archived:
            nothing = "The archive is empty."
        console.warn(nothing if wanted == ListFilter() and not found.entries else NO_MATCH)
        console.warn(*memory.team_at(memory.cwd).untold)
    elif console.is_terminal:
        console.out(*_table_lines(console, shown, marks, len(found.entries), memory.clock.now_ms()))
    else:
        console.out(*_plain_lines(shown, marks))
    if found.untiered is not None:
        console.warn(f"The tiers are not known. {found.untiered!s}")
    warn_unreadable(console, found.unreadable)


def _status(entry: ShownEntry) -> str:
    meta = entry.listed.meta
    return "withheld" if meta.withheld else status_shown(meta.status, entry.tier)


def _title(entry: ShownEntry, mark: str) -> str:
    return one_line(entry.listed.meta.title, 300) + (f" ({mark})" if mark else "")


def _plain_lines(entries: Sequence[ShownEntry], marks: Sequence[str]) -> Iterator[str]:
    for each, mark in zip(entries, marks, strict=True):
        meta = each.listed.meta
        facts = (meta.id, meta.kind, _status(each), meta.origin, day_of(meta.updated_at_ms))
        yield "\t".join((*facts, str(each.usage.count), _title(each, mark), " ".join(meta.tags)))
        for box in each.open_boxes:
            yield f"\t- [ ] {box}"


def _table_lines(
    console: Console, entries: Sequence[ShownEntry], marks: Sequence[str], count: int, now_ms: int
) -> Iterator[str]:
    are_of_one = len({each.listed.meta.scope for each in entries}) == 1

    def cells(entry: ShownEntry, mark: str) -> tuple[str, ...]:
        meta = entry.listed.meta
        status = _status(entry)
        title = f"{'* ' if entry.tier is Tier.HOT else ''}{_title(entry, mark)}"
        project = () if are_of_one else (one_line(meta.scope.removesuffix("/.git").rpartition("/")[2], 40),)
        age, used = short_age(meta.updated_at_ms, now_ms), str(entry.usage.count)
        return meta.id, meta.kind.value, status, age, used, *project, title

    headings = ("id", "kind", "status", "changed", "used", *(() if are_of_one else ("project",)), "title")
    give_way = ("used", "status", "kind", "changed", "project")
    heading, *lines = table_lines(headings, list(map(cells, entries, marks)), give_way=give_way)
    yield console.styled(BOLD, heading)
    for line, each in zip(lines, entries, strict=True):
        yield line
        yield from (f"  - [ ] {one_line(box, 500)}" for box in each.open_boxes)
    hot = ", * in front of every agent" if any(each.tier is Tier.HOT for each in entries) else ""
    of_all = f"{len(entries):,} of " if len(entries) < count else ""
    yield f"{of_all}{counted(count, 'note')}{hot}"


# -- read -------------------------------------------------------------------------------------------------------------


def configure_read(options: Options) -> None:
    options.id()
    options.flag("--archived", "the newest archived version instead of the live one")
    options.flag("--secret", "show a note of sensitivity `secret`")
    options.runs(_read, "", "memory read id__a1b2c3")


def _read(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    memory.scope_on_arrival()
    entry = unwrap(memory.reading_here.read(arguments.id, archived=arguments.archived, secret=arguments.secret))
    stored = entry.stored
    mark = memory.mark_of(stored.listed)
    unmerged = memory.branch_mark(stored.meta.sources)
    ground = memory.grounding(stored).get(stored.meta.id, ())
    document = entry_document(
        stored.listed, entry.usage, stored.body, tier=entry.tier, unmerged=unmerged, grounding=ground
    )
    told = (each for each in ground if each.state in (CHANGED, GONE))
    marks = [*([mark] if mark else []), *ground_lines(told)]
    console.answer(document, *map(with_hidden_shown, _page(entry, marks)))
    if entry.uncounted is not None:
        console.warn(f"This read is not counted. {entry.uncounted!s}")


def configure_show(options: Options) -> None:
    options.id("a note (default: lists all)", optional=True)
    when = "a day such as 2026-02-13, as it began (UTC); an age such as 30d (m h d w y); or a commit of the store"
    options.moment("--at", when, required=True)
    epilog = (
        "Shows notes from the store's git history, as its last commit by then has them, without secret and forgotten ones. "
        "`memory diff --since WHEN` shows what changed since. Only you can run this, not an agent."
    )
    options.runs(_show, epilog, "memory show id__a1b2c3 --at 2026-02-13")


def _show(arguments: Arguments, console: Console) -> None:
    commit, notes = unwrap(open_here(console).notes_at(arguments.at))
    keys = ("id", "title", "kind", "scope", "updated_at_ms")
    if arguments.id is None:
        lines = [f"{meta.id}  {meta.title}" for meta, _ in notes]
        console.answer({"commit": commit, "entries": rows_of((meta for meta, _ in notes), *keys)}, *lines)
        if not lines:
            console.warn("There were no notes then.")
        return
    found = next((each for each in notes if arguments.id in (each[0].id, *each[0].aliases)), None)
    if found is None:
        raise UsageInvalid(
            f"No note {arguments.id} is shown as of then: it was not live, or is secret or forgotten",
            "Without an id, `memory show --at` lists those that are.",
        )
    from agent_memory.redaction.redact import redact  # lists and reads do without

    meta, body = found[0], redact(found[1]).text
    lines = [f"# {meta.title}", "", body.rstrip("\n")]
    console.answer(fields_of(meta, *keys) | {"commit": commit, "body": body}, *map(with_hidden_shown, lines))


def _page(entry: ReadEntry, marks: Sequence[str]) -> Iterator[str]:
    meta = entry.stored.meta
    status = status_shown(meta.status, entry.tier)
    used = f"updated {day_of(meta.updated_at_ms)} · read {counted(entry.usage.count, 'time')}"
    yield f"# {meta.title}"
    yield ""
    yield f"{meta.id} · {meta.kind} · {status} · {entry.tier} · said by: {meta.origin} · {meta.scope}"
    yield f"{used} · {' '.join(meta.tags)}".rstrip(" ·")
    yield from (f"from {_source(source)}" for source in meta.sources)
    if meta.withheld:
        yield f"{meta.id} is {WITHHELD}"
    yield from marks
    yield ""
    yield entry.stored.body.rstrip("\n")


def _source(source: Source) -> str:
    if source.imported:
        return f"an import, {source.imported.rpartition('#')[0]}"
    session = f" {source.thread_id}" if source.thread_id else ""
    return f"{source.harness}{session}{source.cited}"


# -- sessions ---------------------------------------------------------------------------------------------------------

_CHARS, _SHORT_CHARS = 300, 40


def configure_sessions(options: Options) -> None:
    options.add("--scope", help="only sessions of this scope: global, repo, or a repository's key")
    options.choice("--agent", Harness, "the harness")
    options.since("only sessions since: 30d (m h d w y) or a date such as 2026-02-13")
    options.number("--limit", "show at most N sessions", least=1)
    options.number("--offset", "skip the first N", least=0, default=0)
    epilog = (
        "In a pipe, each session is one line of tab-separated fields: id, harness, day, scope, branch, ids of the notes "
        "made of it, the person's first words, and the command that resumes it."
    )
    options.runs(_sessions, epilog, "memory sessions --scope repo --since 7d")


def _sessions(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    scope = memory.scope_on_arrival() if arguments.scope == "repo" else arguments.scope

    def is_wanted(its_scope: str, harness: str, last_at_ms: int) -> bool:
        is_meant = scope in (None, its_scope) and arguments.agent in (None, harness)
        return is_meant and (arguments.since or last_at_ms) <= last_at_ms

    found = unwrap(memory.sessions(is_wanted, arguments.offset + (arguments.limit or inf)))
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
        console.out(*map(_plain_line, shown))


def _plain_line(each: SessionLine) -> str:
    notes = " ".join([note.id for note in each.notes])
    place, branch = one_line(each.scope, _CHARS), one_line(each.branch or "", _CHARS)
    about = (one_line(each.session_id, _CHARS), each.harness, day_of(each.last_at_ms), place, branch)
    return "\t".join((*about, notes, each.first_words, each.reopen or ""))
