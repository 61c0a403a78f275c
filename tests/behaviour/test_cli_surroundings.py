"""Homes, roots, directories, locales and streams as they are met in the wild: one clear sentence, nothing lost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memory_process import PROGRAM, Memory

NOTE = "Deploys run from main only, and never from a branch."


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def one_sentence(err: str) -> bool:
    """A refusal: one line, ours, no traceback."""
    return err.startswith("memory: ") and err.count("\n") == 1 and "Traceback" not in err


EVERY_COMMAND = [
    ("list",),
    ("read", "id__aaaaaa"),
    ("status",),
    ("remember", NOTE),
    ("capture", "--title", "t", "--body", "b"),
    ("consolidate",),
    ("edit", "id__aaaaaa", "--title", "t"),
    ("pin", "id__aaaaaa"),
    ("archive", "id__aaaaaa"),
    ("restore", "id__aaaaaa"),
]


class TestHome:
    @pytest.mark.parametrize("words", EVERY_COMMAND)
    def test_one_that_cannot_be_used(self, memory: Memory, words: tuple[str, ...]) -> None:
        done = memory(*words, environ={"HOME": "/dev/null/x", "AGENT_MEMORY_ROOT": ""})
        assert (done.code, done.out) == (20, "")
        assert one_sentence(done.err)
        assert "Not a directory" in done.err

    def test_a_good_root_does_not_make_up_for_it_where_a_lock_is_needed(self, memory: Memory) -> None:
        done = memory("remember", NOTE, environ={"HOME": "/dev/null/x"})
        assert done.code == 20
        assert one_sentence(done.err)
        assert not memory.root.exists()


class TestRoot:
    @pytest.mark.parametrize(
        "name", ["with spaces", "ünï-日本", "$HOME 'quoted\" `x`", "-rf", "new\nline", "{threadId}"]
    )
    def test_any_name(self, memory: Memory, name: str) -> None:
        here = Memory(memory.home, {"AGENT_MEMORY_ROOT": str(memory.home / name)})
        id = here.remembered(NOTE)
        here.captured("Ports", "The api listens on 8080.")
        assert here("consolidate").code == 0
        assert here("status").out.count("\n") == 6
        assert here("read", id).code == 0
        log = subprocess.run(["git", "-C", memory.home / name, "log", "--oneline"], capture_output=True, check=True)
        assert log.stdout.count(b"\n") == 2

    def test_a_symbolic_link_to_it(self, memory: Memory) -> None:
        (memory.home / "real").mkdir()
        (memory.home / "link").symlink_to("real")
        here = Memory(memory.home, {"AGENT_MEMORY_ROOT": str(memory.home / "link")})
        here.captured("Ports", "The api listens on 8080.")
        assert here("consolidate").code == 0
        assert here("status", "--json").document["entries"] == 1
        assert (memory.home / "real" / "topics").is_dir()

    @pytest.mark.parametrize("words", EVERY_COMMAND)
    def test_a_file(self, memory: Memory, words: tuple[str, ...]) -> None:
        memory.root.write_text("mine")
        done = memory(*words)
        assert (done.code, done.out) == (20, "")
        assert one_sentence(done.err)
        assert memory.root.read_text() == "mine"

    @pytest.mark.parametrize("words", EVERY_COMMAND[:1] + EVERY_COMMAND[2:3])
    def test_looking_at_one_that_is_missing_makes_nothing(self, memory: Memory, words: tuple[str, ...]) -> None:
        assert memory(*words).code == 0
        assert not memory.root.exists()

    def test_inside_another_repository(self, memory: Memory) -> None:
        project = memory.home / "project"
        subprocess.run(["git", "init", "-q", project], check=True)
        here = Memory(memory.home, {"AGENT_MEMORY_ROOT": str(project / "mem")})
        first = here("remember", NOTE)
        assert first.code == 0
        assert one_sentence(first.err)
        assert "is inside the repository" in first.err
        assert here("remember", "The api listens on 8080.").err == ""
        outer = subprocess.run(["git", "-C", project, "log"], capture_output=True, check=False)
        assert outer.returncode != 0, "the outer repository has no commit"


class TestCurrentDirectory:
    @pytest.mark.parametrize(("words", "code"), [(("remember", NOTE), 0), (("trust",), 2)])
    def test_one_that_was_removed(self, memory: Memory, words: tuple[str, ...], code: int) -> None:
        script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
        finished = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *PROGRAM, *words],
            cwd=memory.home,
            env=memory.environment(),
            capture_output=True,
            check=False,
        )
        assert finished.returncode == code, finished.stderr
        assert one_sentence(finished.stderr.decode()) == (code != 0)

    def test_a_relative_root_needs_one(self, memory: Memory) -> None:
        assert memory("remember", NOTE, environ={"AGENT_MEMORY_ROOT": "here"}).code == 0
        assert (memory.home / "here" / "topics").is_dir()
        script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
        environ = memory.environment({"AGENT_MEMORY_ROOT": "here"})
        command = ["/bin/sh", "-c", script, "sh", *PROGRAM, "list"]
        finished = subprocess.run(command, cwd=memory.home, env=environ, capture_output=True, check=False)
        assert finished.returncode == 10
        assert b"the current directory was removed" in finished.stderr


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


class TestLocale:
    def test_text_arrives_whole_and_output_is_escaped(self, memory: Memory) -> None:
        done = memory("remember", "Naïve — 日本 😀", "--tags", "naïve", environ=ASCII)
        assert (done.code, done.err) == (0, "")
        assert "Na\\xefve" in done.out
        (note,) = memory.notes()
        assert (note["body"], note["tags"]) == ("Naïve — 日本 😀", ["topic__naïve"])

    @pytest.mark.parametrize("environ", [ASCII, {"PYTHONIOENCODING": "ascii"}])
    def test_json_stays_json(self, memory: Memory, environ: dict[str, str]) -> None:
        memory.remembered("Naïve — 日本 😀")
        assert memory("list", "--json", environ=environ).document["entries"][0]["title"] == "Naïve — 日本 😀"

    @pytest.mark.parametrize(
        "words", [("remember", b"caf\xe9"), ("edit", "id__aaaaaa", "--title", b"\xff"), ("list", "--query", b"\xc3")]
    )
    def test_an_argument_that_is_no_utf_8(self, memory: Memory, words: tuple[str | bytes, ...]) -> None:
        done = memory(*words)
        assert done.code == 2
        assert "is not UTF-8 text" in done.err
        assert one_sentence(done.err)

    @pytest.mark.parametrize("words", [("remember", "-"), ("capture", "--title", "t", "--body", "-")])
    def test_standard_input_that_is_no_utf_8_or_too_much(self, memory: Memory, words: tuple[str, ...]) -> None:
        for data, said in ((b"caf\xe9", "not UTF-8 text"), (b"x" * ((1 << 20) + 1), "larger than 1 MiB")):
            done = memory(*words, data=data)
            assert done.code == 2
            assert said in done.err
        assert memory.pending() == []


class TestStreams:
    def shell(self, memory: Memory, script: str) -> subprocess.CompletedProcess[bytes]:
        """A script of bash that calls `memory`."""
        quoted = " ".join(f"'{word}'" for word in PROGRAM)
        return subprocess.run(
            ["bash", "-c", f'memory() {{ {quoted} "$@"; }}; {script}'],
            cwd=memory.home,
            env=memory.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    def test_closed_ones_hinder_nothing(self, memory: Memory) -> None:
        """What a write opens then gets the number of a stream."""
        memory.remembered(NOTE)
        for number, closed in enumerate((">&-", "2>&-", "<&- >&- 2>&-")):
            assert self.shell(memory, f"memory remember 'Port {number} is open.' {closed}").returncode == 0, closed
        assert self.shell(memory, f"memory nonsense {closed}").returncode == 2
        assert self.shell(memory, f"memory consolidate {closed}").returncode == 0
        assert (len(memory.titles()), len(memory.log())) == (4, 4)

    @pytest.mark.parametrize("words", ["remember -", "capture --title t --body -", "edit id__aaaaaa --body -"])
    def test_a_closed_standard_input_is_named(self, memory: Memory, words: str) -> None:
        done = self.shell(memory, f"memory {words} <&-")
        assert done.returncode == 2
        assert b"but it is closed" in done.stderr

    def test_a_reader_that_goes_away_is_no_error(self, memory: Memory) -> None:
        for number in range(3):
            memory.remembered(f"Note number {number} is about {'tea' * number}")
        done = self.shell(memory, "set -o pipefail; memory list | head -1")
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.count(b"\n") == 1
        gone = self.shell(memory, "set -o pipefail; memory list | true")
        assert (gone.returncode, gone.stderr) == (0, b"")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a system without /dev/full")
    def test_a_full_disk_behind_stdout_is_said_once_and_the_work_is_done(self, memory: Memory) -> None:
        done = self.shell(memory, f"memory remember '{NOTE}' > /dev/full")
        assert done.returncode == 20
        assert one_sentence(done.stderr.decode())
        assert b"No space left on device" in done.stderr
        assert len(memory.titles()) == 1
        assert self.shell(memory, "memory nonsense 2> /dev/full").returncode == 2
        assert self.shell(memory, "memory --help > /dev/full").returncode == 20
        (memory.root / "topics" / "broken.md").write_text("---\nkind: [oops\n---\n", "utf-8")
        assert memory("doctor").code == 1
        lost = self.shell(memory, "memory doctor > /dev/full")
        assert (lost.returncode, b"No space left on device" in lost.stderr) == (20, True)


class TestFullDisk:
    @pytest.mark.parametrize("limit_blocks", [0, 1])
    def test_nothing_is_half_done_p5(self, memory: Memory, limit_blocks: int) -> None:
        """A limit on the size of files is a disk that is full: every write of more fails."""
        memory.remembered(NOTE)
        memory.captured("Ports", "The api listens on 8080. " * 100)
        before, pending = memory.snapshot(), memory.pending()
        script = f'trap "" XFSZ; ulimit -f {limit_blocks}; exec "$@"'
        for words in (
            ("remember", "word " * 3000),
            ("consolidate",),
            ("capture", "--title", "t", "--body", "b " * 2000),
        ):
            command = ["bash", "-c", script, "bash", *PROGRAM, *words]
            finished = subprocess.run(
                command, cwd=memory.home, env=memory.environment(), capture_output=True, check=False
            )
            assert finished.returncode == 20, (words, finished.stdout, finished.stderr)
            assert b"Traceback" not in finished.stderr
            assert (memory.snapshot(), memory.pending()) == (before, pending)
        assert memory("consolidate").code == 0
        assert len(memory.titles()) == 2
        memory.log()
