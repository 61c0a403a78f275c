"""Changes for people: what a run changed or would change, from the bytes of its files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import define, evolve, field, frozen

from agent_memory.errors import EntryUnreadable
from agent_memory.note.file_name import id_in_name, title_in_name
from agent_memory.note.note import TIERS_FILE
from agent_memory.note.note_format import read_note
from agent_memory.rules.change import FileChange, FileState, Footprint, fold_files
from agent_memory.rules.run_log import LoggedAction, logged_action
from agent_memory.store.note_files import parse_tiers
from agent_memory.text.ids import is_id
from agent_memory.text.plain_text import one_line

NOWHERE = "/dev/null"
_LIVE, _RETIRED = "topics/", "archive/"


@define
class NoteFiles:
    """The files of one note at one time."""

    path: str = NOWHERE
    """Its live path, if any."""
    text: str = ""
    retired: str | None = None
    """Its path in the archive."""
    versions: set[str] = field(factory=set[str])
    """Earlier versions in the archive."""


@define
class NoteChange:
    id: str
    secret: bool = False
    last_title: str = ""
    """The present title, or else the last one."""
    before: NoteFiles = field(factory=NoteFiles)
    after: NoteFiles = field(factory=NoteFiles)

    @property
    def title(self) -> str:
        """Returns the title; for a secret note only that it is secret."""
        return "a secret note" if self.secret else self.last_title

    @property
    def act(self) -> str:
        """Returns `create`, `replace`, `retire`, `restore`, `remove`, or `version` if only earlier versions changed."""
        if self.after.path != NOWHERE:
            if self.before.path != NOWHERE:
                return "replace"
            return "create" if self.before.retired is None else "restore"
        if self.before.path != NOWHERE or (self.before.retired is None) != (self.after.retired is None):
            return "remove" if self.after.retired is None else "retire"
        return "version"


def note_changes(files: Sequence[FileChange]) -> tuple[NoteChange, ...]:
    """Returns one change for each note, in the order of their first files; each path must occur once (`fold_files`)."""
    changes: dict[str, NoteChange] = {}
    for file in files:
        is_live = file.path.startswith(_LIVE)
        for state, is_after in ((file.before, False), (file.after, True)):
            if state is None or not (is_live or file.path.startswith(_RETIRED)):
                continue
            id, title, secret = _identity(file.path, state)
            change = changes.setdefault(id, NoteChange(id))
            change.secret = change.secret or secret
            change.last_title = title if is_live and is_after else change.last_title or title
            side = change.after if is_after else change.before
            if is_live:
                side.path, side.text = file.path, state.data.decode("utf-8", "replace")
            elif file.path.count("/") > 1:
                side.versions.add(file.path)
            else:
                side.retired = file.path
    return tuple(changes.values())


def logged_changes(changes: Iterable[NoteChange]) -> tuple[LoggedAction, ...]:
    return tuple(logged_action(each.act, each.id, each.title) for each in changes if each.act != "version")


def _identity(path: str, state: FileState) -> tuple[str, str, bool]:
    """Returns id, title, and whether the note is secret. Other files are identified by path."""
    directory, _, name = path.rpartition("/")
    of_version = directory.rpartition("/")[2]
    try:
        meta = read_note(state.data, path, (state.mtime_ns or 0) // 1_000_000).meta
    except EntryUnreadable:
        return (of_version if is_id(of_version) else id_in_name(name)) or path, title_in_name(name), False
    return of_version if is_id(of_version) else meta.id, meta.title, meta.is_secret


# -- as a diff --------------------------------------------------------------------------------------------------------

_TITLE_CHARS = 200
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
ACT_WORDS = {
    "create": "created",
    "replace": "changed",
    "retire": "moved to the archive",
    "restore": "brought back from the archive",
    "remove": "taken away",
    "version": "earlier versions of",
}


@frozen
class DiffPart:
    """The diff of one note, the tier list, or one target."""

    subject: str
    """An id, `state/tiers.json`, or the absolute path of a target."""
    act: str
    """Like `NoteChange.act`, or `tiers`, `section`."""
    words: str
    """One line for people."""
    lines: tuple[str, ...] = ()
    """A unified diff; empty if only the place changed, and for secret notes."""


def diff_parts(footprint: Footprint, titles: Mapping[str, str], hidden: Collection[str] = ()) -> tuple[DiffPart, ...]:
    """Returns one part for each thing that the run changed: notes first, then tiers and sections. Nothing in it
    controls a terminal. `titles` are for notes that only the tiers name; of those in `hidden` no text is shown, nor sections that
    name them."""
    files = fold_files(footprint.files).files
    notes = note_changes(files)
    for note in notes:
        note.secret |= note.id in hidden
    known = {**titles, **{each.id: each.title for each in notes if not each.secret}}
    parts = list(map(_note, notes))
    for file in files:
        if file.path == TIERS_FILE:
            before, after = (_tier_lines(state, known) for state in (file.before, file.after))
            lines = _between(before, after, TIERS_FILE, TIERS_FILE)
            parts.append(DiffPart(TIERS_FILE, "tiers", "what is in front of every agent", lines))
    for each in footprint.sections:
        if each.before != each.after:
            old_name, new_name = (NOWHERE if text is None else each.path for text in (each.before, each.after))
            is_hidden = any(id in f"{each.before}{each.after}" for id in hidden)
            lines = () if is_hidden else _between(each.before or "", each.after or "", old_name, new_name)
            parts.append(DiffPart(each.path, "section", f"managed section of {_visible(each.path)}", lines))
    return tuple(parts)


def render_diff(parts: Sequence[DiffPart]) -> str:
    """Returns everything as text: a comment line above each diff."""
    return "\n".join("\n".join((f"# {each.words}", *each.lines)) for each in parts)


def backwards(footprint: Footprint) -> Footprint:
    """Returns the footprint that undoing this one would leave."""
    files = fold_files(footprint.files).files
    return Footprint(
        tuple(evolve(each, before=each.after, after=each.before) for each in files),
        tuple(evolve(each, before=each.after, after=each.before) for each in footprint.sections),
    )


def _note(change: NoteChange) -> DiffPart:
    words = f"{ACT_WORDS[change.act]} {change.id}  {one_line(change.title, _TITLE_CHARS)}".rstrip()
    if change.secret:
        return DiffPart(change.id, change.act, f"{words} (its text is not shown)")
    before, after = change.before, change.after
    places = (  # where its text is, or was, in the archive
        *((f"# now {after.retired}",) if after.retired is not None else ()),
        *((f"# before {before.retired}",) if before.retired is not None else ()),
        *(f"# the earlier version is kept as {path}" for path in sorted(after.versions - before.versions)),
        *(f"# no longer needed: {path}" for path in sorted(before.versions - after.versions)),
    )
    lines = _between(before.text, after.text, before.path, after.path)
    return DiffPart(change.id, change.act, words, (*lines, *map(_visible, places)))


def _tier_lines(state: FileState | None, titles: Mapping[str, str]) -> str:
    if state is None:
        return ""
    tiers = parse_tiers(state.data, TIERS_FILE)
    if not tiers.map(bool).value_or(False):
        return state.data.decode("utf-8", "replace")
    found = tiers.unwrap()
    rows = (*(("hot", id) for id in found.hot), *(("warm", id) for id in found.warm))
    return "".join(f"{tier:4}  {id}  {one_line(titles.get(id, ''), _TITLE_CHARS)}".rstrip() + "\n" for tier, id in rows)


def diff_of_texts(before: str, after: str) -> tuple[str, ...]:
    """Returns the lines of a unified diff between two versions of a note."""
    return _between(before, after, "before", "after")


def _between(before: str, after: str, old_name: str, new_name: str) -> tuple[str, ...]:
    if before == after and NOWHERE not in (old_name, new_name):
        return () if old_name == new_name else (_visible(f"# {old_name}"), _visible(f"# now {new_name}"))
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), old_name, new_name, lineterm="")
    return tuple(map(_visible, diff))


def _visible(line: str) -> str:
    """Returns the line with control characters spelled out, so that a note cannot control the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line)
