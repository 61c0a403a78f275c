"""`memory mcp` as a process: the SDK's own client, and clients that do what no client should."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("mcp")

from agent_memory.cli.mcp_server import MAX_LINE_BYTES
from agent_memory.files.locks import Locks
from mcp_clients import HELLO, called, over_stdio
from memory_process import PROGRAM, Memory
from program_on_path import directory_of_memory

LIMIT_SECONDS = 60.0


class Raw:
    """A client that writes bytes and reads lines."""

    def __init__(self, memory: Memory) -> None:
        self.process = memory.start("mcp", has_stdin=True)
        assert self.process.stdin is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._read = b""

    def greet(self) -> None:
        self.send(HELLO)
        assert self.answer()["id"] == "hello"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, content: bytes) -> None:
        self.stdin.write(content)
        self.stdin.flush()

    def ask(self, id: object, name: str, **arguments: object) -> None:
        self.send(
            {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        )

    def answer(self) -> dict[str, Any]:
        """The next line."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while b"\n" not in self._read:
            assert time.monotonic() < deadline, "no answer in time"
            if select.select([self.stdout], [], [], 1.0)[0]:
                chunk = os.read(self.stdout.fileno(), 1 << 16)
                assert chunk, "it ended"
                self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        document: dict[str, Any] = json.loads(line)
        return document

    def answers_until(self, id: object) -> list[dict[str, Any]]:
        """What comes before the answer to `id`."""
        before = []
        while (answer := self.answer()).get("id") != id:
            before.append(answer)
        assert "result" in answer
        return before

    def ended(self) -> tuple[int, str]:
        """The exit code and what was said on standard error."""
        code = self.process.wait(LIMIT_SECONDS)
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT_SECONDS)
        for stream in (self.stdin, self.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                continue


@pytest.fixture
def raw(memory: Memory) -> Iterator[Raw]:
    client = Raw(memory)
    try:
        client.greet()
        yield client
    finally:
        client.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_writes_finds_and_deletes(memory: Memory, mode: str) -> None:
    async def day(client: Any) -> list[str]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        written = await called(client, "write_context", {"topic": "Auth: JWT", "content": "Chose stateless JWT."})
        id = written.text.split("`")[1]
        found = await called(client, "search_context", {"query": "JWT"})
        read = await called(client, "read_context", {"id": id})
        state = await called(client, "set_state", {"key": "phase", "value": {"step": 3}})
        deleted = await called(client, "delete_context", {"id": id})
        assert id in found.text
        assert "Chose stateless JWT." in read.text
        assert state.text.startswith('State "phase" written at ')
        assert not deleted.is_error
        return names

    assert "search_context" in over_stdio(memory.environment(), day, mode=mode)
    assert memory.log() == [
        "agent-memory: archive: Auth: JWT",
        "agent-memory: state: set phase",
        "agent-memory: remember: Auth: JWT",
    ]
    assert memory("state", "get", "phase", "--json").document["value"] == {"step": 3}


def test_two_clients_and_the_command_line_at_once_lose_nothing_p7(memory: Memory) -> None:
    async def writing(client: Any, name: str) -> None:
        for number in range(4):
            said = await called(
                client, "write_context", {"topic": f"{name} {number}", "content": f"Fact {name}-{number}."}
            )
            assert not said.is_error, said

    async def both() -> None:
        await asyncio.gather(
            *(
                asyncio.to_thread(over_stdio, memory.environment(), lambda client, n=name: writing(client, n))
                for name in "ab"
            ),
            asyncio.to_thread(lambda: [memory("remember", f"Said by hand {number}.") for number in range(4)]),
        )

    asyncio.run(both())
    assert len(memory.notes()) == 12
    assert len(memory.log()) == 12


def test_a_thousand_calls_at_once_are_all_answered(memory: Memory, raw: Raw) -> None:
    memory("state", "set", "phase", '{"step": 3}')
    calls = [
        {
            "jsonrpc": "2.0",
            "id": id,
            "method": "tools/call",
            "params": {"name": "get_state", "arguments": {"key": "phase"}},
        }
        for id in range(1_000)
    ]
    content = b"".join(json.dumps(each).encode() + b"\n" for each in calls)
    raw.write(content)  # and only then reads: nothing may block for good
    answers = [raw.answer() for _ in calls]
    assert sorted(each["id"] for each in answers) == list(range(1_000))
    assert all('"step": 3' in each["result"]["content"][0]["text"] for each in answers)


class TestNoMessage:
    LINES = (
        b"hello", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"{}", b"[]",
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', b"null", b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 7, "method": 5}', b'{"jsonrpc": "2.0", "id": true, "method": 5}',
        b"x" * (MAX_LINE_BYTES + 1),
        b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "more": "' + b"x" * MAX_LINE_BYTES + b'"}',
    )  # fmt: skip

    def test_it_is_dropped_and_the_server_goes_on(self, raw: Raw) -> None:
        for line in self.LINES:
            raw.write(line + b"\n")
        raw.ask("after", "get_state", key="k")
        assert raw.answers_until("after") == []
        raw.stdin.close()
        assert raw.ended() == (0, "")


