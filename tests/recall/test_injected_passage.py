"""Notes as passages that stand in front of an agent."""

from __future__ import annotations

from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.note.vocabulary import Kind
from agent_memory.recall.candidates import Shown
from agent_memory.recall.neutral_markdown import passage_of

ID = "id__aaaaaa"
NOON_MS = 1_772_409_600_000


def shown(
    body: str, section: str = "tasks", *, whole: bool = True, title: str = "Move the port", kind: Kind = Kind.TASK
) -> Shown:
    meta = Meta(ID, title, NOON_MS, NOON_MS, kind=kind)
    return Shown(StoredEntry(Listed(meta, "topics/x.md", "h"), body), section, whole)


def test_of_a_task_only_what_is_open_is_shown() -> None:
    passage = passage_of(shown("Before Friday.\n\n- [x] tell Ana\n- [ ] change `nginx`\n- [ ] restart\n"))
    assert passage is not None
    assert passage.whole.splitlines()[-2:] == ["- [ ] change `nginx`", "- [ ] restart"]
    assert ("tell Ana" in passage.whole, ID in passage.whole) == (False, True)


def test_a_task_of_which_nothing_is_open_is_not_shown() -> None:
    assert passage_of(shown("- [x] tell Ana\n- [X] restart\n")) is None
    assert passage_of(shown("- [x] tell Ana\n", section="facts", kind=Kind.FACT)) is not None, (
        "a list in a fact is no task"
    )


def test_a_secret_in_a_box_is_not_shown_p20() -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    passage = passage_of(shown(f"- [ ] replace {secret} soon\n"))
    assert passage is not None
    assert (secret in passage.whole, "- [ ] replace" in passage.whole) == (False, True)


def test_of_a_note_that_is_only_its_title_and_of_one_in_brief_one_line_says_all() -> None:
    for each in (shown("Move the port\n"), shown("Ask Ana first.", whole=False)):
        passage = passage_of(each)
        assert passage is not None
        assert (passage.whole, passage.brief.startswith("- Move the port")) == ("", True)
