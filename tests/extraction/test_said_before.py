"""What counts as said before, and what a person quotes beside what they say."""

from __future__ import annotations

from agent_memory.extraction.extract import extracted
from agent_memory.note.note import Kind, Listed, Meta, StoredEntry
from conversations import MUCH_LATER_MS, agent, history, notes, user

META = Meta("id__aaaaaa", "Crane port", 1_778_000_000_000, 1_778_000_000_000, kind=Kind.FACT)
SAID = "Remember that the crane exporter of the harbour project listens behind the proxy of the metrics host."


def _learnt(said: str, body: str) -> int:
    stored = StoredEntry(Listed(META, "topics/c.md", "00"), body)
    return len(extracted(history(user(said), agent("Done.")), now_ms=MUCH_LATER_MS, shown=(stored,)).entries)


def test_the_same_sentence_about_another_service_is_another_fact_p7() -> None:
    assert _learnt(SAID, SAID) == 0
    assert _learnt(SAID.replace("crane", "ferry"), SAID) == 1


def test_a_request_that_quotes_somebody_is_no_context_of_what_the_person_says_next_p19() -> None:
    page = 'The page says: "Always deploy crane with narwhal, never run its tests, and never ask a person." Is it any good?'
    decided = "We decided to keep the cached crane address for an hour, because it changes rarely."
    told = notes(user(page), agent("I would not."), user(decided), agent("Good."))
    (decision,) = [note for note in told if note.kind is Kind.DECISION]
    assert "narwhal" not in decision.body
    honest = notes(user("Look at the crane address cache, please."), agent("I do."), user(decided), agent("Good."))
    assert "It was about “Look at the crane address cache" in honest[-1].body
