"""What `list` is narrowed to, what is still to be done, and what has had its time: `list`, `--open`, `--expired`, `--expires`."""

from __future__ import annotations

import time

from memory_process import Memory

TASK = "Move the log\n\n- [ ] cut the reader\n- [x] tell Ada\n- [ ] drop the index"
DAY_MS = 86_400_000


class TestOpen:
    def test_each_open_box_under_its_task(self, memory: Memory) -> None:
        task = memory.remembered(TASK, "--kind", "task")
        whole = memory.remembered("Ask Bob for the key of the shed.", "--kind", "task")
        memory.remembered("Paint the fence\n\n- [x] green", "--kind", "task")
        memory.remembered("Trains\n\n- [ ] book one", "--kind", "project")
        memory.remembered("Nothing to tick off here.")
        lines = memory("list", "--kind", "task", "--open").out.splitlines()
        assert [line.split("\t")[0] for line in lines] == [whole, task, "", ""]
        assert lines[2:] == ["\t- [ ] cut the reader", "\t- [ ] drop the index"]
        entries = memory("list", "--open", "--json").document["entries"]
        assert [each["open"] for each in entries] == [["book one"], [], ["cut the reader", "drop the index"]]
        assert "open" not in memory("list", "--json").document["entries"][0]

    def test_what_is_secret_is_not_told_p20(self, memory: Memory) -> None:
        memory.remembered(TASK, "--kind", "task", "--sensitivity", "secret")
        assert memory("list", "--open").out == ""
        assert "Move the log" in memory("list").out


class TestExpires:
    def test_a_note_for_some_days(self, memory: Memory) -> None:
        before_ms = int(time.time() * 1000)
        memory.remembered("The staging box is up until the fair.", "--expires", "30d")
        (note,) = memory.notes()
        assert before_ms + 30 * DAY_MS <= note["expiresAt"] <= int(time.time() * 1000) + 30 * DAY_MS
        assert memory("list", "--expired").out == ""
        assert memory("edit", note["id"], "--expires", "2099-12-31").code == 0
        assert memory.notes()[0]["expiresAt"] == 4_102_444_799_999
        assert memory("edit", note["id"], "--expires", "never").code == 0
        assert memory.notes()[0]["expiresAt"] is None
        assert memory("edit", note["id"], "--importance", "high").code == 0
        assert memory.notes()[0]["importance"] == "high"

    def test_what_has_expired_is_listed(self, memory: Memory) -> None:
        id = memory.remembered("The staging box is up until the fair.", "--expires", "2099-12-31")
        memory.remembered("The fair is in May.")
        (path,) = (memory.root / "topics").glob(f"*{id}.md")
        path.write_text(path.read_text().replace("4102444799999", "1700000000000"))
        assert [each["id"] for each in memory("list", "--expired", "--json").document["entries"]] == [id]


class TestNarrowed:
    def test_to_an_agent_to_what_was_changed_since_and_to_a_page(self, memory: Memory) -> None:
        told = memory("remember", "The api listens on 8080.", "--json", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
        by_agent = told.document["id"]
        by_hand = [memory.remembered(f"Shed {number} has a lock of its own.") for number in (1, 2, 3)]
        newest_first = [*reversed(by_hand), by_agent]

        def listed(*words: str) -> list[str]:
            return [line.split("\t")[0] for line in memory("list", *words).out.splitlines()]

        assert listed() == listed("--since", "1h") == newest_first
        assert listed("--agent", "claude-code") == [by_agent]
        assert listed("--limit", "2") == newest_first[:2]
        assert listed("--limit", "2", "--offset", "3") == newest_first[3:]
        assert [each["id"] for each in memory("list", "--offset", "1", "--json").document["entries"]] == newest_first[
            1:
        ]

    def test_to_nothing_is_said_on_stderr(self, memory: Memory) -> None:
        assert memory("list").err.startswith("memory: No notes yet. ")
        memory.remembered("The api listens on 8080.")
        for words in (("--since", "2099-01-01"), ("--agent", "codex"), ("--offset", "1")):
            done = memory("list", *words)
            assert (done.code, done.out, done.err) == (0, "", "memory: No such notes.\n")
        assert memory("list", "--agent", "codex", "--json").err == ""
