"""`memory doctor` as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from memory_process import Memory, on_a_terminal
from store_under_examination import locked_by_another_process

DEMO = Path(__file__).parents[2] / "docs" / "demo" / "session.jsonl"
HEALTHY = "Nothing is wrong: "


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def test_a_store_made_from_a_session_is_healthy_and_stays_so(memory: Memory) -> None:
    memory.session("s1", DEMO.read_bytes())
    assert memory("consolidate").code == 0
    done = memory("doctor")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(HEALTHY)
    first, second, *_ = [note["id"] for note in memory("list", "--json").document["entries"]]
    for words in (
        ("pin", first),
        ("archive", second),
        ("restore", second),
        ("edit", second, "--title", "Another title"),
    ):
        assert memory(*words).code == 0, words
        done = memory("doctor")
        assert (done.code, done.out[: len(HEALTHY)], done.err) == (0, HEALTHY, ""), words


def test_a_store_that_was_defragged_and_published_is_healthy(memory: Memory) -> None:
    target = memory.home / "AGENTS.md"
    memory.configure(agentsMd={"targets": [str(target)]})
    memory.session("s1", DEMO.read_bytes())
    assert memory("consolidate").code == 0
    assert memory("defrag").code == 0
    assert "agent-memory:start" in target.read_text()
    done = memory("doctor", "--json")
    assert (done.code, done.document["symptoms"], done.err) == (0, [], "")


def test_before_anything_was_stored_nothing_is_wrong_and_nothing_is_made(memory: Memory) -> None:
    done = memory("doctor")
    assert (done.code, done.out, done.err) == (0, f"{HEALTHY}0 notes, 0 archived\n", "")
    assert not memory.root.exists()


def test_what_is_wrong_is_one_line_each_when_piped_and_repaired_when_asked(memory: Memory) -> None:
    memory.remembered("Deploys run from main.", "--title", "Deploys")
    (memory.root / "topics" / "idea.md").write_text("Try kites.\n")
    (memory.root / "topics" / "idea.md").chmod(0o600)
    found = memory("doctor")
    assert found.code == 1
    line, summary = found.out.splitlines()
    assert line.startswith("problem: topics/idea.md: It has no id yet")
    assert line.endswith("[--fix writes an id into it]")
    assert summary == "1 problem and 0 remarks in 2 notes, 0 archived; `memory doctor --fix` repairs 1"
    fixed = memory("doctor", "--fix")
    assert (fixed.code, fixed.err) == (0, "")
    assert fixed.out.splitlines()[0] == "fixed: 1 file changed by hand is recorded"
    assert fixed.out.splitlines()[1].startswith("fixed: topics/idea.md now has the id id__")
    assert fixed.out.splitlines()[-1] == f"{HEALTHY}2 notes, 0 archived"
    assert memory.log()[0] == "agent-memory: doctor: 2 files of notes repaired"
    assert memory("doctor", "--fix").out == f"{HEALTHY}2 notes, 0 archived\n"


def test_the_document_has_everything_and_long_lists_are_cut_for_people(memory: Memory) -> None:
    memory.remembered("Deploys run from main.", "--title", "Deploys")
    for number in range(40):
        (memory.root / "topics" / f"{number}.md").write_text("---\nkind: nonsense\n---\n")
        (memory.root / "topics" / f"{number}.md").chmod(0o600)
    text = memory("doctor")
    assert text.out.count("unreadable") == 0
    assert len(text.out.splitlines()) == 12
    assert "… and 30 more (`memory doctor --json` has all)" in text.out
    done = memory("doctor", "--fix", "--json")
    assert (done.code, done.document["problems"], len(done.document["symptoms"])) == (1, 40, 40)
    assert done.document["symptoms"][0] == {
        "code": "unreadable-note",
        "area": "notes",
        "severity": "problem",
        "subject": "topics/0.md",
        "message": done.document["symptoms"][0]["message"],
        "fix": None,
    }
    assert done.document["notFixed"] == []


def test_targets_are_examined_and_brought_up_to_date(memory: Memory) -> None:
    target = memory.home / "AGENTS.md"
    target.write_text("Mine.\n")
    memory.configure(agentsMd={"targets": [str(target)]})
    memory("pin", memory.remembered("Deploys run from main.", "--title", "Deploys"))
    target.write_text("Mine.\n")
    found = memory("doctor", "--json")
    assert [each["code"] for each in found.document["symptoms"]] == ["target-out-of-date"]
    assert target.read_text() == "Mine.\n"
    fixed = memory("doctor", "--fix", "--json")
    assert (fixed.code, fixed.document["symptoms"]) == (0, [])
    assert "Deploys run from main." in target.read_text()
    target.write_text("<!-- agent-memory:end -->\n<!-- agent-memory:start -->\n")
    refused = memory("doctor", "--fix", "--json")
    assert refused.code == 1
    assert [each["code"] for each in refused.document["symptoms"]] == ["target-refused"]
    assert target.read_text() == "<!-- agent-memory:end -->\n<!-- agent-memory:start -->\n"


def test_a_run_at_work_keeps_repairs_away_and_not_looking(memory: Memory) -> None:
    memory.remembered("Deploys run from main.")
    held = (
        "import os, sys, time\nfrom pathlib import Path\nfrom agent_memory.files.locks import Locks\n"
        "with Locks(Path(sys.argv[1]), os.environ).run():\n print('held', flush=True)\n sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held, str(memory.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=memory.environment(),
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        assert memory("doctor").code == 0
        busy = memory("doctor", "--fix", "--json")
        assert (busy.code, busy.error["code"]) == (75, "busy")
        holder.stdin.close()


def test_p5_what_a_killed_write_left_goes_at_once_and_what_is_being_written_stays(memory: Memory) -> None:
    memory.remembered("Linters are ruff and mypy.")
    name = ".tmp-0123456789abcdef"
    beside = memory.home / ".local/state/agent-memory"
    places = [memory.root, *(memory.root / each for each in ("topics", "state", "inbox", "runs", ".git/info")), beside]
    for place in places:
        place.mkdir(exist_ok=True)
        (place / name).write_text("half")
        (place / name).chmod(0o600)
    (memory.root / "topics/.tmp-mine").write_text("a person's")
    written = memory.root / "topics/.tmp-fedcba9876543210"
    written.write_text("half")
    with locked_by_another_process(written):
        fixed = memory("doctor", "--fix", "--json").document
    assert fixed["notFixed"] == []
    assert [place for place in places if (place / name).exists()] == []
    assert sorted(path.name for path in (memory.root / "topics").glob(".tmp-*")) == [written.name, ".tmp-mine"]
    assert memory("doctor", "--fix").code == 0
    assert not written.exists()


def test_a_terminal_gets_headings(memory: Memory) -> None:
    memory.remembered("Deploys run from main.")
    (memory.root / "topics" / "idea.md").write_text("Try kites.\n")
    shown = on_a_terminal(memory, "doctor", NO_COLOR="1")
    assert shown.startswith("notes\nproblem: topics/idea.md: It has no id yet")


def test_a_file_name_cannot_write_on_the_terminal(memory: Memory) -> None:
    memory.remembered("Deploys run from main.")
    hostile = os.fsencode(str(memory.root / "topics")) + b"/\x1b[31mred\xff.md"
    with open(hostile, "wb") as file:
        file.write(b"x\n")
    for words in (("doctor",), ("doctor", "--json"), ("doctor", "--fix")):
        done = memory(*words)
        assert done.code == 1
        assert "\x1b" not in done.out


def _garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00\x9c{[(\n---\n" * 50)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def test_no_damage_ends_in_a_bug(memory: Memory) -> None:
    """P6: the files that one process of each command reads before or beside the examination."""
    memory.session("s1", DEMO.read_bytes())
    memory.configure(agentsMd={"targets": [str(memory.home / "AGENTS.md")]})
    assert memory("consolidate").code == 0
    assert memory("defrag").code == 0
    memory.captured("Ports", "The api listens on 8080.")
    memory("read", memory("list", "--json").document["entries"][0]["id"])
    chosen = [path for path in sorted(memory.root.rglob("*")) if path.is_file() and ".git" not in path.parts]
    kinds = {str(path.relative_to(memory.root)).split("/")[0] + path.suffix: path for path in chosen}
    kinds["config"] = memory.home / ".config" / "agent-memory" / "config.json"
    kinds["target"] = memory.home / "AGENTS.md"
    assert len(kinds) >= 7
    for path, damage in product(kinds.values(), (_garbage, _directory, _link)):
        saved = path.read_bytes()
        damage(path)
        done = memory("doctor", "--json")
        assert done.code in (0, 1, 10), (path, damage, done)
        assert "Traceback" not in done.err
        json.loads(done.out or done.err)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)  # what is derived may be thrown away with what it belongs to
        path.write_bytes(saved)
        path.chmod(0o600)


def test_names_that_a_shell_reads_are_mended_and_read_until_then(memory: Memory) -> None:
    """As versions before this one wrote them."""
    id = memory.remembered("The lamp's `port` is $5.", "--title", "The lamp's `port` is $5 (really)")
    (path,) = (memory.root / "topics").iterdir()
    assert path.name == f"The lamps port is 5 really -- {id}.md"
    old = path.rename(path.with_name(f"The lamp's `port` is $5 (really) -- {id}.md"))
    assert memory("read", id).out.count("$5.") == 1
    memory("remember", "Another.", "--title", "Another")
    found = [each for each in memory("doctor", "--json").document["symptoms"] if each["code"] == "name-unsafe"]
    assert [each["subject"] for each in found] == [f"topics/{old.name}"]
    memory("doctor", "--fix")
    assert path.exists()
    assert not old.exists()
    assert "name-unsafe" not in memory("doctor", "--json").out
    assert memory("list", "--query", "lamp", "--json").document["entries"][0]["id"] == id


class TestLostFrontmatter:
    @pytest.mark.parametrize("lost", [1, 5, None])
    def test_a_note_that_lost_it_is_nobodys_until_git_gives_it_back(self, memory: Memory, lost: int | None) -> None:
        id = memory.remembered("The door is behind the fridge.", "--scope", "github.com/o/r")
        target = memory.home / "AGENTS.md"
        memory.configure(agentsMd={"targets": [str(target)]})
        (path,) = (memory.root / "topics").iterdir()
        whole = path.read_text()
        rest = whole.splitlines(keepends=True)[lost:] if lost else [whole.rpartition("---\n\n")[2]]
        path.write_text("".join(rest) + "It creaks.\n")
        assert memory.titles() == []
        found = {each["code"]: each["subject"] for each in memory("doctor", "--json").document["symptoms"]}
        assert found == {"headless-note": f"topics/{path.name}", "target-out-of-date": str(target)}
        assert memory("pin", memory.remembered("Ruff runs first.")).code == 0  # commits what a person did by hand
        assert memory("doctor", "--fix").code == 0
        assert path.read_text().strip() == whole.strip() + "\nIt creaks."
        (note,) = (each for each in memory.notes() if each["id"] == id)
        assert note["scope"] == "github.com/o/r"
        assert "fridge" not in target.read_text()

    def test_without_a_name_of_ours_its_lines_tell(self, memory: Memory) -> None:
        memory.remembered("The door is behind the fridge.", "--scope", "github.com/o/r")
        (path,) = (memory.root / "topics").iterdir()
        mine = path.with_name("door.md")
        mine.write_text(path.read_text().removeprefix("---\n"))
        path.unlink()
        assert memory.titles() == []
        mine.write_text("Port: 8080\n---\nThe api.\n")
        assert memory.titles() == ["Port: 8080"]
