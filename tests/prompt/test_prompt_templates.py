from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.errors import StoreIo
from agent_memory.prompt import shipped_files
from agent_memory.prompt.shipped_files import read_shipped
from agent_memory.results import as_result
from faults import failing_on


def test_the_packaged_template_is_found_and_whole() -> None:
    assert "{{transcript}}" in read_shipped("prompts/consolidate.md")
    assert "{{findings}}" in read_shipped("prompts/defrag.md")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Where a template is looked for, in order; the first place has nothing."""
    found = (tmp_path / "a", tmp_path / "b", tmp_path / "c")
    for place in found[1:]:
        (place / "prompts").mkdir(parents=True)
    monkeypatch.setattr(shipped_files, "_PLACES", found)
    return found


def test_a_missing_template_is_an_error_that_names_the_path(places: tuple[Path, ...]) -> None:
    error = as_result(read_shipped)("prompts/consolidate.md").failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(places[0] / "prompts/consolidate.md"), "ENOENT")


def test_a_template_that_cannot_be_looked_at_is_not_taken_for_missing_p6(places: tuple[Path, ...]) -> None:
    for place in places[1:]:
        (place / "prompts/consolidate.md").write_text("{{notes}}")
    with failing_on("b/prompts/consolidate.md", "stat", "lstat", "open"):
        error = as_result(read_shipped)("prompts/consolidate.md").failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(places[1] / "prompts/consolidate.md"), "EIO")
