"""What a person has accepted, and what tags became."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.tagging import Standing, TagVocabulary

tags = st.sampled_from([f"topic__{letter}" for letter in "abcdef"])


def test_without_an_accepted_tag_all_are_free() -> None:
    assert TagVocabulary().standing("topic__x") is Standing.FREE
    assert TagVocabulary(renamed={"topic__y": "topic__x"}).standing("topic__x") is Standing.FREE


def test_a_word_without_a_prefix_is_good_for_any() -> None:
    known = TagVocabulary(frozenset(("api", "topic__deploy")))
    standings = [known.standing(tag) for tag in ("topic__api", "area__api", "topic__deploy", "area__deploy")]
    assert standings == [Standing.ACCEPTED, Standing.ACCEPTED, Standing.ACCEPTED, Standing.PROPOSED]


def test_a_renamed_tag_is_called_by_its_present_name_and_once() -> None:
    known = TagVocabulary(frozenset(("topic__a",))).with_renamed("topic__a", "topic__b")
    assert known.accepted == {"topic__b"}
    assert known.current(("topic__x", "topic__a", "topic__b")) == ("topic__x", "topic__b")
    assert known.with_renamed("topic__x", "topic__y").accepted == {"topic__b"}


def test_back_again() -> None:
    there = TagVocabulary().with_renamed("topic__a", "topic__b")
    assert there.with_renamed("topic__b", "topic__a").renamed == {"topic__b": "topic__a"}
    assert there.with_accepted(["topic__a"]) == TagVocabulary(frozenset(("topic__a",)))


@given(st.lists(st.tuples(tags, tags).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_names_are_never_in_chains_and_the_last_word_counts(renamings: list[tuple[str, str]]) -> None:
    known = TagVocabulary()
    for old, new in renamings:
        known = known.with_renamed(old, new)
        assert known.current((old,)) == (new,)
    assert not known.renamed.keys() & set(known.renamed.values())
