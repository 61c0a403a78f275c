"""One call of each command that touches the disk, for the fault sweeps: a new command is one line in `SCENES`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Hashable
from typing import Any

from agent_memory.capture.hook_files import log_hook_problem
from conservation import notes_in
from faults import snapshot
from memory_process import Done, Memory
from swept_scenes import (
    FORGOTTEN,
    LEARNT,
    Scene,
    ids_in,
    live_notes_of,
    notes_and_queue_of,
    queue_of,
    sections_of,
    state_of,
    succeed,
    talk,
    uses_of,
    with_twins,
)
from tidying_homes import DEPLOYING, DEPLOYS, MINOR, PINNED, TWO, id_of

BROKEN = "eeeeeeee-1111-4222-8333-444444444444"
INJECT = ("inject", "--harness", "claude-code", "--hook")
FORGOTTEN_WORD = b"zanzibar"
CRONTAB = """#!/bin/sh
case "$1" in
  -l) if [ -e "$HOME/table" ]; then cat "$HOME/table"; else echo "no crontab for me" >&2; exit 1; fi ;;
  -r) rm "$HOME/table" ;;
  -) cat > "$HOME/table.new" && mv "$HOME/table.new" "$HOME/table" ;;
esac
"""


# -- what is there before ---------------------------------------------------------------------------------------------


def _without_section(memory: Memory) -> None:
    """The harness has not read by itself what is hot, so there is something to tell it."""
    (memory.home / ".claude/CLAUDE.md").unlink()


def _cold(memory: Memory) -> None:
    """Without anything derived, as after a clone."""
    for path in sorted((memory.root / ".cache").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    _without_section(memory)


def _with_archived(memory: Memory) -> None:
    succeed(memory, "archive", id_of(DEPLOYS))


def _with_crontab(memory: Memory) -> None:
    """A table of the person's own, and a `crontab` that keeps it in the home. No other one is on the PATH: whatever goes
    wrong, the tables of this machine are out of reach."""
    programs = memory.home / "bin"
    programs.mkdir()
    for name in ("cat", "git", "mv", "rm"):
        (programs / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    (programs / "crontab").write_text(CRONTAB)
    (programs / "crontab").chmod(0o755)
    (memory.home / "table").write_text("# mine\n5 5 * * * true\n")


def _with_cron_jobs(memory: Memory) -> None:
    _with_crontab(memory)
    done = memory("schedule", "on", "--system", "cron", "--yes", environ={"PATH": str(memory.home / "bin")})
    assert done.code == 0, done


def _set_up(memory: Memory) -> None:
    """In two harnesses whose settings are the person's own."""
    (memory.home / ".claude/settings.json").write_text('{\n  "model": "opus" // mine\n}\n')
    (memory.home / ".codex/config.toml").write_text('model = "o3" # why\n')
    succeed(memory, "setup", "claude-code", "codex", "--mcp", "--yes")


def _given_up(memory: Memory) -> None:
    """A session whose transcript could not be understood three times, and can be by now."""
    path = memory.session(BROKEN, b"\x00\xff\n" * 1000)
    for _ in range(3):
        memory("consolidate")
    assert "there is no record" in memory("status").out
    talk(memory, FORGOTTEN, "Remember that the lock at the mill is opened with 3 turns, see docs/mill.md.")
    path.write_bytes((path.parent / f"{FORGOTTEN}.jsonl").read_bytes().replace(FORGOTTEN.encode(), BROKEN.encode()))


def _with_hook_problems(memory: Memory) -> None:
    for harness in ("codex", "claude-code"):
        log_hook_problem(str(memory.home), str(memory.root), harness, "payload", "it is not JSON")


def _with_config_here(memory: Memory) -> None:
    (memory.home / "memory.config.json").write_text('{"schedule": {"consolidateIntervalHours": 3}}')


