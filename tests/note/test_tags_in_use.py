"""The tags in use, which look like one, what a person has accepted, and what tags became."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.note.tagging import Standing, TagVocabulary, alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("topic__deploy", "topic__deployment"),
        ("topic__api", "topic__apis"),
        ("topic__front-end", "topic__frontend"),
        ("topic__web", "area__web"),
        ("topic__postgres", "topic__postgress"),
        ("topic__kubernetes", "topic__kubernetse"),
        ("topic__typescript", "topic__typscript"),
        ("topic__testing", "topic__tests"),
    ],
)
def test_one_tag_written_twice(one: str, other: str) -> None:
    assert alike([one, other, "topic__zebra"]) == {one: {other}, other: {one}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("topic__python2", "topic__python3"),
        ("topic__ios", "topic__iot"),
        ("topic__c++", "topic__c#"),
        ("topic__react", "topic__redux"),
        ("topic__release1.10", "topic__release1.11"),
        ("topic__abcdefg", "topic__bacdegf"),
    ],
)
def test_two_tags(one: str, other: str) -> None:
    assert alike([one, other]) == {}


tags = st.sampled_from([f"topic__{letter}" for letter in "abcdef"])


def test_a_word_without_a_prefix_is_good_for_any() -> None:
    known = TagVocabulary(frozenset(("api", "topic__deploy")))
    standings = [known.standing(tag) for tag in ("topic__api", "area__api", "topic__deploy", "area__deploy")]
    assert standings == [Standing.ACCEPTED, Standing.ACCEPTED, Standing.ACCEPTED, Standing.PROPOSED]


@given(st.lists(st.tuples(tags, tags).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_names_are_never_in_chains_and_the_last_word_counts(renamings: list[tuple[str, str]]) -> None:
    known = TagVocabulary()
    for old, new in renamings:
        known = known.with_renamed(old, new)
        assert known.current((old,)) == (new,)
    assert not known.renamed.keys() & set(known.renamed.values())
