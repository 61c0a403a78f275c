"""Links, code, check-boxes, titles and descriptions in the markdown of notes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from agent_memory.text.markdown import (
    CheckBoxes,
    Link,
    append_see_also,
    check_boxes,
    derive_description,
    derive_title,
    find_code,
    find_links,
    without_see_also,
    without_see_also_of,
)
from agent_memory.text.plain_text import clean_text

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
        f"[[{A}",
        "[[id__a1b2c0]]",
        "[[Some page]]",
        f"[[{A}|two\nlines]]",
        f"``a ` [[{A}]]``",
        f"```\nopen [[{A}]]",
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
        (f"Text about [[{A}]].", f"Text about [[{A}]].\n\nSee also: [[{B}]]"),
        ("Text.\n\nSee also:", f"Text.\n\nSee also: [[{A}]], [[{B}]]"),
        ("```\ncode", f"```\ncode\n```\n\nSee also: [[{A}]], [[{B}]]"),
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


def code_of(text: str) -> list[str]:
    return [text[start:end] for start, end in find_code(text).ranges]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", []),
        ("a `b` c", ["`b`"]),
        ("`a`` b", []),
        ("`a\\` b", ["`a\\`"]),
        ("`not\n\nover paragraphs`", []),
        ("```py\nx\n```\nafter", ["```py\nx\n```"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("> ```\n> x\n> ```", ["> ```\n> x\n> ```"]),
        ("```\nnever closed `a`", ["```\nnever closed `a`"]),
        ("# ```\na```", []),
    ],
)
def test_fences_and_spans_are_found(text: str, code: list[str]) -> None:
    assert code_of(text) == code


def test_a_fence_that_nothing_closes_is_named() -> None:
    assert find_code("a\n~~~~ x\nb").open_fence == "~~~~"
    assert find_code("a\n~~~~ x\nb\n~~~~").open_fence is None


MARKS = st.sampled_from(["`", "``", "```", "\n", "\n\n", "```\n", "\n```\n", "\n~~~\n", " ", "a", "\\", "x y", "\n# "])


@settings(max_examples=200)
@given(st.lists(MARKS, max_size=14).map("".join))
def test_outside_lists_the_code_is_what_a_complete_parser_finds(text: str) -> None:
    blocks = MarkdownIt("commonmark").disable(["code", "html_block", "html_inline", "lheading"]).parse(text)
    spans = [child.content for block in blocks for child in block.children or () if child.type == "code_inline"]
    found = find_code(text)
    assert [_content(text[start:end]) for start, end in found.spans] == [_bare(span) for span in spans]
    assert len(found.fences) == sum(block.type == "fence" for block in blocks)


def _content(span: str) -> str:
    ticks = len(span) - len(span.lstrip("`"))
    return _bare(span[ticks:-ticks])


def _bare(text: str) -> str:
    return "".join(text.split())


def test_what_is_open_in_its_order_and_how_many_are_done() -> None:
    body = "Intro\n\n- [ ] cut the log\n- [x] tell Ada\n* [X] and Bob\n  1. [ ] nested, with `code`\n> - [ ] quoted\n"
    assert check_boxes(body) == CheckBoxes(("cut the log", "nested, with `code`", "quoted"), 2)


def test_an_example_in_a_fence_is_nothing_to_do() -> None:
    body = "- [ ] before\n\n```md\n- [ ] in the fence\n- [x] done there\n```\n\n- [ ] behind\n"
    assert check_boxes(body) == CheckBoxes(("before", "behind"))


def test_what_is_no_box() -> None:
    for line in ("[ ] no list", "- [] nothing in it", "- [ ]", "- [ ]glued", "- [y] strange", "a - [ ] in a sentence"):
        assert check_boxes(line) == CheckBoxes(), line


def test_a_long_one_is_cut_and_hides_nothing() -> None:
    (shown,) = check_boxes(f"- [ ] x\u202e{'long ' * 200}").open
    assert len(shown) <= 300
    assert shown.endswith("…")
    assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("body", "title", "description"),
    [
        ("", "", ""),
        ("# Guards\n\nThey are pure. They run often.\n", "Guards", "They are pure."),
        ("Intro line.\n\n## Guards ##\n\nMore.", "Guards", "Intro line."),
        ("> quoted first\n\nthen", "quoted first", "quoted first"),
        ("Use tools, e.g. ruff, i.e. fast ones. Second.", "Use tools, e.g. ruff, i.e. fast ones. Second.", "Use tools, e.g. ruff, i.e. fast ones."),
        ("これは文です。次の文。", "これは文です。次の文。", "これは文です。"),
        ("```py\nonly = code\n```", "only = code", ""),
        ("#\n\n#hashtag is no heading", "#hashtag is no heading", "#hashtag is no heading"),
    ],
)  # fmt: skip
def test_title_and_description_are_what_a_reader_would_take(body: str, title: str, description: str) -> None:
    assert derive_title(body) == title
    assert derive_description(body) == description


@given(st.text(st.one_of(st.characters(), st.sampled_from("# \n`.-*>\t")), max_size=60))
def test_any_body_gives_one_clean_line_p18(body: str) -> None:
    for line in (derive_title(body), derive_description(body)):
        assert "\n" not in line
        assert len(line) <= 200
        assert clean_text(line) == line


def test_a_description_holds_no_links() -> None:
    """They mean nothing on a line of their own, and a ref is one of a reply alone."""
    assert derive_description("Deploys run [[ref:b]] from [[id__zzzzzz|the main branch]] only. And so on.") == (
        "Deploys run from the main branch only."
    )
