"""Completion scripts and the man page say what the parsers say."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory.surfaces.cli.main import COMMANDS, command_parser
from agent_memory.surfaces.shell.command_facts import CommandFacts, command_facts
from agent_memory.surfaces.shell.completions import SHELLS

SHARE = Path(__file__).parents[2] / "share"
BASH, ZSH, FISH = (
    SHARE / "bash-completion/completions/memory",
    SHARE / "zsh/site-functions/_memory",
    SHARE / "fish/vendor_completions.d/memory.fish",
)


@pytest.fixture(scope="module")
def commands() -> list[CommandFacts]:
    return list(command_facts())


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell}")


def bash(*words: str) -> list[str]:
    """What bash offers for the last word."""
    script = (
        f"source {shlex.quote(str(BASH))}; COMP_WORDS=({' '.join(map(shlex.quote, words))}); "
        f'COMP_CWORD={len(words) - 1}; _memory; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


@needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("memory", "sea"), ["search"]),
        (("memory", "list", "--kind", "les"), ["lesson"]),
        (("memory", "capture", "--har"), ["--harness"]),
        (("memory", "completions", "f"), ["fish"]),
        (("agent-memory", "und"), ["undo"]),
        (("memory", "no-such-command", "--"), []),
    ],
)
def test_bash_offers_commands_options_and_values(words: tuple[str, ...], offered: list[str]) -> None:
    assert bash(*words) == offered


@needs("bash")
def test_bash_offers_every_command() -> None:
    assert bash("memory", "") == [*COMMANDS, "--help", "--version"]


@needs("fish")
@pytest.mark.parametrize(
    ("line", "offered"),
    [("memory sea", ["search"]), ("memory list --kind les", ["lesson"]), ("memory completions z", ["zsh"])],
)
def test_fish_offers_commands_and_values(tmp_path: Path, line: str, offered: list[str]) -> None:
    script = f"set -p fish_complete_path {shlex.quote(str(FISH.parent))}; complete -C {shlex.quote(line)}"
    program = tmp_path / "memory"  # fish completes programs that there are
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True, env=environ)
    assert [each.split("\t")[0] for each in done.stdout.splitlines()] == offered


@needs("zsh")
def test_zsh_takes_the_script_for_both_names(tmp_path: Path) -> None:
    subprocess.run(["zsh", "-n", str(ZSH)], check=True)
    script = (
        f"fpath=({shlex.quote(str(ZSH.parent))} $fpath); autoload -Uz compinit; compinit -u -d {tmp_path}/dump; "
        "print ${_comps[memory]} ${_comps[agent-memory]}"
    )
    done = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["_memory", "_memory"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_of_every_command_is_in_every_script(commands: list[CommandFacts], shell: str) -> None:
    script = SHELLS[shell](commands)
    for command in commands:
        assert command.name in script
        for option in command.options:
            for flag in option.flags:
                assert (flag if shell != "fish" else flag.lstrip("-")) in script


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_man_page_is_sound_and_names_every_command() -> None:
    page = SHARE / "man/man1/memory.1"
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=100n", str(page)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    for name in COMMANDS:
        assert f"memory {name}" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_page_has_an_example_that_can_be_parsed(name: str) -> None:
    parser, _ = command_parser(name)
    assert parser.epilog is not None
    calls = [line.strip() for line in parser.epilog.splitlines() if line.startswith(("  ", "    "))]
    calls += [parser.epilog.partition("Example: ")[2]]
    own = [call for call in calls if call.startswith(f"memory {name}")]
    assert own or COMMANDS[name].example or "memory completions" in parser.epilog
    for call in own:
        words = shlex.split(call.partition("  #")[0].partition(" < ")[0].partition(" > ")[0].partition(" | ")[0])
        parser.parse_args(words[2:])
