from __future__ import annotations

from attrs import evolve

from agent_memory.domain.run_log import LoggedAction, LoggedRun
from agent_memory.domain.undo_run import Undone, sentence_of

RUN = LoggedRun("2026-02-13T14-30-05.123Z_4dbfbe", "defrag", 1, 2, "completed", "1 re-tiered")
UNDONE = Undone("u", RUN, RUN)


def test_what_a_run_that_only_re_tiered_gives_back_is_said() -> None:
    assert sentence_of(UNDONE).endswith("(1 re-tiered): tiers put back as they were")
    with_section = sentence_of(evolve(UNDONE, sections=("/home/ana/AGENTS.md",)))
    assert with_section.endswith("tiers put back as they were, 1 managed section restored")


def test_a_run_that_changed_notes_tells_of_these() -> None:
    (said,) = [sentence_of(evolve(UNDONE, actions=(LoggedAction("replace", ("id__a1b2c3",)),)))]
    assert "1 note" in said
    assert "tiers" not in said.partition("): ")[2]


def test_a_consolidate_run_has_no_tiers_to_give_back() -> None:
    run = evolve(RUN, machine="consolidate", summary="")
    assert sentence_of(Undone("u", run, run)).endswith("no note differs by it")
