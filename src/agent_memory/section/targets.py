"""The targets: files of a person and of their harnesses, with one section that is ours (P2, P17, P21).

Links are followed and the real file is replaced, so that dotfiles stay links: but not out of the home, nor out of the
work tree that a link is in (it may come from a clone), and never into the storage root. Anything but a plain writable file is refused and left as it is.

Text between the markers that we did not write is kept in `~/.local/state/agent-memory/sections/`: 0700, files 0600.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from agent_memory.capture.repository import is_within, may_be_in_work_tree, work_tree_above
from agent_memory.errors import MarkersAmbiguous, PathRefused, TargetRefused
from agent_memory.files.durable import (
    append_line,
    create_file,
    fsync_directory,
    make_directories,
    make_room,
    read_loosely,
    replace_file,
    share_like_parent,
    write_new_file,
)
from agent_memory.files.paths import as_store_io, is_directory, names_in, read_image
from agent_memory.files.root import absolute, local_state_directory
from agent_memory.note.note import GLOBAL_SCOPE
from agent_memory.recall.moment import read_everywhere, read_in_repository
from agent_memory.results import as_result
from agent_memory.rules.change import Target, TargetFile
from agent_memory.section.section_splice import section_in
from agent_memory.session.own_marks import SECTION_END, SECTION_START

READ_BY_CODEX = read_in_repository("codex")
"""In order of preference; one for each directory."""

_WRITTEN = "written"
_MAX_WRITTEN_BYTES = 64 << 10
_CHANGED = "it was changed at the same moment; run the command again"


@frozen
class Targets:
    """The targets of a person whose home is `home`; nothing under `root` is one."""

    home: str
    root: str

    @as_result
    def read(self, path: str) -> TargetFile:
        """Returns the file, maybe missing. TargetRefused for a directory, a device, or a link that leaves the home or
        its work tree. A missing file's directory must exist. Opens nothing that might block."""
        try:
            with as_store_io("read", path):
                real = self._real_path(path)
                data = _bytes_of(path, real)
        except ValueError:  # a NUL in it
            raise TargetRefused(path, "its name cannot be that of a file") from None
        directory, name = os.path.split(real)
        override = f"{directory}/{READ_BY_CODEX[0]}"
        return TargetFile(
            path=path,
            real_path=real,
            data=data,
            in_repository=may_be_in_work_tree(directory),
            chain_bytes=chain_bytes(real, len(data or b""), self.home),
            overridden_by=override if name == READ_BY_CODEX[1] and os.path.isfile(override) else None,
        )

    @as_result
    def write(self, file: TargetFile, data: bytes) -> str | None:
        """Replaces the file's bytes atomically, keeping mode and owner. TargetRefused if it is no longer as `file`
        says. A removed section that we did not write is copied first; returns the copy's path. Equal bytes are not
        written. New files get mode 0600, or in a repository that of their directory. After a crash the file has its old or its new bytes, with at most
        `.<name>.agent-memory-<random>` beside it."""
        if data == file.data:
            return None
        with as_store_io("write", file.real_path):
            copy = self._copy_lost_section(file, data)
            if file.data is not None:
                _replace(file, data)
                return copy
            try:
                create_file(file.real_path, data)
            except FileExistsError:
                raise TargetRefused(file.path, _CHANGED) from None
            if file.in_repository:
                share_like_parent(file.real_path)
        return copy

    @as_result
    def remove(self, file: TargetFile) -> str | None:
        """Removes a file that we created, if it is still as `file` says; copies its section like `write`. Does nothing
        if the file is already gone."""
        with as_store_io("remove", file.real_path):
            copy = self._copy_lost_section(file, None)
            now = _bytes_of(file.path, file.real_path)
            if now is not None:
                if now != file.data:
                    raise TargetRefused(file.path, _CHANGED)
                os.unlink(file.real_path)
                fsync_directory(os.path.dirname(file.real_path))
        return copy

    def forget_copied(self, is_forgotten: Callable[[str], bool]) -> None:
        """Takes these lines out of every copy of a section (P28)."""
        directory = f"{local_state_directory(self.home)}/sections"
        for path in (f"{directory}/{name}" for name in names_in(directory, lambda name: not name.startswith(_WRITTEN))):
            lines = read_loosely(path, 4 << 20).decode("utf-8", "surrogateescape").split("\n")
            kept = [line for line in lines if not is_forgotten(line)]
            if kept != lines:
                with as_store_io("write", path):
                    replace_file(path, "\n".join(kept).encode("utf-8", "surrogateescape"))

    def _real_path(self, path: str) -> str:
        if not os.path.isabs(path):
            raise TargetRefused(path, "it is not an absolute path")
        named = os.path.normpath(path)
        parent = os.path.dirname(named)
        if not is_directory(parent):
            raise TargetRefused(path, f"its directory {parent} does not exist; create it first if you mean it")
        real = os.path.realpath(named)
        if os.path.islink(real):
            raise TargetRefused(path, "it is a circular symbolic link")
        if is_within(real, os.path.realpath(self.root)):
            raise TargetRefused(path, "it is inside the store")
        # A path may lead anywhere in the home; outside of it only if it is named directly, with no link on the way.
        homes = (self.home, os.path.realpath(self.home))
        is_as_named = os.path.dirname(real) == os.path.realpath(parent) and not any(
            is_within(named, each) for each in homes
        )
        if not is_as_named and not is_within(real, homes[1]):
            raise TargetRefused(path, f"it leads out of your home, to {real}; give that path if you mean it")
        for link in filter(os.path.islink, (named, *map(str, Path(named).parents))):
            tree = work_tree_above(os.path.dirname(link))
            if tree and (not is_within(real, tree) or ".git" in real[len(tree) :].casefold().split("/")):
                raise TargetRefused(path, f"it leads out of {tree}, to {real}; give that path if you mean it")
        if not is_directory(os.path.dirname(real)):
            raise TargetRefused(path, f"it leads to {real}, whose directory does not exist")
        return real

    def _copy_lost_section(self, file: TargetFile, after: bytes | None) -> str | None:
        """Returns the path of a copy of the section about to be lost, unless this machine wrote it (its digest is
        known): a person may have written between the markers. Raises OSError."""
        before, new = _section_of(file.data), _section_of(after)
        directory = f"{local_state_directory(self.home)}/sections"
        written = f"{directory}/{_WRITTEN}"
        known = set[str]()
        for each in (written, f"{written}.1"):
            # An unreadable list counts as empty: an extra copy does no harm.
            known.update(read_loosely(each, 2 * _MAX_WRITTEN_BYTES).decode("ascii", "replace").split("\n"))
        copy: str | None = None
        if before not in (None, new) and _digest_of(before) not in known:
            copy = f"{directory}/{_digest_of(before)[:12]}-{os.path.basename(file.real_path)[:100]}"
            make_directories(directory)
            replace_file(copy, before)
        if new and _digest_of(new) not in known:
            make_directories(directory)
            line = f"{_digest_of(new)}\n".encode()
            make_room(written, f"{written}.1", len(line), _MAX_WRITTEN_BYTES)
            append_line(written, line)
        return copy


