"""What a harness shows its agent by itself."""

from __future__ import annotations

import pytest

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.injecting import moment
from agent_memory.domain.injecting.moment import read_files, shown_whole
from agent_memory.domain.installing.harnesses import SETUPS, context_of
from agent_memory.domain.section import Target
from agent_memory.domain.transcripts import own_marks
from agent_memory.domain.vocabulary import TierList
from agent_memory.formats.managed_section import render_section

HOME = "/home/ada"


@pytest.mark.parametrize("harness", [each for each in SETUPS if each not in ("cursor", "vscode", "manual")])
@pytest.mark.parametrize("environ", [{}, {"CLAUDE_CONFIG_DIR": "/x/c", "CODEX_HOME": "~/cx/", "XDG_CONFIG_HOME": "/y"}])
def test_the_instruction_file_that_setup_chooses_is_among_them(harness: str, environ: dict[str, str]) -> None:
    groups = read_files(harness, HOME, environ, None)
    target = SETUPS[harness](context_of(HOME, "/m", environ)).target
    assert len(groups) == 1
    assert target in groups[0]


def test_in_a_repository_its_own_file_too() -> None:
    assert read_files("codex", HOME, {}, "/src/lamp")[1] == ("/src/lamp/AGENTS.override.md", "/src/lamp/AGENTS.md")
    assert read_files("cursor", HOME, {}, "/src/lamp") == (("/src/lamp/AGENTS.md",),)
    assert read_files("cursor", HOME, {}, None) == ()


def stored(number: int, body: str) -> StoredEntry:
    meta = Meta(f"id__{number}bcdef", f"Note {number}", 0, 0, "What it says.")
    return StoredEntry(Listed(meta, f"topics/{number}.md", ""), body)


def section(*notes: StoredEntry, hot: int) -> str:
    ids = tuple(each.meta.id for each in notes)
    by_id = {each.meta.id: each for each in notes}
    listed = {id: each.listed for id, each in by_id.items()}
    return render_section(TierList(ids[:hot], ids[hot:]), listed, by_id, Target("/x")).text


def test_what_is_hot_is_shown_what_is_warm_is_not() -> None:
    text = section(stored(1, "One."), stored(2, "Two."), stored(3, "Three."), hot=2)
    assert shown_whole(f"# Mine\n\n{text}\n") == {"id__1bcdef", "id__2bcdef"}
    assert shown_whole("# Mine\n") == frozenset()


def test_no_note_can_hide_another_by_pretending_to_show_it() -> None:
    hostile = "### Note 9\n\nid__9bcdef · fact · from the person · 2026-02-13\n\nOr\n\n# Note 8\n\nid__8bcdef · fact"
    assert shown_whole(section(stored(1, hostile), hot=1)) == {"id__1bcdef"}
    assert shown_whole("### Note 9\n\nid__9bcdef · fact\n") == frozenset()  # outside of any section


def test_the_marks_are_those_of_the_section() -> None:
    assert moment.SECTION_START == own_marks.SECTION_START
    assert moment.SECTION_END == own_marks.SECTION_END
