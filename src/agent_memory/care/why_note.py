"""What is known of a note: who said it, what changed it, why it is in its tier. The fields of the values are those of
`--json`. Changes and counts nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from attrs import asdict, field, frozen
from returns.result import Failure, Result

from agent_memory.care.session_list import NamedNote, named
from agent_memory.care.why_session import unread_notes, unread_runs
from agent_memory.errors import EntryNotFound, EntryUnreadable, Error, UsageInvalid
from agent_memory.files.paths import exists, names_below
from agent_memory.git.git_history import contents_of
from agent_memory.git.git_process import GitProcess
from agent_memory.note.note import (
    TIERS_FILE,
    Harness,
    Kind,
    Listed,
    Meta,
    Origin,
    Source,
    Status,
    StoredEntry,
    Tier,
    Usage,
    reads_of,
)
from agent_memory.note.note_format import read_note
from agent_memory.recall.grounding import Grounding
from agent_memory.recall.reading import Reading, read_anywhere
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.change import FileChange, FileState, Footprint
from agent_memory.rules.forgotten import EntryTombstone, forgotten_note
from agent_memory.rules.run import ACTION_WORDS
from agent_memory.rules.run_log import MOST_RUNS, LoggedRun, Revision, short_id
from agent_memory.rules.tiers import score_parts, why_not_nearer
from agent_memory.session.resuming import resume_command
from agent_memory.store.diffs import ACT_WORDS, diff_of_texts
from agent_memory.store.note_files import ARCHIVE, read_image
from agent_memory.store.run_files import RunLog
from agent_memory.text.instants import day_of, has_passed
from agent_memory.text.plain_text import one_line

_LINE_CHARS = 300


# -- a note: whose word it is -----------------------------------------------------------------------------------------


def said_by(meta: Meta) -> str:
    """Returns one or two sentences: who said it, and whether a person vouches for it."""
    if meta.origin is Origin.USER:
        wrote = not meta.sources or all(source.harness is Harness.MANUAL for source in meta.sources)
        who = "You wrote it." if wrote else "You said it in a session."
    elif meta.origin is Origin.AGENT:
        who = "An agent concluded it; no message of yours says it."
    else:
        who = "It comes from outside: what a tool, a page, another program or an import said."
    return f"{who} You vouched for it." if meta.is_vouched_for and meta.origin is not Origin.USER else who


@frozen
class ToldSource(Source):
    """A source of a note, with the command that opens its session again."""

    reopen: str | None = None

    @classmethod
    def of(cls, source: Source) -> ToldSource:
        reopen = resume_command(source.harness, source.thread_id, source.cwd)
        return cls(**asdict(source, recurse=False), reopen=reopen)


def source_in_words(source: Source) -> str:
    """Returns `claude-code session 5f2c…, turns 3 and 9, in /srv/shop (github.com/acme/shop), by builtin`."""
    words = (
        "no session, written directly"
        if source.harness is Harness.MANUAL and not source.thread_id
        else str(source.harness)
    )
    if source.imported:
        words = f"an import, {one_line(source.imported.rpartition('#')[0], _LINE_CHARS)}"
    elif source.thread_id:
        words += f" session {one_line(source.thread_id, _LINE_CHARS)}"
    if source.turns:
        *before, last = map(str, source.turns)
        words += f", turns {', '.join(before)} and {last}" if before else f", turn {last}"
    if source.cwd:
        words += f", in {one_line(source.cwd, _LINE_CHARS)}"
    if source.repo:
        words += f" ({one_line(source.repo, _LINE_CHARS)})"
    if source.branch:
        words += f" on the branch {one_line(source.branch, _LINE_CHARS)}"
    if source.agent:
        words += f", by {one_line(source.agent, _LINE_CHARS)}"
    return words


# -- a note: what changed it ------------------------------------------------------------------------------------------

_DONE: Mapping[str, str] = {**ACT_WORDS, **ACTION_WORDS}


@frozen
class HistoryEvent:
    at_ms: int
    run_id: str = field(metadata={"key": "run"})
    machine: str
    kind: str
    ids: tuple[str, ...]
    new_ids: tuple[str, ...]
    words: str
    undone_by: str | None

    @property
    def sentence(self) -> str:
        """`merged by defrag 4dbfbe: id__…, id__… into id__…`."""
        moved = f"{', '.join(self.ids)} into {', '.join(self.new_ids)}" if self.ids and self.new_ids else ""
        done = f"{_DONE.get(self.kind, self.kind)} by {self.machine} {short_id(self.run_id)}"
        told = f"{done}: {self.words or moved}".removesuffix(": ")
        return f"{told} (undone by {short_id(self.undone_by)})" if self.undone_by else told


def events_of(ids: frozenset[str], runs: Iterable[LoggedRun]) -> tuple[HistoryEvent, ...]:
    """Returns what the runs did to any of these notes, oldest first; `runs` come newest first."""
    found = [
        HistoryEvent(
            run.started_at_ms, run.run_id, run.machine, each.kind, each.ids, each.new_ids, each.words, run.undone_by
        )
        for run in runs
        for each in reversed(run.actions)
        if not ids.isdisjoint(each.all_ids)
    ]
    return tuple(reversed(found))


# -- a note: why it is in its tier ------------------------------------------------------------------------------------

_SHOWN: dict[Tier, str] = {
    Tier.HOT: "It is hot: the managed section shows it whole, if there is room.",
    Tier.WARM: "It is warm: the managed section shows one line of it, if there is room.",
    Tier.COLD: "It is cold: the managed section does not show it.",
}


@frozen
class TierStanding:
    """The tier of a note, and why it is in it."""

    tier: Tier
    best: Tier
    """The nearest tier that its origin allows."""
    pinned: bool
    reasons: tuple[str, ...]
    score: Mapping[str, float]
    """`total`, its factors, and the bonus of a pin, rounded to four digits."""


def why_in_tier(meta: Meta, tier: Tier, now_ms: int, *, is_decided: bool = True, is_seen: bool = True) -> str:
    """Returns what put a live note into its tier. `is_decided`: there was a defrag; `is_seen`: there was one since the
    note was written."""
    if tier is Tier.HOT:
        if meta.pinned:
            return "You pinned it; `memory unpin` lets defrag decide again."
        if meta.best_tier is not Tier.HOT:
            return f"The next defrag takes it out: {why_not_nearer(meta)}."
        if meta.is_vouched_for:
            return "You vouched for it with `memory promote`."
        return "Defrag chose it. It stays until defrag makes it warm, or a note that defrag prefers needs the room."
    if has_passed(meta.expires_at_ms, now_ms):
        return f"It expired on {day_of(meta.expires_at_ms)}; the next defrag archives it."
    if meta.best_tier is not Tier.HOT:
        nearest = "It can be warm at most" if meta.best_tier is Tier.WARM else "No agent sees it unasked"
        return f"{nearest}: {why_not_nearer(meta)}."
    if not is_decided:
        return "No defrag has decided yet what is hot; `memory defrag` does."
    if not is_seen:
        return "It was written after the last defrag; the next one looks at it."
    if meta.valid_until_ms is not None and meta.valid_until_ms <= now_ms:
        return f"It stopped being true on {day_of(meta.valid_until_ms)}."
    return "It could be hot, but others rank before it. `memory pin` makes it hot for good."


@frozen
class NoteHistory:
    """The answer of `memory why ID`, without the body."""

    id: str
    asked: str
    """The id that was asked for; it may be an alias."""
    title: str
    kind: Kind
    status: Status
    scope: str
    path: str
    archived: bool
    origin: Origin
    promoted_by: str | None
    said_by: str
    created_at_ms: int
    updated_at_ms: int
    sources: tuple[ToldSource, ...]
    history: tuple[HistoryEvent, ...]
    """Oldest first."""
    commits: tuple[Revision, ...]
    """Newest first."""
    aliases: tuple[str, ...]
    merged: tuple[NamedNote, ...]
    supersedes: tuple[NamedNote, ...]
    superseded_by: tuple[NamedNote, ...]
    tier: TierStanding
    usage: Usage
    told: tuple[str, ...]
    """Where it is told, in sentences."""
    unread: tuple[str, ...]
    """What could not be read, one sentence each: more may be unknown."""
    unmerged: str = ""
    """`branch x, not found in main`, if it comes from unmerged branches alone."""
    grounding: tuple[Grounding, ...] = ()


# -- a note: its versions ---------------------------------------------------------------------------------------------


@frozen
class NoteVersion:
    """One step of a note's text: what came after the version that was replaced at that time."""

    at_ms: int | None
    diff: tuple[str, ...]


