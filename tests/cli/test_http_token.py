from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory.cli.serve import http_token
from agent_memory.errors import PathRefused, StateCorrupt


def test_others_may_no_longer_read_it_once_it_is_used_p22(home: Path) -> None:
    made = http_token(str(home)).unwrap()
    Path(made.path).chmod(0o644)
    assert http_token(str(home)).unwrap().value == made.value
    assert Path(made.path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 40, b"a b" * 20])
def test_what_is_no_token_is_refused(home: Path, content: bytes) -> None:
    path = Path(http_token(str(home)).unwrap().path)
    path.write_bytes(content)
    assert isinstance(http_token(str(home)).failure(), StateCorrupt)
    assert path.read_bytes() == content
    assert http_token(str(home), renew=True).unwrap().is_new


def test_a_link_is_not_followed_p21(home: Path) -> None:
    path = Path(http_token(str(home)).unwrap().path)
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert isinstance(http_token(str(home)).failure(), PathRefused)