def _replace(file: TargetFile, data: bytes) -> None:
    """Replaces the file. The new bytes, with its owner and mode, are ready beside it before the last check, so that
    what somebody else writes meanwhile is noticed."""
    try:
        now = os.stat(file.real_path, follow_symlinks=False)
    except FileNotFoundError:
        raise TargetRefused(file.path, _CHANGED) from None
    if not now.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(file.real_path, os.W_OK):
        raise TargetRefused(file.path, "it is read-only")
    directory, name = os.path.split(file.real_path)
    temporary = f"{directory}/.{name[:100]}.agent-memory-{os.urandom(6).hex()}"
    write_new_file(temporary, data)
    try:
        made = os.stat(temporary)
        if (made.st_uid, made.st_gid) != (now.st_uid, now.st_gid):
            try:
                os.chown(temporary, now.st_uid, now.st_gid)
            except PermissionError:
                raise TargetRefused(
                    file.path, "it belongs to somebody else, and writing it would change that"
                ) from None
        os.chmod(temporary, stat.S_IMODE(now.st_mode))
        if _bytes_of(file.path, file.real_path) != file.data:
            raise TargetRefused(file.path, _CHANGED)
        os.replace(temporary, file.real_path)
        temporary = ""
        fsync_directory(directory)
    finally:
        if temporary:
            os.unlink(temporary)


