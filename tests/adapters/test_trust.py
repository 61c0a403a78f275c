"""Whose config counts: what a person has vouched for, byte for byte."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agent_memory.adapters.surroundings.trust import TrustedConfig, TrustFile
from agent_memory.errors import StateCorrupt, StoreIo

AT_MS = 1_771_000_000_123
SHA_OF_AB = "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603"


def test_nothing_is_trusted_at_first(home: Path) -> None:
    assert TrustFile(str(home)).configs() == ()


def test_what_is_trusted_is_kept_and_can_be_taken_back(home: Path) -> None:
    trust = TrustFile(str(home))
    assert trust.add("/a", b"ab", AT_MS) == TrustedConfig("/a", SHA_OF_AB, AT_MS)
    trust.add("/b", b"b", AT_MS)
    assert [each.path for each in trust.configs()] == ["/a", "/b"]
    assert trust.remove("/a") is True
    assert trust.remove("/a") is False
    assert [each.path for each in trust.configs()] == ["/b"]


def test_new_bytes_at_a_place_replace_the_old_trust(home: Path) -> None:
    trust = TrustFile(str(home))
    trust.add("/a", b"old", AT_MS)
    trust.add("/a", b"new", AT_MS)
    assert trust.vouches_for("/a", b"new")
    assert not trust.vouches_for("/a", b"old")
    assert not trust.vouches_for("/b", b"new")


def test_the_list_is_private_and_has_the_documented_form_p22(home: Path) -> None:
    trust = TrustFile(str(home))
    trust.add("/a", b"ab", AT_MS)
    path = home / ".local/state/agent-memory/trusted.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(path.read_text()) == {
        "version": 1,
        "configs": [{"path": "/a", "sha256": SHA_OF_AB, "trustedAt": "2026-02-13T16:26:40.123Z"}],
    }


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "[]",
        '{"version": 2, "configs": []}',
        '{"version": 1, "configs": [{}]}',
        '{"version": 1, "configs": [{"path": "/a", "sha256": "short", "trustedAt": "2026-02-13T14:26:40.123Z"}]}',
        '{"version": 1, "configs": [{"path": 1, "sha256": "x", "trustedAt": "x"}]}',
    ],
)
def test_a_damaged_list_is_an_error_and_is_left_alone_p6(home: Path, damaged: str) -> None:
    trust = TrustFile(str(home))
    path = Path(trust.path)
    path.parent.mkdir(parents=True)
    path.write_text(damaged)
    with pytest.raises(StateCorrupt):
        trust.configs()
    with pytest.raises(StateCorrupt):
        trust.add("/a", b"ab", AT_MS)
    assert path.read_text() == damaged


def test_a_disk_that_takes_no_write_is_an_error_and_changes_nothing_p5(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust = TrustFile(str(home))
    trust.add("/a", b"ab", AT_MS)

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("agent_memory.adapters.disk.paths.replace_file", refuse)
    with pytest.raises(StoreIo) as error:
        trust.add("/b", b"b", AT_MS)
    assert error.value.errno_name == "EROFS"
    assert [each.path for each in trust.configs()] == ["/a"]


def test_processes_at_once_lose_no_trust_p7(home: Path) -> None:
    script = textwrap.dedent("""
        import sys
        from agent_memory.adapters.surroundings.trust import TrustFile
        for number in range(5):
            TrustFile(sys.argv[1]).add(f"/{sys.argv[2]}/{number}", b"x", 0)
    """)
    started = [subprocess.Popen([sys.executable, "-c", script, str(home), str(each)]) for each in range(4)]
    assert [each.wait(timeout=60) for each in started] == [0] * 4
    assert len(TrustFile(str(home)).configs()) == 20
