"""Forgetting: how a note or session to be forgotten is recognised, everything that goes with it, and the tombstone that
keeps it from being learnt again (P28).

The statements of a note are compared line by line, by their words, and kept as hashes where the words must not be kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from attrs import evolve, field, frozen

from agent_memory.note.note import Harness, MemoryEntry, Meta, Source, StoredEntry
from agent_memory.rules.change import Cause, Dropped, FileChange
from agent_memory.rules.commit_message import one_word
from agent_memory.rules.information import KEPT_SHARE, Line, claims_among, distinct_lines
from agent_memory.rules.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.session.history import History
from agent_memory.text.ids import EntryId
from agent_memory.text.instants import Instant
from agent_memory.text.markdown import derive_description, find_links, without_see_also_of
from agent_memory.text.plain_text import counted, one_line, spliced
from agent_memory.text.salience import content_terms, coverage

SAME_SHARE = 0.6
"""The share of a forgotten note's statements that a text must hold to say the same."""
MENTION_SHARE = 0.6
"""The share of a note's statements that another text must hold to be mentioned to the person."""


REASON = "it was forgotten (`memory forget`)"
REJECTED = "you rejected it (`memory review`)"


def statements_of(title: str, body: str) -> tuple[Line, ...]:
    """Returns the lines of a body that state something; for an empty body, the title."""
    return claims_among(distinct_lines([body])) or distinct_lines([title])


def statement_hashes(title: str, body: str) -> frozenset[str]:
    """Returns a hash of the content words of each statement, whatever their order, case and endings."""
    texts = (" ".join(sorted(line.terms)).encode("utf-8", "surrogatepass") for line in statements_of(title, body))
    return frozenset(hashlib.sha256(text).hexdigest()[:16] for text in texts)


def share_held(statements: Iterable[Line], text: str) -> float:
    """Returns the share of the statements that a text holds, 0 to 1. It holds a statement if it has most of its content
    words. The share of no statements is 0."""
    lines = tuple(statements)
    said = content_terms(text)
    held = sum(coverage(line.terms, said) >= KEPT_SHARE for line in lines)
    return held / len(lines) if lines else 0.0


@frozen
class SessionTombstone:
    """A session that must not be learnt from again."""

    session_id: str = field(metadata={"key": "session"})
    harness: Harness | None
    """None: any harness."""
    at_ms: Instant


@frozen
class StateTombstone:
    """A state value that must not come back from another machine. A value set later is a new one."""

    path: str = field(metadata={"key": "state"})
    """The path of its file, relative to the root."""
    at_ms: Instant


@frozen
class EntryTombstone:
    """A note that must not be learnt again from what was said before it was forgotten."""

    id: EntryId = field(metadata={"key": "entry"})
    at_ms: Instant
    statements: frozenset[str]
    """Hashes of the statements in its last text (`statement_hashes`)."""

    def is_said_by(self, title: str, body: str) -> bool:
        """Returns whether the text holds most of what the note said."""
        said = statement_hashes(title, body)
        return bool(self.statements) and len(self.statements & said) >= SAME_SHARE * len(self.statements)


def forgotten_note(
    tombstones: Iterable[EntryTombstone], title: str, body: str, said_at_ms: int
) -> EntryTombstone | None:
    """Returns the forgotten note that this text would bring back; None where it says something else, or was said after
    the forgetting: a person who says it again wants it known again."""
    return next((each for each in tombstones if said_at_ms <= each.at_ms and each.is_said_by(title, body)), None)


# -- what a session would teach again ---------------------------------------------------------------------------------


