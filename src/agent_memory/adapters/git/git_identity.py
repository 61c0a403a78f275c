"""Who the person is, for the commits of their own changes."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
from collections.abc import Mapping

from agent_memory.adapters.git.git_process import Identity

_TIMEOUT_SECONDS = 5.0
_REFUSED = re.compile(r"[\x00-\x1f\x7f<>]")


def person(environ: Mapping[str, str]) -> Identity:
    """Name and address of the person's global git configuration; else the login name, at localhost."""
    login = _login(environ)
    name = _configured("user.name", environ) or login
    return Identity(name, _configured("user.email", environ) or f"{login}@localhost")


def _login(environ: Mapping[str, str]) -> str:
    for variable in ("USER", "LOGNAME"):
        if name := _clean(environ.get(variable, "")):
            return name
    try:
        return _clean(getpass.getuser()) or "person"
    except (OSError, KeyError):
        return "person"


def _configured(key: str, environ: Mapping[str, str]) -> str:
    program = shutil.which("git", path=environ.get("PATH", os.defpath))
    if program is None:
        return ""
    scrubbed = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        asked = subprocess.run(
            [program, "config", "--global", "--includes", "--get", key],
            env=scrubbed,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return _clean(asked.stdout.decode("utf-8", "replace")) if asked.returncode == 0 else ""


def _clean(value: str) -> str:
    return _REFUSED.sub("", value).strip(" .,:;\"'")
