"""`memory defrag` as a process, with an agent command: what it proposes, what becomes of it, what stands in its way."""

from __future__ import annotations

import os
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from conservation import broken, ill_formed, violations
from faults import snapshot
from memory_process import PROGRAM, Memory
from tidying_homes import (
    BODIES,
    CLAUDE,
    CODEX,
    DEPLOYING,
    DEPLOYS,
    MERGED_BODY,
    MINOR,
    OVER,
    PINNED,
    TWO,
    WRONG,
    answering,
    configure,
    defrag,
    everything,
    id_of,
    kept,
    killed_once,
    path_of,
    sensible,
    sensible_actions,
    tidying_home,
    write_notes,
)

NOTHING: dict[str, Any] = {"actions": []}
WORDS = "1 merged, 1 split, 1 edited, 1 archived, 5 notes changed tier"


@pytest.fixture
def memory(home: Path) -> Memory:
    """The store that wants tidying, and an agent that tidies it once."""
    return tidying_home(home, sensible(), NOTHING)


class TestSensibleAgent:
    def test_a_dry_run_prints_a_diff_and_the_real_run_asks_nobody_again(self, memory: Memory) -> None:
        before = kept(memory)
        planned = memory("defrag", "--dry-run")
        assert (planned.code, planned.err) == (0, "")
        assert "-Retries are limited to 3 by RETRY_LIMIT" in planned.out
        assert "+Retries are limited to 5 by RETRY_LIMIT" in planned.out
        assert f"# now archive/About {OVER}" in planned.out
        assert f"# cold to warm: {id_of(WRONG)}  About {WRONG}" in planned.out
        assert planned.out.splitlines()[-1] == WORDS
        assert kept(memory) == before
        assert not (memory.root / ".git").exists()
        done = memory("defrag")
        assert (done.code, done.out, done.err) == (0, f"{WORDS}\n", "")
        assert len(memory.prompts()) == 1
        assert kept(memory) != before

    def test_it_is_carried_out_and_nothing_is_lost_p12_p13_p14_p15(self, memory: Memory) -> None:
        before = snapshot(memory.root)
        document = defrag(memory)
        assert violations(before, snapshot(memory.root), most_changed=5) == []
        notes = {note["id"]: note for note in memory.notes()}
        merged, database, editor = [id for each in document["actions"] for id in each["newIds"]]
        assert (notes[merged]["body"], set(notes[merged]["aliases"])) == (
            MERGED_BODY,
            {id_of(DEPLOYS), id_of(DEPLOYING)},
        )
        assert [notes[database]["body"], notes[editor]["body"]] == BODIES[TWO].split("\n\n")
        assert notes[database]["aliases"] == [id_of(TWO)]
        assert id_of(OVER) not in notes
        assert memory("read", id_of(DEPLOYS), "--json").document["id"] == merged
        assert memory("read", id_of(TWO), "--archived", "--json").document["body"].strip() == BODIES[TWO]
        assert {id: note["tier"] for id, note in notes.items() if note["tier"] != "cold"} == {
            id_of(PINNED): "hot",
            id_of(WRONG): "warm",
            merged: "hot",
            id_of(MINOR[0]): "warm",
            id_of(MINOR[1]): "warm",
        }

    def test_it_writes_one_commit_that_a_person_can_read(self, memory: Memory) -> None:
        document = defrag(memory)
        assert memory.log() == [f"agent-memory: defrag: {WORDS}", "root: hand edits: 20 files"]
        body = memory.git("log", "-1", "--format=%b").splitlines()
        assert f"archive {id_of(OVER)}: the migration is done" in body
        assert f"{id_of(WRONG)}: cold to warm" in body
        assert [each["words"] for each in document["actions"]] == body[:4]

    def test_it_writes_both_sections_and_leaves_the_rest_of_a_file_alone_p17(self, memory: Memory) -> None:
        document = defrag(memory)
        assert [each["outcome"] for each in document["targets"]] == ["written", "written"]
        claude, codex = (memory.home / CLAUDE).read_bytes(), (memory.home / CODEX).read_bytes()
        assert ill_formed(claude) == ill_formed(codex) == []
        assert codex.startswith(b"# My rules\r\n\r\nBe brief.\r\n\r\n<!-- agent-memory:start -->\r\n")
        assert codex.count(b"\n") == codex.count(b"\r\n")
        assert codex.replace(b"\r\n", b"\n").partition(b"brief.\n\n")[2] == claude
        hot = [claude.index(f"### {title}".encode()) for title in ("Release tags", "How deploys run")]
        assert hot == sorted(hot)
        assert BODIES[PINNED].encode() in claude
        assert f"- {id_of(MINOR[0])} — ".encode() in claude
        assert BODIES[MINOR[2]].encode() not in claude

    def test_a_second_run_changes_no_note_and_a_settled_one_nothing_at_all(self, memory: Memory) -> None:
        """P17: byte for byte, the times of files included."""
        defrag(memory)
        tidied, commits = kept(memory), memory.log()
        assert memory("defrag").out == "nothing to change\n"
        assert (kept(memory), memory.log()) == (tidied, commits)
        asked, before = len(memory.prompts()), everything(memory)
        done = memory("defrag")
        assert (done.code, done.out, done.err) == (0, "nothing to change\n", "")
        assert everything(memory) == before
        assert len(memory.prompts()) == asked
        memory.remembered("The lamp is on the third floor.")
        assert memory("defrag").code == 0
        assert len(memory.prompts()) == asked + 1

    def test_undo_gives_the_same_bytes_and_the_same_is_not_done_again_p16(self, memory: Memory) -> None:
        before = kept(memory)
        defrag(memory)
        tidied = kept(memory)
        assert tidied.keys() != before.keys()
        undone = memory("undo")
        assert (undone.code, undone.err) == (0, "")
        assert kept(memory) == before
        assert not (memory.home / CLAUDE).exists()
        redone = memory("undo", memory("log", "-n", "1", "--json").document["runs"][0]["run"])
        assert (redone.code, kept(memory)) == (0, tidied)
        assert memory("undo").code == 0
        answering(memory, sensible())
        memory.remembered("The lamp is on the third floor.")
        refused = defrag(memory)["refused"]
        assert [each["reasons"] for each in refused] == [
            ["a person has undone it, and nothing it is made from has changed since"]
        ] * 4
        assert violations(snapshot(memory.root), snapshot(memory.root)) == []

    def test_what_is_lossy_is_refused_by_name_and_the_rest_is_done(self, memory: Memory) -> None:
        merge, split, archive, edit = sensible_actions()
        lossy = {**merge, "body": merge["body"].replace("9090", "9091")}
        turned = {**edit, "replace": "not limited by", "drops": []}
        unknown = {"action": "archive", "id": "id__zzzzzz", "reason": "gone"}
        answering(memory, {"actions": [lossy, split, unknown, turned, archive]})
        before = snapshot(memory.root)
        document = defrag(memory)
        assert [each["action"] for each in document["actions"]] == ["split", "archive"]
        assert memory("log").out.splitlines()[0].endswith("1 split, 1 archived, 1 note changed tier; 3 actions refused")
        said = " ".join(reason for each in document["refused"] for reason in each["reasons"])
        assert "it would lose '9090'" in said
        assert "'3'" in said
        assert "there is no such note" in said
        assert violations(before, snapshot(memory.root), most_changed=5) == []

    def test_a_rule_is_not_turned_around_and_another_number_is_not_the_persons_p19(self, memory: Memory) -> None:
        turned = "The tests must not reach the network."
        swapped = "We chose Postgres over MySQL because of its migrations."
        number = "The gateway listens on port 8443 and times out after 30 seconds."
        ids = {said: memory.remembered(said) for said in (turned, swapped, number)}
        edits = [
            {"action": "edit", "id": ids[turned], "find": "must not reach", "replace": "may reach"},
            {"action": "edit", "id": ids[swapped], "find": "Postgres over MySQL", "replace": "MySQL over Postgres"},
            {"action": "edit", "id": ids[number], "find": "8443", "replace": "9443", "drops": ["8443"]},
        ]
        answering(memory, {"actions": edits})
        assert [each["ids"] for each in defrag(memory)["actions"]] == [[ids[number]]]
        notes = {note["id"]: note for note in memory.notes()}
        assert [notes[ids[said]]["body"].strip() for said in (turned, swapped)] == [turned, swapped]
        assert (notes[ids[number]]["title"], notes[ids[number]]["origin"]) == (number.replace("8443", "9443"), "agent")

    @pytest.mark.parametrize(
        ("find", "replace", "is_vouched_for"),
        [("on port", "on the port", True), ("out.", "out. It restarts at night.", True), ("8443", "9443", False)],
    )
    def test_a_promotion_ends_where_another_text_takes_the_place_of_what_was_promoted_p19(
        self, memory: Memory, find: str, replace: str, is_vouched_for: bool
    ) -> None:
        text, agent = "The gateway listens on port 8443 and times out.", {"CLAUDE_CODE_CHILD_SESSION": "1"}
        id = memory("remember", text, "--json", environ=agent).document["id"]
        assert memory("promote", id).code == 0
        answering(
            memory, {"actions": [{"action": "edit", "id": id, "find": find, "replace": replace, "drops": [find]}]}
        )
        assert [each["ids"] for each in defrag(memory)["actions"]] == [[id]]
        (note,) = (each for each in memory.notes() if each["id"] == id)
        assert (note["promotedBy"] == "person") == is_vouched_for

    def test_it_is_told_what_it_must_not_touch_and_may_not(self, memory: Memory) -> None:
        pinned = {"action": "archive", "id": id_of(PINNED), "reason": "old"}
        answering(memory, {"actions": [pinned], "tiers": {"hot": [id_of(WRONG)], "warm": [id_of(PINNED)]}})
        before = snapshot(memory.root)
        document = defrag(memory)
        assert document["actions"] == []
        assert document["refused"][0]["reasons"] == ["it is pinned"]
        assert document["tiers"] == {"hot": [id_of(PINNED), id_of(WRONG)], "warm": []}
        assert violations(before, snapshot(memory.root), most_changed=0) == []
        assert "PINNED" in memory.prompts()[0]

    def test_over_the_limit_the_next_run_goes_on_and_force_does_all_but_the_last_p14(self, memory: Memory) -> None:
        wiping = [{"action": "archive", "id": id_of(name), "reason": "stale"} for name in BODIES]
        answering(memory, {"actions": wiping}, NOTHING)
        before = snapshot(memory.root)
        first = defrag(memory)
        assert (len(first["actions"]), len(first["deferred"]), len(first["refused"])) == (5, 14, 1)
        assert violations(before, snapshot(memory.root), most_changed=5) == []
        second = defrag(memory)
        assert [each["ids"] for each in second["actions"]] == [each["ids"] for each in first["deferred"][:3]]
        assert memory("unpin", id_of(PINNED)).code == 0
        last = [{"action": "archive", "id": note["id"], "reason": "stale"} for note in memory.notes()]
        answering(memory, {"actions": last})
        before = snapshot(memory.root)
        forced = defrag(memory, "--force")
        assert len(memory.notes()) == 1
        assert "it would leave no note" in str(forced["refused"])
        assert violations(before, snapshot(memory.root)) == []


