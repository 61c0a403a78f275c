"""A server on the loopback address: its socket, who may ask it at all, and how it ends. `memory mcp --http` and `memory serve` share
it (P22)."""

from __future__ import annotations

import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

import anyio
import uvicorn

from agent_memory.errors import UsageInvalid

LOOPBACK = "127.0.0.1"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_REFUSED_BYTES = 1 << 20

Asgi: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Asgi]]
Send: TypeAlias = Callable[[Asgi], Awaitable[None]]
App: TypeAlias = Callable[[Asgi, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]


def listening_socket(port: int) -> socket.socket:
    """Returns a socket that listens at this port of the loopback address; 0 takes any that is free."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((LOOPBACK, port))
        opened.listen()
    except OSError as error:
        opened.close()
        hint = "Choose another with --port, or --port 0 for any that is free."
        raise UsageInvalid(f"Port {port} of {LOOPBACK} cannot be used: {error.strerror}", hint) from None
    return opened


def serve_until_signal(
    app: App, listening: socket.socket, started: Callable[[], None], most_at_once: int | None
) -> None:
    """Serves until a signal comes. `started` is called once it would end us in order."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        limit_concurrency=most_at_once,
        timeout_graceful_shutdown=3,
    )
    serving = uvicorn.Server(config)
    for number in SIGNALS:  # uvicorn raises the signal again when it has ended: that must not end us as if by a fault
        signal.signal(number, serving.handle_exit)
    started()
    serving.run(sockets=[listening])


def headers_named(scope: Asgi, name: bytes) -> list[str]:
    return [value.decode("latin-1") for each, value in scope["headers"] if each.lower() == name]


def own_name() -> str:
    """Returns a name of the loopback address (RFC 6761) that no other server knows. Cookies know no ports: those of 127.0.0.1 are
    sent to every server there, an agent's too."""
    name = f"memory-{secrets.token_hex(6)}.localhost"
    if sys.platform == "darwin":  # where Safari asks the system; other browsers know such names
        try:
            socket.getaddrinfo(name, None)
        except OSError:
            return LOOPBACK
    return name


def stranger_refusal(scope: Asgi, port: int, name: str = LOOPBACK) -> tuple[int, str] | None:
    """Returns status and sentence for who asks under another name than ours (DNS rebinding), or from a web page."""
    if scope["type"] != "http":
        return 404, "There is nothing here."
    hosts = [value.lower() for value in headers_named(scope, b"host")]
    if len(hosts) != 1 or hosts[0] not in [f"{each}:{port}" for each in (name, LOOPBACK, "localhost")]:
        return 421, "This server answers to its loopback address only."
    if any(value.lower() != f"http://{hosts[0]}" for value in headers_named(scope, b"origin")):
        return 403, "This server does not answer web pages."
    return None


async def refuse(receive: Receive, send: Send, status: int, sentence: str, headers: Iterable[Header] = ()) -> None:
    """Answers with the sentence, after taking what the caller is still sending, within bounds: a connection that is closed over
    unread bytes is reset, and the caller may never see why it was refused."""
    left = _REFUSED_BYTES
    with anyio.move_on_after(0.5):
        while left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if not message.get("more_body"):
                break
    usual = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": [*usual, *headers]})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
