"""What one claim at a time says."""

from __future__ import annotations

from agent_memory.domain.defragging.changed_claims import clauses_of, denying_sentences


def test_a_sentence_is_cut_into_what_it_affirms_and_denies() -> None:
    found = clauses_of("Use MAX, and never UNIX; install it, to run tests.")
    assert [(each.text, each.denied, each.leads, each.is_claim) for each in found] == [
        ("Use MAX", False, True, True),
        ("and never UNIX", True, False, True),
        ("install it", False, True, True),
        ("to run tests", False, False, False),
    ]


def test_a_denial_that_names_nothing_denies_the_rest_of_its_sentence() -> None:
    found = clauses_of("Do not, under any circumstances, push to main, or force it. Push to staging.")
    assert [(each.text, each.denied) for each in found] == [
        ("under any circumstances", True),
        ("push to main", True),
        ("or force it", True),
        ("Push to staging", False),
    ]


def test_a_sentence_denies_where_nothing_in_it_affirms() -> None:
    found = denying_sentences("Never use MAX. Do not push, never force, ever: wait. Do not push, run it later.")
    assert [each.text for each in found] == ["Never use MAX", "Do not push, never force, ever"]
    assert all(each.denied for each in found)
