"""The console script. A hook's call takes the short way before anything else is imported."""

import os
import sys


def main() -> int:
    """The exit code of `memory …`. With `capture --hook` it does not return: the process ends in `hook`."""
    words = sys.argv[1:]
    if words[:1] == ["capture"] and "--hook" in words:
        _run_hook(words[1:])
    try:
        from agent_memory.surfaces.cli.main import main as run_command

        return run_command()
    except KeyboardInterrupt:  # before the command could take it, or while the process was ending
        return 130


def _run_hook(words: list[str]) -> None:
    """Ends the process with code 0, even where the installation is broken or no file can be opened."""
    try:
        from agent_memory.surfaces.hook import run_hook

        run_hook(words)
    finally:
        os._exit(0)
