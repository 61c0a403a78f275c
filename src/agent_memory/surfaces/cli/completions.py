"""`memory completions`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.surfaces.console import Console

_SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.epilog = (
        "Prints a script that completes commands, options and their values. It is static: completing runs nothing of ours.\n\n"
        "  bash  memory completions bash > ~/.local/share/bash-completion/completions/memory\n"
        "  zsh   memory completions zsh > a directory of your $fpath, as _memory\n"
        "  fish  memory completions fish > ~/.config/fish/completions/memory.fish"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    script = completion_script(arguments.shell)
    console.out(script.rstrip("\n"))
    console.document({"shell": arguments.shell, "script": script})
    return 0


def completion_script(shell: str) -> str:
    """The script for one shell, made of the parsers of all commands, for both names of the program."""
    import shtab

    from agent_memory.surfaces.cli.main import COMMANDS, command_parser

    root = argparse.ArgumentParser(prog="memory")
    root.add_argument("--version", action="version", version="", help="show the version")

    def parser_of(prog: str, **_: object) -> argparse.ArgumentParser:
        return command_parser(prog.split()[-1])[0]

    parser_class: Any = parser_of  # argparse calls it a class
    commands = root.add_subparsers(parser_class=parser_class)
    for name, listed in COMMANDS.items():
        for action in commands.add_parser(name, help=listed.summary)._actions:
            if action.metavar in ("PATH", "FILE"):
                action.complete = shtab.FILE
    script: str = shtab.complete(root, shell)
    match shell:
        case "bash":
            return f"{script}\ncomplete -o bashdefault -F _shtab_memory agent-memory\n"
        case "zsh":
            return script.replace("#compdef memory", "#compdef memory agent-memory", 1)
        case _:
            return f"{script}\ncomplete -c agent-memory -w memory\n"
