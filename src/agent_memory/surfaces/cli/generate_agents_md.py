"""`memory generate-agents-md`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.app import Memory
from agent_memory.domain.section import Published, PublishedTarget, RenderedSection
from agent_memory.errors import TargetRefused, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe

STDOUT = "-"
NO_TARGETS = (
    "No targets are configured, so nothing was written. Name the files that your agents read in agentsMd.targets of "
    '~/.config/agent-memory/config.json, for instance {"agentsMd": {"targets": ["~/.claude/CLAUDE.md", '
    '"~/.codex/AGENTS.md"]}}, or one with --target PATH. `--target -` prints the section.'
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        action="append",
        metavar="PATH",
        help="a file to write in place of the configured ones; may be repeated; `-` prints the section",
    )
    parser.add_argument("--dry-run", action="store_true", help="print a diff and write nothing")
    parser.epilog = (
        "Only what stands between the two markers of the section changes; a file without them gets the section at its "
        "end. Hot notes stand there whole, warm ones as a line, the rest as a count. A file inside a repository shows "
        "that repository's notes and nothing private, and what is global only where git ignores it. Exit code: 70 when a file was refused."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    paths: list[str] = arguments.target or []
    if STDOUT in paths and len(paths) > 1:
        raise UsageInvalid("--target - prints the section, and no other target can be given with it")
    if "" in paths:
        raise UsageInvalid("--target needs the path of a file")

    memory = open_here(console)
    if STDOUT in paths:
        return _print_section(memory, console)
    published = unwrap(memory.publish(paths or None, dry_run=arguments.dry_run))
    return _report(console, published, dry_run=arguments.dry_run)


def _print_section(memory: Memory, console: Console) -> int:
    rendered = unwrap(memory.section_here())
    console.out(rendered.text)
    console.document({"section": rendered.text, **_counts(rendered)})
    for warning in rendered.warnings:
        console.err(f"memory: {warning}")
    return 0


def _report(console: Console, published: Published, *, dry_run: bool) -> int:
    console.document({"dryRun": dry_run, "targets": [_document(each) for each in published.targets]})
    if not published.targets:
        console.out(NO_TARGETS)
    for target in published.targets:
        if target.diff:
            console.out(target.diff)
    for target in published.targets:
        if target.error is None:
            console.out(f"{target.path}  {_words(target)}")
        else:
            console.err(f"memory: {describe(target.error)}")
        for warning in target.warnings:
            console.err(f"memory: {warning}.")
    return TargetRefused.exit_code if published.refused else 0


def _words(target: PublishedTarget) -> str:
    outcome = {"planned": "would be written"}.get(target.outcome, target.outcome)
    rendered = target.rendered
    if rendered is None:
        return outcome
    demoted = rendered.demoted_hot + rendered.demoted_warm
    room = f" ({demoted} for want of room)" if demoted else ""
    return f"{outcome}: {len(rendered.hot)} hot, {len(rendered.warm)} warm, {rendered.cold} by search{room}"


def _document(target: PublishedTarget) -> dict[str, Any]:
    error = target.error
    return {
        "path": target.path,
        "outcome": target.outcome,
        "error": None if error is None else {"code": error.code, "message": describe(error)},
        **({} if target.rendered is None else _counts(target.rendered)),
        "warnings": list(target.warnings),
        **({} if target.kept is None else {"kept": target.kept}),
        **({"diff": target.diff} if target.diff else {}),
    }


def _counts(rendered: RenderedSection) -> dict[str, Any]:
    return {
        "hot": list(rendered.hot),
        "warm": list(rendered.warm),
        "cold": rendered.cold,
        "demotedHot": rendered.demoted_hot,
        "demotedWarm": rendered.demoted_warm,
    }
