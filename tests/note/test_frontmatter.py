"""The fast reader reads what the complete one reads, or declines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.note.frontmatter import NotReadable, Plain, flow_text, read_quickly, text_scalar
from agent_memory.note.yaml_block import block_values

OURS = """\
id: id__a1b2c3
title: "it's: \\"quoted\\" \\u0085"
description: Plain, with (signs) - and more.
tags: [topic__x, topic__c++, topic__.net, "1.5"]
aliases: []
supersedes:
  - id__a1b2c3
  - "1.5"
confidence: 0.9
pinned: true
promotedBy: null
expiresAt:
last_used: 2026-02-13T14:30:05.123Z
createdAt: 1770990605123
sources:
  - {harness: amp, threadId: "0195", turns: [3, 9]}
  - {harness: pi}
"""


def read_completely(block: str) -> dict[str, Plain] | None:
    try:
        return block_values(block)
    except NotReadable:
        return None


def test_what_we_write_is_read_quickly() -> None:
    assert read_quickly(OURS) == read_completely(OURS)
    assert read_quickly(OURS) is not None


@pytest.mark.parametrize(
    "block",
    [
        "", "# comment\na: b", "a: b # comment", "a: 'b'", "a: b: c", "a: b\n  c", "a: |\n  b", "a: &b c", "a: *b",
        "a: !b c", "a: b\na: c", "a: {b: c, b: d}", "s:\n  - {a: b, a: c}", "a : b", "a:b", "a: b ", "a: [b,c]",
        "a: [b, [c, [d]]]", "  - {a: b}", 'a: "\\x41"', 'a: "\\ud83e\\udd14"', "a: \x85", "- a", "<<: a",
    ],
)  # fmt: skip
def test_what_it_does_not_know_for_certain_it_declines(block: str) -> None:
    assert read_quickly(block) is None


KEYS = st.sampled_from(["a", "b", "title", "last_used", "tags"])
WORDS = st.text(st.one_of(st.characters(), st.sampled_from("ab1 .,:#-[]{}\"'\\/+@&*!|>%?=~\x85\u2028T")), max_size=6)
SCALARS = st.one_of(
    WORDS,
    WORDS.map(text_scalar),
    WORDS.map(lambda word: text_scalar(word, in_flow=True)),
    st.sampled_from(
        ["null", "~", "true", "no", "010", "-1", "1.5", "1e3", "0x1f", ".inf", "1_0", "2026-02-13T14:30:05Z"]
    ),
)
FLOWS = st.lists(SCALARS, max_size=3).map(lambda items: f"[{', '.join(items)}]")
MAPS = st.lists(st.tuples(KEYS, SCALARS | FLOWS), max_size=3).map(
    lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
)
LINES = st.one_of(
    st.tuples(KEYS, SCALARS | FLOWS | MAPS).map(lambda pair: f"{pair[0]}: {pair[1]}"),
    KEYS.map(lambda key: f"{key}:"),
    (MAPS | SCALARS | FLOWS).map(lambda text: f"  - {text}"),
    SCALARS,
)


@settings(max_examples=400)
@given(st.lists(LINES, max_size=4).map("\n".join))
def test_it_reads_the_same_or_declines(block: str) -> None:
    quick = read_quickly(block)
    if quick is not None:
        assert repr(quick) == repr(read_completely(block))


PLAINS: st.SearchStrategy[Plain] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab1 :#", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(PLAINS)
def test_values_written_on_one_line_read_back_the_same(value: Plain) -> None:
    text = flow_text(value)
    assert "\n" not in text
    assert repr(read_completely(f"key: [{text}]")) == repr({"key": [value]})


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_text_written_as_a_value_reads_back_the_same_quickly_and_completely(text: str) -> None:
    block = f"key: {text_scalar(text)}\n"
    assert read_quickly(block) == read_completely(block) == {"key": text}


@pytest.mark.parametrize(
    "word",
    ["no", "Yes", "ON", "y", "null", "true", "~", "010", "1e3", "2026-02-13", "", " a", "a ", "a: b", "a #b", "- a"],
)
def test_text_that_some_reader_takes_for_something_else_is_quoted(word: str) -> None:
    assert text_scalar(word) == f'"{word}"'
