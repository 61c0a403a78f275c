"""`memory completions`."""

from __future__ import annotations

import argparse

from agent_memory.surfaces.console import Console

_SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.epilog = (
        "Prints a script that completes commands, options and their values. It is static: completing runs nothing of ours.\n"
        "Installing the package puts it where these shells look, if they look in its prefix. By hand:\n\n"
        "  bash  memory completions bash > ~/.local/share/bash-completion/completions/memory\n"
        "  zsh   memory completions zsh > a directory of your $fpath, as _memory\n"
        "  fish  memory completions fish > ~/.config/fish/completions/memory.fish"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    from agent_memory.surfaces.shell.command_facts import command_facts
    from agent_memory.surfaces.shell.completions import SHELLS

    script = SHELLS[arguments.shell](list(command_facts()))
    console.out(script.rstrip("\n"))
    console.document({"shell": arguments.shell, "script": script})
    return 0
