"""Where the fault sweeps happen: a home in which much has happened, and what one call in it may do (`swept_calls`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
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
    talk(memory, FORGOTTEN, "Remember that the zanzibar deploys run from the release branch only.")
    succeed(memory, "consolidate")
    succeed(memory, "defrag")
    succeed(memory, "state", "set", "lamp.level", '"low"')
    talk(memory, LEARNT, "Remember that ruff runs before every commit in the lamp project.")
    succeed(memory, "consolidate")
    succeed(memory, "search", "deploys")
    succeed(memory, "inject", "--harness", "claude-code", "--hook", data=payload_of("UserPromptSubmit", "s-0", home))
    talk(memory, PENDING, "Remember that the pier is 120 m long and has 14 lamps, see docs/pier.md.")
    succeed(memory, "remember", "The tide table is in docs/tides.csv, and never in the wiki.")
    return memory


def with_twins(memory: Memory) -> None:
    """Two files of one note that a defrag merges."""
    (path,) = (memory.root / "topics").glob(f"*{id_of(DEPLOYS)}.md")
    twin = path.read_text().replace(id_of(DEPLOYS), "id__twinxx")
    (memory.root / "topics" / "Twin -- id__twinxx.md").write_text(twin)


def talk(memory: Memory, session: str, said: str) -> None:
    memory.session(session, Conversation(session).exchange(said).data)


def succeed(memory: Memory, *words: str, data: bytes = b"") -> None:
    done = memory(*words, data=data)
    assert done.code == 0, (words, done)


def payload_of(event: str, session: str, home: Path) -> bytes:
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


NOTHING: Mapping[str, str] = {}


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
    stdin: bytes = b""
    ends: tuple[int, ...] = (0,)
    """Exit codes of a call that ended well."""
    environ: Mapping[str, str] = NOTHING
    """`~` in a value is the home."""
    admits: Callable[[Done], bool] | None = None
    """Whether an answer that is no JSON document tells that it is not all."""

    @property
    def is_hook(self) -> bool:
        return bool(self.payload)

    def data(self, home: Path) -> bytes:
        return payload_of(self.payload, HOOKED, home) if self.payload else self.stdin

    def variables(self, home: Path) -> dict[str, str]:
        """Of the environment, besides those of the home."""
        return {name: value.replace("~", str(home)) for name, value in self.environ.items()}