def without_unwanted(
    change_set: ChangeSet,
    forgotten: Sequence[EntryTombstone],
    rejected: Sequence[EntryTombstone],
    window: History,
    captured_at_ms: int,
    shown: Mapping[str, StoredEntry],
) -> ChangeSet:
    """Returns the change set without the items that repeat a forgotten note, or say what a person rejected, whenever it was
    said; these become dropped items. An item counts as said at the time of its last cited turn, else of the capture. If
    nothing is left, `skipped` says so."""
    times = {turn.number: turn.at_ms for turn in window.turns}

    def why_not(item: ProposedEntry | ProposedUpdate) -> tuple[str, Cause] | None:
        title, added = item.title or "", item.body or ""
        if isinstance(item, ProposedUpdate) and item.id in shown:
            before = set(shown[item.id].body.split("\n"))
            added = "\n".join(line for line in added.split("\n") if line not in before)
        said = [at_ms for number in item.turns if (at_ms := times.get(number)) is not None]
        if forgotten_note(forgotten, title, added, max(said, default=captured_at_ms)) is not None:
            return REASON, Cause.FORGOTTEN
        return (REJECTED, Cause.REJECTED) if any(each.is_said_by(title, added) for each in rejected) else None

    proposed: tuple[ProposedEntry | ProposedUpdate, ...] = (*change_set.entries, *change_set.updates)
    gone = {item: why for item in proposed if item.body is not None and (why := why_not(item)) is not None}
    if not gone:
        return change_set
    entries = tuple(each for each in change_set.entries if each not in gone)
    kept = tuple(each for each in change_set.updates if each not in gone)
    is_rejected = any(cause is Cause.REJECTED for _, cause in gone.values())
    nothing_left = "you rejected what it says" if is_rejected else "what it says was forgotten"
    dropped = (
        # A note's title would stay in the report for ever.
        Dropped("a note" if isinstance(item, ProposedEntry) else item.id, (reason,), cause)
        for item, (reason, cause) in gone.items()
    )
    return evolve(
        change_set,
        entries=entries,
        updates=kept,
        skipped=change_set.skipped if entries or kept else nothing_left,
        dropped=(*change_set.dropped, *dropped),
    )


Share = Literal["all", "some", "none"]

FORGOTTEN = "(forgotten)"
"""Stands where a forgotten text was."""

_MIN_TITLE_CHARS = 4
"""A shorter title could be any word."""
_VERB = re.compile(r"[a-z][a-z ]{0,20}(?=:)")


@frozen
class SessionKey:
    """A session; without a harness, one of any harness."""

    session_id: str
    harness: Harness | None = None

    def is_of(self, source: Source) -> bool:
        """Returns whether the source is a part of this session."""
        return source.thread_id == self.session_id and self.harness in (None, source.harness)


def share_of(meta: Meta, session: SessionKey, recorded: frozenset[str] = frozenset()) -> Share:
    """Returns how much of a note comes from the session, by its sources. A note without sources that was recorded as
    made from the session comes from nothing else."""
    if not meta.sources:
        return "all" if meta.id in recorded else "none"
    count = sum(session.is_of(source) for source in meta.sources)
    return "all" if count == len(meta.sources) else "some" if count else "none"


def without_session(meta: Meta, session: SessionKey) -> Meta:
    return evolve(meta, sources=tuple(source for source in meta.sources if not session.is_of(source)))


def unlinked(entry: MemoryEntry, ids: Collection[str]) -> MemoryEntry:
    """Returns the note without these ids: they are no alias and nothing superseded any more. A link becomes its label,
    or the plain id; in the list of links at the end of the body it is removed. The rest of the text stays."""
    meta = evolve(
        entry.meta,
        aliases=tuple(id for id in entry.meta.aliases if id not in ids),
        supersedes=tuple(id for id in entry.meta.supersedes if id not in ids),
    )
    body = without_see_also_of(entry.body, ids)
    gone = (link for link in find_links(body) if link.target in ids)
    words = ((link.start, link.end, (link.label or "").strip() or link.target) for link in gone)
    return MemoryEntry(meta, spliced(body, words))


def without_statements(entry: MemoryEntry, said: Collection[str]) -> MemoryEntry | None:
    """Returns the note without the lines that state one of these (`statement_hashes`), and with a description of what is
    left; None where nothing is."""
    lines = [line for line in entry.body.split("\n") if statement_hashes("", line).isdisjoint(said)]
    body = "\n".join(lines)
    if body == entry.body:
        return entry
    is_left = any(not line.heading for line in distinct_lines([body]))
    return MemoryEntry(evolve(entry.meta, description=derive_description(body)), body) if is_left else None


# -- words ------------------------------------------------------------------------------------------------------------