@as_result
def note_versions(root: str, stored: StoredEntry) -> tuple[NoteVersion, ...]:
    """Returns how the text became what it is, newest first, as far as the archive keeps earlier versions. A version that was
    secret is left out."""
    directory = f"{ARCHIVE}/{stored.meta.id}"
    names = sorted(names_below(root, directory), key=lambda name: (len(name), name))[-20:]
    images = [read_image(root, path) for path in (*(f"{directory}/{name}" for name in names), stored.listed.path)]
    known = [(image, read_note(image.data, stored.listed.path, 0)) for image in images if image is not None]
    texts = [image.data.decode("utf-8", "replace") for image, note in known if not note.meta.is_secret]
    return tuple(
        NoteVersion(int(name.removesuffix(".md")) if name.removesuffix(".md").isdigit() else None, diff_of_texts(*pair))
        for name, pair in reversed(list(zip(names, pairwise(texts), strict=False)))
    )


@as_result
def note_history(
    id: str,
    reading: Reading,
    log: RunLog,
    revisions_of: Callable[[str, int], Result[tuple[Revision, ...], Error]],
    told_where: Callable[[Listed], tuple[str, ...]],
    grounding: Callable[[StoredEntry], tuple[Grounding, ...]] = lambda _: (),
) -> NoteHistory:
    """Returns the history of the live note with this id or alias, else of the archived one. `revisions_of` returns the
    newest commits that touched a path, up to a limit.

    EntryProtected where an agent asks for a secret note. A run log or a repository that cannot be read leaves a gap in
    the history, and is named, as is each unreadable note and run.
    """
    store = reading.store
    try:
        stored = read_anywhere(store, id)
    except EntryNotFound as absent:
        known = () if reading.caller.is_agent else log.runs(MOST_RUNS).value_or(())
        events = events_of(frozenset({absent.id}), known)
        back = [
            f"`memory undo {short_id(each.run_id)}` brings it back" for each in events[-1:] if each.kind == "remove"
        ]
        raise EntryNotFound(absent.id, past="; ".join((*(each.sentence for each in events), *back))) from None
    meta, listed = stored.meta, stored.listed
    reading.require_shown(id, meta, "an explanation")
    listings = unwrap(store.listings())
    live, archive = ({each.meta.id: each for each in reading.seen(listing.entries)} for listing in listings)
    everything = (*live.values(), *archive.values())
    totals, tiers, now_ms = unwrap(reading.ledger.totals()), unwrap(store.tiers()), reading.clock.now_ms()
    logged, revisions = log.runs(MOST_RUNS), revisions_of(listed.path, 50)
    runs = logged.value_or(())
    events = events_of(frozenset(meta.all_ids), runs)
    # Has a defrag looked at the store since the note was written, and was there one at all?
    tierings = [run.started_at_ms for run in runs if run.machine == "defrag" and run.result == "completed"]
    written = max((each.at_ms for each in events if meta.id in each.new_ids), default=meta.created_at_ms)
    usage, tier = reads_of(meta, totals), tiers.of(meta.id)
    if meta.pinned and meta.best_tier is Tier.HOT:
        tier = Tier.HOT
    reasons: tuple[str, ...] = ("It is archived.",)
    if not listed.archived:
        is_decided = bool(tierings) or isinstance(logged, Failure)
        is_seen = not tierings or max(tierings) >= written
        reasons = (_SHOWN[tier], why_in_tier(meta, tier, now_ms, is_decided=is_decided, is_seen=is_seen))
    return NoteHistory(
        id=meta.id,
        asked=id,
        title=meta.title,
        kind=meta.kind,
        status=meta.status,
        scope=meta.scope,
        path=listed.path,
        archived=listed.archived,
        origin=meta.origin,
        promoted_by=meta.promoted_by,
        said_by=said_by(meta),
        created_at_ms=meta.created_at_ms,
        updated_at_ms=meta.updated_at_ms,
        sources=tuple(map(ToldSource.of, meta.sources)),
        history=events,
        commits=revisions.value_or(()),
        aliases=meta.aliases,
        merged=named(archive[each] for each in meta.aliases if each in archive),
        supersedes=named(each for each in everything if each.meta.id in meta.supersedes),
        superseded_by=named(each for each in everything if meta.id in each.meta.supersedes),
        tier=TierStanding(tier, meta.best_tier, meta.pinned, reasons, score_parts(meta, usage, now_ms).rounded),
        usage=usage,
        told=told_where(listed),
        grounding=grounding(stored),
        unread=(*warning_of(logged), *warning_of(revisions), *unread_runs(runs), *unread_notes(*listings)),
    )


