"""What a footprint's files mean: which entries came, changed, moved and went, told from their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, field, frozen
from returns.result import Success

from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.run_log import LoggedAction
from agent_memory.domain.text.file_name import id_in_name, title_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.formats.note import parse_note

_LIVE, _RETIRED = "topics", "archive"
_SECRET_TITLE = "a secret note"


@frozen
class NoteFile:
    """A note's file, and its text where it is UTF-8."""

    path: str
    text: str


@frozen
class NoteChange:
    """What became of one entry."""

    id: str
    title: str
    """The present one, else the last; of a secret note only that it is one."""
    secret: bool
    before: NoteFile | None
    """The live note as it was; None where it was not live."""
    after: NoteFile | None
    retired_before: str | None
    """Where it lay in the archive."""
    retired_after: str | None
    kept: tuple[str, ...]
    """Earlier versions that went into the archive."""
    dropped: tuple[str, ...]
    """Earlier versions that went out of it, as an undo takes them back."""

    @property
    def act(self) -> str:
        """`create`, `replace`, `retire`, `restore`, `remove`, or `version` where only earlier versions came or went."""
        if self.before is not None and self.after is not None:
            return "replace"
        if self.after is not None:
            return "create" if self.retired_before is None else "restore"
        if self.before is not None:
            return "remove" if self.retired_after is None else "retire"
        return "version"


@define
class _Gathered:
    title: str = ""
    secret: bool = False
    before: NoteFile | None = None
    after: NoteFile | None = None
    retired_before: str | None = None
    retired_after: str | None = None
    kept: list[str] = field(factory=list[str])
    dropped: list[str] = field(factory=list[str])


def note_changes(files: Sequence[FileChange]) -> tuple[NoteChange, ...]:
    """One change for each entry, in the order of their first files; each path must occur once (`fold_files`)."""
    gathered: dict[str, _Gathered] = {}
    for change in files:
        shelf = change.path.partition("/")[0]
        if shelf not in (_LIVE, _RETIRED):
            continue
        for state, is_after in ((change.before, False), (change.after, True)):
            if state is not None:
                id, title, secret = _identity(change.path, state)
                _gather(gathered.setdefault(id, _Gathered()), change.path, state, is_after, title, secret)
    return tuple(_change(id, each) for id, each in gathered.items())


def logged_changes(changes: Iterable[NoteChange]) -> tuple[LoggedAction, ...]:
    """The same as actions of a report."""
    return tuple(
        LoggedAction(each.act, (), (each.id,), each.title)
        if each.act == "create"
        else LoggedAction(each.act, (each.id,), (), each.title)
        for each in changes
        if each.act != "version"
    )


def _gather(into: _Gathered, path: str, state: FileState, is_after: bool, title: str, secret: bool) -> None:
    into.secret = into.secret or secret
    if path.startswith(f"{_LIVE}/"):
        into.title = title if is_after or not into.title else into.title
        file = NoteFile(path, state.data.decode("utf-8", "replace"))
        if is_after:
            into.after = file
        else:
            into.before = file
    elif path.count("/") > 1:
        into.title = into.title or title
        (into.kept if is_after else into.dropped).append(path)
    else:
        into.title = into.title or title
        if is_after:
            into.retired_after = path
        else:
            into.retired_before = path


def _change(id: str, each: _Gathered) -> NoteChange:
    return NoteChange(
        id=id,
        title=_SECRET_TITLE if each.secret else each.title,
        secret=each.secret,
        before=each.before,
        after=each.after,
        retired_before=each.retired_before,
        retired_after=each.retired_after,
        kept=tuple(path for path in each.kept if path not in each.dropped),
        dropped=tuple(path for path in each.dropped if path not in each.kept),
    )


def _identity(path: str, state: FileState) -> tuple[str, str, bool]:
    """Id, title, and whether the note is secret. A file that is no note goes by its path."""
    directory, _, name = path.rpartition("/")
    of_version = directory.rpartition("/")[2]
    found = parse_note(state.data, path, (state.mtime_ns or 0) // 1_000_000)
    if isinstance(found, Success):
        meta = found.unwrap().meta
        id = of_version if is_id(of_version) else meta.id
        return id, meta.title, meta.sensitivity is Sensitivity.SECRET
    return (of_version if is_id(of_version) else id_in_name(name)) or path, title_in_name(name), False
