"""Edits of hand-written frontmatter."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.note.note_format import read_values
from agent_memory.note.yaml_block import edit_block

ORDER = ("id", "title", "tags", "pinned", "aliases", "sources")

KNOWN = {
    "id": ["id: id__a1b2c3", "id:", '"id": x # comment-i'],
    "title": [
        "title: plain words",
        "title: 'quoted # no comment'",
        "title: >\n  folded\n  # no comment",
        "title: over\n  two lines",
    ],
    "tags": [
        "tags: []",
        "tags: [a, b] # comment-t",
        "tags:\n- a\n- b # comment-u",
        "tags: # comment-v\n    # comment-w\n    - b",
    ],
    "pinned": ["pinned: false", "pinned: # comment-p", "pinned : no"],
    "aliases": ["aliases: [ # comment-a\n  x, # comment-b\n  ]"],
    "sources": [
        "sources: []",
        "sources:\n  - {harness: amp} # comment-s",
        "sources:\n  -\n    harness: amp # comment-r",
    ],
}
UNKNOWN = [
    "mine: {a: [1, 2]}  # comment-x",
    "text: |\n  # no comment\n\n  more",
    "list:\n  - a\n  # comment-y\n  - b: c\n    d: e",
    '"quoted key": "1"',
    "# comment-z",
    "",
]
CHANGES = {"id": "id__c3d4e5", "title": '"New: # title"', "tags": "[b, c]", "pinned": "true", "aliases": "[]"} | {
    "sources": "\n  - {harness: amp}\n  - {harness: pi, threadId: x}"
}
LINES = st.tuples(
    *(st.none() | st.sampled_from(written) for written in (*KNOWN.values(), *([line] for line in UNKNOWN)))
)
BLOCKS = LINES.map(lambda lines: [line for line in lines if line is not None]).flatmap(st.permutations)


@given(BLOCKS, st.sets(st.sampled_from(ORDER)), st.sampled_from(["", "  "]))
def test_only_what_changes_changes(lines: list[str], keys: set[str], indent: str) -> None:
    block = "".join(f"{indent}{line}\n" for line in "\n".join(lines).split("\n")) if lines else ""
    changes = {key: CHANGES[key] for key in ORDER if key in keys}
    edited = edit_block(block, changes, ORDER)

    wanted = read_values(block)
    for key, text in changes.items():
        wanted[key] = read_values(f"{key}: {text}\n" if text[0] != "\n" else f"{key}:{text}\n")[key]
    assert read_values(edited) == wanted
    before = read_values(block)
    assert [key for key in read_values(edited) if key in before] == list(before)

    for line in lines:
        if any(line in KNOWN[key] for key in keys):
            continue
        assert "\n".join(f"{indent}{part}" for part in line.split("\n")) in edited
    for comment in (word for word in block.split() if word.startswith("comment-")):
        assert f"# {comment}" in edited


def test_a_new_key_stands_after_the_last_that_precedes_it() -> None:
    assert edit_block("title: x\nmine: 1\n", {"id": "i", "tags": "[]"}, ORDER) == "id: i\ntitle: x\ntags: []\nmine: 1\n"


def test_a_block_in_braces_is_written_anew() -> None:
    block = "{title: x, mine: {a: 'b'}} # why\n"
    assert edit_block(block, {"pinned": "true"}, ORDER) == "# why\ntitle: x\nmine: {a: b}\npinned: true\n"


def test_only_a_readable_block_is_edited() -> None:
    with pytest.raises(ValueError, match="anchors"):
        edit_block("a: &b c\n", {"id": "x"}, ORDER)
