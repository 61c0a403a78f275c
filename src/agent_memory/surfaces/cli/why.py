"""`memory why`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from agent_memory.app import Memory
from agent_memory.domain.entry import Listed
from agent_memory.domain.explaining.entry_story import EntryStory, chapter_in_words
from agent_memory.domain.explaining.provenance import said_by, source_in_words
from agent_memory.domain.explaining.reopening import reopening_command
from agent_memory.domain.explaining.session_trace import FoundSessions, SessionTrace
from agent_memory.domain.explaining.session_words import (
    NEVER_CAPTURED,
    dropped_of,
    facts_in_words,
    instant,
    state_in_words,
)
from agent_memory.domain.explaining.tier_reason import score_in_words, tier_reason
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import UsageInvalid
from agent_memory.formats.story_json import reopening_of, sessions_document, story_document
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import entry_id, open_here
from agent_memory.surfaces.console import Console

MOST_SHOWN = 20
"""Of each list; `--json` has all."""

_LINE_CHARS = 400


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id",
        metavar="ID",
        nargs="?",
        type=entry_id,
        help="an entry: id__a1b2c3, a1b2c3, or its file; archived ones too",
    )
    parser.add_argument("--session", metavar="S", help="what became of a session: its id, or the beginning of it")
    parser.epilog = "Counts no read, and never shows a body."


def run(arguments: argparse.Namespace, console: Console) -> int:
    if (arguments.id is None) == (arguments.session is None):
        raise UsageInvalid("Give either an entry's id or --session", "See `memory why --help`.")
    if arguments.session is not None:
        session_id: str = arguments.session.strip()
        if not session_id:
            return console.fail(
                UsageInvalid("--session needs the id of a session", "`memory why --help` has an example.")
            )
        memory = open_here(console)
        return _show_session(console, memory, session_id)
    memory = open_here(console)
    return _show_entry(console, memory, arguments.id)


# -- an entry ---------------------------------------------------------------------------------------------------------


def _show_entry(console: Console, memory: Memory, id: str) -> int:
    story = unwrap(memory.why_entry(id))
    console.document(story_document(story))
    console.out("\n".join(_entry_lines(story)))
    for words in story.unread:
        console.err(f"memory: {words}")
    return 0


def _entry_lines(story: EntryStory) -> list[str]:
    meta = story.stored.meta
    where = "archived" if story.stored.listed.archived else story.standing.tier.value
    lines = [f"# {_line(meta.title)}", "", f"{meta.id} · {meta.kind} · {meta.status} · {where} · {_line(meta.scope)}"]
    if story.asked != meta.id:
        lines.append(f"{story.asked} leads here: it was merged into this note.")
    return [
        *lines,
        *_section("Whose word", [said_by(meta)]),
        *_section("Comes from", _sources(story)),
        *_section("Took over from", [_entry(each) for each in story.merged]),
        *_section("Supersedes", [_entry(each) for each in story.supersedes]),
        *_section("Superseded by", [_entry(each) for each in story.superseded_by]),
        *_section("Told", story.told),
        *_section("Why it is in its tier", [*tier_reason(story.standing), *_score(story)]),
        *_section("Used", [_usage(story)]),
        *_section("What changed it", _history(story)),
        *_section(
            "Commits", [f"{each.at[:10]} {each.commit} {each.author}: {each.subject}" for each in story.revisions]
        ),
    ]


def _sources(story: EntryStory) -> list[str]:
    lines: list[str] = []
    for source in story.stored.meta.sources:
        lines.append(source_in_words(source))
        reopened = reopening_command(source.harness, source.thread_id, source.cwd)
        lines += [f"  open it again: {reopened}"] if reopened else []
    return lines or ["No session is named."]


def _score(story: EntryStory) -> list[str]:
    return [] if story.stored.listed.archived else [score_in_words(story.standing)]


def _usage(story: EntryStory) -> str:
    count, last_ms = story.usage.count, story.usage.last_at_ms
    if count == 0:
        return "Nobody has read it yet."
    last = f", last on {instant(last_ms)}" if last_ms is not None else ""
    return f"Read {count} time{'' if count == 1 else 's'}{last}."


def _history(story: EntryStory) -> list[str]:
    meta = story.stored.meta
    told = [f"{instant(each.at_ms)}: {_line(chapter_in_words(each))}" for each in story.chapters]
    return told or [
        f"No run has; it is from {instant(meta.created_at_ms)}, last changed {instant(meta.updated_at_ms)}."
    ]


def _entry(listed: Listed) -> str:
    return f"{listed.meta.id}  {_line(listed.meta.title)}{'  (archived)' if listed.archived else ''}"


# -- a session --------------------------------------------------------------------------------------------------------


def _show_session(console: Console, memory: Memory, session_id: str) -> int:
    found = unwrap(memory.why_session(session_id))
    console.document(sessions_document(session_id, found))
    console.out("\n".join(_found_lines(session_id, found)))
    for words in found.unread:
        console.err(f"memory: {words}")
    return 0


def _found_lines(session_id: str, found: FoundSessions) -> list[str]:
    blocks = [_session_lines(each) for each in found.traces] or [[f"# {_line(session_id)}", "", NEVER_CAPTURED]]
    lines = [line for block in blocks for line in (*block, "")][:-1]
    if found.unopened:
        lines += ["", f"{found.unopened:,} older inbox files were not looked into."]
    return lines


def _session_lines(trace: SessionTrace) -> list[str]:
    opened = reopening_of(trace)
    return [
        f"# {_line(trace.harness)} session {_line(trace.session_id)}",
        "",
        state_in_words(trace),
        *map(_line, facts_in_words(trace)),
        *([f"Open it again: {opened}"] if opened else []),
        *_section("Notes", [_entry(each) for each in trace.entries] or ["None."]),
        *_section("Left out of what the agent answered", [_line(each) for each in dropped_of(trace)]),
    ]


# -- lines ------------------------------------------------------------------------------------------------------------


def _section(heading: str, items: Sequence[str]) -> Iterable[str]:
    if not items:
        return ()
    more = len(items) - MOST_SHOWN
    shown = (*items[:MOST_SHOWN], *([f"… and {more} more (--json has all)"] if more > 0 else []))
    return ("", f"{heading}:", *(f"  {item}" for item in shown))


def _line(text: str) -> str:
    return one_line(text, _LINE_CHARS)
