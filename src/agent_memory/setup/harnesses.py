"""What setup needs to know of each harness: where it keeps its files, and how it calls memory. It is data, in
`harnesses.toml`; a new harness is one table there."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pkgutil import get_data
from typing import Any

from attrs import asdict, field, frozen

from agent_memory.capture.session_event import SHAPES, plain_name
from agent_memory.recall.moment import EVENTS, harness_directories
from agent_memory.setup.plan import Act, Element, HarnessSetup, Member, Part, Setting, Wanted, Whole
from agent_memory.text.json_shape import is_list, is_object

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

    @property
    def claude_servers(self) -> str:
        """Returns the file with Claude Code's MCP servers."""
        return f"{self.home if self.claude == f'{self.home}/.claude' else self.claude}/.claude.json"

    def filled(self, value: Any, **more: Any) -> Any:
        """Returns a value of `harnesses.toml` with the directories, and what else is given, in place of their names."""
        match value:
            case str() if value[1:-1] in more:
                return more[value[1:-1]]
            case str():
                return value.format(**asdict(self), claude_servers=self.claude_servers)
            case _ if is_list(value):
                return [self.filled(each, **more) for each in value]
            case _ if is_object(value):
                return {key: self.filled(each, **more) for key, each in value.items()}
            case _:
                return value

    def first(self, paths: list[str]) -> str:
        """Returns the first of these paths that exists, or that has no question mark before it."""
        filled: list[str] = self.filled(paths)
        return next(path.removeprefix("?") for path in filled if path[0] != "?" or self.exists(path[1:]))


def hook_mark(harness: str, act: Act = "capture") -> str:
    """Returns the part of a hook's command after the program's name, which identifies it whatever the program is
    called."""
    return f"{act} --harness {harness} --hook"


def context_of(home: str, program: str, environ: Mapping[str, str]) -> Context:
    named: Mapping[str, Any] = harness_directories(home, environ)
    return Context(home=home, program=program, **named)  # pyright: ignore[reportArgumentType]


def _setup(harness: str, told: Mapping[str, Any], context: Context) -> HarnessSetup:
    acts: tuple[Act, ...] = ("capture", "inject") if "plugin" in told else ()
    if "hooks" in told:
        acts = tuple(act for act in ("capture", "inject") if told["hooks"][act])
    return HarnessSetup(
        files=tuple(_files(harness, told, context)),
        target=context.first(told["target"]) if "target" in told else None,
        acts=acts,
        settings=tuple(_setting(harness, told["title"], context.filled(each)) for each in told.get("settings", ())),
        notes=tuple(told.get("notes", ())),
        home_notes=tuple(told.get("home_notes", ())),
        directories=tuple(context.filled(told.get("directories", []))),
        programs=tuple(told.get("programs", ())),
    )


def _setting(harness: str, title: str, told: Mapping[str, Any]) -> Setting:
    stated: dict[str, Any] = {"syntax": "jsonc", **told, "keys": tuple(told["keys"])}
    return Setting(harness, title, **stated)


def _files(harness: str, told: Mapping[str, Any], context: Context) -> Iterator[Wanted]:
    if "plugin" in told:
        text = context.plugins.get("memory", "") + context.plugins.get(harness, "")
        text = text.replace("@harness@", harness).replace("@program@", json.dumps(context.program, ensure_ascii=False))
        yield Wanted(Part.HOOKS, context.filled(told["plugin"]), "whole", (Whole(text),), "plugin")
    if "about" in told:
        yield _json_file(context.filled(told["about"]["path"]), told["about"]["document"], "plugin")
    if "hooks" in told:
        yield _hooks(harness, told["hooks"], context)
    if "mcp" in told:
        mcp = told["mcp"]
        path = "/".join((context.first(mcp["path"]), *([mcp["file"]] if "file" in mcp else [])))
        server = context.filled(mcp.get("server", {"command": "{program}", "args": ["mcp"]}))
        entry = Member((mcp["key"], SERVER_NAME), server, context.program)
        yield Wanted(Part.MCP, path, mcp.get("syntax", "jsonc"), (entry,), "MCP server")
    if context.skill and harness != "manual":
        directory = context.filled(told.get("skills", "{home}/.agents/skills"))
        yield Wanted(Part.SKILL, f"{directory}/{SERVER_NAME}/SKILL.md", "whole", (Whole(context.skill),), "skill")


def _hooks(harness: str, hooks: Mapping[str, Any], context: Context) -> Wanted:
    """Returns one hook for each event, among the person's own settings or in a file of ours."""
    acts: Mapping[str, Act] = {event: act for act in ("capture", "inject") for event in hooks[act]}
    elements: list[Element] = []
    for event, act in acts.items():
        name = SERVER_NAME if act == "capture" else f"{SERVER_NAME}-{act}"
        command = context.hook(harness, act)
        value = context.filled(hooks["handler"], command=command, name=name, timeout=hooks[act][event])
        elements.append(Element(("hooks", event), value, command, hook_mark(harness, act)))
    path, words = context.filled(hooks["path"]), f"hooks {', '.join(acts)}"
    version = {"version": hooks["version"]} if "version" in hooks else {}
    if "whole" in hooks:
        return _json_file(path, version | {"hooks": {each.keys[1]: [each.value] for each in elements}}, words)
    members = (Member((key,), value, optional=True, stays=True) for key, value in version.items())
    return Wanted(Part.HOOKS, path, "jsonc", (*members, *elements), words)


def tasks_of(harness: str, top: str) -> Iterator[Wanted]:
    """Yields the file of the tasks that this harness runs when it opens the work tree, if it is an editor."""
    shown = {"problemMatcher": list[str](), "presentation": {"reveal": "never"}, "runOptions": {"runOn": "folderOpen"}}
    tasks: Mapping[str, dict[str, Any]] = _DATA[harness].get("tasks", {})
    elements = (
        Element(("tasks",), {"label": f"{SERVER_NAME}: {name}", "type": "shell", **told, **shown}, told["command"])
        for name, told in tasks.items()
    )
    if tasks:
        version = Member(("version",), "2.0.0", optional=True, stays=True)
        yield Wanted(Part.HOOKS, f"{top}/.vscode/tasks.json", "jsonc", (version, *elements), "tasks")


def _json_file(path: str, document: Mapping[str, Any], words: str) -> Wanted:
    """Returns a file of hooks, or about them, that is ours as a whole."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return Wanted(Part.HOOKS, path, "whole", (Whole(text),), words)


_DATA = tomllib.loads((get_data("agent_memory.setup", "harnesses.toml") or b"").decode())
SETUPS: Mapping[str, Callable[[Context], HarnessSetup]] = {name: partial(_setup, name, _DATA[name]) for name in _DATA}
"""The function of each harness; `manual` is a person without any."""


def is_told(harness: str, kind: str) -> bool:
    """Returns whether a hook of the harness asks for notes at moments of this kind."""
    told: Mapping[str, Any] = _DATA.get(harness, {})
    events = told.get("hooks", {}).get("inject", ())
    return "plugin" in told or any(EVENTS.get(plain_name(each)) == kind for each in events)


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
