"""Tags."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from agent_memory.text.ids import ID_PATTERN, MAX_TAG_CHARS, normal_tag, split_tags


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("x", "topic__x"),
        ("topic__xstate", "topic__xstate"),
        ("Area__Foo Bar", "area__foo-bar"),
        ("C++", "topic__c++"),
        ("c#", "topic__c#"),
        ("#hashtag", "topic__hashtag"),
        (".NET", "topic__.net"),
        ("node.js", "topic__node.js"),
        ("snake_case", "topic__snake-case"),
        ("  padded  ", "topic__padded"),
        ("Żółć", "topic__żółć"),
        ("हिन्दी", "topic__हिन्दी"),
        ("日本語", "topic__日本語"),
        ("a/b\\c", "topic__a-b-c"),
        ("../../etc/passwd", "topic__.-.-etc-passwd"),
        ("$(rm -rf ~)", "topic__rm-rf"),
        ("-rf", "topic__rf"),
        ("area__a__b", "area__a-b"),
        ("id__a1b2c3", "topic__id-a1b2c3"),
        ("grid__layout", "topic__grid-layout"),
    ],
)
def test_a_tag_is_what_was_meant_as_a_safe_slug_p21(text: str, tag: str) -> None:
    assert normal_tag(text) == tag


@pytest.mark.parametrize("text", ["", "  ", "..", "---", "topic__", "///", "❤️", "\u200b", "\u0301"])
def test_where_nothing_can_be_a_tag_there_is_none(text: str) -> None:
    assert normal_tag(text) is None


@given(st.one_of(st.text(max_size=90), st.from_regex(r"[A-Za-z]{1,5}__.{0,80}", fullmatch=True)))
def test_a_normal_tag_is_short_safe_and_stays_as_it_is_p21(text: str) -> None:
    tag = normal_tag(text)
    if tag is not None:
        assert len(tag) <= MAX_TAG_CHARS
        assert re.fullmatch(r"[a-z][a-z0-9]*__[^\s/\\:,'\"`$;&|<>()\[\]{}*?!~^%@=_\x00-\x1f]+", tag)
        assert not re.search(ID_PATTERN, tag)
        assert ".." not in tag
        assert normal_tag(tag) == tag


@pytest.mark.parametrize("text", ["a b", "a,b", " a , b ", "a\tb\n", "a,,b,"])
def test_a_list_is_separated_by_commas_or_white_space(text: str) -> None:
    assert split_tags(text) == ("a", "b")
