"""What stands before the HTTP surface (P22): nothing is answered to a web page, to another host's name, or without the
token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from agent_memory.values import frozen

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAMES = ("127.0.0.1", "localhost")


@frozen
class Guarded:
    """An ASGI application behind checks of Host (against DNS rebinding), Origin (against web pages) and token."""

    app: App
    token: str
    port: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
            return
        await _answer(send, *refusal)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        if scope["type"] != "http":
            return 404, "There is nothing here."
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in {f"{name}:{self.port}" for name in _NAMES}:
            return 421, "This server answers to its loopback address only."
        own = f"http://{hosts[0].lower()}"
        if any(value.lower() != own for name, value in headers if name == b"origin"):
            return 403, "This server does not answer web pages."
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1 or not self._is_known(given[0]):
            return 401, "Show the token that `memory mcp --http` printed: Authorization: Bearer TOKEN."
        return None

    def _is_known(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self.token.encode())


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # who has not shown the token keeps no connection open
    ]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="agent-memory"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
