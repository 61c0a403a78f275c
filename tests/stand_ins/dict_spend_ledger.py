"""The spend ledger in memory."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import Spend, day_of, spend_on, with_added
from agent_memory.errors import Error, SpendExhausted


class DictSpendLedger:
    """`SpendLedger` without a disk."""

    def __init__(self) -> None:
        self._spend: Spend = ()

    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> Result[None, Error]:
        calls_today = spend_on(self._spend, day_of(at_ms)).calls
        if calls_today >= max_calls_per_day:
            return Failure(SpendExhausted(calls_today, max_calls_per_day))
        self._spend = with_added(self._spend, day_of(at_ms), calls=1, prompt_chars=prompt_chars)
        return Success(None)

    def give_back(self, at_ms: int, prompt_chars: int) -> Result[None, Error]:
        self._spend = with_added(self._spend, day_of(at_ms), calls=-1, prompt_chars=-prompt_chars)
        return Success(None)

    def add_reply(self, at_ms: int, reply_chars: int) -> Result[None, Error]:
        self._spend = with_added(self._spend, day_of(at_ms), reply_chars=reply_chars)
        return Success(None)

    def days(self) -> Result[Spend, Error]:
        return Success(self._spend)
