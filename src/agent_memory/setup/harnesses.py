"""What setup needs to know of each harness: where it keeps its files, and how it calls memory. A new one is one
function here, and one line in `SETUPS`.

Sources: code.claude.com/docs (hooks, memory, skills, mcp), developers.openai.com/codex, cursor.com/docs,
ampcode.com/manual, google-gemini/gemini-cli docs, opencode.ai/docs, docs.github.com (copilot-cli), earendil-works/pi
docs, aaif-goose/goose documentation, code.visualstudio.com/docs; skills: agentskills.io/specification. Their own
memories: Claude Code's is on by default (code.claude.com/docs/en/memory), Codex's is not (openai/codex#31804), nor is
Gemini's (docs/cli/auto-memory.md); Copilot's is for personal plans, and `/memory off` writes its setting
(github/copilot-cli#3859).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from agent_memory.capture.session_event import SHAPES
from agent_memory.recall.moment import harness_directories
from agent_memory.setup.plan import Act, Element, HarnessSetup, Member, Part, Setting, Syntax, Wanted, Whole

SERVER_NAME = "agent-memory"
"""The name of our MCP server. Not `memory`: a widely used server has that name, and so has an extension of Goose."""


@frozen
class Context:
    """Absolute directories, from the environment or by default."""

    home: str
    program: str
    """Absolute path of `memory`: a harness that is started from a desktop does not have the shell's PATH."""
    claude: str
    codex: str
    copilot: str
    pi: str
    config: str
    exists: Callable[[str], bool] = lambda _: False
    """Returns whether something exists at a path; may raise OSError."""
    skill: str = ""
    """The text of the skill file; empty if none should be installed."""
    plugins: Mapping[str, str] = field(factory=dict[str, str])
    """The templates in `plugins/`, by name."""

    def hook(self, harness: str, act: Act = "capture") -> str:
        """Returns the shell command of a hook."""
        return f"{shlex.quote(self.program)} {hook_mark(harness, act)}"

    def either(self, preferred: str, *others: str) -> str:
        """Returns the first of these files that exists; the preferred one if none does."""
        return next((path for path in (preferred, *others) if self.exists(path)), preferred)


def hook_mark(harness: str, act: Act = "capture") -> str:
    """Returns the part of a hook's command after the program's name, which identifies it whatever the program is
    called."""
    return f"{act} --harness {harness} --hook"


def context_of(home: str, program: str, environ: Mapping[str, str]) -> Context:
    """Returns the directories of this environment."""
    named: Mapping[str, Any] = harness_directories(home, environ)
    return Context(home=home, program=program, **named)  # pyright: ignore[reportArgumentType]


def _claude_code(context: Context) -> HarnessSetup:
    """Hooks in `settings.json`, which Cursor runs too. `Stop` ends each turn and is the checkpoint. `SessionEnd` handlers share
    1.5 s, which a `timeout` in a settings file raises; a plugin's does not, so this is no plugin. What `SessionStart` and
    `UserPromptSubmit` answer enters the context."""
    directory = context.claude
    settings = f"{directory}/settings.json"
    servers = f"{context.home if directory == f'{context.home}/.claude' else directory}/.claude.json"
    server = {"type": "stdio", "command": context.program, "args": ["mcp"], "env": dict[str, str]()}
    hooks = (
        *_groups(context, "claude-code", {"Stop": 10, "SessionEnd": 10, "PreCompact": 10}),
        *_groups(context, "claude-code", {"SessionStart": 10, "UserPromptSubmit": 10}, act="inject"),
    )
    return HarnessSetup(
        files=(
            _hooks(settings, hooks),
            _server(context, servers, "mcpServers", server),
            *_skill(context, f"{directory}/skills"),
        ),
        target=f"{directory}/CLAUDE.md",
        settings=(
            Setting("claude-code", "Claude Code", settings, "jsonc", ("disableAllHooks",), True),
            Setting(
                "claude-code",
                "Claude Code",
                settings,
                "jsonc",
                ("autoMemoryEnabled",),
                True,
                "auto memory",
                by_default=True,
                variable="CLAUDE_CODE_DISABLE_AUTO_MEMORY",
            ),
        ),
        directories=(directory,),
        programs=("claude",),
    )


