"""The terms that say what an entry is about, and which of many entries have them, however these are packed."""

from __future__ import annotations

import hashlib

from hypothesis import given, strategies as st

from agent_memory.domain.about_terms import ABOUT_TERMS_VERSION, about_terms, postings_among
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.packed_entries import Postings, in_order
from agent_memory.domain.text import terms as terms_of_texts
from agent_memory.domain.text.terms import content_terms
from packed_notes import partly_packed


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


@given(st.lists(_METAS, max_size=6), st.none() | _METAS, st.data())
def test_the_entries_about_a_term_are_found_whichever_are_packed_in_whatever_order(
    metas: list[Meta], wanted: Meta | None, data: st.DataObject
) -> None:
    all_entries = [Listed(meta, f"topics/{at}.md", "") for at, meta in enumerate(metas)]
    are_packed = data.draw(st.lists(st.booleans(), min_size=len(metas), max_size=len(metas)))
    some = partly_packed(zip(all_entries, are_packed, strict=True))
    entries = in_order(
        some, data.draw(st.lists(st.sampled_from(range(len(metas))), unique=True) if metas else st.just([]))
    )
    if data.draw(st.booleans()):
        some.packed.entries()

    terms = None if wanted is None else _words_about(wanted) | {"nowhere"}
    about = [_words_about(each.meta) for each in entries]
    asked = frozenset().union(*about) if terms is None else terms
    expected = {term: [at for at, own in enumerate(about) if term in own] for term in asked}
    for given_as in (entries, list(entries)):
        found = postings_among(given_as, terms)
        assert _by_term(found) == {term: places for term, places in expected.items() if places}
        assert list(found.counts) == list(map(len, about))


def test_the_version_changes_with_the_terms() -> None:
    """Kept terms of another making are not those of a session. When this fails, raise ABOUT_TERMS_VERSION, then mend the
    digest."""
    said = "The Stations' caches were ﬁlled hurriedly; don't `retry_budget` src/http.py 7 a Ação 東京 tides, tied, used naïve’s"
    meta = Meta(
        "id__aaaaaa", said, 0, 0, description="Applying formations, stopped", tags=("topic__code__ports", "linux")
    )
    rules = (tuple(about_terms(meta)), sorted(terms_of_texts._COMMON), terms_of_texts._ENDS)
    digest = hashlib.sha256(repr(rules).encode()).hexdigest()[:16]
    assert (ABOUT_TERMS_VERSION, digest) == (1, "94a1e22c9e97caa4")
