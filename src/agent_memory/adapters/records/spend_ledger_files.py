"""The spend ledger on disk: `runs/spend.json` under a root, changed under the store's write lock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import inside, read_file, real_root
from agent_memory.domain.spend import Spend, day_of, spend_on, with_added
from agent_memory.errors import Error, SpendExhausted, StateCorrupt
from agent_memory.formats.spend_json import parse_spend, render_spend
from agent_memory.ports import Locks
from agent_memory.results import sealed

LEDGER = "runs/spend.json"
MAX_LEDGER_BYTES = 1 << 20


class SpendLedgerFiles:
    """`SpendLedger` of one root. Calls are counted before they are made, durably: a crash can cost a call that was never
    made, and never hide one that was."""

    def __init__(self, root: Path, locks: Locks) -> None:
        self._root = real_root(root)
        self._locks = locks

    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> Result[None, Error]:
        """See the port."""
        day = day_of(at_ms)

        def counted(spend: Spend) -> Result[Spend, Error]:
            calls_today = spend_on(spend, day).calls
            if calls_today >= max_calls_per_day:
                return Failure(SpendExhausted(calls_today, max_calls_per_day))
            return Success(with_added(spend, day, calls=1, prompt_chars=prompt_chars))

        return self._change(counted)

    def give_back(self, at_ms: int, prompt_chars: int) -> Result[None, Error]:
        """See the port."""
        return self._change(
            lambda spend: Success(with_added(spend, day_of(at_ms), calls=-1, prompt_chars=-prompt_chars))
        )

    def add_reply(self, at_ms: int, reply_chars: int) -> Result[None, Error]:
        """See the port."""
        return self._change(lambda spend: Success(with_added(spend, day_of(at_ms), reply_chars=reply_chars)))

    def days(self) -> Result[Spend, Error]:
        """See the port."""
        return self._path().bind(_read)

    def _path(self) -> Result[str, Error]:
        return inside(self._root, LEDGER)

    def _change(self, change: Callable[[Spend], Result[Spend, Error]]) -> Result[None, Error]:
        with self._locks.write() as held:
            if isinstance(held, Failure):
                return held
            return self._path().bind(lambda path: _read(path).bind(change).bind(lambda spend: _write(path, spend)))


def _read(path: str) -> Result[Spend, Error]:
    match sealed(read_file(path, MAX_LEDGER_BYTES)):
        case Failure(error):
            return Failure(error)
        case Success(image):
            if image is None:
                return Success(())
            try:
                return parse_spend(image.data.decode("utf-8"), path)
            except UnicodeDecodeError:
                return Failure(StateCorrupt(path, ("it is not UTF-8 text",)))


def _write(path: str, spend: Spend) -> Result[None, Error]:
    try:
        make_directories(path.rpartition("/")[0])
        replace_file(path, render_spend(spend).encode())
    except OSError as error:
        return Failure(store_io(error, "write", path))
    return Success(None)
