"""What one defrag leaves for the next: written and read again, or as good as absent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st
from returns.result import Failure, Success

from agent_memory.domain.defrag_run import DefragRun, TieringMemo
from agent_memory.formats.defrag_json import (
    parse_defrag_checkpoint,
    parse_tiering,
    render_defrag_checkpoint,
    render_tiering,
)

MEMO = TieringMemo("f" * 64, "builtin", frozenset({"stale id__aaaaaa 0123456789abcdef"}), {"id__aaaaaa": 2})

words = st.text(max_size=8)
memos = st.builds(
    TieringMemo, words, words, st.frozensets(words, max_size=4), st.dictionaries(words, st.integers(), max_size=3)
)


@given(memos)
def test_a_memo_is_read_as_it_was_written(memo: TieringMemo) -> None:
    assert parse_tiering(render_tiering(memo), "tiering.json") == Success(memo)
    state, run = parse_defrag_checkpoint(
        render_defrag_checkpoint("apply_changes", DefragRun("r", 1, memo=memo)), "p"
    ).unwrap()
    assert (state, run.memo) == ("apply_changes", memo)


@pytest.mark.parametrize(
    "changed",
    [{"judged": 5}, {"judged": None}, {"omitted": [1]}, {"omitted": {"id__aaaaaa": "often"}}, {"judged": ...}],
)
def test_a_damaged_memo_is_none(changed: dict[str, object]) -> None:
    document = json.loads(render_tiering(MEMO)) | changed
    text = json.dumps({key: value for key, value in document.items() if value is not ...})
    assert isinstance(parse_tiering(text, "tiering.json"), Failure)
