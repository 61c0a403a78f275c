"""The switches that keep memory out of a project or a session: `projects.exclude` and `projects.only` in the person's
own config, pauses, and AGENT_MEMORY_INCOGNITO. Every hook asks them first, so this imports C modules only.

Pauses belong to this machine: `paused.json` in its state directory holds {"version": 1, "pauses": [{"since": …,
"until": …, "scope": …, "path": …, "inode": …}]}. Finished ones stay, since nothing said during a pause is ever learnt.
"""

import os
import time

from agent_memory.capture.hook_files import timestamp_of
from agent_memory.capture.repository import GLOBAL_SCOPE, Repository, is_within, read_repository
from agent_memory.files.durable import read_regular
from agent_memory.files.json_lite import scan_json
from agent_memory.files.root import INCOGNITO_VARIABLE, config_path, home_of, own_config, pauses_path
from agent_memory.text.json_shape import Record, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

KINDS = INCOGNITO, PAUSED, EXCLUDED = "incognito", "paused", "excluded"
PAUSE_KEYS = ("since", "until", "scope", "path", "inode")
MAX_PAUSES = 1_000
_ISO_CHARS = len("2026-02-13T14:30:05.123Z")
MAX_PATTERN_CHARS = 500


class Off(Record):
    """Why memory stays out: the switch, and a sentence for people."""

    kind: str
    sentence: str


class Pause(Record):
    """A pause of one project, or of everything. Instants are ISO 8601 in UTC with milliseconds, so that they sort."""

    since: str
    until: str = ""
    """Empty: until somebody resumes."""
    scope: str = ""
    """The project's key; empty for everything."""
    path: str = ""
    """Its directory, if known."""
    inode: str = ""
    """Finds the directory again after it was renamed."""

    def is_over(self, now: str) -> bool:
        """Returns whether it has ended. A pause that begins in the future, because the clock was set back, has not."""
        return self.until != "" and self.until <= now

    @property
    def sentence(self) -> str:
        until = f"until {self.until[:16].replace('T', ' ')} UTC" if self.until else "until `memory resume`"
        whose = self.scope.removeprefix("path:").removesuffix("/.git")
        return f"Memory is paused{f' for {whose}' if whose else ''} {until}."


