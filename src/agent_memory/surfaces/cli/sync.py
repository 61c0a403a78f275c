"""`memory sync`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.domain.merging import NoteCounts, Remark, Synced, SyncRequest, sentence_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

_SHOWN = 20
_LINE_CHARS = 300


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--remote", metavar="URL", help="a git repository to sync with from now on (default: the store's remote)"
    )
    parser.add_argument("--dry-run", action="store_true", help="fetch, and say what would change; change nothing")
    parser.add_argument(
        "--after-purge",
        action="store_true",
        help="a purge is known: keep what was purged out of this machine and of the remote, and sync",
    )
    parser.epilog = (
        "What each machine wrote since is merged field by field and line by line, then pushed; nothing is rebased, and "
        "nothing forced but after a purge. Where both changed the same lines both versions stand in the note between "
        "markers, `memory doctor` lists it, and `memory edit` mends it. What was forgotten on one machine is forgotten "
        "on all. Nobody is asked for a password: git must know how to log in. --remote and --after-purge are for a "
        "person. Exit codes: 0, 60 where nothing was synced, 75 when a run is at work."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    request = SyncRequest(arguments.remote, arguments.dry_run, arguments.after_purge)

    memory = open_here(console)
    synced = unwrap(memory.sync(request, console.progress))
    _report(console, synced)
    return 0


def _report(console: Console, synced: Synced) -> None:
    console.out(sentence_of(synced))
    for line in _lines(synced):
        console.out(f"  {one_line(line, _LINE_CHARS)}")
    console.document(_document(synced))


def _lines(synced: Synced) -> tuple[str, ...]:
    conflicts = tuple(
        f"{each.subject}: both had changed the same lines: {each.what} (`memory edit {each.subject}`)"
        for each in synced.conflicts
    )
    remarks = tuple(f"{each.subject} {each.what}" for each in synced.remarks)
    shown = remarks[:_SHOWN]
    more = (f"… and {len(remarks) - len(shown)} more (--json shows all)",) if len(remarks) > len(shown) else ()
    count = synced.forgotten
    gone = (f"{count} file{'' if count == 1 else 's'} of what was forgotten did not come along",) if count else ()
    return (*conflicts, *shown, *more, *gone)


def _document(synced: Synced) -> dict[str, Any]:
    return {
        "summary": sentence_of(synced),
        "remote": synced.remote,
        "branch": synced.branch,
        "dryRun": synced.dry_run,
        "received": _counts(synced.received),
        "sent": _counts(synced.sent),
        "pushed": synced.pushed,
        "merged": synced.merged,
        "afterPurge": synced.after_purge,
        "conflicts": [{"id": each.subject, "title": each.what} for each in synced.conflicts],
        "remarks": [_remark(each) for each in synced.remarks],
        "forgotten": synced.forgotten,
    }


def _counts(counts: NoteCounts) -> dict[str, int]:
    return {
        "created": counts.created,
        "changed": counts.changed,
        "archived": counts.archived,
        "removed": counts.removed,
    }


def _remark(remark: Remark) -> dict[str, str]:
    return {"subject": remark.subject, "what": remark.what}
