"""SQLite databases as other programs keep them, for tests."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

Statement = tuple[str, Sequence[object]]

_OWNER = """
import json, os, sqlite3, sys
path = sys.argv[1]
connection = sqlite3.connect(path, isolation_level=None)
for line in sys.stdin:
    order = json.loads(line)
    if order == "die":
        os._exit(9)
    connection.execute(order)
    print("done", flush=True)
"""


def make_database(path: Path, *statements: str | Statement, wal: bool = False) -> Path:
    """A closed database; in WAL mode without a WAL, as its owner leaves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
        connection.execute("BEGIN")
        for statement in statements:
            sql, values = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(sql, values)
        connection.execute("COMMIT")
    finally:
        connection.close()
    return path


class Owner:
    """Another process that has the database open."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def does(self, sql: str) -> None:
        """Returns once it is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(sql) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def dies(self) -> None:
        """Without closing anything."""
        assert self._process.stdin is not None
        self._process.stdin.write('"die"\n')
        self._process.stdin.flush()
        self._process.wait()


@contextmanager
def owner_of(path: Path) -> Iterator[Owner]:
    """An owner at work; it closes its database in the end, unless it died."""
    command = [sys.executable, "-c", _OWNER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Owner(process)
        finally:
            if process.stdin is not None and not process.stdin.closed:
                process.stdin.close()
            process.wait()


def everything_in(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of change of each file."""
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in sorted(directory.iterdir())}
