"""Texts that two machines changed: nothing that either added is lost, and both machines come to the same."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.domain.merging import merged_text

LABELS = ("one", "other")
lines = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "", "`code`", "8080"]), max_size=8)
texts = lines.map("\n".join)


@settings(max_examples=150)
@given(texts, texts, texts)
def test_every_line_that_either_side_added_is_in_the_result(base: str, one: str, other: str) -> None:
    merged = merged_text(base, one, other, LABELS).split("\n")
    for side in (one, other):
        added = set(side.split("\n")) - set(base.split("\n"))
        assert added <= set(merged)


@settings(max_examples=150)
@given(texts, texts)
def test_without_a_base_every_line_of_both_is_in_the_result(one: str, other: str) -> None:
    merged = set(merged_text(None, one, other, LABELS).split("\n"))
    assert {*one.split("\n"), *other.split("\n")} <= merged


@settings(max_examples=100)
@given(texts, texts)
def test_what_one_side_left_as_it_was_is_taken_from_the_other(base: str, changed: str) -> None:
    for merged in (merged_text(base, base, changed, LABELS), merged_text(base, changed, base, LABELS)):
        assert merged == changed
    assert merged_text(base, changed, changed, LABELS) == changed


def test_changes_of_different_lines_merge_and_of_the_same_stand_between_markers() -> None:
    base = "a\nb\nc\nd\ne"
    assert merged_text(base, "A\nb\nc\nd\ne", "a\nb\nc\nd\nE", LABELS) == "A\nb\nc\nd\nE"
    both = merged_text(base, "a\nb\nX\nd\ne", "a\nb\nY\nd\ne", LABELS)
    assert both == "a\nb\n<<<<<<< one\nX\n=======\nY\n>>>>>>> other\nd\ne"


def test_a_text_that_only_says_more_wins_without_a_base() -> None:
    assert merged_text(None, "a\nb", "a\nmore\nb\nend", LABELS) == "a\nmore\nb\nend"
