"""A name uses the room that it has, to the byte, and loses nothing of a title but what a file system minds (P15)."""

from __future__ import annotations

import pytest

from agent_memory.domain.entry import Meta
from agent_memory.domain.text.file_name import MAX_NAME_BYTES, file_name_of, title_in_name


def name_of(title: str, *tags: str) -> str:
    return file_name_of(Meta("id__a1b2c3", title, 1, 1, tags=tags))


def test_a_tag_that_just_fits_is_kept_and_one_a_byte_longer_is_not() -> None:
    tags = tuple(f"topic__{letter * 33}" for letter in "abcd")
    room = MAX_NAME_BYTES - len(name_of("t", *tags).encode())
    title = "t" * (room + 1)
    assert all(tag in name_of("t", *tags) for tag in tags)
    assert len(name_of(title, *tags)) == MAX_NAME_BYTES
    assert tags[-1] in name_of(title, *tags)
    assert tags[-1] not in name_of(f"{title}t", *tags)
    assert tags[-2] in name_of(f"{title}t", *tags)


@pytest.mark.parametrize("title", ["X marks the spot", "Use X", "XX", "X_marks the spot_X", "Ports...", "  - Ports. "])
def test_only_blanks_dots_dashes_and_tildes_are_taken_from_the_ends(title: str) -> None:
    expected = title.strip(" .").lstrip(" .-~")
    assert title_in_name(name_of(title)) == expected


def test_a_title_is_cut_to_the_last_byte_that_a_mac_has_room_for() -> None:
    """Each of the accented letters takes 3 bytes there: 31 of them and 27 others are 120."""
    meta = Meta("id__aaaaaa", "é" * 31 + "a" * 80, 1, 1, tags=("topic__x",))
    assert file_name_of(meta) == f"{'é' * 31}{'a' * 27} -- topic__x id__aaaaaa.md"