def _codex(context: Context) -> HarnessSetup:
    """Writes `hooks.json` beside `config.toml`. `Stop` fires at each turn's end, and every version with hooks has it. Codex
    skips a hook that was not reviewed in `/hooks`, without a word, and pins the command by its hash."""
    directory = context.codex
    config = f"{directory}/config.toml"
    override = f"{directory}/AGENTS.override.md"
    hooks = (
        *_groups(context, "codex", {"Stop": 5}),
        *_groups(context, "codex", {"SessionStart": 10, "UserPromptSubmit": 10}, act="inject"),
    )
    return HarnessSetup(
        files=(
            _hooks(f"{directory}/hooks.json", hooks),
            _server(context, config, "mcp_servers", syntax="toml"),
            *_skill(context),
        ),
        target=override if context.exists(override) else f"{directory}/AGENTS.md",
        settings=(
            Setting("codex", "Codex", config, "toml", ("features", "hooks"), False),
            Setting("codex", "Codex", config, "toml", ("features", "codex_hooks"), False),
            Setting("codex", "Codex", config, "toml", ("features", "memories"), True, "memories"),
        ),
        notes=(
            "Codex runs a new hook only once you have approved it: start `codex`, type `/hooks`, and approve memory's three.",
        ),
        directories=(directory,),
        programs=("codex",),
    )


def _cursor(context: Context) -> HarnessSetup:
    """Hooks `stop` in the editor and the terminal, `sessionEnd` for `cursor-agent -p`. One unknown event name voids the whole
    file, so there are only these two, and `sessionStart`, which is as old as `sessionEnd`: its answer is put into the
    conversation, that of `beforeSubmitPrompt` is not."""
    directory = f"{context.home}/.cursor"
    version = Member(("version",), 1, optional=True, stays=True)
    acts: Mapping[str, Act] = {"stop": "capture", "sessionEnd": "capture", "sessionStart": "inject"}
    handlers = [
        Element(
            ("hooks", event),
            {"command": context.hook("cursor", act), "timeout": 10},
            context.hook("cursor", act),
            hook_mark("cursor", act),
        )
        for event, act in acts.items()
    ]
    return HarnessSetup(
        files=(
            _hooks(f"{directory}/hooks.json", (version, *handlers)),
            _server(context, f"{directory}/mcp.json", "mcpServers"),
            *_skill(context),
        ),
        notes=("Cursor reads instruction files in repositories only: use `memory setup cursor --repo` there.",),
        directories=(directory,),
        programs=("cursor", "cursor-agent"),
    )


def _amp(context: Context) -> HarnessSetup:
    """Installs a plugin (TypeScript, run by Bun), since Amp has no shell hooks. `agent.end` comes after each turn."""
    directory = f"{context.home}/.config/amp"
    settings = context.either(f"{directory}/settings.json", f"{directory}/settings.jsonc")
    return HarnessSetup(
        files=(
            _plugin(context, "amp", f"{directory}/plugins/{SERVER_NAME}.ts"),
            _server(context, settings, "amp.mcpServers"),
            *_skill(context, f"{context.home}/.config/agents/skills"),
        ),
        target=f"{directory}/AGENTS.md",
        notes=("Amp loads a new plugin when it starts, or with `amp plugins reload`.",),
        directories=(directory, f"{context.home}/.local/share/amp"),
        programs=("amp",),
    )


def _gemini(context: Context) -> HarnessSetup:
    """Hooks in `settings.json`, with timeouts in milliseconds."""
    directory = f"{context.home}/.gemini"
    settings = f"{directory}/settings.json"
    injecting = {"SessionStart": 10_000, "BeforeAgent": 10_000, "PreCompress": 5_000}
    hooks = (
        *_groups(context, "gemini", {"AfterAgent": 5_000, "SessionEnd": 5_000}, matcher="*", name=SERVER_NAME),
        *_groups(context, "gemini", injecting, matcher="*", name=f"{SERVER_NAME}-inject", act="inject"),
    )
    return HarnessSetup(
        files=(
            _hooks(settings, hooks),
            _server(context, settings, "mcpServers"),
            *_skill(context),
        ),
        target=f"{directory}/GEMINI.md",
        settings=(
            Setting("gemini", "Gemini", settings, "jsonc", ("hooksConfig", "enabled"), False),
            Setting("gemini", "Gemini", settings, "jsonc", ("experimental", "autoMemory"), True, "auto memory"),
        ),
        directories=(directory,),
        programs=("gemini",),
    )


