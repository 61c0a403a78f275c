"""The SDK's server over the nine tools, for one client on standard input and output or for many over HTTP.

All work on the store is done by one thread, in the order of the requests: a thousand at once wait in line, and no adapter
is used by two threads. Other processes are kept apart by the locks of the store.
"""

from __future__ import annotations

import asyncio
import fcntl
import hmac
import json
import os
import re
import select
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import anyio
import mcp.types as wire
from attrs import frozen
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agent_memory import __version__
from agent_memory.app import Memory
from agent_memory.caller import Caller
from agent_memory.cli.mcp_tools import INSTRUCTIONS, PROMPTS, TOOLS, error_text
from agent_memory.errors import Defect, Error, UsageInvalid
from agent_memory.note.note import Harness
from agent_memory.redaction.redact import stored_line
from agent_memory.results import unwrap
from agent_memory.serve.loopback import (
    SIGNALS,
    App,
    Asgi,
    Receive,
    Send,
    headers_named,
    refuse,
    serve_until_signal,
    stranger_refusal,
)

MAX_LINE_BYTES = 4 << 20


_LISTED_TOOLS = wire.ListToolsResult(tools=[tool.listed for tool in TOOLS.values()])
_LISTED_PROMPTS = wire.ListPromptsResult(prompts=[prompt.listed for prompt in PROMPTS.values()])


class MemoryServer:
    """One store, served to any number of clients. Close it when the last of them is gone."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory.called_by(Caller())
        """In turn on behalf of each client that calls."""
        self._thread = ThreadPoolExecutor(1, "store")
        self.protocol: Server[Any] = Server(
            "agent-memory",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=_always(_LISTED_TOOLS),
            on_call_tool=self._call_tool,
            on_list_prompts=_always(_LISTED_PROMPTS),
            on_get_prompt=self._get_prompt,
        )
        """The SDK's server."""

    def close(self) -> None:
        """Finishes the work in progress, drops what waits, and reports what the person should know."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        for warning in self._memory.warnings():
            self._memory.warn(warning)

    async def _call_tool(self, context: Any, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        def act(memory: Memory) -> str:
            tool = TOOLS.get(params.name)
            if tool is None:
                raise UsageInvalid(f"There is no tool {params.name[:80]!r}", f"There are {', '.join(TOOLS)}.")
            return unwrap(tool(memory, params.arguments or {}))

        try:
            text, is_error = await self._in_turn(context, act), False
        except Error as error:
            text, is_error = error_text(error), True
        return wire.CallToolResult(content=[wire.TextContent(type="text", text=text)], is_error=is_error)

    async def _get_prompt(self, context: Any, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        prompt, given = PROMPTS.get(params.name), params.arguments or {}

        def act(memory: Memory) -> str:
            if prompt is None:
                raise UsageInvalid(f"There is no prompt {params.name[:80]!r}", f"There are {', '.join(PROMPTS)}.")
            if unknown := given.keys() - {each.name for each in prompt.listed.arguments or ()}:
                raise UsageInvalid(f"The prompt {params.name} takes no {', '.join(sorted(unknown))[:80]}")
            return prompt.act(memory, **given)

        try:
            text = await self._in_turn(context, act)
        except Error as error:
            raise MCPError(wire.INVALID_PARAMS, error_text(error), {"name": params.name[:80]}) from None
        message = wire.PromptMessage(role="user", content=wire.TextContent(type="text", text=text))
        return wire.GetPromptResult(messages=[message])

    async def _in_turn(self, context: Any, act: Callable[[Memory], str]) -> str:
        """Runs `act` in the one thread, on behalf of whoever calls; a bug in it is a Defect, and ends no other call."""
        known = context.session.client_params
        name, version = ("", "") if known is None else (known.client_info.name, known.client_info.version)
        caller = client_caller(name, version, self._memory.config.mcp.trusted_clients)

        def done() -> str:
            try:
                self._memory.caller = caller
                self._memory.require_on()
                return act(self._memory)
            except Error:
                raise
            except Exception as bug:  # noqa: BLE001 - the outermost frame of a call
                raise Defect("an MCP call", repr(bug)) from None

        return await asyncio.get_running_loop().run_in_executor(self._thread, done)


def _always(result: Any) -> Callable[[Any, Any], Awaitable[Any]]:
    async def answer(_context: Any, _params: Any) -> Any:
        return result

    return answer


# The caller, as far as a client's own name tells

_HARNESS_BY_WORD = {
    "claude": Harness.CLAUDE_CODE,
    **{harness.value: harness for harness in Harness if harness not in (Harness.MANUAL, Harness.CLAUDE_CODE)},
}


def client_caller(name: str, version: str, trusted: Collection[str]) -> Caller:
    """Returns the caller for a client. Its harness is a label taken from its name (`cursor-vscode`,
    `codex-mcp-client`); trust goes by the whole name, and a client without one has none."""
    client = f"{stored_line(name, 60) or 'unnamed'} {stored_line(version, 20)}".rstrip()
    words = re.findall(r"[a-z]+", name.lower())
    harness = next((_HARNESS_BY_WORD[word] for word in words if word in _HARNESS_BY_WORD), Harness.MANUAL)
    return Caller(harness, client=client, client_is_trusted=name != "" and name in trusted)


# Standard input and output


def serve_stdio(server: MemoryServer) -> None:
    """Serves one client until it goes away or a signal comes. From now on 0 is empty and 1 is standard error: other
    output never reaches the client."""
    pipe = Pipe(*own_descriptors())

    async def serve() -> None:
        async with anyio.create_task_group() as everything:

            async def end_by_signal() -> None:
                with anyio.open_signal_receiver(*SIGNALS) as signals:
                    async for _ in signals:
                        everything.cancel_scope.cancel()

            everything.start_soon(end_by_signal)
            async with stdio_server(pipe, pipe) as (incoming, outgoing):  # type: ignore[arg-type]  # takes whatever has lines
                options = server.protocol.create_initialization_options()
                await server.protocol.run(incoming, outgoing, options)
            everything.cancel_scope.cancel()

    try:
        anyio.run(serve)
    except* OSError:  # nobody reads our answers any more
        pass
    finally:
        server.close()


def own_descriptors() -> tuple[int, int]:
    """Returns standard input and output under descriptors of our own."""
    reading, writing = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return reading, writing


class Pipe:
    """The client's end of two descriptors, which the SDK's transport reads and writes like files.

    The SDK's own reads in a thread that no signal interrupts, and lines of any length. This one waits for its
    descriptors, drops lines that are too long, and ends when everything is answered: the SDK then drops its work in
    progress.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._unanswered = list[object]()  # twice if a client reuses an id
        self._answered = anyio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        begun = bytearray()
        while chunk := await self._read():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                begun += end
                if len(begun) <= MAX_LINE_BYTES and begun.strip():
                    yield self._noted(begun.decode("utf-8", "replace"))
                begun.clear()
            begun += rest
            del begun[MAX_LINE_BYTES + 1 :]
        while self._unanswered:
            self._answered = anyio.Event()
            await self._answered.wait()

    async def write(self, text: str) -> None:
        """Sends one message; OSError where nobody reads it."""
        view = memoryview(text.encode())
        while view:
            await _ready(anyio.wait_writable, self._writing)
            # A pipe that is ready takes this much without blocking (POSIX).
            view = view[os.write(self._writing, view[: select.PIPE_BUF]) :]
        self._settle(json.loads(text).get("id"))

    async def flush(self) -> None:
        """Does nothing: nothing is held back."""

    async def _read(self) -> bytes:
        await _ready(anyio.wait_readable, self._reading)
        try:
            return os.read(self._reading, 64 << 10)
        except OSError:  # a terminal that was hung up, a socket that was reset: nobody is there
            return b""

    def _noted(self, line: str) -> str:
        with suppress(ValidationError):
            match wire.jsonrpc_message_adapter.validate_json(line, by_name=False):
                case wire.JSONRPCRequest(id=id):
                    self._unanswered.append(id)
                case wire.JSONRPCNotification(
                    method="notifications/cancelled", params={"requestId": str() | int() as id}
                ):
                    self._settle(id)  # which the SDK leaves unanswered
                case _:
                    pass
        return line

    def _settle(self, id: object) -> None:
        if id in self._unanswered:
            self._unanswered.remove(id)
            self._answered.set()


