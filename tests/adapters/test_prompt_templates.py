from __future__ import annotations

import os
from pathlib import Path

import pytest
from returns.result import Failure, Success

from agent_memory.adapters.surroundings.shipped_files import load_prompt_template
from agent_memory.errors import ConfigInvalid, StoreIo
from agent_memory.formats.prompt import PLACES
from faults import failing_on

WHOLE = " ".join(f"{{{{{place}}}}}" for place in PLACES)


def test_the_packaged_template_is_found_and_whole() -> None:
    assert "{{transcript}}" in load_prompt_template("consolidate").unwrap()
    assert "{{findings}}" in load_prompt_template("defrag").unwrap()


def test_the_first_place_that_has_it_counts(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "consolidate.md").write_text(WHOLE)
    assert load_prompt_template("consolidate", (tmp_path / "a", tmp_path / "b")) == Success(WHOLE)


def test_a_missing_template_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    failed = load_prompt_template("consolidate", (tmp_path,))
    assert isinstance(failed, Failure)
    error = failed.failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(tmp_path / "consolidate.md"), "ENOENT")


def test_a_template_that_cannot_be_looked_at_is_not_taken_for_missing_p6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_file", os.path.isfile)  # as that of Python 3.14
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "consolidate.md").write_text(WHOLE.replace("{{catalog}}", place))
    with failing_on("b/consolidate.md", "stat", "lstat", "open"):
        error = load_prompt_template("consolidate", (tmp_path / "c", tmp_path / "b", tmp_path / "a")).failure()
    assert isinstance(error, StoreIo)
    assert (error.path, error.errno_name) == (str(tmp_path / "b/consolidate.md"), "EIO")


def test_a_template_without_a_place_or_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "consolidate.md"
    path.write_text(WHOLE.replace("{{catalog}}", ""))
    assert load_prompt_template("consolidate", (tmp_path,)) == Failure(
        ConfigInvalid(str(path), ("{{catalog}} is missing",))
    )
    path.write_text(WHOLE + "{{findings}}")
    assert load_prompt_template("consolidate", (tmp_path,)) == Failure(
        ConfigInvalid(str(path), ("{{findings}} is unknown",))
    )
    path.write_bytes(b"\xff\xfe")
    assert load_prompt_template("consolidate", (tmp_path,)) == Failure(ConfigInvalid(str(path), ("it is not UTF-8",)))
