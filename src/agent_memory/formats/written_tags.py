"""The tags of a note as they stand in its file."""

from __future__ import annotations

from attrs import evolve
from returns.result import Success

from agent_memory.domain.text.tags import normal_tags
from agent_memory.formats.frontmatter import join_note, read_values, split_note
from agent_memory.formats.meta_fields import META_FIELDS, write_field

_TAGS = next(field for field in META_FIELDS if field.key == "tags")
_ORDER = tuple(field.key for field in META_FIELDS)


def written_tags(text: str, read: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that the frontmatter of a readable file states, word for word; `read` are those that it was read as."""
    if not read or f"\ntags: {write_field(_TAGS, read)}\n" in text:
        return read
    parts = split_note(text)
    block = parts.unwrap().block if isinstance(parts, Success) else None
    stated = read_values(block or "").map(lambda values: values.get("tags")).value_or(None)
    return tuple(str(each) for each in stated) if isinstance(stated, list) else ()


def with_normal_tags(text: str) -> str:
    """The file with its tags in their normal form, and everything else of it as it was."""
    from agent_memory.formats.block_edit import edit_block  # only rewriting needs ruamel, which is slow to import

    parts = split_note(text).value_or(None)
    if parts is None or parts.block is None:
        return text
    stated = read_values(parts.block).map(lambda values: values.get("tags")).value_or(None)
    if not isinstance(stated, list):
        return text
    normal = write_field(_TAGS, normal_tags(map(str, stated)))
    return join_note(evolve(parts, block=edit_block(parts.block, {"tags": normal}, _ORDER)))
