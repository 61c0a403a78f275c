"""`memory doctor`: what is wrong with the store, and where secrets are."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from agent_memory.adapters.doctor.secrets import search_secrets
from agent_memory.domain.doctor import DoctorReport, Finding, SecretFind, SecretSearch, Severity
from agent_memory.domain.text.plain_text import counted, first_few
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_flag, set_command
from agent_memory.surfaces.cli.dialogue import first_of, open_here
from agent_memory.surfaces.console import BOLD, RED, Console, fields_of, rows_of

MOST_SHOWN = 10
"""Findings of one kind that are shown to a person."""


def configure_doctor(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_mutually_exclusive_group()
    add_flag(acts, "--fix", "repair what is safe to repair, and say what was done")
    add_flag(acts, "--secrets", "look for secrets only, also in what git keeps")
    epilog = (
        "Looks at every note, link, tier and target, at the inbox, the runs, git and the files themselves. Nothing is "
        "changed without --fix, and --fix never deletes knowledge. Exit code 1 when there are problems (after --fix: "
        "when some remain); notes do not count. --secrets reads every file of the store and every version in its git "
        "history, says where a secret is and of what kind, and never shows it; exit code 1 when there is one."
    )
    set_command(parser, _run, epilog, "memory doctor --fix")


def _run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    if arguments.secrets:
        return _report_secrets(search_secrets(memory.real_root, memory.git_process, console.progress), console)
    if not arguments.fix:
        report = memory.doctor(console.progress).examine()
        console.answer(_document(report), *_lines(report, console))
        return 1 if report.problems else 0
    repair, report = unwrap(memory.repair(console.progress))
    document = {**_document(report), "fixed": repair.did, "notFixed": repair.failed}
    fixed = (f"fixed: {sentence}" for sentence in _first(repair.did))
    console.answer(document, *fixed, *_lines(report, console))
    console.warn(*_first(repair.failed))
    return 1 if report.problems else 0


def _lines(report: DoctorReport, console: Console) -> Iterator[str]:
    """One line a finding, the first ones of each kind; on a terminal below the name of their area."""
    for area, found in groupby(report.findings, key=lambda each: each.area):
        if console.is_terminal:
            yield console.styled(BOLD, area)
        for _, same in groupby(found, key=lambda each: each.code):
            yield from _first([_line(each, console) for each in same])
    yield _summary(report)


def _line(each: Finding, console: Console) -> str:
    severity = console.styled(RED if each.severity is Severity.PROBLEM else "", each.severity)
    fix = f" [--fix {each.fix}]" if each.fix else ""
    return f"{severity}: {each.subject}: {each.message}{fix}"


def _first(texts: list[str]) -> list[str]:
    return first_of(texts, MOST_SHOWN, "`memory doctor --json` has all")


def _summary(report: DoctorReport) -> str:
    problems = len(report.problems)
    remarks = len(report.findings) - problems
    store = f"{counted(report.entries, 'note')}, {report.archived} archived"
    if not report.findings:
        return f"Nothing is wrong: {store}"
    fixable = sum(each.fix is not None for each in report.findings)
    hint = f"; `memory doctor --fix` takes care of {fixable}" if fixable else ""
    return f"{counted(problems, 'problem')} and {counted(remarks, 'remark')} in {store}{hint}"


def _document(report: DoctorReport) -> dict[str, Any]:
    return {
        **fields_of(report, "root", "entries", "archived"),
        "problems": len(report.problems),
        "symptoms": rows_of(report.findings),
    }


# -- secrets: where and of what kind, never what ----------------------------------------------------------------------

_ID = re.compile(r"id__[1-9A-HJ-NP-Za-km-z]{6}")
_COMMIT_CHARS = 10


def _report_secrets(search: SecretSearch, console: Console) -> int:
    """Show it; the exit code: 1 when something was found, or could not be looked at."""
    secrets = [
        {
            "path": find.path or None,
            **fields_of(find, "commit", "in_history"),
            "kinds": [{"name": name, "count": count} for name, count in find.kinds],
        }
        for find in search.finds
    ]
    document = {"secrets": secrets, **fields_of(search, "files", "objects", "unread")}
    console.answer(document, *map(_secret_line, search.finds), _secrets_summary(search))
    console.warn(*(f"not looked at: {reason}" for reason in search.unread))
    return 1 if search.finds or search.unread else 0


def _secret_line(find: SecretFind) -> str:
    kinds = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in find.kinds)
    return f"{_place(find)}: {kinds}"


def _place(find: SecretFind) -> str:
    if not find.in_history:
        return find.path
    if find.commit is None:
        return "git, an object that no commit holds any more"
    commit = f"commit {find.commit[:_COMMIT_CHARS]}"
    return f"git, {commit}, {find.path}" if find.path else f"git, message of {commit}"


def _secrets_summary(search: SecretSearch) -> str:
    looked_at = f"{counted(search.files, 'file')} and {counted(search.objects, 'object')} of git"
    if not search.finds:
        return f"No secret found in {looked_at}"
    known = list(dict.fromkeys(id for find in search.finds for id in _ID.findall(find.path)))
    commands = first_few([f"`memory forget {id} --purge`" for id in known], 3)
    return (
        f"Secrets in {counted(len(search.finds), 'place')} of {looked_at}; change them where they were issued; "
        f"then remove them, from git's history too, with {commands or '`memory forget ID|--session S --purge`'}"
    )
