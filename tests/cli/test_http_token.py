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


def test_of_two_servers_that_make_the_first_both_take_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter(("a" * 32, "b" * 32))
    others: list[str] = []

    def drawn(_: int) -> str:
        value = next(values)
        if not others:  # while this one draws its own, the other makes all of it
            others.append("")
            others[:] = [http_token(str(home)).unwrap().value]
        return value

    monkeypatch.setattr("agent_memory.cli.serve.secrets.token_urlsafe", drawn)
    made = http_token(str(home)).unwrap()
    assert (made.value, made.is_new) == (others[0], False)


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
