"""Completion scripts offer what the parsers say."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory.cli.main import COMMANDS, command_parser
from agent_memory.cli.settings import completion_script


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell}")


@needs("bash")
def test_bash_offers_commands_options_and_values() -> None:
    offered = {
        ("memory", "sea"): ["search"],
        ("memory", ""): list(COMMANDS),
        ("memory", "list", "--kind", "les"): ["lesson"],
        ("memory", "capture", "--har"): ["--harness"],
        ("memory", "completions", "f"): ["fish"],
        ("agent-memory", "und"): ["undo"],
    }
    script = completion_script("bash")
    for words, expected in offered.items():
        call = (
            f"{script}\nCOMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; "
            f"$(complete -p {words[0]} | sed 's/.* -F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, check=True)
        assert done.stdout.split() == expected, words


@needs("fish")
@pytest.mark.parametrize(
    ("line", "offered"),
    [("memory sea", ["search"]), ("memory list --kind les", ["lesson"]), ("agent-memory completions z", ["zsh"])],
)
def test_fish_offers_commands_and_values(tmp_path: Path, line: str, offered: list[str]) -> None:
    (tmp_path / "memory.fish").write_text(completion_script("fish"))
    (tmp_path / "agent-memory.fish").symlink_to("memory.fish")
    script = f"set -p fish_complete_path {shlex.quote(str(tmp_path))}; complete -C {shlex.quote(line)}"
    for name in ("memory", "agent-memory"):  # fish completes programs that there are
        (tmp_path / name).write_text("#!/bin/sh\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True, env=environ)
    assert [each.split("\t")[0] for each in done.stdout.splitlines()] == offered


@needs("zsh")
def test_zsh_takes_the_script_for_both_names(tmp_path: Path) -> None:
    (tmp_path / "_memory").write_text(completion_script("zsh"))
    script = (
        f"fpath=({shlex.quote(str(tmp_path))} $fpath); autoload -Uz compinit; compinit -u -d {tmp_path}/dump; "
        "print ${_comps[memory]} ${_comps[agent-memory]}"
    )
    done = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["_memory", "_memory"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_of_every_command_is_in_every_script(shell: str) -> None:
    script = completion_script(shell)
    for name in COMMANDS:
        assert name in script
        for action in command_parser(name)._actions:
            for flag in action.option_strings:
                assert (flag if shell != "fish" else flag.lstrip("-")) in script or action.help == "==SUPPRESS=="


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_page_has_an_example_that_can_be_parsed(name: str) -> None:
    parser = command_parser(name)
    assert parser.epilog is not None
    calls = [line.strip() for line in parser.epilog.splitlines() if line.startswith("  ")]
    own = [call for call in calls if call.startswith(f"memory {name}")]
    assert own or "Example:\n  " in parser.epilog or "memory completions" in parser.epilog
    for call in own:
        words = shlex.split(call.partition("  #")[0].partition(" < ")[0].partition(" > ")[0].partition(" | ")[0])
        parser.parse_args(words[2:])
