"""`memory serve`."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from agent_memory.cli.arguments import add_flag, add_number, set_command
from agent_memory.cli.console import Console
from agent_memory.cli.dialogue import open_here
from agent_memory.errors import UsageInvalid

DEFAULT_PORT = 8738
_NEEDED = ("jinja2", "markdown_it", "starlette", "uvicorn")


def configure_serve(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--port", f"the port; 0: any free one (default: {DEFAULT_PORT})", least=0, most=65_535)
    add_flag(parser, "--no-open", "print the address, and do not open it in a browser")
    epilog = (
        "Shows notes, runs, sessions and what waits for your decision as a page on 127.0.0.1, in the foreground, until "
        "Ctrl-C. The address has a token that lets in one browser, once. Nothing is loaded from the network; secret "
        "notes are never shown. Programs get JSON from the same routes (Accept: application/json); /openapi.json "
        "describes them. Only you can run it. Needs the extra agent-memory[serve]. Exit code: 2 if the extra is missing "
        "or the port is taken."
    )
    set_command(parser, _run, epilog, "memory serve")


def _run(arguments: argparse.Namespace, console: Console) -> None:
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

    listening = listening_socket(DEFAULT_PORT if arguments.port is None else arguments.port)
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
