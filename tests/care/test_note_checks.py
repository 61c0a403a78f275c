"""What is found about notes, their names and their links, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from agent_memory.care.checks import (
    Finding,
    NoteFile,
    Severity,
    examine_analysis,
    examine_clashes,
    examine_note,
    examine_tags,
    is_sync_conflict,
)
from agent_memory.note.file_name import file_name_of, folded_name
from agent_memory.note.note import Listed, Meta, Sensitivity, StoredEntry
from agent_memory.note.tagging import TagVocabulary
from agent_memory.rules.findings import Analysis, Finding as AnalysisFinding, FindingKind
from agent_memory.text.instants import DAY_MS

NOW = 1_771_000_000_000
META = Meta("id__a1b2c3", "Ports", NOW - DAY_MS, NOW - DAY_MS, tags=("topic__api",))

SECRET = "AKIA" + "Q3EGRIMYTU7VWXYZ"
HIDDEN = evolve(META, sensitivity=Sensitivity.SECRET)


def stored(meta: Meta = META, body: str = "The api listens on 8080.", path: str = "", **listed: object) -> StoredEntry:
    return StoredEntry(Listed(meta, path or f"topics/{file_name_of(meta)}", "hash", **listed), body)  # type: ignore[arg-type]


def note(entry: StoredEntry, text: str = "") -> NoteFile:
    return NoteFile(entry.listed.path, text or entry.body, entry)


def tags_of(notes: Sequence[Sequence[str]], vocabulary: TagVocabulary) -> list[Finding]:
    return list(examine_tags(notes, vocabulary))


def codes(findings: object) -> list[str]:
    return [each.code for each in findings]  # type: ignore[attr-defined]


def only(findings: object) -> Finding:
    (finding,) = list(findings)  # type: ignore[call-overload]
    assert isinstance(finding, Finding)
    return finding


class TestOneNote:
    @pytest.mark.parametrize(
        ("changes", "text", "found"),
        [
            ({}, "", []),
            ({"body": " \n"}, "---\n---\n", ["empty-note"]),
            ({"conflicted": True}, "", ["merge-conflict"]),
            ({"path": "topics/mine.md"}, "", []),  # a name that a person gave
            # a note that is secret may hold one
            ({}, f"key {SECRET}", ["secret"]),
            ({"meta": HIDDEN}, f"key {SECRET}", []),
            ({}, "a family \U0001f468\u200d\U0001f469", []),
            ({}, "\ufeff---\r\ncrlf and a byte order mark", []),
        ],
    )
    def test_what_is_found(self, changes: dict[str, Any], text: str, found: list[str]) -> None:
        findings = list(examine_note(note(stored(**changes), text)))
        assert codes(findings) == found
        assert SECRET not in repr(findings)

    def test_hidden_text_and_sentinels_are_problems(self) -> None:
        for text in ("safe \u202eevil", "safe \U000e0041", "<!-- agent-memory:end -->"):
            assert only(examine_note(note(stored(), text=text))).severity == Severity.PROBLEM

    def test_bare_words_in_the_vocabulary_fit_any_prefix(self) -> None:
        vocabulary = TagVocabulary(frozenset(("api", "topic__deploy")))
        assert tags_of([("topic__api", "area__api", "topic__deploy")], vocabulary) == []

    def test_an_earlier_name_of_a_tag(self) -> None:
        vocabulary = TagVocabulary(frozenset(("topic__web",)), {"topic__api": "topic__web"})
        finding = only(tags_of([("topic__api",)], vocabulary))
        assert (finding.code, finding.subject) == ("tag-unknown", "topic__api")
        assert "is now called topic__web; `memory tags rename topic__api topic__web`" in finding.message


class TestNames:
    @given(st.lists(st.text("aAäÄ\u0061\u0308ßs", min_size=1, max_size=2), unique=True, max_size=12))
    def test_names_clash_that_fold_to_the_same_p15(self, paths: list[str]) -> None:
        expected = [
            (path, next(other for other in paths if folded_name(other) == folded_name(path)))
            for path in paths
            if folded_name(path) in {folded_name(other) for other in paths[: paths.index(path)]}
        ]
        found = {each.subject: each.message for each in examine_clashes(paths)}
        assert found.keys() == {path for path, _ in expected}
        assert all(f"the same as {first}," in found[path] for path, first in expected)

    def test_copies_of_synchronising_programs_are_told_by_their_names(self) -> None:
        for name in (
            "Ports -- id__a1b2c3 (conflicted copy 2026-02-13).md",
            "Ports (Mara's conflicted copy 2026-02-13).md",
            "Ports.sync-conflict-20260213-143005-ABCDEFG.md",
        ):
            assert is_sync_conflict(name), name
        assert not is_sync_conflict("Ports -- topic__api id__a1b2c3.md")


class TestAnalysis:
    def test_what_a_person_can_act_on_is_told_with_its_reason(self) -> None:
        each = tuple(AnalysisFinding(kind, (META.id, "id__d4e5f6"), f"because of {kind}.") for kind in FindingKind)
        analysis = Analysis(each)
        found = list(examine_analysis(analysis, {META.id: stored().listed.path}))
        assert [each.code for each in found if each.code in ("expired", "surplus", "orphan")] == []
        assert len(found) == len(FindingKind) - 3
        assert all(each.subject == stored().listed.path for each in found)
        assert found[0].message == "Because of contradiction (with id__d4e5f6)"
