"""Whether the files that a note names are still there, in the checkout that asks.

Git knows: the note's commit says what was there, and only a commit that took a file away since makes it gone. So a word that
looks like a path, a file of another branch, and whatever git cannot tell in time are never gone. It detects change, not
falsehood. What git said of a branch is kept (`.cache/inject`), so it is asked once for each HEAD, and about the commits
since. Imports C modules only, since hooks use it.

Of `path:symbol`, of `make lint` and its like, and of a compound word in backticks (`lamp-oil`, `@me/lamp`; a plain one may mean
anything), only what is gone is told, as `src/a.py:parse_tide` or `Makefile:lint`: the note's commit had the word in that file, in
a manifest as a target, script, key or package, and HEAD descends from it without. Another file may have it now, so the file is
always said.
"""

import os
import time

from agent_memory.capture.places import git_says, known_places, redacted_scope
from agent_memory.capture.repository import Repository, read_repository
from agent_memory.files.durable import read_loosely
from agent_memory.recall.start_cache import keep, read_kept
from agent_memory.text.json_shape import Record
from agent_memory.text.value_rules import commit_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from agent_memory.note.note import Meta
    from agent_memory.recall.assembling import Passage

FRESH, CHANGED, GONE, UNKNOWN = "fresh", "changed", "gone", "unknown"

HOOK_SECONDS = 0.3
"""How long git may take before notes are told without a mark."""
COMMAND_SECONDS = 3.0
UNHURRIED_SECONDS = 60.0
"""For what nobody waits for."""

