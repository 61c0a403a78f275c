"""What looks at notes found, as `.cache/examined` and back: the files that were looked at, each with the hash of what was in it
then, and the looks of those of which there is something to be said; which tags are alike (see `sealed_marshal` for what is around
them)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.domain.checkup.note_look import NoteLook
from agent_memory.domain.tagging.alike_tags import AlikeTags
from agent_memory.formats.sealed_marshal import sealed_value, unsealed_value
from agent_memory.values import field, field_names, frozen

_LAYOUT = "looks 3"
_LOOK = field_names(NoteLook)


@frozen
class Looks:
    """By the paths of files."""

    hashes: Mapping[str, str] = field(factory=dict[str, str])
    """Of the content with which each was looked at."""
    odd: Mapping[str, NoteLook] = field(factory=dict[str, NoteLook])
    """What was found in those in which something was."""
    tags: AlikeTags = AlikeTags()
    """Of notes that are not secret."""


def render_looks(judges: str, looks: Looks) -> bytes:
    """The whole file. `judges` is what they depend on: by others another look may be found."""
    odd = {path: tuple([getattr(look, name) for name in _LOOK]) for path, look in looks.odd.items()}
    tags = (dict(looks.tags.forms), {tag: tuple(others) for tag, others in looks.tags.near.items()})
    return sealed_value((_LOOK, list(looks.hashes), list(looks.hashes.values()), odd, tags), _LAYOUT, judges)


def parse_looks(judges: str, data: bytes) -> Looks:
    """What was rendered by the same judges; nothing of anything else."""
    found: tuple[Any, ...] | None = unsealed_value(data, _LAYOUT, judges)
    if found is None or found[0] != _LOOK:
        return Looks()
    _, paths, hashes, odd, (forms, near) = found
    return Looks(
        dict(zip(paths, hashes, strict=True)),
        {path: NoteLook(*fields) for path, fields in odd.items()},
        AlikeTags(forms, {tag: frozenset(others) for tag, others in near.items()}),
    )
