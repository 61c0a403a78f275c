"""The same talk as nine harnesses keep it, in one home: transcripts, threads and databases where each has them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

import cursor_conversations as cursor
import gemini_chats as gemini
import goose_sessions as goose
import opencode_sessions as opencode
import pi_sessions as pi
from claude_transcripts import Conversation
from codex_rollouts import Rollout
from copilot_sessions import CopilotEvents

SHELL, PAGE, WRITE, ASK = "shell", "page", "write", "ask"

TOOLS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "claude-code": {SHELL: ("Bash", "command"), PAGE: ("WebFetch", "url"), WRITE: ("Write", "file_path")},
    "codex": {SHELL: ("exec_command", "cmd"), PAGE: ("web_fetch", "url"), WRITE: ("write_file", "path"), ASK: ("request_user_input", "question")},
    "cursor": {SHELL: ("Shell", "command"), PAGE: ("WebFetch", "url"), WRITE: ("Write", "path")},
    "amp": {SHELL: ("Bash", "cmd"), PAGE: ("read_web_page", "url"), WRITE: ("create_file", "path")},
    "gemini": {SHELL: ("run_shell_command", "command"), PAGE: ("web_fetch", "prompt"), WRITE: ("write_file", "file_path"), ASK: ("ask_user", "question")},
    "opencode": {SHELL: ("bash", "command"), PAGE: ("webfetch", "url"), WRITE: ("write", "filePath"), ASK: ("question", "question")},
    "copilot": {SHELL: ("bash", "command"), PAGE: ("web_fetch", "url"), WRITE: ("create", "path"), ASK: ("ask_user", "question")},
    "pi": {SHELL: ("bash", "command"), PAGE: ("fetch", "url"), WRITE: ("write", "path"), ASK: ("ask_user_question", "question")},
    "goose": {SHELL: ("developer__shell", "command"), PAGE: ("fetch", "url"), WRITE: ("developer__text_editor", "path")},
}  # fmt: skip
"""By harness: the tool for each kind of call, and the name of its argument."""

NINE = tuple(TOOLS)

SESSIONS = {
    name: f"0198c1aa-2f3e-4000-8a11-3c5d7e9f0b{number:02d}"
    for number, name in enumerate(NINE)
} | {"amp": "T-0198c1aa-2f3e-4000-8a11-3c5d7e9f0b21", "goose": goose.SESSION, "opencode": opencode.SESSION}  # fmt: skip
"""By harness: the id of its session."""

LAYOUT = {
    ".claude/settings.json": '{\n  "model": "opus", // mine\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "say done" }] }\n    ]\n  },\n}\n',
    ".claude.json": '{"numStartups": 3, "mcpServers": {"other": {"command": "x", "env": {"KEY": "v"}}}}',
    ".claude/CLAUDE.md": "# Mine\n\nBe brief.",
    ".codex/config.toml": 'model = "o3" # why\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".codex/hooks.json": "{}\n",
    ".codex/AGENTS.md": "Be brief.\r\nAlways.\r\n",
    ".cursor/hooks.json": '{\n\t"version": 1,\n\t"hooks": {\n\t\t"stop": []\n\t}\n}\n',
    ".cursor/mcp.json": '{ "mcpServers": {} }',
    ".config/amp/settings.json": '{\r\n  // amp\r\n  "amp.url": "https://ampcode.com"\r\n}\r\n',
    ".config/amp/AGENTS.md": "",
    ".gemini/settings.json": '{\n    "theme": "dark",\n    "hooks": {} /* none yet */\n}',
    ".gemini/GEMINI.md": "# Gemini\n",
    ".config/opencode/opencode.jsonc": '// mine\n{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n    // none\n  }\n}\n',
    ".config/opencode/AGENTS.md": "x\n\n",
    ".copilot/settings.json": "{}",
    ".copilot/mcp-config.json": "",
    ".pi/agent/AGENTS.md": "pi\n",
    ".config/goose/config.yaml": "GOOSE_MODEL: x # why\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n\n# more\nz: 1\n",
    ".config/goose/.goosehints": "hints",
}
"""Files of a person who has all nine, by path below the home."""


@frozen
class Look:
    """A call of a tool of one of the three kinds, and its answer."""

    kind: str
    argument: str
    output: str


@frozen
class Exchange:
    """What the person says, what the agent does, what it says then."""

    user: str
    agent: str = "Done."
    looks: Sequence[Look] = ()


class Keeps(Protocol):
    """One session as its harness keeps it, to which what is said is added."""

    def user(self, text: str, /) -> object: ...
    def agent(self, text: str, /) -> object: ...
    def look(self, id: str, name: str, output: str, **arguments: object) -> None: ...
    def write(self, directory: Path, /) -> Path: ...


def keep(harness: str, home: Path, talk: Sequence[Exchange]) -> Path:
    """Write the session as the harness keeps it, in place of what was there; the file."""
    made, directory = _KEEPS[harness]
    kept = made(SESSIONS[harness], str(home))
    for number, each in enumerate(talk):
        kept.user(each.user)
        for at, look in enumerate(each.looks):
            name, argument = TOOLS[harness][look.kind]
            content = {"content": "x"} if look.kind == WRITE else {}
            kept.look(f"c{number}x{at}", name, look.output, **{argument: look.argument}, **content)
        kept.agent(each.agent)
    return kept.write(home / directory)


def checkpoint(harness: str, home: Path, path: Path) -> dict[str, Any]:
    """The payload of the event at a turn's end."""
    session_id, cwd = SESSIONS[harness], str(home)
    as_claude_does = {"session_id": session_id, "transcript_path": str(path), "cwd": cwd}
    payloads: dict[str, dict[str, Any]] = {
        "claude-code": {**as_claude_does, "hook_event_name": "Stop", "stop_hook_active": False},
        "codex": {**as_claude_does, "hook_event_name": "Stop", "turn_id": "7"},
        "cursor": {
            "conversation_id": session_id,
            "generation_id": "g",
            "hook_event_name": "stop",
            "status": "completed",
            "cursor_version": "2026.09.28-64d2043",
            "workspace_roots": [cwd],
            "transcript_path": str(path),
        },
        "amp": {"event": "agent.end", "thread": {"id": session_id}, "status": "done", "cwd": cwd},
        "gemini": {**as_claude_does, "hook_event_name": "AfterAgent", "timestamp": "2026-02-13T14:30:05.000Z"},
        "opencode": {"type": "session.idle", "properties": {"sessionID": session_id}, "directory": cwd},
        "copilot": {
            "sessionId": session_id,
            "timestamp": 1_770_000_000_000,
            "cwd": cwd,
            "transcriptPath": str(path),
            "stopReason": "end_turn",
        },
        "pi": {"type": "agent_end", "sessionId": session_id, "sessionFile": str(path), "cwd": cwd},
        "goose": {"event": "Stop", "session_id": session_id, "working_dir": cwd},
    }
    return payloads[harness]


