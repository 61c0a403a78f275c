"""Which program of the PATH is run: the first, and never another one because the first could not be looked at (P6)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from agent_memory.errors import SchedulerFailed
from agent_memory.setup.scheduling import Programs, read_crontab, write_crontab


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """Two programs `crontab`, each of which says its name; before them a directory that is not there, and one of no use."""
    for name in ("own", "system"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "crontab"
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
    (tmp_path / "no-use" / "crontab").mkdir(parents=True)
    path = ":".join(str(tmp_path / name) for name in ("none", "no-use", "own", "system"))
    return Programs("cron", {"PATH": path})


def test_the_first_is_run(programs: Programs, tmp_path: Path) -> None:
    assert programs.has("crontab")
    assert read_crontab(programs) == b"own\n"
    (tmp_path / "own" / "crontab").chmod(0o644)
    assert read_crontab(programs) == b"system\n"


@pytest.mark.parametrize("number", [errno.EINTR, errno.EIO, errno.EMFILE])
def test_where_the_first_cannot_be_looked_at_no_other_is_run_p6(
    programs: Programs, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's table, read from one program, must not be written through another."""
    real = os.stat

    def failing(path: Any, **how: Any) -> os.stat_result:
        if str(path).endswith("/own/crontab"):
            raise OSError(number, os.strerror(number), path)
        return real(path, **how)

    monkeypatch.setattr(os, "stat", failing)
    with pytest.raises(SchedulerFailed) as error:
        write_crontab(programs, b"# mine\n")
    assert os.strerror(number) in error.value.reason
    assert programs.has("crontab")
