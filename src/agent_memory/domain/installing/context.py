"""Where the harnesses of a person keep their files, and how memory is called there."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Mapping

from attrs import field, frozen

from agent_memory.domain.installing.wanted import Act

SERVER_NAME = "agent-memory"
"""The name of our MCP server. Not `memory`: a widely used other server has that name, and so has an extension of Goose."""


@frozen
class Context:
    """Absolute directories, as the environment names them or by default."""

    home: str
    program: str
    """Absolute path of `memory`: a harness that is started from a desktop does not have the shell's PATH."""
    claude: str
    claude_state: str
    """The file in which Claude Code keeps its MCP servers."""
    codex: str
    copilot: str
    pi: str
    config: str
    """`$XDG_CONFIG_HOME` or `~/.config`: Goose and opencode follow it."""
    exists: Callable[[str], bool] = lambda _: False
    """Whether there is something at a path; may raise OSError."""
    skill: str = ""
    """The text of the skill file; empty where none is to be installed."""
    plugins: Mapping[str, str] = field(factory=dict[str, str])
    """The templates in `plugins/`, by name."""

    def hook(self, harness: str, act: Act = "capture") -> str:
        """The shell command of a hook."""
        return f"{shlex.quote(self.program)} {hook_mark(harness, act)}"

    def either(self, preferred: str, *others: str) -> str:
        """The first of these files that exists; the preferred one where none does."""
        return next((path for path in (preferred, *others) if self.exists(path)), preferred)


def hook_mark(harness: str, act: Act = "capture") -> str:
    """The words of a hook behind the program's name: by them one is known, whatever the program is called."""
    return f"{act} --harness {harness} --hook"


def context_of(home: str, program: str, environ: Mapping[str, str]) -> Context:
    """The directories that the variables of the harnesses name (`CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME
    PI_CODING_AGENT_DIR XDG_CONFIG_HOME`; only absolute paths count), else their defaults."""

    def named(variable: str, default: str) -> str:
        value = environ.get(variable, "")
        value = home + value[1:] if value.startswith("~/") else value
        return posixpath.normpath(value) if value.startswith("/") else f"{home}/{default}"

    claude = named("CLAUDE_CONFIG_DIR", ".claude")
    return Context(
        home=home,
        program=program,
        claude=claude,
        claude_state=f"{home if claude == f'{home}/.claude' else claude}/.claude.json",
        codex=named("CODEX_HOME", ".codex"),
        copilot=named("COPILOT_HOME", ".copilot"),
        pi=named("PI_CODING_AGENT_DIR", ".pi/agent"),
        config=named("XDG_CONFIG_HOME", ".config"),
    )


def recorded_transcript_roots(home: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Directories of transcripts that only this environment's variables name, for processes that do not have them."""
    defaults, here = context_of(home, "", {}), context_of(home, "", environ)
    below = (
        (here.claude, defaults.claude, ("projects",)),
        (here.codex, defaults.codex, ("sessions", "archived_sessions")),
        (here.copilot, defaults.copilot, ("session-state",)),
        (here.pi, defaults.pi, ("sessions",)),
    )
    found = [f"{place}/{name}" for place, default, names in below if place != default for name in names]
    sessions = environ.get("PI_CODING_AGENT_SESSION_DIR", "")
    if sessions.startswith("/"):
        found.append(posixpath.normpath(sessions))
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/") and posixpath.normpath(data) != f"{home}/.local/share":
        found += [f"{posixpath.normpath(data)}/{each}" for each in ("amp/threads", "opencode", "goose/sessions")]
    return tuple(found)
