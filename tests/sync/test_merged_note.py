"""One note's two files as one, also as git's merge driver asks for it: what a person wrote into the frontmatter stays."""

from __future__ import annotations

import pytest

from agent_memory.note.frontmatter import has_conflict
from agent_memory.note.note import TIERS_FILE, MemoryEntry, Meta
from agent_memory.note.note_format import render_note
from agent_memory.sync.merged_tree import MergedNote, driven_merge, merged_note

NOON_MS = 1_772_409_600_000
ID = "id__aaaaaa"


def text_of(body: str, at_ms: int = NOON_MS, description: str = "", more: str = "", id: str = ID) -> bytes:
    """A note's file, with further lines of its owner's at the end of the frontmatter."""
    text = render_note(MemoryEntry(Meta(id, "Ports", NOON_MS, at_ms, description=description), body), None)
    head, dashes, rest = text.partition("\n---\n")
    return f"{head}\n{more}{dashes.removeprefix(chr(10))}{rest}".encode()


def merged(base: bytes | None, one: bytes, other: bytes) -> MergedNote:
    found = merged_note(base, one, other, "note.md")
    assert found is not None
    assert found == merged_note(base, other, one, "note.md"), "whichever comes first"
    return found


BASE = text_of("Words.")
NEWER = text_of("New words.", NOON_MS + 2_000)


class TestWhatIsTheOwners:
    def test_a_key_that_only_the_older_has_added_is_there(self) -> None:
        found = merged(BASE, NEWER, text_of("Words.", NOON_MS + 1, more="mood: calm\n"))
        assert found.text.count("mood: calm") == 1
        assert found.entry.body.strip() == "New words."

    def test_a_key_that_only_the_older_has_changed_is_as_it_says(self) -> None:
        base, newer = text_of("Words.", more="mood: calm\n"), text_of("New.", NOON_MS + 2_000, more="mood: calm\n")
        found = merged(base, newer, text_of("Words.", NOON_MS + 1, more="mood: stormy\n"))
        assert ("mood: stormy" in found.text, "mood: calm" in found.text) == (True, False)

    @pytest.mark.parametrize("base", ["mood: calm\n", ""])
    def test_a_key_that_both_have_set_is_as_the_newer_says(self, base: str) -> None:
        newer = text_of("New.", NOON_MS + 2_000, more="mood: sunny\n")
        found = merged(text_of("Words.", more=base), newer, text_of("Words.", NOON_MS + 1, more="mood: stormy\n"))
        assert ("mood: sunny" in found.text, "mood: stormy" in found.text) == (True, False)

    def test_a_key_that_the_newer_has_removed_does_not_come_back(self) -> None:
        kept = text_of("Words.", NOON_MS + 1, more="mood: calm\n")
        found = merged(text_of("Words.", more="mood: calm\n"), NEWER, kept)
        assert "mood" not in found.text

    def test_a_comment_that_only_the_older_has_added_is_there_once(self) -> None:
        newer = text_of("New.", NOON_MS + 2_000, more="# mine\n")
        found = merged(BASE, newer, text_of("Words.", NOON_MS + 1, more="# mine\n# theirs\n"))
        assert (found.text.count("# mine"), found.text.count("# theirs")) == (1, 1)

    def test_a_comment_that_the_newer_has_removed_does_not_come_back(self) -> None:
        older = text_of("Words.", NOON_MS + 1, more="# old\n")
        assert "# old" not in merged(text_of("Words.", more="# old\n"), NEWER, older).text


class TestItsDescription:
    def test_one_that_nobody_wrote_follows_the_body(self) -> None:
        assert merged(BASE, NEWER, text_of("Words.", NOON_MS + 1)).entry.meta.description == "New words."

    def test_one_that_one_of_them_wrote_stays(self) -> None:
        older = text_of("Words.", NOON_MS + 1, description="Where it listens")
        assert merged(BASE, NEWER, older).entry.meta.description == "Where it listens"

    def test_two_versions_of_one_line_describe_nothing(self) -> None:
        found = merged(BASE, NEWER, text_of("Other words.", NOON_MS + 1))
        assert has_conflict(found.entry.body)
        assert "<<<<<<<" not in found.entry.meta.description


class TestWhatCannotBeOne:
    def test_no_entry_and_another_entry(self) -> None:
        for other in (b"no frontmatter in \xff here", text_of("Words.", id="id__bbbbbb")):
            assert merged_note(BASE, NEWER, other, "note.md") is None
            assert merged_note(BASE, other, NEWER, "note.md") is None


class TestAsGitAsksForIt:
    PATH = f"topics/Ports {ID}.md"

    def test_two_versions_of_one_line_are_told_of(self) -> None:
        found = driven_merge(self.PATH, BASE, NEWER, text_of("Other words.", NOON_MS + 1))
        assert found is not None
        assert (b"<<<<<<<" in found[0], found[1]) == (True, True)

    @pytest.mark.parametrize("path", [PATH, TIERS_FILE, "README.md"])
    def test_what_cannot_be_one_is_left_to_git(self, path: str) -> None:
        assert driven_merge(path, b"", b"\xff", b"\xfe") is None
