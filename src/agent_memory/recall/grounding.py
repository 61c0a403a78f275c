"""Whether the files that a note names are still there, in the checkout that asks.

Git knows: the note's commit says what was there, and only a commit that took a file away since makes it gone. So a word that
looks like a path, a file of another branch, and whatever git cannot tell in time are never gone. It detects change, not
falsehood. Imports C modules only, since hooks use it.
"""

import os
import time

from agent_memory.capture.places import git_says, known_places
from agent_memory.capture.repository import Repository, read_repository
from agent_memory.files.root import home_of
from agent_memory.text.json_shape import Record
from agent_memory.text.value_rules import commit_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent_memory.note.note import Meta
    from agent_memory.recall.assembling import Passage

FRESH, CHANGED, GONE, UNKNOWN = "fresh", "changed", "gone", "unknown"

HOOK_SECONDS = 0.3
"""How long git may take before notes are told without a mark."""
COMMAND_SECONDS = 3.0

_MOST_NAMES = 40
"""How many files of one note are looked for."""
_MOST_CHARS = 200
_MOST_TEXT = 1 << 16
_MOST_ARGUMENTS = 1_000_000
"""How many characters of paths git is given."""
_FEW_REMOVED = 20
_MOST_COMPARED = 8
_MOST_MOVES = 4
"""How often a file may have been renamed since."""
_KEPT_RANK = frozenset(("hot", "recovery"))


class Named(Record):
    """The files that a note names, and since when."""

    names: tuple[str, ...] = ()
    commit: str = ""
    """What was checked out when the note was learnt; empty if that is unknown."""
    since_ms: int = 0


class Grounding(Record):
    """What became of one file that a note names."""

    path: str
    state: str
    now: str = ""
    """Its present path, if it was renamed."""
    commit: str = ""
    """The commit that removed it."""
    removed_s: int = 0

    @property
    def document(self) -> "dict[str, str | None]":
        return {"path": self.path, "state": self.state, "now": self.now or None}


# -- names ------------------------------------------------------------------------------------------------------------


def names_in(text: str) -> tuple[str, ...]:
    """Returns the paths in a text, relative to the top of a work tree: words with a slash, or with the ending of a file. No
    globs, no addresses, and nothing that leads out of the work tree."""
    import re

    found: dict[str, None] = {}
    for word in re.findall(r"[^\s`\"'“”‘’«»()<>|,;]+", text[:_MOST_TEXT]):
        bare = word[: 2 * _MOST_CHARS].removeprefix("./").rstrip(".:!?…")
        # The path of `path:symbol`, `path:12`, `path#L3`. In a word of 60,000 colons the search would take a minute.
        path = re.sub(r"(?:::?|#)[\w.:-]*$", "", bare) if "//" not in bare else ""
        if len(path) <= _MOST_CHARS and re.fullmatch(r"(?:[\w.@+=-]+/)+[\w.@+=-]*|[\w.@+=-]*\w\.[A-Za-z]\w{0,9}", path):
            parts = path.rstrip("/").split("/")
            if not {"", ".", "..", ".git"}.intersection(parts):
                found["/".join(parts)] = None
        if len(found) == _MOST_NAMES:
            break
    return tuple(found)


def named_by(meta: "Meta", text: str, scope: str) -> Named:
    """Returns the files of a repository that a note names; none if it was not learnt there."""
    sources = [each for each in meta.sources if each.repo == scope or meta.scope == scope]
    if not sources and meta.scope != scope:
        return Named()
    commits = [each.commit for each in sources if each.commit and commit_problem(each.commit) is None]
    return Named(names_in(text), commits[-1] if commits else "", meta.created_at_ms)


# -- facts ------------------------------------------------------------------------------------------------------------


class _Silent(Exception):
    """Git does not answer."""


