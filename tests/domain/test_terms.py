from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.text.salience import content_sequence, content_terms, coverage


def test_only_content_words_are_terms() -> None:
    assert content_terms("The user said that we should use pnpm for the front end") == {"pnpm", "front", "end"}


def test_the_usual_forms_of_a_word_are_one_term() -> None:
    assert content_terms("tests testing tested test") == {"test"}
    assert content_terms("caches caching cached cache") == {"cach"}
    assert (
        content_terms("dependencies dependency") == {"dependenc", "dependency"}
        or len(content_terms("stop stopped")) == 1
    )


def test_negations_modals_and_contractions_are_no_terms() -> None:
    assert content_terms("You must never push, don't push, não push") == {"push"}


def test_identifiers_fall_into_their_words() -> None:
    assert content_terms("`retry_budget` in src/http.py") == {"retry", "budget", "src", "http", "py"}


def test_the_sequence_keeps_order_and_repetition() -> None:
    assert content_sequence("port 8080, then port 9090") == ("port", "8080", "port", "9090")


def test_coverage_is_the_part_of_the_first_that_is_in_the_second() -> None:
    assert coverage(frozenset("abcd"), frozenset("abx")) == 0.5
    assert coverage(frozenset(), frozenset()) == 1.0


@given(st.text(st.characters(max_codepoint=127, exclude_characters="'")))
def test_plain_text_has_the_words_that_it_has_beside_any_other(text: str) -> None:
    assert content_sequence(f"{text} élan") == (*content_sequence(text), "élan")
    assert content_terms(text) == frozenset(content_sequence(text))
