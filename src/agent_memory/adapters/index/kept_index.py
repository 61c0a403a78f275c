"""The file of an index, opened when it is asked, and whatever is wrong with it.

A ruined file (damage, another version, a directory in its place) is thrown away and made anew, once a call; where it cannot
be kept on disk the index lives in memory, as long as this object.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.adapters.index.index_database import (
    DIRECTORY,
    NAME,
    IndexDatabase,
    discard_index,
    in_memory,
    is_busy,
    is_unwritable,
    open_index,
)
from agent_memory.adapters.index.seals import OtherLayoutError, RuinedIndexError
from agent_memory.adapters.index.segments import Segments
from agent_memory.errors import Busy, Error

Value = TypeVar("Value")

_RUINED = (
    *(sqlite3.DatabaseError, RuinedIndexError, ValueError, TypeError, LookupError, AttributeError, struct.error),
    *(OverflowError, MemoryError),
)
"""What reading a damaged index may end in. `sqlite3.DatabaseError` is told apart by its code."""
_RUINED_STILL = "its file is damaged and cannot be replaced"


class KeptIndex:
    """That of a real root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.segments = Segments()
        self.renewals = 0
        """How often it was made anew: numbers of before mean nothing after."""
        self._database: IndexDatabase | None = None
        self._is_damage_untold = False

    def opened(self) -> IndexDatabase:
        """The index, if need be made anew in an empty file."""
        if self._database is not None and not self._database.is_current():
            self.close()
            self.renewals += 1
        if self._database is None:
            self._database = open_index(self.root)
        return self._database

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
        self._database, self.segments = None, Segments()

    def recovered(
        self, act: Callable[[], Value], refill: Callable[[], Result[object, Error]] | None = None
    ) -> Result[Value, Error]:
        """What the act gives; where the index is ruined, or cannot be written, with one made anew, which `refill` fills, and
        else in memory."""
        for recover in (self._start_anew, self._go_to_memory):
            try:
                return Success(act())
            except _RUINED as error:
                if isinstance(error, sqlite3.Error) and is_busy(error):
                    return Failure(Busy(f"{self.root}/{DIRECTORY}/{NAME}"))
                recover(error)
            if refill is not None and isinstance(filled := refill(), Failure):
                return filled
        return Success(act())

    def has_untold_damage(self) -> bool:
        """Whether it was made anew because of damage since this was asked last."""
        is_untold, self._is_damage_untold = self._is_damage_untold, False
        return is_untold

    def _start_anew(self, error: Exception) -> None:
        """Throw away what is ruined; nothing is wrong with what the disk only does not take."""
        if isinstance(error, sqlite3.Error) and is_unwritable(error):
            self._go_to_memory(error)
            return
        self.close()
        discard_index(self.root)
        self.renewals += 1
        self._is_damage_untold = not isinstance(error, OtherLayoutError)

    def _go_to_memory(self, error: Exception) -> None:
        self.renewals += 1
        database, self.segments = self._database, Segments()
        is_whole = isinstance(error, sqlite3.Error) and is_unwritable(error)
        self._database = in_memory(str(error) or _RUINED_STILL, database.connection if database and is_whole else None)
        if database is not None:
            database.close()
