"""The pages that `docs/generate.py` writes say what the code says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory.errors import Error
from agent_memory.machines.consolidate import Consolidate
from agent_memory.surfaces.cli.main import COMMANDS, command_parser
from agent_memory.values import field_names

DOCS = Path(__file__).parents[2] / "docs"


def check(docs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(docs / "generate.py"), *words], capture_output=True, text=True, check=False
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The documentation in a place where it may be changed, beside the tests that it tells of."""
    (tmp_path / "tests").symlink_to(DOCS.parent / "tests")
    for name in ("plists", "share"):
        shutil.copytree(DOCS.parent / name, tmp_path / name)
    return Path(shutil.copytree(DOCS, tmp_path / "docs"))


def test_every_page_is_fresh() -> None:
    finished = check(DOCS, "--check")
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    "page", ["commands.md", "errors.md", "config.md", "config.schema.json", "design.md", "promises.md"]
)
def test_a_stale_page_is_named_and_then_mended(copied: Path, page: str) -> None:
    fresh = (copied / page).read_text("utf-8")
    cut = len(fresh) - 200 if page != "design.md" else fresh.index("load_queue -->")
    (copied / page).write_text(fresh[:cut] + "x" + fresh[cut:], "utf-8")

    stale = check(copied, "--check")
    assert (stale.returncode, stale.stderr) == (1, f"docs/{page} is stale: run `make docs`\n")
    assert (copied / page).read_text("utf-8") != fresh

    assert check(copied).returncode == 0
    assert (copied / page).read_text("utf-8") == fresh


def test_what_is_written_by_hand_around_a_diagram_stays(copied: Path) -> None:
    page = copied / "design.md"
    page.write_text(page.read_text("utf-8").replace("## Three parts", "## Two parts"), "utf-8")
    assert check(copied, "--check").returncode == 0
    assert check(copied).returncode == 0
    assert "## Two parts" in page.read_text("utf-8")


def test_a_page_without_its_marks_is_not_written(copied: Path) -> None:
    page = copied / "design.md"
    page.write_text("# Design\n", "utf-8")
    finished = check(copied)
    assert finished.returncode == 1
    assert "<!-- generated: consolidate -->" in finished.stderr
    assert page.read_text("utf-8") == "# Design\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_option_that_help_has(name: str) -> None:
    section = (DOCS / "commands.md").read_text("utf-8").split(f"\n## memory {name}\n")[1].split("\n## ")[0]
    parser, _ = command_parser(name)
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", parser.format_help())) - {"--help"}
    assert "--json" in options
    assert options <= set(re.findall(r"--[a-z-]+", section))


def test_every_error_is_explained() -> None:
    page = (DOCS / "errors.md").read_text("utf-8")
    for error in Error.__args__:
        section = page.split(f"\n## {error.code}\n")[1].split("\n## ")[0]
        assert f"Exit code {error.exit_code}." in section
        assert section.count("\n> ") == 1
        assert f"| {error.exit_code} |" in page
        assert len(field_names(error)) == len(re.findall(r"`\w+`", section.split("Details in JSON:")[1]))


def test_the_diagram_has_every_state() -> None:
    diagram = (DOCS / "design.md").read_text("utf-8").split("```mermaid\n")[1].split("```")[0]
    assert len(Consolidate.states) == 9
    assert all(f" as {state.id}\n" in diagram for state in Consolidate.states)
