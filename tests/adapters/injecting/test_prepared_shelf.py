"""What is made ready to be injected, where some of it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from agent_memory import app
from agent_memory.adapters.injecting import keep_shelf, looks_of, read_shelf
from agent_memory.domain.entry import NoteDraft
from agent_memory.injecting import prepare
from faults import failing_on

LATER_NS = 1 << 62
DRAFT = NoteDraft("Deploys run from main only; never from a branch.", title="Deploys")


def test_a_note_that_cannot_be_read_just_now_is_there_the_next_time_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    (note,) = (root / "topics").iterdir()
    whole = prepare(memory).unwrap()
    assert len(whole.passages) == 1
    for name in ("open", "lstat"):
        memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
        with failing_on(note.name, name):
            partial = prepare(memory).unwrap()
        assert name != "open" or not partial.passages
        looks = looks_of(str(root), "global", (), "1")
        keep_shelf(str(root), looks, partial, LATER_NS)
        assert (read_shelf(str(root), looks, 1) is None) == (len(partial.passages) < len(whole.passages))
    keep_shelf(str(root), looks, whole, LATER_NS)
    assert read_shelf(str(root), looks, 1) is not None


def test_nothing_is_kept_that_was_made_where_a_config_could_not_be_looked_at_p6(root: Path) -> None:
    memory = app.open_memory(os.environ, None, lambda _: None).unwrap()
    memory.service.remember(DRAFT).unwrap()
    config = root / "config.json"
    with failing_on("config.json", "stat"):
        looks = looks_of(str(root), "global", (str(config),), "1")
    keep_shelf(str(root), looks, prepare(memory).unwrap(), LATER_NS)
    assert read_shelf(str(root), looks, 1) is None
    absent = looks_of(str(root), "global", (str(config),), "1")
    keep_shelf(str(root), absent, prepare(memory).unwrap(), LATER_NS)
    assert read_shelf(str(root), absent, 1) is not None
