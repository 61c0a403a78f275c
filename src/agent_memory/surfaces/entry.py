"""The console script. A hook's call takes the short way before anything else is imported."""

import sys


def main() -> int:
    """The exit code of `memory …`. With `capture --hook` it does not return: the process ends in `hook`."""
    words = sys.argv[1:]
    if words[:1] == ["capture"] and "--hook" in words:
        from agent_memory.surfaces.hook import run_hook

        run_hook(words[1:])
    from agent_memory.surfaces.cli.main import main as run_command

    return run_command()
