"""The vocabulary of tags as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st
from returns.result import Success

from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.errors import StateCorrupt
from agent_memory.formats.tag_vocabulary_json import parse_tag_vocabulary, render_tag_vocabulary

tags = st.sampled_from(["topic__a", "area__b", "topic__c++", "bare", "topic__é"])


@given(st.frozensets(tags), st.lists(st.tuples(tags.filter(lambda tag: "__" in tag), st.just("topic__z"))))
def test_what_was_rendered_is_read_again(accepted: frozenset[str], renamed: list[tuple[str, str]]) -> None:
    vocabulary = TagVocabulary(accepted, dict(renamed))
    text = render_tag_vocabulary(vocabulary)
    assert parse_tag_vocabulary(text.encode(), "x") == Success(vocabulary)
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    "document",
    [
        ["Deploy", "area__Web"],
        {"vocabulary": ["Deploy", "area__Web"], "updated": "2025-06-01"},
        {"value": {"vocabulary": ["Deploy", "area__Web"]}},
        {"version": 1, "vocabulary": ["Deploy", 7, "!!!", "area__Web"], "renamed": {}},
    ],
)
def test_what_people_and_other_programs_write(document: object) -> None:
    read = parse_tag_vocabulary(json.dumps(document).encode(), "x")
    assert read == Success(TagVocabulary(frozenset(("deploy", "area__web"))))


def test_renamings_by_hand_make_no_circle() -> None:
    document = {"vocabulary": [], "renamed": {"a": "b", "b": "a", "c": "b", "d": "D"}}
    read = parse_tag_vocabulary(json.dumps(document).encode(), "x").unwrap()
    assert read.renamed == {"topic__c": "topic__b"}


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b'"x"', b"7", b'{"vocabulary": "x"}', b"\xff", b'{"a": 1, "a": 2}'])
def test_what_is_none_is_an_error_p6(data: bytes) -> None:
    assert isinstance(parse_tag_vocabulary(data, "state/project_tags.json").failure(), StateCorrupt)
