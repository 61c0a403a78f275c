"""The SDK's own client against our server, in memory and as a process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import mcp.types as wire
from attrs import frozen
from mcp import Client, StdioServerParameters

from agent_memory.app import Memory, open_memory
from agent_memory.cli.mcp_server import MemoryServer
from program_on_path import directory_of_memory

T = TypeVar("T")
CLIENT = wire.Implementation(name="cursor-vscode", version="1.2")
LIMIT_SECONDS = 60.0
HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


@frozen
class Answer:
    """What a tool said."""

    text: str
    is_error: bool


@frozen
class Tools:
    """The tools, called one by one by a client that connects anew for each."""

    server: MemoryServer
    client: wire.Implementation = CLIENT

    def __call__(self, name: str, **arguments: object) -> Answer:
        return self.connected(lambda client: called(client, name, arguments))

    def connected(self, talk: Callable[[Client], Awaitable[T]]) -> T:
        async def talked() -> T:
            async with Client(self.server.protocol, client_info=self.client, mode="legacy") as client:
                return await talk(client)

        return asyncio.run(talked())

    def written(self, topic: str, content: str, **arguments: object) -> str:
        """The id of a new note."""
        said = self("write_context", topic=topic, content=content, **arguments)
        assert said.text.startswith("Chunk saved: id=`"), said
        return said.text.split("`")[1]


async def called(client: Client, name: str, arguments: Mapping[str, object]) -> Answer:
    result = await client.call_tool(name, dict(arguments))
    (content,) = result.content
    assert isinstance(content, wire.TextContent)
    return Answer(content.text, bool(result.is_error))


@contextmanager
def served(warnings: list[str] | None = None, cwd: Path | None = None) -> Iterator[tuple[Memory, Tools]]:
    """The memory of this environment and a client of it."""
    memory = open_memory(os.environ, cwd, (warnings if warnings is not None else []).append).unwrap()
    server = MemoryServer(memory)
    try:
        yield memory, Tools(server)
    finally:
        server.close()


def over_stdio(environ: Mapping[str, str], talk: Callable[[Client], Awaitable[T]], *, mode: Any = "legacy") -> T:
    """What `talk` says with `memory mcp` as a process of its own, which has ended when this returns."""
    program = str(directory_of_memory() / "memory")
    parameters = StdioServerParameters(command=program, args=["mcp"], env=dict(environ))

    async def talked() -> T:
        async with Client(parameters, client_info=CLIENT, mode=mode, read_timeout_seconds=LIMIT_SECONDS) as client:
            return await talk(client)

    return asyncio.run(talked())
