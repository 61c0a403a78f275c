"""`memory mcp`."""

from __future__ import annotations

import argparse
import os
import re
import secrets
from importlib.util import find_spec

from attrs import field, frozen

from agent_memory.cli.arguments import add_flag, add_number, set_command
from agent_memory.cli.console import Console
from agent_memory.cli.dialogue import open_here
from agent_memory.errors import StateCorrupt, StoreIo, UsageInvalid
from agent_memory.files.durable import FILE_MODE, create_file, make_directories, replace_file
from agent_memory.files.paths import as_store_io, read_image
from agent_memory.files.root import home_of, local_state_directory
from agent_memory.results import as_result, unwrap

DEFAULT_PORT = 8737


def configure_mcp(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--http", "serve many clients over HTTP, on the loopback address only")
    add_number(
        parser, "--port", f"the port for --http; 0: any free one (default: {DEFAULT_PORT})", least=0, most=65_535
    )
    add_flag(parser, "--new-token", "create a new token for --http; the old one stops working")
    epilog = (
        "Serves the client that starts it, over standard input and output, until that client ends. `memory setup "
        "--mcp` registers it with your harnesses. With --http it serves many clients at http://127.0.0.1:PORT/mcp, "
        "in the foreground; they send a token (Authorization: Bearer TOKEN), which is printed when it is created and "
        "kept in ~/.local/state/agent-memory/mcp-token. Notes from a client are external, unless your config names "
        "the client in mcp.trustedClients. Needs the extra agent-memory[mcp]. Exit code: 2 if the extra is missing "
        "or the port is taken."
    )
    set_command(parser, _run, epilog, "claude mcp add agent-memory -- memory mcp")


def _run(arguments: argparse.Namespace, console: Console) -> None:
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
    listening = listening_socket(DEFAULT_PORT if arguments.port is None else arguments.port)
    token = unwrap(http_token(home_of(os.environ), renew=arguments.new_token))
    address = "http://{}:{}/mcp".format(*listening.getsockname())

    def tell_started() -> None:
        where = f"The token, shown only this once: {token.value}" if token.is_new else f"The token is in {token.path}"
        console.answer({"address": address, "tokenPath": token.path}, f"Serving {address}", where)
        console.stdout.flush()

    serve_http(MemoryServer(memory), listening, token.value, tell_started)


# -- the token of a server on this machine ---------------------------------------------------------------------------


_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}", re.ASCII)
_RANDOM_BYTES = 32
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
        value = secrets.token_urlsafe(_RANDOM_BYTES)
        write = create_file if image is None else replace_file
        try:
            with as_store_io("write", path):
                make_directories(os.path.dirname(path))
                write(path, f"{value}\n".encode())
            return HttpToken(value, path, is_new=True)
        except StoreIo as error:  # another server may have just made one
            image = read_image(path, _MAX_BYTES) if error.errno_name == "EEXIST" else None
            if image is None:
                raise
    value = image.data.decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(value):
        raise StateCorrupt(path, ("it holds no token of 32 letters and digits or more",))
    with as_store_io("protect", path):
        os.chmod(path, FILE_MODE)
    return HttpToken(value, path)
