"""Which words of a note are looked for in a repository."""

from __future__ import annotations

from posixpath import normpath

from hypothesis import given, strategies

from agent_memory.recall.grounding import names_in

PIECES = strategies.sampled_from(
    ["src", "a.py", "/", "//", "..", ".", ".git", "*", " ", "`", ":", "~", "\n", "\0", "é", "#", "-"]
)


@given(strategies.one_of(strategies.text(), strategies.lists(PIECES).map("".join)))
def test_no_name_leads_out_of_a_work_tree(text: str) -> None:
    for name in names_in(text):
        file, _, word = name.partition(":")
        assert file in text
        assert word in text
        assert normpath(f"/top/{file}") == f"/top/{file}".rstrip("/")
        assert not {"..", ".git"}.intersection(name.split("/"))
        assert name.isprintable()
