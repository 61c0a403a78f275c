"""`memory serve` as a process."""

from __future__ import annotations

import http.client
import socket
import subprocess
from pathlib import Path

import pytest

from memory_process import PROGRAM, Memory
from served_page import address_of

LIMIT_SECONDS = 60


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.unrecorded(home)


def test_it_serves_who_has_the_address_until_a_signal_comes(memory: Memory) -> None:
    id = memory.remembered("Lamps are lit at dusk.")
    process = memory.start("serve", "--no-open", "--port", "0")
    try:
        host, _, query = address_of(process).removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=LIMIT_SECONDS)

        def asked(path: str, cookie: str = "") -> tuple[http.client.HTTPResponse, str]:
            connection.request("GET", path, headers={"Cookie": cookie})
            answer = connection.getresponse()
            return answer, answer.read().decode()

        assert asked("/notes")[0].status == 401
        cookie = asked(f"/{query}")[0].headers["set-cookie"].partition(";")[0]
        assert id in asked("/notes", cookie)[1]
        connection.close()
        taken = memory("serve", "--no-open", "--port", host.partition(":")[2])
        assert (taken.code, taken.err.count("\n")) == (2, 1)
        assert "cannot be had" in taken.err
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", int(host.partition(":")[2])), 1)
    finally:
        process.terminate()
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.wait(), err) == (0, b"")


def test_an_agent_cannot_start_it(memory: Memory) -> None:
    done = memory("serve", "--no-open", "--port", "0", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
    assert (done.code, "Only you can run `memory serve`" in done.err) == (2, True)


def test_without_the_extra_one_sentence_says_what_to_install(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'starlette' else find(name, *rest)\n"
    )
    environ = memory.environment({"PYTHONPATH": str(tmp_path)})
    done = subprocess.run([*PROGRAM, "serve"], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "memory: The page is not installed. Install agent-memory with the extra serve: "
        "`uv tool install '.[serve]'` in its checkout.\n"
    )
