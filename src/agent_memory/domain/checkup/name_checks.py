"""Names of files: clashes, lengths, copies that synchronising programs make, names that a person gave."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed
from agent_memory.domain.text.file_name import MAX_NAME_BYTES, file_name_of
from agent_memory.domain.text.folded_name import folded_name

_SYNC_MARK = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\(.*conflicted copy.*\)|\(.*'s conflicted copy\b|_conf\(\d+\)", re.I
)
"""Syncthing; Dropbox, Nextcloud and their like; Baidu and pCloud."""
_NUMBERED = re.compile(r" (?:\d{1,2}|\(\d{1,2}\))\.[A-Za-z0-9]{1,8}\Z")
"""iCloud and file managers: `name 2.md`, `name (1).md`."""


def is_sync_conflict(name: str) -> bool:
    """Whether a synchronising program gave a file this name because two machines had written it."""
    return _SYNC_MARK.search(name) is not None


def looks_copied(name: str) -> bool:
    """Whether a file that repeats another one's id has its name from a synchronising program or a file manager."""
    return is_sync_conflict(name) or _NUMBERED.search(name) is not None


def examine_copies(copies: Iterable[NoteFile]) -> Iterator[Symptom]:
    """Files that bear the id of another one."""
    for note in copies:
        ailment = of.SYNC_CONFLICT if looks_copied(note.name) else of.DUPLICATE_ID
        yield ailment.found(
            note.path, f"It has the id {note.stored.meta.id}, as has {note.copy_of}, and so it is not seen as a note"
        )


def examine_names(live: Iterable[Listed]) -> Iterator[Symptom]:
    """The names of the live entries."""
    first: dict[str, Listed] = {}
    clashes: dict[str, list[Listed]] = {}
    for listed in live:
        folded = folded_name(listed.path)
        if first.setdefault(folded, listed) is not listed:
            clashes.setdefault(folded, []).append(listed)
        yield from _examine_name(listed)
    for folded in (each for each in first if each in clashes):
        for listed in clashes[folded]:
            yield of.NAME_CLASH.found(
                listed.path,
                f"On many disks its name is the same as that of {first[folded].path}, and one would be lost",
            )


def _examine_name(listed: Listed) -> Iterator[Symptom]:
    name = listed.path.rpartition("/")[2]
    derived = file_name_of(listed.meta)
    if name == derived:  # as most are, and never too long
        return
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        yield of.NAME_TOO_LONG.found(listed.path, f"Its name has {size} bytes, {MAX_NAME_BYTES} are safe everywhere")
    elif not listed.provisional_id and folded_name(name) != folded_name(derived):
        yield of.NAME_NOT_DERIVED.found(
            listed.path, "Its name does not follow its title and tags; the next change of either renames it"
        )
