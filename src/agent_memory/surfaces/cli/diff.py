"""`memory diff`."""

from __future__ import annotations

import argparse

from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.undo_run import called
from agent_memory.formats.footprint_diff import render_diff
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

_SUMMARY_CHARS = 500


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="a run of `memory log` (default: the newest that changed something)"
    )
    parser.epilog = "Notes, tiers and managed sections, as they were before the run and after it. Needs no git."


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    logged, parts = unwrap(memory.run_diff(arguments.run))
    console.out(f"# {called(logged)}: {one_line(logged.summary, _SUMMARY_CHARS)}".rstrip(": "))
    if parts:
        console.out(render_diff(parts))
    console.document(
        {
            "run": logged.run_id,
            "machine": logged.machine,
            "summary": logged.summary,
            "changes": [
                {
                    "subject": each.subject,
                    "act": each.act,
                    "words": each.words,
                    "diff": "\n".join(each.lines),
                }
                for each in parts
            ],
        }
    )
    return 0
