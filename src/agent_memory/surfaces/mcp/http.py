"""MCP over streamable HTTP, on the loopback address only."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, UsageInvalid
from agent_memory.surfaces.mcp.guard import Guarded
from agent_memory.surfaces.mcp.serving import MemoryServer

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
_CLOSING_SECONDS = 3
_MOST_CONNECTIONS = 256


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
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    try:
        anyio.run(_serve, _QuietServer(config), listening, lambda: started(f"http://{LOOPBACK}:{port}{PATH}"))
    finally:
        server.close()


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
