"""The pages that `docs/generate.py` writes say what the code says."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from agent_memory import errors
from agent_memory.errors import Error
from agent_memory.machines import Consolidate
from agent_memory.surfaces.cli.main import COMMANDS, command_parser

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import generate  # noqa: E402
import promises_page  # noqa: E402
from promises_page import held_by  # noqa: E402

PAGES = (
    "commands.md",
    "errors.md",
    "config.schema.json",
    "contributing/promises.md",
    "config.md",
    "contributing/design.md",
)


@pytest.fixture(autouse=True)
def counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests that name a promise are looked for once: that takes longer than all else."""
    monkeypatch.setattr(promises_page, "held_by", lambda _: _held())


@cache
def _held() -> Mapping[int, Mapping[str, str]]:
    return held_by(DOCS.parent / "tests")


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The documentation in a place where it may be changed."""
    shutil.copytree(DOCS.parent / "plists", tmp_path / "plists")
    monkeypatch.setattr(generate, "DOCS", tmp_path / "docs")
    return Path(shutil.copytree(DOCS, tmp_path / "docs"))


@pytest.fixture
def parts(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with no other pages to generate than those that are written by hand around what is generated."""
    monkeypatch.setattr(generate, "_WHOLE", {})
    return copied


def test_every_page_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert (generate.main(["--check"]), capsys.readouterr().err) == (0, "")


def test_stale_pages_are_named_and_then_mended_and_no_other(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fresh = {page: (copied / page).read_text("utf-8") for page in PAGES}
    for page, text in fresh.items():
        cut = len(text) - 200 if page != "contributing/design.md" else text.index("load_queue -->")
        (copied / page).write_text(text[:cut] + "x" + text[cut:], "utf-8")

    assert generate.main(["--check"]) == 1
    assert capsys.readouterr() == ("", "".join(f"docs/{page} is stale: run `make docs`\n" for page in PAGES))
    assert all((copied / page).read_text("utf-8") != text for page, text in fresh.items())

    assert generate.main([]) == 0
    assert capsys.readouterr() == ("".join(f"docs/{page} written\n" for page in PAGES), "")
    assert {page: (copied / page).read_text("utf-8") for page in PAGES} == fresh


def test_what_is_written_by_hand_around_a_diagram_stays(parts: Path) -> None:
    page = parts / "contributing/design.md"
    text = page.read_text("utf-8")
    page.write_text(text.replace("## Three parts", "## Two parts"), "utf-8")
    assert generate.main(["--check"]) == 0
    page.write_text(page.read_text("utf-8").replace("load_queue -->", "load -->", 1), "utf-8")
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert page.read_text("utf-8") == text.replace("## Three parts", "## Two parts") != text


def test_a_page_without_its_marks_is_not_written(parts: Path) -> None:
    page = parts / "contributing/design.md"
    page.write_text("# Design\n", "utf-8")
    with pytest.raises(SystemExit, match="<!-- generated: consolidate -->"):
        generate.main([])
    assert page.read_text("utf-8") == "# Design\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_option_that_help_has(name: str) -> None:
    section = (DOCS / "commands.md").read_text("utf-8").split(f"\n## memory {name}\n")[1].split("\n## ")[0]
    parser = command_parser(name)
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", parser.format_help())) - {"--help"}
    assert "--json" in options
    assert options <= set(re.findall(r"--[a-z-]+", section))


def test_every_error_is_explained() -> None:
    page = (DOCS / "errors.md").read_text("utf-8")
    for error in [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Error)]:
        if error.__subclasses__():
            continue  # a family
        section = page.split(f"\n## {error.code}\n")[1].split("\n## ")[0]
        assert f"Exit code {error.exit_code}." in section
        assert section.count("\n> ") == 1
        assert f"| {error.exit_code} |" in page
        assert len(error.fact_names) == len(re.findall(r"`\w+`", section.split("Details in JSON:")[1]))


def test_the_diagram_has_every_state() -> None:
    diagram = (DOCS / "contributing/design.md").read_text("utf-8").split("```mermaid\n")[1].split("```")[0]
    assert len(Consolidate.states) == 9
    assert all(f" as {state.id}\n" in diagram for state in Consolidate.states)