def _damaged(memory: Memory) -> None:
    """A note without an id, a tier list with an id that nobody has, and a write that was broken off."""
    (memory.root / "topics" / "By hand.md").write_text("# The lock\n\nThe lock keeper lives at 4, Canal Row.\n")
    tiers = memory.root / "state" / "tiers.json"
    document = json.loads(tiers.read_text())
    tiers.write_text(json.dumps({**document, "warm": [*document["warm"], "id__gonexx"]}))
    half = memory.root / "topics" / ".tmp-0123456789abcdef"
    half.write_text("half")
    # Where it cannot be locked, as on a read-only disk, an hour decides whether somebody still writes it.
    os.utime(half, (0, 0))


def _shared(memory: Memory) -> None:
    """Another machine and a remote; both machines have written since they met."""
    remote = memory.home / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
    other = Memory(memory.home / "other")
    other.home.mkdir()
    for each in (memory, other):
        succeed(each, "sync", "--remote", str(remote))
    succeed(other, "edit", id_of(DEPLOYS), "--body", "Deploys run from `main` at 07:15, the api on port 9090.")
    succeed(other, "remember", "The boathouse key hangs behind BOATHOUSE_7.")
    succeed(other, "archive", id_of(MINOR[0]))
    succeed(other, "sync")
    succeed(memory, "edit", id_of(TWO), "--title", "Two things")


# -- what is seen and said --------------------------------------------------------------------------------------------


def _table_of(memory: Memory) -> Hashable:
    return (memory.home / "table").read_bytes()


def _left_of_setup(memory: Memory) -> Hashable:
    """The harness files, once nothing of ours is noted any more; until then an uninstall goes on where it was."""
    if (memory.home / ".local/state/agent-memory/setup/receipt.json").exists():
        return "set up"
    files = (path for each in (".claude", ".codex") for path in (memory.home / each).rglob("*") if path.is_file())
    whole = [path for path in (*files, *memory.home.glob(".claude.json")) if ".agent-memory-" not in path.name]
    return frozenset((str(path), path.read_bytes()) for path in whole)


def _notes_and_entries_of(memory: Memory) -> Hashable:
    """The live notes, and the entries of the inbox wherever they are: what comes back is for a moment in two places."""
    return live_notes_of(memory), frozenset(path.name for path in (memory.root / "inbox").rglob("[!.]*.json"))


def _says_what_waits(done: Done) -> bool:
    return bool(done.err or done.document.get("waiting"))


def _left_of_forgotten(memory: Memory) -> Hashable:
    """The live notes, once no file and no commit holds what was forgotten; until then a purge goes on where it was."""
    kept = snapshot(memory.root)
    told = any(FORGOTTEN_WORD in data for path, data in kept.items() if not path.startswith((".git/", "runs/purge/")))
    return told or FORGOTTEN_WORD.decode() in memory.git("log", "--all", "-p") or live_notes_of(memory)


def _promoted_in(memory: Memory) -> Hashable:
    live = notes_in(snapshot(memory.root), "topics")
    return frozenset((each.meta.id, each.body, each.meta.promoted_by) for each in live)


def _trusted_in(memory: Memory) -> Hashable:
    return len(memory("trust", "--list", "--json").document["trusted"])


def _hook_problems_in(done: Done) -> Hashable:
    return tuple(str(each) for each in done.document["hookProblems"])


def _symptoms_in(done: Done) -> Hashable:
    return frozenset((each["code"], each["subject"]) for each in done.document["symptoms"])


def _finds_what_is_unread(done: Done) -> bool:
    """That a file of notes or settings cannot be read, doctor says of that file."""
    told = ("unreadable-note", "target-refused", "setting")
    return any("Could not" in each["message"] or each["code"] in told for each in done.document["symptoms"])


def _says_what_is_unread(done: Done) -> bool:
    return any("Could not" in each for each in done.document["problems"])


def _links_in(done: Done) -> Hashable:
    return tuple(str(done.document[key]) for key in ("outgoing", "incoming", "supersedes", "supersededBy"))


