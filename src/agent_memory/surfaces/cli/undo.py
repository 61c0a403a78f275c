"""`memory undo`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.app import Memory
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.undo_run import Undone, sentence_of
from agent_memory.formats.footprint_diff import render_diff
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.log import action_document
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

_TITLE_CHARS = 120


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="a run of `memory log` (default: the newest that stands)")
    parser.add_argument("--dry-run", action="store_true", help="print what would change as a diff and change nothing")
    parser.epilog = (
        "Notes, archive, tiers and managed sections become what they were before the run, byte for byte. A "
        "note that somebody changed since stays as it is, and is named. The inbox and what is known of sessions stay as "
        "they are. To undo an undo, name it. For a person: refused where an agent is calling."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    undone = unwrap(memory.undo(arguments.run, dry_run=arguments.dry_run))
    return _report(memory, console, undone)


def _report(memory: Memory, console: Console, undone: Undone) -> int:
    if undone.dry_run:
        parts = memory.run_diff(undone.undid.run_id, backwards=True).map(lambda found: found[1]).value_or(())
        if parts:
            console.out(render_diff(parts))
    for warning in undone.warnings:
        console.err(f"memory: {warning}")
    console.out(one_line(sentence_of(undone), 2_000))
    if not undone.dry_run:
        for action in undone.actions:
            ids = " ".join((*action.ids, *action.new_ids))
            console.out(f"  {action.kind:8} {ids}  {one_line(action.words, _TITLE_CHARS)}".rstrip())
        for path in undone.sections:
            console.out(f"  section  {path}")
    console.document(_document(undone))
    return 0


def _document(undone: Undone) -> dict[str, Any]:
    return {
        "run": undone.run_id or None,
        "undid": undone.undid.run_id,
        "machine": undone.undid.machine,
        "dryRun": undone.dry_run,
        "summary": sentence_of(undone),
        "actions": [action_document(each) for each in undone.actions],
        "sections": list(undone.sections),
        "left": [{"path": each.path, "reason": each.reason} for each in undone.left],
        "warnings": list(undone.warnings),
    }
