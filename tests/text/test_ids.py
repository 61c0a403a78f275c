"""Ids, tags and slugs. The known answers were computed with openssl and perl's big integers, not with this package."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.text.ids import (
    ID_PATTERN,
    MAX_TAG_CHARS,
    IdSet,
    is_id,
    mint_id,
    normal_tag,
    slug_beginning,
    slug_of,
    split_tags,
)


@given(st.text(), st.integers(min_value=0), st.integers(min_value=1, max_value=5))
def test_ids_minted_one_after_the_other_never_repeat_p15(title: str, created_at_ms: int, number: int) -> None:
    taken: set[str] = set()
    for _ in range(number):
        minted = mint_id(title, created_at_ms, taken)
        assert is_id(minted)
        assert minted.casefold() not in taken
        taken.add(minted.casefold())


@pytest.mark.parametrize(
    "text",
    [
        "", "id__", "a1b2c3", "id__a1b2c", "id__a1b2c34", "id__a1b2c0", "id__a1b2cO", "id__a1b2cI", "id__a1b2cl",
        "ID__a1b2c3", "id_a1b2c3", "id__a1b2c3\n", " id__a1b2c3", "id__a1b2c³", "../id__a1b2c3", "id__a/b2c3",
    ],
)  # fmt: skip
def test_anything_else_is_no_id_p21(text: str) -> None:
    assert not is_id(text)


@settings(max_examples=40)
@given(st.lists(st.text(max_size=4), max_size=60))
def test_it_is_a_set(ids: list[str]) -> None:
    held, reference = IdSet(), set[str]()
    for id in ids:
        assert held.add(id) is (id not in reference)
        reference.add(id)
    assert len(held) == len(reference)
    assert all(id in held for id in reference)
    assert "none of them" not in held


# -- tags ---------------------------------------------------------------------------------------------------------------


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


# -- slug ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "id", ["7c9e6679-7425-40de-944b-e07fc1f90ae7", "T-5928a90d-d53b-488f-a829-4e36442142ee", "rollout.2026_x"]
)
def test_the_ids_of_harnesses_stay_as_they_are(id: str) -> None:
    assert slug_of(id) == id


@settings(max_examples=100)
@given(st.text())
def test_any_text_gives_one_plain_short_name_p21(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,112}", slug_of(text))


@settings(max_examples=100)
@given(st.text(max_size=6), st.text(max_size=6))
def test_two_texts_never_share_a_name_even_where_case_is_ignored_p21(one: str, other: str) -> None:
    assert (slug_of(one).casefold() == slug_of(other).casefold()) == (one == other)


@settings(max_examples=200)
@given(st.text(max_size=12) | st.text("aB-._/é", max_size=120), st.text(max_size=12) | st.text("ab", max_size=120))
def test_a_slug_begins_as_the_beginning_of_its_text_does(beginning: str, rest: str) -> None:
    assert slug_of(beginning + rest).startswith(slug_beginning(beginning))
