"""What a person or an agent asks the service to store or to change."""

from __future__ import annotations

import re

from attrs import frozen

from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity


@frozen
class Caller:
    """Who is calling: a person at the keyboard, an agent inside its harness, or an MCP client."""

    harness: Harness = Harness.MANUAL
    variable: str | None = None
    """The environment variable that shows that an agent is calling; None for a person."""
    client: str | None = None
    """What the MCP client that is calling says it is, on one line; None where none is."""
    client_is_trusted: bool = False
    """Whether the person's config trusts that client as it would an agent (`mcp.trustedClients`)."""

    @property
    def is_agent(self) -> bool:
        """Whether a program is calling, and not a person."""
        return self.variable is not None or self.client is not None

    @property
    def origin(self) -> Origin:
        if self.client is not None and not self.client_is_trusted:
            return Origin.EXTERNAL
        return Origin.AGENT if self.is_agent else Origin.USER

    @property
    def signature(self) -> str:
        """The line of a commit that names whoever wrote; nothing for a person."""
        if self.client is not None:
            return f"By: MCP client {self.client}"
        return f"By: {self.harness}" if self.is_agent else ""


@frozen
class Expiry:
    """When a note is to expire; None: never. What expired goes to the archive with the next defrag."""

    at_ms: int | None


@frozen
class NoteDraft:
    """A note to be stored at once. A missing title is the body's first line; a missing scope is `global`."""

    body: str
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    kind: Kind = Kind.FACT
    scope: str = "global"
    importance: Importance = Importance.MEDIUM
    sensitivity: Sensitivity = Sensitivity.NORMAL
    cwd: str | None = None
    agent: str | None = None
    """Which of the agents of a client writes, as it calls itself."""
    expiry: Expiry = Expiry(None)
    supersedes: tuple[str, ...] = ()
    """Ids of live entries that it takes the place of: they go to the archive, and were true until now."""
    here: str | None = None
    """The scope key of the place where it is said, which the note need not be about; None: its own scope."""


@frozen
class MetaPatch:
    """New values for some of an entry's frontmatter; None keeps what is there."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    scope: str | None = None
    importance: Importance | None = None
    sensitivity: Sensitivity | None = None
    expiry: Expiry | None = None


MAX_KEY_CHARS = 128
MAX_VALUE_BYTES = 256 << 10

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*", re.ASCII)


@frozen
class StateValue:
    """What is kept under one key."""

    key: str
    json: str
    """The value, any JSON, as the text of it."""
    updated_at_ms: int | None = None
    """Epoch ms; None in a file that a person wrote without saying."""


def key_problem(key: str) -> str | None:
    """Why a key is none, or None: 1 to 128 of the characters `A-Z a-z 0-9 . _ : / -`, the first a letter or digit, with no
    `..` and no empty part between slashes (P21)."""
    if not key:
        return "key: is empty"
    if len(key) > MAX_KEY_CHARS:
        return f"key: has {len(key):,} characters, at most {MAX_KEY_CHARS} are allowed"
    if not _KEY.fullmatch(key):
        return "key: may hold letters, digits and . _ : / - only, and begins with a letter or digit"
    parts = key.split("/")
    if "" in parts or any(part.startswith(".") for part in parts) or ".." in key:
        return "key: no part between slashes may be empty or begin with a dot, and .. is not allowed"
    return None
