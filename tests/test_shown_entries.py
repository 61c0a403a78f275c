"""Entries as `list` shows them, put together of columns."""

from __future__ import annotations

from typing import get_type_hints

import pytest

import agent_memory
from agent_memory import reading
from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.tiers import Tier
from agent_memory.shown_entries import ShownEntries, ShownEntry

LISTED = [Listed(Meta(f"id__{at}", "A note", 0, 0), f"topics/{at}.md", "") for at in range(2)]
USAGES, TIERS = [Usage(0, None), Usage(2, 5)], [Tier.COLD, Tier.HOT]


def test_each_is_put_together_of_what_is_in_its_place() -> None:
    shown = ShownEntries(LISTED, USAGES, TIERS)
    assert list(shown) == [ShownEntry(*each) for each in zip(LISTED, USAGES, TIERS, strict=True)]
    assert list(shown[1:]) == [shown[1]]
    assert ShownEntries.of(list(shown)) == shown


def test_none_is_left_out_because_a_column_is_shorter() -> None:
    with pytest.raises(ValueError, match="shorter"):
        list(ShownEntries(LISTED, USAGES[:1], TIERS))


def test_what_a_list_gives_has_a_public_name() -> None:
    given = get_type_hints(reading.ListedEntries, {**vars(reading), "Error": object})["entries"]
    assert given is agent_memory.ShownEntries
