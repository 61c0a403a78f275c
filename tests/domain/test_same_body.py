"""When two entries say the same, and the words that say what an entry is about."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.planning.same_body import body_hash, words_of_those_about
from agent_memory.domain.text.terms import content_terms


def test_white_space_around_a_body_makes_no_other_body() -> None:
    assert body_hash("\n\n Port 8080.\n") == body_hash("Port 8080.")
    assert body_hash("Port  8080.") != body_hash("Port 8080.")


def test_a_body_with_half_a_character_has_a_hash_too() -> None:
    assert body_hash("\ud800") != body_hash("\udfff")


def test_an_entry_is_about_the_words_of_its_title_description_and_tags_without_their_prefix() -> None:
    meta = Meta("id__aaaaaa", "Staging", 0, 0, description="Where it listens", tags=("topic__code__port", "linux"))
    (words,) = words_of_those_about([Listed(meta, "topics/a.md", "")], frozenset({"port"})).values()
    assert words == {"stag", "listen", "cod", "port", "linux"}


_TEXTS = st.lists(st.sampled_from(("Staging", "ports", "it's", "naïve", "topic", "7", "the")), max_size=3).map(" ".join)
_TAGS = st.lists(st.sampled_from(("topic__ports", "area__naïve-staging", "linux", "topic__")), max_size=2)
_METAS = st.builds(
    lambda title, description, tags: Meta("id__aaaaaa", title, 0, 0, description=description, tags=tuple(tags)),
    *(_TEXTS, _TEXTS, _TAGS),
)


def _words_about(meta: Meta) -> frozenset[str]:
    tags = [tag.partition("__")[2] or tag for tag in meta.tags]
    return content_terms(" ".join((meta.title, meta.description, *tags)))


@given(st.lists(_METAS, max_size=6), _METAS)
def test_those_about_some_words_are_told_with_all_that_they_are_about(metas: list[Meta], wanted: Meta) -> None:
    entries = [Listed(meta, "topics/a.md", "") for meta in metas]
    terms = _words_about(wanted)
    expected = {at: _words_about(meta) for at, meta in enumerate(metas) if _words_about(meta) & terms}
    assert words_of_those_about(entries, terms) == expected