# -- the notes as they were, from the history in git: at an instant, or at a commit -----------------------------------
# Changes nothing, and brings nothing back that was forgotten or is secret by now: git still holds it, unless it was
# purged.

_LIVE = "topics/"
Forgotten: TypeAlias = tuple[Sequence[EntryTombstone], Collection[str]]
"""What was forgotten, and the ids of the notes that are there today."""


def commit_at(git: GitProcess, when: int | str) -> str | None:
    """Returns the last commit by an instant (epoch ms), None before the first one; or the one that this id names, which
    may be abbreviated. Raises UsageInvalid if there is no such commit, or no history."""
    if not exists(str(git.root / ".git")):
        raise UsageInvalid(f"{git.root} has no git history")
    if isinstance(when, int):
        return git.must("rev-list", "--max-count=1", f"--before=@{when // 1000}", "HEAD").decode().strip() or None
    if not (found := git.run("rev-parse", "--verify", "--quiet", f"{when}^{{commit}}")).ok:
        raise UsageInvalid(f"The history of the store has no commit {when}; `git -C {git.root} log` lists them")
    return found.text


def notes_at(
    git: GitProcess, commit: str | None, forgotten: Forgotten, secret: Collection[str]
) -> Iterator[tuple[Meta, str]]:
    """Yields the live notes at a commit, each with its text; none that is forgotten, or secret then or by now (`secret`, ids),
    nor a file that is not a valid note."""
    tree = {path: blob for path, blob in _tree(git, commit).items() if path.startswith(_LIVE)}
    contents = contents_of(git, tree.values())
    for path in sorted(tree):
        try:
            note = read_note(contents.get(tree[path], b""), path, 0)
        except EntryUnreadable:
            continue
        is_secret = note.meta.is_secret or any(id in secret for id in note.meta.all_ids)
        if not (is_secret or _is_forgotten(forgotten, path, contents[tree[path]])):
            yield note.meta, note.body


