"""What holds for all of the documentation."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), PROJECT / "README.md", PROJECT / "CHANGELOG.md"]
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    links = re.findall(r"\]\(([^)\s]+)\)", _CODE.sub("", text))
    return [link for link in links if not link.startswith(("http:", "https:")) and not leads_somewhere(page, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def leaving(page: Path, text: str) -> list[str]:
    """Links out of the documentation: its site has nothing else, and its builder does not notice."""
    links = re.findall(r"\]\(([^)\s#]+)", _CODE.sub("", text))
    paths = [link for link in links if not link.startswith(("http:", "https:"))]
    return [link for link in paths if not (page.parent / link).resolve().is_relative_to(DOCS)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere_within_the_documentation(page: Path) -> None:
    text = page.read_text("utf-8")
    assert broken_links(page, text) == []
    assert leaving(page, text) == [] or not page.is_relative_to(DOCS)


def test_a_link_that_is_broken_or_leaves_would_be_found() -> None:
    page = DOCS / "README.md"
    assert broken_links(
        page, "[a](nowhere.md) [b](notes.md#nothing) [c](contributing/design.md#defrag) `[d](code.md)`"
    ) == ["nowhere.md", "notes.md#nothing"]
    page = DOCS / "adr" / "README.md"
    assert leaving(page, "[a](../contributing/design.md#defrag) [b](../../README.md) [c](https://x.org/)") == [
        "../../README.md"
    ]


def test_people_can_read_the_documentation_in_two_hours() -> None:
    pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(DOCS.rglob("*.md"))]
    words = sum(len(page.read_text("utf-8").split()) for page in pages if page.parent != DOCS / "adr")
    assert 20_000 < words <= 25_000, "for what is added, something else goes"


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    pages = {*DOCS.glob("*.md"), *(DOCS / "contributing").glob("*.md")} - {DOCS / "README.md"}
    named = [page.relative_to(DOCS).as_posix() for page in sorted(pages)]
    assert "contributing/design.md" in named
    assert [name for name in named if f"]({name})" not in index] == []


def test_the_site_has_the_pages_of_the_index_in_its_order() -> None:
    indexed = re.findall(r"^- \[([\w/-]+\.md)\]\(\1\): ", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE)
    shown = re.findall(r"^ +- ([\w/-]+\.md)$", (PROJECT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert len(indexed) > 20
    assert shown == ["README.md", *indexed]


def test_the_tour_has_a_sentence_for_each_room_and_names_files_that_are_there() -> None:
    tour = (DOCS / "contributing" / "tour.md").read_text("utf-8")
    source = PROJECT / "src" / "agent_memory"
    rooms = {path.parent.name for path in source.glob("*/__init__.py")} | {path.stem for path in source.glob("*.py")}
    assert {*re.findall(r"^- \*\*`(\w+)`\*\*: ", tour, re.MULTILINE), "__init__"} == rooms
    paths = re.findall(r"`(\w+/\w+\.py)`", tour)
    assert len(paths) > 10
    assert [path for path in paths if not (source / path).exists() and not (PROJECT / path).exists()] == []


def test_decisions_have_their_parts_and_each_its_number() -> None:
    """A number that is missing was a decision of which another took the place."""
    decisions = sorted((DOCS / "adr").glob("[0-9]*.md"))
    numbers = [int(page.name[:4]) for page in decisions]
    assert sorted(set(numbers)) == numbers
    for number, page in zip(numbers, decisions, strict=True):
        text = page.read_text("utf-8")
        assert text.startswith(f"# {number}. ")
        assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_the_program_of_the_python_page_prints_what_the_page_says_and_leaves_nothing_at_home(home: Path) -> None:
    text = (DOCS / "contributing" / "python-api.md").read_text("utf-8")
    program, printed = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "text"))
    assert program
    assert printed
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program[1], "docs/contributing/python-api.md", "exec"), {"__name__": "embedding"})
    assert out.getvalue() == printed[1]
    assert os.listdir(home) == []
