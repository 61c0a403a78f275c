"""MCP over standard input and output: one JSON-RPC message a line.

The SDK's own transport reads in a thread that nothing can interrupt, and lines of any length. This one waits for its
descriptors, so that a signal ends it at once; it bounds lines and unanswered requests, answers what is no message, and
answers what was asked before the input ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress

import anyio
import mcp.types as wire
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent_memory.domain.json_shape import is_object
from agent_memory.surfaces.mcp.serving import MemoryServer
from agent_memory.values import define, field, frozen

MAX_LINE_BYTES = 4 << 20
MOST_UNANSWERED = 4_096
MOST_UNANSWERED_BYTES = 64 << 20
LAST_ANSWERS_SECONDS = 10.0
_CHUNK_BYTES = 64 << 10
_WRITTEN_BYTES = min(select.PIPE_BUF, 4_096)
"""A pipe that is ready takes this much without waiting (POSIX)."""


def serve_stdio(server: MemoryServer) -> None:
    """Serve one client until it goes away or a signal comes. While serving, 0 and 1 lead elsewhere: what anything else
    prints reaches standard error, and never the client."""
    with _own_descriptors() as (reading, writing):
        try:
            anyio.run(_serve, server, Descriptor(reading), Descriptor(writing))
        finally:
            server.close()


@define
class Descriptor:
    """An open file whose turns are waited for without a thread."""

    number: int
    waits: bool = False
    """Whether the other side keeps it waiting."""
    _can_wait: bool = True

    async def read(self) -> bytes:
        """The next bytes; none at the end."""
        await self._ready(anyio.wait_readable)
        try:
            return os.read(self.number, _CHUNK_BYTES)
        except OSError:  # a terminal that was hung up, a socket that was reset: nobody is there
            return b""

    async def write(self, content: bytes) -> bool:
        """Whether all of it went out; False where nobody reads any more."""
        view = memoryview(content)
        while view:
            await self._ready(anyio.wait_writable)
            try:
                view = view[os.write(self.number, view[:_WRITTEN_BYTES]) :]
            except OSError:
                return False
        return True

    async def _ready(self, wait: Callable[[int], Awaitable[None]]) -> None:
        if not self._can_wait:
            await anyio.lowlevel.checkpoint()
            return
        self.waits = True
        try:
            await wait(self.number)
        except OSError:  # a plain file, which is always ready, and which nothing can be waited for on
            self._can_wait = False
        self.waits = False


@define
class Unanswered:
    """The requests that wait for their answers, with their sizes; more than one where a client uses an id again."""

    _requests: list[tuple[str | int, int]] = field(factory=list[tuple[str | int, int]])
    _changed: anyio.Event = field(factory=anyio.Event)

    def note(self, message: wire.JSONRPCMessage, size_bytes: int) -> None:
        """A message that came in, or that goes out with no bytes of its own."""
        match message:
            case wire.JSONRPCRequest(id=id):
                self._requests.append((id, size_bytes))
            case wire.JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._settle(id)
            case wire.JSONRPCResponse(id=id):
                self._settle(id)
            case wire.JSONRPCError(id=str() | int() as id):
                self._settle(id)
            case wire.JSONRPCNotification() | wire.JSONRPCError():
                return  # about no request that waits

    async def until_few(self) -> None:
        """Wait while there are more than may wait: a client that asks on and on and reads nothing must wait, too."""
        while (
            len(self._requests) >= MOST_UNANSWERED
            or sum(size_bytes for _, size_bytes in self._requests) >= MOST_UNANSWERED_BYTES
        ):
            await self._changed.wait()

    async def until_none(self, writing: Descriptor) -> None:
        """Wait for the last answer, however long an act takes; but not for a client that takes no answer any more."""
        while self._requests:
            with anyio.move_on_after(LAST_ANSWERS_SECONDS):
                await self._changed.wait()
                continue
            if writing.waits:
                return

    def _settle(self, id: str | int) -> None:
        first = next((each for each in self._requests if each[0] == id), None)
        if first is not None:
            self._requests.remove(first)
        self._changed.set()
        self._changed = anyio.Event()


Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


async def _serve(server: MemoryServer, reading: Descriptor, writing: Descriptor) -> None:
    incoming, server_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    server_writes, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = server_writes.clone()
    unanswered = Unanswered()
    async with anyio.create_task_group() as everything:
        everything.start_soon(_end_by_signal, everything.cancel_scope)
        everything.start_soon(_write, writing, outgoing, unanswered, everything.cancel_scope)
        async with anyio.create_task_group() as serving:
            serving.start_soon(_read, reading, writing, incoming, refusals, unanswered)
            await server.protocol.run(server_reads, server_writes, server.protocol.create_initialization_options())
            serving.cancel_scope.cancel()
        everything.cancel_scope.cancel()


async def _read(
    reading: Descriptor,
    writing: Descriptor,
    incoming: Incoming,
    refusals: MemoryObjectSendStream[SessionMessage],
    unanswered: Unanswered,
) -> None:
    async with incoming, refusals:
        lines = Lines()
        while chunk := await reading.read():
            for line in lines.of(chunk):
                await unanswered.until_few()
                message = _message(line)
                if isinstance(message, Refusal):
                    await refusals.send(SessionMessage(message.answer))
                elif message is not None:
                    unanswered.note(message, 0 if line is None else len(line))
                    await incoming.send(SessionMessage(message))
        # Once its input ends, the SDK answers "closed" to what is still at work, done or not.
        await unanswered.until_none(writing)


async def _write(
    writing: Descriptor, outgoing: Outgoing, unanswered: Unanswered, everything: anyio.CancelScope
) -> None:
    async with outgoing:
        async for each in outgoing:
            text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            if not await writing.write(f"{text}\n".encode()):
                everything.cancel()
                return
            unanswered.note(each.message, 0)


async def _end_by_signal(everything: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            everything.cancel()
            return


@define
class Lines:
    """Cuts what comes in into lines; None stands for one that is longer than it may be."""

    _begun: bytearray = field(factory=bytearray)
    _skips: bool = False

    def of(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that end in this chunk."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            yield None if self._skips else bytes(self._begun)
            self._begun.clear()
            self._skips = False
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if self._skips or len(self._begun) + len(part) > MAX_LINE_BYTES:
            self._skips = True
            self._begun.clear()
        else:
            self._begun += part


@frozen
class Refusal:
    """What is sent back for a line that holds no message."""

    answer: wire.JSONRPCError


def _message(line: bytes | None) -> wire.JSONRPCMessage | Refusal | None:
    """The message of a line, an error to be sent back for what is none, or None for an empty line."""
    if line is None:
        return _refusal(None, wire.INVALID_REQUEST, f"A message has at most {MAX_LINE_BYTES:,} bytes")
    if not line.strip():
        return None
    try:
        return wire.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _refused(line)


def _refused(line: bytes) -> Refusal:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, wire.PARSE_ERROR, "Parse error")
    id = document.get("id") if is_object(document) and "method" in document else None
    known = id if isinstance(id, str) or type(id) is int else None
    return _refusal(known, wire.INVALID_REQUEST, "Invalid Request")


def _refusal(id: str | int | None, code: int, message: str) -> Refusal:
    return Refusal(wire.JSONRPCError(jsonrpc="2.0", id=id, error=wire.ErrorData(code=code, message=message)))


@contextmanager
def _own_descriptors() -> Generator[tuple[int, int], None, None]:
    """Standard input and output under numbers of our own; meanwhile 0 is empty and 1 is standard error."""
    reading, writing = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield reading, writing
    finally:
        for own, number in ((reading, 0), (writing, 1)):
            with suppress(OSError):
                os.dup2(own, number)
            os.close(own)
        os.close(nothing)
