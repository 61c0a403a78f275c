"""`memory list`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from agent_memory.domain.instants import DAY_MS, iso_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Kind, Origin, Status
from agent_memory.formats.entry_json import entry_document
from agent_memory.reading import ListedEntries, ListFilter, ShownEntry, status_shown
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_choice, open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.periods import short_age
from agent_memory.surfaces.unreadable_notes import tell_unreadable, unreadable_documents
from agent_memory.wording import describe

_TITLE_CHARS = 300
_BOX_CHARS = 500
_NO_NOTES = "No notes yet. `memory remember TEXT` stores one; `memory consolidate` reads the inbox."


def configure(parser: argparse.ArgumentParser) -> None:
    add_choice(parser, "--status", Status, "how far it has come")
    add_choice(parser, "--kind", Kind, "what it is")
    add_choice(parser, "--origin", Origin, "whose word it is; `external` waits for `memory promote`")
    add_choice(parser, "--tier", Tier, "how near to an agent it is")
    parser.add_argument("--tag", help="only entries with this tag (`x` means topic__x)")
    parser.add_argument("--scope", help="only notes of this scope: global, repo, or a repository's key")
    parser.add_argument("--session", metavar="ID", help="only notes that come from this session")
    parser.add_argument("--query", help="words that must all occur in title, description or tags")
    parser.add_argument(
        "--open", action="store_true", help="only what has an open check-box, each shown, and tasks without check-boxes"
    )
    parser.add_argument("--expired", action="store_true", help="only what has expired and waits for `memory defrag`")
    parser.add_argument("--archived", action="store_true", help="list the archive instead")
    parser.epilog = "Example: memory list --kind decision --query 'lock migration'"


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    wanted = ListFilter(
        status=Status(arguments.status) if arguments.status else None,
        kind=Kind(arguments.kind) if arguments.kind else None,
        origin=Origin(arguments.origin) if arguments.origin else None,
        tier=Tier(arguments.tier) if arguments.tier else None,
        tag=arguments.tag,
        scope=memory.scope_here() if arguments.scope == "repo" else arguments.scope,
        query=arguments.query,
        session=arguments.session,
        is_open=arguments.open,
        expired_by_ms=memory.clock.now_ms() if arguments.expired else None,
    )
    found = unwrap(memory.reading.list(wanted, archived=arguments.archived))
    _print(console, found, wanted, memory.clock.now_ms())
    return 0


def _print(console: Console, found: ListedEntries, wanted: ListFilter, now_ms: int) -> None:
    if console.json:
        rows = (_entry_document(each, wanted) for each in found.entries)
        console.document_of("entries", rows, {"unreadable": unreadable_documents(found.unreadable)})
    elif console.is_terminal:
        _print_table(console, found.entries, wanted, now_ms)
    else:
        if lines := list(_plain_lines(found.entries)):
            console.out("\n".join(lines))  # at once: ten thousand calls of `print` take as long as reading the store
    if found.untiered is not None:
        console.err(f"memory: The tiers are not known. {describe(found.untiered)}")
    tell_unreadable(console, found.unreadable)


def _entry_document(entry: ShownEntry, wanted: ListFilter) -> dict[str, Any]:
    document = entry_document(entry.listed, entry.usage, tier=entry.tier)
    return {**document, "open": list(entry.open_boxes)} if wanted.is_open else document


def _plain_lines(entries: Sequence[ShownEntry]) -> Iterator[str]:
    for each in entries:
        meta = each.listed.meta
        yield "\t".join(
            (
                *(meta.id, meta.kind, status_shown(meta.status, each.tier), meta.origin),
                *(_day_shown(meta.updated_at_ms // DAY_MS), str(each.usage.count)),
                *(one_line(meta.title, _TITLE_CHARS), " ".join(meta.tags)),
            )
        )
        for box in each.open_boxes:
            yield f"\t- [ ] {box}"


@lru_cache(maxsize=4_096)
def _day_shown(day: int) -> str:
    """The date of a day since 1970."""
    return iso_of(day * DAY_MS)[:10]


def _print_table(console: Console, entries: Sequence[ShownEntry], wanted: ListFilter, now_ms: int) -> None:
    if not entries:
        console.out(_NO_NOTES if wanted == ListFilter() else "No such notes.")
        return
    from agent_memory.surfaces.table import table_lines

    headings = ("id", "kind", "status", "changed", "used", "title")
    give_way = ("used", "status", "kind", "changed")
    heading, *lines = table_lines(headings, [_cells(each, now_ms) for each in entries], give_way=give_way)
    console.out(console.strong(heading))
    for line, each in zip(lines, entries, strict=True):
        console.out(line)
        for box in each.open_boxes:
            console.out(f"  - [ ] {one_line(box, _BOX_CHARS)}")
    console.out(_closing(entries))


def _closing(entries: Sequence[ShownEntry]) -> str:
    hot = ", * in front of every agent" if any(each.tier is Tier.HOT for each in entries) else ""
    return f"{len(entries):,} note{'' if len(entries) == 1 else 's'}{hot}"


def _cells(entry: ShownEntry, now_ms: int) -> tuple[str, ...]:
    meta = entry.listed.meta
    hot = "* " if entry.tier is Tier.HOT else ""
    status = status_shown(meta.status, entry.tier).value
    changed = short_age(meta.updated_at_ms, now_ms)
    title = f"{hot}{one_line(meta.title, _TITLE_CHARS)}"
    return (meta.id, meta.kind.value, status, changed, str(entry.usage.count), title)
