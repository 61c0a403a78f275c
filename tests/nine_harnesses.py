"""The same talk as nine harnesses keep it, in one home: transcripts, threads and databases where each has them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

import cursor_conversations as cursor
import gemini_chats as gemini
import goose_sessions as goose
import opencode_sessions as opencode
import pi_sessions as pi
from claude_transcripts import Conversation, calls as claude_calls
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


@frozen
class _Called:
    id: str
    name: str
    arguments: dict[str, object]
    output: str


Keeps = Callable[[Path, str, Sequence[Exchange]], Path]


def keep(harness: str, home: Path, talk: Sequence[Exchange]) -> Path:
    """Write the session as the harness keeps it, in place of what was there; the file."""
    return _KEEPS[harness](home, SESSIONS[harness], talk)


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


def _called(harness: str, exchange: Exchange, number: int) -> list[_Called]:
    made = []
    for at, look in enumerate(exchange.looks):
        name, argument = TOOLS[harness][look.kind]
        arguments: dict[str, object] = {argument: look.argument, **({"content": "x"} if look.kind == WRITE else {})}
        made.append(_Called(f"c{number}x{at}", name, arguments, look.output))
    return made


def _claude(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = Conversation(session_id)
    for number, each in enumerate(talk):
        made.user(each.user, cwd=str(home))
        for call in _called("claude-code", each, number):
            made.agent("I look.", claude_calls(call.id, call.name, **call.arguments), cwd=str(home))
            made.result(call.id, call.output, cwd=str(home))
        made.agent(each.agent, cwd=str(home))
    directory = home / ".claude" / "projects" / "-home"
    directory.mkdir(parents=True, exist_ok=True)
    return made.write(directory)


def _codex(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = Rollout(session_id, cwd=str(home), git=None)
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("codex", each, number):
            made.agent("I look.", (call.id, call.name, call.arguments))
            made.output(call.id, call.output)
        made.agent(each.agent)
    return made.write(home / ".codex" / "sessions" / "2026" / "02" / "13")


def _cursor(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = cursor.Transcript(session_id)
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("cursor", each, number):
            made.agent("I look.", cursor.calls(call.name, **call.arguments))
            made.result(call.output)
        made.agent(each.agent)
    return made.write(home / ".cursor" / "projects")


def _amp(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    messages: list[dict[str, object]] = []

    def say(role: str, *blocks: dict[str, object], **further: object) -> None:
        messages.append({"role": role, "messageId": len(messages), "content": list(blocks), **further})

    for number, each in enumerate(talk):
        sent_at = 1_770_000_000_000 + len(messages) * 1000
        say("user", {"type": "text", "text": each.user}, meta={"sentAt": sent_at})
        for call in _called("amp", each, number):
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments, "complete": True}
            say("assistant", {"type": "text", "text": "I look."}, use)
            run = {"status": "done", "result": {"output": call.output, "exitCode": 0}}
            say("user", {"type": "tool_result", "toolUseID": call.id, "run": run})
        say("assistant", {"type": "text", "text": each.agent}, state={"type": "complete", "stopReason": "end_turn"})
    tree = {"displayName": "home", "uri": f"file://{home}"}
    thread = {"v": 150, "id": session_id, "created": 1_770_000_000_000, "title": "Ports", "messages": messages}
    document = thread | {"env": {"initial": {"platform": {"os": "linux"}, "trees": [tree]}}}
    return keep_thread(home, session_id, json.dumps(document).encode())


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


def _gemini(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = gemini.Chat(session_id)
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("gemini", each, number):
            made.agent("I look.", gemini.tool(call.id, call.name, call.output, **call.arguments))  # type: ignore[arg-type]
        made.agent(each.agent)
    return made.write(home / ".gemini" / "tmp" / "home" / "chats")


def _opencode(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = opencode.Talk(session_id, directory=str(home))
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("opencode", each, number):
            made.agent("I look.", opencode.used(call.id, call.name, call.output, **call.arguments))  # type: ignore[arg-type]
        made.agent(each.agent)
    return made.write_rows(home / ".local" / "share" / "opencode")


def _copilot(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = CopilotEvents(session_id, context={"cwd": str(home)})
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("copilot", each, number):
            made.agent("I look.", (call.id, call.name, call.arguments))
            made.result(call.id, call.output)
        made.agent(each.agent)
    return made.write(home / ".copilot" / "session-state")


def _pi(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = pi.Branching(session_id, cwd=str(home))
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("pi", each, number):
            made.agent("I look.", pi.tool_call(call.id, call.name, **call.arguments))
            made.result(call.id, call.output)
        made.agent(each.agent)
    return made.write(home / ".pi" / "agent" / "sessions" / "--home--")


def _goose(home: Path, session_id: str, talk: Sequence[Exchange]) -> Path:
    made = goose.GooseTalk(id=session_id, working_dir=str(home))
    for number, each in enumerate(talk):
        made.user(each.user)
        for call in _called("goose", each, number):
            made.agent("I look.", goose.calls(call.id, call.name, **call.arguments))
            made.user(goose.answers(call.id, call.output))
        made.agent(each.agent)
    return made.write(home / ".local" / "share" / "goose" / "sessions")


_KEEPS: Mapping[str, Keeps] = {
    "claude-code": _claude, "codex": _codex, "cursor": _cursor, "amp": _amp, "gemini": _gemini, "opencode": _opencode,
    "copilot": _copilot, "pi": _pi, "goose": _goose,
}  # fmt: skip
