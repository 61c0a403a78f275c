"""A forgetting: all that goes, all that changes, and all that cannot be known to be the same; decided before it is done."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.vocabulary import Harness


@frozen
class ForgetTarget:
    """What a person names: an entry, or a session."""

    id: str | None = None
    session: SessionKey | None = None
    purge: bool = False
    """Rewrite the git history, too."""


@frozen
class GoneNote:
    """An entry that goes, or earlier versions of one that stays."""

    id: str
    title: str
    paths: tuple[str, ...]
    """Its files that are removed, relative to the root."""
    stays: bool = False
    """Other files of the entry stay: only versions that came from the session alone go."""
    secret: bool = False


@frozen
class SharedNote:
    """An entry that other sources taught as well: its text stays, the session is taken out of its sources."""

    id: str
    title: str
    others: tuple[str, ...]
    """Its other sources, for people."""


@frozen
class Mention:
    """Something that stays and holds most of what a forgotten note states."""

    id: str
    title: str
    archived: bool
    percent: int
    """Of the forgotten statements."""


@frozen
class Forgetting:
    """What `memory forget` does, or did. Paths are relative to the root."""

    target: ForgetTarget
    at_ms: int
    notes: tuple[GoneNote, ...] = ()
    shared: tuple[SharedNote, ...] = ()
    linked: tuple[str, ...] = ()
    """Ids of notes that lose a link, an alias or a mention in `supersedes`."""
    mentions: tuple[Mention, ...] = ()
    inbox: tuple[str, ...] = ()
    """Files of the inbox."""
    runs: tuple[str, ...] = ()
    """Runs that lose their details, and cannot be shown or undone any more."""
    histories: tuple[tuple[Harness, str], ...] = ()
    """Sessions whose kept history goes."""
    marks: tuple[str, ...] = ()
    """Marks of how far the session was consolidated."""
    has_history: bool = False
    """There is a git history, which holds what goes unless it is rewritten."""

    @property
    def is_known(self) -> bool:
        """Whether the store holds anything of it."""
        return any((self.notes, self.shared, self.linked, self.inbox, self.runs, self.histories, self.marks))

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the entries that go altogether."""
        return tuple(each.id for each in self.notes if not each.stays)

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the notes' files that go."""
        return tuple(path for each in self.notes for path in each.paths)
