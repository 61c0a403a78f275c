"""What every command says with `--json`, word for word: `make behaviour RENEW=1` writes it anew."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from memory_process import Memory

GOLDEN = Path(__file__).parent / "golden"
SESSION = "b19c5100-4b94-45e6-bd8c-ad7d7f3c7591"
_CHANGING = (
    (re.compile(r"id__[1-9A-HJ-NP-Za-km-z]{6}"), "id__"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z_[0-9A-Za-z_-]+"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?(?:Z|[+-]\d\d:\d\d)"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"\b(?:[0-9a-f]{7}|[0-9a-f]{40}|[0-9a-f]{64})\b"), "HASH"),
    (re.compile(r"(?<=@@ )[-+0-9, ]+(?= @@)|\b1[0-9]{12}\b"), "0"),
)
_COUNTED = ("ms", "bytes", "Ms", "At", "chars", "tokens", "tokensThisWeek", "score", "value")


class Stable:
    """Replaces what differs from run to run; ids by the order in which they are met."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self.ids: dict[str, str] = {}

    def text(self, said: str) -> str:
        said = said.replace(self.home, "HOME")
        ids, *others = _CHANGING
        said = ids[0].sub(lambda found: self.ids.setdefault(found[0], f"id__{len(self.ids) + 1:06}"), said)
        for pattern, name in others:
            said = pattern.sub(name, said)
        return said

    def value(self, said: object, key: str = "") -> object:
        if isinstance(said, dict):
            return {self.text(name): self.value(each, name) for name, each in said.items()}
        if isinstance(said, list):
            return [self.value(each, key) for each in said]
        if isinstance(said, str):
            return self.text(said)
        if isinstance(said, float) or (isinstance(said, int) and not isinstance(said, bool) and key.endswith(_COUNTED)):
            return 0
        return said


def calls(memory: Memory) -> Iterator[tuple[str, tuple[str, ...], bytes]]:
    """Names, words and what is on stdin, in an order in which each finds something to do."""
    stop = {"session_id": SESSION, "cwd": str(memory.home), "hook_event_name": "SessionStart", "source": "startup"}
    yield "status-empty", ("status",), b""
    yield "remember", ("remember", "The api listens on port 8081.", "--scope", "global", "--kind", "fact"), b""
    id = memory.notes()[0]["id"]
    yield (
        "remember-otherwise",
        ("remember", "The api listens on port 9999.", "--scope", "global", "--kind", "fact"),
        b"",
    )
    yield "capture", ("capture", "--title", "Lamp", "--body", "The lamp is built with make."), b""
    yield "consolidate-dry", ("consolidate", "--dry-run"), b""
    yield "consolidate", ("consolidate",), b""
    yield "list", ("list",), b""
    yield "list-filtered", ("list", "--query", "port 8081"), b""
    yield "read", ("read", id), b""
    yield "search", ("search", "port", "--mode", "bm25"), b""
    yield "search-explain", ("search", "port 8081", "--mode", "bm25", "--explain"), b""
    yield "edit", ("edit", id, "--tags", "api"), b""
    yield "pin", ("pin", id), b""
    yield "promote", ("promote", id), b""
    yield "links", ("links", id), b""
    yield "tags", ("tags",), b""
    yield "scope", ("scope", "list"), b""
    yield "state", ("state", "set", "color", "green"), b""
    yield "state-get", ("state", "get", "color"), b""
    yield "why", ("why", id), b""
    yield "inject", ("inject",), b""
    yield "inject-query", ("inject", "--query", "which port"), b""
    yield "hook-session-start", ("inject", "--hook", "--harness", "claude-code"), json.dumps(stop).encode()
    yield "generate-agents-md", ("generate-agents-md", "--target", str(memory.home / "AGENTS.md")), b""
    yield "defrag-dry", ("defrag", "--dry-run"), b""
    yield "defrag", ("defrag",), b""
    yield "log", ("log",), b""
    yield "diff", ("diff",), b""
    yield "undo", ("undo", "--yes"), b""
    yield "unpin", ("unpin", id), b""
    yield "archive", ("archive", id), b""
    yield "restore", ("restore", id), b""
    yield "forget", ("forget", id, "--yes"), b""
    yield "handoff", ("handoff",), b""
    yield "status", ("status",), b""
    yield "stats", ("stats",), b""
    yield "doctor", ("doctor",), b""
    yield "config", ("config",), b""
    yield "read-missing", ("read", "id__zzzzzz"), b""
    yield "bad-limit", ("search", "x", "--limit", "0"), b""
    yield "bad-option", ("list", "--nope"), b""


def test_every_command_says_what_it_said(home: Path) -> None:
    memory, stable = Memory(home, {"TZ": "UTC", "COLUMNS": "100"}), Stable(home)
    differing = list[str]()
    for name, words, data in calls(memory):
        done = memory(*words, *(() if "--hook" in words else ("--json",)), data=data)
        said = done.out or done.err
        try:
            document = stable.value(json.loads(said))
        except ValueError:
            document = stable.text(said)
        found = json.dumps({"exit": done.code, "said": document}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        path = GOLDEN / f"{name}.json"
        if os.environ.get("RENEW"):
            path.write_text(found, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != found:
            differing.append(f"{name}: {' '.join(words)}\n{found}")
    assert not differing, "make behaviour RENEW=1 writes these anew, if that is how it is to be:\n" + "\n".join(
        differing
    )