async def _ready(wait: Callable[[int], Awaitable[None]], number: int) -> None:
    try:
        await wait(number)
    except OSError:  # a regular file, which is always ready, and on which nothing can wait
        await anyio.lowlevel.checkpoint()


# HTTP


def serve_http(server: MemoryServer, listening: socket.socket, token: str, started: Callable[[], None]) -> None:
    """Serves clients that present the token, until a signal comes. `started` is called once a signal would end us in
    order."""
    app = server.protocol.streamable_http_app(
        # The guard checks Host and Origin more strictly before any request gets here.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False)
    )
    guarded = Guard(app, token, listening.getsockname()[1])
    try:
        serve_until_signal(guarded, listening, started, most_at_once=None)
    finally:
        server.close()


@frozen
class Guard:
    """An ASGI application behind checks of Host (against DNS rebinding), Origin (against web pages) and token (P22)."""

    app: App
    token: str
    port: int

    async def __call__(self, scope: Asgi, receive: Receive, send: Send) -> None:
        refusal = None if scope["type"] == "lifespan" else stranger_refusal(scope, self.port) or self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            status, sentence = refusal
            asked = [(b"www-authenticate", b'Bearer realm="agent-memory"')] if status == 401 else []
            await refuse(receive, send, status, sentence, asked)

    def _refusal(self, scope: Asgi) -> tuple[int, str] | None:
        given = headers_named(scope, b"authorization")
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self.token.encode()):
            return 401, "Show the token that `memory mcp --http` printed: Authorization: Bearer TOKEN."
        return None