@frozen
class TraceWords:
    """The words by which traces of what is forgotten are recognised. All are empty where nothing is forgotten."""

    ids: frozenset[str] = field(default=frozenset())
    session_id: str | None = None
    titles: frozenset[str] = field(default=frozenset())
    statements: tuple[Line, ...] = ()

    def names_one(self, text: str, *, shortened: bool = False) -> bool:
        """Returns whether a text holds one of the ids, or the session's id in any spelling; with `shortened` also where
        only its beginning is there."""
        session = self.session_id or ""
        names = (*self.ids, session, one_word(session), json.dumps(session)[1:-1])
        # The subject of a commit has the first characters of a session's id.
        return any(name in text for name in (*names, *([session[:12]] if shortened else [])) if name)

    def is_in(self, text: str) -> bool:
        """Returns whether a text holds a title, or all content words of a telling statement of what was forgotten."""
        # A longer title may have been cut where it was shown, so its first this many characters count as the title.
        titles = (title[:40] for title in self.titles if len(title.strip()) >= _MIN_TITLE_CHARS)
        if any(title in text for title in titles):
            return True
        said = content_terms(text)
        # A line with fewer content words does not prove that a text was made from it.
        return any(len(line.terms) >= 4 and line.terms <= said for line in self.statements)


def forgetful_message(message: str, words: TraceWords, *, touched: bool) -> str:
    """Returns a commit message without what was forgotten: the verb of the subject stays, other lines go.

    Titles count only where the commit touched a file of what was forgotten: elsewhere they may be words like any
    others.
    """
    lines = message.split("\n")
    is_trace = [words.names_one(line, shortened=True) or (touched and words.is_in(line)) for line in lines]
    if not any(is_trace):
        return message
    kept = [line for line, goes in zip(lines[1:], is_trace[1:], strict=True) if not goes]
    verb = _VERB.match(lines[0])
    forgotten = f"{verb[0]}: {FORGOTTEN}" if verb else FORGOTTEN
    text = "\n".join((forgotten if is_trace[0] else lines[0], *kept))
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


_MOST_LISTED = 20


@frozen
class ForgetTarget:
    id: str | None = None
    session: SessionKey | None = None
    purge: bool = False


@frozen
class GoneNote:
    """A note that is forgotten, or earlier versions of a note that stays."""

    id: str
    title: str | None
    """None for a secret note."""
    paths: tuple[str, ...]
    """Its files to be removed, relative to the root."""
    versions_only: bool = False
    """Whether other files of the note stay, and only the versions that came from the session alone are removed."""


@frozen
class SharedNote:
    """A note that has other sources too: its text stays, the session is removed from its sources."""

    id: str
    title: str
    others: tuple[str, ...]


@frozen
class Mention:
    """Something that stays although it holds most of what a forgotten note states."""

    id: str
    title: str
    archived: bool
    percent: int
    """Per cent of the forgotten statements."""


@frozen
class ForgettingAtWork:
    """A forgetting that has begun and has to be carried out to its end."""

    at_ms: Instant
    purge: bool
    session_id: str | None = field(metadata={"key": "session"})
    harness: Harness | None
    ids: frozenset[str]
    touched_ids: frozenset[str] = field(metadata={"key": "touched"})
    paths: tuple[str, ...]
    titles: frozenset[str]
    statements: tuple[str, ...]
    runs: tuple[str, ...]
    """The runs that lose their details, and cannot be shown or undone any more."""
    inbox: tuple[str, ...]
    marks: tuple[str, ...]
    histories: tuple[tuple[Harness, str], ...]

    @property
    def session(self) -> SessionKey | None:
        return None if self.session_id is None else SessionKey(self.session_id, self.harness)

    @property
    def words(self) -> TraceWords:
        """Returns the words by which a trace is recognised."""
        return TraceWords(self.ids, self.session_id, self.titles, distinct_lines(self.statements))


