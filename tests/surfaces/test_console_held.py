"""With `--json` stderr holds one document where a call fails, whatever there was to remark besides."""

from __future__ import annotations

import io
import json

from agent_memory.errors import EntryNotFound
from agent_memory.surfaces.console import Console


def test_a_failure_with_remarks_before_and_after_is_one_document() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("The config has a key twice.")
    assert console.fail(EntryNotFound("id__a1b2c3")) == 20
    console.warn("The notes are written, but git is not told.")
    assert err.getvalue() == ""
    console.close()
    document = json.loads(err.getvalue())
    assert document["error"]["code"] == "entry-not-found"
    assert document["warnings"] == ["The config has a key twice.", "The notes are written, but git is not told."]


def test_a_failure_alone_has_no_warnings() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.fail(EntryNotFound("id__a1b2c3"))
    console.close()
    assert list(json.loads(err.getvalue())) == ["error"]


def test_remarks_of_what_went_well_are_lines_and_said_once() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err, json=True, holds=True)
    console.warn("one")
    console.warn("two")
    console.close()
    console.close()
    assert err.getvalue() == "memory: one\nmemory: two\n"


def test_without_json_everything_is_said_at_once() -> None:
    err = io.StringIO()
    console = Console(io.StringIO(), err)
    console.warn("one")
    console.fail(EntryNotFound("id__a1b2c3"))
    console.close()
    assert err.getvalue().startswith("memory: one\nmemory: There is no entry id__a1b2c3.")
