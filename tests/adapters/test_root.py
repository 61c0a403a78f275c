from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Failure

from agent_memory.adapters.disk.root import default_root, home_of, root_and_doubt, storage_root
from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.errors import StoreIo
from faults import failing_on


def test_the_variable_wins_over_the_config_and_the_config_over_the_default() -> None:
    environ = {"HOME": "/home/me", "AGENT_MEMORY_ROOT": "/a"}
    assert storage_root(environ, "/b") == "/a"
    assert storage_root({"HOME": "/home/me"}, "/b") == "/b"
    assert storage_root({"HOME": "/home/me"}) == "/home/me/.local/share/agent-memory"
    assert storage_root({**environ, "AGENT_MEMORY_ROOT": ""}, "/b") == "/b"


def test_the_commonplace_is_used_where_it_exists(home: Path) -> None:
    environ = {"HOME": str(home), "XDG_DATA_HOME": "/data"}
    assert default_root(environ) == "/data/agent-memory"
    (home / "commonplace").mkdir()
    assert default_root(environ) == f"{home}/commonplace/01_files/_utilities/agent-memories"


def test_the_data_directory_is_not_taken_for_a_commonplace_that_cannot_be_looked_at_p6(home: Path) -> None:
    environ = {"HOME": str(home)}
    (home / "commonplace").mkdir()
    with failing_on("/commonplace", "stat"):
        with pytest.raises(OSError, match="Input/output error"):
            default_root(environ)
        unread = StoreIo(f"{home}/commonplace", "look at", "EIO", "Input/output error")
        assert load_config(environ, None) == Failure(unread)
        root, doubt = root_and_doubt(environ, str(home))
    # A hook keeps what it was given all the same, and tells.
    assert (root, doubt) == (
        f"{home}/.local/share/agent-memory",
        f"{home}/commonplace cannot be looked at: Input/output error",
    )


def test_a_relative_data_directory_is_ignored() -> None:
    assert default_root({"HOME": "/home/me", "XDG_DATA_HOME": "data"}) == "/home/me/.local/share/agent-memory"


def test_a_tilde_is_the_home_and_dots_are_resolved() -> None:
    environ = {"HOME": "/home/me/"}
    assert storage_root(environ, "~/m/../n/") == "/home/me/n"
    assert storage_root({**environ, "AGENT_MEMORY_ROOT": "~"}) == "/home/me"
    assert storage_root(environ, "~other/x") == "/home/me/~other/x"


def test_a_relative_variable_counts_from_here_and_a_relative_setting_from_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage_root({"HOME": "/home/me", "AGENT_MEMORY_ROOT": "m"}) == f"{tmp_path}/m"
    assert storage_root({"HOME": "/home/me"}, "m") == "/home/me/m"


def test_the_password_database_knows_a_home_where_the_environment_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        pw_dir = "/home/from-database"

    monkeypatch.setattr("pwd.getpwuid", lambda _: Entry)
    assert home_of({}) == home_of({"HOME": ""}) == home_of({"HOME": "relative"}) == "/home/from-database"
    assert home_of({"HOME": "/x"}) == "/x"


def test_without_any_home_there_is_no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert home_of({}) is None
    assert storage_root({}) is None
    assert storage_root({}, "~/x") is None
    assert storage_root({}, "x") is None
    assert storage_root({"AGENT_MEMORY_ROOT": "/a"}) == "/a"
    assert storage_root({"XDG_DATA_HOME": "/data"}) == "/data/agent-memory"