_MOST_NAMES = 40
"""How many files of one note are looked for."""
_MOST_CHARS = 200
_MOST_WORDS = 5
"""How many words the name of a file has at most, with its ending."""
_MOST_TEXT = 1 << 16
_FEW_REMOVED = 20
_MOST_MOVES = 4
"""How often a file may have been renamed since."""
_MOST_BYTES, _MOST_READ = 1 << 18, 1 << 20
"""How much of a file, and of all, is read to look for words."""
_RUN = {
    "make": ("Makefile", "GNUmakefile", "makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "mise": ("mise.toml", ".mise.toml", ".config/mise", "mise-tasks", ".mise", "mise"),
} | dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",))
"""Where a command finds what it is to run. What a directory has is not looked into: then nothing is gone."""
_MANIFESTS = (
    *(file for tool in ("make", "just", "task", "npm") for file in _RUN[tool]),
    *("CMakeLists.txt", "mise.toml", "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini"),
    *("noxfile.py", "go.mod", "Cargo.toml", "deno.json", "composer.json", "Gemfile", "pom.xml"),
    *("build.gradle", "build.gradle.kts"),
)
"""Where targets, scripts, keys and packages stand, at the top of a work tree."""
_KEPT_RANK = frozenset(("hot", "recovery"))


class Named(Record):
    """The files and words that a note names, and since when: `path`, `path:symbol`, `:word` for one of a manifest, `:make word`."""

    names: tuple[str, ...] = ()
    commit: str = ""
    """What was checked out when the note was learnt; empty if that is unknown."""
    since_ms: int = 0
    cwd: str = ""
    """Where the session was: it may have named files from there."""


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
    def words(self) -> str:
        """Returns the state for people, with the present path or the commit that removed it."""
        from agent_memory.text.instants import day_of

        removed = f", removed by {self.commit[:7]} on {day_of(self.removed_s * 1000)}" if self.commit else ""
        return f"{self.state}, now {self.now}" if self.now else f"{self.state}{removed}"


# -- names ------------------------------------------------------------------------------------------------------------


def names_in(text: str) -> tuple[str, ...]:
    """Returns the paths in a text, relative to the top of a work tree: words with a slash, or with the ending of a file. No
    globs, no addresses, and nothing that leads out of the work tree. Then the others of `Named`."""
    import re

    found: dict[str, None] = {}
    words: dict[str, None] = {}
    text = text[:_MOST_TEXT]
    # With `(group)/` and `[id]`, which are directories of a web page's routes.
    # Before a word, what stands whole in backticks: it may have blanks.
    plain = r"[^\s`\"'“”‘’«»()<>|,;、。，；：（）「」]|\([\w-]+\)(?=/)"
    for each in re.finditer(rf"(?=`([^`\s]+(?: [^`\s]+)+)`)|(?:{plain})+", text):
        word, after = each[1] or each[0], text[each.end() : each.end() + 1]
        if ("/" not in word and "." not in word) or (word.endswith("/") and after in ("(", "<", "'", '"', "|")):
            continue
        bare = word[: 2 * _MOST_CHARS].removeprefix("./").rstrip(".:!?…")
        # The path of `path:symbol`, `path:12`, `path#L3`. In a word of 60,000 colons the search would take a minute.
        path = re.sub(r"(?:::?|#)[\w.:-]*$", "", bare) if "//" not in bare else ""
        symbol = re.search(r"[:.#](?!L\d+$)([A-Za-z_]\w+)$", bare[len(path) :])
        if len(path) <= _MOST_CHARS and re.fullmatch(
            r"(?:[\w.@+=()\[\] -]+/)+[\w.@+=()\[\] -]*|[\w.@+= -]*\w\.[A-Za-z]\w{0,9}", path
        ):
            parts = path.rstrip("/").split("/")
            if not {"", ".", "..", ".git"}.intersection(parts):
                found["/".join(parts)] = None
                words |= {f"{'/'.join(parts)}:{symbol[1]}": None} if symbol else {}
        if len(found) == _MOST_NAMES:
            break
    found |= dict.fromkeys(
        re.findall(r"`((?:[A-Z][a-z]+|make|just)file|LICENSE|README|NOTICE|CODEOWNERS|\.[a-z][\w.-]+)`", text)
    )
    compound = r"[A-Za-z]\w{0,30}[-_:][\w:-]{1,60}|@[\w.-]+/[\w.-]+|[\w-]+\.[a-z]+/[\w./-]+"
    of_npm = "(mise|npm|pnpm|yarn|bun) run|(npm)(?= test| start)|(pnpm|yarn)(?! (?:install|pack|publish|version)\\b)"
    for each in re.finditer(rf"`(?:({compound})`|(?:(make|just|task)|{of_npm}) ([A-Za-z_][\w:-]+)(?=[` ]))", text):
        words[f":{' '.join(filter(None, each.groups()))}"] = None
    return (*found, *words)[:_MOST_NAMES]


def named_by(meta: "Meta", text: str, scope: str) -> Named:
    """Returns the files of a repository that a note names; none if it was not learnt there."""
    sources = [each for each in meta.sources if each.repo == scope or meta.scope == scope]
    if not sources and meta.scope != scope:
        return Named()
    known = [each for each in sources if each.commit and commit_problem(each.commit) is None]
    commit = (known[-1].commit or "") if known else ""
    return Named(names_in(text), commit, meta.created_at_ms, ((known or sources)[-1].cwd or "") if sources else "")


def _files_of(name: str) -> tuple[str, ...]:
    """Returns the files that a name is looked for in."""
    file, _, word = name.partition(":")
    return (file,) if file else _RUN.get(word.partition(" ")[0], _MANIFESTS)


# -- facts ------------------------------------------------------------------------------------------------------------


Pair = tuple[str | int, str]
"""A name, after the commit of its note, or after its time if that is unknown."""


class _Silent(Exception):
    """Git does not answer."""


class _Facts:
    """What git says about some names, each question asked once for all of them. All but `texts` is kept."""

    def __init__(self, where: Repository, seconds: float, root: str) -> None:
        self.root, self.place = root, f"grounding 2\n{where.top}\n{where.branch}"
        self.common, self.head, self.top = where.common or "", where.commit or "", where.top
        self.until = time.monotonic() + seconds
        self.objects: dict[str, str] = {}
        """`<id> <bytes> <type>` by `<commit>:<path>`; empty for nothing. Never of another commit than notes have, or HEAD."""
        self.texts: dict[str, str] = {}
        """The text of a file by the id of its object."""
        self.renames: dict[str, str] = {}
        self.removals: dict[str, tuple[str, int]] = {}
        """The last commit that removed a file, and when."""
        self.later: dict[tuple[str, str], bool] = {}
        """What `is_later` found."""
        self.traced: set[str] = set()
        """The removed names whose new names would be known."""
        self.searched: set[Pair] = set()
        """The absent names whose removals would be known."""
        self.before = ""
        """The HEAD of which this was known; empty if nothing was."""
        self.is_new = False
        self.listed = ""
        """The files of HEAD, if they were asked for."""

    def recall(self) -> None:
        """Takes up what was kept of this branch, if HEAD descends from that."""
        from contextlib import suppress

        self.before, objects, self.later, *since = read_kept(self.root, self.place) or ("", {}, {})
        if self.before and len(objects) < 5_000:
            is_same, commits = self.before == self.head, _commits(since[-1])
            if not is_same and self.before not in commits:
                objects = {key: each for key, each in objects.items() if not key.startswith(self.before)}
            self.objects = objects
            with suppress(_Silent):  # it may have been thrown away
                if is_same or not self.is_later(self.before, self.head):
                    self.removals, self.renames, self.traced, self.searched = since
                    return
        self.before = ""

    def keep(self) -> None:
        if self.is_new:
            objects = {key: each for key, each in self.objects.items() if each or not key.endswith("^{commit}")}
            since = self.removals, self.renames, self.traced, self.searched
            keep(self.root, self.place, (self.head, objects, self.later, *since))

    def ask(self, *words: str, told: "Iterable[str]" = ()) -> str:
        self.is_new = True
        lines = "".join(f"{each}\n" for each in told)
        said = git_says(self.common, *words, told=lines, seconds=self.until - time.monotonic())
        if said is None:
            raise _Silent
        return said

    def look_up(self, objects: "Iterable[str]") -> None:
        # A name with a line break would be asked about as two.
        new = [each for each in dict.fromkeys(objects) if each not in self.objects and each.isprintable()]
        if new:
            facts = "%(objectname) %(objectsize) %(objecttype)"
            lines = self.ask("cat-file", f"--batch-check={facts}", told=new).split("\n")
            kinds = (" blob", " tree", " commit")
            self.objects.update(zip(new, (each if each.endswith(kinds) else "" for each in lines), strict=False))

    def has(self, commit: str) -> bool:
        return bool(self.objects.get(f"{commit}^{{commit}}"))

    def at(self, commit: "str | int", path: str) -> str:
        return self.objects.get(f"{commit}:{path}", "")

    def read(self, objects: "Iterable[tuple[str, str]]") -> None:
        """Reads the files at these commits and paths, but for large ones."""
        sizes: dict[str, int] = {}
        for commit, path in dict.fromkeys(objects):
            id, _, size = self.at(commit, path).removesuffix(" blob").partition(" ")
            if size.isdigit() and int(size) <= _MOST_BYTES and sum(sizes.values()) < _MOST_READ:
                sizes[id] = int(size)
        mark = os.urandom(16).hex()  # which no file holds
        for part in self.ask("cat-file", f"--batch={mark}%(objectname)", told=sizes).split(mark)[1:] if sizes else ():
            id, _, self.texts[id] = part.partition("\n")

    def text(self, commit: str, path: str) -> "str | None":
        """Returns what was read; empty for no file, None if it was not read."""
        found = self.at(commit, path)
        return self.texts.get(found.partition(" ")[0]) if found else ""

    def draft(self, path: str) -> "str | None":
        """Returns the text in the work tree; empty for no file, None if it cannot be read."""
        found = read_loosely(f"{self.top}/{path}", _MOST_BYTES + 1)
        is_known = len(found) <= _MOST_BYTES if found else not os.path.lexists(f"{self.top}/{path}")
        return found.decode("utf-8", "replace") if is_known else None

    def is_later(self, commit: str, other: str) -> bool:
        """Returns whether the first commit is not in the history of the second."""
        pair = commit, other
        if pair not in self.later:
            self.later[pair] = bool(self.ask("rev-list", "--max-count=1", commit, f"^{other}"))
        return self.later[pair]

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

    def is_below(self, file: str) -> bool:
        """Returns whether a directory has a file of this name too, which may be meant: `index.ts`, a package's manifest."""
        self.listed = self.listed or self.ask("ls-tree", "-r", "-z", "--name-only", self.head)
        return f"/{file}\0" in self.listed

    def behind(self, names: "Sequence[str]") -> "Sequence[str]":
        """Returns those of these that lie in a submodule: a clone without its files cannot tell."""
        above = {"/".join(parts[:end]) for name in names if (parts := name.split("/")) for end in range(1, len(parts))}
        said = self.ask("--literal-pathspecs", "ls-tree", "-z", self.head, "--", *sorted(above)) if above else ""
        modules = tuple(f"{each.partition(chr(9))[2]}/" for each in said.split("\0") if each.startswith("160000 "))
        return [name for name in names if name.startswith(modules)]

    def ignored(self, names: "Iterable[str]") -> "Sequence[str]":
        """Returns those of these that git ignores there, files or directories: they come back with the next build."""
        command = (f"--work-tree={self.top}", "check-ignore", "--stdin", "-z")
        asked = "".join(f"{each}/\0" for each in names)
        said = git_says(self.common, *command, told=asked, seconds=self.until - time.monotonic()) if asked else ""
        if said is None and time.monotonic() > self.until:  # else it ignores none, and says so by its exit code
            raise _Silent
        return (said or "").split("/\0")

    def find_removals(self, names: "Sequence[str]", since: "Sequence[str]") -> "Sequence[str]":
        """Finds the last commit that removed each of these names, if it is among those asked; returns those commits."""
        options = ("--no-show-signature", "--no-ext-diff", "--no-renames", "--diff-filter=D", "--name-only", "-c", "-z")
        said = self.ask("--literal-pathspecs", "log", *options, "--format=%x01%H %ct", *since, "--", *names)
        removing: dict[str, None] = {}
        found: dict[str, tuple[str, int]] = {}
        commit, at_s = "", "0"
        for field in said.split("\0"):
            if field[:1] == "\x01":  # a path begins with one of the names
                commit, _, at_s = field[1:].partition(" ")
                removing[commit] = None
            path = field.removeprefix("\n")
            self.renames.pop(path, None)  # it was there again, and may have another new name
            for name in names:
                if path == name or path.startswith(f"{name}/"):
                    found.setdefault(name, (commit, int(at_s)))
        self.removals |= found
        return tuple(removing)

    def find_renames(self, names: "Sequence[str]", pairs: "Sequence[str]", among: "Sequence[str]" = ()) -> None:
        """Finds what git takes for the new names of these, from one commit to another, or in one commit: a pair of trees is
        named in the reverse order. Only files added there, or in `among`, are compared: all would take seconds. Of commits that
        may lie far apart, only what has the same name or nearly all of the text: two small files may share a licence."""
        from itertools import pairwise

        options = ("diff-tree", "--stdin", "-r", "-z", "--no-ext-diff")
        shown = "--no-renames", "--diff-filter=AD", "--name-status"
        listed = self.ask(*options, *shown, told=among or pairs).split("\0") if names and pairs else ()
        added = dict.fromkeys(path for state, path in pairwise(listed) if state == "A")
        if not added:
            return
        # Few removed files are compared at once; to pick the names out of a large tree takes longer.
        paths = (*names, *added) if among or listed.count("D") > _FEW_REMOVED else ()
        if sum(map(len, paths)) > 1_000_000:  # too long for a command
            raise _Silent
        renamed = (*options, "-M", "--no-rename-empty", "--name-status", "--diff-filter=R")
        fields = iter(self.ask("--literal-pathspecs", *renamed, "--", *paths, told=pairs).split("\0"))
        base = os.path.basename
        bases = [base(each) for each in added] if " " in pairs[0] else []
        for field in fields:
            if field[:1] == "R" and field[1:].isdigit():
                old, new = next(fields, ""), next(fields, "")
                is_same = field > "R090" or base(old) == base(new)
                if bases and not (is_same and bases.count(base(new)) == 1):
                    continue
                if any(f"{old}/".startswith(f"{name}/") for name in names) and redacted_scope(old) == old:
                    self.renames.setdefault(old, new if redacted_scope(new) == new else "")

    def new_name(self, name: str) -> "str | None":
        """Returns the new name of a file, or of a directory that of most of its files; empty if it is not one, None if nothing
        was renamed."""
        if name in self.renames:
            return self.renames[name]
        begin = f"{name}/"
        moved = [
            new.removesuffix(old[len(name) :]) if new.endswith(old[len(name) :]) else ""
            for old, new in self.renames.items()
            if old.startswith(begin)
        ]
        most = max(set(moved), key=moved.count, default=None)
        return most if most is None or 2 * moved.count(most) > len(moved) else ""


def look_at(
    where: Repository, notes: "Sequence[Named]", seconds: float, root: str
) -> tuple[tuple[Grounding, ...], ...]:
    """Returns for each note what became of the files that it names, and which words are gone; what never was a file there is
    left out. All is unknown if git does not answer in time. `root` is of the store that keeps what git said."""
    if where.common is None or where.commit is None or not any(each.names for each in notes):
        return tuple(() for _ in notes)
    facts = _Facts(where, seconds, root)
    try:
        facts.recall()
        facts.look_up(f"{each.commit}^{{commit}}" for each in notes if each.commit)
        pairs = _from_the_top(notes, facts)
        asked = list(dict.fromkeys(pair for some in pairs for pair in some))
        paths = [pair for pair in asked if ":" not in pair[1]]
        words = [(commit, name) for commit, name in asked if isinstance(commit, str) and ":" in name]
        files = [*paths, *((commit, file) for commit, word in words for file in _files_of(word))]
        facts.look_up(
            (
                *(f"{facts.head}:{file}" for _, file in files),
                *(f"{at}:{file}" for at, file in files if isinstance(at, str)),
            )
        )
        _trace(facts, paths)
        found = _gone_words(facts, words)
        for pair in paths:
            if (state := _state(facts, *pair)) is not None:
                found[pair] = state
        facts.keep()
        return tuple(tuple(found[pair] for pair in some if pair in found) for some in pairs)
    except _Silent:
        return tuple(tuple(Grounding(name, UNKNOWN) for name in each.names if ":" not in name) for each in notes)


def _from_the_top(notes: "Sequence[Named]", facts: _Facts) -> "list[list[Pair]]":
    """Returns the names of each note as paths from the top of the work tree. A session in a directory below names files from
    there, or from one above: the deepest that was there at the note's commit is meant. What cannot be told is left out."""
    tops = facts.top, facts.common.removesuffix("/.git")
    above = [_above(each.cwd, tops) for each in notes]
    commits = [each.commit if facts.has(each.commit) else "" for each in notes]
    dirs = [(at, each) for at, (_, some) in zip(commits, above, strict=True) if at for each in some]
    facts.look_up(f"{commit}:{each}" for commit, each in dirs)
    begins = [
        [f"{each}/" for each in some if facts.at(at, each).endswith("tree")]
        for at, (_, some) in zip(commits, above, strict=True)
    ]
    facts.look_up(
        f"{at}:{begin}{file}"
        for at, note, some in zip(commits, notes, begins, strict=True)
        for begin in (*some, *("",)[: len(some)])
        for name in note.names
        if (file := name.partition(":")[0])
    )
    found: list[list[Pair]] = []
    for at, note, (is_sure, some_dirs), some in zip(commits, notes, above, begins, strict=True):
        pairs: list[Pair] = []
        for name in note.names:
            file = name.partition(":")[0]
            had = [each for each in (*some, "") if file and facts.at(at, f"{each}{file}")] if some else []
            is_clear = len(had) < 2 or is_sure if file else not some
            if is_clear and (at or not (is_sure and some_dirs)):
                pairs.append((at or note.since_ms, f"{had[0] if had else ''}{name}"))
        found.append(pairs)
    return found


def _above(cwd: str, tops: "Iterable[str]") -> "tuple[bool, Sequence[str]]":
    """Returns whether it is known where in the work tree a session was, and the directories there, deepest first; if not,
    whatever its path ends in: it may have been in another clone."""
    for top in tops:
        if f"{cwd}/".startswith(f"{top}/"):
            parts = cwd[len(top) + 1 :].split("/") if cwd != top else []
            return True, ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    parts = cwd.strip("/").split("/") if cwd else []
    return False, ["/".join(parts[at:]) for at in range(len(parts))]


def _trace(facts: _Facts, asked: "Iterable[Pair]") -> None:
    """Finds what became of the names that are absent: of those known before, what came since; of the others, as far as there
    is time."""
    from contextlib import suppress

    if facts.before not in ("", facts.head) and facts.searched:
        known = {name for _, name in facts.searched} | set(facts.renames.values()) - {""}
        since, among = (facts.head, f"^{facts.before}"), (f"{facts.head} {facts.before}",)
        _follow(facts, known, _commits(facts.searched), since, among)
    new = {pair for pair in asked if facts.is_absent(pair[1])} - facts.searched
    for are_dated in (False, True):
        pairs, begin = {pair for pair in new if isinstance(pair[0], int) is are_dated}, ""
        commits = _commits(pairs)
        with suppress(_Silent):
            if commits:
                with suppress(_Silent):  # they may have no common ancestor
                    begin = f"^{facts.ask('merge-base', '--octopus', *commits).strip()}"
            elif pairs:
                begin = f"--max-age={min(int(since_ms) for since_ms, _ in pairs) // 1000}"
            _follow(facts, {name for _, name in pairs}, commits, (facts.head, *filter(None, (begin,))))
            facts.searched |= pairs


def _commits(pairs: "Iterable[Pair]") -> "Sequence[str]":
    return sorted({each for each, _ in pairs if isinstance(each, str)})


def _follow(
    facts: _Facts, names: "set[str]", commits: "Sequence[str]", since: "Sequence[str]", among: "Sequence[str]" = ()
) -> None:
    """Finds which commits removed these names, and what they are called now."""
    for _ in range(_MOST_MOVES):
        removing = facts.find_removals(sorted(names), since) if names else ()
        removed = sorted(name for name in names if name in facts.removals)
        facts.find_renames(removed, removing)
        # What was first copied and then removed has not been renamed by one commit.
        left = [name for name in removed if facts.new_name(name) is None]
        had = {name: next((each for each in commits if facts.at(each, name)), "") for name in left}
        before = sorted({each for each in had.values() if each})[:8]
        facts.find_renames(left, [f"{facts.head} {each}" for each in before], among)
        facts.traced.update(name for name in removed if had.get(name, "") in ("", *before))
        left = [name for name in left if facts.new_name(name) is None]
        elsewhere = (*facts.ignored(left), *facts.behind(left))
        for name in left:
            if name in elsewhere or ("/" not in name and facts.is_below(name)):
                del facts.removals[name]
        ends = {new for name in removed if (new := facts.new_name(name))}
        facts.look_up(f"{facts.head}:{each}" for each in ends)
        names = {each for each in ends if facts.is_absent(each)}
        if not names:
            return


def _state(facts: _Facts, since: "str | int", name: str) -> "Grounding | None":
    before, now = facts.at(since, name), facts.at(facts.head, name)
    if now:
        if not before:
            return Grounding(name, UNKNOWN)
        is_same = before == now or (before.endswith("tree") and now.endswith("tree"))
        return Grounding(name, FRESH if is_same else CHANGED)
    unknown = Grounding(name, UNKNOWN) if before else None
    if not facts.is_absent(name):
        return unknown
    removal = facts.removals.get(name)
    if removal is None or not _is_since(facts, removal, since):
        return unknown
    new = name
    for _ in range(_MOST_MOVES):
        found = facts.new_name(new)
        if new not in facts.traced:
            return unknown
        if found is None:
            gone = Grounding(name, GONE, "", *facts.removals.get(new, removal))
            return unknown if " 0 " in before else gone  # nothing says where an empty file went
        new = found
        if not new or not facts.is_absent(new):
            return Grounding(name, CHANGED, new if (new,) == names_in(f"{new}/") else "")
    return unknown


def _gone_words(facts: _Facts, asked: "Sequence[tuple[str, str]]") -> dict[Pair, Grounding]:
    """Returns the words that stood in a file at a note's commit and were removed since, by commit and name, as far as there is
    time. What stood there is the exact word, in a manifest as one of its own; there, `Lamp_oil` still stands for `lamp-oil`."""
    from contextlib import suppress
    from functools import partial

    gone: dict[Pair, Grounding] = {}
    asked = [
        (at, name)
        for at, name in asked
        if any(facts.at(at, each) != facts.at(facts.head, each) for each in _files_of(name))
    ]
    missing = {name for name in {name for _, name in asked} if not _may_stand(name, facts.draft)}
    asked = [each for each in asked if each[1] in missing]
    with suppress(_Silent):
        facts.read((at, file) for commit, name in asked for file in _files_of(name) for at in (commit, facts.head))
        for commit, name in asked:
            path, _, word = name.partition(":")
            is_run, word = " " in word, word.rpartition(" ")[2]
            had = [each for each in _files_of(name) if _has(facts.text(commit, each) or "", word, *_BOUNDS[not path])]
            if not had or (path and not facts.at(facts.head, path)):  # of a file that is gone, its path says so
                continue
            if _may_stand(name, partial(facts.text, facts.head)) or facts.is_later(commit, facts.head):
                continue
            if path or is_run or not facts.is_below(had[0]):
                gone[commit, name] = Grounding(f"{had[0]}:{word}", GONE)
    return gone


def _may_stand(name: str, read: "Callable[[str], str | None]") -> bool:
    """Returns whether a word stands in one of its files, or one cannot be read."""
    import re

    path, _, word = name.partition(":")
    is_loose, word = not path or path.endswith(".md"), word.rpartition(" ")[2]  # `#install` is a heading `Install`
    patterns = r"|[^\s#=:]*[%$][^=\n]*:(?!=)" if " " in name else ""  # of targets, of which one may be it
    includes = rf"^(?:[-s]?includes?\b|import ['\"]|mod |-[rc] {patterns})"  # another manifest, which may have it
    return any(
        text is None
        or "\0" in text  # as in UTF-16, where it would not be found
        or _has(text, word)
        or (is_loose and _has(_plain(text), _plain(word)))
        or (not path and re.search(includes, text, re.MULTILINE))
        for text in map(read, _files_of(name))
    )


def _plain(text: str) -> str:
    """Returns a text without what makes no difference in the name of a package."""
    return text.lower().replace("_", "-").replace(".", "-")


_BOUNDS = (
    (r"(?<![\w-])", r"(?![\w-])"),
    (r"(?:^[ \t]*(?:\[tasks\.)?|[\"'>:(]|require )", r"(?=[ \t]*(?:$|[\"'<>=~!:;)\]]| v\d))"),
)
"""What stands before and after a word of a file, and around one of a manifest, where a word in a sentence means nothing."""


def _has(text: str, word: str, before: str = r"(?<!\w)", after: str = r"(?!\w)") -> bool:
    """Returns whether a text has a word between these."""
    import re

    return word in text and re.search(f"{before}{re.escape(word)}{after}", text, re.MULTILINE) is not None


def place_with(scope: str, environ: "Mapping[str, str]", root: str) -> Repository:
    """Returns the main work tree of a repository that is known on this machine, as it is checked out."""
    known = known_places(environ, root)
    for place in known.all():
        if place.scope == scope:
            there = read_repository(place.common.removesuffix("/.git"), environ)
            if there.common == place.common:
                return there
    return Repository()


def _is_since(facts: _Facts, removal: tuple[str, int], since: "str | int") -> bool:
    """Returns whether the note is older than the removal, by history; by the clock if its commit is unknown."""
    commit, at_s = removal
    if isinstance(since, int):
        return at_s * 1000 >= since
    try:
        return facts.is_later(commit, since)
    except _Silent:
        return False


# -- marks ------------------------------------------------------------------------------------------------------------


def is_gone(found: "Iterable[Grounding]") -> bool:
    """Returns whether all files that the note names are gone. A word that is gone is too little for that."""
    return {each.state for each in found if each.state != GONE or each.commit} == {GONE}


def grounding_mark(found: "Sequence[Grounding]") -> str:
    """Returns `src/a.py is gone`, `src/a.py and 2 more are gone`, `src/a.py is now lib/a.py`, or nothing. A new name that
    reads like a sentence is not told: whoever commits chooses it (P19)."""
    gone = [each.path for each in found if each.state == GONE]
    moved = [
        f"{each.path} {f'is now {each.now}' if _is_name(each.now) else 'was renamed'}" for each in found if each.now
    ]
    more = f"{len(gone) - 1} more" if len(gone) > 2 else gone[-1] if gone else ""
    said = f"{gone[0]} and {more} are gone" if len(gone) > 1 else f"{more} is gone"
    return ", ".join((*((said,) if gone else ()), *moved[:2]))


def _is_name(path: str) -> bool:
    import re

    from agent_memory.text.salience import is_directive

    said = [" ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", part)) for part in path.split("/")]
    return all(part.count(" ") < _MOST_WORDS for part in said) and not is_directive(" ".join(said))


def grounded(
    passages: "Sequence[Passage]", where: Repository, root: str, seconds: float = HOOK_SECONDS
) -> tuple["Passage", ...]:
    """Returns the passages with their marks; those whose files are gone come last, but for hot ones."""
    found = look_at(
        where, [Named(each.names, each.commit, each.since_ms, each.cwd) for each in passages], seconds, root
    )
    last = [is_gone(each) and passage.section not in _KEPT_RANK for passage, each in zip(passages, found, strict=True)]
    marked = [each.marked(grounding_mark(states)) for each, states in zip(passages, found, strict=True)]
    return tuple(marked[at] for at in sorted(range(len(marked)), key=last.__getitem__))


def ground_lines(found: "Iterable[Grounding]") -> "Iterator[str]":
    """Returns a line for people about each file."""
    return (f"{each.path}: {each.words}" for each in found)
