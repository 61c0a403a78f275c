"""Findings about one entry, or about how entries hang together: sizes, ages, links."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from agent_memory.note.note import Kind, Usage
from agent_memory.rules.findings import FindingKind
from agent_memory.text.instants import DAY_MS
from analysed_notes import FACTS, NOON_MS, found, ids, kinds, note

LONG_AGO: dict[str, Any] = {"created_at_ms": NOON_MS - 200 * DAY_MS, "updated_at_ms": NOON_MS - 200 * DAY_MS}


class TestSizes:
    def test_an_entry_of_many_lines_is_oversized(self) -> None:
        [finding] = found(note("Long", "\n".join(f"- word{n} here" for n in range(41)))).findings
        assert finding.kind is FindingKind.OVERSIZED
        assert "41 lines" in finding.reason

    def test_blank_lines_count_nothing_and_code_counts_half(self) -> None:
        spaced = "\n\n".join(f"- word{n} here" for n in range(40))
        code = "Run this:\n\n```sh\n" + "\n".join(f"step {n}" for n in range(60)) + "\n```"
        assert found(note("Spaced", spaced), note("Code", code)).findings == ()
        longer = code.replace("```sh\n", "```sh\n" + "more\n" * 20)
        [finding] = found(note("Code", longer)).findings
        assert "are code, which counts half" in finding.reason

    def test_three_short_notes_on_one_subject_are_fragments(self) -> None:
        notes = [
            note(f"Parcel label {word}", f"The label has a {word}.", tags=("topic__labels",))
            for word in ("barcode", "weight", "sender")
        ]
        [finding] = found(*notes).of_kind(FindingKind.FRAGMENTED)
        assert set(finding.ids) == set(ids(*notes))
        assert found(*notes[:2]).of_kind(FindingKind.FRAGMENTED) == ()

    @pytest.mark.parametrize("apart", [{"tags": ("topic__post",)}, {"scope": "global"}, {"kind": Kind.HANDOFF}])
    def test_other_tags_scopes_and_handoffs_are_no_fragments(self, apart: dict[str, Any]) -> None:
        words = ("barcode", "weight", "sender")
        metas: tuple[dict[str, Any], ...] = ({}, {}, apart)
        notes = [
            note(f"Parcel label {word}", f"The label has a {word}.", **{"tags": ("topic__labels",), **meta})
            for word, meta in zip(words, metas, strict=True)
        ]
        assert found(*notes).of_kind(FindingKind.FRAGMENTED) == ()


class TestAges:
    def test_an_entry_is_expired_from_its_instant_on(self) -> None:
        [finding] = found(note("Old", "Gone.", expires_at_ms=NOON_MS)).findings
        assert finding.kind is FindingKind.EXPIRED
        assert "2026-03-02" in finding.reason
        assert found(note("Old", "Gone.", expires_at_ms=NOON_MS + 1)).findings == ()

    def test_what_nobody_read_or_changed_is_stale(self) -> None:
        stale = note("Old", "Still there.", tags=("topic__x",), **LONG_AGO)
        other = note("New", "Just written.", tags=("topic__x",))
        [finding] = found(stale, other).findings
        assert finding.kind is FindingKind.STALE
        assert "never read" in finding.reason
        assert "200 days, stale from 120 on" in finding.reason

    @pytest.mark.parametrize("fresh", [{"pinned": True}, {"updated_at_ms": NOON_MS - 5}])
    def test_what_is_pinned_or_changed_is_not_stale(self, fresh: dict[str, Any]) -> None:
        assert FindingKind.STALE not in kinds(found(note("Old", "There.", **{**LONG_AGO, **fresh})))

    def test_a_clock_that_was_set_back_makes_nothing_old_p24(self) -> None:
        assert (
            found(note("From the future", "Here.", created_at_ms=NOON_MS * 9, updated_at_ms=NOON_MS * 9)).findings == ()
        )


class TestLinks:
    def test_a_link_to_an_id_that_nobody_has_is_dangling_p15(self) -> None:
        [finding] = found(note("Label", "See [[id__gone11]] and [[id__gone22|that]].")).findings
        assert finding.kind is FindingKind.DANGLING_LINK
        assert "2 links lead to no note: id__gone11, id__gone22" in finding.reason

    def test_live_ids_aliases_and_archived_ids_are_somewhere(self) -> None:
        target = note("Label", "Here.", id="id__targe1", aliases=("id__alias1",))
        source = note("Post", "See [[id__targe1]], [[id__ALias1]] and [[id__archi1]].")
        assert found(target, source, facts=evolve(FACTS, taken_ids=frozenset({"id__archi1"}))).findings == ()
        assert kinds(found(target, source)) == [FindingKind.DANGLING_LINK]

    def test_a_link_within_a_subject_needs_no_answer_since_it_is_shown_from_both_ends(self) -> None:
        target = note("Parcel label barcode", "The barcode is printed twice on the label.")
        source = note("Parcel label weight", f"The weight stands above the barcode, see [[{target.meta.id}]].")
        assert found(source, target).findings == ()

    def test_what_nothing_leads_to_is_an_orphan(self) -> None:
        alone = note("Alone", "Nobody knows.", tags=("topic__rare",), created_at_ms=NOON_MS - 40 * DAY_MS)
        [finding] = found(alone, note("Label", "Text.", tags=("topic__labels",))).findings
        assert finding.kind is FindingKind.ORPHAN
        assert "40 days" in finding.reason
        linking = note("Label", f"See [[{alone.meta.id}]].")
        assert found(alone, linking).findings == ()
        assert found(alone, note("Other", "Text.", tags=("topic__rare",))).findings == ()
        assert found(alone, facts=evolve(FACTS, usage={alone.meta.id: Usage(1, NOON_MS)})).findings == ()

    @pytest.mark.parametrize("known", [{"created_at_ms": NOON_MS - 20 * DAY_MS}, {"pinned": True}])
    def test_what_is_new_or_pinned_is_no_orphan(self, known: dict[str, Any]) -> None:
        assert found(note("Alone", "Nobody knows.", **{"created_at_ms": NOON_MS - 40 * DAY_MS, **known})).findings == ()


class TestLeftAlone:
    def test_what_was_changed_again_and_again_is_only_told_what_is_wrong_anyway(self) -> None:
        long = note("Label barcode", "\n".join(f"- line {n} of it" for n in range(60)) + "\n[[id__gone11]]")
        port = note("Gateway port", "The gateway listens on port 80.")
        other = note("Gateway port", "The gateway listens on port 81.")
        twin = note("Label", long.body)
        churned = evolve(FACTS, left_alone=frozenset(ids(long, port)))
        free = kinds(found(long, twin, port, other))
        assert free.count(FindingKind.OVERSIZED) == 2
        assert FindingKind.DUPLICATE in free
        left = found(long, twin, port, other, facts=churned)
        assert {each.kind for each in left.findings if long.meta.id in each.ids} == {FindingKind.DANGLING_LINK}
        assert FindingKind.CONTRADICTION in kinds(left)
        assert [each.ids for each in left.of_kind(FindingKind.OVERSIZED)] == [ids(twin)]
