"""A forgetting that the disk refuses something ends in an error value, and the next one finishes it (P5, P28)."""

from __future__ import annotations

import errno
from pathlib import Path

from returns.result import Failure, Success

from agent_memory.adapters.disk.dict_locks import DictLocks
from agent_memory.adapters.forgetting.forgetter import Forgetter
from agent_memory.adapters.git.dict_recorder import DictRecorder
from agent_memory.adapters.records.dict_kept_histories import DictKeptHistories
from agent_memory.adapters.surroundings.system_clock import DictClock
from agent_memory.domain.forgetting.forgetting import ForgetTarget
from faults import failing_at

ID = "id__a1b2c3"
STRIDE = 5
OLD_REPOSITORY = ".git.broken-20260213"


def forgetter(root: Path) -> Forgetter:
    return Forgetter(
        root,
        DictKeptHistories(),
        DictRecorder(),
        DictLocks(),
        DictClock(1_770_993_005_123),
        purge=lambda _: Success(None),
        publish=lambda: None,
        tell=lambda _: None,
    )


def test_whatever_the_disk_refuses_is_an_error_value_and_the_rest_is_done_later(root: Path) -> None:
    refused = 0
    for k in range(1, 2_000, STRIDE):
        (root / "topics").mkdir(parents=True, exist_ok=True)
        (root / OLD_REPOSITORY).mkdir(exist_ok=True)
        note = root / "topics" / f"a lamp -- {ID}.md"
        note.write_text(f"---\nid: {ID}\ntitle: A lamp\n---\nIt is lit.\n")
        found = forgetter(root).look(ForgetTarget(ID, purge=True)).unwrap()
        with failing_at(k, errno.EIO, once=True) as counter:
            done = forgetter(root).forget(found)
        if isinstance(done, Failure):
            refused += 1
            again = forgetter(root)
            again.resume().unwrap()
            if note.exists():
                again.forget(again.look(ForgetTarget(ID, purge=True)).unwrap()).unwrap()
        assert not note.exists(), k
        assert not (root / OLD_REPOSITORY).exists(), k
        if not counter.struck:
            break
    assert refused > 30 // STRIDE
