"""Whatever the documentation tells somebody to type is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from agent_memory.cli.main import COMMANDS, command_parser

PROJECT = Path(__file__).parents[2]
PAGES = [
    *sorted((PROJECT / "docs").rglob("*.md")),
    *sorted((PROJECT / "skills").rglob("*.md")),
    *(PROJECT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
]
_CALL = re.compile(r"(?:^|[\s$(\"'])memory (--?\w[\w-]*|[a-z][a-z-]*)([^\n|;&#>]*)", re.MULTILINE)


def pieces_of_code(text: str) -> Iterator[str]:
    """What stands between backticks, in shell blocks, behind a prompt, and in indented blocks at the start of a line."""
    for token in MarkdownIt().enable("table").parse(text):
        if token.type == "code_block":
            yield from re.findall(r"^memory .*$", token.content, re.MULTILINE)
        elif token.type == "fence" and token.info == "sh":
            yield token.content
        elif token.type == "fence" and token.info == "console":
            yield from re.findall(r"^[$>] (.*)$", token.content, re.MULTILINE)
        yield from (child.content for child in token.children or () if child.type == "code_inline")


def wrong_calls(text: str) -> list[str]:
    """Calls of a command that is not there, or with an option that it does not have."""
    wrong = []
    for piece in pieces_of_code(text):
        for name, rest in _CALL.findall(piece):
            if name in COMMANDS:
                known = command_parser(name)._option_string_actions
                wrong += [
                    f"memory {name} {each}" for each in re.findall(r"(?<!\S)\[?(--[a-z-]+)", rest) if each not in known
                ]
            elif not name.startswith("-") and name != "help":
                wrong.append(f"memory {name}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_commands_and_their_options_are_there(page: Path) -> None:
    assert wrong_calls(page.read_text("utf-8")) == []


def test_a_wrong_one_would_be_found() -> None:
    page = "`memory reed ID` `memory read ID --secret` `memory list --collour` memory itself\n\n```console\n$ memory lst\nmemory said\n```\n"
    assert wrong_calls(page) == ["memory reed", "memory list --collour", "memory lst"]
