"""The tree that a merge makes, file by file."""

from __future__ import annotations

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.merging.forgotten import Forgotten
from agent_memory.domain.merging.tree import Leaf, Remark, Tree
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.formats.merge_sides import ARCHIVE, Contents, Held, Place
from agent_memory.formats.note import render_note
from agent_memory.values import define, field


@define
class Outcome:
    """What is decided so far."""

    ours: Tree
    theirs: Tree
    contents: Contents
    forgotten: Forgotten
    files: dict[str, Held] = field(factory=dict[str, Held])
    conflicts: list[Remark] = field(factory=list[Remark])
    remarks: list[Remark] = field(factory=list[Remark])
    forgotten_count: int = 0
    _taken: set[str] = field(factory=set[str])

    def remark(self, subject: str, what: str) -> None:
        self.remarks.append(Remark(subject, what))

    def put(self, path: str, held: Held) -> None:
        """The file, at the path; at another where a name that only differs in case is taken."""
        if path not in self.files and folded_name(path) in self._taken:
            path = _beside(path, str(len(self._taken)))
        self._taken.add(folded_name(path))
        self.files[path] = held

    def keep(self, id: str, place: Place | None, *, is_new: bool = False) -> None:
        """A note as one side has it, unless it was forgotten."""
        if place is None:
            return
        if self.ours.get(place.path) == place.leaf:
            self.put(place.path, place.leaf)  # our own forgetting has seen to it
        else:
            self.admit(place.path, id, place.leaf, is_new=is_new)

    def admit(self, path: str, id: str | None, held: Held, *, is_new: bool = False) -> None:
        """A file of a note that this machine does not have so, without what was forgotten of it."""
        entry = self.contents.entry(path, held)
        left = None if entry is None else self.forgotten.left_of(entry, is_new=is_new)
        if (entry is None and self.forgotten.takes_id(id)) or (entry is not None and left is None):
            self.forgotten_count += 1
        elif left is entry or left is None:
            self.put(path, held)
        else:
            self.put(path, self.rendered(left, held))

    def rendered(self, entry: MemoryEntry, previous: Held) -> bytes:
        return render_note(entry, (self.contents.of(previous) or b"").decode("utf-8")).encode()

    def keep_version(self, id: str, place: Place) -> None:
        """The bytes of a version that is live no more, in the archive, under the next free millisecond (P12)."""
        entry = self.contents.entry(place.path, place.leaf)
        data = self.contents.of(place.leaf)
        if entry is None or data is None or self.forgotten.left_of(entry, is_new=False) is not entry:
            return
        ms = max(entry.meta.updated_at_ms, 0)
        while any(held != data for held in self._held_at(f"{ARCHIVE}{id}/{ms}.md")):
            ms += 1
        self.put(f"{ARCHIVE}{id}/{ms}.md", data)

    def keep_beside(self, path: str, leaf: Leaf) -> None:
        """The other machine's file under a name of its own."""
        if not self.forgotten.takes_id(id_in_name(path.rpartition("/")[2])):
            beside = _beside(path, f"from another machine {leaf.object_id[:8]}")
            self.put(beside, leaf)
            self.remark(path, f"was changed on both machines: the other machine's is {beside!r}")

    def _held_at(self, path: str) -> tuple[bytes | None, ...]:
        """What lies at a path, in the result or on one of the sides."""
        there = (self.files.get(path), self.ours.get(path), self.theirs.get(path))
        return tuple(self.contents.of(held) for held in there if held is not None)


def _beside(path: str, what: str) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem} ({what}).{ending}" if dot and "/" not in ending else f"{path} ({what})"
