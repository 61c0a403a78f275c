"""The terms that say what an entry is about, and which of many entries have them, however these are packed."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.similarity import Postings, about_terms, postings_among
from agent_memory.domain.text.terms import content_terms


def test_an_entry_is_about_the_words_of_its_title_description_and_tags_without_their_prefix() -> None:
    meta = Meta(
        "id__aaaaaa", "Staging", 0, 0, description="Where it listens", tags=("topic__code__port", "linux", "x__")
    )
    assert tuple(about_terms(meta)) == ("stag", "listen", "cod", "port", "linux")
    assert tuple(about_terms(Meta("id__aaaaaa", "", 0, 0))) == ()


_TEXTS = st.lists(st.sampled_from(("Staging", "ports", "it's", "naïve", "port", "7", "the", "東京")), max_size=3).map(
    " ".join
)
_TAGS = st.lists(st.sampled_from(("topic__ports", "area__naïve-staging", "linux", "topic__")), max_size=2)
_METAS = st.builds(
    lambda title, description, tags: Meta("id__aaaaaa", title, 0, 0, description=description, tags=tuple(tags)),
    *(_TEXTS, _TEXTS, _TAGS),
)


def _words_about(meta: Meta) -> frozenset[str]:
    tags = [tag.partition("__")[2] or tag for tag in meta.tags]
    return content_terms(" ".join((meta.title, meta.description, *tags)))


def _by_term(postings: Postings) -> dict[str, list[int]]:
    return {term: sorted(places) for term, places in postings.places.items()}


@given(st.lists(_METAS, max_size=6), st.none() | _METAS)
def test_the_entries_about_a_term_are_found(metas: list[Meta], wanted: Meta | None) -> None:
    entries = [Listed(meta, f"topics/{at}.md", "") for at, meta in enumerate(metas)]
    terms = None if wanted is None else _words_about(wanted) | {"nowhere"}
    about = [_words_about(each.meta) for each in entries]
    asked = frozenset().union(*about) if terms is None else terms
    expected = {term: [at for at, own in enumerate(about) if term in own] for term in asked}
    found = postings_among(entries, terms)
    assert _by_term(found) == {term: places for term, places in expected.items() if places}
    assert list(found.counts) == list(map(len, about))
