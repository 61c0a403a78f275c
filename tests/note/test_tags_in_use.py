"""The tags in use, which look like one, what a person has accepted, and what tags became."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.note.tagging import Standing, TagUse, TagVocabulary, alike, survey_tags, tag_counts


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


def test_the_most_used_first_and_what_is_accepted_is_listed_unused() -> None:
    known = TagVocabulary(frozenset(("topic__deploy", "topic__new", "api")))
    live = [("topic__deployment", "topic__api"), ("topic__deployment", "topic__deployment"), ("topic__deploy",)]
    counts = tag_counts(live, known)
    assert survey_tags(counts, counts, alike(counts), known) == (
        TagUse("topic__deployment", 2, Standing.PROPOSED, ("topic__deploy",)),
        TagUse("topic__api", 1, Standing.ACCEPTED),
        TagUse("topic__deploy", 1, Standing.ACCEPTED, ("topic__deployment",)),
        TagUse("topic__new", 0, Standing.ACCEPTED),
    )


tags = st.sampled_from([f"topic__{letter}" for letter in "abcdef"])


def test_a_word_without_a_prefix_is_good_for_any() -> None:
    known = TagVocabulary(frozenset(("api", "topic__deploy")))
    standings = [known.standing(tag) for tag in ("topic__api", "area__api", "topic__deploy", "area__deploy")]
    assert standings == [Standing.ACCEPTED, Standing.ACCEPTED, Standing.ACCEPTED, Standing.PROPOSED]


def test_a_renamed_tag_is_called_by_its_present_name_and_once() -> None:
    known = TagVocabulary(frozenset(("topic__a",))).with_renamed("topic__a", "topic__b")
    assert known.accepted == {"topic__b"}
    assert known.current(("topic__x", "topic__a", "topic__b")) == ("topic__x", "topic__b")
    assert known.with_renamed("topic__x", "topic__y").accepted == {"topic__b"}


@given(st.lists(st.tuples(tags, tags).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_names_are_never_in_chains_and_the_last_word_counts(renamings: list[tuple[str, str]]) -> None:
    known = TagVocabulary()
    for old, new in renamings:
        known = known.with_renamed(old, new)
        assert known.current((old,)) == (new,)
    assert not known.renamed.keys() & set(known.renamed.values())