@frozen
class Forgetting:
    """The plan, or the outcome, of `memory forget`. Paths are relative to the root."""

    target: ForgetTarget
    work: ForgettingAtWork
    notes: tuple[GoneNote, ...] = ()
    shared: tuple[SharedNote, ...] = ()
    linked: tuple[str, ...] = ()
    """Ids of notes that lose a link, an alias or a mention in `supersedes`."""
    mentions: tuple[Mention, ...] = ()
    has_history: bool = False
    """Whether there is a git history, which keeps the forgotten text unless it is rewritten."""
    changes: tuple[FileChange, ...] = ()
    """Changes to the files of notes, made as one transaction."""
    said: Mapping[str, frozenset[str]] = field(factory=dict[str, frozenset[str]])
    """Hashes of the statements in each note's last text, by id (`statement_hashes`)."""
    trouble_keys: frozenset[str] = field(default=frozenset())
    """The keys under which the queue keeps the trouble of the inbox files that are removed."""

    @property
    def is_known(self) -> bool:
        work = self.work
        return any((self.notes, self.shared, self.linked, work.inbox, work.runs, work.histories, work.marks))

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids of the notes that are removed altogether."""
        return tuple(each.id for each in self.notes if not each.versions_only)

    @property
    def paths(self) -> tuple[str, ...]:
        """Returns the paths of the notes' files that are removed."""
        return tuple(path for each in self.notes for path in each.paths)


# -- in words ---------------------------------------------------------------------------------------------------------


def lines_of(forgetting: Forgetting) -> Iterator[str]:
    """Returns what is removed, what changes, and what stays although it states the same, one line each."""
    if forgetting.target.session is not None and not forgetting.is_known:
        yield "  nothing  is kept of this session; it is only marked, so that it is never learnt"
    for note in forgetting.notes:
        files = counted(len(note.paths), "file")
        what = f"{files} of its earlier versions; the note stays" if note.versions_only else files
        yield f"  forget   {note.id}  {_short(note.title or '(secret)')}  ({what})"
    for shared in forgetting.shared:
        yield f"  keep     {shared.id}  {_short(shared.title)}  (also from {_short(', '.join(shared.others))}; it forgets this session)"
    work = forgetting.work
    undone = "  (what it did to these notes cannot be shown or undone any more)"
    listed: tuple[tuple[str, Sequence[str], str], ...] = (
        ("unlink", forgetting.linked, "  (it linked to what goes)"),
        ("remove", (*work.inbox, *work.marks), ""),
        ("remove", [f"{harness} {id}" for harness, id in work.histories], "  (the kept history)"),
        ("empty", [f"runs/{run}" for run in work.runs], undone),
    )
    for act, things, why in listed:
        yield from (f"  {act:8} {_short(thing)}{why}" for thing in things[:_MOST_LISTED])
        if len(things) > _MOST_LISTED:
            yield f"  {act:8} and {len(things) - _MOST_LISTED} more"
    for mention in forgetting.mentions:
        where = "in the archive, " if mention.archived else ""
        yield f"  stays    {mention.id}  {_short(mention.title)}  ({where}it says {mention.percent} % of the same: `memory forget {mention.id}`)"


def what_stays(forgetting: Forgetting) -> tuple[str, ...]:
    """Returns sentences about what forgetting does not reach."""
    target = forgetting.target
    sentences: list[str] = []
    if forgetting.has_history and target.purge:
        sentences.append(
            "The git history is rewritten: every other clone still holds it, and `memory sync` waits for --after-purge."
        )
    elif forgetting.has_history and forgetting.is_known:
        others, them = (", and so may kept histories", "them") if target.session is None else ("", "it")
        sentences.append(f"The git history of the store still holds it{others}; `--purge` rewrites {them}.")
    if target.session is not None:
        sentences.append("The harness's own transcript stays.")
    return tuple(sentences)


def sentence_of(forgetting: Forgetting, *, done: bool) -> str:
    """`Forgotten: 3 notes and 2 inbox files of the session s1, for good.`"""
    session = forgetting.target.session
    inbox = f" and {counted(len(forgetting.work.inbox), 'inbox file')}" if forgetting.work.inbox else ""
    of = "" if session is None else f" of the session {session.session_id}"
    what = f"{counted(len(forgetting.ids), 'note')}{inbox}{of}, for good."
    learnt = "" if session is None else " It is not learnt again."
    return f"Forgotten: {what}{learnt}" if done else f"This would forget {what}"


def _short(text: str) -> str:
    return one_line(text, 160)
