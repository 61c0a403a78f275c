"""What runs did to an entry, in words."""

from __future__ import annotations

import pytest

from agent_memory.domain.explaining.entry_story import Chapter, chapter_in_words, chapters_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun

RUN = "2026-02-13T14-30-05.123Z_4dbfbe"
LATER = "2026-02-14T14-30-05.123Z_5ecafe"


def chapter(kind: str, words: str = "", **fields: object) -> Chapter:
    known = {"ids": ("id__aaaaaa", "id__bbbbbb"), "new_ids": ("id__cccccc",), **fields}
    return Chapter(RUN, "defrag", 1, kind, words=words, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (chapter("merge", "the same twice"), "merged by defrag 4dbfbe: the same twice"),
        (chapter("merge"), "merged by defrag 4dbfbe: id__aaaaaa, id__bbbbbb into id__cccccc"),
        (chapter("archive", "it expired"), "archived by defrag 4dbfbe: it expired"),
        (chapter("replace", new_ids=()), "changed by defrag 4dbfbe"),
        (chapter("create", "Ports", undone_by=LATER), "written by defrag 4dbfbe: Ports (undone by 5ecafe)"),
        (chapter("polish", "it shines"), "polish by defrag 4dbfbe: it shines"),
    ],
)
def test_what_was_done_by_which_run_and_why(one: Chapter, words: str) -> None:
    assert chapter_in_words(one) == words


def test_only_what_concerns_the_entry_in_the_order_in_which_it_happened() -> None:
    first = LoggedAction("create", (), ("id__aaaaaa",), "one")
    second = LoggedAction("replace", ("id__aaaaaa",), (), "two")
    other = LoggedAction("create", (), ("id__zzzzzz",), "other")
    runs = (
        LoggedRun(LATER, "defrag", 2, 2, "completed", "", (LoggedAction("archive", ("id__aaaaaa",), (), "three"),)),
        LoggedRun(RUN, "consolidate", 1, 1, "completed", "", (first, other, second)),
    )
    assert [each.words for each in chapters_of(frozenset({"id__aaaaaa"}), runs)] == ["one", "two", "three"]
    assert chapters_of(frozenset({"id__bbbbbb"}), runs) == ()
