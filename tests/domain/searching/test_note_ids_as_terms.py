"""A note is found by its ids, whole and without their prefix."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.searching.terms import chunk_terms, field_terms, note_terms
from agent_memory.domain.text.file_name import ID_PATTERN

ids = st.from_regex(ID_PATTERN, fullmatch=True)


def tag_terms(id: str, aliases: tuple[str, ...]) -> set[str]:
    meta = Meta(id=id, title="Zebra", created_at_ms=0, updated_at_ms=0, aliases=aliases)
    return set(note_terms(StoredEntry(Listed(meta, "topics/zebra.md", ""), "Lock"))[1].counts)


@given(id=ids, alias=ids)
def test_every_id_and_alias_of_a_note_is_among_its_terms_as_a_query_says_it(id: str, alias: str) -> None:
    terms = tag_terms(id, (alias,))
    for each in (id, alias):
        assert set(chunk_terms(each).wholes) <= terms
        assert each.removeprefix("id__").lower() in terms
    assert len(terms) <= 5


@given(texts=st.lists(st.text("ab C.-_/7é東", max_size=80), max_size=8))
def test_the_terms_of_a_text_are_those_of_its_chunks_however_often_they_are_asked_for(texts: list[str]) -> None:
    for text in [*texts, *texts]:
        once = [field_terms(chunk).counts for chunk in text.split()]
        together = field_terms(text).counts
        assert set(together) == {term for each in once for term in each}
        assert all(together[term] == sum(each.get(term, 0) for each in once) for term in together)
