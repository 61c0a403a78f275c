"""Entries that say the same, nearly the same, or a part of each other."""

from __future__ import annotations

from agent_memory.note.note import Kind
from agent_memory.rules.features import MOST_IN_GROUP
from agent_memory.rules.findings import FindingKind
from analysed_notes import REPO, found, ids, kinds, note

TEXT = (
    "The nightly export writes one file per customer into the bucket. It starts after the invoices are closed, and a "
    "customer without invoices gets an empty file. The finance team imports these files by hand every morning."
)
REWORDED = (
    "It starts after the invoices are closed, and a customer without any invoices gets an empty file.\n\n"
    "The nightly export writes one file per customer into the bucket. Every morning the finance team loads the files by hand."
)
MORE = (
    "The bucket is in Frankfurt. Access to it is granted by the platform group, which answers within a day. Files older than "
    "ninety days are removed by a lifecycle rule, so an auditor asks for them early."
)


def test_equal_bodies_are_duplicates_whatever_their_links_and_white_space() -> None:
    first = note("Export", TEXT)
    second = note("Nightly export", TEXT.replace(". ", ".\n\n") + "\n\nSee also: [[id__aaaaaa]]\n")
    analysis = found(first, second)
    [finding] = analysis.of_kind(FindingKind.DUPLICATE)
    assert finding.ids == ids(second, first)
    assert "equal but for white space and links" in finding.reason
    assert FindingKind.NEAR_DUPLICATE not in kinds(analysis)


def test_of_two_scopes_only_the_global_copy_is_named_and_no_merge_proposed() -> None:
    here, everywhere = note("Export", TEXT), note("Export", TEXT, scope="global")
    [finding] = found(here, everywhere).of_kind(FindingKind.DUPLICATE)
    assert "cannot be merged" in finding.reason
    assert REPO in finding.reason
    assert found(here, note("Export", TEXT, scope="github.com/dana/letters")).of_kind(FindingKind.DUPLICATE) == ()


def test_reordered_and_slightly_reworded_text_is_a_near_duplicate_with_its_likeness() -> None:
    first, second = note("Nightly export", TEXT), note("The export at night", REWORDED)
    [finding] = found(first, second).of_kind(FindingKind.NEAR_DUPLICATE)
    assert finding.ids == ids(second, first)
    assert "% of the content words of title and body are in both" in finding.reason
    assert 0.75 <= finding.score < 1


def test_the_like_of_another_thing_is_no_near_duplicate() -> None:
    services = [
        note(
            f"The {name} service", f"The {name} service runs on port {port} behind the proxy and writes to its own log."
        )
        for name, port in (("invoice", 8001), ("order", 8002))
    ]
    assert found(*services).findings == ()


def test_a_note_that_another_one_holds_is_an_overlap() -> None:
    part, whole = note("Nightly export", TEXT), note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}")
    [finding] = found(part, whole).of_kind(FindingKind.OVERLAP)
    assert finding.ids == ids(whole, part)
    assert f"of {part.meta.id} are in {whole.meta.id} too" in finding.reason


def test_a_handoff_holds_what_the_notes_of_its_session_say_and_is_no_overlap() -> None:
    part = note("Nightly export", TEXT)
    assert kinds(found(part, note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}"))) == [FindingKind.OVERLAP]
    handoff = note("Nightly export and its bucket", f"{MORE}\n\n{TEXT}", kind=Kind.HANDOFF)
    assert kinds(found(part, handoff)) == []


def test_many_copies_are_shown_in_groups_that_can_be_judged() -> None:
    copies = [note(f"Export {number}", TEXT) for number in range(30)]
    groups = found(*copies).of_kind(FindingKind.DUPLICATE)
    assert {len(group.ids) for group in groups} <= set(range(2, MOST_IN_GROUP + 1))
    assert {group.ids[0] for group in groups} == {copies[-1].meta.id}
    assert {id for group in groups for id in group.ids} == set(ids(*copies))


def test_what_contradicts_is_not_also_a_near_duplicate() -> None:
    old, new = (
        note("Port of the gateway", f"The gateway of the parcel tracker listens on port {port}.") for port in (80, 81)
    )
    assert kinds(found(old, new)) == [FindingKind.CONTRADICTION]


def test_many_that_are_all_alike_are_all_named() -> None:
    names = [f"{letter}ona" for letter in "abcdefghijklm"]
    alike = [note(f"Export for {name}", f"{TEXT} Its owner is {name}.") for name in names * 3]
    groups = found(*alike).of_kind(FindingKind.NEAR_DUPLICATE)
    firsts = {group.ids[0] for group in found(*alike).of_kind(FindingKind.DUPLICATE)}
    assert {id for group in groups for id in group.ids} == firsts
    assert len(firsts) == len(names)