def _story_in(done: Done) -> Hashable:
    document = done.document
    return tuple(len(document[key]) for key in ("history", "commits", "merged", "supersededBy", "sources"))


def _traces_in(done: Done) -> Hashable:
    return tuple(str(each) for each in done.document["sessions"])


def _notes_counted(done: Done) -> Hashable:
    """A note that cannot be read is counted as such."""
    notes = done.document["notes"]
    return int(notes["live"] + notes["unreadable"])


def _shown_in(done: Done) -> Hashable:
    return len(done.document["changes"])


# -- a client of the MCP server ---------------------------------------------------------------------------------------


def _asking(tool: str, **arguments: object) -> bytes:
    """What a client sends that calls one tool and hangs up."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "sweep", "version": "1"}}
    calls: tuple[dict[str, object], ...] = (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    )
    return b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in calls)


def _result_in(done: Done) -> dict[str, Any]:
    answers = [json.loads(line) for line in done.out.splitlines()]
    (result,) = (each["result"] for each in answers if each.get("id") == 2)
    return dict(result)


def _told(done: Done) -> Hashable:
    return str(_result_in(done)["content"])


def _ids_told(done: Done) -> Hashable:
    return tuple(re.findall(r"\*\*id:\*\* `(id__\w+)`", _result_in(done)["content"][0]["text"]))


def _is_saved(done: Done) -> Hashable:
    return str(_told(done)).count("Chunk saved")


def _says_why(done: Done) -> bool:
    result = _result_in(done)
    return bool(result.get("isError") or done.err or "could not" in str(result).casefold())


SCENES = {
    "capture by a hook": Scene(("capture", "--harness", "claude-code", "--hook"), queue_of, payload="PreCompact"),
    "checkpoint": Scene(("checkpoint", "--session", LEARNT, "--json"), queue_of),  # as a session's end starts by itself
    "capture": Scene(("capture", "--title", "Tides", "--body", "High at 6.", "--json"), queue_of),
    "capture a file": Scene(("capture", "--file", "talk.md", "--json"), queue_of),
    "read": Scene(("read", id_of(DEPLOYS), "--json"), uses_of, lambda done: done.document["body"]),
    "list": Scene(("list", "--json"), said=ids_in),
    "list --open": Scene(("list", "--open", "--json"), said=ids_in),
    "search": Scene(("search", "deploys", "--json"), said=ids_in),
    "search at first": Scene(("search", "deploys", "--json"), said=ids_in, prepare=_cold),
    "search --sessions at first": Scene(
        ("search", "--sessions", "understood", "--json"),
        said=lambda done: frozenset(each["sessionId"] for each in done.document["hits"]),
        prepare=_cold,
    ),
    "inject by a hook": Scene(INJECT, payload="UserPromptSubmit"),
    "inject at a start": Scene(INJECT, payload="SessionStart", prepare=_without_section),
    "inject at first": Scene(INJECT, payload="SessionStart", prepare=_cold),
    "inject": Scene(("inject", "--query", "deploys", "--json")),
    "remember": Scene(("remember", "The quay has 7 cranes, `crane-7` is out of order.", "--json"), live_notes_of),
    "edit": Scene(("edit", id_of(DEPLOYS), "--body", "Deploys run from `main`, port 9090.", "--json"), live_notes_of),
    "pin": Scene(("pin", id_of(DEPLOYS), "--json"), live_notes_of),
    "unpin": Scene(("unpin", id_of(PINNED), "--json"), live_notes_of, takes_away=True),  # it touches a pinned note
    "promote": Scene(("promote", id_of(DEPLOYS), "--json"), _promoted_in),
    "archive": Scene(("archive", id_of(DEPLOYS), "--json"), live_notes_of),
    "restore": Scene(("restore", id_of(DEPLOYS), "--json"), live_notes_of, prepare=_with_archived),
    "consolidate": Scene(("consolidate", "--json"), notes_and_queue_of),
    "defrag": Scene(("defrag", "--json"), live_notes_of, prepare=with_twins),
    "consolidate what was given up": Scene(
        ("consolidate", "--retry-failed", "--json"), _notes_and_entries_of, prepare=_given_up, admits=_says_what_waits
    ),
    "schedule run": Scene(("schedule", "run", "consolidate", "--json"), notes_and_queue_of),
    "run by cron": Scene(
        ("schedule", "run", "consolidate", "--json"),
        notes_and_queue_of,
        prepare=_with_cron_jobs,
        environ={"PATH": "~/bin"},
    ),
    "undo": Scene(("undo", "--json"), live_notes_of, takes_away=True),
    "diff": Scene(("diff", "--json"), said=_shown_in),
    "diff since": Scene(("diff", "--since", "1d", "--json"), said=_shown_in),
    "show": Scene(("show", "--at", "0m", "--json")),
    "forget": Scene(("forget", "--session", FORGOTTEN, "--yes", "--json"), live_notes_of, takes_away=True),
    "forget a note": Scene(("forget", id_of(DEPLOYING), "--yes", "--json"), live_notes_of, takes_away=True),
    "forget all of it": Scene(
        ("forget", "--session", FORGOTTEN, "--purge", "--yes", "--json"), _left_of_forgotten, takes_away=True
    ),
    "generate-agents-md": Scene(("generate-agents-md", "--json"), sections_of),
    "state set": Scene(("state", "set", "lamp.level", '"high"', "--json"), state_of),
    "state get": Scene(("state", "get", "lamp.level", "--json"), state_of, lambda done: str(done.document)),
    "log": Scene(("log", "--json"), said=lambda done: len(done.document["runs"])),
    "tags": Scene(("tags", "--json"), said=lambda done: str(done.document)),
    "links": Scene(("links", id_of(DEPLOYS), "--json"), said=_links_in),
    "why": Scene(("why", id_of(DEPLOYS), "--json"), said=_story_in),
    "why a session": Scene(("why", "--session", LEARNT, "--json"), said=_traces_in),
    "handoff": Scene(("handoff", "--json")),
    "status": Scene(("status", "--json"), ends=(0, 1)),
    "status of hooks": Scene(
        ("status", "--json"),
        said=_hook_problems_in,
        prepare=_with_hook_problems,
        ends=(0, 1),
        admits=_says_what_is_unread,
    ),
    "stats": Scene(("stats", "--json"), said=_notes_counted),
    "doctor": Scene(
        ("doctor", "--json"), said=_symptoms_in, prepare=_damaged, ends=(0, 1), admits=_finds_what_is_unread
    ),
    "doctor --fix": Scene(
        ("doctor", "--fix", "--json"), live_notes_of, prepare=_damaged, takes_away=True, ends=(0, 1)
    ),  # the file that a person wrote gets a name
    "schedule on": Scene(
        ("schedule", "on", "--system", "cron", "--yes", "--json"),
        _table_of,
        prepare=_with_crontab,
        environ={"PATH": "~/bin"},
    ),
    "uninstall": Scene(("uninstall", "--yes", "--json"), _left_of_setup, prepare=_set_up),
    "trust": Scene(("trust", "--json"), _trusted_in, prepare=_with_config_here),
    "config": Scene(("config", "--json"), said=lambda done: str(done.document), prepare=_with_config_here),
    "sync": Scene(("sync", "--json"), live_notes_of, prepare=_shared),
    "backfill": Scene(("backfill", "--json"), queue_of),
    "mcp read": Scene(("mcp",), uses_of, _told, stdin=_asking("read_context", id=id_of(DEPLOYS)), admits=_says_why),
    "mcp search": Scene(("mcp",), said=_ids_told, stdin=_asking("search_context", query="deploys"), admits=_says_why),
    "mcp write": Scene(
        ("mcp",),
        live_notes_of,
        _is_saved,
        stdin=_asking("write_context", topic="The quay", content="It has 7 cranes."),
        admits=_says_why,
    ),
}
