"""What the fault sweeps do: a home in which much has happened, and one call of each command that touches the disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from pathlib import Path

from attrs import frozen

from claude_transcripts import Conversation
from conservation import notes_in
from faults import snapshot
from memory_process import Done, Memory
from tidying_homes import CODEX, DEPLOYS, configure, id_of, write_notes

FORGOTTEN, LEARNT, PENDING = (f"{digit * 8}-1111-4222-8333-444444444444" for digit in "abc")
HOOKED = "dddddddd-1111-4222-8333-444444444444"
ASKED = "Is the tide table in docs/tides.csv, or is it in the wiki?"
RULES = b"# My rules\r\n\r\nBe brief.\r\n"


def busy_home(home: Path) -> Memory:
    """20 notes and two twins, a tidied store, three sessions of which one waits, state, a full index, deliveries."""
    memory = Memory(home)
    home.mkdir(parents=True)
    configure(memory, None)
    write_notes(memory)
    (home / CODEX).write_bytes(RULES)
    (home / "talk.md").write_text("# What was said\n\nRemember that the weir opens at 3.2 m.\n")
    _talk(memory, FORGOTTEN, "Remember that the zanzibar deploys run from the release branch only.")
    _succeed(memory, "consolidate")
    _succeed(memory, "defrag")
    _succeed(memory, "state", "set", "lamp.level", '"low"')
    _talk(memory, LEARNT, "Remember that ruff runs before every commit in the lamp project.")
    _succeed(memory, "consolidate")
    _succeed(memory, "search", "deploys")
    _succeed(memory, "inject", "--harness", "claude-code", "--hook", data=_payload("UserPromptSubmit", "s-0", home))
    _talk(memory, PENDING, "Remember that the pier is 120 m long and has 14 lamps, see docs/pier.md.")
    _succeed(memory, "remember", "The tide table is in docs/tides.csv, and never in the wiki.")
    return memory


def with_twins(memory: Memory) -> None:
    """Two files of one note that a defrag merges."""
    (path,) = (memory.root / "topics").glob(f"*{id_of(DEPLOYS)}.md")
    twin = path.read_text().replace(id_of(DEPLOYS), "id__twinxx")
    (memory.root / "topics" / "Twin -- id__twinxx.md").write_text(twin)


def _talk(memory: Memory, session: str, said: str) -> None:
    conversation = Conversation(session)
    conversation.user(said)
    conversation.agent("Understood.")
    memory.session(session, b"\n".join(conversation.lines) + b"\n")


def _succeed(memory: Memory, *words: str, data: bytes = b"") -> None:
    done = memory(*words, data=data)
    assert done.code == 0, (words, done)


def _payload(event: str, session: str, home: Path) -> bytes:
    path = home / ".claude/projects/lamp" / f"{session}.jsonl"
    known = {"session_id": session, "transcript_path": str(path), "cwd": str(home), "hook_event_name": event}
    return json.dumps({**known, "source": "startup", "reason": "other", "prompt": ASKED}).encode()


# -- what is seen of a home -------------------------------------------------------------------------------------------


def notes_of(memory: Memory) -> Hashable:
    """Title and body of every live and archived note."""
    state = snapshot(memory.root)
    trees = ("topics", "archive")
    return frozenset((tree, each.meta.title, each.body) for tree in trees for each in notes_in(state, tree))


def live_notes_of(memory: Memory) -> Hashable:
    """Title, body and pins of the live ones alone."""
    live = notes_in(snapshot(memory.root), "topics")
    return tuple(sorted((each.meta.title, each.body, each.meta.pinned) for each in live))


def queue_of(memory: Memory) -> Hashable:
    """How many entries are anywhere in the inbox; all of them are whole."""
    inbox = memory.root / "inbox"
    entries = [path for path in inbox.rglob("*.json") if not path.name.startswith(".")]
    return len([json.loads(path.read_text()) for path in entries])


def notes_and_queue_of(memory: Memory) -> Hashable:
    """The live notes, and how many entries are in the inbox."""
    return live_notes_of(memory), queue_of(memory)


def state_of(memory: Memory) -> Hashable:
    return memory("state", "get", "lamp.level").out


def uses_of(memory: Memory) -> Hashable:
    """How often each note was used."""
    return frozenset((each["id"], each["used"]) for each in memory.notes())


def sections_of(memory: Memory) -> Hashable:
    """The bytes of the two targets."""
    paths = (memory.home / ".claude/CLAUDE.md", memory.home / CODEX)
    return tuple(path.read_bytes() if path.exists() else b"" for path in paths)


def ids_in(done: Done) -> Hashable:
    """The ids that a listing or a search names, in order."""
    return tuple(each["id"] for each in done.document["entries"])


@frozen
class Scene:
    """One call, what of the home it may change, and what it says."""

    words: tuple[str, ...]
    seen: Callable[[Memory], Hashable] = notes_of
    """Before, or as after a call without a fault, and nothing between."""
    said: Callable[[Done], Hashable] | None = None
    """Of a call that ends well: the same with a fault as without."""
    prepare: Callable[[Memory], None] | None = None
    payload: str = ""
    """The event of a hook's payload on stdin; the call is a hook's."""
    takes_away: bool = False
    """What was there may be gone afterwards."""

    @property
    def is_hook(self) -> bool:
        return bool(self.payload)

    def data(self, home: Path) -> bytes:
        return _payload(self.payload, HOOKED, home) if self.payload else b""


INJECT = ("inject", "--harness", "claude-code", "--hook")


def _without_section(memory: Memory) -> None:
    """The harness has not read by itself what is hot, so there is something to tell it."""
    (memory.home / ".claude/CLAUDE.md").unlink()


def _cold(memory: Memory) -> None:
    """Without anything derived, as after a clone."""
    for path in sorted((memory.root / ".cache").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    _without_section(memory)


SCENES = {
    "capture by a hook": Scene(("capture", "--harness", "claude-code", "--hook"), queue_of, payload="SessionEnd"),
    "capture": Scene(("capture", "--title", "Tides", "--body", "High at 6.", "--json"), queue_of),
    "capture a file": Scene(("capture", "--file", "talk.md", "--json"), queue_of),
    "read": Scene(("read", id_of(DEPLOYS), "--json"), uses_of, lambda done: done.document["body"]),
    "list": Scene(("list", "--json"), said=ids_in),
    "search": Scene(("search", "deploys", "--json"), said=ids_in),
    "search at first": Scene(("search", "deploys", "--json"), said=ids_in, prepare=_cold),
    "inject by a hook": Scene(INJECT, payload="UserPromptSubmit"),
    "inject at a start": Scene(INJECT, payload="SessionStart", prepare=_without_section),
    "inject at first": Scene(INJECT, payload="SessionStart", prepare=_cold),
    "inject": Scene(("inject", "--query", "deploys", "--json")),
    "remember": Scene(("remember", "The quay has 7 cranes, `crane-7` is out of order.", "--json"), live_notes_of),
    "pin": Scene(("pin", id_of(DEPLOYS), "--json"), live_notes_of),
    "archive": Scene(("archive", id_of(DEPLOYS), "--json"), live_notes_of),
    "consolidate": Scene(("consolidate", "--json"), notes_and_queue_of),
    "defrag": Scene(("defrag", "--json"), live_notes_of, prepare=with_twins),
    "undo": Scene(("undo", "--json"), live_notes_of, takes_away=True),
    "forget": Scene(("forget", "--session", FORGOTTEN, "--yes", "--json"), live_notes_of, takes_away=True),
    "generate-agents-md": Scene(("generate-agents-md", "--json"), sections_of),
    "state set": Scene(("state", "set", "lamp.level", '"high"', "--json"), state_of),
    "state get": Scene(("state", "get", "lamp.level", "--json"), state_of, lambda done: str(done.document)),
    "log": Scene(("log", "--json"), said=lambda done: len(done.document["runs"])),
    "tags": Scene(("tags", "--json"), said=lambda done: str(done.document)),
    "why": Scene(("why", id_of(DEPLOYS), "--json")),
    "handoff": Scene(("handoff", "--json")),
}
