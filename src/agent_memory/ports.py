"""The ports: Protocols for what the machines need from the outside world. Tests and other programs may bring their own.

Data that is damaged or unreadable is an error, never "nothing there" (P6). Whatever is put is durable when the call
returns. Types are imported for type checkers only: `memory list` loads this module and needs few of them.
"""

# pyright: reportReturnType=false
# A method of a port has a contract and no body.

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from returns.result import Result

    from agent_memory.errors import Error
    from agent_memory.note.note import Listed, Listing, Status, StoredEntry, TierList
    from agent_memory.rules.plan import AgentReply, AgentRequest
    from agent_memory.session.found_session import FoundSession
    from agent_memory.session.history import History, SessionMark
    from agent_memory.session.queue import InboxEntry


class Clock(Protocol):
    def now_ms(self) -> int:
        """Returns milliseconds since 1970 UTC."""


# -- notes ----------------------------------------------------------------------------------------------------------------


class Notes(Protocol):
    """The notes to be read. No method counts a read."""

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """Returns every live (or archived) note, without bodies."""

    def listings(self) -> Result[tuple[Listing, Listing], Error]:
        """Returns both, the live notes first."""

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """Returns the live note with this id or alias; with `archived`, its newest archived version."""

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """Returns the current state of a note listed before; looks first at its old path."""

    def tiers(self) -> Result[TierList, Error]:
        """Returns the tier list; empty if there is none yet."""


class Recorder(Protocol):
    """The record of finished writes: git (P4)."""

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """Records what a person changed since the last record as theirs; returns the number of files. Whoever writes
        one note passes its path as `among`: other changed files may be another process's writes, not yet recorded."""

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        """Records these paths (relative to the root; missing ones as removed) in one commit. The thread and its harness
        are for the template of `storage.commitHook`."""


class Embedder(Protocol):
    """Turns a text into a vector of its meaning, without a network."""

    @property
    def name(self) -> str:
        """The model and recipe; vectors with different names are not comparable."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        """Returns a packed vector for each text: `dimensions` signed bytes, all zeros for a text without words."""

    def embed_words(self, words: Sequence[tuple[str, float]]) -> Result[bytes, Error]:
        """Returns the packed vector of these words with their weights."""


# -- sessions and the agent ---------------------------------------------------------------------------------------------------


class HistorySource(Protocol):
    """Reads the history of a session, for one or several retrieval methods."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """Returns the turns after the mark, or all of them."""


class SessionFinder(Protocol):
    """Finds the past sessions of one harness without reading them whole."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """Yields every session that changed at or after `since_ms`, in any order, without those of sub-agents. A
        harness that was never used here has none."""


class Agent(Protocol):
    """An agent that answers prompts (P9, P10)."""

    @property
    def name(self) -> str:
        """The agent's name for stored replies and session marks: `builtin`, a preset, `command:<hash>`."""

    @property
    def status(self) -> Status:
        """The status of the notes it writes: `captured` for the built-in, `consolidated` for a command."""

    @property
    def max_prompt_chars(self) -> int | None:
        """The longest prompt; None if it takes a session whole."""

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        """Returns the reply, unchecked."""
