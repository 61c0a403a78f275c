"""`memory why`: of a note, or of a session."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_memory.domain.entry import Listed
from agent_memory.domain.note_story import (
    NoteStory,
    chapter_in_words,
    said_by,
    score_in_words,
    source_in_words,
    tier_reason,
)
from agent_memory.domain.session_trace import (
    NEVER_CAPTURED,
    Capture,
    FoundSessions,
    SessionTrace,
    dropped_of,
    facts_in_words,
    instant,
    state_in_words,
)
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.domain.vocabulary import resume_command
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import ENTRY, add_id, set_command
from agent_memory.surfaces.cli.dialogue import first_of, open_here
from agent_memory.surfaces.console import Console, fields_of, iso_or_none, rows_of

MOST_SHOWN = 20
"""Of each list; `--json` has all."""

_LINE_CHARS = 400


def configure_why(parser: argparse.ArgumentParser) -> None:
    add_id(parser, f"{ENTRY}; archived ones too", optional=True)
    parser.add_argument("--session", metavar="S", help="what became of a session: its id, or the beginning of it")
    set_command(parser, _run, "Counts no read, and never shows a body.", "memory why id__a1b2c3")


def _run(arguments: argparse.Namespace, console: Console) -> None:
    if (arguments.id is None) == (arguments.session is None):
        raise UsageInvalid("Give either an entry's id or --session", "See `memory why --help`.")
    if arguments.session is None:
        story = unwrap(open_here(console).why_entry(arguments.id))
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


# -- a note -----------------------------------------------------------------------------------------------------------


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
    history = [f"{instant(each.at_ms)}: {_line(chapter_in_words(each))}" for each in story.chapters]
    changed = f"it is from {instant(meta.created_at_ms)}, last changed {instant(meta.updated_at_ms)}"
    yield from _section("Whose word", [said_by(meta)])
    yield from _section("Comes from", list(_sources(story)) or ["No session is named."])
    yield from _section("Took over from", list(map(_entry, story.merged)))
    yield from _section("Supersedes", list(map(_entry, story.supersedes)))
    yield from _section("Superseded by", list(map(_entry, story.superseded_by)))
    yield from _section("Told", story.told)
    yield from _section("Why it is in its tier", [*tier_reason(standing), *score])
    yield from _section("Used", [_usage(story)])
    yield from _section("What changed it", history or [f"No run has; {changed}."])
    yield from _section("Commits", commits)


def _sources(story: NoteStory) -> Iterator[str]:
    for source in story.stored.meta.sources:
        yield source_in_words(source)
        resumed = resume_command(source.harness, source.thread_id, source.cwd)
        if resumed is not None:
            yield f"  open it again: {resumed}"


def _usage(story: NoteStory) -> str:
    usage = story.standing.usage
    if usage.count == 0:
        return "Nobody has read it yet."
    last = f", last on {instant(usage.last_at_ms)}" if usage.last_at_ms is not None else ""
    return f"Read {counted(usage.count, 'time')}{last}."


def _entry(listed: Listed) -> str:
    return f"{listed.meta.id}  {_line(listed.meta.title)}{'  (archived)' if listed.archived else ''}"


def _story_document(story: NoteStory) -> dict[str, Any]:
    """Instants are ISO 8601, those of commits as git has them. Without the body."""
    meta, listed, standing = story.stored.meta, story.stored.listed, story.standing
    parts = ("total", "importance", "use", "recency", "origin", "pin")
    score = {name: round(getattr(standing.parts, name), 4) for name in parts}
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
        "history": rows_of(story.chapters),
        "commits": rows_of(story.revisions),
        **fields_of(meta, "aliases"),
        "merged": _named(story.merged),
        "supersedes": _named(story.supersedes),
        "supersededBy": _named(story.superseded_by),
        "tier": {
            **fields_of(standing, "tier", "best"),
            "pinned": meta.pinned,
            "reasons": list(tier_reason(standing)),
            "score": score,
        },
        "usage": fields_of(standing.usage, "count", "last_at_ms"),
        **fields_of(story, "told", "unread"),
    }


def _named(entries: Iterable[Listed]) -> list[dict[str, Any]]:
    return [{"id": each.meta.id, "title": each.meta.title, "archived": each.archived} for each in entries]


# -- a session --------------------------------------------------------------------------------------------------------


def _found_lines(session_id: str, found: FoundSessions) -> Iterator[str]:
    if not found.traces:
        yield from (f"# {_line(session_id)}", "", NEVER_CAPTURED)
    for at, trace in enumerate(found.traces):
        yield from ("",) if at else ()
        yield from _session_lines(trace)
    if found.unopened:
        yield from ("", f"{found.unopened:,} older inbox files were not looked into.")


def _session_lines(trace: SessionTrace) -> Iterator[str]:
    yield f"# {_line(trace.harness)} session {_line(trace.session_id)}"
    yield ""
    yield state_in_words(trace)
    yield from map(_line, facts_in_words(trace))
    if resumed := resume_command(trace.harness, trace.session_id, trace.cwd):
        yield f"Open it again: {resumed}"
    yield from _section("Notes", list(map(_entry, trace.entries)) or ["None."])
    yield from _section("Left out of what the agent answered", list(map(_line, dropped_of(trace))))


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
        "dropped": list(dropped_of(trace)),
        **fields_of(trace, "deferred"),
    }


def _capture_document(capture: Capture) -> dict[str, Any]:
    trouble, outcome = capture.trouble, capture.outcome
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


# -- lines ------------------------------------------------------------------------------------------------------------


def _section(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"{heading}:")
        yield from (f"  {item}" for item in first_of(items, MOST_SHOWN, "--json has all"))


def _line(text: str) -> str:
    return one_line(text, _LINE_CHARS)
