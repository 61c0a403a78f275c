from __future__ import annotations

from attrs import evolve

from agent_memory.note.note import MemoryEntry, Meta, Sensitivity, TierList
from agent_memory.note.note_format import render_note
from agent_memory.rules.change import FileChange, FileState
from agent_memory.rules.undo_run import Footprint, SectionChange
from agent_memory.store.diffs import diff_parts, logged_changes, note_changes, render_diff
from agent_memory.store.note_files import render_tiers

META = Meta("id__a1b2c3", "Ports", 1, 1)
PATH = "topics/Ports -- id__a1b2c3.md"
RETIRED = "archive/Ports -- id__a1b2c3.md"
VERSION = "archive/id__a1b2c3/1.md"


def state(body: str, meta: Meta = META) -> FileState:
    return FileState(render_note(MemoryEntry(meta, body)).encode(), 1)


OLD, NEW = state("The api has 8080."), state("The api has 9090.")


def shown(*files: FileChange) -> str:
    return render_diff(diff_parts(Footprint(files), {}))


def acts(*files: FileChange) -> list[tuple[str, tuple[str, ...], tuple[str, ...], str]]:
    return [(each.kind, each.ids, each.new_ids, each.words) for each in logged_changes(note_changes(files))]


class TestActs:
    def test_what_became_of_a_note_is_told_from_where_it_was_and_is(self) -> None:
        there, gone = FileChange(PATH, None, OLD), FileChange(PATH, OLD, None)
        shelved, unshelved = FileChange(RETIRED, None, OLD), FileChange(RETIRED, OLD, None)
        assert acts(there) == [("create", (), ("id__a1b2c3",), "Ports")]
        assert acts(FileChange(PATH, OLD, NEW)) == [("replace", ("id__a1b2c3",), (), "Ports")]
        assert acts(gone, shelved)[0][0] == "retire"
        assert acts(there, unshelved)[0][0] == "restore"
        assert acts(gone)[0][0] == "remove"
        assert acts(FileChange(VERSION, OLD, None)) == []

    def test_a_renamed_note_is_one_note(self) -> None:
        renamed = state("The api has 8080.", evolve(META, title="Ports of the api"))
        files = (FileChange(PATH, OLD, None), FileChange("topics/Ports of the api -- id__a1b2c3.md", None, renamed))
        assert acts(*files) == [("replace", ("id__a1b2c3",), (), "Ports of the api")]

    def test_a_secret_notes_title_is_not_told(self) -> None:
        secret = state("The key.", evolve(META, sensitivity=Sensitivity.SECRET))
        assert acts(FileChange(PATH, OLD, secret)) == [("replace", ("id__a1b2c3",), (), "a secret note")]


class TestDiff:
    def test_a_changed_note_shows_its_lines_and_where_the_earlier_version_is(self) -> None:
        text = shown(FileChange(VERSION, None, OLD), FileChange(PATH, OLD, NEW))
        assert text.splitlines()[:3] == ["# changed id__a1b2c3  Ports", f"--- {PATH}", f"+++ {PATH}"]
        assert "-The api has 8080." in text
        assert "+The api has 9090." in text
        assert f"# the earlier version is kept as {VERSION}" in text

    def test_a_retired_note_says_where_it_is(self) -> None:
        text = shown(FileChange(PATH, OLD, None), FileChange(RETIRED, None, OLD))
        assert text.startswith("# moved to the archive id__a1b2c3  Ports\n")
        assert text.endswith(f"# now {RETIRED}")

    def test_the_text_of_a_secret_note_is_not_shown(self) -> None:
        secret = state("The key is under the mat.", evolve(META, sensitivity=Sensitivity.SECRET, title="Keys"))
        assert "mat" in shown(FileChange(PATH, None, state("The key is under the mat.")))
        for change in (
            FileChange(PATH, None, secret),
            FileChange(PATH, secret, NEW),
            FileChange(RETIRED, secret, None),
        ):
            text = shown(change)
            assert "mat" not in text
            assert "Keys" not in text
            assert "a secret note" in text

    def test_tiers_are_told_by_title(self) -> None:
        before, after = TierList(("id__a1b2c3",)), TierList((), ("id__a1b2c3", "id__d4e5f6"))
        change = FileChange("state/tiers.json", FileState(render_tiers(before)), FileState(render_tiers(after)))
        parts = diff_parts(Footprint((change, FileChange(PATH, None, OLD))), {"id__d4e5f6": "Linters"})
        assert [each.act for each in parts] == ["create", "tiers"]
        assert "-hot   id__a1b2c3  Ports" in parts[1].lines
        assert "+warm  id__d4e5f6  Linters" in parts[1].lines

    def test_sections_are_shown_under_their_targets(self) -> None:
        section = SectionChange(
            "/home/dana/AGENTS.md", None, "<!-- agent-memory:start -->\nHot\n<!-- agent-memory:end -->"
        )
        (part,) = diff_parts(Footprint(sections=(section, evolve(section, before=section.after))), {})
        assert part.words == "managed section of /home/dana/AGENTS.md"
        assert "+Hot" in part.lines

    def test_nothing_steers_the_terminal(self) -> None:
        hostile = state("\x1b]0;owned\x07 and \x9b2J.", evolve(META, title="Ports\x1b[2J"))
        text = shown(FileChange(PATH, OLD, hostile))
        assert "owned" in text
        assert not set(text) & set("\x1b\x07\x9b")
