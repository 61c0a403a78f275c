"""When two entries say the same."""

from __future__ import annotations

from agent_memory.domain.text.derive import body_hash


def test_white_space_around_a_body_makes_no_other_body() -> None:
    assert body_hash("\n\n Port 8080.\n") == body_hash("Port 8080.")
    assert body_hash("Port  8080.") != body_hash("Port 8080.")


def test_a_body_with_half_a_character_has_a_hash_too() -> None:
    assert body_hash("\ud800") != body_hash("\udfff")
