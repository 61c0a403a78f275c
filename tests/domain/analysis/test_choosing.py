"""What a prompt shows in full."""

from __future__ import annotations

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Finding, FindingKind, finding_fingerprint, store_fingerprint
from agent_memory.domain.planning.shown import most_urgent_ids, note_chars
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from analysed_notes import NOON_MS, found, ids, note

TEXT = "The nightly export writes one file for each customer into the bucket in Frankfurt."
ONE, TWO, THREE = (note(f"Export {word}", TEXT) for word in ("alpha", "beta", "gamma"))
PORT_80, PORT_81 = (note("Gateway port", f"The gateway listens on port {port}.") for port in (80, 81))
PLAIN = [note(f"Plain {number}", f"Word{number} and nothing else.") for number in range(5)]
NO_TIERS = TierList()
ALL = (ONE, TWO, PORT_80, PORT_81, *PLAIN)


def chosen(notes: tuple[StoredEntry, ...], max_chars: int, tiers: TierList = NO_TIERS) -> tuple[str, ...]:
    return most_urgent_ids(found(*notes), listed(notes), max_chars, tiers)


def listed(notes: tuple[StoredEntry, ...]) -> list[Listed]:
    return [each.listed for each in notes]


def room_for(*notes: StoredEntry) -> int:
    return sum(map(note_chars, notes))


def test_everything_is_shown_where_it_fits_the_candidates_first() -> None:
    shown = chosen(ALL, room_for(*ALL))
    assert set(shown) == set(ids(*ALL))
    assert shown[:4] == (*ids(PORT_81, PORT_80), *ids(TWO, ONE))


def test_else_the_worst_findings_are_shown() -> None:
    assert chosen(ALL, room_for(PORT_80, PORT_81)) == ids(PORT_81, PORT_80)
    assert chosen(ALL, 0) == ()


def test_both_sides_of_a_duplicate_are_shown_or_none() -> None:
    assert chosen((ONE, TWO), room_for(ONE, TWO) - 1) == ()


def test_a_group_that_does_not_fit_is_shown_in_part_after_all_that_fit() -> None:
    longest = max(map(note_chars, (ONE, TWO, THREE)))
    notes = (ONE, TWO, THREE, note("Expired", "Gone.", expires_at_ms=NOON_MS - 5))
    assert chosen(notes, 2 * longest) == ids(notes[3])
    assert chosen(notes, 2 * longest + note_chars(notes[3])) == ids(notes[3], THREE, TWO)


def test_the_room_that_is_left_is_for_hot_and_warm_entries() -> None:
    tiers = TierList(hot=ids(PLAIN[3]), warm=ids(PLAIN[1], PORT_80))
    wanted = (PORT_80, PORT_81, ONE, TWO, PLAIN[3], PLAIN[1])
    assert chosen(ALL, room_for(*wanted) + 10, tiers) == ids(PORT_81, PORT_80, TWO, ONE, PLAIN[3], PLAIN[1])


def test_secret_and_conflicted_entries_are_never_shown_p20() -> None:
    secret = note("Export beta", TEXT, sensitivity=Sensitivity.SECRET)
    conflicted = note("Export gamma", TEXT, conflicted=True)
    assert chosen((ONE, secret, conflicted), 1_000_000) == ids(ONE)
    assert chosen((ONE, secret, conflicted), room_for(ONE, secret, conflicted) - 1) == ids(ONE)
    assert chosen((ONE, secret, conflicted, *PLAIN), room_for(ONE)) == ()


def test_nothing_is_shown_for_a_finding_that_nobody_may_mend() -> None:
    pinned = [note(f"Export {word}", TEXT, pinned=True) for word in ("alpha", "beta")]
    assert chosen((*pinned, *PLAIN), room_for(*pinned)) == ()
    assert chosen((pinned[0], ONE, *PLAIN), room_for(pinned[0], ONE)) == ids(pinned[0], ONE)


def test_findings_are_told_only_to_who_knows_all_their_entries() -> None:
    analysis = found(ONE, TWO, PORT_80, PORT_81)
    told = analysis.without(frozenset(ids(PORT_81)))
    assert [each.kind for each in told.findings] == [FindingKind.DUPLICATE]
    assert set(told.profiles) == set(ids(ONE, TWO, PORT_80))


def test_findings_are_the_same_by_kind_and_bytes_in_any_order() -> None:
    hashes = {"a": "1", "b": "2"}
    finding = Finding(FindingKind.DUPLICATE, ("a", "b"), "why", 0.5)
    same = finding_fingerprint(finding, hashes)
    assert finding_fingerprint(Finding(FindingKind.DUPLICATE, ("b", "a"), "other words"), hashes) == same
    assert finding_fingerprint(finding, {**hashes, "b": "3"}) != same
    assert finding_fingerprint(Finding(FindingKind.OVERLAP, ("a", "b"), "why"), hashes) != same


def test_a_store_is_the_same_while_ids_and_bytes_are() -> None:
    same = store_fingerprint(listed(ALL))
    assert store_fingerprint(listed(ALL)[::-1]) == same
    assert store_fingerprint(listed(ALL[1:])) != same
    changed = Listed(ONE.meta, ONE.listed.path, "other bytes")
    assert store_fingerprint([changed, *listed(ALL[1:])]) != same
    assert store_fingerprint([]) == store_fingerprint(())
