"""When two entries say the same, and the words that say what an entry is about."""

from __future__ import annotations

from agent_memory.domain.entry import Meta
from agent_memory.domain.planning.same_body import body_hash, words_about


def test_white_space_around_a_body_makes_no_other_body() -> None:
    assert body_hash("\n\n Port 8080.\n") == body_hash("Port 8080.")
    assert body_hash("Port  8080.") != body_hash("Port 8080.")


def test_a_body_with_half_a_character_has_a_hash_too() -> None:
    assert body_hash("\ud800") != body_hash("\udfff")


def test_an_entry_is_about_the_words_of_its_title_description_and_tags_without_their_prefix() -> None:
    meta = Meta("id__aaaaaa", "Staging", 0, 0, description="Where it listens", tags=("topic__code__port", "linux"))
    assert words_about(meta) == {"stag", "listen", "cod", "port", "linux"}
