from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Success

from agent_memory.errors import PathRefused, StateCorrupt, StoreIo
from agent_memory.note.note import Harness
from agent_memory.session.history import History, Role, SessionMark, Turn
from agent_memory.store.kept_histories_files import KeptHistories
from faults import failing_at

PLENTY = 1 << 30
AT_MS = 1_771_000_000_000


def turn(number: int, text: str = "", role: Role = Role.USER) -> Turn:
    return Turn(number, role, text or f"turn {number}", f"record-{number}", AT_MS + number * 1000)


def history(session_id: str, *numbers: int, harness: Harness = Harness.CLAUDE_CODE) -> History:
    turns = tuple(map(turn, numbers))
    return History(harness, session_id, turns, title="On ports", cwd="/home/dana/parcels", ended_at_ms=turns[-1].at_ms)


def mark(last: int, *, record_id: str | None = None) -> SessionMark:
    at_ms = AT_MS + last * 1000
    return SessionMark(Harness.CLAUDE_CODE, "s1", record_id or f"record-{last}", at_ms, last, False, "builtin")


def numbers_of(found: History | None) -> list[int]:
    return [] if found is None else [each.number for each in found.turns]


def keep_at(kept: KeptHistories, part: History, number: int) -> None:
    directory = kept.root / "histories"
    before = set(directory.glob("*"))
    kept.keep(part).unwrap()
    for path in set(directory.glob("*")) - before:
        os.utime(path, (number, number))


def test_the_same_part_twice_is_kept_once_p3(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    for _ in range(2):
        kept.keep(history("s1", 1, 2)).unwrap()
        kept.keep(evolve(history("s1", 3), after_record="record-2")).unwrap()
    assert numbers_of(kept.fetch(Harness.CLAUDE_CODE, "s1", None).unwrap()) == [1, 2, 3]


def test_tools_that_answered_before_the_mark_are_remembered_p19(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    kept.keep(evolve(history("s1", 1), turns=(turn(1), turn(2, role=Role.TOOL), turn(3)))).unwrap()
    for last, answered in ((1, False), (2, True)):
        found = kept.fetch(Harness.CLAUDE_CODE, "s1", mark(last)).unwrap()
        assert found is not None
        assert found.tools_answered_before is answered


def test_a_session_whose_beginning_is_not_kept_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    kept.keep(evolve(history("s1", 5, 6), after_record="record-4")).unwrap()
    assert kept.fetch(Harness.CLAUDE_CODE, "s1", None) == Success(None)
    assert numbers_of(kept.fetch(Harness.CLAUDE_CODE, "s1", mark(5)).unwrap()) == [6]


def test_sessions_with_similar_ids_have_their_own_histories_p21(tmp_path: Path) -> None:
    for number, other in enumerate(("s1.00000001", "S1", "s1-", "../s1", "s", "s10", "s1/x", "é")):
        kept = KeptHistories(tmp_path / str(number), PLENTY)
        kept.keep(history("s1", 1)).unwrap()
        kept.keep(history(other, 2)).unwrap()
        kept.keep(history("s1", 3, harness=Harness.CODEX)).unwrap()
        assert numbers_of(kept.fetch(Harness.CLAUDE_CODE, "s1", None).unwrap()) == [1]
        assert numbers_of(kept.fetch(Harness.CLAUDE_CODE, other, None).unwrap()) == [2]
        kept.forget(Harness.CLAUDE_CODE, other).unwrap()
        assert kept.fetch(Harness.CLAUDE_CODE, other, None) == Success(None)
        assert numbers_of(kept.fetch(Harness.CLAUDE_CODE, "s1", None).unwrap()) == [1]


def test_over_the_cap_the_sessions_kept_longest_ago_go_whole(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    for number, name in enumerate(("a", "b", "c"), 1):
        keep_at(kept, history(name, 1, 2, 3), number)
    sizes = [each.size_bytes for each in kept.sessions().unwrap()]
    assert len(sizes) == 3

    kept = KeptHistories(tmp_path / "capped", sum(sizes))
    for number, name in enumerate(("a", "b", "c"), 1):
        keep_at(kept, history(name, 1, 2, 3), number)
    keep_at(kept, evolve(history("a", 4), after_record="record-3"), 4)
    keep_at(kept, history("d", 1, 2, 3), 5)
    left = {name for name in "abcd" if kept.fetch(Harness.CLAUDE_CODE, name, None).unwrap() is not None}
    assert left == {"a", "d"}
    assert sum(each.size_bytes for each in kept.sessions().unwrap()) <= sum(sizes)


def test_one_part_over_the_cap_is_not_kept_and_costs_the_others_nothing(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, 600)
    kept.keep(history("a", 1)).unwrap()
    kept.keep(evolve(history("b", 1), turns=tuple(turn(n, os.urandom(99).hex()) for n in range(1, 99)))).unwrap()
    assert [each.name for each in kept.sessions().unwrap()] == ["claude-code_a"]


def files(root: Path) -> list[Path]:
    return sorted((root / "histories").iterdir())


def test_a_damaged_part_is_an_error_and_never_nothing_p6(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    kept.keep(history("s1", *range(1, 50))).unwrap()
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    line = gzip.compress(b'{"version":2}\n')
    for damaged in (
        b"",
        b"no gzip",
        whole[:-9],
        whole[:40],
        whole[:30] + b"\xff" + whole[31:],
        line,
        gzip.compress(b""),
    ):
        path.write_bytes(damaged)
        assert isinstance(kept.fetch(Harness.CLAUDE_CODE, "s1", None).failure(), StateCorrupt), damaged[:20]


def test_links_and_what_is_no_file_are_refused_p21(tmp_path: Path) -> None:
    kept = KeptHistories(tmp_path, PLENTY)
    kept.keep(history("s1", 1)).unwrap()
    (path,) = files(tmp_path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert isinstance(kept.fetch(Harness.CLAUDE_CODE, "s1", None).failure(), PathRefused)
    path.unlink()
    os.mkfifo(path)
    assert isinstance(kept.fetch(Harness.CLAUDE_CODE, "s1", None).failure(), PathRefused)

    (tmp_path / "outside").mkdir()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "histories").symlink_to(tmp_path / "outside")
    refused = KeptHistories(linked, PLENTY)
    assert isinstance(refused.keep(history("s1", 1)).failure(), PathRefused)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("once", [True, False])
def test_whatever_fails_is_an_error_and_leaves_old_or_new_bytes_p2_p5(tmp_path: Path, once: bool) -> None:
    older, newer = history("s1", 1), history("s1", 1, 2)
    whole: dict[str, set[bytes]] = {}
    for number, each in enumerate((older, newer)):
        KeptHistories(tmp_path / f"whole-{number}", PLENTY).keep(each).unwrap()
        (path,) = files(tmp_path / f"whole-{number}")
        whole.setdefault(path.name, set()).add(path.read_bytes())

    k, struck = 1, True
    while struck:
        root = tmp_path / f"{k}"
        kept = KeptHistories(root, PLENTY)
        kept.keep(older).unwrap()
        with failing_at(k, errno.ENOSPC, once=once) as counter:
            result = kept.keep(newer)
        struck = counter.struck
        assert struck or isinstance(result, Success)
        assert isinstance(result, Success) or isinstance(result.failure(), StoreIo)
        found = {path.name: path.read_bytes() for path in files(root) if not path.name.startswith(".tmp-")}
        assert {name: data in whole[name] for name, data in found.items()} == dict.fromkeys(whole, True)
        k += 1
    assert k > 5
