"""Links between entries (P15)."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.text.markdown import Link, append_see_also, find_links, without_see_also, without_see_also_of

A, B, C = "id__a1b2c3", "id__c3d4e5", "id__oxd123"


def test_links_are_found_with_their_labels_and_places() -> None:
    assert find_links(f"see [[{A}]] and [[ref:b|that one]]") == (
        Link(A, None, 4, 18),
        Link("ref:b", "that one", 23, 41),
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        f"[{A}]",
        f"[[{A}",
        f"[[{A} ]]",
        "[[id__a1b2c0]]",
        "[[id__a1b2c]]",
        "[[Some page]]",
        "[[ref:]]",
        f"[[{A}|two\nlines]]",
        f"`[[{A}]]`",
        f"``a ` [[{A}]]``",
        f"```\n[[{A}]]\n```",
        f"```\nopen [[{A}]]",
        f"- item\n  ~~~ text\n  [[{A}]]\n  ~~~",
    ],
)
def test_what_is_no_link_or_stands_in_code_is_not_found(body: str) -> None:
    assert find_links(body) == ()


PIECES = st.sampled_from(
    [f"[[{A}]]", f"[[{B}|l]]", "[[ref:x]]", "`", "```\n", "\n", "\n\n", "text ", "See also:", "- ", ", "]
)
BODIES = st.lists(PIECES, max_size=12).map("".join)


@given(BODIES, st.lists(st.sampled_from([A, B, C]), max_size=3))
def test_after_appending_each_id_is_linked_once_more_at_most(body: str, ids: list[str]) -> None:
    appended = append_see_also(body, ids)
    targets = [link.target for link in find_links(appended)]
    assert set(ids) <= set(targets)
    assert [target for target in targets if target == C] == [C] * (C in ids)
    assert append_see_also(appended, ids) == appended
    assert appended.startswith(body.rstrip())


@pytest.mark.parametrize(
    ("body", "appended"),
    [
        ("Text.\n", f"Text.\n\nSee also: [[{A}]], [[{B}]]"),
        ("", f"See also: [[{A}]], [[{B}]]"),
        (f"Text about [[{A}]].", f"Text about [[{A}]].\n\nSee also: [[{B}]]"),
        (f"Text.\n\nSee also: [[{C}]]", f"Text.\n\nSee also: [[{C}]], [[{A}]], [[{B}]]"),
        ("Text.\n\nSee also:", f"Text.\n\nSee also: [[{A}]], [[{B}]]"),
        (f"Text.\n\nSee also:\n\n- [[{C}]]\n", f"Text.\n\nSee also:\n\n- [[{C}]]\n- [[{A}]]\n- [[{B}]]"),
        ("```\ncode", f"```\ncode\n```\n\nSee also: [[{A}]], [[{B}]]"),
        (f"`[[{A}]]`", f"`[[{A}]]`\n\nSee also: [[{A}]], [[{B}]]"),
    ],
)
def test_missing_links_are_appended_in_one_section(body: str, appended: str) -> None:
    assert append_see_also(body, [A, B, A]) == appended


@pytest.mark.parametrize(
    "body", ["A note.", "A note.\n\nSee also: [[id__aaaaaa]]", "A note.\n\nSee also:\n- [[id__aaaaaa]]\n"]
)
def test_bodies_that_differ_in_their_added_links_alone_say_the_same(body: str) -> None:
    assert without_see_also(body) == "A note."


def test_of_the_links_at_the_end_some_are_taken_out() -> None:
    body = append_see_also(f"As [[{A}]] says.", [B, C])
    assert without_see_also_of(body, {A, B}) == f"As [[{A}]] says.\n\nSee also: [[{C}]]"
    assert without_see_also_of(body, {B, C}) == f"As [[{A}]] says."
    assert without_see_also_of(body, {A}) == body