class Switches:
    def __init__(self, environ: "Mapping[str, str]") -> None:
        self.environ = environ
        self.home = home_of(environ)
        self.now = timestamp_of(time.time_ns() // 1_000_000)
        self.exclude, self.only = _patterns(self.home)
        self.pauses, self.problem = read_pauses(self.home)

    @property
    def everywhere(self) -> Off | None:
        """Returns why memory stays out of everything here, if it does; it does if pauses cannot be read (P6)."""
        if self.environ.get(INCOGNITO_VARIABLE, "").strip() not in ("", "0"):
            return Off(INCOGNITO, f"This session is incognito, because {INCOGNITO_VARIABLE} is set.")
        if self.problem:
            return Off(PAUSED, f"Memory is paused, because {self.problem}; `memory resume` ends that.")
        return next((Off(PAUSED, each.sentence) for each in self._active() if not each.scope), None)

    def off(self, directory: str | None, scope: str = "") -> Off | None:
        """Returns why memory stays out of a directory, if it does. `scope` is the key that it had at the time."""
        everywhere, active = self.everywhere, self._active()
        if everywhere is not None or not (active or self.exclude or self.only):
            return everywhere
        place = _Place(directory, scope, self.environ, self.home)
        for pause in active:
            if place.is_of(pause):
                return Off(PAUSED, pause.sentence)
        for pattern in self.exclude:
            if place.fits(pattern):
                return Off(EXCLUDED, f"Memory stays out of this project, which fits {pattern!r} in projects.exclude.")
        if not self.only or any(map(place.fits, self.only)):
            return None
        return Off(EXCLUDED, "Memory stays out of this project, which is not among projects.only.")

    def sentences(self, directory: str | None) -> tuple[str, ...]:
        """Returns what memory stays out of, for a person in this directory."""
        off = self.off(directory)
        told = [*([] if off is None else [off.sentence]), *(each.sentence for each in self._active())]
        patterns = len(self.exclude) + len(self.only)
        if patterns and (off is None or off.kind != EXCLUDED):
            told.append("Memory stays out of other projects, by projects.exclude and projects.only in your config.")
        return tuple(dict.fromkeys(told))

    def pauses_of(self, directory: str | None, scope: str = "") -> tuple[Pause, ...]:
        """Returns the pauses, finished or not, that cover a directory."""
        if not self.pauses:
            return ()
        place = _Place(directory, scope, self.environ, self.home)
        return tuple(each for each in self.pauses if not each.scope or place.is_of(each))

    def _active(self) -> tuple[Pause, ...]:
        return tuple(each for each in self.pauses if not each.is_over(self.now))


def was_paused(pauses: "Iterable[Pause]", at_ms: int) -> bool:
    """Returns whether something was said during one of these pauses."""
    at = timestamp_of(at_ms)
    return any(each.since <= at and not each.is_over(at) for each in pauses)


class _Place:
    """A directory with all its paths and keys."""

    def __init__(self, directory: str | None, scope: str, environ: "Mapping[str, str]", home: str) -> None:
        here = Repository() if directory is None else read_repository(directory, environ)
        work_tree = (here.common or "").removesuffix("/.git")
        paths = () if directory is None else (os.path.normpath(directory), os.path.realpath(directory))
        self.paths = [each for each in (*paths, here.top, work_tree) if each]
        self.scopes = {scope, here.scope} - {"", GLOBAL_SCOPE}
        self.top = here.top
        self.home = home

    def is_of(self, pause: Pause) -> bool:
        """Returns whether the pause covers this place. A renamed directory's old path may be another directory now."""
        if pause.scope in self.scopes or (pause.path and any(is_within(path, pause.path) for path in self.paths)):
            return True
        return pause.inode != "" and not os.path.lexists(pause.path) and inode_of(self.top) == pause.inode

    def fits(self, pattern: str) -> bool:
        """Returns whether the directory, one above it, or its key matches a pattern."""
        text = f"{self.home}{pattern[1:]}" if pattern.startswith("~") else pattern
        parts = _split(text)
        if not text.startswith("/"):
            return any(_matches(parts, _split(scope), "**", _fits_name, whole=False) for scope in self.scopes)
        fixed = next((at for at, part in enumerate(parts) if "*" in part or "?" in part), len(parts))
        real = _split(os.path.realpath("/" + "/".join(parts[:fixed])))  # the home, or a named directory, may be a link
        forms = (parts, [*real, *parts[fixed:]])
        return any(_matches(form, _split(path), "**", _fits_name, whole=False) for form in forms for path in self.paths)


def inode_of(directory: str) -> str:
    """Returns the directory's inode, or an empty string."""
    try:
        return str(os.stat(directory).st_ino)
    except OSError:
        return ""


# -- pauses -----------------------------------------------------------------------------------------------------------


def read_pauses(home: str) -> tuple[tuple[Pause, ...], str]:
    """Returns the pauses, finished or not, and why they cannot be read."""
    path = pauses_path(home)
    try:
        document = scan_json(read_regular(path, 4 << 20).decode())
        rows = document.get("pauses") if is_object(document) and document.get("version") == 1 else None
        return tuple(map(_pause_of, rows if is_list(rows) else [None])), ""
    except (FileNotFoundError, NotADirectoryError):
        return (), ""
    except OSError as error:
        return (), f"{path} cannot be read ({error.strerror})"
    except (ValueError, RecursionError):
        return (), f"{path} is damaged or of a later version"


def _pause_of(row: object) -> Pause:
    values = [row.get(key, "") for key in PAUSE_KEYS] if is_object(row) else []
    texts = [each for each in values if isinstance(each, str)]
    if len(texts) < len(PAUSE_KEYS) or len(texts[0]) != _ISO_CHARS or len(texts[1]) not in (0, _ISO_CHARS):
        raise ValueError
    return Pause(*texts)


# -- patterns ---------------------------------------------------------------------------------------------------------


def pattern_problem(pattern: str) -> str | None:
    """Returns what is wrong with a pattern of `projects`, or None."""
    if len(pattern) > MAX_PATTERN_CHARS or not pattern.isprintable() or pattern != pattern.strip():
        return f"must be at most {MAX_PATTERN_CHARS} printable characters without space around them"
    host, slash, name = pattern.partition("/")
    if (host in ("", "~") and slash) or (name and not {".", "*"}.isdisjoint(host) and host not in (".", "..")):
        return None if ".." not in pattern.split("/") else "must not contain `..`"
    return "must be a path that begins with / or ~/, or a key such as github.com/me/*"


def _patterns(home: str) -> "tuple[tuple[str, ...], tuple[str, ...]]":
    """Returns the valid patterns of `projects.exclude` and `projects.only`. Hooks use them even if the rest of the
    config is not valid; nothing is consolidated or told until it is."""
    config = own_config(config_path(home))[0]
    projects = None if config is None else config.get("projects")
    lists = [projects.get(key) if is_object(projects) else None for key in ("exclude", "only")]
    exclude, only = (
        tuple(each for each in found if isinstance(each, str) and pattern_problem(each) is None)
        if is_list(found)
        else ()
        for found in lists
    )
    return exclude, only


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _fits_name(pattern: str, name: str) -> bool:
    """Returns whether a name matches, ignoring case as many disks and hosts do."""
    return _matches(_plain(pattern), _plain(name), "*", lambda letter, other: letter in ("?", other))


def _plain(text: str) -> str:
    if not text.isascii():
        from unicodedata import normalize  # file systems differ in how they encode an accent

        text = normalize("NFC", text)
    return text.casefold()


def _matches(
    pattern: "Sequence[str]",
    items: "Sequence[str]",
    many: str,
    fits: "Callable[[str, str], bool]",
    *,
    whole: bool = True,
) -> bool:
    """Returns whether a pattern, in which `many` matches any number of items, matches the items, or with `whole=False`
    some first items. Takes time proportional to the product of both lengths."""
    places, end = {0}, len(pattern)
    for item in (*items, None):
        for at in sorted(places):
            while at < end and pattern[at] == many:
                at += 1
                places.add(at)
        if end in places and (item is None or not whole):
            return True
        if item is not None:
            places = {
                at + (pattern[at] != many)
                for at in places
                if at < end and (pattern[at] == many or fits(pattern[at], item))
            }
    return False