def _section_of(data: bytes | None) -> bytes | None:
    """Returns a file's section with its markers; None if there is none or its place is ambiguous."""
    with suppress(MarkersAmbiguous):
        section = section_in("", data or b"") or ""
        if section.replace(SECTION_START, "").replace(SECTION_END, "").strip():
            return section.encode("utf-8", "surrogateescape")
    return None


def _digest_of(section: bytes) -> str:
    return sha256(section.replace(b"\r\n", b"\n")).hexdigest()


def _bytes_of(path: str, real: str) -> bytes | None:
    try:
        image = read_image(real, 4 << 20)  # larger than any harness reads
    except PathRefused as error:
        raise TargetRefused(path, error.reason) from None
    return None if image is None else image.data


# -- which files are targets, and whose notes they show ----------------------------------------------------------------


def expanded(path: str, home: str, directory: str | None = None) -> str:
    """Returns the path with `~` expanded; if `directory` is given, relative to that."""
    return absolute(path, home, lambda: directory or "")


def chosen_targets(
    paths: Iterable[str], home: str, scope_at: Callable[[str | None], str], is_committed: Callable[[str], bool]
) -> tuple[Target, ...]:
    """Returns one target for each file: it shows global notes and those of its place, or only the latter if its
    repository may commit the file. A directory that is a link into a repository does not count as that repository."""
    targets: list[Target] = []
    for path in dict.fromkeys(paths):
        directory = os.path.dirname(path)
        below = os.path.relpath(directory, home)
        in_home = os.path.normpath(f"{os.path.realpath(home)}/{below}")
        is_behind_a_link = not below.startswith("..") and os.path.realpath(directory) != in_home
        if is_behind_a_link or path in read_everywhere(home):
            scopes = frozenset({GLOBAL_SCOPE})
        else:
            scope = scope_at(directory)
            scopes = frozenset({scope} if is_committed(path) else {scope, GLOBAL_SCOPE})
        targets.append(Target(path, scopes))
    return tuple(targets)


def told_path(path: str, home: str) -> str:
    """Returns the path as others may read it: with `~` for the home."""
    for each in (home, os.path.realpath(home)):
        if is_within(path, each):
            return f"~{path[len(each.rstrip('/')) :]}"
    return path


# -- what Codex reads --------------------------------------------------------------------------------------------------


def chain_bytes(real_path: str, own_bytes: int, home: str) -> int:
    """Returns the size of the files that Codex reads down to this one, which has `own_bytes`; 0 if it is not read."""
    directory, name = os.path.split(real_path)
    if name not in READ_BY_CODEX:
        return 0
    codex_home = os.path.realpath(f"{home}/.codex")
    if directory == codex_home:
        return own_bytes
    try:
        top = work_tree_above(directory)
    except OSError:  # it is only for a warning
        return 0
    if top is None:
        return 0
    top = os.path.realpath(top)
    total = own_bytes
    above = [str(each) for each in Path(directory).parents if is_within(str(each), top)]
    for each in (codex_home, *above):
        for read in READ_BY_CODEX:
            with suppress(OSError):
                total += os.stat(f"{each}/{read}").st_size
                break
    return total