class TestJson:
    def test_one_document(self, memory: Memory) -> None:
        planned = defrag(memory, "--dry-run")
        done = defrag(memory)
        assert list(done) == [
            *(
                "run", "dryRun", "asked", "actions", "refused", "deferred", "left", "retiered", "tiers", "targets",
                "warnings",
            )
        ]  # fmt: skip
        assert (planned["dryRun"], done["dryRun"], done["asked"], done["retiered"]) == (True, False, True, 5)
        assert planned["targets"] == []
        assert [each["action"] for each in done["actions"]] == ["merge", "split", "archive", "edit"]
        assert [each["newIds"] for each in planned["actions"]] == [each["newIds"] for each in done["actions"]]
        settled = defrag(memory)
        assert (settled["actions"], settled["retiered"], settled["warnings"]) == ([], 0, [])

    def test_an_agent_that_cannot_serve_changes_nothing_and_the_next_run_asks_again_p9(self, memory: Memory) -> None:
        before = kept(memory)
        for command, code, name in (
            ("/nowhere/llm", 40, "agent-missing"),
            ("sh -c 'cat > /dev/null; exit 3'", 40, "agent-failed"),
            ("sh -c 'cat > /dev/null; echo Please run /login'", 40, "agent-unavailable"),
            ("sh -c 'cat > /dev/null; exec sleep 600'", 40, "agent-timed-out"),
            ("sh -c 'cat > /dev/null; echo I cannot help with that.'", 50, "reply-refused"),
            ("cat", 50, "reply-refused"),
            ("sh -c 'cat > /dev/null'", 50, "reply-refused"),
        ):
            configure(memory, command, llm={"timeoutSeconds": 1})
            refused = memory("defrag", "--json")
            assert refused.code == code, (command, refused)
            assert (refused.out, refused.error["code"]) == ("", name), (command, refused)
            assert kept(memory) == before, command
        answering(memory, sensible())
        assert len(defrag(memory)["actions"]) == 4

    def test_a_target_that_is_refused_is_70_and_hinders_nothing_else(self, memory: Memory) -> None:
        lone = b"Mine.\n<!-- agent-memory:start -->\n"
        (memory.home / CODEX).write_bytes(lone)
        done = memory("defrag", "--json")
        assert done.code == 70
        assert [each["outcome"] for each in done.document["targets"]] == ["written", "refused"]
        assert len(done.document["actions"]) == 4
        assert "only the start marker" in done.err
        assert (memory.home / CODEX).read_bytes() == lone
        assert ill_formed((memory.home / CLAUDE).read_bytes()) == []
        assert len(memory.log()) == 2
        again = memory("defrag")
        assert (again.code, (memory.home / CODEX).read_bytes()) == (70, lone)

    def test_while_one_is_at_work_another_is_75_p7(self, memory: Memory) -> None:
        with thinking(memory) as (run, go):
            for words in (("defrag",), ("defrag", "--dry-run"), ("consolidate",), ("undo",)):
                busy = memory(*words, "--json")
                assert (busy.code, busy.error["code"]) == (75, "busy"), words
            go.touch()
            assert run.wait(timeout=60) == 0
        assert len(memory.log()) == 2

    def test_a_failed_run_is_in_the_log_and_undo_passes_over_it(self, memory: Memory) -> None:
        defrag(memory)
        tidied = kept(memory)
        memory.remembered("The lamp is on the third floor.")
        configure(memory, "sh -c 'cat > /dev/null'")
        assert memory("defrag").code == 50
        newest, first = memory("log", "--json").document["runs"]
        assert (newest["result"], first["result"], newest["kept"]) == ("failed", "completed", False)
        assert memory("undo", "--json").document["undid"] == first["run"]
        assert kept(memory).keys() != tidied.keys()


