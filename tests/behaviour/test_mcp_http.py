"""`memory mcp --http` as a process: the SDK's own client with the token, and everybody else (P22)."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from attrs import frozen
from mcp import Client

from forked_program import RunningCall
from mcp_clients import CLIENT, HELLO, called
from memory_process import NOTHING, Memory

LIMIT_SECONDS = 60


@frozen
class Served:
    """A server that listens."""

    memory: Memory
    process: RunningCall
    address: str
    token: str

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    def post(
        self, body: bytes | None = None, path: str = "/mcp", headers: Mapping[str, str] = NOTHING
    ) -> tuple[int, bytes]:
        """Status and body of one POST; the headers that any client sends are there unless given otherwise."""
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        try:
            sent = {name: value for name, value in {**usual, **headers}.items() if value}
            connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
            content = json.dumps(HELLO).encode() if body is None else body
            for name, value in {**sent, "Content-Length": str(len(content))}.items():
                connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def connected(self) -> socket.socket:
        """A connection over which nothing was said yet."""
        return socket.create_connection(("127.0.0.1", self.port), LIMIT_SECONDS)


def started(memory: Memory, *words: str) -> RunningCall:
    return memory.start("mcp", "--http", "--port", "0", *words)


def lines_of(process: RunningCall, count: int) -> list[str]:
    watchdog = threading.Timer(LIMIT_SECONDS, process.kill)
    watchdog.start()
    try:
        return [process.stdout.readline().decode().rstrip("\n") for _ in range(count)]
    finally:
        watchdog.cancel()


def ended(process: RunningCall) -> tuple[int, str]:
    process.terminate()
    _, err = process.communicate(timeout=LIMIT_SECONDS)
    return process.wait(), err.decode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("http") / "home"
    home.mkdir()
    memory = Memory(home)
    process = started(memory)
    try:
        first, second = lines_of(process, 2)
        assert first.startswith("Serving http://127.0.0.1:")
        assert second.startswith("The token, shown only this once: ")
        yield Served(
            memory, process, first.removeprefix("Serving "), second.removeprefix("The token, shown only this once: ")
        )
    finally:
        code, err = ended(process)
    assert (code, err) == (0, "")


def test_the_official_client_with_the_token(served: Served) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def day() -> str:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {served.token}"}) as carrier:
            transport = streamable_http_client(served.address, http_client=carrier)
            async with Client(transport, client_info=CLIENT, mode="legacy") as client:
                assert len((await client.list_tools()).tools) >= 7
                written = await called(client, "write_context", {"topic": "Auth", "content": "Chose stateless JWT."})
                assert not written.is_error
                many: list[Any] = [called(client, "search_context", {"query": "JWT"}) for _ in range(20)]
                answers = await asyncio.gather(*many)
                return str(answers[-1].text)

    assert "Chose stateless JWT." in asyncio.run(day())
    assert served.memory.log("%s|%b")[0] == "remember: Auth|- By: MCP client cursor-vscode 1.2"


def test_the_token_is_kept_for_its_owners_eyes_only(served: Served) -> None:
    path = served.memory.home / ".local/state/agent-memory/mcp-token"
    assert path.read_text() == f"{served.token}\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_call_with_all_that_is_asked_for_is_answered(served: Served) -> None:
    status, body = served.post()
    assert status == 200
    assert b'"serverInfo"' in body
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        own = f"{name}:{served.port}"
        assert served.post(headers={"Host": own})[0] == 200
        assert served.post(headers={"Host": own, "Origin": f"http://{own}"})[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}x"}, 401),
        ({"Authorization": "Bearer \xe9"}, 401),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "localhost:{port}@evil.example"}, 421),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1@evil.example"}, 403),
    ],
    ids=str,
)
def test_anybody_else_is_refused_before_anything_is_read(served: Served, headers: dict[str, str], status: int) -> None:
    filled = {name: value.format(token=served.token, port=served.port) for name, value in headers.items()}
    answered, body = served.post(headers=filled)
    assert answered == status
    assert served.token.encode() not in body


def test_who_is_refused_while_still_sending_learns_why(served: Served) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 200000\r\n\r\n".encode()
    with served.connected() as slow:
        slow.sendall(head)
        for _ in range(10):
            time.sleep(0.01)
            slow.sendall(b" " * 20_000)
        assert b"".join(iter(lambda: slow.recv(4_096), b"")).startswith(b"HTTP/1.1 401 ")


class TestConnectionsWithoutAToken:
    """P22: whoever has no token cannot keep those who have it away."""

    @pytest.mark.parametrize(
        "sent",
        [b"", b"POST /mcp HTTP/1.1\r\nHost:", b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"],
        ids=["silent", "half a header", "a whole request"],
    )
    def test_hundreds_of_them_keep_nobody_away(self, served: Served, sent: bytes) -> None:
        idle = [served.connected() for _ in range(400)]
        try:
            for each in idle:
                with suppress(OSError):  # closed to make room
                    each.sendall(sent % served.port if b"%d" in sent else sent)
            assert [served.post()[0] for _ in range(3)] == [200] * 3
        finally:
            for each in idle:
                each.close()

    def test_one_that_is_refused_is_closed(self, served: Served) -> None:
        with served.connected() as idle:
            idle.sendall(f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
            answer = b"".join(iter(lambda: idle.recv(4_096), b""))
            assert answer.startswith(b"HTTP/1.1 401 ")


def test_the_token_counts_in_its_header_only(served: Served) -> None:
    assert served.post(path=f"/mcp?token={served.token}", headers={"Authorization": ""})[0] == 401
    assert served.post(path="/other", headers={"Authorization": ""})[0] == 401
    assert served.post(path="/other")[0] == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b'{"jsonrpc": "2.0", "id": 1, "method": 5}'])
def test_what_is_no_message_is_refused_and_the_server_goes_on(served: Served, body: bytes) -> None:
    assert 400 <= served.post(body)[0] < 500
    assert served.post()[0] == 200


def test_a_body_has_a_limit(served: Served) -> None:
    assert served.post(b"x" * (5 << 20))[0] == 413
    assert served.post()[0] == 200


def test_only_the_loopback_address_listens(served: Served) -> None:
    inode_lines = Path("/proc/net/tcp").read_text().splitlines()[1:] if Path("/proc/net/tcp").exists() else []
    hexadecimal = f":{served.port:04X}"
    addresses = {
        line.split()[1] for line in inode_lines if line.split()[1].endswith(hexadecimal) and line.split()[3] == "0A"
    }
    assert addresses <= {f"0100007F{hexadecimal}"}
    with pytest.raises(OSError, match=r"refused|assign|reach|known"), socket.create_connection(("::1", served.port), 5):
        pass


def test_what_is_said_of_bad_words_and_a_taken_port(served: Served, home: Path) -> None:
    memory = Memory(home)
    taken = memory("mcp", "--http", "--port", str(served.port))
    assert (taken.code, taken.out) == (2, "")
    assert "cannot be used: Address already in use. Choose another with --port" in taken.err
    assert "expected a number from 0 to 65,535" in memory("mcp", "--http", "--port", "70000").err
    assert "go with --http only" in memory("mcp", "--port", "1").err
    assert not (home / ".local/state/agent-memory/mcp-token").exists()


def test_a_kept_token_is_not_shown_again_and_a_new_one_is(home: Path) -> None:
    memory = Memory(home)
    path = home / ".local/state/agent-memory/mcp-token"
    first = started(memory)
    shown = lines_of(first, 2)[1].removeprefix("The token, shown only this once: ")
    assert ended(first) == (0, "")
    assert path.read_text() == f"{shown}\n"
    second = started(memory, "--json")
    document = json.loads("".join(lines_of(second, 4)))
    assert ended(second) == (0, "")
    assert document["tokenPath"] == str(path)
    assert shown not in json.dumps(document)
    third = started(memory, "--new-token")
    anew = lines_of(third, 2)[1].removeprefix("The token, shown only this once: ")
    assert ended(third) == (0, "")
    assert path.read_text() == f"{anew}\n"
    assert anew != shown
