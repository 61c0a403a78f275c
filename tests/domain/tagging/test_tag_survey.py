"""The tags in use, and which look like one."""

from __future__ import annotations

import pytest

from agent_memory.domain.tagging import Standing, TagUse, TagVocabulary, alike, survey_tags, tag_counts


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


def test_many_tags_take_no_longer_each() -> None:
    """Every pair of 5,000 would be 12 million."""
    many = [f"topic__{'abcdefgh'[number % 8]}{number:05}word" for number in range(5_000)]
    assert alike(many) == {}
