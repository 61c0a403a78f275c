"""`memory mcp`."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from returns.result import Failure, Result

from agent_memory.adapters.surroundings.http_token import HttpToken, http_token
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.app import Memory
from agent_memory.errors import Error, HomeUnknown, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

DEFAULT_PORT = 8737
_MOST_PORT = 65_535


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http", action="store_true", help="serve many clients over HTTP, on the loopback address only"
    )
    parser.add_argument("--port", type=int, metavar="N", help=f"the port of --http; 0: any (default: {DEFAULT_PORT})")
    parser.add_argument("--new-token", action="store_true", help="make the token of --http anew; the old one ends")
    parser.epilog = (
        "Serves the one client that starts it, over standard input and output, until that client goes away. `memory setup "
        "--mcp` tells your harnesses of it. With --http it stays in the foreground at http://127.0.0.1:PORT/mcp; clients "
        "show a token (Authorization: Bearer TOKEN), which is printed when it is made and kept in "
        "~/.local/state/agent-memory/mcp-token. Needs the extra agent-memory[mcp]. What a client writes counts as "
        "external, unless mcp.trustedClients of your config names it. Exit code: 2 without the extra, or where the port is "
        "taken."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    problem = _usage_problem(arguments)
    if problem is not None:
        raise problem
    memory = open_here(console)
    return _over_http(memory, arguments, console) if arguments.http else _over_stdio(memory)


def _usage_problem(arguments: argparse.Namespace) -> UsageInvalid | None:
    if find_spec("mcp") is None:
        return UsageInvalid(
            "The MCP server is not installed",
            "Install agent-memory again with its extra mcp: `uv tool install '.[mcp]'` in its checkout.",
        )
    if not arguments.http and (arguments.port is not None or arguments.new_token):
        return UsageInvalid("--port and --new-token are for --http", "Without it, the client's own pipe is served.")
    if arguments.port is not None and not 0 <= arguments.port <= _MOST_PORT:
        return UsageInvalid(f"--port is {arguments.port}, expected a number from 0 to {_MOST_PORT}")
    return None


def _over_stdio(memory: Memory) -> int:
    from agent_memory.surfaces.mcp.server import MemoryServer, serve_stdio

    serve_stdio(MemoryServer(memory))
    return 0


def _over_http(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    from agent_memory.surfaces.mcp.server import MemoryServer, listening_socket, serve_http

    opened = listening_socket(DEFAULT_PORT if arguments.port is None else arguments.port)
    ready = opened.bind(lambda listening: _token(memory, arguments).map(lambda token: (listening, token)))
    listening, token = unwrap(ready)
    address = "http://{}:{}/mcp".format(*listening.getsockname())
    serve_http(MemoryServer(memory), listening, token.value, lambda: _tell_started(console, address, token))
    return 0


def _token(memory: Memory, arguments: argparse.Namespace) -> Result[HttpToken, Error]:
    home = home_of(memory.environ)
    return Failure(HomeUnknown()) if home is None else http_token(home, renew=arguments.new_token)


def _tell_started(console: Console, address: str, token: HttpToken) -> None:
    console.document({"address": address, "tokenPath": token.path})
    console.out(f"Serving {address}")
    console.out(f"Token, shown this once: {token.value}" if token.is_new else f"The token is in {token.path}")
    console.stdout.flush()
