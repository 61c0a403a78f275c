"""`memory sync`, `memory share` and `memory unshare`, and the merge driver that git calls."""

from __future__ import annotations

import os

from agent_memory.cli.console import Arguments, Console, Options
from agent_memory.cli.dialogue import first_of, open_here
from agent_memory.documents import fields_of
from agent_memory.errors import PathRefused
from agent_memory.files.durable import replace_file
from agent_memory.files.paths import as_store_io, read_image
from agent_memory.note.note import TEAM_DIRECTORY
from agent_memory.results import unwrap
from agent_memory.sync.merged_tree import driven_merge
from agent_memory.sync.synchroniser import SyncRequest, sentence_of
from agent_memory.text.plain_text import counted, one_line

# -- sync -------------------------------------------------------------------------------------------------------------


def configure_sync(options: Options) -> None:
    remote = "the git repository to sync with from now on (default: the store's remote)"
    options.add("--remote", metavar="URL", help=remote)
    options.flag("--dry-run", "fetch, show what would change, and change nothing")
    after_purge = "confirm a purge: keep what was purged off this machine and the remote, and sync"
    options.flag("--after-purge", after_purge)
    epilog = (
        "Merges what each machine wrote, field by field and line by line, and pushes. It never rebases, and "
        "overwrites nothing except after a purge. If two machines changed the same lines, the note holds both "
        "versions between markers; `memory doctor` lists it, and you resolve it with `memory edit`. What you forget "
        "on one machine is forgotten on all. Memory never asks for a password: git must be able to log in. Only you "
        "can use --remote and --after-purge, not an agent. Exit codes: 0, 60 if nothing was synced, 75 if a run is "
        "at work."
    )
    options.runs(_sync, epilog, "memory sync --remote git@example.com:me/memories.git")


def _sync(arguments: Arguments, console: Console) -> None:
    request = SyncRequest(arguments.remote, arguments.dry_run, arguments.after_purge)
    synced = unwrap(open_here(console).sync(request))
    document = {
        "summary": sentence_of(synced),
        **fields_of(synced, "remote", "branch", "dry_run", "received", "sent", "pushed", "merged", "after_purge"),
        "conflicts": [{"id": each.subject, "title": each.what} for each in synced.conflicts],
        **fields_of(synced, "remarks", "forgotten"),
    }
    lines = [
        f"{each.subject}: both machines changed the same lines: {each.what} (resolve it with `memory edit {each.subject}`)"
        for each in synced.conflicts
    ]
    lines += first_of([f"{each.subject} {each.what}" for each in synced.remarks], 20, "--json shows all")
    if synced.forgotten:
        lines.append(f"left out {counted(synced.forgotten, 'file')} of what was forgotten")
    console.answer(document, sentence_of(synced), *(f"  {one_line(line, 300)}" for line in lines))


# -- share and unshare ------------------------------------------------------------------------------------------------


def configure_share(options: Options) -> None:
    options.ids()
    epilog = (
        f"Writes promoted notes of this repository to {TEAM_DIRECTORY}/ in its checkout, for a pull request. Sources, "
        "quotations, pins and your own keys stay at home. A note that is private, or holds a secret or a path of a "
        "machine, is refused. Others are told it once they run `memory trust` in their checkout. Only you can share, "
        "not an agent."
    )
    options.runs(_share, epilog, "memory share id__a1b2c3")


def _share(arguments: Arguments, console: Console) -> None:
    shared = unwrap(open_here(console).sharing().share(arguments.ids))
    rows = [{"id": each.meta.id, "title": each.meta.title, "path": path} for path, each in shared.items()]
    lines = (f"Shared {each['id']}  {each['path']}" for each in rows)
    console.answer({"shared": rows}, *lines, f"Commit {TEAM_DIRECTORY} and open a pull request.")


def configure_unshare(options: Options) -> None:
    options.ids()
    epilog = (
        f"Removes the note's file from {TEAM_DIRECTORY}/; your own note stays. Only you can run this, not an agent."
    )
    options.runs(_unshare, epilog, "memory unshare id__a1b2c3")


def _unshare(arguments: Arguments, console: Console) -> None:
    removed = unwrap(open_here(console).sharing().unshare(arguments.ids))
    console.answer({"unshared": removed}, *(f"Removed {each}" for each in removed))


# -- merge-driver: what git calls when a person merges a store by hand (gitattributes(5), "custom merge driver") --------


def configure_merge_driver(options: Options) -> None:
    options.add("base", metavar="BASE", help="%%O: the common ancestor; empty where there is none")
    options.add("ours", metavar="OURS", help="%%A: our version, which the result replaces")
    options.add("theirs", metavar="THEIRS", help="%%B: the other version")
    options.add("path", metavar="PATH", help="%%P: where the file lies in the store")
    epilog = (
        "Called by git, for example for `git pull` in the store; `memory sync` sets it up. Exit codes: 0 if merged, "
        "1 if both changed the same lines (the result holds both) or the file cannot be merged (it stays as it was)."
    )
    options.runs(_merge_driver, epilog, "memory merge-driver base.md ours.md theirs.md topics/note.md")


def _merge_driver(arguments: Arguments, console: Console) -> int:
    base, ours, theirs = (_content(file) for file in (arguments.base, arguments.ours, arguments.theirs))
    data, conflicted = driven_merge(arguments.path, base, ours, theirs) or (None, True)
    if data is None:
        console.warn(f"{arguments.path!r} cannot be merged: one version of it is not valid. It was left as it was.")
    else:
        path = os.path.abspath(arguments.ours)
        with as_store_io("write", path):
            replace_file(path, data)
    console.answer({"path": arguments.path, "conflicted": conflicted})
    return 1 if conflicted else 0


def _content(file: str) -> bytes:
    image = read_image(os.path.abspath(file), 64 << 20)
    if image is None:
        raise PathRefused(file, "it is not there")
    return image.data
