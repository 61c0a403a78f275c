"""The row of a note in the index."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, Source
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.listed_json import parse_listed, render_listed

texts = st.text(st.characters(codec="utf-8"), max_size=20)
instants = st.integers(-(2**70), 2**70)
sources = st.builds(
    Source,
    harness=st.sampled_from(Harness),
    thread_id=st.none() | texts,
    repo=st.none() | texts,
    turns=st.lists(st.integers(), max_size=3).map(tuple),
)
metas = st.builds(
    Meta,
    id=texts,
    title=texts,
    created_at_ms=instants,
    updated_at_ms=instants,
    kind=st.sampled_from(Kind),
    tags=st.lists(texts, max_size=3).map(tuple),
    status=st.sampled_from(Status),
    origin=st.sampled_from(Origin),
    importance=st.sampled_from(Importance),
    confidence=st.none() | st.floats(0, 1),
    sensitivity=st.sampled_from(Sensitivity),
    aliases=st.lists(texts, max_size=2).map(tuple),
    sources=st.lists(sources, max_size=3).map(tuple),
)


@given(st.builds(Listed, meta=metas, path=texts, content_hash=texts, archived=st.booleans(), conflicted=st.booleans()))
def test_what_was_rendered_is_read_back(listed: Listed) -> None:
    assert parse_listed(render_listed(listed)) == listed


@pytest.mark.parametrize("text", ["", "[]", "[[]]", "{}", "3", '[["a"], "b"]', '[[1,2,3,4,5,"no kind"]]'])
def test_what_was_not_rendered_is_an_error(text: str) -> None:
    with pytest.raises((ValueError, TypeError, LookupError)):
        parse_listed(text)
