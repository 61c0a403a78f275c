"""The handoff: when there is one, what it holds, and how it goes on as its session grows."""

from __future__ import annotations

from agent_memory.extraction.extract import extracted
from agent_memory.note.note import Kind, Listed, Meta, StoredEntry
from agent_memory.rules.plan import ChangeSet
from agent_memory.session.history import History, ToolCall
from agent_memory.text.instants import DAY_MS, HOUR_MS
from agent_memory.text.salience import lost_salience
from conversations import EDIT, MUCH_LATER_MS, STARTED_AT_MS, agent, history, notes, tool, user, work_on

SOON_MS = STARTED_AT_MS + HOUR_MS
HANDOFF_ID = "id__a1b2c3"
TWO_REQUESTS = (
    *work_on("Guests see a wrong total price.", "I changed `total()` so that it reads the guest price once."),
    *work_on("And add a test for the discount.", "Added `test_discount` for a cart of three items."),
)


def of(window: History, now_ms: int = SOON_MS, earlier: str | None = None) -> ChangeSet:
    shown = (
        StoredEntry(Listed(Meta(HANDOFF_ID, "Handoff: earlier", 0, 0, kind=Kind.HANDOFF), "topics/h.md", "00"), earlier)
        if earlier is not None
        else None
    )
    return extracted(window, now_ms=now_ms, shown=(shown,) if shown else (), handoff_id=HANDOFF_ID if shown else None)


def test_it_says_what_was_asked_done_touched_and_left_open() -> None:
    handoff = of(history(*TWO_REQUESTS)).entries[-1]
    assert handoff.kind is Kind.HANDOFF
    assert handoff.title == "Handoff: Guests see a wrong total price"
    assert handoff.body.split("\n\n") == [
        "Asked:\n- Guests see a wrong total price.\n- And add a test for the discount.",
        "Done:\n- The agent changed `total()` so that it reads the guest price once.\n- Added `test_discount` for a cart of three items.",
        "Files:\n- `src/cart.py`",
        "Open:\n- Nothing was committed in the session",
    ]


def test_what_the_agent_says_is_left_to_do_is_open() -> None:
    last = work_on("And the worker?", "Fixed. Still open: the mail worker reads the old `total()`.")
    handoff = of(history(*TWO_REQUESTS, *last)).entries[-1]
    assert "the mail worker reads the old `total()`" in handoff.body.partition("Open:")[2].lower()


def test_a_commit_in_the_session_is_no_longer_open() -> None:
    commit = agent("", ToolCall("Bash", 'git commit -m "Read the guest price once"'))
    handoff = of(history(*TWO_REQUESTS, user("commit this"), commit, tool("ok"), agent("Committed."))).entries[-1]
    assert "Nothing was committed" not in handoff.body


def test_a_session_older_than_a_week_has_none() -> None:
    window = history(*TWO_REQUESTS)
    assert window.turns[-1].at_ms is not None
    ended_ms = window.turns[-1].at_ms
    assert [note.kind for note in of(window, ended_ms + 7 * DAY_MS).entries if note.kind is Kind.HANDOFF] == []
    assert Kind.HANDOFF in [note.kind for note in of(window, ended_ms + 7 * DAY_MS - 1).entries]


def test_one_request_that_was_simply_met_has_none() -> None:
    met = (user("Add a CODEOWNERS file for the whole team."), agent("", EDIT), tool("ok"))
    committed = agent("", ToolCall("Bash", "git commit -m x"))
    assert of(history(*met, committed, agent("Created CODEOWNERS."))).entries == ()
    assert of(history(*met)).entries[-1].kind is Kind.HANDOFF


def test_a_grown_session_updates_its_handoff_in_place_and_names_what_it_drops() -> None:
    earlier = of(history(*TWO_REQUESTS)).entries[-1].body + "\n- Port `8080` is still taken"
    grown = of(
        history(*work_on("Now the invoice page.", "Added `invoice.html` with the same totals.")), earlier=earlier
    )
    assert [note.kind for note in grown.entries if note.kind is Kind.HANDOFF] == []
    (update,) = grown.updates
    assert update.id == HANDOFF_ID
    assert update.title is not None
    assert update.body is not None
    assert update.title == "Handoff: Guests see a wrong total price"
    for line in ("Guests see a wrong total price.", "Now the invoice page.", "Added `test_discount` for a cart"):
        assert line in update.body
    assert "8080" in update.drops
    assert lost_salience(earlier, f"{update.title}\n{update.description}\n{update.body}", update.drops) == ()


def test_what_another_note_says_already_is_not_stored_twice() -> None:
    window = history(user("We always store money as integer cents."))
    meta = Meta("id__d4e5f6", "Money", 0, 0)
    known = StoredEntry(Listed(meta, "topics/m.md", "00"), "Money is always stored as integer cents.")
    other = StoredEntry(Listed(meta, "topics/m.md", "00"), "Money is paid out on Fridays.")
    assert len(extracted(window, now_ms=MUCH_LATER_MS, shown=(other,)).entries) == 1
    again = extracted(window, now_ms=MUCH_LATER_MS, shown=(known,))
    assert (again.entries, again.skipped) == ((), "what the session says is stored already")


# -- what counts as said before, and what a person quotes beside what they say -----------------------------------------


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
