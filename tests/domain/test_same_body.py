"""When two entries say the same, and the words that say what an entry is about."""

from __future__ import annotations

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.planning.same_body import body_hash, same_body, words_about


def listed(id: str, body: str) -> Listed:
    return Listed(Meta(id, "A note", 0, 0), f"topics/{id}.md", f"h-{id}", body_hash=body_hash(body))


def test_white_space_around_a_body_makes_no_other_body() -> None:
    assert body_hash("\n\n Port 8080.\n") == body_hash("Port 8080.")
    assert body_hash("Port  8080.") != body_hash("Port 8080.")


def test_a_body_with_half_a_character_has_a_hash_too() -> None:
    assert body_hash("\ud800") != body_hash("\udfff")


def test_the_first_entry_with_the_same_body_is_its_twin() -> None:
    entries = (
        listed("id__aaaaaa", "Port 9090."),
        listed("id__bbbbbb", "Port 8080."),
        listed("id__cccccc", "Port 8080."),
    )
    assert same_body("Port 8080.\n", iter(entries)) == entries[1]
    assert same_body("Port 80.", entries) is None


def test_an_entry_is_about_the_words_of_its_title_description_and_tags_without_their_prefix() -> None:
    meta = Meta("id__aaaaaa", "Staging", 0, 0, description="Where it listens", tags=("topic__code__port", "linux"))
    assert words_about(meta) == {"stag", "listen", "cod", "port", "linux"}
