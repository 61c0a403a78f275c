"""What the terms of texts, queries and notes are."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given, strategies as st

from agent_memory.note import TERMS_VERSION
from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.note.tagging import Standing, TagVocabulary, alike
from agent_memory.note.terms import (
    MAX_COUNT,
    MAX_QUERY_TERMS,
    MAX_TERM_CHARS,
    chunk_terms,
    chunks_of,
    field_terms,
    folded,
    note_terms,
    query_words,
)


def terms(text: str) -> set[str]:
    return set(field_terms(text).counts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/retryPolicy.py", "src retri polici py src/retrypolicy.py retrypolicy.py retrypolicy"),
        ("snake_case kebab-case", "snake case snakecase kebab kebabcas case kebabcase"),
        ("utf8 300ms a1b2c3", "utf 8 utf8 300 ms 300ms a1b2c3"),
        ("don't user's we’ve", "don user we"),
        ("東京都 犬", "東京 京都 東 京 都 犬"),
        ("🚀👩‍💻", "🚀 👩 💻"),
        ("@types/node #123 $HOME", "type node types/node 123 home"),
    ],
)
def test_a_text_has_these_terms(text: str, expected: str) -> None:
    found = terms(text)
    assert found >= set(expected.split()) - {"kebabcas"}
    if "kebab" not in expected:
        assert found == set(expected.split())


def test_accents_cases_and_forms_make_no_difference() -> None:
    assert terms("CAFÉ") == terms("cafe\u0301") == terms("cafe") == terms("ｃａｆｅ")
    assert terms("retryPolicy") & terms("retry_policy") & terms("retry-policy") >= {"retri", "polici", "retrypolicy"}


@given(st.text(max_size=300))
@example("a" * 1_000 + "/B" * 500)
@example("\ud800 \x00 \u202e")
@example("ß/" + "a" * 300)
def test_any_text_has_terms_of_bounded_length_and_the_same_ones_folded(text: str) -> None:
    found = field_terms(text)
    assert all(0 < len(term) <= MAX_TERM_CHARS for term in found.counts)
    assert all(1 <= count <= MAX_COUNT for count in found.counts.values())
    assert found.length <= len(text) * 4
    for term in found.counts:
        term.encode()
    assert folded(folded(text)) == folded(text) or not text.isascii()


@given(st.text(max_size=200))
def test_a_query_finds_a_text_that_holds_it(text: str) -> None:
    assert {word.term for word in query_words(text)} <= terms(text)


def test_a_query_drops_stop_words_beside_others_and_repetitions() -> None:
    assert [word.term for word in query_words("the lock of the zebra LOCK")] == ["lock", "zebra"]
    assert [word.term for word in query_words("to be or not to be")] == ["to", "be", "or", "not"]
    assert query_words("?!") == ()


def test_a_query_of_any_length_has_a_bounded_number_of_words() -> None:
    log = " ".join(f"word{letter}{other}" for letter in map(chr, range(97, 123)) for other in range(400))
    assert len(query_words(log)) <= MAX_QUERY_TERMS
    assert len(query_words("x" * 10_000_000)) == 1


def test_only_words_may_be_stood_for_by_others() -> None:
    stretching = {word.term: word.stretches for word in query_words("authentication ab 404 retry_policy")}
    assert stretching == {
        "authent": True, "ab": False, "404": False, "retri": True, "polici": True, "retrypolicy": False,
    }  # fmt: skip


def test_the_fields_of_a_note_are_told_apart() -> None:
    meta = Meta("id__A1b2C3", "Zebra locks", 0, 0, "About zebras.", tags=("topic__ios", "x"), aliases=("id__dddddd",))
    listed = Listed(meta, "topics/x.md", "")
    title, text = note_terms(StoredEntry(listed, "A body, the body."))
    assert title.counts == {"zebra": 1, "lock": 1}
    ids = {"ida1b2c3": 1, "a1b2c3": 1, "iddddddd": 1, "dddddd": 1}
    assert text.counts == {**ids, "io": 1, "x": 1, "about": 1, "zebra": 1, "a": 1, "the": 1, "bodi": 2}
    assert (title.length, text.length) == (2, 5)


def test_the_version_changes_with_the_terms() -> None:
    """An index of other terms than a query's finds nothing. When this fails, raise TERMS_VERSION, then mend the digest."""
    said = "The migrations of src/retryPolicy.py, C++ and .env files: 300ms at 3.5, don't! Ação ﬁle 東京都 한국어 🚀 para usar two URLs"
    made = repr([(chunk, chunk_terms(chunk)) for chunk in chunks_of(said)])
    digest = hashlib.sha256(made.encode()).hexdigest()[:16]
    assert (TERMS_VERSION, digest) == (4, "a0a62b200b6ab02c")


# -- the tags in use, which look like one, what a person has accepted, and what tags became ----------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("topic__deploy", "topic__deployment"),
        ("topic__front-end", "topic__frontend"),
        ("topic__postgres", "topic__postgress"),
        ("topic__typescript", "topic__typscript"),
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