class thinking:  # noqa: N801 - used like a function
    """A defrag whose agent thinks until a file `go` is there."""

    def __init__(self, memory: Memory, *replies: dict[str, Any]) -> None:
        self.memory = memory
        self.mark, self.go = memory.home / "asked", memory.home / "go"
        waiting = f"echo $$ > '{self.mark}'; while [ ! -e '{self.go}' ]; do sleep 0.05; done"
        answering(memory, *(replies or (sensible(),)), before=waiting)

    def __enter__(self) -> tuple[Any, Path]:
        self.run = self.memory.start("defrag", "--json")
        deadline = time.monotonic() + 60
        while not (self.mark.exists() and self.mark.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            assert self.run.poll() is None, self.run.communicate()
            time.sleep(0.02)
        return self.run, self.go

    def __exit__(self, *_: object) -> None:
        self.go.touch()
        self.run.communicate(timeout=60)


def is_gone(pid: int) -> bool:
    """Whether a process ends within some seconds. One that has ended may be listed until whoever adopted it notices."""
    for _ in range(600):
        try:
            os.kill(pid, 0)
            listed = Path(f"/proc/{pid}/stat")
            if listed.exists() and listed.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


class TestMeanwhile:
    """P8: what happens to the store while the agent thinks."""

    def test_what_a_person_edits_or_deletes_stays_so_and_the_rest_is_done(self, memory: Memory) -> None:
        edited, gone = path_of(memory, DEPLOYING), path_of(memory, TWO)
        script = (
            f"echo 'By hand.' >> '{edited}'; rm '{gone}'; printf '# Mine\\n\\nMy own.\\n' > '{edited.parent}/mine.md'"
        )
        answering(memory, sensible(), before=script)
        before = edited.read_text()
        document = defrag(memory)
        assert [each["action"] for each in document["actions"]] == ["archive", "edit"]
        assert sorted(
            each["subject"] for each in document["refused"] if "while the agent command was running" in str(each)
        ) == [f"merge of {id_of(DEPLOYS)}, {id_of(DEPLOYING)}", f"split of {id_of(TWO)}"]
        assert edited.read_text() == f"{before}By hand.\n"
        assert not gone.exists()
        assert (edited.parent / "mine.md").read_text() == "# Mine\n\nMy own.\n"
        assert broken({**snapshot(memory.root), "topics/mine.md": b"---\nid: id__mmmmmm\n---\n"})[1:] == []
        assert ill_formed((memory.home / CLAUDE).read_bytes()) == []

    def test_a_note_that_is_pinned_meanwhile_is_left_alone_and_hot_p13(self, memory: Memory) -> None:
        with thinking(memory) as (run, go):
            assert memory("pin", id_of(OVER)).code == 0
            assert memory("remember", "The lamp is on the third floor.").code == 0
            pinned = path_of(memory, OVER).read_bytes()
            go.touch()
            out, err = run.communicate(timeout=60)
        assert run.returncode == 0, err
        assert path_of(memory, OVER).read_bytes() == pinned
        tiers = {note["title"]: note["tier"] for note in memory.notes()}
        assert tiers[f"About {OVER}"] == "hot"
        assert "The lamp is on the third floor." in tiers
        assert b'"archive"' not in out
        authors = memory.log("%an: %s")
        assert sum("hand edits" in line for line in authors) == 1, authors

    def test_a_note_that_is_archived_meanwhile_is_not_archived_twice(self, memory: Memory) -> None:
        script = shlex.join([*PROGRAM, "archive", id_of(OVER)])
        ours = f"env HOME='{memory.home}' AGENT_MEMORY_ROOT='{memory.root}' {script}"
        with thinking(memory) as (run, go):
            assert os.system(f"{ours} > /dev/null") == 0
            go.touch()
            assert run.wait(timeout=60) == 0
        assert [each["machine"] for each in memory("log", "--json").document["runs"]] == ["defrag"]
        assert broken(snapshot(memory.root)) == []
        assert len(memory.notes()) == 19

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_a_signal_ends_it_and_the_agent_and_changes_nothing(self, memory: Memory, number: int) -> None:
        before = kept(memory)
        with thinking(memory) as (run, _):
            child = int((memory.home / "asked").read_text())
            run.send_signal(number)
            out, err = run.communicate(timeout=30)
            assert (run.returncode, out) == (128 + number, b"")
            assert b"Traceback" not in err
            assert is_gone(child)
            assert kept(memory) == before
        answering(memory, sensible())
        assert len(defrag(memory)["actions"]) == 4
        assert len(memory.log()) == 2


class TestStores:
    def test_of_an_empty_one_nobody_is_asked(self, home: Path) -> None:
        memory = Memory(home)
        answering(memory, sensible())
        done = memory("defrag")
        assert (done.code, done.out, done.err) == (0, "2 managed sections written\n", "")
        assert memory.prompts() == []
        assert "sessions: none yet" in (home / CLAUDE).read_text()
        before = everything(memory)
        assert memory("defrag").out == "nothing to change\n"
        assert everything(memory) == before

    def test_one_note_cannot_be_taken_away(self, home: Path) -> None:
        memory = Memory(home)
        write_notes(memory, {OVER: BODIES[OVER]})
        answering(memory, {"actions": [{"action": "archive", "id": id_of(OVER), "reason": "over"}]})
        before = snapshot(memory.root)
        document = defrag(memory, "--force")
        assert document["refused"][0]["reasons"] == ["it would leave no note"]
        assert violations(before, snapshot(memory.root), most_changed=0) == []

    def test_where_all_is_pinned_nothing_moves_and_all_is_hot(self, home: Path) -> None:
        """P13: more than fits, with a warning."""
        memory = Memory(home)
        long = {name: f"{BODIES[name]} {'Because it is so. ' * 40}" for name in BODIES}
        write_notes(memory, long, **{name: {"pinned": True, "promoted_by": "person"} for name in long})
        answering(memory, {**sensible(), "tiers": {"hot": [], "warm": []}})
        before = snapshot(memory.root)
        done = memory("defrag", "--json")
        assert done.code == 0
        assert done.document["actions"] == []
        assert set(done.document["tiers"]["hot"]) == {id_of(name) for name in BODIES}
        assert "pinned notes alone take more than 6,000 characters" in done.err
        assert violations(before, snapshot(memory.root), most_changed=0) == []
        assert all(body.strip() in (home / CLAUDE).read_text() for body in long.values())

    def test_where_all_say_the_same_it_becomes_less_in_steps(self, home: Path) -> None:
        """P14, without a language model."""
        memory = Memory(home)
        write_notes(memory, {name: BODIES[WRONG] for name in BODIES if name != PINNED})
        configure(memory, None)
        before = start = snapshot(memory.root)
        counts = [19]
        while counts[-1] > 1:
            assert memory("defrag").code == 0
            counts.append(len(memory.notes()))
            after = snapshot(memory.root)
            assert violations(before, after, most_changed=max(3, counts[-2] // 4)) == []
            assert counts[-1] < counts[-2], counts
            before = after
        assert violations(start, before) == []
        (note,) = memory.notes()
        assert set(note["aliases"]) >= {id_of(name) for name in BODIES if name != PINNED}
        assert memory("defrag").out == "nothing to change\n"

    def test_notes_with_conflict_markers_stay_as_they_are(self, memory: Memory) -> None:
        path = path_of(memory, DEPLOYS)
        path.write_text(path.read_text() + "\n<<<<<<< HEAD\nPort 1.\n=======\nPort 2.\n>>>>>>> theirs\n")
        before = path.read_bytes()
        document = defrag(memory)
        assert [each["action"] for each in document["actions"]] == ["split", "archive", "edit"]
        assert "it holds an unresolved conflict" in str(document["refused"])
        assert path.read_bytes() == before
        assert b"Port 1." not in (memory.home / CLAUDE).read_bytes()

    def test_files_that_are_no_notes_hinder_nothing_and_stay(self, memory: Memory) -> None:
        broken_file = memory.root / "topics" / "broken id__brkken.md"
        broken_file.write_bytes(b"---\nid: [\n---\n\xff\xfe")
        assert len(defrag(memory)["actions"]) == 4
        assert broken_file.read_bytes() == b"---\nid: [\n---\n\xff\xfe"

    def test_repositories_keep_to_themselves(self, home: Path) -> None:
        memory = Memory(home)
        write_notes(memory, **{DEPLOYS: {"scope": "github.com/acme/lamp"}})
        answering(memory, sensible(hot=(WRONG, DEPLOYS)))
        document = defrag(memory)
        assert "its notes belong to different repositories" in str(document["refused"])
        assert id_of(DEPLOYS) in document["tiers"]["hot"]
        assert BODIES[DEPLOYS].partition("\n")[0] not in (home / CLAUDE).read_text()
        repository = home / "lamp"
        repository.mkdir()
        os.system(
            f"git -C '{repository}' init -q && git -C '{repository}' remote add origin git@github.com:acme/lamp.git"
        )
        assert memory("generate-agents-md", "--target", "AGENTS.md", cwd=repository).code == 0
        assert BODIES[DEPLOYS].partition("\n")[0] in (repository / "AGENTS.md").read_text()


class TestInterrupted:
    """A run that was killed belongs to whoever comes next, and nobody takes its work for a person's."""

    @pytest.mark.parametrize("next_command", ["consolidate", "defrag", "undo"])
    def test_a_killed_defrag_is_finished_by_any_run(self, memory: Memory, next_command: str) -> None:
        before = snapshot(memory.root)
        assert memory("generate-agents-md").code == 0
        assert memory("remember", "The lamp is on the third floor.").code == 0
        begun = kept(memory)
        assert killed_once(memory, "runs/*/sections.json", "defrag").code == -signal.SIGKILL
        assert kept(memory) != begun
        done = memory(next_command)
        assert done.code == 0, done
        assert [line for line in memory.log() if "agent-memory: defrag: 1 merged, 1 split" in line]
        assert sum("hand edits" in line for line in memory.log()) == 1, memory.log()
        if next_command == "undo":
            assert kept(memory) == begun
        else:
            assert violations(before, snapshot(memory.root), most_changed=5) == []
            assert {note["title"] for note in memory.notes()} >= {"How deploys run", "The test database"}
            assert ill_formed((memory.home / CODEX).read_bytes()) == []
        assert not list(memory.root.glob("runs/*/defrag.json"))
        assert len(memory.prompts()) <= 2

    def test_a_killed_consolidate_is_finished_by_a_defrag(self, memory: Memory) -> None:
        assert memory("defrag").code == 0
        memory.captured("Lamps", "The lamp is on the third floor.")
        configure(memory, None)
        assert killed_once(memory, "runs/*/footprint-*.json", "consolidate").code == -signal.SIGKILL
        assert memory("defrag").code == 0
        assert "Lamps" in memory.titles()
        assert memory.pending() == []
        kinds = [line.split(": ")[1] for line in memory.log()]
        assert kinds == ["defrag", "consolidate", "defrag", "hand edits"], memory.log()
        assert not list(memory.root.glob("runs/*/checkpoint.json"))


def test_the_agent_command_gets_nothing_secret_of_the_environment_p10_p23(memory: Memory) -> None:
    mark = memory.home / "environment"
    answering(memory, sensible(), before=f"env > '{mark}'")
    assert memory("defrag", environ={"SECRET_TOKEN": "abc"}).code == 0
    assert "SECRET_TOKEN" not in mark.read_text()
    assert "AGENT_MEMORY_DEPTH=1" in mark.read_text()
