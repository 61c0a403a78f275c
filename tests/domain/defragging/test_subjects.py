"""What a report calls an action."""

from __future__ import annotations

import pytest

from agent_memory.domain.actions import Action, Archive, Merge, Rename
from agent_memory.domain.defragging.plan_defrag import subject_of

IDS = tuple(f"id__{letter * 6}" for letter in "abcdef")


@pytest.mark.parametrize(
    ("action", "subject"),
    [
        (Archive(IDS[0], "done"), "archive of id__aaaaaa"),
        (Merge(IDS[:4], "T", "B"), "merge of id__aaaaaa, id__bbbbbb, id__cccccc, id__dddddd"),
        (Merge(IDS, "T", "B"), "merge of id__aaaaaa, id__bbbbbb, id__cccccc, id__dddddd and 2 more"),
        (Merge((IDS[0], IDS[0], IDS[1]), "T", "B"), "merge of id__aaaaaa, id__bbbbbb"),
        (Rename("a\nb\u200b", "T"), "rename of a b"),
        (Merge((), "T", "B"), "merge of "),
    ],
)
def test_an_action_is_called_by_its_kind_and_its_first_entries(action: Action, subject: str) -> None:
    assert subject_of(action) == subject
