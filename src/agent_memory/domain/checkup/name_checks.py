"""Names of files: clashes, lengths, copies that synchronising programs make, names that a person gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.notes import NoteFile
from agent_memory.domain.checkup.symptom import Symptom
from agent_memory.domain.entry import Listed
from agent_memory.domain.text.file_name import MAX_NAME_BYTES, file_name_of, is_safe_name
from agent_memory.domain.text.folded_name import folded_name, folded_names

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


def examine_clashes(paths: Sequence[str]) -> Iterator[Symptom]:
    """Live files whose names many disks would not keep apart."""
    folded = folded_names(paths)
    if len(set(folded)) == len(paths):
        return
    first = dict(zip(reversed(folded), reversed(paths), strict=True))
    clashes: dict[str, list[str]] = {name: [] for name, number in Counter(folded).items() if number > 1}
    for name, path in zip(folded, paths, strict=True):
        if name in clashes and path != first[name]:
            clashes[name].append(path)
    for name, others in clashes.items():
        for path in others:
            yield of.NAME_CLASH.found(
                path, f"On many disks its name is the same as that of {first[name]}, and one would be lost"
            )


def examine_name(listed: Listed) -> Iterator[Symptom]:
    """The name of one live file, whatever others are called."""
    name = listed.path.rpartition("/")[2]
    derived = file_name_of(listed.meta)
    if name == derived:  # as most are, and never too long
        return
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        yield of.NAME_TOO_LONG.found(listed.path, f"Its name has {size} bytes, {MAX_NAME_BYTES} are safe everywhere")
    elif not is_safe_name(name):
        yield of.NAME_UNSAFE.found(listed.path, "Its name holds what a shell or a link reads as something else")
    elif not listed.provisional_id and folded_name(name) != folded_name(derived):
        yield of.NAME_NOT_DERIVED.found(
            listed.path, "Its name does not follow its title and tags; the next change of either renames it"
        )
