"""What the command line says of itself, and what it makes of words that it does not know."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_memory import __version__
from agent_memory.cli.main import COMMANDS, command_parser
from agent_memory.cli.settings import completion_script
from agent_memory.config import Config
from agent_memory.files.paths import read_shipped
from agent_memory.text.json_codec import written
from memory_process import PROGRAM, Memory


def test_help_lists_every_command_and_needs_no_store(memory: Memory) -> None:
    for words in ((), ("--help",), ("-h",), ("help",)):
        done = memory(*words, environ={"HOME": "/dev/null/x"})
        assert (done.code, done.err) == (0, "")
        assert COMMANDS.keys() <= set(re.findall(r"[a-z-]+", done.out))
    assert memory("--version").out == f"agent-memory {__version__}\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(memory: Memory, name: str) -> None:
    done = memory(name, "--help", environ={"COLUMNS": "80"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: memory {name} ")
    assert "--json" in done.out
    assert done == memory("help", name, environ={"COLUMNS": "80"})
    assert not memory.root.exists()


def test_commands_answer_to_the_names_that_they_had(memory: Memory) -> None:
    for earlier, now in (("install-cron", "on"), ("uninstall-cron", "off"), ("run-scheduled", "run")):
        assert memory(earlier, "--help") == memory("schedule", now, "--help")
        assert f" {earlier}" not in memory("--help").out


def test_json_may_stand_before_or_after_the_command(memory: Memory) -> None:
    assert memory("--json", "list").document == memory("list", "--json").document == {"entries": [], "unreadable": []}


def test_options_may_stand_between_the_words(memory: Memory) -> None:
    memory("remember", "the zebra stands behind the lock", "--kind", "lesson")
    assert memory("state", "set", "herd", "--text", "5").code == 0
    assert memory("state", "get", "herd").out == "5\n"
    between = memory("search", "zebra", "--kind", "lesson", "lock")
    assert (between.code, between.out.count("\n")) == (0, 1)
    assert between.out == memory("search", "zebra", "lock", "--kind", "lesson").out
    assert memory("search", "zebra", "--limit", "1", "--", "-lock").code == 0


@pytest.mark.parametrize(
    ("name", "lacking", "said"), [("mcp", "mcp", "The MCP server"), ("serve", "starlette", "The page")]
)
def test_without_its_extra_one_sentence_says_what_to_install(
    memory: Memory, tmp_path: Path, name: str, lacking: str, said: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\nfind = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == '{lacking}' else find(name, *rest)\n"
    )
    environ = memory.environment({"PYTHONPATH": str(tmp_path)})
    done = subprocess.run([*PROGRAM, name], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    install = f"Install agent-memory with the extra {name}: `uv tool install '.[{name}]'` in its checkout."
    assert done.stderr == f"memory: {said} is not installed. {install}\n"


# -- completion scripts offer what the parsers say ---------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
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


# -- the documentation of the configuration is what the code says ------------------------------------------------------


SCHEMA = json.loads(read_shipped("docs/config.schema.json"))


def test_every_key_has_a_meaning_and_a_bar_breaks_no_table() -> None:
    def meanings(schema: dict[str, Any]) -> list[str]:
        keys = [each for key, each in schema.get("properties", {}).items() if key != "$schema"]
        return [each["description"] for each in keys] + [text for each in keys for text in meanings(each)]

    found = meanings(SCHEMA)
    assert len(found) > 20
    assert all(meaning.endswith(".") and "|" not in meaning for meaning in found)


def test_the_defaults_of_the_schema_are_the_defaults_of_the_code() -> None:
    def defaults(schema: dict[str, Any]) -> Any:
        if "default" in schema or "properties" not in schema:
            return schema.get("default")
        return {key: defaults(each) for key, each in schema["properties"].items() if key != "$schema"}

    assert defaults(SCHEMA) == written(Config())
