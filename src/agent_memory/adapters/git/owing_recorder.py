"""A recorder that forgets nothing: what could not be recorded is owed, and recorded first the next time (P4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.errors import Error, PathRefused
from agent_memory.ports import Locks, Recorder
from agent_memory.results import sealed

Debt = dict[str, object]


class OwingRecorder:
    """`Recorder` around another one. Debts are in `runs/owed.json`: a list of the arguments of `record`.

    Without the debts a write of ours that git missed would be taken for a hand edit of the person's.
    """

    def __init__(self, recorder: Recorder, root: Path, locks: Locks) -> None:
        self._recorder = recorder
        self._path = root / "runs" / "owed.json"
        self._locks = locks

    def adopt_hand_edits(self, among: Sequence[str] | None = None) -> Result[int, Error]:
        """See the port. Debts are paid first."""
        with self._locks.write() as held:
            return held.bind(lambda _: self._pay()).bind(lambda _: self._recorder.adopt_hand_edits(among))

    def record(
        self,
        paths: Sequence[str],
        subject: str,
        body: str = "",
        thread_id: str | None = None,
        harness: str | None = None,
    ) -> Result[None, Error]:
        """See the port. On a failure the record is owed."""
        with self._locks.write() as held:
            recorded = held.bind(lambda _: self._recorder.record(paths, subject, body, thread_id, harness))
            if isinstance(recorded, Success):
                return recorded
            debt: Debt = {"paths": list(paths), "subject": subject, "body": body}
            debt |= {"thread_id": thread_id, "harness": harness}
            return self._owed().bind(lambda owed: self._owe([*owed, debt])).bind(lambda _: recorded)

    def _pay(self) -> Result[None, Error]:
        return self._owed().bind(self._pay_all)

    def _pay_all(self, owed: list[Debt]) -> Result[None, Error]:
        for paid, debt in enumerate(owed):
            match sealed(self._record_debt(debt)):
                case Failure(PathRefused()):
                    continue  # it can never be paid, and must not stand in the way of the others
                case Failure(error):
                    kept = self._owe(owed[paid:])
                    return Failure(kept.failure() if isinstance(kept, Failure) else error)
                case Success(_):
                    continue
        return self._owe([]) if owed else Success(None)

    def _record_debt(self, debt: Debt) -> Result[None, Error]:
        paths = debt.get("paths")
        return self._recorder.record(
            [str(path) for path in paths] if is_list(paths) else [],
            str(debt.get("subject", "")),
            str(debt.get("body", "")),
            _text(debt.get("thread_id")),
            _text(debt.get("harness")),
        )

    def _owed(self) -> Result[list[Debt], Error]:
        """A list that cannot be read just now is an error: a debt more would be written over the others (P6)."""
        try:
            document = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return Success([])
        except OSError as error:
            return Failure(store_io(error, "read", str(self._path)))
        except (ValueError, RecursionError):
            # A lost or damaged list of debts costs an author's name in the history, never a note.
            return Success([])
        return Success([each for each in document if is_object(each)] if is_list(document) else [])

    def _owe(self, debts: list[Debt]) -> Result[None, Error]:
        try:
            if not debts:
                self._path.unlink(missing_ok=True)
                return Success(None)
            make_directories(str(self._path.parent))
            replace_file(str(self._path), json.dumps(debts, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
        except OSError as error:
            return Failure(store_io(error, "write", str(self._path)))
        return Success(None)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