class TestTheEnd:
    def test_what_was_asked_before_the_input_ended_is_done_and_answered(self, memory: Memory, raw: Raw) -> None:
        raw.ask(1, "write_context", topic="Auth", content="Chose stateless JWT.")
        raw.stdin.close()
        assert raw.answer()["result"]["content"][0]["text"].startswith("Chunk saved")
        assert raw.ended() == (0, "")
        assert memory.titles() == ["Auth"]

    def test_an_act_that_lasts_beyond_the_end_is_answered_as_it_ended(self, memory: Memory) -> None:
        topics = ("Auth", "Billing")
        calls = [
            {"name": "write_context", "arguments": {"topic": each, "content": f"{each} is new."}} for each in topics
        ]
        lines = [HELLO, *({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": each} for each in calls)]
        with _piped(memory) as process:
            with Locks(memory.root, memory.environment()).write():
                process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
                process.stdin.close()
                assert json.loads(process.stdout.readline())["id"] == "hello"
                assert not select.select([process.stdout], [], [], 1.0)[0], "answered before it was done"
            answers = [json.loads(line) for line in process.stdout]
        assert [each["result"]["content"][0]["text"][:11] for each in answers] == ["Chunk saved"] * 2
        assert process.returncode == 0
        assert sorted(memory.titles()) == ["Auth", "Billing"]

    def test_a_client_that_reads_no_more_ends_it(self, raw: Raw) -> None:
        raw.stdout.close()
        raw.ask(1, "get_state", key="k")
        assert raw.ended() == (0, "")

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_it(self, raw: Raw, number: signal.Signals) -> None:
        raw.process.send_signal(number)
        assert raw.ended() == (0, "")

    def test_a_signal_ends_it_while_nobody_reads_its_answers(self, memory: Memory, raw: Raw) -> None:
        memory("state", "set", "big", json.dumps("x" * 200_000))
        for id in range(4):
            raw.ask(id, "get_state", key="big")
        assert select.select([raw.stdout], [], [], LIMIT_SECONDS)[0]
        raw.process.terminate()
        assert raw.ended() == (0, "")


@contextmanager
def _piped(memory: Memory) -> Iterator[Any]:
    with subprocess.Popen(
        [directory_of_memory() / "memory", "mcp"],
        env=memory.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if sys.exc_info()[0] is not None:
                process.kill()


def test_what_anything_else_prints_never_reaches_the_client() -> None:
    program = (
        "import os\nfrom agent_memory.cli.mcp_server import own_descriptors\n"
        "reading, writing = own_descriptors()\n"
        "os.system('echo stray')\nassert os.read(0, 9) == b''\nos.write(writing, os.read(reading, 9))\n"
    )
    done = subprocess.run([PROGRAM[0], "-c", program], input=b"wire", capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"wire", b"stray\n")
