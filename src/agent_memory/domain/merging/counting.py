"""What a sync did, counted for people."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.text.file_name import id_in_name

_LIVE, _RETIRED = "topics/", "archive/"


@frozen
class NoteCounts:
    """Notes by what became of them from one tree to another."""

    created: int = 0
    changed: int = 0
    archived: int = 0
    removed: int = 0

    @property
    def any(self) -> bool:
        return bool(self.created or self.changed or self.archived or self.removed)

    def __add__(self, other: NoteCounts) -> NoteCounts:
        return NoteCounts(
            self.created + other.created,
            self.changed + other.changed,
            self.archived + other.archived,
            self.removed + other.removed,
        )

    def words(self) -> str:
        """`2 new, 1 changed`; `no note` for none."""
        named = (("new", self.created), ("changed", self.changed), ("archived", self.archived), ("gone", self.removed))
        return ", ".join(f"{count} {word}" for word, count in named if count) or "no note"


def count_notes(before: Mapping[str, object], after: Mapping[str, object]) -> NoteCounts:
    """How the live notes of two trees differ; values are compared as they are."""
    was, now = _live(before), _live(after)
    retired = {_key(path) for path in after if path.startswith(_RETIRED) and path.count("/") == 1}
    gone = was.keys() - now.keys()
    return NoteCounts(
        created=len(now.keys() - was.keys()),
        changed=sum(was[key] != now[key] for key in was.keys() & now.keys()),
        archived=len(gone & retired),
        removed=len(gone - retired),
    )


def _live(files: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    return {_key(path): (path, held) for path, held in files.items() if path.startswith(_LIVE)}


def _key(path: str) -> str:
    name = path.rpartition("/")[2]
    return id_in_name(name) or name
