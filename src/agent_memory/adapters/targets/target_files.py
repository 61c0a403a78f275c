"""`Targets` on disk: files of a person and of their harnesses, in which one section is ours (P2, P17, P21).

A link is followed to the real file, which is then replaced, so that dotfiles stay what they are: but not out of the home,
and never into the storage root. What is no plain file, or may not be written, is refused and left as it is.

What stood between the markers and was not written here is kept in `~/.local/state/agent-memory/sections/`: 0700, files 0600.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.appending import append_line, make_room
from agent_memory.adapters.disk.durable import (
    FILE_MODE,
    create_file,
    fsync_directory,
    make_directories,
    replace_file,
    write_new_file,
)
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import FileImage, is_directory, read_file
from agent_memory.adapters.surroundings.repository import may_be_in_work_tree, work_tree_above
from agent_memory.adapters.surroundings.root import local_state_directory
from agent_memory.domain.target_file import TargetFile
from agent_memory.domain.transcripts.own_marks import SECTION_END, SECTION_START
from agent_memory.errors import Error, PathRefused, TargetRefused
from agent_memory.formats.section_splice import section_in
from agent_memory.results import sealed

MAX_TARGET_BYTES = 4 << 20
"""Larger than any harness reads."""

_WRITTEN = "written"
_MAX_WRITTEN_BYTES = 64 << 10

_CHANGED = "it was changed at the same moment; run the command again"


@frozen
class TargetFiles:
    """Targets of a person whose home is `home`; nothing under `root` is one."""

    home: str | None
    root: str

    def read(self, path: str) -> Result[TargetFile, Error]:
        """See the port. The directory of a missing file must exist. Nothing is opened that might keep us waiting."""
        try:
            return self._real_path(path).bind(lambda real: self._read(path, real))
        except OSError as error:
            return Failure(store_io(error, "read", path))
        except ValueError:  # a NUL in it
            return Failure(TargetRefused(path, "its name cannot be that of a file"))

    def write(self, file: TargetFile, data: bytes) -> Result[str | None, Error]:
        """See the port. Equal bytes are not written. A file that we make has mode 0600. After a crash the file has its old
        or its new bytes, and beside it at most `.<name>.agent-memory-<random>`."""
        if data == file.data:
            return Success(None)
        try:
            put = self._create if file.data is None else self._replace
            return self._kept(file, data).bind(lambda copy: put(file, data).map(lambda _: copy))
        except OSError as error:
            return Failure(store_io(error, "write", file.real_path))

    def remove(self, file: TargetFile) -> Result[str | None, Error]:
        """See the port; a file that is gone already counts as removed."""

        def removed(now: bytes | None) -> Result[None, Error]:
            if now is None:
                return Success(None)
            if now != file.data:
                return Failure(TargetRefused(file.path, _CHANGED))
            os.unlink(file.real_path)
            fsync_directory(os.path.dirname(file.real_path))
            return Success(None)

        try:
            kept = self._kept(file, None)
            return kept.bind(lambda copy: _bytes_of(file.path, file.real_path).bind(removed).map(lambda _: copy))
        except OSError as error:
            return Failure(store_io(error, "remove", file.real_path))

    # -- where --------------------------------------------------------------------------------------------------------

    def _real_path(self, path: str) -> Result[str, Error]:
        if not os.path.isabs(path):
            return Failure(TargetRefused(path, "it is not an absolute path"))
        named = os.path.normpath(path)
        parent = os.path.dirname(named)
        match sealed(is_directory(parent)):
            case Failure(error):
                return Failure(error)
            case Success(False):
                reason = f"its directory {parent} does not exist; make it first, if you mean it"
                return Failure(TargetRefused(path, reason))
            case Success(_):
                pass
        real = os.path.realpath(named)
        if os.path.islink(real):
            return Failure(TargetRefused(path, "it is a symbolic link in a circle"))
        if _is_inside(real, os.path.realpath(self.root)):
            return Failure(TargetRefused(path, "it lies among the memories themselves"))
        if not self._may_lead_to(named, real):
            return Failure(TargetRefused(path, f"it leads out of the home, to {real}; name that path, if you mean it"))
        missing = TargetRefused(path, f"it leads to {real}, whose directory does not exist")
        return is_directory(os.path.dirname(real)).bind(lambda is_one: Success(real) if is_one else Failure(missing))

    def _may_lead_to(self, named: str, real: str) -> bool:
        """A path may lead anywhere in the home, and out of it only by being named so, with no link on the way."""
        home = None if self.home is None else os.path.realpath(self.home)
        if home is not None and _is_inside(real, home):
            return True
        in_the_home = self.home is not None and (_is_inside(named, self.home) or _is_inside(named, home or ""))
        same_directory = os.path.dirname(real) == os.path.realpath(os.path.dirname(named))
        return same_directory and not in_the_home

    def _read(self, path: str, real: str) -> Result[TargetFile, Error]:
        def file_of(data: bytes | None) -> TargetFile:
            directory = os.path.dirname(real)
            return TargetFile(
                path=path,
                real_path=real,
                data=data,
                in_repository=may_be_in_work_tree(directory),
                chain_bytes=chain_bytes(real, len(data or b""), self.home),
                overridden_by=overriding(real),
            )

        return _bytes_of(path, real).map(file_of)

    # -- keeping ------------------------------------------------------------------------------------------------------

    def _kept(self, file: TargetFile, after: bytes | None) -> Result[str | None, Error]:
        """The path of a copy of the section that is to go, where nobody here wrote it: a person may have written between the
        markers. A section that this machine wrote into some target is known by its digest. Raises OSError."""
        before, new = _section_of(file.data), _section_of(after)
        directory = None if self.home is None else f"{local_state_directory(self.home)}/sections"
        written = f"{directory}/{_WRITTEN}"
        known = set[str]() if directory is None else _digests_in(written)
        copy: str | None = None
        if before not in (None, new) and _digest_of(before) not in known:
            if directory is None:
                return Failure(
                    TargetRefused(file.path, "there is no home to keep a copy of what is between its markers")
                )
            copy = f"{directory}/{_digest_of(before)[:12]}-{os.path.basename(file.real_path)[:100]}"
            make_directories(directory)
            replace_file(copy, before)
        if new and directory is not None and _digest_of(new) not in known:
            make_directories(directory)
            line = f"{_digest_of(new)}\n".encode()
            make_room(written, f"{written}.1", len(line), _MAX_WRITTEN_BYTES)
            append_line(written, line, FILE_MODE)
        return Success(copy)

    # -- writing ------------------------------------------------------------------------------------------------------

    def _create(self, file: TargetFile, data: bytes) -> Result[None, Error]:
        try:
            create_file(file.real_path, data)
        except FileExistsError:
            return Failure(TargetRefused(file.path, _CHANGED))
        return Success(None)

    def _replace(self, file: TargetFile, data: bytes) -> Result[None, Error]:
        """The new bytes lie ready beside the file before it is looked at for the last time, so that what somebody else
        writes meanwhile is seen."""
        try:
            now = os.stat(file.real_path, follow_symlinks=False)
        except FileNotFoundError:
            return Failure(TargetRefused(file.path, _CHANGED))
        if not now.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(file.real_path, os.W_OK):
            return Failure(TargetRefused(file.path, "it is read-only"))
        directory, name = os.path.split(file.real_path)
        temporary = f"{directory}/.{name[:100]}.agent-memory-{os.urandom(6).hex()}"
        write_new_file(temporary, data)
        try:
            if refused := _take_on(temporary, now, file.path):
                return Failure(refused)
            match sealed(_bytes_of(file.path, file.real_path)):
                case Failure(error):
                    return Failure(error)
                case Success(current) if current != file.data:
                    return Failure(TargetRefused(file.path, _CHANGED))
                case Success(_):
                    pass
            os.replace(temporary, file.real_path)
            temporary = ""
            fsync_directory(directory)
        finally:
            if temporary:
                os.unlink(temporary)
        return Success(None)


def _take_on(temporary: str, now: os.stat_result, path: str) -> TargetRefused | None:
    """Give a file the owner and mode of the one that it is to replace."""
    made = os.stat(temporary)
    if (made.st_uid, made.st_gid) != (now.st_uid, now.st_gid):
        try:
            os.chown(temporary, now.st_uid, now.st_gid)
        except PermissionError:
            return TargetRefused(path, "it belongs to somebody else, and would not any more")
    os.chmod(temporary, stat.S_IMODE(now.st_mode))
    return None


def _section_of(data: bytes | None) -> bytes | None:
    """What a file has between its markers, with them; None where that is nothing, or nobody could tell."""
    section = None if data is None else section_in(data).lash(lambda _: Success(None)).unwrap()
    if section is None or not section.replace(SECTION_START, "").replace(SECTION_END, "").strip():
        return None
    return section.encode("utf-8", "surrogateescape")


def _digest_of(section: bytes) -> str:
    return sha256(section.replace(b"\r\n", b"\n")).hexdigest()


def _digests_in(path: str) -> set[str]:
    """Those of the sections that were written lately. What cannot be read is not known: a copy too many does no harm."""
    images = (sealed(read_file(each, 2 * _MAX_WRITTEN_BYTES)) for each in (path, f"{path}.1"))
    data = (image.unwrap() for image in images if isinstance(image, Success))
    return {line for image in data if image is not None for line in image.data.decode("ascii", "replace").split("\n")}


def _bytes_of(path: str, real: str) -> Result[bytes | None, Error]:
    match sealed(read_file(real, MAX_TARGET_BYTES)):
        case Failure(PathRefused(_, reason)):
            return Failure(TargetRefused(path, reason))
        case Failure(error):
            return Failure(error)
        case Success(image):
            return Success(image.data if isinstance(image, FileImage) else None)


def _is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


OVERRIDE = "AGENTS.override.md"
READ_BY_CODEX = (OVERRIDE, "AGENTS.md")
"""In the order of preference; one a directory."""


def chain_bytes(real_path: str, own_bytes: int, home: str | None) -> int:
    """Size of the files that Codex reads down to this one, this one (with `own_bytes`) included; 0 for a file that it
    does not read."""
    directory, name = os.path.split(real_path)
    if name not in READ_BY_CODEX:
        return 0
    codex_home = None if home is None else os.path.realpath(f"{home}/.codex")
    if directory == codex_home:
        return own_bytes
    try:
        top = work_tree_above(directory)
    except OSError:  # it is for a warning alone
        return 0
    if top is None:
        return 0
    above = _directories(os.path.realpath(top), directory)[:-1]
    return own_bytes + sum(map(_size_in, ([codex_home] if codex_home else []) + above))


def overriding(real_path: str) -> str | None:
    """The file beside this one that Codex reads in its place."""
    directory, name = os.path.split(real_path)
    path = f"{directory}/{OVERRIDE}"
    return path if name == READ_BY_CODEX[1] and os.path.isfile(path) else None


def _directories(top: str, bottom: str) -> list[str]:
    """From the top down, both included."""
    found = [bottom]
    while found[-1] != top and os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found[::-1]


def _size_in(directory: str) -> int:
    for name in READ_BY_CODEX:
        try:
            return os.stat(f"{directory}/{name}").st_size
        except OSError:
            continue
    return 0