def _opencode(context: Context) -> HarnessSetup:
    """Installs a plugin; `session.idle` is the end of a turn, also in child sessions, which name their parent. opencode
    reads `~/.claude/CLAUDE.md` if it has no `AGENTS.md` of its own: creating one would hide the person's file, so then
    the section goes into `CLAUDE.md`."""
    directory = f"{context.config}/opencode"
    config = context.either(f"{directory}/opencode.json", f"{directory}/opencode.jsonc")
    server = {"type": "local", "command": [context.program, "mcp"], "enabled": True}
    return HarnessSetup(
        files=(
            _plugin(context, "opencode", f"{directory}/plugins/{SERVER_NAME}.ts"),
            _server(context, config, "mcp", server),
            *_skill(context, f"{directory}/skills"),
        ),
        target=context.either(f"{directory}/AGENTS.md", f"{context.claude}/CLAUDE.md"),
        notes=("opencode loads a new plugin when it starts.",),
        directories=(directory, f"{context.home}/.local/share/opencode"),
        programs=("opencode",),
    )


def _copilot(context: Context) -> HarnessSetup:
    """Writes a hooks file of our own below `~/.copilot/hooks/`. Newer versions put the answer of `sessionStart` into
    the session; older ones ignore it."""
    directory = context.copilot
    settings = f"{directory}/settings.json"

    acts: Mapping[str, Act] = {"agentStop": "capture", "sessionEnd": "capture", "sessionStart": "inject"}
    events = {
        event: [{"type": "command", "bash": context.hook("copilot", act), "timeoutSec": 10}]
        for event, act in acts.items()
    }
    server = {"type": "local", "command": context.program, "args": ["mcp"], "tools": ["*"]}
    return HarnessSetup(
        files=(
            _json_file(f"{directory}/hooks/{SERVER_NAME}.json", {"version": 1, "hooks": events}),
            _server(context, f"{directory}/mcp-config.json", "mcpServers", server),
            *_skill(context, f"{directory}/skills"),
        ),
        target=f"{directory}/copilot-instructions.md",
        settings=(
            Setting("copilot", "Copilot", settings, "jsonc", ("disableAllHooks",), True),
            Setting("copilot", "Copilot", settings, "jsonc", ("memory",), True, "Copilot Memory", by_default=True),
        ),
        directories=(directory,),
        programs=("copilot",),
    )


def _pi(context: Context) -> HarnessSetup:
    """Installs an extension; `agent_end` is the end of a turn. It has no MCP of its own. `pi` is also the name of another
    program."""
    return HarnessSetup(
        files=(_plugin(context, "pi", f"{context.pi}/extensions/{SERVER_NAME}.ts"), *_skill(context)),
        target=f"{context.pi}/AGENTS.md",
        notes=("Pi loads a new extension when it starts, or with `/reload`.",),
        directories=(context.pi,),
    )


def _goose(context: Context) -> HarnessSetup:
    """Goose 1.38 and later reads a plugin directory with `hooks/hooks.json` in Claude's shape; no matcher, since `*` alone is
    no regular expression there and kills the rule. `goose` is also the name of another program."""
    plugin = f"{context.home}/.agents/plugins/{SERVER_NAME}"
    about = {"name": SERVER_NAME, "version": "1.0.0", "description": "Tells agent-memory that a session has new turns."}
    config = f"{context.config}/goose/config.yaml"
    groups = _groups(context, "goose", {"Stop": 10, "SessionEnd": 10})
    server = {
        "enabled": True,
        "type": "stdio",
        "name": SERVER_NAME,
        "description": "The memory that your coding agents share",
        "cmd": context.program,
        "args": ["mcp"],
        "envs": dict[str, str](),
        "timeout": 300,
    }
    return HarnessSetup(
        files=(
            _json_file(f"{plugin}/plugin.json", about),
            _json_file(f"{plugin}/hooks/hooks.json", {"hooks": {each.keys[1]: [each.value] for each in groups}}),
            _server(context, config, "extensions", server, "yaml"),
            *_skill(context),
        ),
        target=f"{context.config}/goose/.goosehints",
        acts=("capture",),
        settings=(
            Setting("goose", "Goose", config, "yaml", ("extensions", "memory", "enabled"), True, "extension memory"),
        ),
        directories=(f"{context.config}/goose", f"{context.home}/.local/share/goose"),
    )


