"""Tags as they stand in a file, and their normal form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.formats.note import parse_note, with_normal_tags, written_tags

NOTE = "---\nid: id__a1b2c3\ntitle: Ports\ntags: {tags}  # mine\nx: 1\n---\n\nbody\n"


def read(text: str) -> tuple[str, ...]:
    return parse_note(text, "topics/a id__a1b2c3.md", 0).unwrap().meta.tags


@pytest.mark.parametrize(
    ("tags", "stated"),
    [
        ("[topic__api]", ("topic__api",)),
        ("[Api, topic__b]", ("Api", "topic__b")),
        ('["area__x y"]', ("area__x y",)),
        ("[]", ()),
    ],
)
def test_they_are_told_word_for_word(tags: str, stated: tuple[str, ...]) -> None:
    text = NOTE.format(tags=tags)
    assert written_tags(text, read(text)) == stated


def test_their_normal_form_changes_nothing_else() -> None:
    text = NOTE.format(tags="[Api, topic__b]").replace("\n", "\r\n")
    expected = text.replace("[Api, topic__b]", "[topic__api, topic__b]")
    assert with_normal_tags(text) == expected
    assert with_normal_tags(expected) == expected


def test_a_list_in_lines_and_files_without_frontmatter() -> None:
    text = "---\nid: id__a1b2c3\ntags:\n  - Api\n  - area__b\n---\n\nbody\n"
    assert written_tags(text, read(text)) == ("Api", "area__b")
    normal = with_normal_tags(text)
    assert written_tags(normal, read(normal)) == ("topic__api", "area__b")
    assert with_normal_tags("no frontmatter\n") == "no frontmatter\n"
    assert written_tags("no frontmatter\n", ()) == ()


@given(st.lists(st.text("aZ_- é", min_size=1, max_size=8), max_size=4))
@settings(max_examples=40)
def test_the_normal_form_reads_as_the_same_tags(tags: list[str]) -> None:
    quoted = ", ".join(f'"{tag}"' for tag in tags)
    parsed = parse_note(NOTE.format(tags=f"[{quoted}]"), "topics/a id__a1b2c3.md", 0)
    before = parsed.value_or(None)
    if before is not None:
        normal = with_normal_tags(NOTE.format(tags=f"[{quoted}]"))
        assert read(normal) == before.meta.tags
        assert written_tags(normal, read(normal)) == before.meta.tags
