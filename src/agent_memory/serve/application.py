"""The ASGI application: who may ask, how a request is read, and how an answer becomes a page or JSON.

All work on the store is done by one thread, in the order of the requests. Looking is done on behalf of a program, which is shown
nothing secret; acting on behalf of the person, who alone was given the address.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qs, urlencode

from attrs import field, frozen
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route as Path

from agent_memory.app import Memory
from agent_memory.caller import Caller
from agent_memory.documents import error_document
from agent_memory.errors import (
    ActRefused,
    Busy,
    Defect,
    EntryChanged,
    EntryExists,
    EntryInvalid,
    EntryNotFound,
    EntryProtected,
    Error,
    RunNotFound,
    SessionForgotten,
    StoreIo,
    SwitchedOff,
    UndoRefused,
    UsageInvalid,
)
from agent_memory.serve.loopback import App, Asgi, Receive, Send, headers_named, own_name, refuse, stranger_refusal
from agent_memory.serve.rendering import STATIC, rendered, static_file
from agent_memory.text.ids import split_tags
from agent_memory.text.json_shape import is_list, is_object

E = TypeVar("E", bound=StrEnum)

MAX_BODY_BYTES = 1 << 20
MOST_AT_ONCE = 64

_STRANGER = (
    "Open the address that `memory serve` prints. It opens one browser only: if it was used and not by you, end the "
    "server and start it again."
)
_FOLLOWED = (
    "Links on other pages do not lead in here, since your browser shows no cookie then. Go to the tab that is open, or type the "
    "address of the page."
)

_NOT_OUR_FORM = UsageInvalid(
    "This form is not of the server that runs now, or was sent by another page",
    "Load the page again, and repeat it there.",
)
_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: with that a browser sends `Origin: null` with the forms of this very page.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

_STATUSES: tuple[tuple[int, tuple[type[Error], ...]], ...] = (
    (403, (ActRefused, EntryProtected)),
    (404, (EntryNotFound, RunNotFound, SessionForgotten)),
    (409, (EntryChanged, EntryExists, UndoRefused)),
    (400, (UsageInvalid, SwitchedOff, EntryInvalid)),
    (503, (Busy, StoreIo)),
)


def status_of(error: Error) -> int:
    return next((status for status, kinds in _STATUSES if isinstance(error, kinds)), 500)


# -- what is asked, and what is answered ------------------------------------------------------------------------------


@frozen
class Asked:
    """One request, read and checked."""

    looking: Memory
    """Is shown nothing secret."""
    acting: Memory
    path: Mapping[str, str]
    fields: Mapping[str, list[str]]
    """Of the query, and of the form or the JSON object in the body."""
    said: list[str]
    """Gets what the person should know beside the answer, one sentence each."""

    def text(self, name: str) -> str | None:
        """Returns the field's last value; None where it is blank."""
        return next((value for value in self.fields.get(name, [""])[-1:] if value.strip()), None)

    def needed(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise UsageInvalid(f"{name} is missing")
        return value

    def word(self, name: str, words: type[E]) -> E | None:
        """Returns the field as one of a few words; None where it is blank."""
        value = self.text(name)
        known = [each.value for each in words]
        if value is not None and value not in known:
            raise UsageInvalid(f"{name} is {value[:80]!r}, expected one of {', '.join(known)}")
        return None if value is None else words(value)

    def tags(self) -> tuple[str, ...]:
        return split_tags(" ".join(self.fields.get("tags", [])))

    def number(self, name: str, default: int, most: int, least: int = 1) -> int:
        value = self.text(name)
        if value is None:
            return default
        if not (value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most):
            raise UsageInvalid(f"{name} is {value[:80]!r}, expected a number from {least} to {most:,}")
        return int(value)


@frozen
class Shown:
    """The answer to a look: for a browser `template` with `context`, for a program the document."""

    template: str
    document: Mapping[str, Any]
    context: Mapping[str, Any] = field(factory=dict[str, Any])


@frozen
class Done:
    """The answer to an act: a browser goes on to `back`, where `sentence` is said."""

    sentence: str
    document: Mapping[str, Any]
    back: str
    undo: str = ""
    """The run that takes it back."""


@frozen
class Route:
    """One thing that can be asked. `fields` says what each field of the query or the form means."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    summary: str
    answer: Callable[[Asked], Shown | Done]
    fields: Mapping[str, str] = field(factory=dict[str, str])
    status: int = 200


class Page:
    """One store as a page and as JSON. Close it when the last request is answered."""

    def __init__(self, memory: Memory, port: int, routes: Iterable[Route]) -> None:
        self.port = port
        self._name = own_name()
        self.entrance = secrets.token_urlsafe(32)
        """The token in the address, good for one browser."""
        self.form_token = secrets.token_urlsafe(32)
        self._session: str | None = None
        """The cookie of that browser, once there is one."""
        self._looking = memory.called_by(Caller(client="the page"))
        self._acting = memory.called_by(Caller())
        self._said: dict[str, tuple[list[str], str]] = {}
        """What is to be said on the next page, and the run that takes it back."""
        self._thread = ThreadPoolExecutor(1, "store")
        paths = [Path(each.path, self._endpoint(each), methods=[each.method]) for each in routes]
        static = Path("/static/{name}", self._static)
        refused = {HTTPException: self._no_route}
        self._app: App = Starlette(routes=[*paths, static], exception_handlers=refused)

    @property
    def address(self) -> str:
        """The address for a program, which may not know the name."""
        return f"http://127.0.0.1:{self.port}/?token={self.entrance}"

    @property
    def browser_address(self) -> str:
        return f"http://{self._name}:{self.port}/?token={self.entrance}"

    def close(self) -> None:
        """Finishes what is at work, and drops what waits."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    # -- who asks -----------------------------------------------------------------------------------------------------

    async def __call__(self, scope: Asgi, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = stranger_refusal(scope, self.port, self._name)
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token") if refusal is None else None
        if refusal is not None and refusal[0] == 421:
            refusal = 421, _STRANGER  # a tab of a server before this one
        if refusal is None and not self._is_known(scope):
            if token is not None and scope["method"] == "GET" and self._let_in(token[-1]):
                await self._welcome(scope, receive, send)
                return
            is_link = headers_named(scope, b"sec-fetch-site") == ["cross-site"]
            refusal = 401, _FOLLOWED if is_link else _STRANGER
        if refusal is None and any(int(each) > MAX_BODY_BYTES for each in _lengths(scope)):
            refusal = 413, f"A request can have {MAX_BODY_BYTES >> 20} MiB."
        if refusal is not None:
            headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            await refuse(receive, send, *refusal, headers)
        elif token is not None and scope["path"] == "/":
            await RedirectResponse("/", 303, _HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_known(self, scope: Asgi) -> bool:
        for header in headers_named(scope, b"cookie"):
            try:
                given = SimpleCookie(header).get(self._cookie)
            except CookieError:
                continue
            if given is not None and self._session is not None and _same(given.value, self._session):
                return True
        return False

    @property
    def _cookie(self) -> str:
        return f"memory-{self.port}"  # cookies know no ports, and two servers may run

    def _let_in(self, token: str) -> bool:
        """Returns whether this is the first browser with the token."""
        if self._session is not None or not _same(token, self.entrance):
            return False
        self._session = secrets.token_urlsafe(32)
        return True

    async def _welcome(self, scope: Asgi, receive: Receive, send: Send) -> None:
        """Sets the cookie with a page that leads on. A redirection would do without: one that another program began is
        followed without a cookie that is `SameSite=Strict`."""
        answer = HTMLResponse(rendered("welcome.html", {}), headers=_HEADERS)
        answer.set_cookie(self._cookie, self._session or "", path="/", httponly=True, samesite="strict")
        await answer(scope, receive, send)

    # -- from a request to an answer ----------------------------------------------------------------------------------

    def _endpoint(self, route: Route) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            wants_json, fields = _wants_json(request), dict[str, list[str]]()
            try:
                fields = parse_qs(request.url.query, keep_blank_values=True)
                if route.method != "GET":
                    fields |= await self._form(request)
                    is_ours = _same(fields.pop("token", [""])[-1], self.form_token)
                    # A form can send neither PUT nor DELETE nor JSON, and no script of another page may.
                    if request.method == "POST" and not (_holds_json(request) or is_ours):
                        return self._failed(_NOT_OUR_FORM, wants_json, fields.get("body", [""])[-1], 403)
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._thread, self._answer, route, request, fields, wants_json)
            except Error as error:
                return self._failed(error, wants_json, fields.get("body", [""])[-1])

        return endpoint

    async def _form(self, request: Request) -> dict[str, list[str]]:
        """Returns the fields of the body."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise UsageInvalid(f"The request is larger than {MAX_BODY_BYTES >> 20} MiB")
        try:
            if _holds_json(request):
                members = json.loads(body or b"{}")
                if not is_object(members):
                    raise ValueError("it is no object")
                fields = {str(key): _texts(value) for key, value in members.items()}
            else:
                fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1_000)
        except (ValueError, RecursionError) as error:
            raise UsageInvalid(f"The request cannot be read: {str(error)[:200]}") from None
        return fields

    def _answer(self, route: Route, request: Request, fields: Mapping[str, list[str]], wants_json: bool) -> Response:
        """In the one thread."""
        said: list[str] = []
        for memory in (self._looking, self._acting):
            memory.warn = said.append
            memory.look_again()
        self._looking.store.files.held = {} if route.method == "GET" else None
        asked = Asked(self._looking, self._acting, request.path_params, fields, said)
        try:
            answer = route.answer(asked)
            said += (each for each in self._acting.warnings() if each not in said)
            if wants_json:
                document = {**answer.document, **({"warnings": said} if said else {})}
                return self._json(document, route.status)
            if isinstance(answer, Done):
                return RedirectResponse(self._with_word(answer, said), 303, _HEADERS)
            earlier, undo = self._said.pop((fields.get("said") or [""])[-1], ([], ""))
            return self._html(
                answer.template, {**answer.context, "said": [*earlier, *said], "undo": undo}, 200, request
            )
        except Error:
            raise
        except Exception as bug:  # noqa: BLE001 - the outermost frame of a request
            if os.environ.get("AGENT_MEMORY_DEBUG"):
                traceback.print_exc()
            raise Defect(f"{route.method} {route.path}", repr(bug)) from None

    def _with_word(self, done: Done, said: list[str]) -> str:
        key = secrets.token_urlsafe(6)
        self._said[key] = ([done.sentence, *said], done.undo)
        if len(self._said) > 64:
            del self._said[next(iter(self._said))]
        back = done.back if done.back.startswith("/") and not done.back.startswith(("//", "/\\")) else "/"
        return f"{back}{'&' if '?' in back else '?'}{urlencode({'said': key})}"

    def _html(self, template: str, context: Mapping[str, Any], status: int, request: Request | None) -> Response:
        here = "" if request is None else request.url.path
        values: dict[str, Any] = {"said": [], "undo": "", "here": here, "token": self.form_token, **context}
        return HTMLResponse(rendered(template, values), status, _HEADERS)

    def _json(self, document: Mapping[str, Any], status: int) -> Response:
        return JSONResponse(document, status, _HEADERS)

    def _failed(self, error: Error, wants_json: bool, typed: str, status: int = 0) -> Response:
        """Says what went wrong; what the person had typed is given back."""
        status, document = status or status_of(error), error_document(error)
        if wants_json:
            return self._json(document, status)
        return self._html("message.html", {"sentence": document["error"]["message"], "typed": typed}, status, None)

    async def _no_route(self, request: Request, refusal: Exception) -> Response:
        status = refusal.status_code if isinstance(refusal, HTTPException) else 500
        sentence = "There is no such page." if status == 404 else "That cannot be asked of this page."
        if _wants_json(request):
            return self._json({"error": {"code": "usage", "message": sentence, "details": {}}}, status)
        return self._html("message.html", {"sentence": sentence, "typed": ""}, status, None)

    async def _static(self, request: Request) -> Response:
        kind = STATIC.get(request.path_params["name"])
        if kind is None:
            return await self._no_route(request, HTTPException(404))
        headers = {**_HEADERS, "cache-control": "private, max-age=3600"}
        return Response(static_file(request.path_params["name"]), media_type=kind, headers=headers)


def _lengths(scope: Asgi) -> list[str]:
    return [
        each if each.isascii() and each.isdigit() and len(each) < 12 else "0"
        for each in headers_named(scope, b"content-length")
    ]


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    path = request.url.path
    return (
        path.startswith("/api/")
        or path.endswith(".json")
        or ("application/json" in accepted and "text/html" not in accepted)
    )


def _holds_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _texts(value: Any) -> list[str]:
    """Returns a JSON value as the fields of a form; what is neither text nor a list of it stays JSON."""
    values = value if is_list(value) and all(isinstance(each, str) for each in value) else [value]
    return ["" if each is None else each if isinstance(each, str) else json.dumps(each) for each in values]
