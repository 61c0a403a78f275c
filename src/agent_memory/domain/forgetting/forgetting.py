"""A forgetting: all that goes, all that changes, and all that cannot be known to be the same; decided before it is done, and
put into words."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from agent_memory.domain.forgetting.traces import SessionKey
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Harness

_MOST_LISTED = 20
_LINE_CHARS = 160


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


# -- in words ---------------------------------------------------------------------------------------------------------


def lines_of(forgetting: Forgetting) -> Iterator[str]:
    """What goes, what changes, and what stays although it states the same: for a person, one thing a line."""
    if forgetting.target.session is not None and not forgetting.is_known:
        yield "  nothing  is kept of this session; it is only marked, so that it is never learnt"
    for note in forgetting.notes:
        title = "(secret)" if note.secret else _short(note.title)
        files = f"{len(note.paths)} {'file' if len(note.paths) == 1 else 'files'}"
        what = f"{files} of its earlier versions; the note stays" if note.stays else files
        yield f"  forget   {note.id}  {title}  ({what})"
    for shared in forgetting.shared:
        yield f"  keep     {shared.id}  {_short(shared.title)}  (also from {_short(', '.join(shared.others))}; it forgets this session)"
    yield from _listed("unlink", "it linked to what goes", forgetting.linked)
    yield from _listed("remove", "", forgetting.inbox)
    yield from _listed("remove", "", forgetting.marks)
    yield from _listed("remove", "the kept history", tuple(f"{harness} {id}" for harness, id in forgetting.histories))
    yield from _listed(
        "empty",
        "what it did to these notes cannot be shown or undone any more",
        tuple(f"runs/{run}" for run in forgetting.runs),
    )
    for mention in forgetting.mentions:
        where = "in the archive, " if mention.archived else ""
        yield f"  stays    {mention.id}  {_short(mention.title)}  ({where}it states {mention.percent} % of it: `memory forget {mention.id}`)"


def what_stays(forgetting: Forgetting) -> tuple[str, ...]:
    """What forgetting does not reach, as sentences."""
    sentences: list[str] = []
    if forgetting.has_history and not forgetting.target.purge:
        others, them = (", and so may kept histories", "them") if forgetting.target.session is None else ("", "it")
        sentences.append(f"The git history of the store still holds it{others}; `--purge` rewrites {them}.")
    if forgetting.target.purge and forgetting.has_history:
        sentences.append(
            "The git history is rewritten: every other clone still holds it, and `memory sync` waits for --after-purge."
        )
    session = forgetting.target.session
    if session is not None:
        sentences.append("The harness's own transcript is not memory's to remove.")
    return tuple(sentences)


def sentence_of(forgetting: Forgetting, *, done: bool) -> str:
    """`Forgotten: 3 notes and 2 inbox files of the session s1, for good.`"""
    gone = len(forgetting.ids)
    session = forgetting.target.session
    what = [f"{gone} {'note' if gone == 1 else 'notes'}"]
    if forgetting.inbox:
        what.append(f"{len(forgetting.inbox)} inbox {'file' if len(forgetting.inbox) == 1 else 'files'}")
    of = "" if session is None else f" of the session {session.session_id}"
    if not done:
        return f"This would forget {' and '.join(what)}{of}, for good."
    learnt = "" if session is None else " It is not learnt again."
    return f"Forgotten: {' and '.join(what)}{of}, for good.{learnt}"


def _listed(act: str, why: str, things: tuple[str, ...]) -> Iterator[str]:
    reason = f"  ({why})" if why else ""
    for thing in things[:_MOST_LISTED]:
        yield f"  {act:8} {_short(thing)}{reason}"
    if len(things) > _MOST_LISTED:
        yield f"  {act:8} and {len(things) - _MOST_LISTED} more"


def _short(text: str) -> str:
    return one_line(text, _LINE_CHARS)
