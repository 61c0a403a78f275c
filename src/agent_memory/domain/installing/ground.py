"""Where the harnesses of a person keep their files, and how memory is called there."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping
from typing import Literal

from attrs import frozen

Act = Literal["capture", "inject"]
"""What a hook is for: to tell memory of a session, or to be told what the session is to know."""

SERVER_NAME = "agent-memory"
"""The name of our MCP server. Not `memory`: a widely used other server has that name, and so has an extension of Goose."""


@frozen
class Ground:
    """Absolute directories, as the environment names them or by default."""

    home: str
    program: str
    """Absolute path of `memory`. Absolute, since a harness that is started from a desktop does not have the shell's PATH."""
    claude: str
    claude_state: str
    """The file in which Claude Code keeps its MCP servers."""
    codex: str
    copilot: str
    pi: str
    config: str
    """`$XDG_CONFIG_HOME` or `~/.config`: Goose and opencode follow it."""
    existing: frozenset[str] = frozenset()
    """Of the paths in `asked_for`, those that exist."""
    skill: str = ""
    """The text of the skill file; empty where none is to be installed."""

    @property
    def word(self) -> str:
        """The program as a word for a shell."""
        return shlex.quote(self.program)

    def hook(self, harness: str, act: Act = "capture") -> str:
        """The shell command of a hook."""
        return f"{self.word} {hook_mark(harness, act)}"

    def either(self, preferred: str, *others: str) -> str:
        """The first of these files that exists; the preferred one where none does."""
        return next((path for path in (preferred, *others) if path in self.existing), preferred)

    @property
    def shared_skill(self) -> str:
        """The skill file that several harnesses read."""
        return f"{self.home}/.agents/skills/{SERVER_NAME}/SKILL.md"


def hook_mark(harness: str, act: Act = "capture") -> str:
    """The words of a hook behind the program's name: by them one is known, whatever the program is called."""
    return f"{act} --harness {harness} --hook"


def ground_of(
    home: str, program: str, environ: Mapping[str, str], existing: frozenset[str] = frozenset(), skill: str = ""
) -> Ground:
    """The directories that the variables of the harnesses name (`CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME
    PI_CODING_AGENT_DIR XDG_CONFIG_HOME`; only absolute paths count), else their defaults."""

    def named(variable: str, default: str) -> str:
        value = environ.get(variable, "")
        value = home + value[1:] if value.startswith("~/") else value
        return posixpath.normpath(value) if value.startswith("/") else f"{home}/{default}"

    claude = named("CLAUDE_CONFIG_DIR", ".claude")
    default_claude = claude == f"{home}/.claude"
    return Ground(
        home=home,
        program=program,
        claude=claude,
        claude_state=f"{home}/.claude.json" if default_claude else f"{claude}/.claude.json",
        codex=named("CODEX_HOME", ".codex"),
        copilot=named("COPILOT_HOME", ".copilot"),
        pi=named("PI_CODING_AGENT_DIR", ".pi/agent"),
        config=named("XDG_CONFIG_HOME", ".config"),
        existing=existing,
        skill=skill,
    )


def asked_for(ground: Ground) -> tuple[str, ...]:
    """The paths of which a setup depends on whether they exist."""
    return (
        f"{ground.claude}/CLAUDE.md",
        f"{ground.codex}/AGENTS.override.md",
        f"{ground.config}/opencode/AGENTS.md",
        f"{ground.config}/opencode/opencode.json",
        f"{ground.config}/opencode/opencode.jsonc",
        f"{ground.home}/.config/amp/settings.json",
        f"{ground.home}/.config/amp/settings.jsonc",
        f"{ground.config}/Code/User",
        f"{ground.home}/Library/Application Support/Code/User",
    )


def recorded_transcript_roots(home: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Directories of transcripts that only this environment's variables name, for processes that do not have them."""
    defaults = ground_of(home, "", {})
    here = ground_of(home, "", environ)
    found: list[str] = []
    if here.claude != defaults.claude:
        found.append(f"{here.claude}/projects")
    if here.codex != defaults.codex:
        found += [f"{here.codex}/sessions", f"{here.codex}/archived_sessions"]
    if here.copilot != defaults.copilot:
        found.append(f"{here.copilot}/session-state")
    if here.pi != defaults.pi:
        found.append(f"{here.pi}/sessions")
    sessions = environ.get("PI_CODING_AGENT_SESSION_DIR", "")
    if sessions.startswith("/"):
        found.append(posixpath.normpath(sessions))
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/") and posixpath.normpath(data) != f"{home}/.local/share":
        found += [f"{posixpath.normpath(data)}/{each}" for each in ("amp/threads", "opencode", "goose/sessions")]
    return tuple(found)
