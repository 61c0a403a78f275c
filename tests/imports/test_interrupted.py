"""An import that dies on the way (P4): begun again, it leaves each note once, and the run can be undone."""

from __future__ import annotations

from pathlib import Path

from agent_memory.app import Memory, open_memory
from faults import each_kill


def test_killed_at_any_write_it_is_finished_by_the_next(tmp_path: Path) -> None:
    wiki = tmp_path / "wiki"
    wiki.mkdir()
    for name in "abc":
        (wiki / f"{name}.md").write_text(f"# {name.upper()}\nThe text of {name}.\n")
    for k, dying in each_kill(step=3):
        home = tmp_path / str(k)
        home.mkdir()
        (home / ".config/agent-memory").mkdir(parents=True)
        (home / ".config/agent-memory/config.json").write_text('{"storage": {"autoCommit": false}}')

        def opened(home: Path = home) -> Memory:
            return open_memory({"HOME": str(home)}, home, lambda _: None).unwrap()

        def imported(memory: Memory) -> None:
            memory.importing.run("markdown", [str(wiki)], memory.machine()).unwrap()

        with dying:
            imported(opened())
        imported(opened())
        memory = opened()
        assert sorted(each.meta.title for each in memory.store.list().unwrap().entries) == ["A", "B", "C"], k
        (run,) = memory.log.runs(9).unwrap()
        memory.undo(run.run_id).unwrap()
        assert memory.store.list().unwrap().entries == (), k