def _vscode(context: Context) -> HarnessSetup:
    """VS Code runs no hooks of ours: its agent gets the server in the person's own `mcp.json`, and the skill that it
    shares with others. Only if it is named, not whenever the editor is found: people who have the editor need not use
    its agent."""
    directory = context.either(
        f"{context.config}/Code/User",
        f"{context.home}/Library/Application Support/Code/User",
    )
    server = {"type": "stdio", "command": context.program, "args": ["mcp"]}
    note = (
        "VS Code has no hooks for memory. With `memory setup vscode --mcp` its agent can search and write notes. In a "
        "repository it reads AGENTS.md: `memory setup vscode --repo`. Its own memory tool is on until you uncheck `memory` in the "
        "tools picker."
    )
    return HarnessSetup(
        files=(_server(context, f"{directory}/mcp.json", "servers", server), *_skill(context)),
        notes=(note,),
        acts=(),
    )


SETUPS: Mapping[str, Callable[[Context], HarnessSetup]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "amp": _amp,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
    "pi": _pi,
    "goose": _goose,
    "vscode": _vscode,
    "manual": lambda _: HarnessSetup(acts=()),
}
"""The function of each harness; `manual` is a person without any: nothing but the config, which every setup writes."""


def _groups(
    context: Context,
    harness: str,
    timeouts: Mapping[str, int],
    *,
    matcher: str | None = None,
    name: str | None = None,
    act: Act = "capture",
) -> tuple[Element, ...]:
    """Returns one hook for each event, in the form that Claude Code has made common: `{"hooks": {"Stop": [{"hooks":
    [{"type": "command", …}]}]}}`. Timeouts are in the harness's own unit."""
    command = context.hook(harness, act)
    named = {"name": name} if name else {}
    matched = {} if matcher is None else {"matcher": matcher}
    groups = {
        event: {**matched, "hooks": [{"type": "command", **named, "command": command, "timeout": timeout}]}
        for event, timeout in timeouts.items()
    }
    return tuple(Element(("hooks", event), each, command, hook_mark(harness, act)) for event, each in groups.items())


def _server(
    context: Context, path: str, servers: str, server: Mapping[str, Any] | None = None, syntax: Syntax = "jsonc"
) -> Wanted:
    """Returns our MCP server, beside the others in this file under the key `servers`."""
    server = server or {"command": context.program, "args": ["mcp"]}
    return Wanted(Part.MCP, path, syntax, (Member((servers, SERVER_NAME), server, context.program),), "MCP server")


def _skill(context: Context, directory: str | None = None) -> tuple[Wanted, ...]:
    """Returns the skill file in a directory of skills, or in the one that several harnesses read; empty if there is no
    text."""
    path = f"{directory or f'{context.home}/.agents/skills'}/{SERVER_NAME}/SKILL.md"
    return (Wanted(Part.SKILL, path, "whole", (Whole(context.skill),), "skill"),) if context.skill else ()


def _hooks(path: str, entries: Sequence[Element | Member]) -> Wanted:
    """Returns hooks that go among the person's own settings."""
    events = dict.fromkeys(each.keys[-1] for each in entries if isinstance(each, Element))
    return Wanted(Part.HOOKS, path, "jsonc", tuple(entries), f"hooks {', '.join(events)}")


def _json_file(path: str, document: Mapping[str, Any]) -> Wanted:
    """Returns a file of hooks, or about them, that is ours as a whole."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    words = f"hooks {', '.join(document['hooks'])}" if "hooks" in document else "plugin"
    return Wanted(Part.HOOKS, path, "whole", (Whole(text),), words)


def _plugin(context: Context, harness: str, path: str) -> Wanted:
    """Returns a plugin in TypeScript: the functions of `plugins/memory.ts`, by which it calls memory, and its own file
    there."""
    text = context.plugins.get("memory", "") + context.plugins.get(harness, "")
    program = json.dumps(context.program, ensure_ascii=False)
    text = text.replace("@harness@", harness).replace("@program@", program)
    return Wanted(Part.HOOKS, path, "whole", (Whole(text),), "plugin")


_TRIAL_EVENTS: Mapping[Act, str] = {"capture": "stop", "inject": "session_start"}


def trial_payload(harness: str, act: Act, session: str, directory: str) -> dict[str, Any]:
    """Returns the payload of a made-up session for a hook, in the harness's own form."""
    payload: dict[str, Any] = {}
    for fact, value in (("session_id", session), ("cwd", directory), ("event", _TRIAL_EVENTS[act])):
        *above, key = SHAPES[harness][fact][0].split(".")
        node = payload
        for each in above:
            node = node.setdefault(each, {})
        node[key] = value
    return payload
