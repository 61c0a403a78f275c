"""`memory doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from agent_memory.domain.doctor.catalogue import DoctorReport, Finding, Repair, Severity
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.cli.secret_report import report_secrets
from agent_memory.surfaces.console import Console

MOST_SHOWN = 10
"""Findings of one kind that are shown to a person."""

_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"


def configure(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_mutually_exclusive_group()
    acts.add_argument("--fix", action="store_true", help="repair what is safe to repair, and say what was done")
    acts.add_argument("--secrets", action="store_true", help="look for secrets only, also in what git keeps")
    parser.epilog = (
        "Looks at every note, link, tier and target, at the inbox, the runs, git and the files themselves. Nothing is "
        "changed without --fix, and --fix never deletes knowledge. Exit code 1 when there are problems (after --fix: "
        "when some remain); notes do not count. --secrets reads every file of the store and every version in its git "
        "history, says where a secret is and of what kind, and never shows it; exit code 1 when there is one."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    if arguments.secrets:
        return report_secrets(memory.search_secrets(console.progress), console)
    if not arguments.fix:
        found = memory.examine(console.progress)
        console.document(_document(found))
        console.out(_text(found, console))
        return _exit_code(found)
    repair = unwrap(memory.repair(console.progress))
    return _report(repair, console)


def _report(repair: Repair, console: Console) -> int:
    after = repair.after
    console.document({**_document(after), "fixed": list(repair.did), "notFixed": list(repair.failed)})
    for sentence in _first(list(repair.did)):
        console.out(f"fixed: {sentence}")
    for sentence in _first(list(repair.failed)):
        console.err(f"memory: {sentence}")
    console.out(_text(after, console))
    return _exit_code(after)


def _exit_code(found: DoctorReport) -> int:
    return 1 if found.problems else 0


def _text(found: DoctorReport, console: Console) -> str:
    lines = _grouped(found.findings, console.colour) if console.is_terminal else _plain(found.findings)
    return "\n".join((*lines, _summary(found)))


def _plain(findings: Iterable[Finding]) -> Iterator[str]:
    """One line a finding."""
    for _, same in groupby(findings, key=lambda each: each.code):
        yield from _first([f"{each.severity}: {each.subject}: {each.sentence}{_fix(each)}" for each in same])


def _grouped(findings: Iterable[Finding], colour: bool) -> Iterator[str]:
    """A heading for each area, and below it two lines a finding."""
    for area, group in groupby(findings, key=lambda each: each.area):
        yield f"{_BOLD}{area}{_PLAIN}" if colour else str(area)
        for _, same in groupby(group, key=lambda each: each.code):
            yield from _first([_entry(each, colour) for each in same], indent="  ")
        yield ""


def _entry(each: Finding, colour: bool) -> str:
    word = f"{each.severity:7}"
    shown = f"{_RED}{word}{_PLAIN}" if colour and each.severity is Severity.PROBLEM else word
    return f"  {shown}  {each.subject}\n           {each.sentence}{_fix(each)}"


def _fix(each: Finding) -> str:
    return f" [--fix {each.fix}]" if each.fix else ""


def _first(texts: list[str], indent: str = "") -> list[str]:
    rest = len(texts) - MOST_SHOWN
    return texts if rest <= 0 else [*texts[:MOST_SHOWN], f"{indent}… and {rest} more (`memory doctor --json` has all)"]


def _summary(found: DoctorReport) -> str:
    problems = len(found.problems)
    remarks = len(found.findings) - problems
    store = f"{_count(found.entries, 'note')}, {found.archived} archived"
    if not found.findings:
        return f"Nothing is wrong: {store}"
    fixable = sum(each.fix is not None for each in found.findings)
    hint = f"; `memory doctor --fix` takes care of {fixable}" if fixable else ""
    return f"{_count(problems, 'problem')} and {_count(remarks, 'remark')} in {store}{hint}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _document(found: DoctorReport) -> dict[str, Any]:
    return {
        "root": found.root,
        "entries": found.entries,
        "archived": found.archived,
        "problems": len(found.problems),
        "symptoms": [
            {
                "code": each.code,
                "area": each.area.value,
                "severity": each.severity.value,
                "subject": each.subject,
                "message": each.sentence,
                "fix": each.fix,
            }
            for each in found.findings
        ],
    }
