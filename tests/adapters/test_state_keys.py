from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Success

from agent_memory.adapters.records.bookkeeping_files import StateKeysFiles
from agent_memory.domain.entry import StateValue
from agent_memory.errors import PathRefused, StateCorrupt, StoreIo

PHASE = StateValue("current_phase", '{"phase": "scraping", "step": 3}', 1_771_000_205_123)
HOSTILE = ["../../etc/passwd", "/etc/passwd", "a\x00b", "..", ".", "con/../x", "x" * 5000, "-rf *", "é"]


class TestStateKeysFiles:
    @pytest.fixture
    def keys(self, root: Path) -> StateKeysFiles:
        return StateKeysFiles(root)

    def test_nothing_is_kept_at_first(self, keys: StateKeysFiles) -> None:
        assert keys.get("current_phase") == Success(None)
        assert list(keys.all()) == []

    def test_what_was_put_is_found_by_its_key(self, keys: StateKeysFiles) -> None:
        keys.put(PHASE).unwrap()
        assert keys.get(PHASE.key) == Success(PHASE)
        assert keys.get("another") == Success(None)

    def test_the_later_value_replaces_the_earlier(self, keys: StateKeysFiles) -> None:
        later = evolve(PHASE, json='"analysis"', updated_at_ms=1_771_000_205_124)
        keys.put(PHASE).unwrap()
        assert keys.put(later) == keys.put(PHASE)
        keys.put(later).unwrap()
        assert keys.get(PHASE.key) == Success(later)

    def test_keys_that_differ_in_case_or_punctuation_are_different_keys(self, keys: StateKeysFiles) -> None:
        near = [evolve(PHASE, key=key, json=f'"{key}"') for key in ("run/1", "run-1", "Run-1", "run:1", "run_1")]
        for value in near:
            keys.put(value).unwrap()
        assert [keys.get(value.key) for value in near] == [Success(value) for value in near]
        found = [each.unwrap() for each in keys.all()]
        assert sorted(found, key=lambda each: each.key) == sorted(near, key=lambda each: each.key)

    def test_what_was_deleted_is_gone_and_may_be_deleted_again(self, keys: StateKeysFiles) -> None:
        keys.put(PHASE).unwrap()
        assert keys.delete(PHASE.key) == keys.delete(PHASE.key)
        assert keys.get(PHASE.key) == Success(None)

    def test_the_file_is_named_after_the_key(self, root: Path) -> None:
        assert StateKeysFiles(root).put(PHASE) == Success("state/keys/current_phase.json")
        file = root / "state/keys/current_phase.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700

    @pytest.mark.parametrize("key", ["tiers", "project_tags", "sessions/claude-code_1", "forgotten/x"])
    def test_no_key_is_a_file_of_ours(self, root: Path, key: str) -> None:
        path = StateKeysFiles(root).put(evolve(PHASE, key=key)).unwrap()
        assert Path(path).parent == Path("state/keys")

    @pytest.mark.parametrize("key", HOSTILE)
    def test_no_key_leaves_the_directory_p21(self, root: Path, key: str) -> None:
        StateKeysFiles(root).put(evolve(PHASE, key=key)).unwrap()
        written = [path for path in root.parent.rglob("*") if path.is_file()]
        assert [path.parent for path in written] == [root / "state/keys"]

    def test_json_that_a_person_wrote_is_the_value(self, root: Path) -> None:
        (root / "state/keys").mkdir(parents=True)
        (root / "state/keys/current_phase.json").write_text('{"phase":\n "analysis"}')
        assert StateKeysFiles(root).get("current_phase") == Success(
            StateValue("current_phase", '{"phase": "analysis"}')
        )

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"NaN", b'{"a": 1, "a": 2}'])
    def test_what_is_damaged_is_an_error_p6(self, root: Path, content: bytes) -> None:
        keys = StateKeysFiles(root)
        keys.put(PHASE).unwrap()
        keys.put(evolve(PHASE, key="whole")).unwrap()
        (root / "state/keys/current_phase.json").write_bytes(content)
        assert isinstance(keys.get(PHASE.key).failure(), StateCorrupt)
        assert [type(each) for each in keys.all()] == [Failure, Success]

    def test_another_keys_value_under_this_name_is_damage(self, root: Path) -> None:
        keys = StateKeysFiles(root)
        keys.put(PHASE).unwrap()
        (root / "state/keys/current_phase.json").rename(root / "state/keys/other.json")
        assert isinstance(keys.get("other").failure(), StateCorrupt)

    def test_a_link_is_not_followed_p21(self, root: Path, tmp_path: Path) -> None:
        (root / "state").mkdir(parents=True)
        (tmp_path / "elsewhere").mkdir()
        (root / "state/keys").symlink_to(tmp_path / "elsewhere")
        keys = StateKeysFiles(root)
        for refused in (keys.put(PHASE), keys.get(PHASE.key), keys.delete(PHASE.key), *keys.all()):
            assert isinstance(refused.failure(), PathRefused)
        assert os.listdir(tmp_path / "elsewhere") == []

    def test_a_full_disk_leaves_the_earlier_value_p5(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        keys = StateKeysFiles(root)
        keys.put(PHASE).unwrap()

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            assert isinstance(keys.put(evolve(PHASE, json="99")).failure(), StoreIo)
        assert keys.get(PHASE.key) == Success(PHASE)
        assert len(list((root / "state/keys").iterdir())) == 1

    def test_of_many_at_once_one_is_last_and_nothing_is_torn_p2(self, root: Path) -> None:
        values = [evolve(PHASE, json=f'"{str(number) * 5_000}"') for number in range(8)]
        keys = StateKeysFiles(root)
        keys.put(values[0]).unwrap()
        writers = [threading.Thread(target=lambda value=value: keys.put(value).unwrap()) for value in values]
        for writer in writers:
            writer.start()
        seen = [keys.get(PHASE.key).unwrap() for _ in range(50)]
        for writer in writers:
            writer.join()
        assert all(value in values for value in (*seen, keys.get(PHASE.key).unwrap()))