class _Facts:
    """What git says about some names, each question asked once for all of them."""

    def __init__(self, where: Repository, seconds: float) -> None:
        self.common, self.head, self.top = where.common or "", where.commit or "", where.top
        self.until = time.monotonic() + seconds
        self.objects: dict[str, str] = {}
        """`<id> <type>` by `<commit>:<path>`; empty for nothing."""
        self.renames: dict[str, str] = {}
        self.removals: dict[str, tuple[str, int]] = {}
        """The last commit that removed a file, and when."""
        self.later: dict[tuple[str, str], bool] = {}
        """Whether the first commit is not in the history of the second."""
        self.traced: set[str] = set()
        """The removed names whose new names would be known."""

    def ask(self, *words: str, told: "Iterable[str]" = ()) -> str:
        left = self.until - time.monotonic()
        lines = "".join(f"{each}\n" for each in told)
        said = git_says(self.common, *words, told=lines, seconds=left) if left > 0 else None
        if said is None:
            raise _Silent
        return said

    def look_up(self, objects: "Iterable[str]") -> None:
        # A name with a line break would be asked about as two.
        new = [each for each in dict.fromkeys(objects) if each not in self.objects and each.isprintable()]
        if new:
            lines = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", told=new).split("\n")
            kinds = (" blob", " tree", " commit")
            self.objects.update(zip(new, (each if each.endswith(kinds) else "" for each in lines), strict=False))

    def has(self, commit: str) -> bool:
        return bool(self.objects.get(f"{commit}^{{commit}}"))

    def at(self, commit: str, path: str) -> str:
        return self.objects.get(f"{commit}:{path}", "")

    def is_absent(self, path: str) -> bool:
        """Returns whether neither the commit that is checked out nor the work tree has it. No link is followed: what is
        behind one may lie elsewhere."""
        if self.at(self.head, path):
            return False
        at = self.top
        for part in path.split("/"):
            at = f"{at}/{part}"
            try:
                if os.path.islink(at):
                    return False
                os.lstat(at)
            except (FileNotFoundError, NotADirectoryError):
                return True
            except (OSError, ValueError):
                return False
        return False

    def find_removals(self, names: "Sequence[str]", since: "Sequence[str]") -> "Sequence[str]":
        """Finds the last commit that removed each of these names; returns those commits."""
        options = ("--no-show-signature", "--no-ext-diff", "--no-renames", "--diff-filter=D", "--name-only", "-c", "-z")
        said = self.ask("--literal-pathspecs", "log", *options, "--format=%x01%H %ct", *since, "--", *names)
        removing: dict[str, None] = {}
        commit, at_s = "", "0"
        for field in said.split("\0"):
            if field[:1] == "\x01":  # a path begins with one of the names
                commit, _, at_s = field[1:].partition(" ")
                removing[commit] = None
            path = field.removeprefix("\n")
            for name in names:
                if path == name or path.startswith(f"{name}/"):
                    self.removals.setdefault(name, (commit, int(at_s)))
        return tuple(removing)

    def find_renames(self, names: "Sequence[str]", pairs: "Sequence[str]") -> None:
        """Finds what git takes for the new names of these, from one commit to another, or in one commit: a pair of trees is
        named in the reverse order. All other files would take seconds to compare."""
        from itertools import pairwise

        options = ("diff-tree", "--stdin", "-r", "-z", "--no-ext-diff")
        listed = self.ask(*options, "--no-renames", "--diff-filter=AD", "--name-status", told=pairs).split("\0")
        added = dict.fromkeys(path for state, path in pairwise(listed) if state == "A")
        # Few removed files are compared at once; to pick the names out of a large tree takes longer.
        paths = (*names, *added) if listed.count("D") > _FEW_REMOVED else ()
        if sum(map(len, paths)) > _MOST_ARGUMENTS:
            raise _Silent
        shown = ("-M", "--name-status", "--diff-filter=R")
        said = self.ask("--literal-pathspecs", *options, *shown, "--", *paths, told=pairs)
        fields = iter(said.split("\0"))
        for field in fields:
            if field[:1] == "R" and field[1:].isdigit():
                old = next(fields, "")
                self.renames.setdefault(old, next(fields, ""))

    def new_name(self, name: str) -> "str | None":
        """Returns the new name of a file or directory; empty if it is not one, None if nothing was renamed."""
        if name in self.renames:
            return self.renames[name]
        begin = f"{name}/"
        moved = {
            new.removesuffix(old[len(name) :]) if new.endswith(old[len(name) :]) else ""
            for old, new in self.renames.items()
            if old.startswith(begin)
        }
        return None if not moved else next(iter(moved)) if len(moved) == 1 else ""


def look_at(where: Repository, notes: "Sequence[Named]", seconds: float) -> tuple[tuple[Grounding, ...], ...]:
    """Returns for each note what became of the files that it names; what never was a file there is left out. All is unknown
    if git does not answer in time."""
    if where.common is None or where.commit is None or not any(each.names for each in notes):
        return tuple(() for _ in notes)
    notes = [Named(each.names, each.commit, each.since_ms) for each in notes]
    facts = _Facts(where, seconds)
    try:
        facts.look_up(f"{each.commit}^{{commit}}" for each in notes if each.commit)
        for each in notes:
            if not facts.has(each.commit):
                each.commit = ""
        heads = (f"{facts.head}:{name}" for each in notes for name in each.names)
        facts.look_up((*heads, *(f"{each.commit}:{name}" for each in notes if each.commit for name in each.names)))
        _trace(facts, [each for each in notes if each.commit])
        _trace(facts, [each for each in notes if not each.commit])
        return tuple(
            tuple(found for name in each.names if (found := _state(facts, each, name)) is not None) for each in notes
        )
    except _Silent:
        return tuple(tuple(Grounding(name, UNKNOWN) for name in each.names) for each in notes)


