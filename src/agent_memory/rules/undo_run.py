"""What an undo comes to: its values, its words, and what stands in its way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from attrs import field, frozen

from agent_memory.note.vocabulary import TierList
from agent_memory.rules.change import FileChange, hash_of
from agent_memory.rules.run_log import LoggedAction, LoggedRun, short_id
from agent_memory.text.plain_text import SomeText, counted

MOST_REASONS = 10
_ACTS = {
    "replace": "put back as {it} was",
    "restore": "brought back from the archive",
    "create": "brought back",
    "remove": "taken away",
    "retire": "moved to the archive",
}
"""By what undoing did to an entry; in the order in which it is told."""


@frozen
class SectionLeft:
    """A managed section that was not put back."""

    path: str
    reason: str


@frozen
class Undone:
    """An undo that was carried out, or in a dry run could be."""

    run_id: str
    """Of the undo itself; empty in a dry run."""
    undid: LoggedRun
    root: LoggedRun
    """Where an undo was undone: the run that stands again by it; else the same as `undid`."""
    actions: tuple[LoggedAction, ...] = ()
    sections: tuple[str, ...] = ()
    left: tuple[SectionLeft, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    dry_run: bool = False


def called(run: LoggedRun) -> str:
    """`the defrag run 4dbfbe`."""
    what = "undo" if run.machine == "undo" else f"{run.machine} run"
    return f"the {what} {short_id(run.run_id)}"


def did_what(undid: LoggedRun, root: LoggedRun) -> str:
    """One line for the log: `undid the defrag run 4dbfbe (2 merged)`, or for a redo that it stands again."""
    said = f" ({root.summary})" if root.summary else ""
    return f"made {called(root)} stand again{said}" if undid.machine == "undo" else f"undid {called(root)}{said}"


def sentence_of(undone: Undone) -> str:
    """`Undid the defrag run 4dbfbe (2 merged): 2 notes put back as they were, 1 taken away, 1 managed section restored`."""
    counts = Counter(each.kind for each in undone.actions)
    parts: list[str] = []
    for act, words in _ACTS.items():
        if number := counts[act]:
            noun = "" if parts else f" {'note' if number == 1 else 'notes'}"
            parts.append(f"{number}{noun} {words.replace('{it} was', 'it was' if number == 1 else 'they were')}")
    if not undone.actions and undone.root.machine == "defrag":
        parts.append("tiers put back as they were")
    if undone.sections:
        parts.append(f"{counted(len(undone.sections), 'managed section')} restored")
    what = did_what(undone.undid, undone.root)
    said = f"{what[:1].upper()}{what[1:]}: {', '.join(parts) or 'no note differs by it'}"
    return f"A dry run. {said}" if undone.dry_run else said


def commit_words(undone: Undone) -> tuple[str, str]:
    root = undone.root
    act = "redo" if undone.undid.machine == "undo" else "undo"
    subject = f"{act}: {root.summary or root.machine} ({root.machine} {short_id(root.run_id)})"
    signs = {"create": "+", "restore": "+", "replace": "~", "retire": "-", "remove": "-"}
    lines = [f"{signs[each.kind]} {' '.join(each.all_ids)} {each.words}".rstrip() for each in undone.actions]
    return subject, "\n".join((f"Run {undone.undid.run_id}, by {undone.run_id}", *lines))


def cut_reasons(reasons: Sequence[str]) -> tuple[str, ...]:
    """The first few reasons, and how many more there are."""
    more = len(reasons) - MOST_REASONS
    return tuple(reasons) if more <= 0 else (*reasons[:MOST_REASONS], f"and {more} more such")


@frozen
class SectionChange:
    """How a run changed the managed section of one target."""

    path: SomeText
    """Absolute, of the real file."""
    before: str | None
    """The section with its markers; None where there was none."""
    after: str | None
    separator: str = ""
    """What was put between the file's own text and a section that was appended."""
    created: bool = False


@frozen
class Footprint:
    """The files under the root in the order in which they were changed, and the sections. Neither may be absent in a file: half of
    a footprint must not be undone."""

    files: tuple[FileChange, ...] = field(default=(), metadata={"stated": True})
    sections: tuple[SectionChange, ...] = field(default=(), metadata={"stated": True})


@frozen
class Folded:
    """What a run came to."""

    files: tuple[FileChange, ...]
    """One for each path, in the order of the last change of each; none for a file that is as it was before."""
    interrupted: tuple[str, ...] = ()
    """Paths that somebody else changed between two changes of the run: the first `before` does not hold their work."""


def fold_files(changes: Sequence[FileChange]) -> Folded:
    """The changes, as if each file had been changed once."""
    whole: dict[str, FileChange] = {}
    interrupted: dict[str, None] = {}
    for change in changes:
        earlier = whole.pop(change.path, None)
        if earlier is not None and hash_of(earlier.after) != hash_of(change.before):
            interrupted[change.path] = None
        whole[change.path] = change if earlier is None else FileChange(change.path, earlier.before, change.after)
    files = tuple(each for each in whole.values() if hash_of(each.before) != hash_of(each.after))
    return Folded(files, tuple(interrupted))


# -- tiers ------------------------------------------------------------------------------------------------------------


def reverse_tiers(now: TierList, before: TierList, after: TierList) -> TierList:
    """`now`, but with each entry that went from one tier to another between `before` and `after`, and has stayed there
    since, back in the tier that it had, behind the entry that it followed in `before`."""
    known = {id for tiers in (before, after) for id in (*tiers.hot, *tiers.warm)}
    back = {id for id in known if before.of(id) is not after.of(id) and now.of(id) is after.of(id)}
    return TierList(_with_back(now.hot, before.hot, back), _with_back(now.warm, before.warm, back))


def _with_back(now: Sequence[str], before: Sequence[str], back: set[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(id for id in now if id not in back)
    following: defaultdict[str | None, list[str]] = defaultdict(list)
    predecessor: str | None = None
    for id in before:
        if id in back:
            following[predecessor].append(id)
        elif id in kept:
            predecessor = id
    return (*following[None], *(each for id in kept for each in (id, *following[id])))