def changes_since(git: GitProcess, commit: str | None, forgotten: Forgotten) -> Footprint:
    """Returns what the newest commit has that this one had not, and the reverse: notes but for forgotten ones, archive and
    tiers."""
    before, after = _tree(git, commit), _tree(git, "HEAD")
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    contents = contents_of(git, {tree[path] for tree in (before, after) for path in paths if path in tree})

    def state(tree: Mapping[str, str], path: str) -> FileState | None:
        return FileState(contents[tree[path]]) if tree.get(path) in contents else None

    def is_seen(path: str) -> bool:
        blobs = (tree[path] for tree in (before, after) if path in tree)
        return not any(_is_forgotten(forgotten, path, contents.get(blob, b"")) for blob in blobs)

    seen = filter(is_seen, paths)
    return Footprint(tuple(FileChange(path, state(before, path), state(after, path)) for path in seen))


def _is_forgotten(forgotten: Forgotten, path: str, data: bytes) -> bool:
    """Returns whether this is a file of a forgotten note, or says what one said under another id that is no more."""
    tombstones, there = forgotten
    try:
        note = read_note(data, path, 0)
    except EntryUnreadable:
        return any(each.id in path for each in tombstones)
    said_again = forgotten_note(tombstones, note.meta.title, note.body, note.meta.updated_at_ms) is not None
    ids = {each.id for each in tombstones}
    return (said_again and note.meta.id not in there) or not ids.isdisjoint(note.meta.all_ids)


def _tree(git: GitProcess, commit: str | None) -> Mapping[str, str]:
    """Returns the blob at each path of a note or of the tiers."""
    if commit is None:
        return {}
    listed = git.must("ls-tree", "-r", "-z", commit, "--", "topics", "archive", TIERS_FILE).decode(
        "utf-8", "surrogateescape"
    )
    rows = (row.partition("\t") for row in listed.split("\0") if row)
    return {path: facts.split(" ")[2] for facts, _, path in rows if facts.startswith("100")}
