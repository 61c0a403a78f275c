"""MCP over streamable HTTP, on the loopback address only."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from returns.result import Failure, Result, Success
from uvicorn.protocols.http.h11_impl import H11Protocol

from agent_memory.errors import Error, UsageInvalid
from agent_memory.surfaces.mcp.guard import Guarded
from agent_memory.surfaces.mcp.serving import MemoryServer

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
_CLOSING_SECONDS = 3
_MOST_CONNECTIONS = 256
_MOST_SILENT = 64
_SILENT_SECONDS = 5.0


def listening_socket(port: int) -> Result[socket.socket, Error]:
    """A socket bound to this port of the loopback address; 0 takes any that is free."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((LOOPBACK, port))
    except OSError as error:
        opened.close()
        hint = "Choose another with --port, or --port 0 for any that is free."
        return Failure(UsageInvalid(f"Port {port} of {LOOPBACK} cannot be had: {error.strerror}", hint))
    return Success(opened)


def serve_http(server: MemoryServer, listening: socket.socket, token: str, started: Callable[[str], None]) -> None:
    """Serve clients that show the token, until a signal comes. `started` is told the address."""
    port = listening.getsockname()[1]
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        # Host and Origin are checked by the guard, more strictly, before anything of this is reached.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    config = uvicorn.Config(
        Guarded(app, token, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        http=_Connection,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    try:
        anyio.run(_serve, _QuietServer(config), listening, lambda: started(f"http://{LOOPBACK}:{port}{PATH}"))
    finally:
        server.close()


class _Connection(H11Protocol):
    """A connection that has to send the headers of a request in time, however slowly they come.

    uvicorn has no time limit for them, and counts whoever says nothing among the connections that it answers 503 above.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; the oldest of too many that sent no headers yet has to make room."""
        super().connection_made(transport)
        self.patience: asyncio.TimerHandle = self.loop.call_later(_SILENT_SECONDS, self.end_if_silent)
        connections: set[object] = {*self.connections}
        silent = [each for each in connections if isinstance(each, _Connection) and each.is_silent()]
        if len(silent) > _MOST_SILENT:
            min(silent, key=lambda each: each.patience.when()).transport.close()

    def is_silent(self) -> bool:
        """Whether no headers came yet. The guard closes those whose headers it refuses."""
        return not self.transport.is_closing() and getattr(self, "cycle", None) is None

    def end_if_silent(self) -> None:
        """Close it, unless headers came."""
        if self.is_silent():
            self.transport.close()


class _QuietServer(uvicorn.Server):
    """Leaves signals to us: its own way ends the process by the signal, as if something had gone wrong."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def _serve(server: _QuietServer, listening: socket.socket, started: Callable[[], None]) -> None:
    async with anyio.create_task_group() as everything:
        everything.start_soon(_end_by_signal, server)
        everything.start_soon(_tell, server, started)
        await server.serve(sockets=[listening])
        everything.cancel_scope.cancel()


async def _tell(server: _QuietServer, started: Callable[[], None]) -> None:
    while not server.started:
        await anyio.sleep(0.01)
    started()


async def _end_by_signal(server: _QuietServer) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            server.should_exit = True