def as_claudes_hook(harness: str, home: Path) -> dict[str, Any]:
    """What Cursor and Copilot CLI give to the hooks of Claude Code, which they run too."""
    if harness == "cursor":
        return checkpoint("cursor", home, home) | {"transcript_path": None}
    told = {"session_id": SESSIONS[harness], "timestamp": "2026-02-13T14:30:05.000Z", "cwd": str(home)}
    return {**told, "hook_event_name": "Stop", "stop_reason": "end_turn"}


_HOOK = re.compile(r'"((?:[^"\\]|\\.)* capture --harness ([a-z-]+) --hook)"')
_PROGRAM = re.compile(r'^const PROGRAM = ("(?:[^"\\]|\\.)*")', re.MULTILINE)
_WORDS = re.compile(r"\[\"capture\", \"--harness\", \"([a-z-]+)\", \"--hook\"\]")


def installed_hooks(home: Path) -> dict[str, list[str]]:
    """By harness: the different commands that are installed to be run at an event, as words for a shell or of a plugin."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for path in (each for each in home.rglob("*") if each.suffix in (".json", ".ts") and each.is_file()):
        if ".local" in path.parts or "memories" in path.parts:
            continue
        text = path.read_text()
        for written, harness in _HOOK.findall(text):
            found.setdefault(harness, set()).add(("/bin/sh", "-c", json.loads(f'"{written}"')))
        program, words = _PROGRAM.search(text), _WORDS.search(text)
        if path.suffix == ".ts" and program and words:
            command = (json.loads(program[1]), "capture", "--harness", words[1], "--hook")
            found.setdefault(words[1], set()).add(command)
    assert all(len(commands) == 1 for commands in found.values()), found
    return {harness: list(*commands) for harness, commands in found.items()}


class _AmpThread:
    def __init__(self, thread_id: str, home: str) -> None:
        self.thread_id = thread_id
        self.home = home
        self.messages: list[dict[str, object]] = []

    def say(self, role: str, *blocks: dict[str, object], **further: object) -> None:
        self.messages.append({"role": role, "messageId": len(self.messages), "content": list(blocks), **further})

    def user(self, text: str) -> None:
        sent_at = 1_770_000_000_000 + len(self.messages) * 1000
        self.say("user", {"type": "text", "text": text}, meta={"sentAt": sent_at})

    def agent(self, text: str) -> None:
        self.say("assistant", {"type": "text", "text": text}, state={"type": "complete", "stopReason": "end_turn"})

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        use = {"type": "tool_use", "id": id, "name": name, "input": arguments, "complete": True}
        self.say("assistant", {"type": "text", "text": "I look."}, use)
        run = {"status": "done", "result": {"output": output, "exitCode": 0}}
        self.say("user", {"type": "tool_result", "toolUseID": id, "run": run})

    def write(self, home: Path) -> Path:
        tree = {"displayName": "home", "uri": f"file://{self.home}"}
        thread = {"v": 150, "id": self.thread_id, "created": 1_770_000_000_000, "title": "Ports"}
        document = thread | {
            "messages": self.messages,
            "env": {"initial": {"platform": {"os": "linux"}, "trees": [tree]}},
        }
        return keep_thread(home, self.thread_id, json.dumps(document).encode())


_AMP = """#!/bin/sh
case "$2" in
export) exec cat "$HOME/.amp-server/$3.json" ;;
list)
    for thread in "$HOME"/.amp-server/*.json; do
        printf '%s{"id": "%s", "updatedAt": %s000}' "${comma-[}" "$(basename "$thread" .json)" "$(date -r "$thread" +%s)"
        comma=,
    done
    printf ']' ;;
esac
"""


def keep_thread(home: Path, thread_id: str, export: bytes) -> Path:
    """Have the command `amp`, in `bin` of the home, export this thread and list it."""
    command = home / "bin" / "amp"
    command.parent.mkdir(exist_ok=True)
    command.write_text(_AMP)
    command.chmod(0o755)
    path = home / ".amp-server" / f"{thread_id}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(export)
    return path


_KEEPS: Mapping[str, tuple[Callable[[str, str], Keeps], str]] = {
    "claude-code": (lambda id, home: Conversation(id, cwd=home), ".claude/projects/-home"),
    "codex": (lambda id, home: Rollout(id, cwd=home, git=None), ".codex/sessions/2026/02/13"),
    "cursor": (lambda id, home: cursor.Transcript(id), ".cursor/projects"),
    "amp": (_AmpThread, ""),
    "gemini": (lambda id, home: gemini.Chat(id), ".gemini/tmp/home/chats"),
    "opencode": (lambda id, home: opencode.OpencodeTalk(id, directory=home), ".local/share/opencode"),
    "copilot": (lambda id, home: CopilotEvents(id, context={"cwd": home}), ".copilot/session-state"),
    "pi": (lambda id, home: pi.Branching(id, cwd=home), ".pi/agent/sessions/--home--"),
    "goose": (lambda id, home: goose.GooseTalk(id=id, working_dir=home), ".local/share/goose/sessions"),
}
"""By harness: a session without a word, made of its id and the home, and the directory below the home where it is kept."""
