"""Who is calling: a person, an agent inside its harness, or an MCP client; and what only a person may do (P19)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.errors import ActRefused
from agent_memory.files.root import DEPTH_VARIABLE
from agent_memory.note.note import Harness, Origin

HARNESS_VARIABLES: Mapping[str, Harness] = {
    "CLAUDE_CODE_CHILD_SESSION": Harness.CLAUDE_CODE,
    "CODEX_THREAD_ID": Harness.CODEX,
    "CODEX_SANDBOX": Harness.CODEX,
    "CODEX_SANDBOX_NETWORK_DISABLED": Harness.CODEX,
    "CURSOR_AGENT": Harness.CURSOR,
    "AMP_CURRENT_THREAD_ID": Harness.AMP,
    "GEMINI_CLI": Harness.GEMINI,
    "OPENCODE": Harness.OPENCODE,
    "COPILOT_AGENT_SESSION_ID": Harness.COPILOT,
    "COPILOT_CLI": Harness.COPILOT,
    "PI_CODING_AGENT": Harness.PI,
    "GOOSE_TERMINAL": Harness.GOOSE,
}
"""Variables that a harness sets only in processes that its agent starts. Names are exact: an editor also sets
`CLAUDECODE`, `CURSOR_TRACE_ID`, `GEMINI_CLI_IDE_SERVER_PORT` and the like in a person's own terminal."""


@frozen
class Caller:
    """The caller: a person at the keyboard, an agent inside its harness, or an MCP client."""

    harness: Harness = Harness.MANUAL
    variable: str | None = None
    """The environment variable that shows that an agent is calling; None for a person."""
    client: str | None = None
    """The name that a calling MCP client gives itself, on one line."""
    client_is_trusted: bool = False
    """True if the person's config trusts that client like an agent (`mcp.trustedClients`)."""

    @property
    def is_agent(self) -> bool:
        return self.variable is not None or self.client is not None

    def only_a_person(self, act: str) -> None:
        """Raises ActRefused if an agent asks for an act that raises trust or cannot be undone (P19)."""
        if (because := self.variable or self.client) is not None:
            raise ActRefused(act, because)

    @property
    def origin(self) -> Origin:
        if self.client is not None and not self.client_is_trusted:
            return Origin.EXTERNAL
        return Origin.AGENT if self.is_agent else Origin.USER

    @property
    def signature(self) -> str:
        """Returns the line of a commit message that names the writer; empty for a person."""
        if self.client is not None:
            return f"By: MCP client {self.client}"
        return f"By: {self.harness}" if self.is_agent else ""


def depth_of(environ: Mapping[str, str]) -> int:
    """Returns how many of our agent commands we are nested in; a value that is not a number counts as 1."""
    value = environ.get(DEPTH_VARIABLE, "").strip()
    if not value:
        return 0
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 1


def caller_of(environ: Mapping[str, str]) -> Caller:
    """Returns the caller as shown by environment variables: an agent started by a harness or by one of our commands, or
    else a person. An agent that scrubs its child's environment is not recognised."""
    for variable, harness in HARNESS_VARIABLES.items():
        if environ.get(variable):
            return Caller(harness, variable)
    return Caller(variable=DEPTH_VARIABLE if depth_of(environ) > 0 else None)
