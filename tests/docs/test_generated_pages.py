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

from generate import main, rooms_diagram, with_tests  # noqa: E402

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


def test_a_promise_is_shown_with_the_tests_that_name_it_most_often(tmp_path: Path) -> None:
    for name, text in {
        "rules/test_queue.py": 'def test_all_arrive():\n    """P7, and P7."""\n',
        "rules/test_other.py": "def test_nothing_p7() -> None: ...\n",
        "promises/test_crowd.py": '"""P7."""\n',
        "docs/test_page.py": '"""P7 P7 P7, P8"""\n',
        "rules/test_http.py": '"""HTTP8, P8x, p8 and xP8 are no promises."""\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert with_tests("| P7 | Nothing is lost. | ? |\n", tmp_path) == (
        "| P7 | Nothing is lost. | `promises/test_crowd.py` `rules/test_queue.py` |\n"
    )
    with pytest.raises(SystemExit, match="no test names P8"):
        with_tests("| P8 | Nothing is lost. |  |\n", tmp_path)


def test_the_picture_of_the_rooms_leaves_out_what_follows(tmp_path: Path) -> None:
    for name, text in {
        "errors.py": "import json\n",
        "store/files.py": "from agent_memory.errors import Error\nfrom agent_memory.store import names\n",
        "store/names.py": "",
        "cli/main.py": "def run():\n    from agent_memory import errors, store\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    arrows = "    cli --> store\n    store --> errors\n"
    assert rooms_diagram(tmp_path) == f"```mermaid\ngraph TD\n{arrows}```\n"
