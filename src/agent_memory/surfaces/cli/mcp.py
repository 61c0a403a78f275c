"""`memory mcp`."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from agent_memory.bootstrap import Memory
from agent_memory.errors import UsageInvalid
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Serves the one client that starts it, over standard input and output, until that client goes away. `memory setup "
        "--mcp` tells your harnesses of it. Needs the extra agent-memory[mcp]. What a client writes counts as external, "
        "unless mcp.trustedClients of your config names it. Exit code: 2 without the extra."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if find_spec("mcp") is None:
        return console.fail(
            UsageInvalid("The MCP server is not installed", "Install it with `pip install 'agent-memory[mcp]'`.")
        )
    return with_memory(console, _serve)


def _serve(memory: Memory) -> int:
    from agent_memory.surfaces.mcp.serving import MemoryServer
    from agent_memory.surfaces.mcp.stdio import serve_stdio

    serve_stdio(MemoryServer(memory))
    return 0
