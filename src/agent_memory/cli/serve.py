"""`memory serve` and `memory mcp`: what your browser and other programs reach."""

from __future__ import annotations

import os
import re
import secrets
from importlib.util import find_spec

from attrs import field, frozen

from agent_memory.cli.console import Arguments, Console, Options
from agent_memory.cli.dialogue import open_here
from agent_memory.errors import StateCorrupt, StoreIo, UsageInvalid
from agent_memory.files.durable import FILE_MODE, create_file, make_directories, replace_file
from agent_memory.files.paths import as_store_io, read_image
from agent_memory.files.root import home_of, local_state_directory
from agent_memory.results import as_result, unwrap

# -- serve ------------------------------------------------------------------------------------------------------------

_PAGE_PORT = 8738
_NEEDED = ("jinja2", "markdown_it", "starlette", "uvicorn")


def configure_serve(options: Options) -> None:
    options.number("--port", f"the port; 0: any free one (default: {_PAGE_PORT})", least=0, most=65_535)
    options.flag("--no-open", "print the address without opening a browser")
    epilog = (
        "Shows notes, runs, sessions and what waits for your decision as a page on 127.0.0.1, in the foreground, until "
        "Ctrl-C. The address has a token that lets in one browser, once. Nothing is loaded from the network; secret "
        "notes are never shown. Programs get JSON from the same routes (Accept: application/json); /openapi.json "
        "describes them. Only you can run it. Needs the extra agent-memory[serve]. Exit code: 2 if the extra is missing "
        "or the port is taken."
    )
    options.runs(_serve_page, epilog, "memory serve")


def _serve_page(arguments: Arguments, console: Console) -> None:
    if any(find_spec(name) is None for name in _NEEDED):
        raise UsageInvalid(
            "The page is not installed",
            "Install agent-memory with the extra serve: `uv tool install '.[serve]'` in its checkout.",
        )
    memory = open_here(console)
    memory.caller.only_a_person("serve")
    from agent_memory.serve.application import MOST_AT_ONCE, Page
    from agent_memory.serve.loopback import listening_socket, serve_until_signal
    from agent_memory.serve.routes import ROUTES

    listening = listening_socket(_PAGE_PORT if arguments.port is None else arguments.port)
    page = Page(memory, listening.getsockname()[1], ROUTES)

    def tell_started() -> None:
        lines = (
            f"Serving {page.browser_address}",
            "It works in one browser, once, also with 127.0.0.1 in place of the name. Ctrl-C ends the server.",
        )
        console.answer({"address": page.address}, *lines)
        console.stdout.flush()
        if not (arguments.no_open or console.json):
            import webbrowser
            from threading import Thread

            Thread(
                target=webbrowser.open, args=(page.browser_address,), daemon=True
            ).start()  # a text browser does not return

    try:
        serve_until_signal(page, listening, tell_started, MOST_AT_ONCE)
    finally:
        page.close()


# -- mcp --------------------------------------------------------------------------------------------------------------

_MCP_PORT = 8737


def configure_mcp(options: Options) -> None:
    options.flag("--http", "serve many clients over HTTP, on the loopback address only")
    options.number("--port", f"the port for --http; 0: any free one (default: {_MCP_PORT})", least=0, most=65_535)
    options.flag("--new-token", "create a new token for --http; the old one stops working")
    epilog = (
        "Serves the client that starts it, over standard input and output, until that client ends. `memory setup "
        "--mcp` registers it with your harnesses. With --http it serves many clients at http://127.0.0.1:PORT/mcp, "
        "in the foreground; they send a token (Authorization: Bearer TOKEN), which is printed when it is created and "
        "kept in ~/.local/state/agent-memory/mcp-token. Notes from a client are external, unless your config names "
        "the client in mcp.trustedClients. Needs the extra agent-memory[mcp]. Exit code: 2 if the extra is missing "
        "or the port is taken."
    )
    options.runs(_mcp, epilog, "claude mcp add agent-memory -- memory mcp")


def _mcp(arguments: Arguments, console: Console) -> None:
    if find_spec("mcp") is None:
        raise UsageInvalid(
            "The MCP server is not installed",
            "Install agent-memory with the extra mcp: `uv tool install '.[mcp]'` in its checkout.",
        )
    if not arguments.http and (arguments.port is not None or arguments.new_token):
        raise UsageInvalid(
            "--port and --new-token go with --http only", "Without --http, memory talks to the client over a pipe."
        )
    memory = open_here(console)
    from agent_memory.cli.mcp_server import MemoryServer, serve_http, serve_stdio
    from agent_memory.serve.loopback import listening_socket

    if not arguments.http:
        serve_stdio(MemoryServer(memory))
        return
    listening = listening_socket(_MCP_PORT if arguments.port is None else arguments.port)
    token = unwrap(http_token(home_of(os.environ), renew=arguments.new_token))
    address = "http://{}:{}/mcp".format(*listening.getsockname())

    def tell_started() -> None:
        where = f"The token, shown only this once: {token.value}" if token.is_new else f"The token is in {token.path}"
        console.answer({"address": address, "tokenPath": token.path}, f"Serving {address}", where)
        console.stdout.flush()

    serve_http(MemoryServer(memory), listening, token.value, tell_started)


# -- the token of a server on this machine ---------------------------------------------------------------------------


_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}", re.ASCII)
_MAX_BYTES = 4_096


@frozen
class HttpToken:
    value: str = field(repr=False)
    path: str
    is_new: bool = False


@as_result
def http_token(home: str, *, renew: bool = False) -> HttpToken:
    """Returns the token of this home; creates it if there is none yet, or a new one if asked to."""
    path = f"{local_state_directory(home)}/mcp-token"
    image = read_image(path, _MAX_BYTES)
    if image is None or renew:
        value = secrets.token_urlsafe(32)
        write = create_file if image is None else replace_file
        try:
            with as_store_io("write", path):
                make_directories(os.path.dirname(path))
                write(path, f"{value}\n".encode())
            return HttpToken(value, path, is_new=True)
        except StoreIo as error:  # another server has just made one, and has told it to its clients
            image = read_image(path, _MAX_BYTES) if error.errno_name == "EEXIST" else None
            if image is None:
                raise
    value = image.data.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(value):
        raise StateCorrupt(path, ("it holds no token of 32 letters and digits or more",))
    with as_store_io("protect", path):
        os.chmod(path, FILE_MODE)
    return HttpToken(value, path)
