from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Failure

from agent_memory.errors import ConfigInvalid, StoreIo
from agent_memory.prompt import shipped_files
from agent_memory.prompt.prompt import PLACES
from agent_memory.prompt.shipped_files import load_prompt_template
from faults import failing_on

WHOLE = " ".join(f"{{{{{place}}}}}" for place in PLACES["consolidate"])


def test_the_packaged_template_is_found_and_whole() -> None:
    assert "{{transcript}}" in load_prompt_template("consolidate").unwrap()
    assert "{{findings}}" in load_prompt_template("defrag").unwrap()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Where a template is looked for, in order; the first place has nothing."""
    found = (tmp_path / "a", tmp_path / "b", tmp_path / "c")
    for place in found[1:]:
        (place / "prompts").mkdir(parents=True)
    monkeypatch.setattr(shipped_files, "_PLACES", found)
    return found


def test_a_missing_template_is_an_error_that_names_the_path(places: tuple[Path, ...]) -> None:
    error = load_prompt_template("consolidate").failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(places[0] / "prompts/consolidate.md"), "ENOENT")


def test_a_template_that_cannot_be_looked_at_is_not_taken_for_missing_p6(places: tuple[Path, ...]) -> None:
    for place in places[1:]:
        (place / "prompts/consolidate.md").write_text(WHOLE)
    with failing_on("b/prompts/consolidate.md", "stat", "lstat", "open"):
        error = load_prompt_template("consolidate").failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(places[1] / "prompts/consolidate.md"), "EIO")


def test_a_template_without_a_place_or_in_another_encoding_is_refused(places: tuple[Path, ...]) -> None:
    path = places[1] / "prompts/consolidate.md"
    path.write_text(WHOLE.replace("{{catalog}}", ""))
    assert load_prompt_template("consolidate") == Failure(ConfigInvalid(str(path), ("{{catalog}} is missing",)))
    path.write_text(WHOLE + "{{findings}}")
    assert load_prompt_template("consolidate") == Failure(ConfigInvalid(str(path), ("{{findings}} is unknown",)))
    path.write_bytes(b"\xff\xfe")
    assert load_prompt_template("consolidate") == Failure(ConfigInvalid(str(path), ("it is not UTF-8",)))
