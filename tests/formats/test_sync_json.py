"""What a sync keeps on this machine is read as it was written; anything else is damage, never "nothing to do" (P6)."""

from __future__ import annotations

import json

import pytest
from returns.result import Success

from agent_memory.errors import StateCorrupt
from agent_memory.formats.sync_json import SyncAtWork, parse_at_work, parse_synced, render_at_work, render_synced

ONE, OTHER = "a" * 40, "b" * 64
NOON_MS = 1_772_409_600_123


@pytest.mark.parametrize("before", [None, ONE, OTHER])
def test_a_merge_at_work_is_read_as_it_was_written(before: str | None) -> None:
    work = SyncAtWork("refs/heads/main", before, OTHER)
    assert parse_at_work(render_at_work(work), "runs/syncing.json") == Success(work)


@pytest.mark.parametrize(
    "changed",
    [{"version": 2}, {"branch": "main"}, {"branch": 1}, {"from": "HEAD"}, {"from": 1}, {"to": "--all"}, {"to": None}],
)
def test_what_names_no_branch_or_commit_is_damaged_p21(changed: dict[str, object]) -> None:
    document = {"version": 1, "branch": "refs/heads/main", "from": ONE, "to": OTHER}
    assert isinstance(parse_at_work(json.dumps(document).encode(), "p"), Success), "positive control"
    error = parse_at_work(json.dumps({**document, **changed}).encode(), "runs/syncing.json").failure()
    assert error.path == "runs/syncing.json"


@pytest.mark.parametrize("at_ms", [None, NOON_MS])
def test_the_purge_that_was_dealt_with_is_read_as_it_was_written(at_ms: int | None) -> None:
    assert parse_synced(render_synced(at_ms).encode(), "runs/synced.json") == Success(at_ms)


@pytest.mark.parametrize("document", [{"version": 2, "purgedAt": None}, {"version": 1, "purgedAt": "noon"}, [], {}])
def test_an_instant_that_is_none_is_no_purge_dealt_with(document: object) -> None:
    error = parse_synced(json.dumps(document).encode(), "runs/synced.json").failure()
    assert error == StateCorrupt("runs/synced.json", ("it does not tell of a sync in version 1",))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"version": 1, "version": 1}'])
def test_what_is_no_json_is_damaged(data: bytes) -> None:
    for parse in (parse_at_work, parse_synced):
        assert isinstance(parse(data, "p").failure(), StateCorrupt)
