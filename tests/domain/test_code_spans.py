"""Where markdown is code, compared with a complete parser."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from agent_memory.domain.text.markdown import find_code


def code_of(text: str) -> list[str]:
    return [text[start:end] for start, end in find_code(text).ranges]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", []),
        ("no code", []),
        ("a `b` c", ["`b`"]),
        ("``a`b``", ["``a`b``"]),
        ("`a`` b", []),
        ("\\`a` b`", ["` b`"]),
        ("`a\\` b", ["`a\\`"]),
        ("`over\nlines`", ["`over\nlines`"]),
        ("`not\n\nover paragraphs`", []),
        ("- `not\n- over items`", []),
        ("```py\nx\n```\nafter", ["```py\nx\n```"]),
        ("~~~\n```\n~~~", ["~~~\n```\n~~~"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("- item\n\n  ```\n  x\n  ```", ["  ```\n  x\n  ```"]),
        ("> ```\n> x\n> ```", ["> ```\n> x\n> ```"]),
        ("``` not`a fence\nx", []),
        ("```\nnever closed `a`", ["```\nnever closed `a`"]),
        ("`a` ``` `b`", ["`a`", "`b`"]),
        ("# ```\na```", []),
        ("# `a`\n`b`", ["`a`", "`b`"]),
    ],
)
def test_fences_and_spans_are_found(text: str, code: list[str]) -> None:
    assert code_of(text) == code


def test_a_fence_that_nothing_closes_is_named() -> None:
    assert find_code("a\n~~~~ x\nb").open_fence == "~~~~"
    assert find_code("a\n~~~~ x\nb\n~~~~").open_fence is None


PIECES = st.sampled_from(["`", "``", "```", "\n", "\n\n", "```\n", "\n```\n", "\n~~~\n", " ", "a", "\\", "x y", "\n# "])


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=14).map("".join))
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
