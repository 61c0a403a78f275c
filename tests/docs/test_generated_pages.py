"""The pages that `docs/generate.py` writes say what the code says."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from agent_memory.cli.main import COMMANDS, command_parser

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "docs"))

from generate import main  # noqa: E402

DESIGN = "docs/contributing/design.md"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The pages in a place where they may be changed."""
    shutil.copytree(PROJECT / "plists", tmp_path / "plists")
    shutil.copytree(PROJECT / "docs", tmp_path / "docs")
    return tmp_path


def test_stale_pages_are_named_and_then_mended_and_no_other(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = copied / "docs/commands.md", copied / DESIGN
    by_hand = part.read_text("utf-8").replace("# Design", "# Our design")
    for page, text in {whole: "", part: by_hand.replace("load_queue -->", "load -->", 1)}.items():
        page.write_text(text, "utf-8")

    assert main(["--check"], copied) == 1
    assert capsys.readouterr() == (
        "",
        f"docs/commands.md is stale: run `make docs`\n{DESIGN} is stale: run `make docs`\n",
    )
    assert whole.read_text("utf-8") == ""

    assert main([], copied) == 0
    assert capsys.readouterr() == (f"docs/commands.md written\n{DESIGN} written\n", "")
    assert whole.read_text("utf-8") == (PROJECT / "docs/commands.md").read_text("utf-8")
    assert part.read_text("utf-8") == by_hand


def test_a_page_without_its_marks_is_not_written(copied: Path) -> None:
    page = copied / DESIGN
    page.write_text("# Design\n", "utf-8")
    with pytest.raises(SystemExit, match="<!-- generated: consolidate -->"):
        main([], copied)
    assert page.read_text("utf-8") == "# Design\n"


def test_the_page_of_commands_has_every_option_that_help_has() -> None:
    page = (PROJECT / "docs/commands.md").read_text("utf-8")
    for name in COMMANDS:
        (listed,) = re.findall(rf"^- `memory {name}(?=[` ]).*\n(?:  .*\n)?", page, re.MULTILINE)
        options = {each for each in command_parser(name)._option_string_actions if each.startswith("--")}
        assert options == {"--help", "--json", *re.findall(r"`(--[a-z-]+)", listed)}, name