def _trace(facts: _Facts, notes: "Sequence[Named]") -> None:
    """Finds what became of the names that are absent, as far as there is time."""
    from contextlib import suppress

    absent = {name for each in notes for name in each.names if facts.is_absent(name)}
    if not absent:
        return
    commits = sorted({each.commit for each in notes if each.commit and absent.intersection(each.names)})
    since = [facts.head]
    if not commits:
        since += [f"--max-age={min(each.since_ms for each in notes) // 1000}"]
    else:
        with suppress(_Silent):  # they may have no common ancestor
            since += [f"^{facts.ask('merge-base', '--octopus', *commits).strip()}"]
    with suppress(_Silent):
        for _ in range(_MOST_MOVES):
            removing = facts.find_removals(sorted(absent), since)
            removed = sorted(name for name in absent if name in facts.removals)
            if not removed:
                return
            facts.find_renames(removed, removing)
            # What was first copied and then removed has not been renamed by one commit.
            left = [name for name in removed if facts.new_name(name) is None]
            had = {name: next((each for each in commits if facts.at(each, name)), "") for name in left}
            before = sorted(filter(None, set(had.values())))[:_MOST_COMPARED]
            if before:
                facts.find_renames(left, [f"{facts.head} {each}" for each in before])
            facts.traced.update(name for name in removed if had.get(name, "") in ("", *before))
            ends = {new for name in removed if (new := facts.new_name(name))}
            facts.look_up(f"{facts.head}:{each}" for each in ends)
            absent = {each for each in ends - facts.traced if facts.is_absent(each)}
            if not absent:
                return


def _state(facts: _Facts, note: Named, name: str) -> "Grounding | None":
    before, now = facts.at(note.commit, name), facts.at(facts.head, name)
    if now:
        if not before:
            return Grounding(name, UNKNOWN)
        is_same = before == now or (before.endswith("tree") and now.endswith("tree"))
        return Grounding(name, FRESH if is_same else CHANGED)
    unknown = Grounding(name, UNKNOWN) if before else None
    if not facts.is_absent(name):
        return unknown
    removal = facts.removals.get(name)
    if removal is None or not _is_since(facts, removal, note):
        return unknown
    new = name
    for _ in range(_MOST_MOVES):
        found = facts.new_name(new)
        if new not in facts.traced:
            return unknown
        if found is None:
            return Grounding(name, GONE, "", *facts.removals.get(new, removal))
        new = found
        if not new or not facts.is_absent(new):
            return Grounding(name, CHANGED, new if (new,) == names_in(f"{new}/") else "")
    return unknown


def place_with(scope: str, environ: "Mapping[str, str]", root: str) -> Repository:
    """Returns the main work tree of a repository that is known on this machine, as it is checked out."""
    known = known_places(environ, root)
    for place in known.all() if known is not None else ():
        if place.scope == scope:
            there = read_repository(place.common.removesuffix("/.git"), environ, home_of(environ))
            if there.common == place.common:
                return there
    return Repository()


def _is_since(facts: _Facts, removal: tuple[str, int], note: Named) -> bool:
    """Returns whether the note is older than the removal, by history; by the clock if its commit is unknown."""
    commit, at_s = removal
    if not note.commit:
        return at_s * 1000 >= note.since_ms
    pair = commit, note.commit
    if pair not in facts.later:
        try:
            facts.later[pair] = bool(facts.ask("rev-list", "--max-count=1", commit, f"^{note.commit}"))
        except _Silent:
            return False
    return facts.later[pair]


# -- marks ------------------------------------------------------------------------------------------------------------


def is_gone(found: "Iterable[Grounding]") -> bool:
    """Returns whether something that the note names is gone, and nothing of it is left."""
    states = {each.state for each in found}
    return GONE in states and not states & {FRESH, CHANGED}


def grounding_mark(found: "Sequence[Grounding]") -> str:
    """Returns `src/a.py is gone`, `src/a.py is now lib/a.py`, or nothing."""
    gone = [each.path for each in found if each.state == GONE]
    moved = [f"{each.path} is now {each.now}" for each in found if each.now]
    more = f" and {len(gone) - 1} more are" if len(gone) > 1 else " is"
    return ", ".join((*((f"{gone[0]}{more} gone",) if gone else ()), *moved[:2]))


def grounded(passages: "Sequence[Passage]", where: Repository) -> tuple["Passage", ...]:
    """Returns the passages with their marks; those whose files are gone come last, but for hot ones."""
    found = look_at(where, [Named(each.names, each.commit, each.since_ms) for each in passages], HOOK_SECONDS)
    last = [is_gone(each) and passage.section not in _KEPT_RANK for passage, each in zip(passages, found, strict=True)]
    marked = [each.marked(grounding_mark(states)) for each, states in zip(passages, found, strict=True)]
    return tuple(marked[at] for at in sorted(range(len(marked)), key=last.__getitem__))


def ground_lines(found: "Iterable[Grounding]") -> "Iterator[str]":
    """Yields a line for people about each file."""
    from agent_memory.text.instants import day_of

    for each in found:
        since = f", removed by {each.commit[:7]} on {day_of(each.removed_s * 1000)}" if each.commit else ""
        yield f"{each.path}: {each.state}{f', now {each.now}' if each.now else since}"
